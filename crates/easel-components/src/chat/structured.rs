//! Answers that are data: an object of a shape the node asks for.

use easel_core::Value;
use easel_core::event::Fault;
use easel_models::{ChatReply, Message, ResponseFormat};
use jsonschema::Validator;

use super::ask::{Ask, Asker};
use super::lenient;
use crate::site::Site;

/// Problems with an answer that are told, so that a note about them stays short.
const MOST_PROBLEMS: usize = 5;

/// The shape of a node's answer.
#[derive(Debug)]
pub(crate) struct Schema {
    json: serde_json::Value,
    /// `None` if the schema itself is not valid; then any object is taken.
    validator: Option<Validator>,
}

impl Schema {
    /// The schema that the declared outputs of a node ask for, if they do: `structured` itself, or what stands in it
    /// under `schema` or `structured` (spec/canvas-components §3.2).
    pub(crate) fn read(site: &Site<'_>) -> Option<Schema> {
        let declared = site.get("outputs")?.get("structured")?;
        let inner = ["schema", "structured"].map(|name| declared.get(name));
        let candidates = [Some(declared)].into_iter().chain(inner).flatten();
        let asks = |schema: &&Value| schema.get("properties").is_some_and(Value::is_truthy);
        let mut json = candidates.into_iter().find(asks)?.to_json();
        if let Some(members) = json.as_object_mut() {
            // Declared outputs held the last value too in old canvases.
            members.shift_remove("value");
        }
        let validator = jsonschema::validator_for(&json).ok();
        Some(Schema { json, validator })
    }

    /// What the model is told, where it cannot be held to the schema.
    pub(crate) fn instruction(&self) -> String {
        format!(
            "## Form of the answer\n\n\
             Your whole answer is one JSON object that this JSON Schema describes. Write that object and nothing else: no \
             introduction, no explanation, no code fence. Use its property names as they are, give every required \
             property, and take `null` or an empty list where you have nothing to say and the schema allows it.\n\n\
             {:#}",
            self.json
        )
    }

    /// What the provider is told, where it can hold the model to the schema.
    pub(crate) fn format(&self) -> ResponseFormat {
        ResponseFormat {
            name: "answer".into(),
            schema: self.json.clone().into(),
        }
    }

    /// The object in an answer, or what is wrong with it.
    fn object(&self, answer: &str) -> Result<Value, String> {
        let value = lenient::json(answer).ok_or("there is no JSON object in it")?;
        if value.as_object().is_none() {
            return Err(format!("it is {} and no object", value.type_name()));
        }
        let Some(validator) = &self.validator else {
            return Ok(value);
        };
        let json = value.to_json();
        let problems = validator.iter_errors(&json).take(MOST_PROBLEMS);
        let problems: Vec<String> = problems
            .map(|problem| match problem.instance_path().as_str() {
                "" => problem.to_string(),
                path => format!("at {path}: {problem}"),
            })
            .collect();
        match problems.is_empty() {
            true => Ok(value),
            false => Err(problems.join("; ")),
        }
    }

    /// The object in a reply. If there is none that fits, the model is told why and asked once more.
    ///
    /// `messages` is the conversation that led to the reply.
    pub(crate) async fn object_of_reply(
        &self,
        asker: &mut Asker<'_>,
        mut messages: Vec<Message>,
        reply: ChatReply,
        format: Option<ResponseFormat>,
    ) -> Result<Value, Fault> {
        let problem = match self.object(&reply.text) {
            Ok(value) => return Ok(value),
            Err(problem) => problem,
        };
        messages.push(Message::assistant(reply.text));
        messages.push(Message::user(format!(
            "That is not what was asked for: {problem}.\n\n{}",
            self.instruction()
        )));
        let ask = Ask {
            messages,
            format,
            ..Ask::default()
        };
        let reply = asker.ask(ask, None).await?;
        self.object(&reply.text).map_err(|problem| {
            let cause = format!(
                "asked for JSON and got something else, twice: {problem}. Simplify the schema in its outputs, or ask a \
                 model that can be held to a schema."
            );
            asker.trouble("bad_answer", &cause)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        let json =
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
        Schema {
            validator: jsonschema::validator_for(&json).ok(),
            json,
        }
    }

    #[test]
    fn an_answer_is_checked_against_the_schema() {
        assert_eq!(
            schema().object("{a: 5, 'b': [1, 2").map(|v| v.to_json()),
            Ok(json!({"a": 5, "b": [1, 2]}))
        );
        let problem = schema().object(r#"{"a": "five"}"#).unwrap_err();
        assert!(problem.starts_with("at /a: "), "{problem}");
        assert!(schema().object("{}").unwrap_err().contains("\"a\""));
        assert_eq!(
            schema().object("no").unwrap_err(),
            "there is no JSON object in it"
        );
        assert_eq!(
            schema().object("[1]").unwrap_err(),
            "it is array and no object"
        );
    }

    #[test]
    fn a_schema_that_is_none_takes_any_object() {
        let broken = Schema {
            json: json!({"type": 7, "properties": {"a": {}}}),
            validator: jsonschema::validator_for(&json!({"type": 7})).ok(),
        };
        assert!(broken.validator.is_none());
        assert!(broken.object("{}").is_ok());
    }
}
