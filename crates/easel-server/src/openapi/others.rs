//! Routes whose forms others laid down: they are described here in one table, as far as Easel knows more than those forms say.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

/// One route and method.
struct Described {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    takes: Takes,
    gives: Gives,
}

/// What a route takes beside its path.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Nothing,
    /// An object in JSON.
    Object,
    /// Files in a form.
    Files,
    /// Whatever the webhook is set up for.
    Anything,
    /// A message of the Model Context Protocol.
    Protocol,
}

/// What a route gives.
#[derive(Clone, Copy, PartialEq)]
enum Gives {
    /// Text for Prometheus.
    Metrics,
    /// `{code, message, data}`, with HTTP status 200 whatever happened.
    Envelope,
    /// Whatever the webhook is set up for, to whoever the webhook itself lets in.
    Public,
    /// A message of the Model Context Protocol, or a stream of them.
    Protocol,
}

const fn described(
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    takes: Takes,
    gives: Gives,
) -> Described {
    Described {
        method,
        path,
        summary,
        takes,
        gives,
    }
}

/// `/metrics`.
const TELEMETRY: &[Described] = &[described(
    "get",
    "/metrics",
    "Counts for Prometheus",
    Takes::Nothing,
    Gives::Metrics,
)];

/// The Model Context Protocol.
const MCP: &[Described] = &[
    described("post", "/mcp", "Agents as tools of the Model Context Protocol", Takes::Protocol, Gives::Protocol),
    described("get", "/mcp", "A session's stream, for revisions that have sessions", Takes::Nothing, Gives::Protocol),
    described("delete", "/mcp", "Ends a session, for revisions that have sessions", Takes::Nothing, Gives::Protocol),
];

const HOOK: &str = "/api/v1/agents/{id}/webhook";
const TEST_HOOK: &str = "/api/v1/agents/{id}/webhook/test";

/// Webhooks.
const WEBHOOKS: &[Described] = &[
    described("get", HOOK, "Calls an agent's webhook", Takes::Nothing, Gives::Public),
    described("head", HOOK, "Calls an agent's webhook", Takes::Nothing, Gives::Public),
    described("post", HOOK, "Calls an agent's webhook", Takes::Anything, Gives::Public),
    described("put", HOOK, "Calls an agent's webhook", Takes::Anything, Gives::Public),
    described("patch", HOOK, "Calls an agent's webhook", Takes::Anything, Gives::Public),
    described("delete", HOOK, "Calls an agent's webhook", Takes::Nothing, Gives::Public),
    described("get", TEST_HOOK, "Calls the webhook of one's own draft", Takes::Nothing, Gives::Envelope),
    described("head", TEST_HOOK, "Calls the webhook of one's own draft", Takes::Nothing, Gives::Envelope),
    described("post", TEST_HOOK, "Calls the webhook of one's own draft", Takes::Anything, Gives::Envelope),
    described("put", TEST_HOOK, "Calls the webhook of one's own draft", Takes::Anything, Gives::Envelope),
    described("patch", TEST_HOOK, "Calls the webhook of one's own draft", Takes::Anything, Gives::Envelope),
    described("delete", TEST_HOOK, "Calls the webhook of one's own draft", Takes::Nothing, Gives::Envelope),
    described(
        "get",
        "/api/v1/agents/{id}/webhook/logs",
        "What the test calls of a webhook came to",
        Takes::Nothing,
        Gives::Envelope,
    ),
];

