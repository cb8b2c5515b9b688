//! Components as tools that an agent's model may call.

use std::sync::Arc;

use easel_catalog::{self as catalog, Family, Type};
use easel_core::draft::EffectClass;
use easel_core::event::{Fault, Usage};
use easel_core::{Object, Value};
use easel_models::ToolSpec;
use futures::future::BoxFuture;

use crate::behaviour::{Behaviour, Call, Component, Prepared};

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

/// A tool as a component: agents list it by the name in its [`ToolSpec`]. Its table is made of that, so that the check
/// and the docs know it. It counts as one that writes to the outside, for nothing says that it does not.
pub struct ToolComponent {
    table: catalog::Component,
    tool: Arc<dyn Tool>,
}

impl ToolComponent {
    /// A component that is nothing but that tool.
    pub fn new(tool: Arc<dyn Tool>) -> ToolComponent {
        let spec = tool.spec();
        let function = catalog::Tool::new(&spec.name, &spec.description);
        let function = arguments(&spec.parameters).fold(function, catalog::Tool::argument);
        let table =
            catalog::Component::new(&spec.name, Family::Tool, &spec.name, &spec.description)
                .effect(EffectClass::Writes)
                .tool(function);
        ToolComponent { table, tool }
    }
}

impl Component for ToolComponent {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        let name = &node.node.draft.name;
        let message = format!("\"{name}\" is a tool of agents. Put it into the tools of an Agent.");
        Err(Fault::new("tool_only", message))
    }

    fn tool(&self, _: ToolSite<'_>) -> Option<Result<Arc<dyn Tool>, Fault>> {
        Some(Ok(self.tool.clone()))
    }
}

/// The arguments in the JSON Schema of a tool.
fn arguments(schema: &Value) -> impl Iterator<Item = catalog::Argument> {
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, property)| {
        let kind = match property.get("type").and_then(Value::as_str) {
            Some("string") => Type::Text,
            Some("boolean") => Type::Boolean,
            Some("integer") => Type::Integer {
                min: None,
                max: None,
            },
            Some("number") => Type::Number {
                min: None,
                max: None,
            },
            _ => Type::Any,
        };
        let description = property.get("description").and_then(Value::as_str);
        let description = description.filter(|text| !text.trim().is_empty());
        let unsaid = format!("The argument `{name}`.");
        let argument = catalog::Argument::new(name, kind, description.unwrap_or(&unsaid));
        let argument = argument.from_model_only();
        match required.iter().any(|wanted| wanted.as_str() == Some(name)) {
            true => argument.required(),
            false => argument,
        }
    })
}
