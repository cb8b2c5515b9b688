//! Whether a JSON Schema can be the shape of an answer (spec/graph-engine §9): an object with properties, of types that
//! there are.

use std::sync::Arc;

use easel_core::{Object, Value};

/// Objects inside one another that are looked into.
const DEEPEST: usize = 32;

const TYPES: &[&str] = &[
    "string", "integer", "number", "boolean", "array", "object", "null",
];

/// What is wrong with a schema.
pub(super) struct Fault {
    /// The members that lead to it.
    pub path: Vec<Arc<str>>,
    /// What is the case, as a phrase.
    pub cause: String,
    /// What to do, as one sentence.
    pub fix: String,
}

impl Fault {
    fn new(path: &[Arc<str>], cause: String, fix: &str) -> Option<Fault> {
        let (path, fix) = (path.to_vec(), fix.to_owned());
        Some(Fault { path, cause, fix })
    }
}

/// The first thing that is wrong with a schema.
pub(super) fn fault(schema: &Object) -> Option<Fault> {
    let kind = schema.get("type").and_then(Value::as_str);
    if schema.contains_key("type") && kind != Some("object") {
        let fix = "Write type: object, and the value that is meant as one of its properties.";
        return Fault::new(&["type".into()], "it is no object".to_owned(), fix);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    // A schema may be made of others.
    let composed = ["$ref", "allOf", "anyOf", "oneOf"];
    if properties.is_none_or(Object::is_empty)
        && !composed.iter().any(|key| schema.contains_key(*key))
    {
        let fix =
            "Write a JSON Schema such as {type: object, properties: {score: {type: integer}}}.";
        return Fault::new(&[], "it has no properties".to_owned(), fix);
    }
    object(schema, &mut Vec::new(), DEEPEST)
}

fn object(schema: &Object, path: &mut Vec<Arc<str>>, depth: usize) -> Option<Fault> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let known = |name: &str| properties.is_none_or(|all| all.contains_key(name));
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !known(name) {
            let cause = format!("`required` lists `{name}`, which is none of its properties");
            path.push("required".into());
            return Fault::new(
                path,
                cause,
                "Add it to the properties, or take it out of `required`.",
            );
        }
    }
    for (name, property) in properties.into_iter().flat_map(Object::iter) {
        path.extend(["properties".into(), name.clone()]);
        if let Some(fault) = value(property, path, depth) {
            return Some(fault);
        }
        path.truncate(path.len() - 2);
    }
    None
}

fn value(schema: &Value, path: &mut Vec<Arc<str>>, depth: usize) -> Option<Fault> {
    let members = match schema {
        Value::Object(members) => members,
        Value::Bool(_) => return None,
        _ => {
            let name = path.last().cloned().unwrap_or_default();
            let cause = format!("`{name}` is no schema");
            return Fault::new(path, cause, "Write what it is, such as {type: string}.");
        }
    };
    let words: Vec<&str> = match members.get("type") {
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if let Some(word) = words.into_iter().find(|word| !TYPES.contains(word)) {
        let fix = match easel_catalog::nearest(word, TYPES.iter().copied()) {
            Some(like) => format!("Did you mean `{like}`?"),
            None => format!("Write one of {}.", crate::rules::listed(TYPES)),
        };
        let cause = format!("there is no type `{word}`");
        path.push("type".into());
        return Fault::new(path, cause, &fix);
    }
    if depth == 0 {
        return None;
    }
    if let Some(items) = members.get("items") {
        path.push("items".into());
        if let Some(fault) = value(items, path, depth - 1) {
            return Some(fault);
        }
        path.pop();
    }
    object(members, path, depth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(schema: serde_json::Value) -> Option<String> {
        let schema: Value = serde_json::from_value(schema).unwrap();
        fault(schema.as_object().unwrap())
            .map(|fault| format!("{}: {}", fault.path.join("."), fault.cause))
    }

    #[test]
    fn a_shape_is_an_object_with_properties_of_known_types() {
        use serde_json::json;
        let text = json!({"type": "string"});
        assert_eq!(cause(json!({"properties": {"a": text}})), None);
        assert_eq!(
            cause(
                json!({"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": {}}})
            ),
            None
        );
        assert_eq!(cause(json!({"$ref": "#/$defs/A"})), None);
        for (schema, wanted) in [
            (json!({"type": "array"}), "type: it is no object"),
            (json!({"type": "object"}), ": it has no properties"),
            (
                json!({"properties": {"a": text}, "required": ["b"]}),
                "required: `required` lists `b`, which is none of its properties",
            ),
            (
                json!({"properties": {"a": {"type": "strin"}}}),
                "properties.a.type: there is no type `strin`",
            ),
            (
                json!({"properties": {"a": {"type": "array", "items": {"type": "x"}}}}),
                "properties.a.items.type: there is no type `x`",
            ),
            (
                json!({"properties": {"a": {"properties": {"b": 5}}}}),
                "properties.a.properties.b: `b` is no schema",
            ),
        ] {
            assert_eq!(cause(schema).as_deref(), Some(wanted));
        }
    }
}
