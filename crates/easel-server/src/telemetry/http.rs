//! Requests, counted by route.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt;

use super::Metrics;

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
