//! Agents for clients that speak the OpenAI API: an agent is a model, its runs are answers.
//!
//! `/v1/models`, `/v1/chat/completions` and `/v1/responses` are what the official clients call. What those have no word for
//! goes beside it: the conversation as `metadata.session_id` and in the header [`SESSION`], everything else in a member
//! `easel`. The form in which canvas clients know the same is in `canvas.rs`.

pub(crate) mod canvas;
mod chat;
mod conversation;
mod error;
mod models;
mod prompt;
mod responses;
mod speech;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::App;

/// The header that names the conversation, in requests and in answers.
pub const SESSION: &str = "x-easel-session";

/// The routes.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{model}", get(models::retrieve))
        .route("/v1/chat/completions", post(chat::create))
        .route("/v1/responses", post(responses::create))
        .route("/v1/responses/{id}", get(responses::retrieve))
        .route(
            "/api/v1/agents_openai/{id}/chat/completions",
            post(canvas::completions_of),
        )
}
