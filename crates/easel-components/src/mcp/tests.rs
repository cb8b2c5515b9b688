//! Tools of MCP servers, as agents and graphs use them.

use std::sync::{Arc, Mutex};

use easel_tools::mcp::{
    McpAnswer, McpCall, McpReach, McpServer, McpServers, McpTool, McpVisit, with_secrets,
};
use easel_tools::{ScriptedWorld, ToolError, World};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};

use crate::testing::{Trial, Tried};
use crate::turn::Turn;

fn entry() -> Json {
    json!({"mcp_id": "9f3c", "tools": {"forecast": {
        "name": "forecast",
        "description": "The weather of a city.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }}})
}

fn script(rules: Json) -> Json {
    json!({
        "mcp_servers": {"weather": {"ids": ["9f3c"], "tools": [{
            "name": "forecast", "description": "From the server.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        }]}},
        "mcp": rules,
        "rules": [
            {"times": 1, "tool_calls": [{"name": "forecast_0", "arguments": {"city": "Oslo"}}]},
            {"reply": "Take an umbrella."},
        ],
    })
}

fn agent(mcp: Json, script: Json) -> Tried {
    let params =
        json!({"llm_id": "m", "sys_prompt": "", "cite": false, "max_rounds": 3, "mcp": mcp});
    let world = ScriptedWorld::new(serde_json::from_value(script.clone()).unwrap());
    Trial::new("Agent", params)
        .given("sys.query", json!("hello"))
        .world(world.world())
        .model(script)
        .run()
}

#[test]
fn an_agent_calls_a_tool_of_a_server_by_the_id_in_its_canvas() {
    let tried = agent(json!([entry()]), script(json!([{"text": "Rain."}])));
    assert_eq!(tried.ports(), json!({"content": "Take an umbrella."}));
    assert_eq!(
        tried.tool_calls,
        [r#"X forecast_0 {"city": "Oslo"} -> Rain."#]
    );
    assert_eq!(tried.warnings, Vec::<String>::new());
}

#[test]
fn a_server_that_nobody_set_up_is_told_to_the_model_and_the_agent_goes_on() {
    let mut script = script(json!([]));
    script["mcp_servers"] = json!({});
    let tried = agent(json!([entry()]), script);
    assert_eq!(tried.ports(), json!({"content": "Take an umbrella."}));
    let told = &tried.tool_calls[0];
    assert!(
        told.ends_with(
            "-> There is no MCP server 9f3c; none is set up. Add it to easel.toml under [mcp.NAME], with ids = [\"9f3c\"] if \
             workflows know it by that."
        ),
        "{told}"
    );
}

#[test]
fn a_server_that_fails_is_told_to_the_model() {
    let tried = agent(json!([entry()]), script(json!([{"error": "it is closed"}])));
    assert_eq!(
        tried.tool_calls,
        [r#"X forecast_0 {"city": "Oslo"} -> weather failed: it is closed"#]
    );
}

#[test]
fn arguments_that_do_not_fit_what_the_canvas_says_never_reach_the_server() {
    let mut script = script(json!([{"text": "Rain."}]));
    script["rules"][0]["tool_calls"][0]["arguments"] = json!({"town": "Oslo"});
    let tried = agent(json!([entry()]), script);
    assert!(
        tried.tool_calls[0].contains("\"city\" is a required property"),
        "{}",
        tried.tool_calls[0]
    );
}

#[test]
fn entries_without_tools_ask_for_nothing_and_switched_off_tools_are_not_offered() {
    let mut off = entry();
    off["tools"]["forecast"]["enabled"] = json!(false);
    let empty = json!({"mcp_id": "of another installation", "tools": {}});
    let tried = agent(json!([empty, off]), json!({"default_reply": "plain"}));
    assert_eq!(tried.requests["X"][0].tools.len(), 0);
    assert_eq!(tried.warnings, Vec::<String>::new());
}

/// A server that remembers who came.
#[derive(Default)]
struct Visited {
    servers: Vec<Arc<McpServer>>,
    seen: Mutex<Vec<String>>,
}

impl McpServers for Visited {
    fn servers(&self) -> &[Arc<McpServer>] {
        &self.servers
    }

    fn tools(&self, _: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>> {
        std::future::ready(Ok([].into())).boxed()
    }

    fn call(&self, visit: McpVisit, _: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>> {
        let values = visit.values.iter();
        let values: Vec<String> = values
            .map(|(name, value)| format!("{name}={}", value.expose()))
            .collect();
        let McpReach::Http { url, trusted, .. } = &visit.server.reach else {
            panic!("only addresses here");
        };
        assert!(!visit.server.name.contains("k-123"), "a name is seen");
        let seen = format!(
            "{url} {trusted} {} {}",
            visit.conversation,
            values.join(" ")
        );
        self.seen.lock().unwrap().push(seen);
        std::future::ready(Ok(McpAnswer {
            text: "It is k-123456 here.".into(),
            ..McpAnswer::default()
        }))
        .boxed()
    }
}

fn visits(servers: Vec<McpServer>, mcp: Json, turn: Turn) -> Vec<String> {
    let visited = Arc::new(Visited {
        servers: servers.into_iter().map(Arc::new).collect(),
        ..Visited::default()
    });
    let world = World {
        mcp: visited.clone(),
        ..World::none()
    };
    let params =
        json!({"llm_id": "m", "sys_prompt": "", "cite": false, "max_rounds": 3, "mcp": mcp});
    let tried = Trial::new("Agent", params)
        .given("sys.query", json!("hello"))
        .turn(turn)
        .world(world)
        .model(script(json!([])))
        .run();
    assert_eq!(tried.ports(), json!({"content": "Take an umbrella."}));
    visited.seen.lock().unwrap().clone()
}

#[test]
fn a_server_gets_its_own_values_and_the_headers_that_it_asks_for() {
    let reach = McpReach::Http {
        url: "https://weather.example/mcp".into(),
        headers: vec![
            ("X-Client".into(), with_secrets("easel")),
            ("Authorization".into(), with_secrets("Bearer ")),
        ],
        trusted: true,
    };
    let server = McpServer {
        ids: vec!["9f3c".into()],
        passes: vec!["x-user".into()],
        ..McpServer::new("weather", reach)
    };
    let turn = Turn {
        session: "s1".into(),
        custom_header: easel_core::Object::from_iter([
            ("X-User".into(), "ada".into()),
            ("X-Other".into(), "no".into()),
        ]),
        ..Turn::default()
    };
    assert_eq!(
        visits(vec![server], json!([entry()]), turn),
        ["https://weather.example/mcp true s1 X-Client=easel X-User=ada"]
    );
}

#[test]
fn a_workflow_brings_a_server_which_the_guard_is_to_look_at() {
    let own = json!([{
        "url": "https://tools.example/mcp?key=k-123",
        "headers": {"X-Team": "blue"},
        "tools": entry()["tools"],
    }]);
    let seen = visits(Vec::new(), own, Turn::default());
    assert_eq!(seen.len(), 1);
    assert!(
        seen[0].starts_with("https://tools.example/mcp?key=k-123 false "),
        "{}",
        seen[0]
    );
    assert!(seen[0].ends_with(" X-Team=blue"), "{}", seen[0]);
}
