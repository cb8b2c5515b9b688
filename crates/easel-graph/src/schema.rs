//! JSON Schema (draft 2020-12) of `graph.yaml`, for editors that complete and check as one types.

use serde_json::{Map, Value, json};

use crate::field::{self, Field, Holds};
use crate::kind::Kind;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a graph. Keys that nothing reads are allowed, as they are in files; a key that only some kinds read is
/// described with them.
pub fn schema() -> Value {
    let mut graph = mapping(field::GRAPH);
    insert(&mut graph, "$schema", json!(DRAFT));
    insert(&mut graph, "title", json!("A graph"));
    insert(
        &mut graph,
        "$defs",
        json!({
            "node": node(),
            "policy": mapping(field::POLICY),
            "case": mapping(field::CASE),
            "input": declared_input(),
            "input_of_list": input_of_list(),
        }),
    );
    graph
}

/// A node: every key, and for each kind the keys it needs and those it must not have.
fn node() -> Value {
    let mut node = mapping(field::NODE);
    insert(&mut node, "title", json!("A node"));
    let of_kind = |kind: Kind| {
        let needs: Vec<&str> = field::NODE
            .iter()
            .filter(|field| field.is_required_by(kind) && !field.is_required_by(Kind::Base))
            .map(|field| field.name)
            .collect();
        let mut then = json!({"description": kind.summary()});
        if !needs.is_empty() {
            insert(&mut then, "required", json!(needs));
        }
        if kind == Kind::Router {
            let one = json!([{"required": ["routes"]}, {"required": ["cases"]}]);
            insert(&mut then, "oneOf", one);
        } else if !kind.has_body() {
            let refused = ["routes", "cases", "default"];
            let refused = refused.map(|key| (key.to_owned(), json!(false)));
            insert(
                &mut then,
                "properties",
                Value::Object(refused.into_iter().collect()),
            );
        }
        let is_kind = json!({"properties": {"kind": {"const": kind.name()}}});
        let mut when = is_kind;
        if kind != Kind::Base {
            insert(&mut when, "required", json!(["kind"]));
        }
        json!({"if": when, "then": then})
    };
    insert(
        &mut node,
        "allOf",
        Value::Array(Kind::ALL.map(of_kind).to_vec()),
    );
    node
}

/// A declared input that has its name as its key: a type, or a mapping of the rest.
fn declared_input() -> Value {
    let mut rest = mapping(field::INPUT);
    if let Some(members) = rest.as_object_mut() {
        members.remove("required");
    }
    json!({"anyOf": [{"type": ["string", "null"]}, rest]})
}

/// A declared input in a list: with its name in it, or as the only key.
fn input_of_list() -> Value {
    json!({"anyOf": [
        mapping(field::INPUT),
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "not": {"required": ["name"]},
            "additionalProperties": {"$ref": "#/$defs/input"},
        },
    ]})
}

fn mapping(fields: &[Field]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        let mut schema = of(field.holds);
        insert(&mut schema, "description", json!(description(field)));
        let default = field
            .default
            .and_then(|json| serde_json::from_str(json).ok());
        if let Some(default) = default {
            insert(&mut schema, "default", default);
        }
        for name in [Some(field.name), field.alias].into_iter().flatten() {
            properties.insert(name.to_owned(), schema.clone());
        }
        if Kind::ALL.iter().all(|&kind| field.is_required_by(kind)) {
            required.push(json!(field.name));
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        insert(&mut schema, "required", Value::Array(required));
    }
    schema
}

fn description(field: &Field) -> String {
    match field.read_by {
        [] => field.doc.to_owned(),
        kinds if kinds.len() == Kind::ALL.len() => field.doc.to_owned(),
        kinds => {
            let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            format!("{} Read by: {}.", field.doc, names.join(", "))
        }
    }
}

