//! What holds for a whole turn of a conversation, as every behaviour sees it.

use std::sync::Arc;

use easel_core::{Object, Value};
use serde::{Deserialize, Serialize};

/// The turn's input and surroundings. It is the context in the journal's first entry and in each answer; what is blank is
/// not written there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Turn {
    /// Which turn of the session it is, from 0.
    pub number: u32,
    /// What the user said: text, or any JSON.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub query: Value,
    /// Form and Begin inputs by name: bare values or `{type, value, optional}`.
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub inputs: Object,
    /// Begin's inputs of an earlier turn, for a turn that brings none (spec/canvas-engine §6.4).
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub kept_inputs: Object,
    /// Uploaded files, as descriptors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Value>,
    /// The user's id; blank if unknown.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub user: Arc<str>,
    /// The session's id.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub session: Arc<str>,
    /// The agent's id.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub agent: Arc<str>,
    /// Who owns the run.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub owner: Arc<str>,
    /// What a webhook brought: its cleaned `query`, `headers` and `body`, and `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Object>,
    /// Handed to the model's chat template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_template_kwargs: Option<Value>,
    /// Headers for MCP servers and tools that declare them.
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub custom_header: Object,
    /// The conversation so far, oldest first, with this turn's own user entry as the last. Written as the number of its
    /// entries, so that the record of a conversation does not grow with the square of its length.
    #[serde(rename = "entries", serialize_with = "count", skip_deserializing)]
    pub history: Arc<Vec<HistoryEntry>>,
}

fn count<S: serde::Serializer>(
    history: &Arc<Vec<HistoryEntry>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(history.len() as u64)
}

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// `user` or `assistant`.
    pub role: Arc<str>,
    /// What was said: text, or the outputs of the node that spoke last.
    pub content: Value,
    /// True for what was said before the run waited for an answer. Models see it; documents of canvases have no place
    /// for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interim: bool,
}

impl HistoryEntry {
    /// What somebody said.
    pub fn new(role: &str, content: impl Into<Value>) -> HistoryEntry {
        HistoryEntry {
            role: role.into(),
            content: content.into(),
            interim: false,
        }
    }

    /// The text of the entry: of an object its `content`, of anything else but text its JSON.
    pub fn text(&self) -> String {
        let said = match &self.content {
            Value::Object(outputs) => outputs.get("content").unwrap_or(&Value::Null),
            other => other,
        };
        match said {
            Value::String(text) => text.to_string(),
            Value::Null => String::new(),
            other => other.to_json_text(),
        }
    }
}
