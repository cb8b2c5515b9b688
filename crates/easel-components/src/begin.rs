//! Begin: what a run was started with becomes its ports (spec/canvas-components §2.1).

use std::sync::Arc;

use easel_core::event::{Fault, Ports};
use easel_core::{Object, Value};

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::fields::{Filled, fill};
use crate::site::Site;
use crate::turn::Turn;

struct Begin {
    fields: Object,
}

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let fields = Site::of_node(node).get("inputs").and_then(Value::as_object);
    let fields = fields.cloned().unwrap_or_default();
    Ok(Arc::new(Begin { fields }))
}

impl Begin {
    /// What the fields are filled with: the turn's inputs; else the members of a query that is an object; else the query,
    /// if there is exactly one field; else what an earlier turn brought (spec/canvas-engine §6.4).
    fn given(&self, turn: &Turn) -> Object {
        if !turn.inputs.is_empty() {
            return turn.inputs.clone();
        }
        if let Value::Object(members) = &turn.query {
            let declared = members
                .iter()
                .filter(|(key, _)| self.fields.contains_key(*key));
            let declared: Object = declared
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if !declared.is_empty() {
                return declared;
            }
        }
        let mut names = self.fields.keys();
        match (names.next(), names.next()) {
            (Some(only), None) if turn.query.is_truthy() => {
                Object::from_iter([(only.clone(), turn.query.clone())])
            }
            _ => turn.kept_inputs.clone(),
        }
    }

    fn filled(&self, turn: &Turn) -> Vec<(Arc<str>, Filled)> {
        let given = self.given(turn).into_iter();
        given
            .map(|(key, value)| {
                let declaration = self.fields.get(&key).and_then(Value::as_object);
                let filled = Filled::of(&value, declaration);
                (key, filled)
            })
            .collect()
    }
}

impl Behaviour for Begin {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let mut filled = self.filled(&call.run.turn);
        if let Some(request) = &call.run.turn.webhook {
            filled.extend(request.iter().map(|(name, part)| {
                // The request as it came.
                let port = match &**name {
                    "input" => "request".into(),
                    _ => name.clone(),
                };
                (port, Filled::Value(part.clone()))
            }));
        }
        fill(call, Ports::new(), filled)
    }
}

#[cfg(test)]
mod tests {
    use easel_tools::{Script, ScriptedWorld};
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::testing::{Trial, Tried, object};

    fn begin(fields: Json, turn: Turn) -> Tried {
        Trial::new("Begin", json!({"inputs": fields}))
            .turn(turn)
            .run()
    }

    fn inputs(inputs: Json) -> Turn {
        Turn {
            inputs: object(inputs),
            ..Turn::default()
        }
    }

    fn query(query: Json) -> Turn {
        Turn {
            query: Value::from(query),
            ..Turn::default()
        }
    }

    #[test]
    fn inputs_become_ports_undeclared_ones_too() {
        let fields = json!({"x": {"type": "line"}, "o": {"type": "object"}});
        let turn = inputs(json!({"x": {"value": "1"}, "o": "{\"k\": 2}", "z": 3}));
        let tried = begin(fields, turn);
        assert_eq!(tried.ports(), json!({"x": "1", "o": {"k": 2}, "z": 3}));
        assert!(tried.at_once);
    }

    #[test]
    fn a_query_that_is_an_object_fills_the_fields_it_names() {
        let fields = json!({"x": {"type": "line"}, "y": {"type": "line"}});
        let tried = begin(fields, query(json!({"x": "1", "other": 2})));
        assert_eq!(tried.ports(), json!({"x": "1"}));
    }

    #[test]
    fn a_single_field_takes_the_query() {
        let one = json!({"x": {"type": "line"}});
        assert_eq!(
            begin(one.clone(), query(json!("hello"))).ports(),
            json!({"x": "hello"})
        );
        assert_eq!(begin(one, query(json!(""))).ports(), json!({}));
        let two = json!({"x": {"type": "line"}, "y": {"type": "line"}});
        assert_eq!(begin(two, query(json!("hello"))).ports(), json!({}));
    }

    #[test]
    fn a_turn_without_inputs_keeps_those_of_an_earlier_one() {
        let turn = Turn {
            query: Value::from("again"),
            kept_inputs: object(json!({"x": {"value": "1"}, "y": "2"})),
            ..Turn::default()
        };
        let fields = json!({"x": {"type": "line"}, "y": {"type": "line"}});
        assert_eq!(begin(fields, turn).ports(), json!({"x": "1", "y": "2"}));
    }

    #[test]
    fn a_value_that_stands_in_the_file_is_no_input() {
        let fields = json!({"x": {"type": "line", "value": "of the last run"}});
        assert_eq!(begin(fields, Turn::default()).ports(), json!({}));
    }

    #[test]
    fn files_are_read_to_a_list() {
        let script: Script = serde_json::from_value(json!({"files": {"f1": "body"}})).unwrap();
        let fields = json!({"f": {"type": "file"}, "x": {"type": "line"}});
        let file = json!({"id": "f1", "name": "a.txt", "created_by": "u"});
        let turn = inputs(json!({"f": {"type": "file", "value": file}, "x": "1"}));
        let trial = Trial::new("Begin", json!({"inputs": fields})).turn(turn);
        let tried = trial.world(ScriptedWorld::new(script).world()).run();
        let content = "File: a.txt\nContent as following: \nbody";
        let uploaded = json!({"f": [{"id": "f1", "name": "a.txt", "created_by": "u"}]});
        assert_eq!(
            tried.ports(),
            json!({"_files": uploaded, "f": [content], "x": "1"})
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_fails_and_names_the_field() {
        let fields = json!({"f": {"type": "file"}});
        let tried = begin(
            fields.clone(),
            inputs(json!({"f": {"id": "f1", "name": "a.txt"}})),
        );
        assert_eq!(&*tried.fault().code, "tool.not_configured");
        assert!(
            tried
                .fault()
                .message
                .starts_with("\"X\" could not take in the field f: ")
        );
        let tried = begin(fields, inputs(json!({"f": [{"name": "no id"}]})));
        assert_eq!(&*tried.fault().code, "tool.invalid_request");
    }

    #[test]
    fn a_webhook_brings_its_parts_and_the_whole_request_as_ports() {
        let turn = Turn {
            webhook: Some(object(
                json!({"query": {"k": "1"}, "body": {"n": 2}, "input": {"raw": 1}}),
            )),
            ..Turn::default()
        };
        let tried = begin(json!({}), turn);
        assert_eq!(
            tried.ports(),
            json!({"query": {"k": "1"}, "body": {"n": 2}, "request": {"raw": 1}})
        );
    }
}
