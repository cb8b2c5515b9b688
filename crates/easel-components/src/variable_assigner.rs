//! VariableAssigner: changes variables and ports of other nodes, row by row (spec/canvas-components §4.5).
//!
//! Each row sees what the rows before it did. A row that cannot be carried out changes nothing; it stands in the port
//! `errors` with the reason, and the others go on.

mod operator;
mod overlap;

use std::sync::Arc;

use easel_core::bind::{ReadId, Resolved};
use easel_core::draft::Field;
use easel_core::event::{Completion, Fault, Ports, Write};
use easel_core::{Object, Value};

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::given::Given;
use crate::parameters::is_blank;
use crate::site::Site;
use operator::Operator;
use overlap::Overlap;

struct VariableAssigner {
    rows: Vec<Row>,
    errors: Arc<str>,
}

/// One change.
struct Row {
    /// The variable as it was written.
    variable: Arc<str>,
    /// The operator as it was written.
    word: Arc<str>,
    change: Result<Change, String>,
}

/// What a row that is filled in does.
struct Change {
    target: u32,
    /// Where the target's value is read.
    current: Option<ReadId>,
    operator: Operator,
    parameter: Given,
    /// The node's reads that the change is seen through.
    seen: Vec<(ReadId, Overlap)>,
}

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let Some(written) = site.get("variables").and_then(Value::as_array) else {
        return Err(site.wrong("variables", "is no list", "Write the changes as a list"));
    };
    let mut rows = Vec::with_capacity(written.len());
    for (at, row) in written.iter().enumerate() {
        let member = |name: &str| row.get(name).unwrap_or(&Value::Null);
        if is_blank(member("variable")) {
            continue;
        }
        rows.push(Row {
            variable: member("variable").to_string().into(),
            word: member("operator").to_string().into(),
            change: Change::of(&site, at, member("operator"), member("parameter")),
        });
    }
    Ok(Arc::new(VariableAssigner {
        rows,
        errors: "errors".into(),
    }))
}

impl Change {
    fn of(site: &Site<'_>, at: usize, word: &Value, parameter: &Value) -> Result<Change, String> {
        let Some(Field::Target(target)) = site.field(&format!("variables.{at}.variable")) else {
            return Err("it names nothing that can be assigned to".to_owned());
        };
        let operator = word.as_str().and_then(Operator::parse);
        let operator = operator.ok_or_else(|| format!("there is no operator \"{word}\""))?;
        if operator.takes_parameter() && parameter.is_null() {
            return Err("the parameter is not set".to_owned());
        }
        let node = site.owner.node;
        let slot = node.writes.get(*target as usize);
        let reads = || (0_u32..).map(ReadId).zip(&node.reads);
        let current = reads().find(|(_, read)| Some(*read) == slot);
        let seen = reads().filter_map(|(id, read)| Some((id, Overlap::of(slot?, read)?)));
        Ok(Change {
            target: *target,
            current: current.map(|(id, _)| id),
            operator,
            parameter: site.given_at(&format!("variables.{at}.parameter"), parameter, false),
            seen: seen.collect(),
        })
    }
}

impl Behaviour for VariableAssigner {
    fn run(self: Arc<Self>, mut call: Call) -> Run {
        let mut completion = Completion::default();
        let mut errors = Vec::new();
        for row in &self.rows {
            let change = match &row.change {
                Ok(change) => change,
                Err(problem) => {
                    errors.push(row.error(problem));
                    continue;
                }
            };
            let value = match change.value(&call) {
                Ok(value) => value,
                Err(problem) => {
                    errors.push(row.error(&problem));
                    continue;
                }
            };
            for (read, overlap) in &change.seen {
                if let Some(seen) =
                    Arc::make_mut(&mut call.execute.inputs.0).get_mut(read.0 as usize)
                {
                    *seen = overlap.seen(std::mem::replace(seen, Resolved::Missing), &value);
                }
            }
            completion.writes.push(Write {
                target: change.target,
                value,
            });
        }
        if !errors.is_empty() {
            completion.ports = Ports::one(self.errors.clone(), errors);
        }
        Run::Done(Ok(completion))
    }
}

impl Change {
    /// The target's new value. Errors: why there is none, as a phrase.
    fn value(&self, call: &Call) -> Result<Value, String> {
        let current = self.current.map(|read| call.inputs().get(read).or_null());
        let given = match self.operator.takes_parameter() {
            true => self.parameter.value(call),
            false => Value::Null,
        };
        let value = self.operator.apply(&current.unwrap_or_default(), given);
        value.map_err(|problem| problem.to_string())
    }
}

impl Row {
    fn error(&self, problem: &str) -> Value {
        let message = format!("{} stays as it is: {problem}.", self.variable);
        let members: [(&str, Value); 3] = [
            ("variable", self.variable.clone().into()),
            ("operator", self.word.clone().into()),
            ("error", message.into()),
        ];
        Object::from_iter(members.map(|(name, value)| (Arc::from(name), value))).into()
    }
}

#[cfg(test)]
mod tests;
