//! Tools of MCP servers in graphs, and what of a server's key anybody sees.

use serde_json::{Value as Json, json};

use super::graphs::World;

fn weather(nodes: &str, rules: Json) -> World {
    World::new(nodes).knows(json!({
        "mcp_servers": {"weather": {"tools": [{
            "name": "forecast",
            "description": "The weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        }]}},
        "mcp": [{"text": "Rain."}],
        "rules": rules,
    }))
}

#[test]
fn a_tool_step_names_a_tool_with_its_server_or_alone() {
    for name in ["mcp__weather__forecast", "forecast"] {
        let graph = format!(
            "  - {{id: t, kind: tool, tools: [{name}], tool_args: {{city: Oslo, days: '2', unknown: x}}}}\noutputs: [t]\n"
        );
        let ran = weather(&graph, json!([])).run(json!({}));
        assert_eq!(ran.results(), json!({"t": "Rain."}), "{name}");
        assert_eq!(
            ran.tools,
            [
                json!({"mcp": "weather", "tool": "forecast", "arguments": {"city": "Oslo", "days": 2}})
            ]
        );
    }
}

#[test]
fn a_model_is_offered_the_tool_as_its_server_describes_it_without_what_is_bound() {
    let ran = weather(
        "  - {id: a, kind: react, instructions: go, tools: [mcp__weather__forecast], tool_args: {days: 3}}\noutputs: [a]\n",
        json!([
            {"match": {"last_role": "tool"}, "reply": "Take an umbrella."},
            {"tool_calls": [{"name": "mcp__weather__forecast", "arguments": {"city": "Oslo", "days": 9}}]},
        ]),
    )
    .run(json!({}));
    assert_eq!(ran.results(), json!({"a": "Take an umbrella."}));
    assert_eq!(
        ran.tools[0]["arguments"],
        json!({"city": "Oslo", "days": 3})
    );
    let offered = &ran.requests[0]["tools"][0];
    assert!(
        offered.to_string().contains("mcp__weather__forecast"),
        "{offered}"
    );
}

#[test]
fn a_name_that_no_server_knows_fails_the_node_with_where_to_look() {
    let graph = "  - {id: t, kind: tool, tools: [forcast]}\noutputs: [t]\n";
    let ran = weather(graph, json!([])).run(json!({}));
    assert!(
        ran.error()
            .contains("`easel mcp list` those of MCP servers"),
        "{}",
        ran.error()
    );
    let elsewhere = "  - {id: t, kind: tool, tools: [mcp__rain__forecast]}\noutputs: [t]\n";
    let ran = weather(elsewhere, json!([])).run(json!({}));
    assert!(
        ran.error()
            .contains("There is no MCP server rain; there are weather."),
        "{}",
        ran.error()
    );
}

#[test]
fn without_servers_a_name_that_nobody_knows_is_refused_before_the_run() {
    let graph = "  - {id: t, kind: tool, tools: [forecast]}\noutputs: [t]\n";
    let ran = World::new(graph).run(json!({}));
    assert!(ran.ending.is_err(), "{:?}", ran.ending);
}
