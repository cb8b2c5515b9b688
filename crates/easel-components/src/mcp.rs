//! Tools of MCP servers, as the models of agents and graphs call them (spec/canvas-components §3.2).

use std::sync::Arc;

use easel_core::event::Fault;
use easel_core::{Object, Value};
use easel_models::ToolSpec;
use easel_secrets::{Door, Secret, SinkKind};
use easel_tools::ToolError;
use easel_tools::http::HttpRequest;
use easel_tools::mcp::{self, McpCall, McpReach, McpServer, McpTool, McpVisit};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::artifact::link;
use crate::behaviour::Call;
use crate::given::closed;
use crate::tool::{Tool, ToolAnswer};

/// What a graph writes in front of the name of a server and a tool: `mcp__SERVER__TOOL`.
const PREFIX: &str = "mcp__";

/// A tool of a server.
pub(crate) struct ServerTool {
    server: Server,
    /// As the server knows it.
    name: Arc<str>,
    description: Arc<str>,
    parameters: Value,
}

/// Which server it is.
#[derive(Clone)]
enum Server {
    /// One of the deployment's, by its name or an id.
    Known(Arc<str>),
    /// One that the workflow brings.
    Own(Arc<McpServer>),
}

/// The tools of an entry of an agent's `mcp`, as the canvas describes them.
///
/// Errors: what people are told of an entry that names no server.
pub(crate) fn tools_of(entry: &Value) -> Result<Vec<Arc<dyn Tool>>, String> {
    let Some(tools) = entry.get("tools").and_then(Value::as_object) else {
        return Ok(Vec::new());
    };
    if tools.is_empty() {
        return Ok(Vec::new());
    }
    let server = server_of(entry)?;
    let tools = tools
        .iter()
        .filter(|(_, tool)| tool.get("enabled").is_none_or(Value::is_truthy));
    let tools = tools.map(|(name, tool)| {
        let described = tool.get("description").and_then(Value::as_str);
        let schema = tool
            .get("inputSchema")
            .or_else(|| tool.get("parameters"))
            .filter(|schema| schema.as_object().is_some());
        Arc::new(ServerTool {
            server: server.clone(),
            name: name.clone(),
            description: described.unwrap_or_default().into(),
            parameters: schema.cloned().unwrap_or_else(any_object),
        }) as Arc<dyn Tool>
    });
    Ok(tools.collect())
}

fn server_of(entry: &Value) -> Result<Server, String> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).map(str::trim);
    let text = |name: &str| text(name).filter(|text| !text.is_empty());
    match (text("mcp_id"), text("url")) {
        (_, Some(url)) => {
            let headers = entry.get("headers").and_then(Value::as_object);
            let headers = headers.into_iter().flatten();
            let headers =
                headers.map(|(name, value)| (name.clone(), mcp::with_secrets(&value.to_string())));
            let reach = McpReach::Http {
                url: url.to_owned(),
                headers: headers.collect(),
                trusted: false,
            };
            // An address may have a key in it, and a name is seen by everybody.
            let name = HttpRequest::new("GET", url).host();
            let name = name.unwrap_or_else(|| "of the workflow".to_owned());
            Ok(Server::Own(Arc::new(McpServer::new(name, reach))))
        }
        (Some(id), None) => Ok(Server::Known(id.into())),
        (None, None) => Err(
            "An entry under mcp was left out: it names no server. Give it an mcp_id, or the url of a server."
                .to_owned(),
        ),
    }
}

/// A schema that takes any arguments.
fn any_object() -> Value {
    Value::from(Object::from_iter([("type".into(), "object".into())]))
}

impl Tool for ServerTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: self.parameters.clone(),
        }
    }

    fn call<'a>(&'a self, arguments: Object, call: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        async move {
            match self.ask(arguments, call).await {
                Ok(answer) => answer,
                Err(fault) => ToolAnswer::failure(fault.message),
            }
        }
        .boxed()
    }
}

impl ServerTool {
    async fn ask(&self, arguments: Object, call: &Call) -> Result<ToolAnswer, Fault> {
        let server = match &self.server {
            Server::Own(server) => server.clone(),
            Server::Known(id) => known(call, id)?,
        };
        if !server.offers(&self.name) {
            let (tool, server) = (&self.name, &server.name);
            let message = format!(
                "The tool {tool} of the MCP server {server} may not be used here: it is not among the `tools` of [mcp.{server}] in easel.toml."
            );
            return Err(Fault::new("tool.blocked", message).without_trace());
        }
        let visit = visit(call, server.clone())?;
        let wanted = McpCall {
            tool: self.name.clone(),
            arguments,
        };
        let answer = call.run.services.world.mcp.call(visit, wanted).await;
        // A token may have been renewed for it.
        know_tokens(call, &server)?;
        let answer = answer.map_err(|error| fault(&error))?;
        let text = match answer.text.trim() {
            "" if answer.files.is_empty() => format!("The tool {} gave nothing back.", self.name),
            _ => answer.text,
        };
        Ok(ToolAnswer {
            text: text.into(),
            failed: answer.failed,
            artifacts: answer.files.iter().map(link).collect(),
            ..ToolAnswer::default()
        })
    }
}

