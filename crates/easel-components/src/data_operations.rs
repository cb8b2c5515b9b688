//! DataOperations: selects, filters, changes or combines objects (spec/canvas-components §4.2).

use std::sync::Arc;

use easel_core::bind::{Inputs, ReadId};
use easel_core::event::{Completion, Fault, Ports};
use easel_core::{Object, Value};

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::given::Given;
use crate::python_literal::evaluated;
use crate::site::Site;
use crate::text_test::{TextTest, python_text};

struct DataOperations {
    query: Vec<ReadId>,
    operation: Operation,
    result: Arc<str>,
}

enum Operation {
    /// Only these members.
    SelectKeys(Vec<Arc<str>>),
    /// Texts that spell values, as these values.
    LiteralEval,
    /// One object with the members of all; values of one name in a list.
    Combine,
    /// Only the objects for which all rules hold.
    FilterValues(Vec<Rule>),
    /// With these members set.
    Update(Vec<(Arc<str>, Given)>),
    /// Without these members.
    RemoveKeys(Vec<Arc<str>>),
    /// With members renamed, from and to.
    RenameKeys(Vec<(Arc<str>, Arc<str>)>),
}

/// A comparison of one member. An unknown test never holds.
struct Rule {
    key: Arc<str>,
    test: Option<TextTest>,
    value: Given,
}

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let mut query = Vec::new();
    for (at, reference) in site.items("query").iter().enumerate() {
        query.extend(site.reference(&format!("query.{at}"), Some(reference))?);
    }
    let names = |name: &str| site.texts(name).into_iter().map(Arc::from).collect();
    let operation = match site.text("operations") {
        "select_keys" => Operation::SelectKeys(names("select_keys")),
        "literal_eval" => Operation::LiteralEval,
        "combine" => Operation::Combine,
        "filter_values" => Operation::FilterValues(rules(&site)),
        "append_or_update" => Operation::Update(updates(&site)),
        "remove_keys" => Operation::RemoveKeys(names("remove_keys")),
        "rename_keys" => Operation::RenameKeys(renames(site.items("rename_keys"))),
        _ => {
            return Err(site.wrong(
                "operations",
                "names no operation",
                "Choose select_keys, literal_eval, combine, filter_values, append_or_update, remove_keys or \
                 rename_keys",
            ));
        }
    };
    Ok(Arc::new(DataOperations {
        query,
        operation,
        result: "result".into(),
    }))
}

/// A member of a row that is no blank text.
fn filled(row: &Value, name: &str) -> Option<Arc<str>> {
    let text = row.get(name)?.as_str()?;
    (!text.trim().is_empty()).then(|| text.into())
}

fn rules(site: &Site<'_>) -> Vec<Rule> {
    let rows = site.items("filter_values");
    let rule = |(at, row): (usize, &Value)| {
        let value = row.get("value").unwrap_or(&Value::Null);
        let test = row.get("operator").and_then(Value::as_str);
        Some(Rule {
            key: filled(row, "key")?,
            test: TextTest::parse(test.unwrap_or("=")),
            value: site.given_at(&format!("filter_values.{at}.value"), value, false),
        })
    };
    rows.iter().enumerate().filter_map(rule).collect()
}

fn updates(site: &Site<'_>) -> Vec<(Arc<str>, Given)> {
    let rows = site.items("updates");
    let update = |(at, row): (usize, &Value)| {
        let value = row.get("value").unwrap_or(&Value::Null);
        let path = format!("updates.{at}.value");
        Some((filled(row, "key")?, site.given_at(&path, value, false)))
    };
    rows.iter().enumerate().filter_map(update).collect()
}

fn renames(rows: &[Value]) -> Vec<(Arc<str>, Arc<str>)> {
    let rename = |row: &Value| Some((filled(row, "old_key")?, filled(row, "new_key")?));
    rows.iter()
        .filter_map(rename)
        .filter(|(old, new)| old != new)
        .collect()
}

/// The objects among the values: a list gives those in it, all else that is no object is left aside.
fn objects(query: &[ReadId], inputs: &Inputs) -> Vec<Arc<Object>> {
    let mut objects = Vec::new();
    let mut take = |value: &Value| {
        if let Value::Object(members) = value {
            objects.push(members.clone());
        }
    };
    for read in query {
        match inputs.get(*read).value() {
            Some(Value::Array(items)) => items.iter().for_each(&mut take),
            Some(value) => take(value),
            None => {}
        }
    }
    objects
}

