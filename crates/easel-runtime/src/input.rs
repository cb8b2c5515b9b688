//! What a user brings to a turn.

use std::sync::Arc;

use easel_core::{Object, Value};
use easel_tools::files::{FileDescriptor, FileRequest};

use crate::engine::Engine;
use crate::session::TurnError;

/// What a user brings to a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// What the user says: text, or any JSON. `null`: nothing.
    pub query: Value,
    /// Inputs by name, for Begin or for open forms.
    pub inputs: Object,
    /// Uploaded files, as descriptors `{id, name, mime_type, created_by}`.
    pub files: Vec<Value>,
    /// The user's id.
    pub user: Option<Arc<str>>,
    /// What a webhook brought.
    pub webhook: Option<Object>,
    /// Handed to the model's chat template.
    pub chat_template_kwargs: Option<Value>,
    /// Headers for MCP servers and tools that declare them.
    pub custom_header: Object,
}

impl Input {
    /// What the conversation keeps of it: what the user says; without that, what was filled in, a line for each field.
    pub(crate) fn said(&self) -> Value {
        let blank = match &self.query {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            _ => false,
        };
        if !blank || self.inputs.is_empty() {
            return self.query.clone();
        }
        let lines = self.inputs.iter().map(|(name, input)| {
            let value = input.get("value").unwrap_or(input);
            format!("{name}: {value}")
        });
        Value::from(Vec::from_iter(lines).join("\n"))
    }
}

impl From<&str> for Input {
    /// A turn in which the user says that.
    fn from(query: &str) -> Input {
        Input {
            query: Value::from(query),
            ..Input::default()
        }
    }
}

/// What a graph is given: inputs by name, or what the user says. Nothing at all is no inputs.
pub(crate) fn given(input: &Input) -> Value {
    match input.inputs.is_empty() && !input.query.is_null() {
        true => input.query.clone(),
        false => Value::from(input.inputs.clone()),
    }
}

/// The texts and images of uploaded files; `None` if there are none.
pub(crate) async fn read_files(engine: &Engine, input: &Input) -> Result<Option<Value>, TurnError> {
    if input.files.is_empty() {
        return Ok(None);
    }
    let mut read = Vec::new();
    for file in &input.files {
        let request = FileRequest {
            file: FileDescriptor::from_value(file)?,
            layout: None,
        };
        let content = engine.services.world.files.read(request).await?;
        read.push(Value::from(content.rendered()));
    }
    Ok(Some(Value::from(read)))
}
