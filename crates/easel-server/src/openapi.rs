//! One description of all routes: `/openapi.json`.

pub(crate) mod others;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
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
const TAGS: [(&str, &str); 9] = [
    ("workflows", "Graphs that are kept by name."),
    (
        "runs",
        "Runs of graphs and agents: begin, watch, look into, steer.",
    ),
    ("sessions", "Conversations."),
    ("keys", "API keys; they take the scope `admin`."),
    (
        "agents",
        "Agents and conversations in the form of RAGFlow's API.",
    ),
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

/// The routes of several parts, each with its description.
pub(crate) fn describe(
    parts: impl IntoIterator<Item = OpenApiRouter<Arc<App>>>,
) -> (Router<Arc<App>>, OpenApi) {
    let all = OpenApiRouter::with_openapi(empty()).routes(routes!(description));
    let all = parts.into_iter().fold(all, OpenApiRouter::merge);
    let (router, mut description) = all.split_for_parts();
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A key that `easel keys new` or POST /v1/keys made."))
        .build();
    let components = description.components.get_or_insert_default();
    components.add_security_scheme(BEARER, SecurityScheme::Http(scheme));
    for (path, item) in &mut description.paths.paths {
        let operations = [
            ("get", &mut item.get),
            ("put", &mut item.put),
            ("post", &mut item.post),
            ("delete", &mut item.delete),
            ("patch", &mut item.patch),
            ("head", &mut item.head),
            ("options", &mut item.options),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else {
                continue;
            };
            operation.operation_id = Some(operation_id(method, path));
            if !OPEN.contains(&path.as_str()) {
                let none: [&str; 0] = [];
                operation
                    .security
                    .get_or_insert_with(|| vec![SecurityRequirement::new(BEARER, none)]);
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
