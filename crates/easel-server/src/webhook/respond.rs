//! How a webhook is answered (spec/canvas-engine §7.7).

use std::sync::Arc;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use easel_runtime::Value;
use easel_runtime::core::value::from_text;
use serde_json::json;

use super::Refusal;

/// An answer that is the same for each request: that of `Immediately`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The HTTP status.
    pub status: StatusCode,
    /// The body.
    pub body: ReplyBody,
}

/// The body of a [`Reply`].
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyBody {
    /// As JSON.
    Json(Value),
    /// As plain text.
    Text(Arc<str>),
}

impl Reply {
    /// What Begin's `response` says.
    ///
    /// # Errors
    /// The status is none that a webhook may answer with.
    pub fn read(response: Option<&Value>) -> Result<Reply, Refusal> {
        let member = |name: &str| response.and_then(|response| response.get(name));
        let status = match member("status") {
            None | Some(Value::Null) => StatusCode::OK,
            Some(status) => self::status(status)?,
        };
        let body = match member("body_template") {
            None | Some(Value::Null) => ReplyBody::Json(Value::Null),
            Some(Value::String(text)) if text.trim().is_empty() => ReplyBody::Json(Value::Null),
            Some(Value::String(text)) => match from_text(text) {
                Ok(value) => ReplyBody::Json(value),
                Err(_) => ReplyBody::Text(text.clone()),
            },
            Some(other) => ReplyBody::Json(other.clone()),
        };
        Ok(Reply { status, body })
    }
}

fn status(status: &Value) -> Result<StatusCode, Refusal> {
    let number = match status {
        Value::String(text) => text.trim().parse::<i64>().ok(),
        status => status.as_i64(),
    };
    let Some(number) = number else {
        return Err(Refusal::new(format!(
            "Invalid response status code: {status}"
        )));
    };
    let code = u16::try_from(number).ok();
    let code = code.filter(|code| (200..=399).contains(code));
    let code = code.and_then(|code| StatusCode::from_u16(code).ok());
    code.ok_or_else(|| {
        Refusal::new(format!(
            "Invalid response status code: {number}, must be between 200 and 399"
        ))
    })
}

/// Statuses whose answers have no body.
fn is_bare(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED
    )
}

fn json_response(status: StatusCode, body: String) -> Response {
    if is_bare(status) {
        return status.into_response();
    }
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], body).into_response()
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        match self.body {
            ReplyBody::Json(value) => json_response(self.status, value.to_json_text()),
            ReplyBody::Text(_) if is_bare(self.status) => self.status.into_response(),
            ReplyBody::Text(text) => {
                let plain = HeaderValue::from_static("text/plain; charset=utf-8");
                (self.status, [(CONTENT_TYPE, plain)], text.to_string()).into_response()
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({"code": 400, "message": self.to_string()});
        let mut response = json_response(StatusCode::BAD_REQUEST, body.to_string());
        if let Some(seconds) = self.retry_after() {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// What a run said, put together to the answer of `Streaming`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    text: String,
    /// Where the message that is being said begins.
    message: usize,
    status: Option<u16>,
}

impl Said {
    /// A piece of a message.
    pub fn text(&mut self, content: &str) {
        self.text.push_str(content);
    }

    /// Thoughts begin.
    pub fn think(&mut self) {
        self.text.push_str("<think>");
    }

    /// Thoughts end.
    pub fn thought(&mut self) {
        self.text.push_str("</think>");
    }

    /// What the message said so far no longer counts.
    pub fn reset(&mut self) {
        self.text.truncate(self.message);
    }

    /// A message is whole. `status` is what it says the webhook is answered with; the last one counts.
    pub fn end(&mut self, status: Option<&Value>) {
        self.message = self.text.len();
        let status = status.and_then(|status| self::status(status).ok());
        if let Some(status) = status {
            self.status = Some(status.as_u16());
        }
    }

    /// The whole text.
    pub fn message(&self) -> &str {
        &self.text
    }

    /// The answer.
    pub fn answer(&self) -> Response {
        let code = self.status.unwrap_or(200);
        let status = StatusCode::from_u16(code).unwrap_or(StatusCode::OK);
        let body = json!({"message": self.text, "success": true, "code": code});
        json_response(status, body.to_string())
    }

    /// The answer if the run failed.
    pub fn failure(fault: &str) -> Response {
        let body = json!({"code": 400, "message": fault, "success": false});
        json_response(StatusCode::BAD_REQUEST, body.to_string())
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    fn shown(response: impl IntoResponse) -> (u16, String, String) {
        let response = response.into_response();
        let status = response.status().as_u16();
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.map(|kind| kind.to_str().unwrap().to_owned());
        let body = futures::executor::block_on(response.into_body().collect()).unwrap();
        let body = String::from_utf8(body.to_bytes().to_vec()).unwrap();
        (status, kind.unwrap_or_default(), body)
    }

    fn reply(response: serde_json::Value) -> Result<Reply, Refusal> {
        Reply::read(Some(&Value::from(response)))
    }

    #[test]
    fn the_answer_of_a_template_is_json_if_it_can_be() {
        let json = reply(json!({"status": 202, "body_template": "{\"ok\": true}"}));
        let kind = "application/json".to_owned();
        assert_eq!(
            shown(json.unwrap()),
            (202, kind.clone(), "{\"ok\":true}".into())
        );
        let text = reply(json!({"status": "201", "body_template": "Thanks, {name}!"}));
        let plain = "text/plain; charset=utf-8".to_owned();
        assert_eq!(shown(text.unwrap()), (201, plain, "Thanks, {name}!".into()));
        assert_eq!(
            shown(Reply::read(None).unwrap()),
            (200, kind, "null".into())
        );
        let bare = reply(json!({"status": 204, "body_template": "x"}));
        assert_eq!(shown(bare.unwrap()), (204, String::new(), String::new()));
    }

    #[test]
    fn a_status_outside_of_200_to_399_is_refused() {
        let told = |status| reply(json!({"status": status})).unwrap_err().to_string();
        assert_eq!(
            told(json!(500)),
            "Invalid response status code: 500, must be between 200 and 399"
        );
        assert_eq!(
            told(json!(-1)),
            "Invalid response status code: -1, must be between 200 and 399"
        );
        assert_eq!(told(json!("ok")), "Invalid response status code: ok");
    }

    #[test]
    fn the_last_message_with_a_status_says_how_a_run_is_answered() {
        let mut said = Said::default();
        said.think();
        said.text("hm");
        said.thought();
        said.text("Hello ");
        said.end(Some(&Value::from(201_i64)));
        said.text("wor");
        said.reset();
        said.text("world");
        said.end(None);
        said.end(Some(&Value::from(700_i64)));
        let answer =
            json!({"message": "<think>hm</think>Hello world", "success": true, "code": 201});
        let (status, _, body) = shown(said.answer());
        assert_eq!((status, body), (201, answer.to_string()));
    }

    #[test]
    fn who_comes_too_often_is_told_when_to_come_again() {
        let refusal = Refusal {
            retry_after: Some(3),
            ..Refusal::because("Rate limit error: x", "for the log")
        };
        let response = refusal.into_response();
        assert_eq!(response.headers()[RETRY_AFTER], "3");
        let (status, _, body) = shown(response);
        let told = json!({"code": 400, "message": "Rate limit error: x"});
        assert_eq!((status, body), (400, told.to_string()));
    }
}
