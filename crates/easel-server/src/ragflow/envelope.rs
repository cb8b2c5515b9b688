//! How RAGFlow's API answers: an object with a `code`, over HTTP 200 whatever the code is.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use easel_store::StoreError;
use serde_json::{Map, json};

use crate::App;
use crate::auth::Refused;
use crate::host::HostError;
use crate::patience::TooSlow;

/// JSON, as the API speaks it.
pub(super) type Value = serde_json::Value;
/// The members of a JSON object.
pub(super) type Members = Map<String, Value>;

/// What goes with an error: what was asked for cannot be done as asked.
pub(super) const ARGUMENT: u16 = 101;
/// What was asked for is not there, or not as it would have to be.
pub(super) const DATA: u16 = 102;
/// The caller must not.
pub(super) const OPERATING: u16 = 103;
/// Something failed.
pub(super) const EXCEPTION: u16 = 100;
/// A run failed.
pub(super) const SERVER: u16 = 500;

/// What a caller gets who may not use an agent, or asks for one that is not there: nobody learns which.
pub(super) const NO_AGENT: &str = "Make sure you have permission to access the agent.";
/// What a caller gets who does not own the agent.
pub(super) const NOT_OWNER: &str = "Only the owner of the agent is authorized for this operation.";

/// An answer, or why there is none.
pub(super) type Reply = Result<Response, Problem>;

/// Why something was not done.
#[derive(Debug)]
pub(super) struct Problem {
    pub code: u16,
    pub message: String,
    status: StatusCode,
    /// What the door said.
    refused: Option<Refused>,
}

impl Problem {
    /// A problem with a code.
    pub fn new(code: u16, message: impl Into<String>) -> Problem {
        Problem {
            code,
            message: message.into(),
            status: StatusCode::OK,
            refused: None,
        }
    }

    /// Something about the request is wrong.
    pub fn argument(message: impl Into<String>) -> Problem {
        Problem::new(ARGUMENT, message)
    }

    /// Something is not there.
    pub fn data(message: impl Into<String>) -> Problem {
        Problem::new(DATA, message)
    }

    /// The caller must not.
    pub fn operating(message: impl Into<String>) -> Problem {
        Problem::new(OPERATING, message)
    }

    /// The same with an HTTP status that is not 200.
    pub fn with_status(self, status: StatusCode) -> Problem {
        Problem { status, ..self }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        if let Some(refused) = self.refused {
            return refused.into_response();
        }
        let mut body = json!({"code": self.code, "message": self.message});
        if self.code == OPERATING {
            body["data"] = false.into();
        }
        (self.status, Json(body)).into_response()
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Problem {
        Problem {
            code: refused.status().as_u16(),
            message: refused.to_string(),
            status: refused.status(),
            refused: Some(refused),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        match &error {
            StoreError::TitleTaken(title) => Problem::data(format!("{title} already exists.")),
            StoreError::Unknown { .. } | StoreError::NameTaken(_) => {
                Problem::data(error.to_string())
            }
            StoreError::TooLarge { .. } => Problem::argument(error.to_string()),
            // What a database says is for the operator.
            _ => {
                eprintln!("easel: {error}");
                let message = "The server cannot reach its store now. Try again.";
                Problem::new(EXCEPTION, message).with_status(StatusCode::SERVICE_UNAVAILABLE)
            }
        }
    }
}

impl From<HostError> for Problem {
    fn from(error: HostError) -> Problem {
        match error {
            HostError::Store(error) => error.into(),
            HostError::NoSession(_) => Problem::data("Session not found!"),
            HostError::Full(_) | HostError::Stopping => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Problem::new(status.as_u16(), error.to_string()).with_status(status)
            }
            error => Problem::data(error.to_string()),
        }
    }
}

/// What was asked for.
pub(super) fn ok(data: impl serde::Serialize) -> Reply {
    let answer = json!({"code": 0, "message": "success", "data": data});
    Ok(Json(answer).into_response())
}

/// A body of JSON, whatever its media type says. None at all is an empty object.
pub(super) struct Body(pub Members);

impl FromRequest<Arc<App>> for Body {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Body, Response> {
        let bytes = Bytes::from_request(request, app).await;
        let bytes = bytes.map_err(|rejected| {
            let (status, message) = match late(&rejected) {
                Some(late) => (StatusCode::REQUEST_TIMEOUT, late),
                None => (rejected.status(), rejected.body_text()),
            };
            let problem = Problem::new(status.as_u16(), message);
            problem.with_status(status).into_response()
        })?;
        match members_of(&bytes) {
            Ok(members) => Ok(Body(members)),
            Err(problem) => Err(problem.into_response()),
        }
    }
}

/// Why a body did not arrive, if it was too slow.
pub(super) fn late(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(late) = error.downcast_ref::<TooSlow>() {
            return Some(late.to_string());
        }
        cause = error.source();
    }
    None
}

fn members_of(bytes: &[u8]) -> Result<Members, Problem> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Members::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(Value::Null) => Ok(Members::new()),
        Ok(_) => Err(Problem::argument("The body must be a JSON object.")),
        Err(error) => Err(Problem::argument(format!("The body is no JSON: {error}."))),
    }
}

/// The parts of a path that are ids. What can be no id is nobody's.
pub(super) struct At<T>(pub T);

