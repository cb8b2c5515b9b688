//! Switch: goes on where the first case that holds leads (spec/canvas-components §2.5).

use std::sync::Arc;

use easel_core::Value;
use easel_core::condition::Condition;
use easel_core::draft::Field;
use easel_core::event::{Completion, Fault, Ports};

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::site::Site;

struct Switch {
    cases: Vec<Case>,
    otherwise: Outcome,
}

struct Case {
    when: Condition,
    outcome: Result<Outcome, Fault>,
}

/// Where a case leads, made ready when the workflow loads.
#[derive(Clone)]
struct Outcome {
    targets: Vec<Arc<str>>,
    ports: Ports,
}

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let conditions = site.items("conditions");
    let mut cases = Vec::with_capacity(conditions.len());
    for (at, written) in conditions.iter().enumerate() {
        let Some(Field::Condition(when)) = site.field(&format!("conditions.{at}")) else {
            continue;
        };
        let outcome = Outcome::of(node, written.get("to"));
        let outcome = match outcome.targets.is_empty() {
            false => Ok(outcome),
            true => Err(site.wrong(
                &format!("conditions.{at}.to"),
                "names no node, so the case leads nowhere",
                "Draw an edge from the case, or remove it",
            )),
        };
        cases.push(Case {
            when: when.clone(),
            outcome,
        });
    }
    let otherwise = Outcome::of(node, site.get("end_cpn_ids"));
    Ok(Arc::new(Switch { cases, otherwise }))
}

impl Outcome {
    fn of(node: Prepared<'_>, targets: Option<&Value>) -> Outcome {
        let ids = targets.and_then(Value::as_array).unwrap_or_default().iter();
        let targets: Vec<Arc<str>> = ids
            .filter_map(|id| match id {
                Value::String(id) => Some(id.clone()),
                _ => None,
            })
            .collect();
        let name = |id: &Arc<str>| match node.workflow.find(id) {
            Some(found) => node.workflow.node(found).draft.name.clone(),
            None => id.clone(),
        };
        let list = |texts: Vec<Arc<str>>| -> Value {
            texts
                .into_iter()
                .map(Value::from)
                .collect::<Vec<_>>()
                .into()
        };
        let names = list(targets.iter().map(name).collect());
        let ports = [
            (Arc::from("next"), names),
            (Arc::from("_next"), list(targets.clone())),
        ];
        Outcome {
            targets,
            ports: Ports::from_iter(ports),
        }
    }
}

impl Behaviour for Switch {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let held = self
            .cases
            .iter()
            .find(|case| case.when.holds(call.inputs()));
        let outcome = match held {
            Some(case) => case.outcome.clone(),
            None => Ok(self.otherwise.clone()),
        };
        Run::Done(outcome.map_err(Into::into).map(|outcome| Completion {
            ports: outcome.ports,
            next: Some(outcome.targets),
            ..Completion::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::testing::{Trial, Tried};

    fn next(tried: &Tried) -> Vec<&str> {
        let next = tried.completion().next.as_ref().unwrap();
        next.iter().map(|id| &**id).collect()
    }

    fn sizes() -> Json {
        let case = |operator: &str, value: &str, to: Json| {
            let items = json!([{"cpn_id": "env.n", "operator": operator, "value": value}]);
            json!({"logical_operator": "and", "items": items, "to": to})
        };
        json!({
            "conditions": [case(">", "100", json!(["Big:A", "Big:B"])), case(">", "10", json!(["Medium:A"]))],
            "end_cpn_ids": ["Small:A"],
        })
    }

    #[test]
    fn the_first_case_that_holds_is_taken_with_all_its_targets() {
        let trial = |n: i64| {
            let trial = Trial::new("Switch", sizes()).given("env.n", json!(n));
            let trial = trial.given("Big:A@x", json!(1)).given("Big:B@x", json!(1));
            trial
                .given("Medium:A@x", json!(1))
                .given("Small:A@x", json!(1))
                .run()
        };
        assert_eq!(next(&trial(500)), ["Big:A", "Big:B"]);
        assert_eq!(next(&trial(50)), ["Medium:A"]);
        assert_eq!(next(&trial(5)), ["Small:A"]);
        let ports = trial(500).ports();
        assert_eq!(
            ports,
            json!({"next": ["Big:A", "Big:B"], "_next": ["Big:A", "Big:B"]})
        );
    }

    #[test]
    fn a_missing_value_is_null_to_a_case() {
        let trial = Trial::new("Switch", sizes()).given("Small:A@x", json!(1));
        assert_eq!(next(&trial.run()), ["Small:A"]);
    }

    #[test]
    fn a_case_without_a_target_fails_when_it_is_chosen_and_only_then() {
        let params = json!({
            "conditions": [{"logical_operator": "or", "to": [],
                "items": [{"cpn_id": "env.n", "operator": "=", "value": "1"}]}],
            "end_cpn_ids": ["Else:A"],
        });
        let trial = |n: i64| {
            let trial = Trial::new("Switch", params.clone()).given("env.n", json!(n));
            trial.given("Else:A@x", json!(1)).run()
        };
        assert_eq!(next(&trial(2)), ["Else:A"]);
        let chosen = trial(1);
        assert_eq!(
            chosen.fault().to_string(),
            "\"X\" cannot run: its parameter `conditions.0.to` names no node, so the case leads nowhere. \
             Draw an edge from the case, or remove it."
        );
    }
}
