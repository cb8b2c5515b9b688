//! The arguments a model passes to a tool: read as they were probably meant, then checked.

use std::sync::Arc;

use easel_core::{Object, Value};
use easel_tools::contract::ArgumentCheck;

use crate::chat::lenient;

/// Bytes of arguments that are taken from one call.
pub(super) const MOST: usize = 256 << 10;

/// Reads and checks the arguments of one call; `schema` is the tool's, and `check` made of it. Errors: what the model is
/// told.
pub(super) fn read(
    tool: &str,
    written: &str,
    schema: &Value,
    check: Option<&ArgumentCheck>,
) -> Result<Object, String> {
    if written.len() > MOST {
        return Err(format!(
            "The arguments of {tool} have {} bytes, and {MOST} are the most. Call it again with less.",
            written.len()
        ));
    }
    let value = match written.trim() {
        "" => Value::empty_object(),
        text => serde_json::from_str(text)
            .ok()
            .or_else(|| lenient::json(text))
            .ok_or_else(|| {
                format!("The arguments of {tool} are not JSON. Call it again with a JSON object.")
            })?,
    };
    let Value::Object(members) = value else {
        return Err(format!(
            "The arguments of {tool} must be a JSON object, not {}. Call it again with one.",
            value.type_name()
        ));
    };
    let arguments = known(Arc::unwrap_or_clone(members), schema);
    let Some(check) = check else {
        return Ok(arguments);
    };
    check.check(arguments).map_err(|complaints| {
        format!("The arguments of {tool} do not fit. Correct them and call it again.\n{complaints}")
    })
}

/// The arguments that the tool has. `null` is as good as absent, and one text may stand for a list.
fn known(arguments: Object, schema: &Value) -> Object {
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(properties) = properties else {
        return arguments;
    };
    let takes_others = schema
        .get("additionalProperties")
        .is_some_and(Value::is_truthy);
    let known = arguments.into_iter().filter_map(|(name, value)| {
        let Some(property) = properties.get(&name) else {
            return takes_others.then_some((name, value));
        };
        let kind = property.get("type").and_then(Value::as_str);
        let value = match (kind, &value) {
            (_, Value::Null) => return None,
            (Some("array"), Value::String(text)) => list(text),
            _ => value,
        };
        Some((name, value))
    });
    known.collect()
}

/// A list that came as text: JSON, or items with commas between.
fn list(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.as_array().is_some() => value,
        _ => {
            let items = text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            items.map(Value::from).collect::<Vec<_>>().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(written: &str) -> Result<serde_json::Value, String> {
        let schema = Value::from(json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"}, "n": {"type": "integer"},
                "urls": {"type": "array", "items": {"type": "string"}}, "kind": {"enum": ["a", "b"]}},
            "required": ["query"]}));
        let check = ArgumentCheck::new("find", &schema).unwrap();
        let read = read("find", written, &schema, Some(&check));
        read.map(|arguments| Value::from(arguments).to_json())
    }

    #[test]
    fn arguments_are_read_as_they_were_meant() {
        assert_eq!(
            checked(
                r#"{"query": "q", "n": "5", "urls": "http://a, http://b", "kind": null, "x": 1}"#
            ),
            Ok(json!({"query": "q", "n": 5, "urls": ["http://a", "http://b"]}))
        );
        assert_eq!(checked("{query: 'cats',}"), Ok(json!({"query": "cats"})));
    }

    #[test]
    fn what_cannot_be_meant_is_told_to_the_model() {
        assert_eq!(
            checked("[1]"),
            Err(
                "The arguments of find must be a JSON object, not array. Call it again with one."
                    .into()
            )
        );
        assert!(checked("never").unwrap_err().contains("not JSON"));
        let missing = checked("").unwrap_err();
        assert!(missing.contains("\"query\""), "{missing}");
        let unfit = checked(r#"{"query": "q", "kind": "c"}"#).unwrap_err();
        assert!(unfit.contains("kind"), "{unfit}");
    }
}
