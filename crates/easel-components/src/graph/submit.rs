//! Answers that are data: a model hands them in by a call (spec/graph-engine §9).

use std::sync::Arc;

use easel_core::event::Fault;
use easel_core::{Object, Value};
use easel_models::{Message, ToolSpec};
use easel_tools::contract::ArgumentCheck;

use super::asking::said;
use super::prompt::SUBMIT;
use crate::chat::ask::{Ask, Asker};

/// The tool by which an answer is handed in.
const TOOL: &str = "submit_result";
/// How often a model is asked.
const ATTEMPTS: usize = 3;
/// Characters of a complaint that a model is told.
const TOLD: usize = 300;

/// The shape of an answer.
#[derive(Debug)]
pub(super) struct Shape {
    schema: Value,
    check: ArgumentCheck,
}

impl Shape {
    /// Errors: the schema is not valid, or describes no object.
    pub fn read(schema: &Value) -> Result<Shape, String> {
        let properties = schema.get("properties").and_then(Value::as_object);
        if properties.is_none_or(|properties| properties.is_empty()) {
            return Err("it has no properties".to_owned());
        }
        let mut root = schema.as_object().cloned().unwrap_or_default();
        root.insert("type".into(), Value::from("object"));
        let schema = Value::from(root);
        let check = ArgumentCheck::new(TOOL, &schema).map_err(|error| error.to_string())?;
        Ok(Shape { schema, check })
    }

    /// What the model is offered.
    fn tool(&self) -> ToolSpec {
        let mut offered = self.schema.as_object().cloned().unwrap_or_default();
        offered.insert("additionalProperties".into(), Value::from(false));
        offered.shift_remove("title");
        ToolSpec {
            name: TOOL.into(),
            description: "Hands in the result of this step.".into(),
            parameters: Value::from(offered),
        }
    }

    /// The answer in its shape: what the schema does not know is left out, what was left out is null or its default.
    ///
    /// Errors: what is wrong with it, for the model.
    fn shaped(&self, sent: Object) -> Result<Value, String> {
        let sent = pruned(&self.schema, Value::from(sent));
        let sent = sent.as_object().cloned().unwrap_or_default();
        let checked = self.check.check(sent)?;
        Ok(filled(&self.schema, Value::from(checked)))
    }

    /// Asks until the answer has its shape. `messages` is the conversation so far.
    pub async fn ask(
        &self,
        asker: &mut Asker<'_>,
        mut messages: Vec<Message>,
    ) -> Result<Value, Fault> {
        let tools = [self.tool()];
        if let Some(system) = messages.first_mut() {
            let text = format!("{}\n\n{SUBMIT}", system.content.text());
            *system = Message::system(text);
        }
        let mut problem = String::new();
        for _ in 0..ATTEMPTS {
            let ask = Ask {
                messages: messages.clone(),
                tools: &tools,
                ..Ask::default()
            };
            let reply = asker.ask(ask, None).await?;
            // A model that calls one thing means this one, whatever it calls it.
            let named = reply.tool_calls.iter().find(|call| *call.name == *TOOL);
            let call = named.or(match reply.tool_calls.as_slice() {
                [only] => Some(only),
                _ => None,
            });
            let Some(call) = call.cloned() else {
                problem = "it did not call submit_result".to_owned();
                let said = said(&reply);
                messages.push(Message::assistant(said));
                messages.push(Message::user(
                    "Your result was not handed in. Call `submit_result` now, with every field filled.",
                ));
                continue;
            };
            let sent = serde_json::from_str::<Object>(&call.arguments);
            let shaped = match sent {
                Ok(sent) => self.shaped(sent),
                Err(error) => Err(format!("the arguments are no JSON object: {error}")),
            };
            match shaped {
                Ok(value) => return Ok(value),
                Err(wrong) => {
                    let told: String = wrong.chars().take(TOLD).collect();
                    let calls: Vec<Arc<str>> =
                        reply.tool_calls.iter().map(|c| c.id.clone()).collect();
                    messages.push(reply.into_message());
                    for id in calls {
                        messages.push(Message::tool(id, format!("Not accepted: {told}")));
                    }
                    problem = wrong;
                }
            }
        }
        let cause = format!(
            "asked {ATTEMPTS} times for a result of its shape and did not get one: {problem}. Simplify output_schema, or ask another model."
        );
        Err(asker.trouble("bad_answer", &cause))
    }
}

/// A value without the members that its schema does not list, and without nulls that stand for "left out".
fn pruned(schema: &Value, value: Value) -> Value {
    within(schema, value, &|schema, properties, members| {
        let is_required = |name: &str| required(schema).any(|required| required == name);
        let known = members.iter().filter_map(|(name, member)| {
            let schema = properties.get(name)?;
            let left_out = member.is_null() && !is_required(name);
            (!left_out).then(|| (name.clone(), pruned(schema, member.clone())))
        });
        known.collect()
    })
}

/// A value with the members that its schema lists and that were left out: their defaults, else null, in the order of the
/// schema.
fn filled(schema: &Value, value: Value) -> Value {
    within(schema, value, &|_, properties, members| {
        let filled = properties.iter().map(|(name, schema)| {
            let member = match members.get(name) {
                Some(member) => filled(schema, member.clone()),
                None => schema.get("default").cloned().unwrap_or_default(),
            };
            (name.clone(), member)
        });
        filled.collect()
    })
}

/// A value in which every object whose schema lists its members is written again, given that schema, what it lists, and
/// the members.
fn within(
    schema: &Value,
    value: Value,
    write: &impl Fn(&Value, &Object, &Object) -> Object,
) -> Value {
    match value {
        Value::Object(members) => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => Value::from(write(schema, properties, &members)),
            None => Value::Object(members),
        },
        Value::Array(items) => match schema.get("items") {
            Some(schema) => {
                let items = items.iter().map(|item| within(schema, item.clone(), write));
                Value::from(items.collect::<Vec<_>>())
            }
            None => Value::Array(items),
        },
        other => other,
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.unwrap_or_default().iter().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape() -> Shape {
        let schema = json!({
            "properties": {
                "t": {"type": "string"},
                "n": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "lang": {"enum": ["en", "de"], "default": "en"},
                "meta": {"type": "object", "properties": {"by": {"type": "string"}}, "required": ["by"]},
            },
            "required": ["t"]
        });
        Shape::read(&Value::from(schema)).unwrap()
    }

    fn shaped(sent: serde_json::Value) -> Result<serde_json::Value, String> {
        let sent = Value::from(sent).as_object().cloned().unwrap();
        shape().shaped(sent).map(|value| value.to_json())
    }

    #[test]
    fn an_answer_is_brought_into_its_shape() {
        assert_eq!(
            shaped(
                json!({"t": "hi", "n": "3", "tags": null, "zz": 1, "meta": {"by": "me", "x": 1}})
            ),
            Ok(json!({"t": "hi", "n": 3, "tags": null, "lang": "en", "meta": {"by": "me"}}))
        );
        assert!(shaped(json!({"n": 3})).unwrap_err().contains("\"t\""));
        assert!(shaped(json!({"t": "x", "n": 3.5})).is_err());
        assert!(shaped(json!({"t": "x", "lang": "fr"})).is_err());
        let nested = shaped(json!({"t": "x", "meta": {}})).unwrap_err();
        assert!(nested.contains("meta"), "{nested}");
    }

    #[test]
    fn a_shape_without_properties_is_none() {
        assert!(Shape::read(&Value::from(json!({"type": "object"}))).is_err());
        assert!(Shape::read(&Value::from(json!({"properties": {}}))).is_err());
    }
}
