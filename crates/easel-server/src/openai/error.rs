//! Errors in the form that OpenAI's clients read.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use easel_runtime::TurnError;
use easel_store::StoreError;
use serde_json::{Value as Json, json};

use crate::auth::Refused;
use crate::host::HostError;

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub status: StatusCode,
    /// The kind of error, as clients know it.
    pub kind: &'static str,
    /// The member of the request that is wrong.
    pub param: Option<&'static str>,
    /// A word for the cause.
    pub code: String,
    pub message: String,
    /// Whether the same request may be sent again: clients do so by themselves unless told.
    pub retry: bool,
    /// Seconds after which it may be sent again.
    pub after: Option<u64>,
}

impl ApiError {
    /// The request is wrong.
    pub fn invalid(
        param: Option<&'static str>,
        code: &str,
        message: impl Into<String>,
    ) -> ApiError {
        ApiError {
            status: StatusCode::BAD_REQUEST,
            kind: "invalid_request_error",
            param,
            code: code.to_owned(),
            message: message.into(),
            retry: false,
            after: None,
        }
    }

    /// What it names is not there, or not for the caller.
    pub fn unknown(
        param: Option<&'static str>,
        code: &str,
        message: impl Into<String>,
    ) -> ApiError {
        ApiError {
            status: StatusCode::NOT_FOUND,
            ..ApiError::invalid(param, code, message)
        }
    }

    /// There is no such model for the caller.
    pub fn no_model(model: &str) -> ApiError {
        let message = format!(
            "The model `{model}` does not exist or you do not have access to it. GET /v1/models lists the released agents."
        );
        ApiError::unknown(Some("model"), "model_not_found", message)
    }

    /// The run failed. Sending it again would run it again, so clients are told not to.
    pub fn failed(code: &str, message: impl Into<String>) -> ApiError {
        ApiError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            kind: "server_error",
            ..ApiError::invalid(None, code, message)
        }
    }

    fn conflict(code: &str, message: String, retry: bool) -> ApiError {
        ApiError {
            status: StatusCode::CONFLICT,
            retry,
            ..ApiError::invalid(None, code, message)
        }
    }

    fn unavailable(code: &str, message: String) -> ApiError {
        ApiError {
            status: StatusCode::SERVICE_UNAVAILABLE,
            kind: "server_error",
            retry: true,
            ..ApiError::invalid(None, code, message)
        }
    }

    /// The error as clients read it.
    pub fn body(&self) -> Json {
        json!({"error": self.inner()})
    }

    /// The same without the member around it.
    pub fn inner(&self) -> Json {
        json!({"message": self.message, "type": self.kind, "param": self.param, "code": self.code})
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body())).into_response();
        let headers = response.headers_mut();
        if !self.retry {
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
        if let Some(seconds) = self.after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> ApiError {
        let message = refused.to_string();
        let (kind, code) = match refused {
            Refused::NoKey | Refused::BadKey => ("invalid_request_error", "invalid_api_key"),
            Refused::Scope(_) => ("invalid_request_error", "insufficient_permissions"),
            Refused::TooOften(_) => ("requests", "rate_limit_exceeded"),
            Refused::Unavailable => ("server_error", "unavailable"),
        };
        ApiError {
            status: refused.status(),
            kind,
            retry: matches!(refused, Refused::TooOften(_) | Refused::Unavailable),
            after: match refused {
                Refused::TooOften(pause) => Some(pause.as_secs() + 1),
                _ => None,
            },
            ..ApiError::invalid(None, code, message)
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        HostError::Store(error).into()
    }
}

impl From<HostError> for ApiError {
    fn from(error: HostError) -> ApiError {
        let message = error.to_string();
        match error {
            HostError::Busy(_) => ApiError::conflict("session_busy", message, true),
            HostError::Elsewhere(_) => ApiError::conflict("run_under_way", message, true),
            HostError::Undecided { .. }
            | HostError::NotWaiting { .. }
            | HostError::NotUncertain { .. }
            | HostError::NothingToDrive { .. }
            | HostError::NoSuchWrite(_) => ApiError::conflict("run_state", message, false),
            HostError::NoSession(_) => ApiError::unknown(None, "session_not_found", message),
            HostError::NoRun(_) => ApiError::unknown(None, "not_found", message),
            HostError::Full(_) => ApiError {
                status: StatusCode::TOO_MANY_REQUESTS,
                kind: "requests",
                retry: true,
                after: Some(1),
                ..ApiError::invalid(None, "rate_limit_exceeded", message)
            },
            HostError::Stopping => ApiError::unavailable("unavailable", message),
            HostError::Turn(error) => ApiError::of_turn(&error),
            HostError::Load(_) => ApiError::failed("workflow_unreadable", message),
            error => {
                // What is wrong inside is for the operator.
                eprintln!("easel: a request of an OpenAI client failed: {error}");
                let told = "The server cannot answer now; try again in a moment.".to_owned();
                ApiError::unavailable("unavailable", told)
            }
        }
    }
}

impl ApiError {
    /// Why a turn could not be made.
    pub fn of_turn(error: &TurnError) -> ApiError {
        let message = error.to_string();
        match error {
            TurnError::Refused(_) => ApiError::invalid(Some("model"), "workflow_refused", message),
            TurnError::Inputs(_) => ApiError::invalid(Some("messages"), "invalid_inputs", message),
            TurnError::File(_) => ApiError::invalid(Some("messages"), "invalid_file", message),
            TurnError::Journal(_) => {
                eprintln!("easel: a request of an OpenAI client failed: {error}");
                let told = "The server cannot write now; try again in a moment.".to_owned();
                ApiError::unavailable("unavailable", told)
            }
            _ => ApiError::failed("run_failed", message),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn clients_are_told_what_to_send_again_and_what_not() {
        let failed = ApiError::failed("tool.failed", "no").into_response();
        assert_eq!(failed.status(), 500);
        assert_eq!(failed.headers()["x-should-retry"], "false");
        let often = ApiError::from(Refused::TooOften(Duration::from_secs(2))).into_response();
        assert_eq!(often.status(), 429);
        assert_eq!(often.headers()[header::RETRY_AFTER], "3");
        assert!(!often.headers().contains_key("x-should-retry"));
        let full = ApiError::from(HostError::Full(3)).into_response();
        assert_eq!(full.status(), 429);
    }
}
