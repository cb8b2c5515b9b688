//! Whether the server lives, and whether it can do its work.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::App;

/// `/healthz` and `/readyz`. They say nothing that anybody could use, and need no key.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
}

/// Ready: the store answers.
async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    match app.host.store().ping().await {
        Ok(()) => (StatusCode::OK, "ready\n"),
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the store does not answer\n",
        ),
    }
}
