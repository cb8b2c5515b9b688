//! A document back to its file, with or without the state of a session.

use std::sync::Arc;

use easel_core::{Object, Value};
use indexmap::IndexMap;

use crate::document::{DSL, Document};
use crate::edit::{members, object_at};
use crate::state::HistoryEntry;

/// The state of a session, to be put into a copy of its canvas. A list or map that is `None` stays as the canvas has it.
#[derive(Clone, Debug, Default)]
pub struct SessionState {
    /// All variables with their dotted keys (`sys.query`, `env.topic`).
    pub globals: Option<Object>,
    /// The conversation.
    pub history: Option<Vec<HistoryEntry>>,
    /// The ids of the nodes that ran, in order.
    pub path: Option<Vec<Arc<str>>>,
    /// The retrieved chunks, one bucket a turn, newest last.
    pub retrieval: Option<Vec<Value>>,
    /// Summaries of tool calls: user, assistant, summary.
    pub memory: Option<Vec<[Value; 3]>>,
    /// The outputs of nodes by id. A node that stands here has these and no others: what its declarations hold beside
    /// them becomes `null`. A node that doesn't keeps what the canvas has; ids that the canvas lacks are passed over.
    pub outputs: IndexMap<Arc<str>, Object>,
}

impl Document {
    /// The canvas without what stood around it in its file.
    pub fn canvas(&self) -> Value {
        Value::from(self.canvas.clone())
    }

    /// The whole file as a value: the canvas, in the object that was around it.
    pub fn to_value(&self) -> Value {
        let canvas = self.canvas();
        let Some(wrapper) = &self.wrapper else {
            return canvas;
        };
        let mut members = wrapper.members.clone();
        let dsl = if wrapper.as_text {
            Value::from(canvas.to_json_text())
        } else {
            canvas
        };
        members.insert(DSL.into(), dsl);
        Value::from(members)
    }

    /// The whole file as text. A document that nothing rewrote gives its file back to the byte (without a byte order
    /// mark); any other is written with two blanks a level, non-ASCII characters as they are.
    pub fn to_text(&self) -> String {
        match self.text_as_read() {
            Some(text) => text.to_owned(),
            None => serde_json::to_string_pretty(&self.to_value()).unwrap_or_default(),
        }
    }

    /// A copy that carries the state of a session, in the form in which RAGFlow stores one (spec/canvas-engine §3.1).
    #[must_use]
    pub fn with_session(&self, state: SessionState) -> Document {
        let mut copy = self.clone();
        copy.origin.changed = true;
        let lists = [
            (
                "history",
                state
                    .history
                    .map(|turns| turns.into_iter().map(pair).collect()),
            ),
            (
                "path",
                state
                    .path
                    .map(|ids| ids.into_iter().map(Value::from).collect()),
            ),
            ("retrieval", state.retrieval),
            (
                "memory",
                state
                    .memory
                    .map(|all| all.into_iter().map(|one| one.to_vec().into()).collect()),
            ),
        ];
        if let Some(globals) = state.globals {
            copy.canvas.insert("globals".into(), globals.into());
        }
        for (name, list) in lists {
            if let Some(list) = list {
                copy.canvas.insert(name.into(), Value::from(list));
            }
        }
        if let Some(entries) = copy.canvas.get_mut("components").and_then(members) {
            for (id, outputs) in &state.outputs {
                if let Some(entry) = entries.get_mut(id).and_then(members) {
                    put_outputs(entry, outputs);
                }
            }
        }
        copy
    }
}

fn pair(turn: HistoryEntry) -> Value {
    Value::from(vec![Value::from(turn.role), turn.payload])
}

/// Writes outputs into the declarations of a component's entry, of either shape.
fn put_outputs(entry: &mut Object, outputs: &Object) {
    let holder = match entry.get_mut("obj") {
        Some(obj) => members(obj),
        None => Some(entry),
    };
    let Some(holder) = holder else { return };
    object_at(holder, "params", |params| {
        object_at(params, "outputs", |declared| {
            for (name, declaration) in declared.iter_mut() {
                if let Some(value) = members(declaration).and_then(|output| output.get_mut("value"))
                    && !outputs.contains_key(name)
                {
                    *value = Value::Null;
                }
            }
            for (name, value) in outputs {
                let undeclared = !matches!(declared.get(name), Some(Value::Object(_)));
                object_at(declared, name, |output| {
                    output.insert("value".into(), value.clone());
                    if undeclared {
                        output.insert("type".into(), value.type_name().into());
                    }
                });
            }
        });
    });
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
