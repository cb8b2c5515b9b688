//! Input: a value from the run's inputs, or from whoever is asked (spec/graph-engine §7.10).

use std::sync::Arc;

use easel_core::draft::Kind;
use easel_core::event::{Completion, Fault};
use easel_core::{Object, Value};

use super::gives;
use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::site::Site;

struct Input {
    /// All declared inputs as one object, rather than one value.
    all: bool,
}

pub(super) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let all = Site::of_node(node).flag("dict");
    Ok(Arc::new(Input { all }))
}

impl Behaviour for Input {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let answers = call.execute.answers.as_deref().cloned().unwrap_or_default();
        let value = match self.all {
            true => {
                let given = answers.into_iter().filter(|(_, value)| !value.is_null());
                Value::from(given.collect::<Object>())
            }
            false => answers.into_values().next().unwrap_or_default(),
        };
        let source = match self.is_supplied(&call) {
            true => "supplied",
            false => "answered",
        };
        Run::Done(Ok(Completion {
            ports: gives(value, [("source", Value::from(source))]),
            ..Completion::default()
        }))
    }
}

impl Input {
    /// Whether everything it needed stood there before anybody was asked.
    fn is_supplied(&self, call: &Call) -> bool {
        let Kind::Form { fields, .. } = &call.node().draft.kind else {
            return false;
        };
        fields.iter().all(|field| {
            let mut given = field.given.iter();
            let there = given.any(|&read| {
                call.inputs()
                    .get(read)
                    .value()
                    .is_some_and(|v| !v.is_null())
            });
            there || field.optional
        })
    }
}
