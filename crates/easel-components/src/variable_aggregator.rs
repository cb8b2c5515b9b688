//! VariableAggregator: takes of several values the first that is there (spec/canvas-components §4.4).

use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::ReadId;
use easel_core::event::{Completion, Fault};

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::site::Site;

struct VariableAggregator {
    groups: Vec<Group>,
}

struct Group {
    port: Arc<str>,
    candidates: Vec<ReadId>,
}

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let written = site.items("groups");
    if written.is_empty() {
        return Err(site.wrong("groups", "is empty", "Add a group of values"));
    }
    let groups = written.iter().enumerate().map(|(at, group)| {
        let path = format!("groups.{at}");
        let name = group.get("group_name").and_then(Value::as_str);
        let Some(name) = name.filter(|name| !name.trim().is_empty()) else {
            let parameter = format!("{path}.group_name");
            return Err(site.wrong(&parameter, "is blank", "Name the port that takes the value"));
        };
        let variables = group.get("variables").and_then(Value::as_array);
        let mut candidates = Vec::new();
        for (row, variable) in variables.unwrap_or_default().iter().enumerate() {
            let path = format!("{path}.variables.{row}.value");
            candidates.extend(site.reference(&path, variable.get("value"))?);
        }
        if candidates.is_empty() {
            let parameter = format!("{path}.variables");
            return Err(site.wrong(&parameter, "names no value", "Name at least one"));
        }
        Ok(Group {
            port: name.into(),
            candidates,
        })
    });
    Ok(Arc::new(VariableAggregator {
        groups: groups.collect::<Result<_, _>>()?,
    }))
}

impl Behaviour for VariableAggregator {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let found = self.groups.iter().filter_map(|group| {
            let candidates = group.candidates.iter();
            let mut values = candidates.filter_map(|read| call.inputs().get(*read).value());
            let value = values.find(|value| value.is_truthy())?;
            Some((group.port.clone(), value.clone()))
        });
        Run::Done(Ok(Completion {
            ports: found.collect(),
            ..Completion::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::testing::Trial;

    fn groups() -> Json {
        json!({"groups": [
            {"group_name": "p", "variables": [{"value": "env.a"}, {"value": "{env.b}"}, {"value": "env.c"}]},
            {"group_name": "q", "variables": ["env.none", "env.c"]},
        ]})
    }

    #[test]
    fn the_first_value_that_is_something_is_taken() {
        let trial = Trial::new("VariableAggregator", groups()).given("env.a", json!(""));
        let trial = trial.given("env.b", json!([1])).given("env.c", json!("C"));
        let tried = trial.given("env.none", Json::Null).run();
        assert_eq!(tried.ports(), json!({"p": [1], "q": "C"}));
    }

    #[test]
    fn a_group_of_which_nothing_is_there_has_no_port() {
        let trial = Trial::new("VariableAggregator", groups());
        let trial = trial.given("env.a", json!(0)).given("env.b", json!(false));
        assert_eq!(trial.run().ports(), json!({}));
    }

    #[test]
    fn a_group_without_a_name_or_values_is_an_error() {
        for group in [
            json!({"group_name": " ", "variables": ["env.a"]}),
            json!({"group_name": "p", "variables": []}),
        ] {
            let tried = Trial::new("VariableAggregator", json!({"groups": [group]})).run();
            assert_eq!(&*tried.fault().code, "bad_parameter");
        }
    }
}
