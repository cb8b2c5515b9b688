//! Why a tool call did not give an answer.

use std::time::Duration;

use crate::guard::GuardError;

/// One of the ways out of a run, as error texts name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Search in datasets.
    Retrieval,
    /// Execution of a user's code.
    Code,
    /// Queries on a user's database.
    Sql,
    /// Search on the web and its relatives.
    Search,
    /// Plain HTTP requests.
    Http,
    /// Files that people uploaded and that runs made.
    Files,
    /// Long-term memory of conversations.
    Memory,
    /// Mail.
    Mail,
    /// MCP servers.
    Mcp,
    /// Documents and workbooks.
    Documents,
    /// Documents on their way into a knowledge base.
    Ingestion,
    /// Web browsers.
    Browser,
}

impl Capability {
    /// The name for people: `retrieval`, `code execution`, ...
    pub fn name(self) -> &'static str {
        match self {
            Capability::Retrieval => "retrieval",
            Capability::Code => "code execution",
            Capability::Sql => "database access",
            Capability::Search => "web search",
            Capability::Http => "HTTP access",
            Capability::Files => "file storage",
            Capability::Memory => "memory",
            Capability::Mail => "mail",
            Capability::Mcp => "MCP server",
            Capability::Documents => "document maker",
            Capability::Ingestion => "ingestion of documents",
            Capability::Browser => "web browser",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Capability::Retrieval => {
                "make a knowledge base with `easel kb new`, or connect a retriever"
            }
            Capability::Code => "connect a code runner",
            Capability::Sql => "connect an SQL runner",
            Capability::Search => "connect a search client",
            Capability::Http => "connect an HTTP sender, or build with the feature `http`",
            Capability::Files => "connect a file store",
            Capability::Memory => {
                "run it with a data folder (EASEL_DATA, or ./easel-data) or on a server, or connect a memory store"
            }
            Capability::Mail => "connect a mail sender",
            Capability::Mcp => {
                "name it under [mcp] in easel.toml, or connect a client of MCP servers"
            }
            Capability::Documents => "connect a document maker",
            Capability::Ingestion => {
                "add documents with `easel kb add NAME FILES --pipeline FILE`, or connect a reader of documents"
            }
            Capability::Browser => "connect one",
        }
    }
}

/// Why a tool call did not give an answer.
///
/// Texts name the place and the cause, and the fix where there is one. They may quote what a provider said.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ToolError {
    /// The program was started without this capability.
    #[error("no {} is configured: {}", .0.name(), .0.remedy())]
    NotConfigured(Capability),
    /// The capability is there, this part of it isn't built yet.
    #[error("{what} is not available yet: {instead}")]
    NotAvailable {
        /// The missing part, e.g. `web search with bing_search`.
        what: String,
        /// What can be used instead.
        instead: String,
    },
    /// The request itself cannot be sent: a bad method, a header with a line break, a value of the wrong type.
    #[error("{what} cannot be used: {problem}")]
    InvalidRequest {
        /// The offending part, e.g. `header "X-Id"`.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A document says nothing that can be taken in: it is damaged, of no known format, above a limit.
    #[error("{name} cannot be read: {problem}")]
    Unreadable {
        /// The document.
        name: String,
        /// What is wrong with it, and what to do about it.
        problem: String,
    },
    /// The address is one that a workflow may not reach.
    #[error(transparent)]
    Blocked(#[from] GuardError),
    /// The thing asked for does not exist: a dataset, a file.
    #[error("{what} \"{id}\" does not exist")]
    NotFound {
        /// The kind of thing, e.g. `dataset`.
        what: &'static str,
        /// What it was asked for by.
        id: String,
    },
    /// The host name has no address.
    #[error("host {host} could not be resolved: {cause}")]
    Unresolved {
        /// The host name.
        host: String,
        /// What the resolver said.
        cause: String,
    },
    /// No connection came about, so nothing was sent.
    #[error("no connection to {host}: {cause}")]
    NoConnection {
        /// The host, with its port where it isn't the usual one.
        host: String,
        /// What the system or the other side said.
        cause: String,
    },
    /// The connection broke after it stood: the request may have arrived.
    #[error("the connection to {host} broke: {cause}")]
    Interrupted {
        /// The host, with its port where it isn't the usual one.
        host: String,
        /// What the system or the other side said.
        cause: String,
    },
    /// No answer within the time allowed. The request may have arrived.
    #[error("{what} gave no answer within {:.1} s", .after.as_secs_f64())]
    Timeout {
        /// Who was asked.
        what: String,
        /// The time allowed.
        after: Duration,
    },
    /// A provider answered with a status that means failure.
    #[error("{what} answered with status {status}: {message}")]
    Status {
        /// Who was asked.
        what: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of what it said.
        message: String,
    },
    /// The answer is larger than what is read.
    #[error("the answer of {what} is larger than {limit} bytes")]
    TooLarge {
        /// Who was asked.
        what: String,
        /// The cap, in bytes.
        limit: u64,
    },
    /// The answer cannot be understood.
    #[error("the answer of {what} cannot be read: {cause}")]
    Malformed {
        /// Who was asked.
        what: String,
        /// What is wrong with the answer.
        cause: String,
    },
    /// The service failed again and again, so it is left alone for a while and nothing was sent.
    #[error(
        "{what} is left alone for another {} s since it failed too often; [breaker] in easel.toml says when", .wait.as_secs_f64().ceil()
    )]
    CircuitOpen {
        /// The circuit, e.g. `host:api.example.com`.
        what: String,
        /// How long it is left alone from now on.
        wait: Duration,
    },
    /// The tool ran and reported a failure of its own.
    #[error("{what} failed: {message}")]
    Failed {
        /// Who reported it.
        what: String,
        /// Its own words.
        message: String,
    },
}

