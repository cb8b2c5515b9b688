//! What goes wrong between a client and a server, in words.

use std::error::Error;

use easel_tools::ToolError;
use easel_tools::mcp::{McpReach, McpServer};
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// How a server is called in errors.
pub(crate) fn called(server: &McpServer) -> String {
    format!("the MCP server {}", server.name)
}

pub(crate) fn too_many(server: &McpServer, most: usize) -> ToolError {
    ToolError::NotAvailable {
        what: format!("a connection to {}", called(server)),
        instead: format!(
            "{most} are in use, which is the most; try again later, or set shared = true for servers that keep nothing between calls"
        ),
    }
}

pub(crate) fn not_started(server: &McpServer, command: &str, error: &std::io::Error) -> ToolError {
    ToolError::NoConnection {
        host: called(server),
        cause: match error.kind() {
            std::io::ErrorKind::NotFound => format!(
                "there is no program {command}; install it, or name it with its whole path under [mcp.{}] in easel.toml",
                server.name
            ),
            _ => format!("{command} cannot be started: {error}"),
        },
    }
}

/// A connection that did not come about. `murmur` is what the program wrote to its standard error.
pub(crate) fn not_connected(
    server: &McpServer,
    error: &ClientInitializeError,
    murmur: Option<String>,
) -> ToolError {
    if error.is_authorization_required() {
        return unauthorized(server);
    }
    let beneath = beneath(error);
    if let Some(known) = of_http(beneath, server) {
        return known;
    }
    let cause = match &server.reach {
        McpReach::Program { command, .. } if ended(error) => {
            format!("{command} ended before it had answered")
        }
        _ => deepest(beneath),
    };
    ToolError::NoConnection {
        host: called(server),
        cause: match murmur {
            Some(murmur) => format!("{cause}; it wrote: {murmur}"),
            None => cause,
        },
    }
}

/// Whether the other side went away during the greeting.
fn ended(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::ConnectionClosed(_) => true,
        ClientInitializeError::TransportError { error, .. } => {
            let io = error.error.downcast_ref::<std::io::Error>();
            io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => ended(fallback),
        _ => false,
    }
}

/// What a transport says, out of the words around it.
fn beneath(error: &ClientInitializeError) -> &(dyn Error + 'static) {
    match error {
        ClientInitializeError::TransportError { error, .. } => &*error.error,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => beneath(fallback),
        other => other,
    }
}

fn unauthorized(server: &McpServer) -> ToolError {
    ToolError::Failed {
        what: called(server),
        message: format!(
            "it wants to know who asks, and was told nothing that it takes. Sign in with `easel mcp login {}`, or give it a \
             key: headers = {{ Authorization = \"Bearer ${{NAME}}\" }} in its section of easel.toml, and `easel secrets set NAME`",
            server.name
        ),
    }
}

/// A request that got no answer.
pub(crate) fn unanswered(server: &McpServer, error: &ServiceError) -> ToolError {
    if error.is_authorization_required() {
        return unauthorized(server);
    }
    let beneath: &(dyn Error + 'static) = match error {
        ServiceError::TransportSend(error) => &*error.error,
        other => other,
    };
    if let Some(known) = of_http(beneath, server) {
        return known;
    }
    let host = called(server);
    match error {
        ServiceError::McpError(error) => ToolError::Failed {
            what: host,
            message: error.message.to_string(),
        },
        ServiceError::UnexpectedResponse => ToolError::Malformed {
            what: host,
            cause: "it is no answer to what was asked".to_owned(),
        },
        _ => ToolError::Interrupted {
            host,
            cause: deepest(beneath),
        },
    }
}

/// What the HTTP client or its guard said, if it was they who failed.
fn of_http(error: &(dyn Error + 'static), server: &McpServer) -> Option<ToolError> {
    let mut at = Some(error);
    while let Some(error) = at {
        // The transport does not name its client's error as a source.
        let within = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(http)) => Some(http),
            _ => error.downcast_ref::<reqwest::Error>(),
        };
        if let Some(http) = within {
            return Some(easel_tools::live::failure_of(http, &called(server)));
        }
        at = error.source();
    }
    None
}

/// The words of the error at the bottom, which says most.
fn deepest(error: &(dyn Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
