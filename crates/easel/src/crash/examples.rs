//! Answers to questions that nobody gave an answer to: a value of the right kind for each field.

use easel_runtime::{Object, Value};
use serde_json::json;

/// A value for each field.
pub fn answers(fields: &Object) -> Object {
    let answer = |(key, field): (&std::sync::Arc<str>, &Value)| (key.clone(), example(key, field));
    fields.iter().map(answer).collect()
}

/// A value for a field, by how it is declared: its own value or its first option where it has one.
fn example(key: &str, field: &Value) -> Value {
    let given = field.get("value").filter(|value| value.is_truthy());
    if let Some(given) = given {
        return given.clone();
    }
    let options = field.get("options").and_then(Value::as_array);
    if let Some(first) = options.and_then(<[Value]>::first) {
        return match first.get("value") {
            Some(value) => value.clone(),
            None => first.clone(),
        };
    }
    let kind = field
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind.to_lowercase().as_str() {
        "integer" | "number" | "float" => Value::from(1),
        "boolean" => Value::from(true),
        "object" => Value::from(json!({"example": 1})),
        kind if kind.starts_with("array") || kind == "list" => Value::from(json!(["example"])),
        _ => Value::from(format!("an example of {key}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_of_the_kind_that_is_asked_for() {
        let of = |field: serde_json::Value| example("x", &Value::from(field)).to_json();
        assert_eq!(of(json!({"type": "integer"})), 1);
        assert_eq!(
            of(json!({"type": "options", "options": ["red", "blue"]})),
            "red"
        );
        assert_eq!(of(json!({"type": "boolean"})), true);
        assert_eq!(of(json!({"type": "line", "value": "kept"})), "kept");
        assert_eq!(of(json!({"type": "line"})), "an example of x");
    }
}
