//! Requests, counted by route.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use axum::response::Response;
use axum::routing::get;
use futures::StreamExt;

use super::{CONTENT_TYPE, Census, Metrics};
use crate::App;
use crate::auth::{Caller, Refused, Scope};

/// `/metrics`, for keys that may read. It shows counts of all owners, and nothing that was said.
pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/metrics", get(metrics))
}

async fn metrics(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, Refused> {
    caller.may(Scope::Read)?;
    let store = app.host.store();
    let counts = store.run_counts().await.map_err(|_| Refused::Unavailable)?;
    let states = ["running", "waiting", "uncertain"].into_iter();
    let runs = states.map(|state| {
        let found = counts.iter().find(|count| *count.state == *state);
        (state, found.map_or(0, |count| count.runs))
    });
    let commits = store.commits();
    let census = Census {
        runs: runs.collect(),
        commits: Some((commits.transactions, commits.batches)),
        circuits: app.host.engine().open_circuits(),
    };
    let text = app.host.telemetry().metrics().render(&census);
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

/// A layer that counts requests by route, method and status, and the streams of events that they open.
pub async fn count(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    // Paths that lead nowhere are anybody's choice, and must not become names of figures. Nor must methods.
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let method = match *request.method() {
        Method::GET
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::HEAD
        | Method::OPTIONS => request.method().clone(),
        _ => Method::from_bytes(b"OTHER").unwrap_or_default(),
    };
    let began = Instant::now();
    let route = route.to_owned();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    metrics.requested(&route, method.as_str(), status, began.elapsed());
    match streams(response.headers()) {
        false => response,
        true => {
            let held = metrics.stream();
            response.map(|body| {
                let frames = body.into_data_stream().map(move |frame| {
                    let _ = &held;
                    frame
                });
                Body::from_stream(frames)
            })
        }
    }
}

fn streams(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}
