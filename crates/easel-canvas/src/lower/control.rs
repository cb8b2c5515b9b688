//! Control components as the machine's own kinds.

use std::sync::Arc;

use easel_catalog::{Component as Table, Control, Role};
use easel_core::condition::{Condition, Operand, Operator, Table as Rules, Test};
use easel_core::draft::{Field, FormField, Gather, Initial, Items, Kind};
use easel_core::event::Fault;
use easel_core::reference::{Path, Reference, Root};
use easel_core::{Object, Value};

use super::Finding;
use super::fields::Fields;

impl Fields<'_> {
    /// How the machine treats the node. Errors: its parameters leave that open.
    pub fn kind(&mut self, table: &Table, params: &Object) -> Result<Kind, Fault> {
        Ok(match table.control {
            Control::Task => Kind::Task,
            Control::Item => Kind::Item,
            Control::Exit => Kind::Exit,
            Control::Branch => {
                self.switch_conditions(params);
                let targets = table
                    .sites(params)
                    .into_iter()
                    .filter(|site| {
                        site.role == Role::NodeId && !site.path.starts_with("exception_")
                    })
                    .filter_map(|site| site.value.as_str().map(Arc::from))
                    .collect();
                Kind::Branch { targets }
            }
            Control::Form => self.form(params),
            Control::Each => self.each(params)?,
            Control::While => self.while_loop(params),
        })
    }

    fn each(&mut self, params: &Object) -> Result<Kind, Fault> {
        let text = params.get("items_ref").and_then(Value::as_str);
        let Some(reference) = text.and_then(|text| self.reference_in(text)) else {
            let message = format!(
                "\"{}\" does not say which list it runs over. Set items_ref to a reference.",
                self.component.id
            );
            return Err(Fault::new("bad_parameter", message));
        };
        let items = self.read(reference);
        let concurrency = params.get("max_concurrency").and_then(Value::as_i64);
        let outputs = params.get("outputs").and_then(Value::as_object);
        let mut collect = Vec::new();
        for (port, output) in outputs.into_iter().flatten() {
            let text = output.get("ref").and_then(Value::as_str);
            let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
                continue;
            };
            match self.reference_in(text) {
                Some(reference) => collect.push((port.clone(), Gather::One(reference))),
                None => self.no_reference(text, format!("outputs.{port}.ref")),
            }
        }
        Ok(Kind::Each {
            items: Items::Read(items),
            concurrency: concurrency
                .and_then(|n| u32::try_from(n).ok())
                .unwrap_or(1)
                .max(1),
            collect,
        })
    }

    fn form(&mut self, params: &Object) -> Kind {
        let declared = params.get("inputs").and_then(Value::as_object);
        let mut fields = Vec::new();
        for (key, declaration) in declared.into_iter().flatten() {
            let mut declaration = declaration.as_object().cloned().unwrap_or_default();
            declaration.shift_remove("value");
            let optional = declaration.get("optional").is_some_and(Value::is_truthy);
            let kind = declaration.get("type").and_then(Value::as_str);
            let file = kind.is_some_and(|kind| kind.to_lowercase().contains("file"));
            fields.push(FormField {
                key: key.clone(),
                declaration,
                optional,
                unasked: optional && file,
                given: Vec::new(),
            });
        }
        let wanted = params.get("enable_tips").is_none_or(Value::is_truthy);
        let tips = params
            .get("tips")
            .and_then(Value::as_str)
            .filter(|_| wanted);
        let tips = tips.map(|tips| self.compile(tips, false));
        Kind::Form { fields, tips }
    }

    fn while_loop(&mut self, params: &Object) -> Kind {
        let rows = |name: &str| {
            params
                .get(name)
                .and_then(Value::as_array)
                .unwrap_or_default()
        };
        let mut variables: Vec<(Arc<str>, Initial)> = Vec::new();
        for row in rows("loop_variables") {
            let name = text(row, "variable").map(str::trim);
            let Some(name) = name.filter(|name| !name.is_empty()) else {
                continue;
            };
            let value = row.get("value").filter(|value| !value.is_null());
            let initial = match (text(row, "input_mode"), value) {
                (Some("constant"), Some(value)) => Some(Initial::Constant(value.clone())),
                (Some("variable"), Some(Value::String(text))) => {
                    let reference = self.reference_in(text);
                    reference.map(|reference| Initial::Read(self.read(reference)))
                }
                _ => None,
            };
            let initial = initial.unwrap_or_else(|| {
                self.findings.push(Finding::IncompleteVariable {
                    node: self.component.id.clone(),
                    variable: name.into(),
                });
                Initial::Constant(empty_of(text(row, "type").unwrap_or_default()))
            });
            variables.push((Arc::from(name), initial));
        }
        let all = text(params, "logical_operator") != Some("or");
        let names: Vec<Arc<str>> = variables.iter().map(|(name, _)| name.clone()).collect();
        let rows_of_end = rows("loop_termination_condition").iter().enumerate();
        let tests: Vec<Option<Test>> = rows_of_end
            .map(|(at, row)| {
                self.end_test(row, &names, &format!("loop_termination_condition.{at}"))
            })
            .collect();
        let until = Some(joined(all, tests, Rules::Loop)).filter(|until| !until.tests.is_empty());
        let maximum = params.get("maximum_loop_count").and_then(Value::as_i64);
        Kind::While {
            variables,
            until,
            maximum: maximum.and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
        }
    }

    /// One row of a loop's end. A bare name is a variable of the loop itself.
    fn end_test(&mut self, row: &Value, own: &[Arc<str>], path: &str) -> Option<Test> {
        let name = text(row, "variable").unwrap_or_default().trim();
        let reference = match own.iter().find(|own| ***own == *name) {
            Some(own) => Some(Reference {
                text: format!("{}@{own}", self.component.id).into(),
                root: Root::Output {
                    node: self.component.id.clone(),
                    port: own.clone(),
                },
                path: Path::default(),
            }),
            None => self.reference_in(name),
        };
        let Some(reference) = reference else {
            self.no_reference(name, format!("{path}.variable"));
            return None;
        };
        let left = self.read(reference);
        let operator = self.operator(row, path)?;
        let value = row.get("value").cloned().unwrap_or_default();
        let right = match (text(row, "input_mode"), value.as_str()) {
            (Some("variable"), Some(text)) => match self.reference_in(text) {
                Some(reference) => Operand::Read(self.read(reference)),
                None => {
                    self.no_reference(text, format!("{path}.value"));
                    return None;
                }
            },
            _ => Operand::Constant(value),
        };
        Some(Test {
            left,
            operator,
            right,
        })
    }

    /// The conditions of a Switch, each under the path of its entry.
    fn switch_conditions(&mut self, params: &Object) {
        let conditions = params.get("conditions").and_then(Value::as_array);
        for (at, group) in conditions.unwrap_or_default().iter().enumerate() {
            let path = format!("conditions.{at}");
            let items = group.get("items").and_then(Value::as_array);
            let mut tests = Vec::new();
            for (item, row) in items.unwrap_or_default().iter().enumerate() {
                let name = text(row, "cpn_id").unwrap_or_default();
                if !name.trim().is_empty() {
                    tests.push(self.case_test(name, row, &format!("{path}.items.{item}")));
                }
            }
            let all = text(group, "logical_operator")
                .is_some_and(|word| word.eq_ignore_ascii_case("and"));
            let condition = joined(all, tests, Rules::Switch);
            self.compiled
                .push((path.into(), Field::Condition(condition)));
        }
    }

    /// One row of a case, if it is a test that can be made.
    fn case_test(&mut self, name: &str, row: &Value, path: &str) -> Option<Test> {
        let left = self.reference_in(name)?;
        let left = self.read(left);
        Some(Test {
            left,
            operator: self.operator(row, path)?,
            right: Operand::Constant(row.get("value").cloned().unwrap_or_default()),
        })
    }

    fn operator(&mut self, row: &Value, path: &str) -> Option<Operator> {
        let word = text(row, "operator").unwrap_or_default();
        let operator = Operator::parse(word);
        if operator.is_none() {
            self.findings.push(Finding::UnknownOperator {
                node: self.component.id.clone(),
                path: format!("{path}.operator"),
                operator: word.into(),
            });
        }
        operator
    }
}

/// Tests joined by one word. One that cannot be made is false, and with it a condition in which all must hold.
fn joined(all: bool, tests: Vec<Option<Test>>, table: Rules) -> Condition {
    let never = all && tests.contains(&None);
    let tests = match never {
        true => Vec::new(),
        false => tests.into_iter().flatten().collect(),
    };
    Condition { all, tests, table }
}

/// A member that is text.
trait Members {
    fn member(&self, name: &str) -> Option<&Value>;
}

impl Members for Value {
    fn member(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

impl Members for Object {
    fn member(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

fn text<'a>(row: &'a impl Members, name: &str) -> Option<&'a str> {
    row.member(name).and_then(Value::as_str)
}

/// The empty value of a declared type.
fn empty_of(kind: &str) -> Value {
    let kind = kind.to_lowercase();
    match kind.as_str() {
        "number" => Value::from(0_i64),
        "boolean" => Value::from(false),
        "object" => Value::empty_object(),
        kind if kind.starts_with("array") => Value::empty_array(),
        _ => Value::from(""),
    }
}
