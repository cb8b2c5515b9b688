//! MCP servers that answer from a script.

use std::sync::Arc;

use easel_core::Value;
use futures::future::BoxFuture;
use indexmap::IndexMap;

use super::script::{McpRule, McpServerScript};
use super::{NO_RULE, ScriptedWorld, State, done, entry, failed};
use crate::error::ToolError;
use crate::mcp::{McpAnswer, McpCall, McpReach, McpServer, McpServers, McpTool, McpVisit};

/// The servers of a script, and the tools of each.
#[derive(Debug)]
pub(super) struct Servers {
    servers: Vec<Arc<McpServer>>,
    tools: Vec<Arc<[McpTool]>>,
}

impl Servers {
    pub(super) fn new(script: &IndexMap<String, McpServerScript>) -> Servers {
        let server = |(name, server): (&String, &McpServerScript)| {
            let reach = McpReach::Http {
                url: format!("https://{name}.example/mcp"),
                headers: Vec::new(),
                trusted: true,
            };
            Arc::new(McpServer {
                ids: server.ids.iter().map(|id| id.as_str().into()).collect(),
                ..McpServer::new(name.as_str(), reach)
            })
        };
        Servers {
            servers: script.iter().map(server).collect(),
            tools: script.values().map(tools).collect(),
        }
    }
}

fn tools(server: &McpServerScript) -> Arc<[McpTool]> {
    let tools = server.tools.iter().map(|tool| McpTool {
        name: tool.name.as_str().into(),
        description: tool.description.as_str().into(),
        parameters: tool.parameters.clone().unwrap_or_else(|| {
            let empty = ("properties", Value::empty_object());
            entry([("type", Value::from("object")), empty])
        }),
        reads_only: tool.reads_only,
    });
    tools.collect()
}

impl State {
    fn call(&mut self, server: &str, call: &McpCall) -> Result<McpAnswer, ToolError> {
        self.calls.push(entry([
            ("mcp", Value::from(server)),
            ("tool", Value::from(call.tool.clone())),
            ("arguments", Value::from(call.arguments.clone())),
        ]));
        match self.mcp.take(&call.tool, None) {
            None => Err(failed(server, NO_RULE.to_owned())),
            Some(McpRule {
                error: Some(error), ..
            }) => Err(failed(server, error)),
            Some(rule) => Ok(McpAnswer {
                text: rule.text,
                failed: rule.failed,
                files: Vec::new(),
            }),
        }
    }
}

impl McpServers for ScriptedWorld {
    fn servers(&self) -> &[Arc<McpServer>] {
        &self.servers.servers
    }

    fn tools(&self, visit: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>> {
        let mut servers = self.servers.servers.iter();
        let at = servers.position(|server| server.name == visit.server.name);
        let tools = at.and_then(|at| self.servers.tools.get(at)).cloned();
        done(tools.ok_or_else(|| failed(&visit.server.name, NO_RULE.to_owned())))
    }

    fn call(&self, visit: McpVisit, call: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>> {
        done(self.state().call(&visit.server.name, &call))
    }
}
