//! JSON Schema (draft 2020-12) of components and canvases, for editors that complete and check as one types.

use serde_json::{Map, Value, json};

use crate::catalog::Catalog;
use crate::component::{Availability, Component};
use crate::param::{Param, Required, Split, Type};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of one component's parameters. Names it does not know are allowed, as they are in files.
pub fn of_component(component: &Component) -> Value {
    let mut schema = params_schema(component);
    insert(&mut schema, "$schema", json!(DRAFT));
    schema
}

/// The schema of a canvas's `components`: an object of nodes by id, each with the parameters of its component.
pub fn of_canvas(catalog: &Catalog) -> Value {
    let definitions: Map<String, Value> = catalog
        .iter()
        .map(|component| (component.name.to_string(), params_schema(component)))
        .collect();
    let choices: Vec<Value> = catalog
        .iter()
        .map(|component| {
            let names: Vec<&str> = component.names().map(|name| &**name).collect();
            json!({
                "if": {"properties": {"component_name": {"enum": names}}, "required": ["component_name"]},
                "then": {"properties": {"params": {"$ref": format!("#/$defs/{}", component.name)}}},
            })
        })
        .collect();
    let ids = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "$schema": DRAFT,
        "title": "The components of a canvas, by id",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "obj": {
                    "type": "object",
                    "properties": {
                        "component_name": {"type": "string"},
                        "params": {"type": "object"},
                    },
                    "required": ["component_name"],
                    "allOf": choices,
                },
                "downstream": ids,
                "upstream": ids,
                "parent_id": {"type": "string"},
            },
            "required": ["obj"],
        },
        "$defs": definitions,
    })
}

fn params_schema(component: &Component) -> Value {
    let mut schema = members(component.all_params());
    insert(&mut schema, "title", json!(component.title));
    insert(&mut schema, "description", json!(summary(component)));
    schema
}

fn summary(component: &Component) -> String {
    match &component.availability {
        Availability::Available => component.summary.clone(),
        Availability::Later { why } => format!("{} {why}", component.summary),
    }
}

fn members<'a>(params: impl Iterator<Item = &'a Param>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for param in params {
        let mut schema = of_type(&param.kind);
        insert(&mut schema, "description", json!(param.doc));
        if !param.default.is_null() {
            insert(&mut schema, "default", param.default.to_json());
        }
        properties.insert(param.name.to_string(), schema.clone());
        for alias in &param.aliases {
            let mut old = schema.clone();
            insert(&mut old, "deprecated", json!(true));
            properties.insert(alias.to_string(), old);
        }
        // A member that has a default or an older name may be absent under its own.
        if param.required == Required::Always && param.default.is_null() && param.aliases.is_empty()
        {
            required.push(json!(param.name));
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        insert(&mut schema, "required", Value::Array(required));
    }
    schema
}