/// The schema of what a file may have. What is meant by a word or a number in text is accepted where the reader does.
fn of(holds: Holds) -> Value {
    let texts = json!({"type": ["array", "null"], "items": {"type": "string"}});
    let data = json!({"type": ["object", "null"]});
    match holds {
        Holds::Text | Holds::Template | Holds::Expression | Holds::Id => {
            json!({"type": ["string", "null"]})
        }
        Holds::Ids | Holds::Names => texts,
        Holds::Flag => json!({"anyOf": [
            {"type": ["boolean", "null"]},
            {"enum": [0, 1]},
            {"type": "string", "pattern": r"^\s*([Tt]rue|[Ff]alse|[Yy]es|[Nn]o|[Oo]n|[Oo]ff|[01tfyn])\s*$"},
        ]}),
        Holds::Count(min) => json!({
            "type": ["integer", "string", "null"],
            "minimum": min,
            "pattern": r"^\s*\+?\d+\s*$",
        }),
        Holds::Number(min) => json!({
            "type": ["number", "string", "null"],
            "minimum": min,
            "pattern": r"^\s*\+?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$",
        }),
        Holds::Choice(words) => {
            let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
            words.push(Value::Null);
            json!({"enum": words})
        }
        Holds::Arguments => data,
        Holds::Settings => {
            json!({"type": ["object", "null"], "additionalProperties": data})
        }
        Holds::Schema => json!({"type": ["string", "object", "null"]}),
        Holds::Routes => {
            json!({"type": ["object", "null"], "additionalProperties": {"type": "string"}})
        }
        Holds::Cases => list_of("case"),
        Holds::Policy => json!({"anyOf": [{"$ref": "#/$defs/policy"}, {"type": "null"}]}),
        Holds::Nodes => list_of("node"),
        Holds::Inputs => json!({"anyOf": [
            {"type": "null"},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/input"}},
            {"type": "array", "items": {"$ref": "#/$defs/input_of_list"}},
        ]}),
        Holds::NameOrTrue => json!({"type": ["string", "boolean", "null"]}),
        Holds::Values => json!({"type": ["array", "null"]}),
        Holds::Texts => {
            json!({"type": ["array", "string", "null"], "items": {"type": "string"}})
        }
    }
}

fn list_of(definition: &str) -> Value {
    json!({"type": ["array", "null"], "items": {"$ref": format!("#/$defs/{definition}")}})
}

/// Adds a keyword to a schema that is an object.
fn insert(schema: &mut Value, key: &str, value: Value) {
    if let Some(members) = schema.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use jsonschema::Validator;

    use super::*;
    use crate::document::Document;
    use crate::source::Format;

    fn validator() -> Validator {
        jsonschema::draft202012::new(&schema()).unwrap()
    }

    fn graph(nodes: Value) -> Value {
        json!({"name": "g", "outputs": ["a"], "nodes": nodes})
    }

    #[test]
    fn the_schema_is_one_of_its_draft() {
        assert!(jsonschema::meta::is_valid(&schema()));
    }

    #[test]
    fn what_the_schema_refuses_the_reader_refuses_too_and_the_other_way_round() {
        let validator = validator();
        let rows = [
            (graph(json!([{"id": "a"}])), true),
            (
                graph(
                    json!([{"id": "a", "kind": "loop", "max_iterations": "3", "body": [{"id": "b"}]}]),
                ),
                true,
            ),
            (
                graph(json!([{"id": "a", "kind": "loop", "body": [{"id": "b"}]}])),
                false,
            ),
            (
                graph(json!([{"id": "a", "kind": "map", "body": [{"id": "b"}]}])),
                false,
            ),
            (graph(json!([{"id": "a", "kind": "magic"}])), false),
            (graph(json!([{"kind": "base"}])), false),
            (graph(json!([{"id": "a", "tools": "http"}])), false),
            (
                graph(json!([{"id": "a", "instructions": {"topic": null}}])),
                false,
            ),
            (
                graph(json!([{"id": "a", "policy": {"retries": "many"}}])),
                false,
            ),
            (
                graph(json!([{"id": "a", "policy": {"retries": 2, "strict_json": true}}])),
                true,
            ),
            (graph(json!([{"id": "a", "default": "a"}])), false),
            (
                graph(
                    json!([{"id": "a", "kind": "router", "cases": [{"to": "b"}]}, {"id": "b", "depends_on": ["a"]}]),
                ),
                true,
            ),
            (graph(json!([{"id": "a", "kind": "router"}])), false),
            (graph(json!([{"id": "a", "kind": "function"}])), false),
            (
                graph(json!([{"id": "a", "disabled": "yes", "accumulate": null, "unknown": 4}])),
                true,
            ),
            (
                json!({"name": "g", "nodes": [{"id": "a"}], "inputs": {"x": "str", "y": {"required": false}, "z": null}}),
                true,
            ),
            (
                json!({"name": "g", "nodes": [{"id": "a"}], "inputs": [{"x": "str"}, {"name": "y", "enum": [1]}]}),
                true,
            ),
            (
                json!({"name": "g", "nodes": [{"id": "a"}], "inputs": ["x"]}),
                false,
            ),
            (json!({"nodes": [{"id": "a"}]}), false),
        ];
        for (graph, right) in rows {
            let document = Document::read(graph.to_string().as_bytes(), Format::Json).unwrap();
            assert_eq!(
                document.errors().count() == 0,
                right,
                "{graph}: {:?}",
                document.findings()
            );
            assert_eq!(validator.is_valid(&graph), right, "{graph}");
        }
    }

    #[test]
    fn every_key_is_described() {
        let schema = schema();
        let node = &schema["$defs"]["node"]["properties"];
        for field in field::NODE {
            assert_eq!(node[field.name]["description"], description(field));
        }
        assert_eq!(node["as"], node["item_var"]);
    }
}
