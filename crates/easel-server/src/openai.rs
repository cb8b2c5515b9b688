//! Agents for clients that speak the OpenAI API: an agent is a model, its runs are answers.
//!
//! `/v1/models`, `/v1/chat/completions` and `/v1/responses` are what the official clients call. What those have no word for
//! goes beside it: the conversation as `metadata.session_id` and in the header [`SESSION`], everything else in a member
//! `easel`. The form in which canvas clients know the same is in [`canvas`].

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

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

/// The header that names the conversation, in requests and in answers.
pub const SESSION: &str = "x-easel-session";

/// The routes, with their description.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(models::list))
        .routes(routes!(models::retrieve))
        .routes(routes!(chat::create))
        .routes(routes!(responses::create))
        .routes(routes!(responses::retrieve))
        .routes(routes!(canvas::completions_of))
}