impl Operation {
    fn apply(&self, mut objects: Vec<Arc<Object>>, call: &Call) -> Result<Value, Fault> {
        match self {
            Operation::Combine => return Ok(combined(&objects).into()),
            Operation::SelectKeys(keys) => {
                each(&mut objects, |members| {
                    members.retain(|key, _| keys.contains(key))
                });
            }
            Operation::LiteralEval => each(&mut objects, |members| {
                members
                    .values_mut()
                    .for_each(|value| *value = evaluated(value));
            }),
            Operation::FilterValues(rules) => {
                let rules = rules.iter().map(|rule| (rule, rule.value.value(call)));
                let rules: Vec<_> = rules.collect();
                objects
                    .retain(|members| rules.iter().all(|(rule, value)| rule.holds(members, value)));
            }
            Operation::Update(updates) => {
                let updates = updates.iter();
                let updates = updates.map(|(key, given)| (key, given.value(call)));
                let updates: Vec<_> = updates.collect();
                each(&mut objects, |members| {
                    let updates = updates.iter();
                    members.extend(updates.map(|(key, value)| ((*key).clone(), value.clone())));
                });
            }
            Operation::RemoveKeys(keys) => {
                each(&mut objects, |members| {
                    members.retain(|key, _| !keys.contains(key))
                });
            }
            Operation::RenameKeys(renames) => each(&mut objects, |members| {
                for (old, new) in renames {
                    if let Some(value) = members.shift_remove(old) {
                        members.insert(new.clone(), value);
                    }
                }
            }),
        }
        Ok(objects
            .into_iter()
            .map(Value::Object)
            .collect::<Vec<_>>()
            .into())
    }
}

impl Rule {
    fn holds(&self, members: &Object, value: &Value) -> bool {
        let (Some(test), Some(member)) = (self.test, members.get(&self.key)) else {
            return false;
        };
        test.holds(&python_text(member), &python_text(value))
    }
}

fn each(objects: &mut [Arc<Object>], change: impl Fn(&mut Object)) {
    for members in objects {
        change(Arc::make_mut(members));
    }
}

