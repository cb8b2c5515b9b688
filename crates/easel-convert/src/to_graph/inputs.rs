//! What a run of a canvas begins with.

use std::sync::Arc;

use easel_canvas::component::Component;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::Writer;
use crate::names;

/// The fields of a Begin.
pub(super) fn inputs_of(begin: &Component) -> IndexMap<Arc<str>, Value> {
    let inputs = begin
        .params
        .get("inputs")
        .and_then(|inputs| inputs.as_object());
    let inputs = inputs.into_iter().flatten();
    inputs
        .map(|(key, field)| (key.clone(), field.to_json()))
        .collect()
}

impl Writer<'_> {
    /// The declared inputs, if there are any.
    pub(super) fn inputs(&mut self) -> Option<Value> {
        let mut inputs = Map::new();
        if self.reads_query {
            inputs.insert("query".to_owned(), "string".into());
        }
        for (key, field) in &self.declared {
            let place = format!("inputs.{key}");
            let Some(kind) =
                input_type(field).filter(|_| names::is_identifier(key) && **key != *"query")
            else {
                self.losses.say(
                    "begin",
                    &place,
                    "Left out: a graph has no input of that name or type.",
                );
                continue;
            };
            let mut declared = Map::new();
            declared.insert("type".to_owned(), kind.into());
            if is_optional(field) {
                declared.insert("required".to_owned(), false.into());
            }
            let text = |name: &str| {
                field
                    .get(name)
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
            };
            if let Some(label) = text("name").filter(|label| **label != **key) {
                declared.insert("description".to_owned(), label.into());
            }
            if let Some(options) = field
                .get("options")
                .and_then(Value::as_array)
                .filter(|all| !all.is_empty())
            {
                declared.insert("enum".to_owned(), json!(options));
            }
            if field
                .get("value")
                .is_some_and(|value| !value.is_null() && value != "")
            {
                self.losses.say(
                    "begin",
                    &format!("{place}.value"),
                    "Left out: an input of a graph starts without a value.",
                );
            }
            let short = declared.len() == 1;
            inputs.insert(
                key.to_string(),
                if short { kind.into() } else { declared.into() },
            );
        }
        (!inputs.is_empty()).then(|| inputs.into())
    }

    /// What a canvas has beside its nodes.
    pub(super) fn about_the_canvas(&mut self, begin: Option<&Component>) {
        let mode = begin
            .and_then(|begin| begin.params.get("mode"))
            .and_then(|mode| mode.as_str());
        if mode != Some("task") {
            let why = "Each run of a graph is a conversation of one turn: what was said before is not known to it.";
            self.losses.say("begin", "mode", why);
        }
        let greets = begin.is_some_and(|begin| {
            begin
                .params
                .get("prologue")
                .is_some_and(|text| text.is_truthy())
                && begin
                    .params
                    .get("enablePrologue")
                    .is_none_or(|on| on.is_truthy())
        });
        if greets && mode != Some("task") {
            self.losses
                .say("begin", "prologue", "Left out: a graph does not greet.");
        }
        let variables = self.canvas.get("globals").and_then(|all| all.as_object());
        for (name, value) in variables.into_iter().flatten() {
            if name.starts_with("env.") && value.is_truthy() {
                self.losses.say(
                    "",
                    name,
                    "Left out: variables of a graph have no value to begin with.",
                );
            }
        }
    }
}

/// The type of an input for a field of a form.
pub(super) fn input_type(field: &Value) -> Option<&str> {
    let kind = field
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind {
        "" | "line" | "paragraph" | "options" => Some("string"),
        "integer" | "boolean" | "object" | "file" | "array" => Some(kind),
        _ => None,
    }
}

pub(super) fn is_optional(field: &Value) -> bool {
    field
        .get("optional")
        .and_then(Value::as_bool)
        .unwrap_or(false)
}
