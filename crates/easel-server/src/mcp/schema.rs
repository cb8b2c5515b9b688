//! Declared inputs and open fields as JSON Schema, and arguments against it.

use std::sync::Arc;

use easel_runtime::{Object, Value};
use rmcp::model::{ElicitationSchema, JsonObject};
use serde_json::{Map, json};

/// The argument of an agent that declares no inputs.
pub const QUERY: &str = "query";

/// What an agent takes: its declared inputs, else a query.
pub fn of_inputs(declared: &Object) -> JsonObject {
    if declared.is_empty() {
        let query = json!({"type": "string", "description": "What you want to say to the agent."});
        return object(
            Map::from_iter([(QUERY.to_owned(), query)]),
            vec![QUERY.to_owned()],
        );
    }
    of_fields(declared, Shape::Nested)
}

/// What the fields of a form take.
pub fn of_form(fields: &Object) -> JsonObject {
    of_fields(fields, Shape::Nested)
}

/// The form that a client shows to its user. Such forms hold plain values only: what is none is asked for as JSON text.
pub fn of_elicitation(fields: &Object) -> Option<ElicitationSchema> {
    ElicitationSchema::from_json_schema(of_fields(fields, Shape::Flat)).ok()
}

/// What a client's user filled in, as the fields want it: JSON text is read where a field takes no plain value, and what is
/// no field is left out.
pub fn from_elicitation(fields: &Object, content: &serde_json::Value) -> Object {
    let mut answers = Object::new();
    let Some(content) = content.as_object() else {
        return answers;
    };
    for (key, declaration) in fields {
        let Some(given) = content.get(&**key) else {
            continue;
        };
        let nested = matches!(
            Kind::of(declaration),
            Kind::Object | Kind::Array | Kind::Any
        );
        let read = given.as_str().filter(|_| nested);
        let read = read.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        let value = read.unwrap_or_else(|| given.clone());
        answers.insert(key.clone(), Value::from(value));
    }
    answers
}

/// The fields that take files.
pub fn files(fields: &Object) -> impl Iterator<Item = Arc<str>> {
    let files = fields
        .iter()
        .filter(|(_, declaration)| Kind::of(declaration) == Kind::File);
    files
        .map(|(key, _)| key.clone())
        .collect::<Vec<_>>()
        .into_iter()
}

/// Checks arguments against a schema that was made here.
///
/// # Errors
/// What is wrong with them, for the model that sent them.
pub fn check(schema: &JsonObject, arguments: &JsonObject) -> Result<(), String> {
    let schema = serde_json::Value::Object(schema.clone());
    let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
    let arguments = serde_json::Value::Object(arguments.clone());
    let faults = validator.iter_errors(&arguments).map(|fault| {
        let place = fault.instance_path().to_string();
        match place.trim_start_matches('/') {
            "" => fault.to_string(),
            place => format!("`{place}`: {fault}"),
        }
    });
    let faults: Vec<String> = faults.collect();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.join("; ")),
    }
}

/// What a schema may hold.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Anything.
    Nested,
    /// Plain values.
    Flat,
}

/// What a field takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
    File,
    Any,
}

impl Kind {
    fn of(declaration: &Value) -> Kind {
        let kind = declaration.get("type").and_then(Value::as_str);
        match kind.unwrap_or_default().to_lowercase().as_str() {
            "integer" | "int" => Kind::Integer,
            "number" | "float" => Kind::Number,
            "boolean" | "bool" => Kind::Boolean,
            "object" | "dict" => Kind::Object,
            "image" => Kind::File,
            "any" => Kind::Any,
            kind if kind.contains("file") => Kind::File,
            kind if kind.starts_with("array") || kind.starts_with("list") => Kind::Array,
            _ => Kind::Text,
        }
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Kind::Text | Kind::File => Some("string"),
            Kind::Integer => Some("integer"),
            Kind::Number => Some("number"),
            Kind::Boolean => Some("boolean"),
            Kind::Object => Some("object"),
            Kind::Array => Some("array"),
            Kind::Any => None,
        }
    }
}

fn of_fields(fields: &Object, shape: Shape) -> JsonObject {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (key, declaration) in fields {
        properties.insert(key.to_string(), of_field(key, declaration, shape));
        if !declaration.get("optional").is_some_and(Value::is_truthy) {
            required.push(key.to_string());
        }
    }
    object(properties, required)
}

