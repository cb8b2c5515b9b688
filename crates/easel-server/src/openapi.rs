//! One description of all routes: `/openapi.json`.

pub(crate) mod others;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::{Value as Json, json};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

/// Where the description is found.
pub const PATH: &str = "/openapi.json";

/// The name of the scheme by which requests say who they are.
const BEARER: &str = "key";

/// Routes that need no key.
const OPEN: [&str; 3] = ["/healthz", "/readyz", PATH];

/// What the tags stand for.
const TAGS: [(&str, &str); 11] = [
    ("workflows", "Graphs that are kept by name."),
    (
        "runs",
        "Runs of graphs and agents: begin, watch, look into, steer.",
    ),
    ("sessions", "Conversations."),
    ("memories", "What agents remember of their users."),
    ("keys", "API keys; they take the scope `admin`."),
    (
        "agents",
        "Agents and conversations in the form of RAGFlow's API.",
    ),
    ("openai", "Agents as models, in the form of OpenAI's API."),
    ("webhooks", "Agents that others call."),
    ("mcp", "Agents as tools."),
    (
        "health",
        "Whether the server lives, and whether it can do its work.",
    ),
    ("description", "This description."),
];

/// What begins the description of all routes.
fn empty() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Easel")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Agent workflows over HTTP. Requests name their key in `Authorization: Bearer KEY`; until the first key is made, \
             requests from the same machine need none.",
        ))
        .build();
    let tags = TAGS.map(|(name, description)| {
        TagBuilder::new()
            .name(name)
            .description(Some(description))
            .build()
    });
    OpenApiBuilder::new().info(info).tags(Some(tags)).build()
}

/// The routes of several parts, and the description of all of them.
pub(crate) fn describe(
    parts: impl IntoIterator<Item = OpenApiRouter<Arc<App>>>,
) -> (Router<Arc<App>>, Json) {
    let all = OpenApiRouter::with_openapi(empty()).routes(routes!(description));
    let all = parts.into_iter().fold(all, OpenApiRouter::merge);
    let (router, mut description) = all.split_for_parts();
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A key that `easel keys new` or POST /v1/keys made."))
        .build();
    let components = description.components.get_or_insert_default();
    components.add_security_scheme(BEARER, SecurityScheme::Http(scheme));
    let mut description = serde_json::to_value(&description).unwrap_or_default();
    let Some(paths) = description["paths"].as_object_mut() else {
        return (router, description);
    };
    for (path, item) in others::items() {
        paths.insert(path.to_owned(), item);
    }
    for (path, item) in paths {
        let operations = item.as_object_mut().into_iter().flatten();
        for (method, operation) in operations {
            operation["operationId"] = operation_id(method, path).into();
            if !OPEN.contains(&path.as_str()) && operation["security"].is_null() {
                operation["security"] = json!([{BEARER: []}]);
            }
        }
    }
    (router, description)
}

/// A name for an operation, that no other has.
fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.fold(method.to_owned(), |id, word| format!("{id}_{word}"))
}

/// Describes all routes
///
/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "description", responses(
    (status = 200, content_type = "application/json", body = Object),
))]
async fn description(State(app): State<Arc<App>>) -> impl IntoResponse {
    let json = app.description.get().cloned().unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], json)
}
