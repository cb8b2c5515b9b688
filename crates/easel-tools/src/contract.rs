//! What a model is told about a tool, and what it may send.

use easel_core::draft::EffectClass;
use easel_core::{Object, Value};
use serde_json::Value as Json;

use crate::error::ToolError;

mod lenient;
mod name;

pub use name::offered_name;

/// A tool as it is known before any model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its own name; the one a model sees is an [`offered_name`].
    pub name: String,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// A JSON Schema of its arguments, an object.
    pub parameters: Value,
    /// What a call does to the outside.
    pub effect: EffectClass,
    /// The parameters that carry credentials. They are bound, never asked of a model.
    pub credentials: Vec<String>,
}

impl ToolSpec {
    /// The schema a model is offered: without credentials and without the `bound` arguments (design §5.3).
    pub fn offered_parameters(&self, bound: &Object) -> Value {
        let hidden = |name: &str| {
            bound.contains_key(name) || self.credentials.iter().any(|credential| credential == name)
        };
        let Some(schema) = self.parameters.as_object() else {
            return self.parameters.clone();
        };
        let mut offered = schema.clone();
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let shown = properties.iter().filter(|(name, _)| !hidden(name));
            let shown: Object = shown.map(|(k, v)| (k.clone(), v.clone())).collect();
            offered.insert("properties".into(), Value::from(shown));
        }
        if let Some(required) = schema.get("required").and_then(Value::as_array) {
            let asked = required
                .iter()
                .filter(|name| !name.as_str().is_some_and(hidden));
            offered.insert(
                "required".into(),
                Value::from(asked.cloned().collect::<Vec<_>>()),
            );
        }
        Value::from(offered)
    }
}

/// The arguments of a call: what the model sent, overruled by what is bound.
pub fn with_bound(mut sent: Object, bound: &Object) -> Object {
    sent.extend(
        bound
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    sent
}

/// Checks arguments against a tool's schema; compiled once, used for every call.
#[derive(Debug)]
pub struct ArgumentCheck {
    schema: Value,
    validator: jsonschema::Validator,
}

/// Complaints about one call that are told at most.
const COMPLAINTS: usize = 5;

impl ArgumentCheck {
    /// Compiles a schema. `$ref`s resolve inside it only; nothing is fetched.
    pub fn new(tool: &str, schema: &Value) -> Result<ArgumentCheck, ToolError> {
        let validator = jsonschema::validator_for(&schema.to_json()).map_err(|e| {
            ToolError::InvalidRequest {
                what: format!("the parameter schema of {tool}"),
                problem: e.to_string(),
            }
        })?;
        Ok(ArgumentCheck {
            schema: schema.clone(),
            validator,
        })
    }

    /// The arguments ready for the call: texts that clearly stand for another type are read as it first
    /// (`spec/graph-engine` T12: `"7"` for an integer).
    ///
    /// Errors: what is wrong, in words a model can act on, a line for each complaint.
    pub fn check(&self, sent: Object) -> Result<Object, String> {
        let arguments = lenient::read(&self.schema, sent);
        let json = Value::from(arguments.clone()).to_json();
        let mut complaints: Vec<String> = self
            .validator
            .iter_errors(&json)
            .map(|e| complaint(&e))
            .collect();
        if complaints.is_empty() {
            return Ok(arguments);
        }
        if complaints.len() > COMPLAINTS {
            let more = complaints.len() - COMPLAINTS;
            complaints.truncate(COMPLAINTS);
            complaints.push(format!("and {more} more"));
        }
        Err(complaints.join("\n"))
    }
}

fn complaint(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    // The message quotes the value, which can be long.
    let message = match error.instance().as_ref() {
        Json::String(_) | Json::Array(_) | Json::Object(_) if !place.is_empty() => {
            error.masked_with("this value").to_string()
        }
        _ => error.to_string(),
    };
    match place.strip_prefix('/') {
        Some(place) => format!("argument {}: {message}", place.replace('/', ".")),
        None => message,
    }
}

#[cfg(test)]
mod tests;
