//! Servers of the Model Context Protocol.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use easel_core::argument::Argument;
use easel_core::{Object, Value};
use easel_secrets::{Door, DoorError, Opened, Unset};
use futures::future::BoxFuture;

use crate::code::Artifact;
use crate::error::ToolError;

/// The MCP servers that a deployment knows, and those that workflows bring.
pub trait McpServers: Send + Sync {
    /// The servers of the deployment, in the order of its settings.
    fn servers(&self) -> &[Arc<McpServer>];

    /// Tokens that go with requests to a server because somebody signed in to it: to be masked.
    fn tokens(&self, server: &McpServer) -> Vec<String> {
        let _ = server;
        Vec::new()
    }

    /// What a server offers, as far as [`McpServer::offers`] lets it be seen. Connects if that has not happened yet.
    fn tools(&self, visit: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>>;

    /// Calls a tool. A tool that reports a failure answers all the same; an error means that there is no answer.
    fn call(&self, visit: McpVisit, call: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>>;
}

/// The server of that name, or with that id among [`McpServer::ids`].
pub fn find<'a>(servers: &'a [Arc<McpServer>], name: &str) -> Option<&'a Arc<McpServer>> {
    let named = servers.iter().find(|server| *server.name == *name);
    named.or_else(|| {
        let known = |server: &&Arc<McpServer>| server.ids.iter().any(|id| **id == *name);
        servers.iter().find(known)
    })
}

/// A server as it is declared: in the settings of the deployment, or in a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// Its name.
    pub name: Arc<str>,
    /// Other names: the ids by which canvases that were drawn elsewhere know it.
    pub ids: Vec<Arc<str>>,
    /// How it is reached.
    pub reach: McpReach,
    /// The tools that may be used; absent: all.
    pub only: Option<Vec<Arc<str>>>,
    /// How long a call may take.
    pub timeout: Duration,
    /// True if conversations share a connection, for servers that keep nothing between calls.
    pub shared: bool,
    /// Headers of a request that go on to the server; `*` stands for all.
    pub passes: Vec<Arc<str>>,
}

impl McpServer {
    /// A server that is reached like that, with everything else as it is by default: 60 s a call, a connection for each
    /// conversation.
    pub fn new(name: impl Into<Arc<str>>, reach: McpReach) -> McpServer {
        McpServer {
            name: name.into(),
            ids: Vec::new(),
            reach,
            only: None,
            timeout: Duration::from_secs(60),
            shared: false,
            passes: Vec::new(),
        }
    }

    /// Whether the tool of that name may be used.
    pub fn offers(&self, tool: &str) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| only.iter().any(|name| **name == *tool))
    }

    /// Whether a header of the request goes on to it.
    pub fn passes(&self, header: &str) -> bool {
        let mut passes = self.passes.iter();
        passes.any(|name| **name == *"*" || name.eq_ignore_ascii_case(header))
    }

    /// What has to be opened for a connection: headers, or variables of the program's environment.
    pub fn values(&self) -> &[(Arc<str>, Argument)] {
        match &self.reach {
            McpReach::Program { environment, .. } => environment,
            McpReach::Http { headers, .. } => headers,
        }
    }
}

/// A text that stands in settings or in a workflow, with the secrets that it names as `${NAME}`.
pub fn with_secrets(text: &str) -> Argument {
    Argument::text(easel_secrets::parts(text))
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum McpReach {
    /// A program that is started and spoken to by its standard input and output.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Variables that it gets beside the few that every program needs.
        environment: Vec<(Arc<str>, Argument)>,
        /// The folder it is started in; absent: that of this process.
        folder: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers that go with every request.
        headers: Vec<(Arc<str>, Argument)>,
        /// True if the deployment named the address: then it may be a private one.
        trusted: bool,
    },
}

/// Who comes to a server.
#[derive(Clone)]
pub struct McpVisit {
    /// The server.
    pub server: Arc<McpServer>,
    /// Its [`McpServer::values`] and the headers that go on to it, opened.
    pub values: Vec<(Arc<str>, Opened)>,
    /// Whose connection it is: visits of one conversation share one, those of two never do unless the server is shared.
    pub conversation: Arc<str>,
}

impl McpVisit {
    /// A visit with the server's own values opened at its door. What is nothing but the word in front of a key that is
    /// not there is left out.
    ///
    /// Errors: a secret is not set, or cannot be had.
    pub fn through(
        door: &Door<'_>,
        server: Arc<McpServer>,
        conversation: Arc<str>,
    ) -> Result<McpVisit, DoorError> {
        let mut values = Vec::new();
        for (name, argument) in server.values() {
            let opened = door.open(argument, Unset::Refused)?.into_text();
            if !matches!(opened.expose().trim(), "" | "Bearer") {
                values.push((name.clone(), opened));
            }
        }
        Ok(McpVisit {
            server,
            values,
            conversation,
        })
    }
}

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct McpTool {
    /// Its name.
    pub name: Arc<str>,
    /// What it does, for a model.
    pub description: Arc<str>,
    /// A JSON Schema of its arguments.
    pub parameters: Value,
    /// True if the server says that it changes nothing.
    pub reads_only: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct McpCall {
    /// The tool.
    pub tool: Arc<str>,
    /// Its arguments.
    pub arguments: Object,
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpAnswer {
    /// All that can be read, with a blank line between its parts; for what cannot, a line that names it.
    pub text: String,
    /// True if the tool says that it failed.
    pub failed: bool,
    /// Images, sounds and other files.
    pub files: Vec<Artifact>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str, ids: &[&str]) -> Arc<McpServer> {
        let reach = McpReach::Http {
            url: "https://mcp.example/".into(),
            headers: Vec::new(),
            trusted: true,
        };
        Arc::new(McpServer {
            ids: ids.iter().map(|&id| id.into()).collect(),
            ..McpServer::new(name, reach)
        })
    }

    #[test]
    fn a_server_is_found_by_its_name_before_the_ids_of_others() {
        let servers = [server("a", &["b", "9f"]), server("b", &[])];
        let found = |name| find(&servers, name).map(|server| &*server.name);
        assert_eq!(found("b"), Some("b"));
        assert_eq!(found("9f"), Some("a"));
        assert_eq!(found("c"), None);
    }

    #[test]
    fn only_the_headers_that_a_server_asks_for_go_on_to_it() {
        let mut server = (*server("a", &[])).clone();
        assert!(!server.passes("X-User"));
        server.passes = vec!["x-user".into()];
        assert!(server.passes("X-User") && !server.passes("X-Other"));
        server.passes = vec!["*".into()];
        assert!(server.passes("X-Other"));
    }
}
