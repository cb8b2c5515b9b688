//! What a request brings, read within limits: who asks, ids, filters and bodies. What cannot be used is a [`Problem`].

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;

use super::problem::Problem;
use crate::App;
use crate::auth::{Caller, Scope};

/// The longest id or name in a path, in characters.
const LONGEST_ID: usize = 200;

macro_rules! allowed {
    ($(#[$doc:meta] $name:ident: $scope:ident),* $(,)?) => {$(
        #[$doc]
        pub struct $name(pub Caller);

        impl FromRequestParts<Arc<App>> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<$name, Problem> {
                let caller = Caller::from_request_parts(parts, app).await?;
                caller.may(Scope::$scope)?;
                Ok($name(caller))
            }
        }
    )*};
}

allowed! {
    /// Somebody who may look.
    Reader: Read,
    /// Somebody who may talk to agents.
    Runner: Run,
    /// Somebody who may change things.
    Writer: Write,
    /// Somebody who may make and revoke keys.
    Keyholder: Admin,
}

/// The parts of a path that are ids or names.
pub struct At<T>(pub T);

/// What stands in a path for an id or a name.
pub trait Ids: DeserializeOwned + Send {
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

impl<T: Ids, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<At<T>, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        let Path(ids) = path.map_err(|error| Problem::bad("path", error.body_text()))?;
        for id in ids.all() {
            let odd = |c: char| c.is_control();
            if id.chars().count() > LONGEST_ID || id.contains(odd) {
                return Err(Problem::missing("unknown", "such thing:", id));
            }
        }
        Ok(At(ids))
    }
}

/// What stands behind the `?` of an address.
pub struct Filter<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Filter<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Filter<T>, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        match query {
            Ok(Query(query)) => Ok(Filter(query)),
            Err(error) => Err(Problem::bad("query", error.body_text())),
        }
    }
}

/// A number of a filter, if it is within its bounds.
pub fn within(
    name: &'static str,
    value: Option<u32>,
    bounds: std::ops::RangeInclusive<u32>,
) -> Result<Option<u32>, Problem> {
    match value {
        Some(value) if !bounds.contains(&value) => {
            let message = format!("`{name}` is from {} to {}", bounds.start(), bounds.end());
            Err(Problem::bad("query", message))
        }
        value => Ok(value),
    }
}

/// The most that a filter may ask for at once; it gets what a page holds.
pub const MOST: u32 = 1_000_000;

/// A body of JSON; blank stands for `{}`.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Body<T>, Problem> {
        let media = media_type(request.headers());
        let bytes = bytes(request, state).await?;
        if matches!(bytes.trim_ascii(), b"" | b"null") {
            return json(b"{}").map(Body);
        }
        if !is_json(&media) {
            let message = format!("the body is `{media}`, and only JSON is read here");
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Problem::new(status, "media_type", message)
                .fix("send `Content-Type: application/json`"));
        }
        json(&bytes).map(Body)
    }
}

/// The media type of a body, without parameters and in small letters.
pub fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    let media = value.and_then(|value| value.split(';').next());
    media.unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type is JSON.
pub fn is_json(media: &str) -> bool {
    media == "application/json" || (media.starts_with("application/") && media.ends_with("+json"))
}

/// The bytes of a body, as many as are allowed.
pub async fn bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    Bytes::from_request(request, state).await.map_err(unread)
}

/// Why a body could not be read.
fn unread(error: BytesRejection) -> Problem {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        if cause.is::<crate::patience::TooSlow>() {
            return Problem::new(StatusCode::REQUEST_TIMEOUT, "slow_body", cause.to_string());
        }
        source = cause.source();
    }
    let status = error.into_response().status();
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let message = "the body is larger than this server takes";
            Problem::new(status, "too_large", message)
        }
        status => Problem::new(status, "body", "the body did not arrive whole"),
    }
}

/// Reads JSON.
pub fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => Problem::unfit("body", error.to_string()),
        _ => Problem::bad("json", format!("the body is no JSON: {error}")),
    })
}

/// The trace context that a request came with.
pub struct Trace(pub Arc<str>);

impl<S: Send + Sync> FromRequestParts<S> for Trace {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &S,
    ) -> Result<Trace, std::convert::Infallible> {
        let value = parts.headers.get("traceparent");
        let value = value.and_then(|value| value.to_str().ok());
        let plain = |value: &&str| {
            value.len() == 55 && value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        };
        Ok(Trace(value.filter(plain).unwrap_or_default().into()))
    }
}
