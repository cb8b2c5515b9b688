//! Components as tools that an agent's model may call.

use std::sync::Arc;

use easel_core::event::Usage;
use easel_core::{Object, Value};
use easel_models::ToolSpec;
use futures::future::BoxFuture;

use crate::behaviour::{Call, Prepared};

/// Something a model may call.
pub trait Tool: Send + Sync {
    /// The name before indexing, what it does, and the JSON Schema of its arguments.
    fn spec(&self) -> ToolSpec;

    /// Answers one call. `call` is the agent's own: its turn, world and wire, not its inputs.
    ///
    /// Arguments have been checked against the schema. A failure is an answer too: the model is told.
    fn call<'a>(&'a self, arguments: Object, call: &'a Call) -> BoxFuture<'a, ToolAnswer>;
}

/// Where a tool stands: in the `tools` of an agent, or in those of an agent that is itself a tool.
#[derive(Clone, Copy)]
pub struct ToolSite<'a> {
    /// The node that owns it in the end.
    pub owner: Prepared<'a>,
    /// The owner's id as model requests carry it: `Agent:X`, or `Agent:X-->Sub_Agent` for a nested agent.
    pub path: &'a str,
    /// The tool's own name in the file, if it has one.
    pub name: Option<&'a str>,
    /// Its parameters as they stand in the `tools` entry, defaults filled in.
    pub params: &'a Value,
    /// Where these parameters stand in the owner's parameters (`tools.0.params`): the prefix of their compiled fields.
    pub prefix: &'a str,
    /// How many agents are around it.
    pub depth: u32,
}

/// What a tool gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolAnswer {
    /// What the model is told.
    pub text: Arc<str>,
    /// True if the call failed; the text says how.
    pub failed: bool,
    /// What it found that answers may cite.
    pub references: Vec<Value>,
    /// Files it made: `{name, url, mime_type, size}`.
    pub artifacts: Vec<Value>,
    /// What it used of models.
    pub usage: Usage,
}

impl ToolAnswer {
    /// A call that failed; the text says how.
    pub fn failure(text: impl Into<Arc<str>>) -> ToolAnswer {
        ToolAnswer {
            text: text.into(),
            failed: true,
            ..ToolAnswer::default()
        }
    }
}
