//! Easel's own API under `/v1`: workflows, runs, conversations, memories and keys.
//!
//! What is not done is answered with a [`problem::ProblemBody`] and the right status. What is another owner's is answered
//! as if it were not there.

pub mod access;
mod events;
mod keys;
mod memories;
mod nodes;
pub mod problem;
pub mod request;
mod requirements;
mod run;
mod runs;
mod sessions;
mod start;
mod state;
mod steer;
mod steps;
mod trace;
pub mod workflows;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

/// The routes of the API, with their description.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(workflows::list, workflows::create))
        .routes(routes!(workflows::validate))
        .routes(routes!(
            workflows::get,
            workflows::replace,
            workflows::remove
        ))
        .routes(routes!(requirements::get))
        .routes(routes!(start::workflow))
        .routes(routes!(start::agent))
        .routes(routes!(sessions::open))
        .routes(routes!(sessions::say))
        .routes(routes!(runs::list))
        .routes(routes!(runs::get, runs::remove))
        .routes(routes!(nodes::get))
        .routes(routes!(steps::list))
        .routes(routes!(trace::get))
        .routes(routes!(state::get))
        .routes(routes!(events::get))
        .routes(routes!(runs::receipt))
        .routes(routes!(steer::resume))
        .routes(routes!(steer::answer))
        .routes(routes!(steer::decide))
        .routes(routes!(steer::cancel))
        .routes(routes!(memories::list, memories::forget_all))
        .routes(routes!(memories::get, memories::forget))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
}
