//! UserFillUp: what a person answered becomes its ports (spec/canvas-components §2.2).
//!
//! Asking and waiting are the machine's part. The behaviour runs once all that has to be answered is there.

use std::sync::Arc;

use easel_core::draft::Kind;
use easel_core::event::{Fault, Ports};
use easel_core::template::{Rendering, Template};
use easel_core::{Object, Value};

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::fields::{Filled, fill};

struct Form {
    /// The text that goes with the question, if one does.
    tips: Option<Template>,
    /// Key and declaration of each field, in order.
    fields: Vec<(Arc<str>, Object)>,
    port: Arc<str>,
}

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let (fields, tips) = match &node.node.draft.kind {
        Kind::Form { fields, tips } => (fields.as_slice(), tips.clone()),
        _ => (&[][..], None),
    };
    let fields = fields
        .iter()
        .map(|field| (field.key.clone(), field.declaration.clone()));
    Ok(Arc::new(Form {
        tips,
        fields: fields.collect(),
        port: "tips".into(),
    }))
}

impl Behaviour for Form {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let mut ports = Ports::new();
        if let Some(tips) = &self.tips {
            call.warn_of_blanks(tips);
            ports.set(
                self.port.clone(),
                tips.render(call.inputs(), Rendering::Joined),
            );
        }
        let answer =
            |key: &Arc<str>| -> Option<Value> { call.execute.answers.as_ref()?.get(key).cloned() };
        let filled = self.fields.iter().filter_map(|(key, declaration)| {
            Some((key.clone(), Filled::of(&answer(key)?, Some(declaration))))
        });
        let filled = filled.collect();
        fill(call, ports, filled)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::testing::{Trial, Tried};

    fn form(params: Json, answers: Json) -> Tried {
        let trial = Trial::new("UserFillUp", params).answered(answers);
        trial.given("env.l", json!(["a", 1])).run()
    }

    #[test]
    fn answers_become_ports_behind_the_tips() {
        let params = json!({"tips": "One of {env.l}?", "inputs": {
            "n": {"type": "integer"}, "b": {"type": "boolean"}, "o": {"type": "object"}, "s": {"type": "line"}}});
        let answers = json!({"o": "{\"k\": 1}", "s": {"value": ""}, "n": {"type": "integer", "value": 0}, "b": false});
        let ports = form(params, answers).ports();
        assert_eq!(
            ports,
            json!({"tips": "One of a,1?", "n": 0, "b": false, "o": {"k": 1}, "s": ""})
        );
    }

    #[test]
    fn a_field_without_an_answer_has_no_port() {
        let params =
            json!({"enable_tips": false, "inputs": {"f": {"type": "file", "optional": true}}});
        assert_eq!(form(params, json!({})).ports(), json!({}));
    }

    #[test]
    fn tips_that_show_nothing_for_a_reference_are_warned_about() {
        let tried = form(json!({"tips": "[{env.gone}]"}), json!({}));
        assert_eq!(tried.ports(), json!({"tips": "[]"}));
        assert_eq!(
            tried.warnings,
            ["\"X\" shows nothing for env.gone, which has no value."]
        );
    }
}
