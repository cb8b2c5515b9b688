//! Whether the server lives, and whether it can do its work.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

/// `/healthz` and `/readyz`. They say nothing that anybody could use, and need no key.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(alive))
        .routes(routes!(ready))
}

/// Whether the server lives
#[utoipa::path(get, path = "/healthz", tag = "health", responses(
    (status = 200, content_type = "text/plain", body = String),
))]
async fn alive() -> &'static str {
    "ok\n"
}

/// Whether the server can do its work
///
/// The store answers, and runs that an earlier process left are taken up.
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, content_type = "text/plain", body = String),
    (status = 503, content_type = "text/plain", body = String, description = "Not now"),
))]
async fn ready(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    match app.host.store().ping().await {
        Ok(()) => (StatusCode::OK, "ready\n"),
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the store does not answer\n",
        ),
    }
}
