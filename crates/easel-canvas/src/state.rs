//! What a canvas carries beside its nodes: variables, and the state of a conversation.

use std::sync::Arc;

use easel_core::{Object, Value};
use indexmap::IndexMap;

use crate::component::{ids, text};
use crate::document::Document;

/// A declared variable behind `env.<name>` (spec/canvas-engine §3.3).
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// `string`, `number`, `boolean`, `object`, `array<...>`; empty if the declaration has none.
    pub kind: Arc<str>,
    /// The value a session starts with: the declared one, or the empty one of its type.
    pub value: Value,
    /// What it is for.
    pub description: Option<Arc<str>>,
}

/// One entry of a conversation: who, and what was said or put out.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    /// `user` or `assistant`.
    pub role: Arc<str>,
    /// A text, or the outputs of the node that spoke.
    pub payload: Value,
}

impl Document {
    /// The declared variables by name, in file order.
    pub fn variables(&self) -> IndexMap<Arc<str>, Variable> {
        let declared = self.get("variables").and_then(Value::as_object);
        let variable = |(name, declaration): (&Arc<str>, &Value)| {
            let kind = text(declaration.get("type")).unwrap_or_default();
            let value = match declaration.get("value") {
                Some(value) if !value.is_null() => value.clone(),
                _ => empty_of_type(&kind),
            };
            let description = text(declaration.get("description"));
            (
                name.clone(),
                Variable {
                    kind,
                    value,
                    description,
                },
            )
        };
        declared.into_iter().flatten().map(variable).collect()
    }

    /// The variables as they stand in the document, dotted keys and all: what is stored, then each `env.*` that is only
    /// declared, then the `sys.*` that every run has (spec/canvas-engine §1.5 N5).
    pub fn globals(&self) -> Object {
        let mut globals = self
            .get("globals")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        for (name, variable) in self.variables() {
            globals.entry(env_key(&name)).or_insert(variable.value);
        }
        for (name, value) in system_defaults() {
            globals.entry(name.into()).or_insert(value);
        }
        globals
    }

    /// The variables as a new session finds them: each `sys.*` emptied, each `env.*` as declared (§3.3, §3.4).
    pub fn fresh_globals(&self) -> Object {
        let variables = self.variables();
        let fresh = |(key, value): (Arc<str>, Value)| {
            let value = match key.split_once('.') {
                Some(("sys", _)) => emptied(&value),
                Some(("env", name)) => match variables.get(name) {
                    Some(variable) => variable.value.clone(),
                    None => Value::from(""),
                },
                _ => value,
            };
            (key, value)
        };
        self.globals().into_iter().map(fresh).collect()
    }

    /// The conversation so far. Pairs and objects are read alike; what names no role is left out (§1.5 N3).
    pub fn history(&self) -> Vec<HistoryEntry> {
        self.list("history")
            .iter()
            .filter_map(history_entry)
            .collect()
    }

    /// The retrieved chunks, one bucket a turn, newest last; an object counts as one bucket.
    pub fn retrieval(&self) -> Vec<Value> {
        match self.get("retrieval") {
            Some(bucket @ Value::Object(_)) if !is_empty_bucket(bucket) => vec![bucket.clone()],
            Some(Value::Array(buckets)) => buckets.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Summaries of tool calls: user, assistant, summary.
    pub fn memory(&self) -> Vec<[Value; 3]> {
        self.list("memory")
            .iter()
            .filter_map(memory_entry)
            .collect()
    }

    /// The ids of the nodes that ran, in order, as the file has them.
    pub fn path(&self) -> Vec<Arc<str>> {
        self.get("path").map(ids).unwrap_or_default()
    }

    fn list(&self, name: &str) -> &[Value] {
        self.get(name).and_then(Value::as_array).unwrap_or_default()
    }
}

/// The key in the globals behind a declared variable.
pub(crate) fn env_key(name: &str) -> Arc<str> {
    format!("env.{name}").into()
}

/// An entry of `history` in any of its shapes.
pub(crate) fn history_entry(entry: &Value) -> Option<HistoryEntry> {
    let (role, payload) = match entry {
        Value::Array(pair) => (pair.first()?, pair.get(1)?),
        Value::Object(members) => (
            members.get("role")?,
            members.get("payload").or_else(|| members.get("content"))?,
        ),
        _ => return None,
    };
    Some(HistoryEntry {
        role: text(Some(role))?,
        payload: payload.clone(),
    })
}

/// An entry of `memory` in any of its shapes.
pub(crate) fn memory_entry(entry: &Value) -> Option<[Value; 3]> {
    match entry {
        Value::Array(items) => items.get(..3)?.to_vec().try_into().ok(),
        Value::Object(members) => {
            let part = |name| members.get(name).cloned().unwrap_or_default();
            Some([part("user"), part("assistant"), part("summary")])
        }
        _ => None,
    }
}

/// True for a bucket without a chunk.
pub(crate) fn is_empty_bucket(bucket: &Value) -> bool {
    bucket
        .as_object()
        .is_some_and(|members| members.values().all(|part| !part.is_truthy()))
}

/// The `sys.*` variables of every run, before it starts.
fn system_defaults() -> [(&'static str, Value); 6] {
    [
        ("sys.query", Value::from("")),
        ("sys.user_id", Value::from("")),
        ("sys.conversation_turns", Value::from(0_i64)),
        ("sys.files", Value::empty_array()),
        ("sys.history", Value::empty_array()),
        ("sys.date", Value::from("")),
    ]
}

/// The empty value of a declared type.
fn empty_of_type(kind: &str) -> Value {
    match kind {
        "number" => Value::from(0_i64),
        "boolean" => Value::from(false),
        "object" => Value::empty_object(),
        _ if kind.starts_with("array") => Value::empty_array(),
        _ => Value::from(""),
    }
}

/// The empty value of the type that a value has.
fn emptied(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(_) => Value::from(false),
        Value::Number(_) => Value::from(0_i64),
        Value::String(_) => Value::from(""),
        Value::Array(_) => Value::empty_array(),
        Value::Object(_) => Value::empty_object(),
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
