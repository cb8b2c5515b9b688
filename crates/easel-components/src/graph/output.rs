//! Output: gives out a result of the run (spec/graph-engine §7.11).

use std::sync::Arc;

use easel_core::event::{Completion, Fault};
use easel_core::format::FormatString;
use easel_core::{Object, Value};

use super::keywords::Named;
use super::{gives, prompt};
use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::site::Site;

struct Output {
    name: Arc<str>,
    value: Option<FormatString>,
    dependencies: Named,
}

pub(super) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    Ok(Arc::new(Output {
        name: Site::of_node(node).text("name").into(),
        value: prompt::format(node, "value"),
        dependencies: Named::read(node, "depends_on"),
    }))
}

impl Behaviour for Output {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::Done(self.give(&call).map_err(Failure::from))
    }
}

impl Output {
    fn give(&self, call: &Call) -> Result<Completion, Fault> {
        let mut values: Vec<(&Arc<str>, Value)> = self
            .dependencies
            .values(call.inputs())
            .map(|(name, value)| (name, value.cloned().unwrap_or_default()))
            .collect();
        let text = match &self.value {
            Some(value) => Some(Value::from(prompt::render_whole(value, "value", call)?)),
            None => None,
        };
        let (value, source) = match (text, values.len()) {
            (Some(text), 0) => (text, "template"),
            (Some(text), _) => {
                values.push((&self.name, text));
                (merged(values), "merged+template")
            }
            (None, 0) => {
                let node = &call.node().draft.name;
                let message = format!(
                    "\"{node}\" has nothing to give out: it depends on nothing and has no `value`. Add one of them."
                );
                return Err(Fault::new("no_output", message));
            }
            (None, 1) => (values.remove(0).1, "passthrough"),
            (None, _) => (merged(values), "merged"),
        };
        Ok(Completion {
            ports: gives(value, [("source", Value::from(source))]),
            ..Completion::default()
        })
    }
}

fn merged(values: Vec<(&Arc<str>, Value)>) -> Value {
    let values = values
        .into_iter()
        .map(|(name, value)| (name.clone(), value));
    Value::from(values.collect::<Object>())
}