impl ToolError {
    /// A stable code for records and tests, e.g. `tool.timeout`.
    pub fn code(&self) -> &'static str {
        match self {
            ToolError::NotConfigured(_) => "tool.not_configured",
            ToolError::NotAvailable { .. } => "tool.not_available",
            ToolError::InvalidRequest { .. } => "tool.invalid_request",
            ToolError::Unreadable { .. } => "tool.unreadable",
            ToolError::Blocked(_) => "tool.blocked",
            ToolError::NotFound { .. } => "tool.not_found",
            ToolError::Unresolved { .. } => "tool.unresolved",
            ToolError::NoConnection { .. } => "tool.no_connection",
            ToolError::Interrupted { .. } => "tool.interrupted",
            ToolError::Timeout { .. } => "tool.timeout",
            ToolError::Status { .. } => "tool.status",
            ToolError::TooLarge { .. } => "tool.too_large",
            ToolError::Malformed { .. } => "tool.malformed",
            ToolError::CircuitOpen { .. } => "circuit_open",
            ToolError::Failed { .. } => "tool.failed",
        }
    }

    /// True if the outside cannot have done anything: repeating even a write is safe (design §6).
    ///
    /// A status 429 counts: by it a server says that it refused before acting.
    pub fn certain_nothing_sent(&self) -> bool {
        match self {
            ToolError::NotConfigured(_)
            | ToolError::NotAvailable { .. }
            | ToolError::InvalidRequest { .. }
            | ToolError::Unreadable { .. }
            | ToolError::Blocked(_)
            | ToolError::Unresolved { .. }
            | ToolError::CircuitOpen { .. }
            | ToolError::NoConnection { .. } => true,
            ToolError::Status { status, .. } => *status == 429,
            ToolError::NotFound { .. }
            | ToolError::Interrupted { .. }
            | ToolError::Timeout { .. }
            | ToolError::TooLarge { .. }
            | ToolError::Malformed { .. }
            | ToolError::Failed { .. } => false,
        }
    }

    /// True if the same request may do better a little later. Whether a *write* may be repeated is another
    /// question: see [`certain_nothing_sent`](Self::certain_nothing_sent).
    pub fn retryable(&self) -> bool {
        match self {
            ToolError::Unresolved { .. }
            | ToolError::NoConnection { .. }
            | ToolError::Interrupted { .. }
            | ToolError::Timeout { .. }
            | ToolError::Malformed { .. }
            | ToolError::CircuitOpen { .. }
            | ToolError::Failed { .. } => true,
            ToolError::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            ToolError::NotConfigured(_)
            | ToolError::NotAvailable { .. }
            | ToolError::InvalidRequest { .. }
            | ToolError::Unreadable { .. }
            | ToolError::Blocked(_)
            | ToolError::NotFound { .. }
            | ToolError::TooLarge { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> ToolError {
        ToolError::Status {
            what: "search".into(),
            status,
            message: String::new(),
        }
    }

    #[test]
    fn a_write_is_repeated_only_when_nothing_can_have_arrived() {
        let refused = ToolError::NoConnection {
            host: "a.example".into(),
            cause: "connection refused".into(),
        };
        assert!(refused.certain_nothing_sent() && refused.retryable());
        assert!(status(429).certain_nothing_sent() && status(429).retryable());
        assert!(!status(503).certain_nothing_sent() && status(503).retryable());
        let late = ToolError::Timeout {
            what: "a.example".into(),
            after: Duration::from_millis(1500),
        };
        assert!(!late.certain_nothing_sent() && late.retryable());
        assert_eq!(late.to_string(), "a.example gave no answer within 1.5 s");
    }

    #[test]
    fn a_refusal_that_will_not_change_is_not_retried() {
        assert!(!status(404).retryable());
        assert!(!ToolError::NotConfigured(Capability::Sql).retryable());
        assert!(
            !ToolError::NotFound {
                what: "dataset",
                id: "d".into()
            }
            .retryable()
        );
    }

    #[test]
    fn an_absent_capability_says_how_to_get_it() {
        assert_eq!(
            ToolError::NotConfigured(Capability::Retrieval).to_string(),
            "no retrieval is configured: make a knowledge base with `easel kb new`, or connect a retriever"
        );
    }
}
