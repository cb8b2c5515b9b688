//! Tools behind circuit breakers.

use std::sync::Arc;

use easel_tools::code::{CodeOutcome, CodeRequest, CodeRunner};
use easel_tools::http::{Fetched, HttpRequest, HttpResponse, HttpSender};
use easel_tools::mail::{Mail, MailSender};
use easel_tools::mcp::{McpAnswer, McpCall, McpServer, McpServers, McpTool, McpVisit};
use easel_tools::retrieval::{RetrievalRequest, Retrieved, Retriever};
use easel_tools::search::{SearchRequest, SearchResults, WebSearch};
use easel_tools::sql::{SqlRequest, SqlRows, SqlRunner};
use easel_tools::{ToolError, World};
use futures::FutureExt;
use futures::future::BoxFuture;

use super::Breaker;

/// The doors that lead to services. Files and memory are the deployment's own, and stay as they are.
struct BreakingWorld {
    world: World,
    breaker: Arc<Breaker>,
}

impl Breaker {
    /// A world whose services have circuits.
    pub(crate) fn around(self: &Arc<Breaker>, world: World) -> World {
        let behind = Arc::new(BreakingWorld {
            world: world.clone(),
            breaker: self.clone(),
        });
        World {
            retrieval: behind.clone(),
            code: behind.clone(),
            sql: behind.clone(),
            search: behind.clone(),
            http: behind.clone(),
            mail: behind.clone(),
            mcp: behind,
            ..world
        }
    }
}

impl BreakingWorld {
    /// A call if its circuit lets it pass; `ill` says whether an answer shows that the service is not well.
    fn call<'a, T: Send + 'a>(
        &'a self,
        name: String,
        call: impl FnOnce(&'a World) -> BoxFuture<'a, Result<T, ToolError>> + Send + 'a,
        ill: impl FnOnce(&Result<T, ToolError>) -> bool + Send + 'a,
    ) -> BoxFuture<'a, Result<T, ToolError>> {
        async move {
            let admitted = self.breaker.admit(&name);
            let pass = admitted.map_err(|wait| ToolError::CircuitOpen { what: name, wait })?;
            let answer = call(&self.world).await;
            match ill(&answer) {
                true => pass.failed(),
                false => pass.succeeded(),
            }
            answer
        }
        .boxed()
    }
}

/// By the status a service says that it cannot at the moment.
fn is_ill(status: u16) -> bool {
    matches!(status, 429 | 500..=599)
}

/// Whether an answer shows that the service is not well.
fn ill<T>(answer: &Result<T, ToolError>) -> bool {
    match answer {
        Err(ToolError::Timeout { .. }) => true,
        answer => unreachable(answer),
    }
}

/// The same, where it is the request that sets how long it takes.
fn unreachable<T>(answer: &Result<T, ToolError>) -> bool {
    match answer {
        Err(
            ToolError::Unresolved { .. }
            | ToolError::NoConnection { .. }
            | ToolError::Interrupted { .. },
        ) => true,
        Err(ToolError::Status { status, .. }) => is_ill(*status),
        _ => false,
    }
}

/// The circuit of a host.
fn host(host: &str, port: u16) -> String {
    format!("host:{}:{port}", host.trim().to_lowercase())
}

/// The circuit of the host of a request.
fn host_of(request: &HttpRequest) -> String {
    format!("host:{}", request.host().unwrap_or_default())
}

impl Retriever for BreakingWorld {
    fn retrieve(&self, request: RetrievalRequest) -> BoxFuture<'_, Result<Retrieved, ToolError>> {
        let name = "tool:retrieval".to_owned();
        self.call(name, |world| world.retrieval.retrieve(request), ill)
    }
}

impl WebSearch for BreakingWorld {
    fn search(&self, request: SearchRequest) -> BoxFuture<'_, Result<SearchResults, ToolError>> {
        let name = format!("tool:{}", request.provider);
        self.call(name, |world| world.search.search(request), ill)
    }
}

impl CodeRunner for BreakingWorld {
    fn run(&self, request: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>> {
        let name = "tool:code".to_owned();
        self.call(name, |world| world.code.run(request), unreachable)
    }
}

impl SqlRunner for BreakingWorld {
    fn query(&self, request: SqlRequest) -> BoxFuture<'_, Result<SqlRows, ToolError>> {
        let connection = &request.connection;
        let name = host(&connection.host, connection.port);
        self.call(name, |world| world.sql.query(request), unreachable)
    }
}

impl HttpSender for BreakingWorld {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        let name = host_of(&request);
        self.call(
            name,
            |world| world.http.send(request),
            |answer| match answer {
                Ok(response) => is_ill(response.status),
                refused => ill(refused),
            },
        )
    }

    fn fetch(&self, request: HttpRequest, limit: u64) -> BoxFuture<'_, Result<Fetched, ToolError>> {
        let name = host_of(&request);
        self.call(
            name,
            move |world| world.http.fetch(request, limit),
            |answer| match answer {
                Ok(fetched) => is_ill(fetched.status),
                refused => ill(refused),
            },
        )
    }
}

impl McpServers for BreakingWorld {
    fn servers(&self) -> &[Arc<McpServer>] {
        self.world.mcp.servers()
    }

    fn tokens(&self, server: &McpServer) -> Vec<String> {
        self.world.mcp.tokens(server)
    }

    fn tools(&self, visit: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>> {
        let name = format!("mcp:{}", visit.server.name);
        self.call(name, |world| world.mcp.tools(visit), ill)
    }

    fn call(&self, visit: McpVisit, call: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>> {
        let name = format!("mcp:{}", visit.server.name);
        // How long a tool takes is the tool's own affair, and says nothing of the server.
        self.call(name, |world| world.mcp.call(visit, call), unreachable)
    }
}

impl MailSender for BreakingWorld {
    fn deliver(&self, mail: Mail) -> BoxFuture<'_, Result<(), ToolError>> {
        let name = host(&mail.server.host, mail.server.port);
        self.call(name, |world| world.mail.deliver(mail), ill)
    }
}
