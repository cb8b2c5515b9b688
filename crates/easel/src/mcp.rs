//! `easel mcp`: a look at MCP servers.

mod sign_in;

use std::sync::Arc;

use easel_mcp::McpClients;
use easel_runtime::Object;
use easel_runtime::secrets::{Gate, Secret, Sink, SinkKind};
use easel_runtime::tools::ToolError;
use easel_runtime::tools::contract::ArgumentCheck;
use easel_runtime::tools::mcp::{
    self, McpCall, McpReach, McpServer, McpServers, McpTool, McpVisit,
};
use serde_json::{Value as Json, json};

use crate::cli::{CallMcp, ListMcp, McpCommand, SettingsArguments};
use crate::columns::Columns;
use crate::config::Config;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::reach::within;

pub use sign_in::InVault;

/// Does what is asked.
pub fn obey(command: &McpCommand) -> Result<Exit, Problem> {
    within(async {
        match command {
            McpCommand::List(arguments) => match &arguments.server {
                None => servers(arguments),
                Some(name) => tools(arguments, name).await,
            },
            McpCommand::Call(arguments) => call(arguments).await,
            McpCommand::Login(arguments) => sign_in::login(arguments).await,
            McpCommand::Logout(arguments) => sign_in::logout(arguments),
        }
    })
}

/// The servers of the settings, and the gate that their secrets pass.
struct Visitor {
    clients: McpClients,
    gate: Gate,
}

impl Visitor {
    fn of(settings: &SettingsArguments) -> Result<Visitor, Problem> {
        Ok(Visitor {
            clients: Config::read(settings.config.as_deref())?.mcp()?,
            gate: Gate::new("mcp", keyring::resolver()?),
        })
    }

    fn visit(&self, name: &str) -> Result<McpVisit, Problem> {
        let servers = self.clients.servers();
        let Some(server) = mcp::find(servers, name) else {
            let names: Vec<&str> = servers.iter().map(|server| &*server.name).collect();
            let problem = Problem::usage(format!("There is no MCP server {name}."));
            return Err(match names.is_empty() {
                true => problem
                    .fix("Set one up in easel.toml under [mcp.NAME]; docs/mcp-tools.md says how."),
                false => problem.fix(format!("There are {}.", names.join(", "))),
            });
        };
        let door = self
            .gate
            .door(Sink::new(SinkKind::Tool, format!("mcp:{name}"), ""));
        for token in self.clients.tokens(server) {
            let known = vec![("token".into(), Secret::new(token))];
            self.gate
                .know(known)
                .map_err(|error| keyring::problem(&error))?;
        }
        let visit = McpVisit::through(&door, server.clone(), "".into());
        visit.map_err(|error| Problem::usage(sentence(&error.to_string())))
    }

    /// What the server offers.
    async fn tools(&self, visit: &McpVisit) -> Result<Arc<[McpTool]>, Problem> {
        let tools = self.clients.tools(visit.clone()).await;
        tools.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &ToolError) -> Problem {
        let told = error.to_string();
        Problem::new(Exit::Failed, sentence(&self.gate.mask(&told)).into_owned())
    }
}

fn servers(arguments: &ListMcp) -> Result<Exit, Problem> {
    let visitor = Visitor::of(&arguments.settings)?;
    let servers = visitor.clients.servers();
    if arguments.json {
        let servers: Vec<Json> = servers.iter().map(|server| as_json(server)).collect();
        out::line(&format!("{:#}", json!({"servers": servers})));
        return Ok(Exit::Done);
    }
    if servers.is_empty() {
        out::tell(
            "There are no MCP servers. Set one up in easel.toml under [mcp.NAME]; docs/mcp-tools.md says how.",
        );
        return Ok(Exit::Done);
    }
    let mut table = Columns::new(&["SERVER", "IDS", "REACHED BY"]);
    for server in servers {
        table.row([
            server.name.to_string(),
            server.ids.join(", "),
            reach(server),
        ]);
    }
    out::print(&table.for_output());
    Ok(Exit::Done)
}

fn reach(server: &McpServer) -> String {
    match &server.reach {
        McpReach::Program {
            command, arguments, ..
        } => [std::slice::from_ref(command), arguments]
            .concat()
            .join(" "),
        McpReach::Http { url, .. } => url.clone(),
    }
}

fn as_json(server: &McpServer) -> Json {
    let ids: Vec<&str> = server.ids.iter().map(|id| &**id).collect();
    json!({"name": &*server.name, "ids": ids, "reached_by": reach(server), "shared": server.shared})
}

