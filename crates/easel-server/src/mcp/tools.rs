//! What clients are told of each tool.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::json;

use super::agents::Agent;
use super::names::RESUME;
use super::schema;

/// The tool that an agent is.
pub(super) fn of_agent(name: &str, agent: &Agent) -> Tool {
    let described = match agent.description.trim() {
        "" => format!("Runs the agent \"{}\".", agent.title),
        text => text.to_owned(),
    };
    let schema = Arc::new(schema::of_inputs(&agent.inputs));
    let tool = Tool::new(name.to_owned(), described, schema).with_title(&*agent.title);
    match agent.reads_only {
        true => tool.with_annotations(ToolAnnotations::new().read_only(true)),
        false => tool,
    }
}

/// The tool that answers a run.
pub(super) fn resume() -> Tool {
    Tool::new(
        RESUME,
        "Answers a run of an agent that stopped to ask something. The result that says so names the run and the fields.",
        Arc::new(resume_schema()),
    )
    .with_title("Answer an agent")
}

/// What that tool takes.
pub(super) fn resume_schema() -> JsonObject {
    let schema = json!({
        "type": "object",
        "properties": {
            "run": {"type": "string", "description": "The id of the run."},
            "answers": {"type": "object", "description": "A value for each field that is asked for."},
        },
        "required": ["run", "answers"],
    });
    schema.as_object().cloned().unwrap_or_default()
}
