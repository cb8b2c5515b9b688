//! One connection to one server.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use easel_tools::ToolError;
use easel_tools::live::LiveHttp;
use easel_tools::mcp::{McpAnswer, McpCall, McpServer, McpTool, McpVisit};
use rmcp::model::{CallToolRequestParams, ClientConfig, Implementation, PaginatedRequestParams};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceError};
use tokio::time::Instant;

use crate::content;
use crate::greeting;
use crate::pool::locked;
use crate::sign_in::Kept;
use crate::trouble;

/// How long a list of tools may take.
const LISTING: Duration = Duration::from_secs(30);

/// How long a list is believed: not every server says when it changes.
const FRESH: Duration = Duration::from_secs(60);

/// Pages of tools that are asked for, and tools that are taken.
const PAGES: usize = 100;
const TOOLS: usize = 2000;

/// A connection.
pub(crate) struct Connection {
    server: Arc<McpServer>,
    service: RunningService<RoleClient, Listener>,
    /// The tools as they were listed last, and when that was.
    tools: Mutex<Option<(Instant, Arc<[McpTool]>)>>,
    /// Whether the server said that they are others now.
    changed: Arc<AtomicBool>,
}

/// What hears what a server says unasked.
#[derive(Clone, Default)]
pub(crate) struct Listener {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.client_info = Implementation::new("easel", env!("CARGO_PKG_VERSION"));
        config
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}

impl Connection {
    /// Connects, as whoever has signed in.
    ///
    /// Errors: there is no such program, nobody listens, or what listens is no MCP server.
    pub async fn open(
        http: &LiveHttp,
        visit: &McpVisit,
        kept: Option<Kept>,
    ) -> Result<Connection, ToolError> {
        let listener = Listener::default();
        let changed = listener.changed.clone();
        Ok(Connection {
            server: visit.server.clone(),
            service: greeting::greet(http, visit, kept, listener).await?,
            tools: Mutex::default(),
            changed,
        })
    }

    /// True if nothing goes through it any more.
    pub fn is_over(&self) -> bool {
        self.service.is_transport_closed()
    }

    /// Says goodbye.
    pub async fn close(&self) {
        self.service.cancellation_token().cancel();
    }

    /// What the server offers. Asked once, and again when the server said that it changed.
    pub async fn tools(&self) -> Result<Arc<[McpTool]>, ToolError> {
        let changed = self.changed.swap(false, Ordering::AcqRel);
        let known = locked(&self.tools).clone();
        if let Some((_, tools)) = known.filter(|(at, _)| !changed && at.elapsed() < FRESH) {
            return Ok(tools);
        }
        let listed = self.in_time(LISTING, self.list()).await?;
        *locked(&self.tools) = Some((Instant::now(), listed.clone()));
        Ok(listed)
    }

    async fn list(&self) -> Result<Arc<[McpTool]>, ToolError> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = self.service.list_tools(Some(page)).await;
            let page = page.map_err(|error| trouble::unanswered(&self.server, &error))?;
            tools.extend(page.tools.iter().map(content::tool));
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() >= TOOLS {
                break;
            }
        }
        tools.truncate(TOOLS);
        Ok(tools.into())
    }

    /// Calls a tool. What the server has to say against the call is an answer too.
    pub async fn call(&self, call: &McpCall) -> Result<McpAnswer, ToolError> {
        if self.is_over() {
            return Err(ToolError::NoConnection {
                host: trouble::called(&self.server),
                cause: "it has ended the connection".to_owned(),
            });
        }
        let arguments = call.arguments.iter();
        let arguments = arguments.map(|(name, value)| (name.to_string(), value.to_json()));
        let params =
            CallToolRequestParams::new(call.tool.to_string()).with_arguments(arguments.collect());
        let called = async {
            match self.service.call_tool(params).await {
                Ok(result) => Ok(content::answer(result)),
                Err(ServiceError::McpError(error)) => Ok(McpAnswer {
                    text: error.message.to_string(),
                    failed: true,
                    files: Vec::new(),
                }),
                Err(error) => Err(trouble::unanswered(&self.server, &error)),
            }
        };
        self.in_time(self.server.timeout, called).await
    }

    async fn in_time<T>(
        &self,
        after: Duration,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        match tokio::time::timeout(after, work).await {
            Ok(done) => done,
            Err(_) => Err(ToolError::Timeout {
                what: trouble::called(&self.server),
                after,
            }),
        }
    }
}
