//! What a client is told when something does not work: what, why, and what to do.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use easel_runtime::{JournalError, TurnError};
use easel_store::StoreError;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::workflows::report::Validation;
use crate::auth::Refused;
use crate::host::HostError;

/// Why a request was not done.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    fix: Option<String>,
    validation: Option<Box<Validation>>,
    requirements: Vec<String>,
    pause: Option<Duration>,
}

/// The body of every answer that is no success.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProblemBody {
    /// What went wrong.
    pub error: ProblemDetail,
    /// What the check says, where a workflow was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// What is missing, where a workflow cannot run here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
}

/// What went wrong.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProblemDetail {
    /// A stable word for programs.
    #[schema(example = "no_run")]
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Problem {
    /// A problem with that status, code and message.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Problem {
        Problem {
            status,
            code,
            message: sentence(message.into()),
            fix: None,
            validation: None,
            requirements: Vec::new(),
            pause: None,
        }
    }

    /// There is no such thing, or it is another's, which is the same for whoever asks.
    pub fn missing(code: &'static str, what: &str, id: &str) -> Problem {
        let id: String = id.chars().take(100).collect();
        Problem::new(
            StatusCode::NOT_FOUND,
            code,
            format!("there is no {what} {id:?}"),
        )
    }

    /// The request cannot be understood.
    pub fn bad(code: &'static str, message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// The request is understood and cannot be done as it is.
    pub fn unfit(code: &'static str, message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// It does not go together with how things stand.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, code, message)
    }

    /// The same, with what to do about it.
    pub fn fix(self, fix: impl Into<String>) -> Problem {
        let fix = Some(sentence(fix.into()));
        Problem { fix, ..self }
    }

    /// The same, with what the check says.
    pub fn with_validation(self, validation: Validation) -> Problem {
        let validation = Some(Box::new(validation));
        Problem { validation, ..self }
    }

    /// The same, with what is missing.
    pub fn with_requirements(self, requirements: Vec<String>) -> Problem {
        Problem {
            requirements,
            ..self
        }
    }

    fn after(self, pause: Duration) -> Problem {
        let pause = Some(pause);
        Problem { pause, ..self }
    }

    /// The body of the answer.
    pub fn body(self) -> ProblemBody {
        ProblemBody {
            error: ProblemDetail {
                code: self.code.to_owned(),
                message: self.message,
                fix: self.fix,
            },
            validation: self.validation.map(|validation| *validation),
            requirements: self.requirements,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, pause) = (self.status, self.pause);
        let mut response = (status, axum::Json(self.body())).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(pause) = pause {
            headers.insert(header::RETRY_AFTER, pause.as_secs().max(1).into());
        }
        response
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Problem {
        let code = match &refused {
            Refused::NoKey => "no_key",
            Refused::BadKey => "bad_key",
            Refused::Scope(_) => "scope",
            Refused::TooOften(_) => "too_often",
            _ => "unavailable",
        };
        let problem = Problem::new(refused.status(), code, refused.to_string());
        match refused {
            Refused::TooOften(pause) => problem.after(pause + Duration::from_secs(1)),
            _ => problem,
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        let message = error.to_string();
        match error {
            StoreError::TitleTaken(_) => Problem::conflict("title_taken", message),
            StoreError::NameTaken(_) => Problem::conflict("exists", message),
            StoreError::Unknown { .. } => Problem::new(StatusCode::NOT_FOUND, "unknown", message),
            StoreError::TooLarge { .. } => {
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
            }
            StoreError::Cursor(_) => Problem::bad("cursor", message),
            StoreError::Unreachable | StoreError::Closed => unavailable(message),
            // What a database says of itself is for the operator.
            StoreError::Database(_) => {
                eprintln!("easel: {message}");
                unavailable("the store failed; the server's log says how")
            }
            _ => {
                eprintln!("easel: {message}");
                let message = "something that is stored cannot be used; the server's log says what";
                Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "store", message)
            }
        }
    }
}

fn unavailable(message: impl Into<String>) -> Problem {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    Problem::new(status, "unavailable", message).after(Duration::from_secs(1))
}

impl From<HostError> for Problem {
    fn from(error: HostError) -> Problem {
        let message = error.to_string();
        let not_found = StatusCode::NOT_FOUND;
        match error {
            HostError::NoSession(_) => Problem::new(not_found, "no_session", message),
            HostError::NoRun(_) => Problem::new(not_found, "no_run", message),
            HostError::NoSuchWrite(_) => Problem::new(not_found, "no_write", message),
            HostError::NoDocument(_) => Problem::conflict("no_document", message),
            HostError::Busy(_) => Problem::conflict("busy", message),
            HostError::Elsewhere(_) => Problem::conflict("under_way", message),
            HostError::Undecided { run, .. } => Problem::conflict("undecided", message)
                .fix(format!("decide with POST /v1/runs/{run}/decide")),
            HostError::NotWaiting { .. } => Problem::conflict("not_waiting", message),
            HostError::NotUncertain { .. } => Problem::conflict("not_uncertain", message),
            HostError::NothingToDrive { .. } => Problem::conflict("nothing_to_drive", message),
            HostError::Full(_) => unavailable(message),
            HostError::Stopping => unavailable(message),
            HostError::Load(error) => {
                let validation = Validation::of(&[error.diagnostic()]);
                Problem::unfit("invalid", message).with_validation(validation)
            }
            HostError::Turn(error) => Problem::of_turn(&error),
            HostError::Store(error) => error.into(),
            _ => Problem::unfit("refused", message),
        }
    }
}

impl Problem {
    /// Why a turn could not be made.
    pub fn of_turn(error: &TurnError) -> Problem {
        let message = error.to_string();
        match error {
            TurnError::Refused(diagnostic) => {
                let validation = Validation::of(std::slice::from_ref(&**diagnostic));
                Problem::unfit("invalid", message).with_validation(validation)
            }
            TurnError::File(_) => Problem::unfit("file", message),
            TurnError::Inputs(_) => Problem::unfit("inputs", message),
            TurnError::Journal(JournalError::Store(_)) => {
                eprintln!("easel: {message}");
                unavailable("the store does not answer")
            }
            TurnError::Journal(_) => Problem::conflict("under_way", message),
            TurnError::Secrets(_) => Problem::unfit("secrets", message),
            _ => Problem::conflict("no_start", message),
        }
    }
}

/// A phrase as a sentence.
fn sentence(phrase: String) -> String {
    let mut letters = phrase.chars();
    let first = letters.next().map(char::to_uppercase);
    let mut sentence: String = first.into_iter().flatten().chain(letters).collect();
    if !sentence.ends_with(['.', '?', '!']) {
        sentence.push('.');
    }
    sentence
}