/// RAGFlow's agent API.
const RAGFLOW: &[Described] = &[
    described("get", "/api/v1/agents", "Lists agents", Takes::Nothing, Gives::Envelope),
    described("post", "/api/v1/agents", "Makes an agent", Takes::Object, Gives::Envelope),
    described("get", "/api/v1/agents/tags", "Counts the tags of agents", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agents/templates", "Lists templates of agents", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agents/prompts", "Gives the prompts that editors begin with", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agents/download", "Gives an uploaded file", Takes::Nothing, Gives::Envelope),
    described("post", "/api/v1/agents/rerun", "Says that ingestion pipelines are not run", Takes::Object, Gives::Envelope),
    described("post", "/api/v1/agents/chat/completions", "Says something to an agent", Takes::Object, Gives::Envelope),
    described("get", "/api/v1/agents/attachments/{file}/download", "Gives a file that an agent made", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agents/attachments/{file}/preview", "Shows a file that an agent made", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agents/{id}", "Shows an agent", Takes::Nothing, Gives::Envelope),
    described("put", "/api/v1/agents/{id}", "Changes an agent", Takes::Object, Gives::Envelope),
    described("delete", "/api/v1/agents/{id}", "Deletes an agent", Takes::Nothing, Gives::Envelope),
    described("put", "/api/v1/agents/{id}/tags", "Sets the tags of an agent", Takes::Object, Gives::Envelope),
    described("post", "/api/v1/agents/{id}/reset", "Makes the draft forget what it remembers", Takes::Object, Gives::Envelope),
    described("post", "/api/v1/agents/{id}/publish", "Releases the draft", Takes::Object, Gives::Envelope),
    described("post", "/api/v1/agents/{id}/run", "Says something to an agent", Takes::Object, Gives::Envelope),
    described("post", "/api/v1/agents/{id}/completions", "Says something to an agent", Takes::Object, Gives::Envelope),
    described("post", "/api/v1/agents/{id}/upload", "Uploads files", Takes::Files, Gives::Envelope),
    described("get", "/api/v1/agents/{id}/versions", "Lists versions", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agents/{id}/versions/{version}", "Shows a version", Takes::Nothing, Gives::Envelope),
    described("delete", "/api/v1/agents/{id}/versions/{version}", "Deletes a version", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agents/{id}/components/{component}/input-form", "Says what a component asks for", Takes::Nothing, Gives::Envelope),
    described("post", "/api/v1/agents/{id}/components/{component}/debug", "Runs one component", Takes::Object, Gives::Envelope),
    described("get", "/api/v1/agents/{id}/logs/{message}", "Gives the calls of tools behind a message", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agents/{id}/sessions", "Lists conversations", Takes::Nothing, Gives::Envelope),
    described("post", "/api/v1/agents/{id}/sessions", "Opens a conversation", Takes::Object, Gives::Envelope),
    described("delete", "/api/v1/agents/{id}/sessions", "Deletes conversations", Takes::Object, Gives::Envelope),
    described("get", "/api/v1/agents/{id}/sessions/{session}", "Shows a conversation", Takes::Nothing, Gives::Envelope),
    described("delete", "/api/v1/agents/{id}/sessions/{session}", "Deletes a conversation", Takes::Nothing, Gives::Envelope),
    described("get", "/api/v1/agentbots/{id}/inputs", "Says what an agent asks for at its beginning", Takes::Nothing, Gives::Envelope),
    described("post", "/api/v1/agentbots/{id}/completions", "Says something to an agent, from a page", Takes::Object, Gives::Envelope),
    described("get", "/api/v1/agentbots/{id}/logs/{message}", "Gives the calls of tools behind a message", Takes::Nothing, Gives::Envelope),
    described("post", "/api/v1/tasks/{id}/cancel", "Ends a run", Takes::Object, Gives::Envelope),
    described("patch", "/api/v1/tasks/{id}", "Ends a run", Takes::Object, Gives::Envelope),
];

/// What the tables say, by path.
pub(crate) fn items() -> IndexMap<&'static str, Json> {
    let tables = [
        (TELEMETRY, "health"),
        (MCP, "mcp"),
        (RAGFLOW, "agents"),
        (WEBHOOKS, "webhooks"),
    ];
    let mut items = IndexMap::new();
    for (table, tag) in tables {
        for route in table {
            let item = items.entry(route.path).or_insert_with(|| json!({}));
            item[route.method] = operation(route, tag);
        }
    }
    items
}

fn operation(route: &Described, tag: &str) -> Json {
    let names = route.path.split('{').skip(1);
    let names = names.filter_map(|rest| rest.split('}').next());
    let parameters: Vec<Json> = names
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    let mut operation = json!({
        "tags": [tag],
        "summary": route.summary,
        "parameters": parameters,
        "responses": responses(route.gives),
    });
    if let Some(content) = body(route.takes) {
        operation["requestBody"] = json!({"content": content, "required": false});
    }
    if route.gives == Gives::Public {
        operation["security"] = json!([]);
    }
    operation
}

fn body(takes: Takes) -> Option<Json> {
    let object = json!({"schema": {"type": "object"}});
    match takes {
        Takes::Nothing => None,
        Takes::Object => Some(json!({"application/json": object})),
        Takes::Files => Some(json!({"multipart/form-data": {"schema": {
            "type": "object",
            "properties": {"file": {"type": "array", "items": {"type": "string", "format": "binary"}}},
        }}})),
        Takes::Anything => Some(json!({
            "application/json": {"schema": {}},
            "application/x-www-form-urlencoded": object,
            "text/plain": {"schema": {"type": "string"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        })),
        Takes::Protocol => Some(json!({"application/json": object})),
    }
}

fn responses(gives: Gives) -> Json {
    let text = json!({"schema": {"type": "string"}});
    let any = json!({"schema": {}});
    let envelope = json!({"schema": {
        "type": "object",
        "required": ["code"],
        "properties": {"code": {"type": "integer"}, "message": {}, "data": {}},
    }});
    match gives {
        Gives::Metrics => json!({
            "200": {"description": "The counts", "content": {"text/plain": text}},
            "default": {"description": "Who asks may not", "content": {"application/json": envelope}},
        }),
        Gives::Envelope => json!({
            "default": {"description": "What came of it", "content": {
                "application/json": envelope, "text/event-stream": text, "*/*": any,
            }},
        }),
        Gives::Public => json!({
            "default": {"description": "What the webhook is set up to answer", "content": {"*/*": any}},
        }),
        Gives::Protocol => json!({
            "default": {"description": "A message of the protocol", "content": {
                "application/json": any, "text/event-stream": text, "*/*": any,
            }},
        }),
    }
}