async fn tools(arguments: &ListMcp, name: &str) -> Result<Exit, Problem> {
    let visitor = Visitor::of(&arguments.settings)?;
    let visit = visitor.visit(name)?;
    let listed = visitor.tools(&visit).await;
    visitor.clients.close().await;
    let listed = listed?;
    if arguments.json {
        let tools = listed.iter().map(|tool| {
            json!({
                "name": &*tool.name,
                "description": &*tool.description,
                "parameters": tool.parameters.to_json(),
                "reads_only": tool.reads_only,
            })
        });
        let tools: Vec<Json> = tools.collect();
        out::line(&format!(
            "{:#}",
            json!({"server": &*visit.server.name, "tools": tools})
        ));
        return Ok(Exit::Done);
    }
    let mut table = Columns::new(&["TOOL", "ARGUMENTS", "WHAT IT DOES"]);
    for tool in listed.iter() {
        table.row([
            tool.name.to_string(),
            parameters(tool).join(", "),
            tool.description.to_string(),
        ]);
    }
    out::print(&table.for_output());
    Ok(Exit::Done)
}

/// The names of a tool's arguments; those that may be left out with a question mark.
fn parameters(tool: &McpTool) -> Vec<String> {
    let required = tool
        .parameters
        .get("required")
        .and_then(|names| names.as_array());
    let required = required.unwrap_or_default();
    let properties = tool
        .parameters
        .get("properties")
        .and_then(|p| p.as_object());
    let names = properties
        .into_iter()
        .flat_map(|properties| properties.keys());
    names
        .map(
            |name| match required.iter().any(|wanted| wanted.as_str() == Some(name)) {
                true => name.to_string(),
                false => format!("{name}?"),
            },
        )
        .collect()
}

async fn call(arguments: &CallMcp) -> Result<Exit, Problem> {
    let given = given(arguments)?;
    let visitor = Visitor::of(&arguments.settings)?;
    let visit = visitor.visit(&arguments.server)?;
    let answered = answer(&visitor, visit, arguments, given).await;
    visitor.clients.close().await;
    answered
}

async fn answer(
    visitor: &Visitor,
    visit: McpVisit,
    arguments: &CallMcp,
    given: Object,
) -> Result<Exit, Problem> {
    let tools = visitor.tools(&visit).await?;
    let Some(tool) = tools.iter().find(|tool| *tool.name == *arguments.tool) else {
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let (server, tool) = (&visit.server.name, &arguments.tool);
        return Err(
            Problem::usage(format!("The MCP server {server} has no tool {tool}."))
                .fix(format!("It has {}.", names.join(", "))),
        );
    };
    let checked = match ArgumentCheck::new(&tool.name, &tool.parameters) {
        Ok(check) => check.check(given),
        // A schema that is none says nothing.
        Err(_) => Ok(given),
    };
    let wanted = McpCall {
        tool: tool.name.clone(),
        arguments: checked.map_err(|complaints| {
            Problem::usage(format!(
                "The tool {} cannot be called like that.",
                tool.name
            ))
            .because(complaints)
            .fix(format!("It takes: {}.", parameters(tool).join(", ")))
        })?,
    };
    let answer = visitor.clients.call(visit, wanted).await;
    let answer = answer.map_err(|error| visitor.failed(&error))?;
    let text = visitor.gate.mask(&answer.text);
    if arguments.json {
        let files = answer
            .files
            .iter()
            .map(|file| json!({"name": file.name, "mime_type": file.mime_type, "size": file.size}));
        let files: Vec<Json> = files.collect();
        out::line(&format!(
            "{:#}",
            json!({"text": text, "failed": answer.failed, "files": files})
        ));
    } else {
        out::line(&text);
    }
    Ok(match answer.failed {
        true => Exit::Failed,
        false => Exit::Done,
    })
}

/// The arguments that were typed. Texts that stand for something else are read by the tool's schema.
fn given(arguments: &CallMcp) -> Result<Object, Problem> {
    let Some(json) = &arguments.arguments else {
        let given = arguments.given.iter();
        return Ok(given
            .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
            .collect());
    };
    serde_json::from_str(json).map_err(|error| {
        Problem::usage("--arguments is no JSON object.")
            .because(sentence(&error.to_string()))
            .fix("Write for example --arguments '{\"path\": \"notes.md\"}'.")
    })
}
