//! One connection to one server.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use easel_tools::ToolError;
use easel_tools::live::LiveHttp;
use easel_tools::mcp::{McpAnswer, McpCall, McpReach, McpServer, McpTool, McpVisit};
use http::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequestParams, ClientConfig, Implementation, PaginatedRequestParams, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext,
    RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceError};
use tokio::time::Instant;

use crate::content;
use crate::pool::locked;
use crate::program::{self, Murmur};
use crate::trouble;

/// How long a connection may take to come about: programs may be downloaded first.
const CONNECTING: Duration = Duration::from_secs(60);

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
struct Listener {
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
    /// Connects.
    ///
    /// Errors: there is no such program, nobody listens, or what listens is no MCP server.
    pub async fn open(http: &LiveHttp, visit: &McpVisit) -> Result<Connection, ToolError> {
        let changed = Arc::new(AtomicBool::new(false));
        let listener = Listener {
            changed: changed.clone(),
        };
        let server = visit.server.clone();
        let service = match &server.reach {
            McpReach::Program {
                command,
                arguments,
                folder,
                ..
            } => {
                let (process, murmur) =
                    program::start(visit, command, arguments, folder.as_deref())?;
                let serving = listener.serve_with_lifecycle(process, lifecycle());
                greeted(&server, Some(&murmur), serving).await?
            }
            McpReach::Http { url, trusted, .. } => {
                let client = http.client(url, *trusted)?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.custom_headers = headers(visit)?;
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let serving = listener.serve_with_lifecycle(transport, lifecycle());
                greeted(&server, None, serving).await?
            }
        };
        Ok(Connection {
            server,
            service,
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

/// The newest revision first; a server that does not know it is greeted as all were before.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// What comes of greeting a server.
async fn greeted<S>(
    server: &McpServer,
    murmur: Option<&Murmur>,
    greeting: impl Future<Output = Result<S, ClientInitializeError>>,
) -> Result<S, ToolError> {
    match tokio::time::timeout(CONNECTING, greeting).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => {
            let words = match murmur {
                Some(murmur) => murmur.last_words().await,
                None => None,
            };
            Err(trouble::not_connected(server, &error, words))
        }
        Err(_) => Err(ToolError::NoConnection {
            host: trouble::called(server),
            cause: format!(
                "it did not answer a greeting within {} s",
                CONNECTING.as_secs()
            ),
        }),
    }
}

/// The headers of a visit.
///
/// Errors: a name or a value that no header can have.
fn headers(visit: &McpVisit) -> Result<HashMap<HeaderName, HeaderValue>, ToolError> {
    let mut headers = HashMap::new();
    for (name, value) in &visit.values {
        let unusable = |problem: &str| ToolError::InvalidRequest {
            what: format!(
                "the header \"{name}\" for {}",
                trouble::called(&visit.server)
            ),
            problem: problem.to_owned(),
        };
        let key = HeaderName::try_from(&**name);
        let key = key.map_err(|_| unusable("its name has characters that no header may have"))?;
        let mut value = HeaderValue::try_from(value.expose())
            .map_err(|_| unusable("its value has characters that no header may have"))?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}
