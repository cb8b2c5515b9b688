//! How a connection begins: a program is started or an address is asked, and both sides say what they speak.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use easel_tools::ToolError;
use easel_tools::live::LiveHttp;
use easel_tools::mcp::{McpReach, McpServer, McpVisit};
use http::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::connection::Listener;
use crate::program::{self, Murmur};
use crate::sign_in::{self, Kept};
use crate::trouble;

/// How long it may take: programs may be downloaded first.
const LONGEST: Duration = Duration::from_secs(60);

/// A connection that has begun.
type Service = RunningService<RoleClient, Listener>;

/// Begins a connection to a visit's server, as whoever has signed in.
///
/// Errors: there is no such program, nobody listens, or what listens is no MCP server.
pub(crate) async fn greet(
    http: &LiveHttp,
    visit: &McpVisit,
    kept: Option<Kept>,
    listener: Listener,
) -> Result<Service, ToolError> {
    let greeted = greet_with(newest(), http, visit, kept.clone(), listener.clone()).await;
    let greeted = match greeted {
        // There are servers that answer what they do not know with nothing at all.
        Err(Refusal::Odd(_)) => greet_with(as_before(), http, visit, kept, listener).await,
        greeted => greeted,
    };
    greeted.map_err(Refusal::into_error)
}

/// What the server says to somebody who has not signed in, if it wants one to.
///
/// Errors: it cannot be reached at all.
pub(crate) async fn challenge(
    http: &LiveHttp,
    visit: &McpVisit,
) -> Result<Option<String>, ToolError> {
    match greet_with(newest(), http, visit, None, Listener::default()).await {
        Err(Refusal::Unauthorized(challenge, _)) => Ok(challenge),
        Ok(_) | Err(Refusal::Odd(_)) => Ok(None),
        Err(Refusal::Other(error)) => Err(error),
    }
}

/// The newest revision first; a server that does not know it is greeted as all were before.
fn newest() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// As all servers were greeted before the newest revision.
fn as_before() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

async fn greet_with(
    lifecycle: ClientLifecycleMode,
    http: &LiveHttp,
    visit: &McpVisit,
    kept: Option<Kept>,
    listener: Listener,
) -> Result<Service, Refusal> {
    let server = &*visit.server;
    let (url, trusted) = match &server.reach {
        McpReach::Program {
            command,
            arguments,
            folder,
            ..
        } => {
            let started = program::start(visit, command, arguments, folder.as_deref());
            let (process, murmur) = started?;
            let greeting = listener.serve_with_lifecycle(process, lifecycle);
            return in_time(server, Some(&murmur), greeting).await;
        }
        McpReach::Http { url, trusted, .. } => (url, *trusted),
    };
    let client = http.client(url, trusted)?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    config.custom_headers = headers(visit)?;
    let Some(kept) = kept else {
        let transport = StreamableHttpClientTransport::with_client(client, config);
        return in_time(
            server,
            None,
            listener.serve_with_lifecycle(transport, lifecycle),
        )
        .await;
    };
    let signer = sign_in::signer(server, url, kept).await?;
    let transport =
        StreamableHttpClientTransport::with_client(AuthClient::new(client, signer), config);
    in_time(
        server,
        None,
        listener.serve_with_lifecycle(transport, lifecycle),
    )
    .await
}

/// What comes of greeting a server.
async fn in_time(
    server: &McpServer,
    murmur: Option<&Murmur>,
    greeting: impl Future<Output = Result<Service, ClientInitializeError>>,
) -> Result<Service, Refusal> {
    let error = match tokio::time::timeout(LONGEST, greeting).await {
        Ok(Ok(service)) => return Ok(service),
        Ok(Err(error)) => error,
        Err(_) => {
            return Err(Refusal::Other(ToolError::NoConnection {
                host: trouble::called(server),
                cause: format!(
                    "it did not answer a greeting within {} s",
                    LONGEST.as_secs()
                ),
            }));
        }
    };
    let words = match murmur {
        Some(murmur) => murmur.last_words().await,
        None => None,
    };
    let told = trouble::not_connected(server, &error, words);
    Err(Refusal::of(&error, told))
}

/// Why no connection came about.
enum Refusal {
    /// The server wants to know who asks, with what it says to that.
    Unauthorized(Option<String>, ToolError),
    /// It answered with something that is no answer.
    Odd(ToolError),
    /// Anything else.
    Other(ToolError),
}

impl Refusal {
    fn of(error: &ClientInitializeError, told: ToolError) -> Refusal {
        use ClientInitializeError::{ExpectedInitResponse, ExpectedInitResult};
        match error {
            _ if error.is_authorization_required() => {
                Refusal::Unauthorized(error.auth_challenge().map(str::to_owned), told)
            }
            ExpectedInitResponse(_) | ExpectedInitResult(_) => Refusal::Odd(told),
            _ => Refusal::Other(told),
        }
    }

    fn into_error(self) -> ToolError {
        match self {
            Refusal::Unauthorized(_, error) | Refusal::Odd(error) | Refusal::Other(error) => error,
        }
    }
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Refusal {
        Refusal::Other(error)
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
