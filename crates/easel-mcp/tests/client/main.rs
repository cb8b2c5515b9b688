//! The client against servers: a program, and one of streamable HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod http;
mod program;
mod server;

use std::sync::Arc;

use easel_core::Object;
use easel_mcp::McpClients;
use easel_secrets::{Gate, Resolver, Sink, SinkKind};
use easel_tools::ToolError;
use easel_tools::guard::Allow;
use easel_tools::live::{HttpConfig, LiveHttp};
use easel_tools::mcp::{McpAnswer, McpCall, McpServer, McpServers, McpVisit};

/// A client of these servers, from which workflows may reach what `allow` says.
fn clients(servers: Vec<McpServer>, allow: &[&str]) -> McpClients {
    let config = HttpConfig {
        allow: Allow::parse(allow.iter().copied()).unwrap(),
        ..HttpConfig::default()
    };
    McpClients::new(servers, LiveHttp::new(config).unwrap())
}

/// A visit of a conversation to a server.
fn visit(server: &Arc<McpServer>, conversation: &str) -> McpVisit {
    let gate = Gate::new("run", Resolver::default());
    let door = gate.door(Sink::new(SinkKind::Tool, "mcp", ""));
    McpVisit::through(&door, server.clone(), conversation.into()).unwrap()
}

/// Calls a tool of the first server.
async fn call(
    clients: &McpClients,
    conversation: &str,
    tool: &str,
    arguments: Object,
) -> Result<McpAnswer, ToolError> {
    let visit = visit(&clients.servers()[0], conversation);
    let tool = tool.into();
    clients.call(visit, McpCall { tool, arguments }).await
}

/// Calls a tool that takes no arguments, and gives what it says.
async fn said(clients: &McpClients, conversation: &str, tool: &str) -> String {
    let answer = call(clients, conversation, tool, Object::new()).await;
    answer.unwrap().text
}

/// The names of the tools of the first server.
async fn listed(clients: &McpClients) -> Vec<String> {
    let visit = visit(&clients.servers()[0], "a");
    let tools = clients.tools(visit).await.unwrap();
    tools.iter().map(|tool| tool.name.to_string()).collect()
}