/// The members of all objects in one. Where a name comes twice, its values stand in a list, lists among them taken apart.
fn combined(objects: &[Arc<Object>]) -> Object {
    let mut all = Object::new();
    let listed = |value: &Value| match value {
        Value::Array(items) => items.as_ref().clone(),
        other => vec![other.clone()],
    };
    for (key, value) in objects.iter().flat_map(|members| members.iter()) {
        match all.get_mut(key) {
            Some(known) => {
                let mut items = listed(known);
                items.extend(listed(value));
                *known = items.into();
            }
            None => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
    all
}

impl Behaviour for DataOperations {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let objects = objects(&self.query, call.inputs());
        let result = self.operation.apply(objects, &call);
        Run::Done(result.map_err(Into::into).map(|result| Completion {
            ports: Ports::one(self.result.clone(), result),
            ..Completion::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::testing::Trial;

    fn result(operation: &str, mut params: Json) -> Json {
        params["operations"] = json!(operation);
        if params.get("query").is_none() {
            params["query"] = json!(["env.o"]);
        }
        let trial = Trial::new("DataOperations", params)
            .given("env.o", json!({"a": 1, "b": "x", "c": [1]}))
            .given("env.p", json!({"a": 2, "c": [2], "d": null}))
            .given(
                "env.rows",
                json!([{"id": 1, "s": "foo", "t": true}, {"id": 2, "s": "bar"}, "junk"]),
            )
            .given("env.text", json!("hello"))
            .given("env.tag", json!({"k": 1}));
        trial.run().port("result")
    }

    #[test]
    fn select_keeps_the_named_members_of_every_object() {
        let params = json!({"query": ["env.o", "{env.p}"], "select_keys": ["d", "a"]});
        assert_eq!(
            result("select_keys", params),
            json!([{"a": 1}, {"a": 2, "d": null}])
        );
        let params = json!({"query": ["env.rows"], "select_keys": ["id"]});
        assert_eq!(result("select_keys", params), json!([{"id": 1}, {"id": 2}]));
        let params = json!({"query": ["env.text", "env.gone"], "select_keys": ["id"]});
        assert_eq!(result("select_keys", params), json!([]));
    }

    #[test]
    fn literals_in_texts_are_evaluated() {
        let trial = Trial::new("DataOperations", json!({"query": ["env.lit"]}));
        let literals = json!({"n": "12", "l": "[1, 2]", "t": "True", "nested": {"x": "{'y': 1}"}, "s": "word"});
        let tried = trial.given("env.lit", literals).run();
        let values =
            json!([{"n": 12, "l": [1, 2], "t": true, "nested": {"x": {"y": 1}}, "s": "word"}]);
        assert_eq!(tried.port("result"), values);
    }

    #[test]
    fn combine_collects_values_of_one_name() {
        let params = json!({"query": ["env.o", "env.p", "env.o"]});
        let all = json!({"a": [1, 2, 1], "b": ["x", "x"], "c": [1, 2, 1], "d": null});
        assert_eq!(result("combine", params), all);
        assert_eq!(result("combine", json!({"query": []})), json!({}));
    }

    #[test]
    fn filters_compare_members_as_text() {
        let keep = |rules: Json| {
            let params = json!({"query": ["env.rows"], "filter_values": rules});
            let kept = result("filter_values", params);
            kept.as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].as_i64().unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            keep(json!([{"key": "id", "value": 1}])),
            [1],
            "without an operator it is ="
        );
        assert_eq!(
            keep(json!([{"key": "s", "operator": "contains", "value": "o"}])),
            [1]
        );
        assert_eq!(
            keep(json!([{"key": "s", "operator": "≠", "value": "foo"}])),
            [2]
        );
        assert_eq!(
            keep(json!([{"key": "t", "operator": "=", "value": "True"}])),
            [1]
        );
        assert_eq!(
            keep(json!([{"key": "t", "operator": "≠", "value": "x"}])),
            [1],
            "a missing member is no match"
        );
        assert_eq!(
            keep(json!([{"key": "s", "value": "foo"}, {"key": "id", "value": "2"}])),
            Vec::<i64>::new()
        );
        assert_eq!(
            keep(json!([{"key": "s", "operator": "like", "value": "foo"}])),
            Vec::<i64>::new()
        );
        assert_eq!(
            keep(json!([{"key": "", "value": ""}])),
            [1, 2],
            "a row that is not filled in is no rule"
        );
    }

    #[test]
    fn an_update_keeps_the_type_of_a_reference_and_of_a_literal() {
        let params = json!({"updates": [
            {"key": "b", "value": "env.tag"},
            {"key": "e", "value": "<{env.text}>"},
            {"key": "n", "value": 5},
            {"key": " ", "value": "skipped"},
        ]});
        let updated = json!([{"a": 1, "b": {"k": 1}, "c": [1], "e": "<hello>", "n": 5}]);
        assert_eq!(result("append_or_update", params), updated);
    }

    #[test]
    fn members_are_removed_and_renamed() {
        let params = json!({"remove_keys": ["a", "zz"]});
        assert_eq!(result("remove_keys", params), json!([{"b": "x", "c": [1]}]));
        let renames = json!([
            {"old_key": "a", "new_key": "A"}, {"old_key": "zz", "new_key": "q"},
            {"old_key": "b", "new_key": "b"}, {"old_key": "c", "new_key": ""},
        ]);
        let renamed = result("rename_keys", json!({"rename_keys": renames}));
        assert_eq!(
            renamed.to_string(),
            r#"[{"b":"x","c":[1],"A":1}]"#,
            "a renamed member moves to the end"
        );
    }

    #[test]
    fn the_values_that_were_read_stay_as_they_are() {
        let rows = json!([{"a": 1}]);
        let (behaviour, call) = Trial::new(
            "DataOperations",
            json!({"query": ["env.r"], "operations": "remove_keys", "remove_keys": ["a"]}),
        )
        .given("env.r", rows.clone())
        .call();
        let inputs = call.execute.inputs.clone();
        behaviour.run(call);
        assert_eq!(inputs.0[0].or_null().to_json(), rows);
    }

    #[test]
    fn an_operation_nobody_knows_is_named() {
        let tried = Trial::new("DataOperations", json!({"operations": "pivot"})).run();
        assert_eq!(&*tried.fault().code, "bad_parameter");
    }
}
