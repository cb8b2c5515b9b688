//! Routes whose forms others laid down: they are described here in one table, as far as Easel knows more than those forms say.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use Gives::{Envelope, Metrics, OpenAi, Protocol, Public};
use Takes::{Anything, Files, Message, Nothing, Object};

/// One route and method: method, path, what it does, what it takes and gives.
type Row = (&'static str, &'static str, &'static str, Takes, Gives);

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
    Message,
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
    /// What OpenAI's API gives.
    OpenAi,
    /// A message of the Model Context Protocol, or a stream of them.
    Protocol,
}

/// `/metrics`.
#[rustfmt::skip]
const TELEMETRY: &[Row] = &[
    ("get", "/metrics", "Counts for Prometheus", Nothing, Metrics),
];

/// The Model Context Protocol.
#[rustfmt::skip]
const MCP: &[Row] = &[
    ("post", "/mcp", "Agents as tools of the Model Context Protocol", Message, Protocol),
    ("get", "/mcp", "A session's stream, for revisions that have sessions", Nothing, Protocol),
    ("delete", "/mcp", "Ends a session, for revisions that have sessions", Nothing, Protocol),
];

/// OpenAI's API, and the form of it that canvas clients know.
#[rustfmt::skip]
const OPENAI: &[Row] = &[
    ("get", "/v1/models", "Lists released agents as models", Nothing, OpenAi),
    ("get", "/v1/models/{model}", "Shows an agent as a model", Nothing, OpenAi),
    ("post", "/v1/chat/completions", "Says something to an agent", Object, OpenAi),
    ("post", "/v1/responses", "Says something to an agent", Object, OpenAi),
    ("get", "/v1/responses/{id}", "Shows what an agent answered", Nothing, OpenAi),
    ("post", "/api/v1/agents_openai/{id}/chat/completions", "Says something to an agent", Object, OpenAi),
];

/// RAGFlow's agent API.
#[rustfmt::skip]
const RAGFLOW: &[Row] = &[
    ("get", "/api/v1/agents", "Lists agents", Nothing, Envelope),
    ("post", "/api/v1/agents", "Makes an agent", Object, Envelope),
    ("get", "/api/v1/agents/tags", "Counts the tags of agents", Nothing, Envelope),
    ("get", "/api/v1/agents/templates", "Lists templates of agents", Nothing, Envelope),
    ("get", "/api/v1/agents/prompts", "Gives the prompts that editors begin with", Nothing, Envelope),
    ("get", "/api/v1/agents/download", "Gives an uploaded file", Nothing, Envelope),
    ("post", "/api/v1/agents/rerun", "Says that ingestion pipelines are not run", Object, Envelope),
    ("post", "/api/v1/agents/chat/completions", "Says something to an agent", Object, Envelope),
    ("get", "/api/v1/agents/attachments/{file}/download", "Gives a file that an agent made", Nothing, Envelope),
    ("get", "/api/v1/agents/attachments/{file}/preview", "Shows a file that an agent made", Nothing, Envelope),
    ("get", "/api/v1/agents/{id}", "Shows an agent", Nothing, Envelope),
    ("put", "/api/v1/agents/{id}", "Changes an agent", Object, Envelope),
    ("delete", "/api/v1/agents/{id}", "Deletes an agent", Nothing, Envelope),
    ("put", "/api/v1/agents/{id}/tags", "Sets the tags of an agent", Object, Envelope),
    ("post", "/api/v1/agents/{id}/reset", "Makes the draft forget what it remembers", Object, Envelope),
    ("post", "/api/v1/agents/{id}/publish", "Releases the draft", Object, Envelope),
    ("post", "/api/v1/agents/{id}/run", "Says something to an agent", Object, Envelope),
    ("post", "/api/v1/agents/{id}/completions", "Says something to an agent", Object, Envelope),
    ("post", "/api/v1/agents/{id}/upload", "Uploads files", Files, Envelope),
    ("get", "/api/v1/agents/{id}/versions", "Lists versions", Nothing, Envelope),
    ("get", "/api/v1/agents/{id}/versions/{version}", "Shows a version", Nothing, Envelope),
    ("delete", "/api/v1/agents/{id}/versions/{version}", "Deletes a version", Nothing, Envelope),
    ("get", "/api/v1/agents/{id}/components/{component}/input-form", "Says what a component asks for", Nothing, Envelope),
    ("post", "/api/v1/agents/{id}/components/{component}/debug", "Runs one component", Object, Envelope),
    ("get", "/api/v1/agents/{id}/logs/{message}", "Gives the calls of tools behind a message", Nothing, Envelope),
    ("get", "/api/v1/agents/{id}/sessions", "Lists conversations", Nothing, Envelope),
    ("post", "/api/v1/agents/{id}/sessions", "Opens a conversation", Object, Envelope),
    ("delete", "/api/v1/agents/{id}/sessions", "Deletes conversations", Object, Envelope),
    ("get", "/api/v1/agents/{id}/sessions/{session}", "Shows a conversation", Nothing, Envelope),
    ("delete", "/api/v1/agents/{id}/sessions/{session}", "Deletes a conversation", Nothing, Envelope),
    ("get", "/api/v1/agentbots/{id}/inputs", "Says what an agent asks for at its beginning", Nothing, Envelope),
    ("post", "/api/v1/agentbots/{id}/completions", "Says something to an agent, from a page", Object, Envelope),
    ("get", "/api/v1/agentbots/{id}/logs/{message}", "Gives the calls of tools behind a message", Nothing, Envelope),
    ("post", "/api/v1/tasks/{id}/cancel", "Ends a run", Object, Envelope),
    ("patch", "/api/v1/tasks/{id}", "Ends a run", Object, Envelope),
];

