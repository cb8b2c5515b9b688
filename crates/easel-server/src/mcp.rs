//! Agents as tools of the Model Context Protocol, over streamable HTTP at `/mcp`.
//!
//! Revision 2026-07-28 has no sessions: every request says who asks and what the client can do, a question of an agent is a
//! result that says what is missing, and a call that takes long becomes a task, which is a run. The revisions before it have
//! sessions: there a question goes to the client's user while the call waits. A client that can do neither is told which run
//! waits and how any client answers it.

mod agents;
mod ask;
mod hosted;
mod names;
mod schema;
mod server;
mod sessions;
mod tell;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Extensions;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

pub use agents::{
    ANSWERS, Agent, Agents, Answer, Call, Look, Outcome, Question, Refusal, Running, Step,
};
pub use hosted::{Hosted, routes};
pub use names::RESUME;
pub use server::McpServer;
pub use tell::RUN;

/// What the MCP server goes by.
#[derive(Clone, Debug)]
pub struct Options {
    /// The hosts under which the server is reached, with or without a port; any if empty. Others are refused, so that a page
    /// in a browser cannot reach a local server under a name of its own.
    pub hosts: Vec<String>,
    /// The origins of pages that may use it (`https://app.example.com:443`, `http://localhost:*`). Others are refused.
    pub origins: Vec<String>,
    /// The longest body of a request, in bytes.
    pub body: usize,
    /// How long a call lasts before it becomes a task, for clients that follow tasks.
    pub patience: Duration,
    /// How long a session lasts in which nothing happens.
    pub idle: Duration,
    /// Sessions of one caller at once. One more ends the one that was used least recently.
    pub sessions: usize,
    /// Cancelled when the server ends: then streams end and their runs go on.
    pub closing: CancellationToken,
}

/// Pages that are served by this machine itself.
const LOCAL: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

impl Default for Options {
    fn default() -> Options {
        let loopback = ["localhost", "127.0.0.1", "::1"];
        Options {
            hosts: loopback.map(str::to_owned).to_vec(),
            origins: LOCAL.map(str::to_owned).to_vec(),
            body: 4 * 1024 * 1024,
            patience: Duration::from_secs(10),
            idle: Duration::from_secs(3_600),
            sessions: 1_000,
            closing: CancellationToken::new(),
        }
    }
}

/// The route `/mcp` for somebody's agents. Behind a layer that puts an [`Agents::Caller`] into the request's extensions.
pub fn router<A: Agents>(agents: Arc<A>, options: &Options) -> Router {
    let of = agents.clone();
    let identity = move |extensions: &Extensions| {
        extensions
            .get::<A::Caller>()
            .map(|caller| of.identity(caller))
    };
    let (patience, closing) = (options.patience, options.closing.clone());
    let server = move || McpServer::new(agents.clone(), patience, closing.clone());
    router_of(server, identity, options)
}

/// The route `/mcp` for servers that add something to [`McpServer`]. `identity` says what the requests of one caller have in
/// common.
pub fn router_of<H: ServerHandler>(
    server: impl Fn() -> H + Send + Sync + 'static,
    identity: impl Fn(&Extensions) -> Option<Arc<str>> + Clone + Send + Sync + 'static,
    options: &Options,
) -> Router {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(options.idle);
    let manager = Arc::new(manager);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(options.hosts.clone())
        .with_allowed_origins(options.origins.clone())
        .with_max_request_body_bytes(options.body)
        .with_cancellation_token(options.closing.clone())
        .enforce_origin_validation();
    let service = StreamableHttpService::new(move || Ok(server()), manager.clone(), config);
    let owned = sessions::Owned::new(service, manager, identity, options.sessions);
    Router::new().route_service("/mcp", owned)
}
