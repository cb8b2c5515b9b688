//! RAGFlow's agent API, as its clients use it (spec/canvas-engine §8, §9), under `/api/v1`.
//!
//! Its quirks of shape are kept: HTTP 200 with a code, `data:` without a blank, lists with a total beside them. What made it
//! unsafe is not: every route asks who owns what (`access.rs`), and nothing a client says of itself counts.
//!
//! A conversation goes by one document: the draft as it was when the conversation was opened, or the released version if that
//! is asked for. A message with `release: true` lets it go on with the version that was released last; a run that waits ends
//! with the version that it began with.

mod access;
mod agentbots;
mod agents;
mod answer;
mod cancel;
mod completions;
mod debug;
mod envelope;
mod events;
mod forms;
mod kept;
mod logs;
mod message_id;
mod session_row;
mod sessions;
mod speech;
mod stream;
mod tags;
mod templates;
mod upload;
mod versions;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, patch, post, put};

use crate::App;
use crate::settings::Settings;

/// What the form of an upload takes besides its files, in bytes.
const FORM: usize = 1 << 20;

/// The routes.
pub fn routes(settings: &Settings) -> Router<Arc<App>> {
    let upload = DefaultBodyLimit::max(settings.upload_limit.saturating_add(FORM));
    let agents = Router::new()
        .route("/", get(agents::list).post(agents::create))
        .route("/tags", get(tags::counts))
        .route("/templates", get(templates::list))
        .route("/prompts", get(agents::prompts))
        .route("/download", get(upload::download))
        .route("/rerun", post(completions::rerun))
        .route("/chat/completions", post(completions::create))
        .route("/attachments/{file}/download", get(upload::attachment))
        .route("/attachments/{file}/preview", get(upload::preview))
        .route(
            "/{id}",
            get(agents::get).put(agents::update).delete(agents::delete),
        )
        .route("/{id}/tags", put(tags::set))
        .route("/{id}/reset", post(agents::reset))
        .route("/{id}/publish", post(versions::publish))
        .route("/{id}/run", post(completions::create_of))
        .route("/{id}/completions", post(completions::create_of))
        .route("/{id}/upload", post(upload::upload).layer(upload))
        .route("/{id}/versions", get(versions::list))
        .route(
            "/{id}/versions/{version}",
            get(versions::get).delete(versions::delete),
        )
        .route("/{id}/components/{component}/input-form", get(forms::get))
        .route("/{id}/components/{component}/debug", post(debug::run))
        .route("/{id}/logs/{message}", get(logs::get))
        .route(
            "/{id}/sessions",
            get(sessions::list)
                .post(sessions::create)
                .delete(sessions::delete_several),
        )
        .route(
            "/{id}/sessions/{session}",
            get(sessions::get).delete(sessions::delete),
        );
    Router::new()
        .nest("/api/v1/agents", agents)
        .route("/api/v1/agentbots/{id}/inputs", get(agentbots::inputs))
        .route(
            "/api/v1/agentbots/{id}/completions",
            post(agentbots::create),
        )
        .route(
            "/api/v1/agentbots/{id}/logs/{message}",
            get(agentbots::logs),
        )
        .route("/api/v1/tasks/{id}/cancel", post(cancel::cancel))
        .route("/api/v1/tasks/{id}", patch(cancel::patch))
        .route("/api/v1/{*rest}", any(nothing_here))
}

/// What is at an address that is none.
async fn nothing_here(uri: Uri) -> Response {
    let message = format!("Not Found: {}", uri.path());
    let status = StatusCode::NOT_FOUND;
    let body =
        serde_json::json!({"code": 404, "message": message, "data": null, "error": "Not Found"});
    (status, axum::Json(body)).into_response()
}