const HOOK: &str = "/api/v1/agents/{id}/webhook";
const TEST_HOOK: &str = "/api/v1/agents/{id}/webhook/test";

/// Webhooks.
#[rustfmt::skip]
const WEBHOOKS: &[Row] = &[
    ("get", HOOK, "Calls an agent's webhook", Nothing, Public),
    ("head", HOOK, "Calls an agent's webhook", Nothing, Public),
    ("post", HOOK, "Calls an agent's webhook", Anything, Public),
    ("put", HOOK, "Calls an agent's webhook", Anything, Public),
    ("patch", HOOK, "Calls an agent's webhook", Anything, Public),
    ("delete", HOOK, "Calls an agent's webhook", Nothing, Public),
    ("get", TEST_HOOK, "Calls the webhook of one's own draft", Nothing, Envelope),
    ("head", TEST_HOOK, "Calls the webhook of one's own draft", Nothing, Envelope),
    ("post", TEST_HOOK, "Calls the webhook of one's own draft", Anything, Envelope),
    ("put", TEST_HOOK, "Calls the webhook of one's own draft", Anything, Envelope),
    ("patch", TEST_HOOK, "Calls the webhook of one's own draft", Anything, Envelope),
    ("delete", TEST_HOOK, "Calls the webhook of one's own draft", Nothing, Envelope),
    ("get", "/api/v1/agents/{id}/webhook/logs", "What the test calls of a webhook came to", Nothing, Envelope),
];

/// What the tables say, by path.
pub(crate) fn items() -> IndexMap<&'static str, Json> {
    let tables = [
        (TELEMETRY, "health"),
        (MCP, "mcp"),
        (OPENAI, "openai"),
        (RAGFLOW, "agents"),
        (WEBHOOKS, "webhooks"),
    ];
    let mut items = IndexMap::new();
    for (table, tag) in tables {
        for route in table {
            let (method, path, ..) = *route;
            let item = items.entry(path).or_insert_with(|| json!({}));
            item[method] = operation(route, tag);
        }
    }
    items
}

fn operation(&(_, path, summary, takes, gives): &Row, tag: &str) -> Json {
    let names = path.split('{').skip(1);
    let names = names.filter_map(|rest| rest.split('}').next());
    let parameters: Vec<Json> = names
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    let mut operation = json!({
        "tags": [tag],
        "summary": summary,
        "parameters": parameters,
        "responses": responses(gives),
    });
    if let Some(content) = body(takes) {
        operation["requestBody"] = json!({"content": content, "required": false});
    }
    if gives == Public {
        operation["security"] = json!([]);
    }
    operation
}

fn body(takes: Takes) -> Option<Json> {
    let object = json!({"schema": {"type": "object"}});
    match takes {
        Nothing => None,
        Object => Some(json!({"application/json": object})),
        Files => Some(json!({"multipart/form-data": {"schema": {
            "type": "object",
            "properties": {"file": {"type": "array", "items": {"type": "string", "format": "binary"}}},
        }}})),
        Anything => Some(json!({
            "application/json": {"schema": {}},
            "application/x-www-form-urlencoded": object,
            "text/plain": {"schema": {"type": "string"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        })),
        Message => Some(json!({"application/json": object})),
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
        Metrics => json!({
            "200": {"description": "The counts", "content": {"application/openmetrics-text": text}},
            "default": {"description": "Who asks may not", "content": {"application/json": envelope}},
        }),
        Envelope => json!({
            "default": {"description": "What came of it", "content": {
                "application/json": envelope, "text/event-stream": any, "*/*": any,
            }},
        }),
        Public => json!({
            "default": {"description": "What the webhook is set up to answer", "content": {"*/*": any}},
        }),
        OpenAi => json!({
            "default": {"description": "What OpenAI's API gives", "content": {
                "application/json": {"schema": {"type": "object"}}, "text/event-stream": any,
            }},
        }),
        Protocol => json!({
            "default": {"description": "A message of the protocol", "content": {
                "application/json": any, "text/event-stream": any, "*/*": any,
            }},
        }),
    }
}