fn object(properties: Map<String, serde_json::Value>, required: Vec<String>) -> JsonObject {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

fn of_field(key: &str, declaration: &Value, shape: Shape) -> serde_json::Value {
    let kind = Kind::of(declaration);
    let text = |name: &str| {
        let text = declaration.get(name).and_then(Value::as_str);
        text.map(str::trim).filter(|text| !text.is_empty())
    };
    let mut schema = Map::new();
    let plain = match (kind, shape) {
        (Kind::Object | Kind::Array | Kind::Any, Shape::Flat) => Some("string"),
        _ => kind.name(),
    };
    if let Some(plain) = plain {
        schema.insert("type".to_owned(), json!(plain));
    }
    if let Some(title) = text("name").filter(|name| *name != key) {
        schema.insert("title".to_owned(), json!(title));
    }
    let hint = match (kind, shape) {
        (Kind::File, _) => Some("The id of a file that was uploaded to this server."),
        (Kind::Object | Kind::Array | Kind::Any, Shape::Flat) => Some("As JSON."),
        _ => None,
    };
    let described: Vec<&str> = text("description").into_iter().chain(hint).collect();
    if !described.is_empty() {
        schema.insert("description".to_owned(), json!(described.join(" ")));
    }
    let options = options(declaration, kind);
    let default = declaration.get("value").map(Value::to_json);
    let default = default.filter(|value| match &options {
        Some(options) => options.contains(value),
        None => suits(value, kind) && shape == Shape::Flat,
    });
    if let Some(options) = options {
        schema.insert("enum".to_owned(), options.into());
    }
    if let Some(default) = default {
        schema.insert("default".to_owned(), default);
    }
    schema.into()
}

/// The values that a field allows, if they are of its kind.
fn options(declaration: &Value, kind: Kind) -> Option<Vec<serde_json::Value>> {
    let options = declaration.get("options").and_then(Value::as_array)?;
    let options: Vec<serde_json::Value> = options.iter().map(Value::to_json).collect();
    let fit = !options.is_empty() && options.iter().all(|option| suits(option, kind));
    fit.then_some(options)
}

fn suits(value: &serde_json::Value, kind: Kind) -> bool {
    match kind {
        Kind::Text => value.is_string(),
        Kind::Integer => value.is_i64() || value.is_u64(),
        Kind::Number => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        Kind::Object | Kind::Array | Kind::File | Kind::Any => false,
    }
}

/// Arguments as the inputs of a run.
pub fn inputs(arguments: JsonObject) -> Object {
    let pairs = arguments.into_iter();
    pairs
        .map(|(key, value)| (Arc::from(key), Value::from(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(json: serde_json::Value) -> Object {
        Value::from(json).as_object().cloned().unwrap()
    }

    #[test]
    fn an_agent_without_inputs_takes_a_query() {
        let schema = of_inputs(&Object::new());
        assert_eq!(schema["required"], json!(["query"]));
        assert_eq!(schema["properties"]["query"]["type"], json!("string"));
    }

    #[test]
    fn inputs_become_properties_of_their_kind() {
        let schema = of_inputs(&fields(json!({
            "city": {"name": "City", "type": "line", "optional": false},
            "days": {"name": "days", "type": "integer", "optional": true},
            "unit": {"name": "Unit", "type": "options", "options": ["C", "F"], "optional": true},
            "rows": {"name": "Rows", "type": "array", "optional": true},
            "doc": {"name": "Doc", "type": "file", "optional": true},
        })));
        assert_eq!(
            serde_json::Value::Object(schema),
            json!({
                "type": "object",
                "properties": {
                    "city": {"type": "string", "title": "City"},
                    "days": {"type": "integer"},
                    "unit": {"type": "string", "title": "Unit", "enum": ["C", "F"]},
                    "rows": {"type": "array", "title": "Rows"},
                    "doc": {
                        "type": "string",
                        "title": "Doc",
                        "description": "The id of a file that was uploaded to this server."
                    },
                },
                "required": ["city"],
            })
        );
    }

    #[test]
    fn a_form_for_people_holds_plain_values_and_their_defaults() {
        let fields = fields(json!({
            "why": {"name": "Why", "type": "paragraph", "value": "because"},
            "unit": {"name": "Unit", "type": "options", "options": ["C", "F"], "value": "F"},
            "extra": {"name": "Extra", "type": "object", "optional": true},
        }));
        let schema = serde_json::to_value(of_elicitation(&fields).unwrap()).unwrap();
        assert_eq!(schema["properties"]["why"]["default"], json!("because"));
        assert_eq!(schema["properties"]["unit"]["enum"], json!(["C", "F"]));
        assert_eq!(schema["properties"]["extra"]["type"], json!("string"));
        assert_eq!(schema["required"], json!(["why", "unit"]));
        let keys: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["why", "unit", "extra"]);
    }

    #[test]
    fn what_a_user_filled_in_is_read_as_its_field_wants_it() {
        let fields = fields(json!({
            "extra": {"type": "object"}, "name": {"type": "line"}, "n": {"type": "integer"},
        }));
        let content = json!({"extra": "{\"a\": 1}", "name": "[1]", "n": 3, "other": true});
        let answers = Value::from(from_elicitation(&fields, &content)).to_json();
        assert_eq!(answers, json!({"extra": {"a": 1}, "name": "[1]", "n": 3}));
    }

    #[test]
    fn a_model_is_told_which_argument_is_wrong() {
        let schema = of_inputs(&fields(json!({"days": {"type": "integer"}})));
        let given = |json: serde_json::Value| json.as_object().cloned().unwrap();
        assert!(check(&schema, &given(json!({"days": 2}))).is_ok());
        let wrong = check(&schema, &given(json!({"days": "two"}))).unwrap_err();
        assert!(wrong.contains("days"), "{wrong}");
        let missing = check(&schema, &given(json!({}))).unwrap_err();
        assert!(missing.contains("days"), "{missing}");
    }
}