/// The deployment's server of that name or id.
fn known(call: &Call, id: &str) -> Result<Arc<McpServer>, Fault> {
    let servers = call.run.services.world.mcp.servers();
    mcp::find(servers, id).cloned().ok_or_else(|| {
        let names: Vec<&str> = servers.iter().map(|server| &*server.name).collect();
        let there = match names.is_empty() {
            true => "none is set up".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        let message = format!(
            "There is no MCP server {id}; {there}. Add it to easel.toml under [mcp.NAME], with ids = [\"{id}\"] if workflows know it by that."
        );
        Fault::new("tool.not_configured", message).without_trace()
    })
}

/// A visit of the conversation that the call belongs to, with what the server is to be told opened at its door.
fn visit(call: &Call, server: Arc<McpServer>) -> Result<McpVisit, Fault> {
    let door = call.door(SinkKind::Tool, &format!("mcp:{}", server.name));
    let turn = &call.run.turn;
    let conversation = match &*turn.session {
        "" => call.run.id.clone(),
        session => session.into(),
    };
    for token in call.run.services.world.mcp.tokens(&server) {
        let opened = door.literal(&token_of(&server), &token);
        opened.map_err(|error| Fault::new("secret_unreadable", error.to_string()))?;
    }
    let visit = McpVisit::through(&door, server, conversation);
    let mut visit = visit.map_err(|error| closed(call, &error))?;
    if let McpReach::Http { .. } = visit.server.reach {
        let passed = passed_on(call, &visit.server, &door)?;
        visit.values.extend(passed);
    }
    Ok(visit)
}

/// How the token of a server is called on receipts.
fn token_of(server: &McpServer) -> String {
    format!("mcp:{}:token", server.name)
}

/// Masks the tokens of a server from here on.
fn know_tokens(call: &Call, server: &McpServer) -> Result<(), Fault> {
    let tokens = call.run.services.world.mcp.tokens(server).into_iter();
    let tokens = tokens.map(|token| (token_of(server).into(), Secret::new(token)));
    let known = call.run.gate.know(tokens.collect());
    known.map_err(|error| Fault::new("secret_unreadable", error.to_string()))
}

/// The headers of the request that go on to the server.
fn passed_on(
    call: &Call,
    server: &McpServer,
    door: &Door<'_>,
) -> Result<Vec<(Arc<str>, easel_secrets::Opened)>, Fault> {
    let headers = call.run.turn.custom_header.iter();
    let headers = headers.filter(|(name, _)| server.passes(name));
    let opened = headers.map(|(name, value)| {
        let opened = door.literal(&format!("header:{name}"), &value.to_string());
        let opened = opened.map_err(|error| Fault::new("secret_unreadable", error.to_string()))?;
        Ok((name.clone(), opened))
    });
    opened.collect()
}

fn fault(error: &ToolError) -> Fault {
    let fault = Fault::new(error.code(), error.to_string());
    match error.certain_nothing_sent() {
        true => fault.without_trace(),
        false => fault,
    }
}

/// The tool that a graph means by a name: `mcp__SERVER__TOOL`, or the name of a tool alone, which is then looked for in all
/// servers of the deployment, in the order of its settings.
///
/// Errors: there is none of that name, or a server cannot be asked.
pub(crate) async fn named(call: &Call, name: &str) -> Result<Option<Arc<dyn Tool>>, Fault> {
    let whole = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once("__"));
    let (servers, tool) = match whole {
        Some((server, tool)) => (vec![known(call, server)?], tool),
        None => (call.run.services.world.mcp.servers().to_vec(), name),
    };
    for server in servers.iter().filter(|server| server.offers(tool)) {
        if let Some(found) = tools(call, server).await?.iter().find(|t| *t.name == *tool) {
            return Ok(Some(described(server, found)));
        }
    }
    Ok(None)
}

async fn tools(call: &Call, server: &Arc<McpServer>) -> Result<Arc<[McpTool]>, Fault> {
    let visit = visit(call, server.clone())?;
    let listed = call.run.services.world.mcp.tools(visit).await;
    listed.map_err(|error| fault(&error))
}

fn described(server: &Arc<McpServer>, tool: &McpTool) -> Arc<dyn Tool> {
    Arc::new(ServerTool {
        server: Server::Own(server.clone()),
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.parameters.clone(),
    })
}

#[cfg(test)]
mod tests;
