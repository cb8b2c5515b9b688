//! Tools of one's own.

use std::sync::Arc;

use easel_runtime::components::{Call, Tool, ToolAnswer};
use easel_runtime::models::ToolSpec;
use easel_runtime::{Ending, Engine, Object, RunEvent, ScriptedWorld, Value};
use futures::executor::block_on;
use futures::future::BoxFuture;
use serde_json::json;

use super::own::canvas;

/// Says how many pieces of a thing are in stock.
struct Stock;

impl Tool for Stock {
    fn spec(&self) -> ToolSpec {
        let schema = json!({
            "type": "object",
            "properties": {"thing": {"type": "string", "description": "What is asked for."}},
            "required": ["thing"],
        });
        ToolSpec {
            name: "stock".into(),
            description: "Says how many pieces of a thing are in stock.".into(),
            parameters: Value::from(schema),
        }
    }

    fn call<'a>(&'a self, arguments: Object, _: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            ToolAnswer {
                text: format!("12 pieces of {}", arguments["thing"]).into(),
                ..ToolAnswer::default()
            }
        })
    }
}

#[test]
fn an_agent_calls_a_tool_of_ones_own() {
    let script = json!({"rules": [
        {"match": {"last_role": "tool"}, "reply": "There are enough."},
        {"tool_calls": [{"name": "stock_0", "arguments": {"thing": "paint"}}]},
    ]});
    let world = ScriptedWorld::read(script, || {}).unwrap();
    let engine = Engine::builder()
        .tool(Arc::new(Stock))
        .model(world.model())
        .build()
        .unwrap();
    let agent = json!({
        "prompts": [{"role": "user", "content": "{sys.query}"}],
        "tools": [{"component_name": "stock", "params": {}}],
    });
    let said = json!({"content": ["{Agent:A@content}"]});
    let text = canvas(&[("Agent:A", "Agent", agent), ("Message:M", "Message", said)]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut calls = Vec::new();
    let mut answer = String::new();
    let mut session = engine.session(&workflow);
    let mut observe = |event: RunEvent| {
        answer += event.text();
        if event.kind.name() == "tool_call" {
            calls.push(serde_json::to_value(&event).unwrap()["data"]["result"].clone());
        }
    };
    let ending = block_on(session.turn("paint?".into(), &mut observe));
    assert_eq!(ending.unwrap(), Ending::Finished);
    assert_eq!(calls, [json!("12 pieces of paint")]);
    assert!(answer.ends_with("There are enough."), "{answer}");
    // The check and the docs know it.
    let table = engine.registry().catalog().get("stock").unwrap();
    let arguments = &table.tool.as_ref().unwrap().arguments;
    assert_eq!(&*arguments[0].name, "thing");
    assert!(arguments[0].required);
}