/// Adds a keyword to a schema that is an object.
fn insert(schema: &mut Value, key: &str, value: Value) {
    if let Some(members) = schema.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

/// The schema of what a file may have for a type: what [`Type::coerce`] takes, but for words of a choice, which have to
/// be spelled as the table has them.
pub fn of_type(kind: &Type) -> Value {
    const BLANK: &str = r"^\s*$";
    match kind {
        Type::Text | Type::Template { .. } | Type::Credential | Type::Model | Type::NodeId => {
            json!({"type": ["string", "number", "null"]})
        }
        Type::Reference | Type::Target => json!({"type": ["string", "null"]}),
        Type::Binding(of) | Type::Json(of) => json!({"anyOf": [of_type(of), {"type": "string"}]}),
        Type::Rendered | Type::Any => json!({}),
        Type::Boolean => {
            let words = ["", "true", "false", "1", "0", "yes", "no", "on", "off"];
            json!({"anyOf": [{"type": ["boolean", "null"]}, {"enum": [0, 1]}, {"enum": words}]})
        }
        Type::Integer { min, max } => {
            let pattern = r"^\s*([-+]?\d+(\.0*)?)?\s*$";
            let mut schema = json!({"type": ["integer", "string", "null"], "pattern": pattern});
            bounds(&mut schema, min.map(Value::from), max.map(Value::from));
            schema
        }
        Type::Number { min, max } => {
            let pattern = r"^\s*([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)?\s*$";
            let mut schema = json!({"type": ["number", "string", "null"], "pattern": pattern});
            bounds(&mut schema, min.map(Value::from), max.map(Value::from));
            schema
        }
        Type::Choice(choice) => {
            let spellings = choice.also.iter().map(|(spelling, _)| spelling);
            let words = choice
                .options
                .iter()
                .chain(spellings)
                .filter(|word| !word.is_empty());
            let mut words: Vec<Value> = words.map(|word| json!(word)).collect();
            words.extend([json!(""), Value::Null]);
            json!({"enum": words})
        }
        Type::List { of, split } => {
            let mut schema = json!({"type": ["array", "string", "null"], "items": of_type(of)});
            if *split == Split::Never {
                insert(&mut schema, "pattern", json!(BLANK));
            }
            schema
        }
        Type::NodeIds => {
            json!({"type": ["array", "string", "null"], "items": of_type(&Type::NodeId)})
        }
        Type::Map(of) => json!({
            "type": ["object", "array", "string", "null"],
            "additionalProperties": of_type(of),
            "maxItems": 0,
            "pattern": BLANK,
        }),
        Type::Object(shape) => {
            let mut schema = members(shape.fields.iter());
            insert(
                &mut schema,
                "type",
                json!(["object", "array", "string", "null"]),
            );
            insert(&mut schema, "maxItems", json!(0));
            if shape.shorthand.is_none() {
                insert(&mut schema, "pattern", json!(BLANK));
            }
            schema
        }
        Type::Params => json!({"type": ["object", "null"]}),
    }
}

/// The schema of a literal of a type, without references and other spellings: what a model is asked for.
pub fn of_literal(kind: &Type) -> Value {
    match kind {
        Type::Text
        | Type::Template { .. }
        | Type::Reference
        | Type::Target
        | Type::Credential
        | Type::Model
        | Type::NodeId => json!({"type": "string"}),
        Type::Binding(of) | Type::Json(of) => of_literal(of),
        Type::Rendered | Type::Any => json!({}),
        Type::Boolean => json!({"type": "boolean"}),
        Type::Integer { min, max } => {
            let mut schema = json!({"type": "integer"});
            bounds(&mut schema, min.map(Value::from), max.map(Value::from));
            schema
        }
        Type::Number { min, max } => {
            let mut schema = json!({"type": "number"});
            bounds(&mut schema, min.map(Value::from), max.map(Value::from));
            schema
        }
        Type::Choice(choice) => json!({"type": "string", "enum": choice.options}),
        Type::List { of, .. } => json!({"type": "array", "items": of_literal(of)}),
        Type::NodeIds => json!({"type": "array", "items": {"type": "string"}}),
        Type::Map(of) => json!({"type": "object", "additionalProperties": of_literal(of)}),
        Type::Object(shape) => {
            let properties: Map<String, Value> = shape
                .fields
                .iter()
                .map(|field| (field.name.to_string(), of_literal(&field.kind)))
                .collect();
            json!({"type": "object", "properties": properties})
        }
        Type::Params => json!({"type": "object"}),
    }
}

fn bounds(schema: &mut Value, min: Option<Value>, max: Option<Value>) {
    if let Some(min) = min {
        insert(schema, "minimum", min);
    }
    if let Some(max) = max {
        insert(schema, "maximum", max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canvas_schema_finds_the_parameters_by_the_component_name() {
        let schema = of_canvas(Catalog::builtin());
        let choices = schema["additionalProperties"]["properties"]["obj"]["allOf"]
            .as_array()
            .unwrap();
        assert_eq!(choices.len(), Catalog::builtin().iter().len());
        for choice in choices {
            let target = choice["then"]["properties"]["params"]["$ref"]
                .as_str()
                .unwrap();
            let name = target.strip_prefix("#/$defs/").unwrap();
            assert!(schema["$defs"][name].is_object());
        }
    }

    #[test]
    fn parameters_carry_what_they_do_their_default_and_their_old_names() {
        let schema = of_component(Catalog::builtin().get("Message").unwrap());
        assert_eq!(schema["properties"]["stream"]["default"], json!(true));
        assert_eq!(schema["properties"]["messages"]["deprecated"], json!(true));
        assert!(schema["properties"]["content"]["description"].is_string());
        assert_eq!(
            schema.get("required"),
            None,
            "`messages` may stand for `content`"
        );
        let switch = of_component(Catalog::builtin().get("Switch").unwrap());
        assert_eq!(switch["required"], json!(["conditions", "end_cpn_ids"]));
    }

    #[test]
    fn bounds_and_words_are_in_the_schema() {
        let llm = of_component(Catalog::builtin().get("LLM").unwrap());
        assert_eq!(llm["properties"]["temperature"]["maximum"], json!(2.0));
        assert_eq!(llm["properties"]["thinking"]["enum"][1], json!("enabled"));
    }
}
