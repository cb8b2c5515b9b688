//! Easel inside another program: a component, a tool, a model and a secret of one's own, and a run that uses them all.
//!
//! `cargo run -p easel-runtime --example embed`

use std::collections::HashMap;
use std::sync::Arc;

use easel_runtime::catalog::{self, Family, Param, Type};
use easel_runtime::components::{Behaviour, Call, Component, Prepared, Run, Tool, ToolAnswer};
use easel_runtime::core::event::{Completion, Fault, Ports};
use easel_runtime::core::template::{Rendering, Template};
use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, FinishReason, ModelError, ModelEvent, ModelInfo,
    ToolCallDelta, ToolSpec,
};
use easel_runtime::secrets::{Secret, SinkKind};
use easel_runtime::{Ending, Engine, EventKind, Input, Object, Value};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::json;

/// A component: turns a text into capitals.
struct Shout {
    table: catalog::Component,
}

impl Shout {
    fn new() -> Shout {
        let table = catalog::Component::new(
            "Shout",
            Family::Data,
            "Shout",
            "Turns a text into capitals.",
        )
        .param(Param::new("text", Type::template(), "What is shouted.").required())
        .port("result", "string", "The text in capitals.")
        .primary("result");
        Shout { table }
    }
}

impl Component for Shout {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        let text = node.template("text");
        Ok(Arc::new(Shouting { text }))
    }
}

/// One node of it. Its text was compiled when the workflow was loaded.
struct Shouting {
    text: Template,
}

impl Behaviour for Shouting {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let text = self.text.render(call.inputs(), Rendering::Display);
        Run::Done(Ok(Completion {
            ports: Ports::one("result", text.to_uppercase()),
            ..Completion::default()
        }))
    }
}

/// A tool that agents call: how much of something is in stock.
struct Stock;

impl Tool for Stock {
    fn spec(&self) -> ToolSpec {
        let arguments = json!({
            "type": "object",
            "properties": {"thing": {"type": "string", "description": "What is asked for."}},
            "required": ["thing"],
        });
        ToolSpec {
            name: "Stock".into(),
            description: "Says how many pieces of a thing are in stock.".into(),
            parameters: Value::from(arguments),
        }
    }

    fn call<'a>(&'a self, arguments: Object, call: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            // The secret is fetched when it is needed, and the model never sees it: what the answer has of it is masked.
            let door = call.door(SinkKind::Tool, "Stock");
            let Ok(Some(_key)) = door.secret("WAREHOUSE_KEY") else {
                return ToolAnswer::failure(
                    "The warehouse does not let us in: WAREHOUSE_KEY is not set.",
                );
            };
            let thing = arguments
                .get("thing")
                .and_then(Value::as_str)
                .unwrap_or("thing");
            ToolAnswer {
                text: format!("There are 12 pieces of {thing}.").into(),
                ..ToolAnswer::default()
            }
        })
    }
}

/// A model: calls the first tool it is offered, then repeats what the tool said. A real one asks a provider.
struct Parrot;

impl ChatModel for Parrot {
    fn describe(&self, _: &str) -> Result<ModelInfo, ModelError> {
        Ok(ModelInfo::default())
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let answer = request
            .messages
            .last()
            .map(|message| message.content.text());
        let answer = answer.unwrap_or_default();
        let (event, reason) = match request.tools.first() {
            Some(tool) if !answer.contains("pieces") => {
                let call = ToolCallDelta {
                    index: 0,
                    id: Some("call_0".into()),
                    name: Some(tool.name.to_string()),
                    arguments: r#"{"thing": "paint"}"#.into(),
                };
                (ModelEvent::ToolCall(call), FinishReason::ToolCalls)
            }
            _ => (ModelEvent::Text(answer.to_string()), FinishReason::Stop),
        };
        futures::stream::iter([Ok(event), Ok(ModelEvent::Finish(reason))]).boxed()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let canvas = json!({"components": {
        "begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Agent:Clerk"]},
        "Agent:Clerk": {
            "obj": {"component_name": "Agent", "params": {
                "prompts": [{"role": "user", "content": "{sys.query}"}],
                "tools": [{"component_name": "Stock", "params": {}}]
            }},
            "downstream": ["Shout:It"]
        },
        "Shout:It": {
            "obj": {"component_name": "Shout", "params": {"text": "{Agent:Clerk@content}"}},
            "downstream": ["Message:Say"]
        },
        "Message:Say": {
            "obj": {"component_name": "Message", "params": {"content": ["{Shout:It@result}"]}},
            "downstream": []
        }
    }});
    let keys = HashMap::from([("WAREHOUSE_KEY".to_owned(), Secret::new("open sesame"))]);
    let engine = Engine::builder()
        .component(Arc::new(Shout::new()))
        .tool(Arc::new(Stock))
        .model(Arc::new(Parrot))
        .secrets(keys)
        .build()?;
    let workflow = Arc::new(engine.load(canvas.to_string().as_bytes())?);
    for finding in workflow.refusals() {
        eprintln!("{finding:?}");
    }

    let mut session = engine.session(&workflow);
    let mut said = String::new();
    let ending = futures::executor::block_on(session.turn(
        Input::from("How much paint have we got?"),
        &mut |event| {
            if let EventKind::ToolCall { tool, result, .. } = &event.kind {
                eprintln!("({tool} said: {result})");
            }
            said += event.text();
        },
    ))?;
    println!("{said}");
    assert_eq!(ending, Ending::Finished);
    assert_eq!(said, "THERE ARE 12 PIECES OF PAINT.");
    Ok(())
}