/// The longest id, in characters.
const LONGEST_ID: usize = 255;

/// What stands in a path for ids.
pub(super) trait Ids: serde::de::DeserializeOwned + Send {
    /// Each of them.
    fn all(&self) -> Vec<&str>;
}

impl Ids for String {
    fn all(&self) -> Vec<&str> {
        vec![self]
    }
}

impl Ids for (String, String) {
    fn all(&self) -> Vec<&str> {
        vec![&self.0, &self.1]
    }
}

impl<T: Ids> FromRequestParts<Arc<App>> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<At<T>, Problem> {
        let path = Path::<T>::from_request_parts(parts, app).await;
        let Path(ids) = path.map_err(|_| Problem::operating(NO_AGENT))?;
        let odd = |id: &&str| id.chars().count() > LONGEST_ID || id.contains(char::is_control);
        match ids.all().iter().any(odd) {
            true => Err(Problem::operating(NO_AGENT)),
            false => Ok(At(ids)),
        }
    }
}

/// The parameters behind the `?` of a URL.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Query, Self::Rejection> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = url::form_urlencoded::parse(query.as_bytes()).into_owned();
        // No database keeps such a character in a text.
        Ok(Query(
            pairs.filter(|(_, value)| !value.contains('\0')).collect(),
        ))
    }
}

/// The most items on a page, and ids in a request.
pub(super) const MOST: u32 = 100;

impl Query {
    /// The parameter of that name, if it says something.
    pub fn text(&self, name: &str) -> Option<&str> {
        let pair = self.0.iter().rev().find(|(key, _)| key == name)?;
        Some(pair.1.trim()).filter(|text| !text.is_empty())
    }

    /// A switch: `true`, `True` and `1` are on.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.text(name)
            .map(|text| text.eq_ignore_ascii_case("true") || text == "1")
    }

    /// The parts of a parameter between commas, given once or several times.
    pub fn list(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(key, _)| key == name);
        let parts = values.flat_map(|(_, value)| value.split(','));
        let parts = parts.map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    }

    /// Which page of a list: `page` and `page_size`.
    pub fn page(&self) -> Result<easel_store::PageNumber, Problem> {
        let number = |name: &str, default: u32| match self.text(name) {
            None => Ok(default),
            Some(text) => text.parse().ok().filter(|n| *n >= 1).ok_or_else(|| {
                Problem::argument(format!("`{name}` must be a whole number from 1 on."))
            }),
        };
        let page = number("page", 1)?;
        let size = number("page_size", 30)?;
        if size > MOST {
            return Err(Problem::argument(format!(
                "`page_size` must be at most {MOST}."
            )));
        }
        Ok(easel_store::PageNumber { page, size })
    }
}

/// The member of that name as a text that says something.
pub(super) fn text<'a>(members: &'a Members, name: &str) -> Option<&'a str> {
    let text = members.get(name)?.as_str()?;
    (!text.trim().is_empty() && !text.contains('\0')).then_some(text)
}

/// A member as text, blank or not; `None` if it is absent or no text.
pub(super) fn plain(members: &Members, name: &str) -> Option<String> {
    let text = members.get(name)?.as_str()?;
    Some(text.replace('\0', ""))
}

/// The member of that name as a switch; off if it is absent.
pub(super) fn flag(members: &Members, name: &str) -> bool {
    match members.get(name) {
        Some(Value::Bool(on)) => *on,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true") || text == "1",
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        _ => false,
    }
}

/// A time as two fields have it: milliseconds since 1970, and the date in words.
pub(super) fn put_times(row: &mut Members, created: i64, updated: i64) {
    for (name, at) in [("create", created), ("update", updated)] {
        row.insert(format!("{name}_time"), at.into());
        row.insert(format!("{name}_date"), date(at).into());
    }
}

/// A date in words, in the form of HTTP headers.
pub(super) fn date(at: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        let pairs = url::form_urlencoded::parse(text.as_bytes());
        Query(pairs.into_owned().collect())
    }

    #[test]
    fn pages_have_a_limit() {
        assert!(query("page_size=100").page().is_ok());
        assert_eq!(query("page_size=101").page().unwrap_err().code, ARGUMENT);
        assert_eq!(query("page=0").page().unwrap_err().code, ARGUMENT);
        assert_eq!(query("page=x").page().unwrap_err().code, ARGUMENT);
        assert_eq!(query("page=3").page().unwrap().page, 3);
    }

    #[test]
    fn switches_are_written_as_python_writes_them_too() {
        assert_eq!(query("desc=True").flag("desc"), Some(true));
        assert_eq!(query("desc=False").flag("desc"), Some(false));
        assert_eq!(query("desc=").flag("desc"), None);
        assert_eq!(query("tags=a,b&tags=c").list("tags"), ["a", "b", "c"]);
    }

    #[test]
    fn no_body_is_an_empty_object() {
        assert!(members_of(b" \n").unwrap().is_empty());
        assert_eq!(members_of(b"[1]").unwrap_err().code, ARGUMENT);
        assert_eq!(members_of(b"{").unwrap_err().code, ARGUMENT);
    }

    #[test]
    fn dates_are_written_as_headers_write_them() {
        assert_eq!(date(784_111_777_000), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
