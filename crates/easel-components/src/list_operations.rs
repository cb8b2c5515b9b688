//! ListOperations: picks, filters or sorts the items of a list (spec/canvas-components §4.3).

use std::cmp::Ordering;
use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::ReadId;
use easel_core::event::{Completion, Fault};
use easel_core::workflow::Node;

use crate::behaviour::{Behaviour, Call, Prepared, Run};
use crate::parameters::{bad_input, written};
use crate::site::Site;
use crate::text_test::{TextTest, python_text};

struct ListOperations {
    list: ReadId,
    operation: Operation,
    ports: [Arc<str>; 3],
}

enum Operation {
    /// One item, counted from 1, or from the end by a negative number.
    Nth { n: i64, strict: bool },
    /// The first items.
    Head { n: i64, strict: bool },
    /// The last items.
    Tail { n: i64, strict: bool },
    /// Those whose text passes. An unknown test passes nothing.
    Filter {
        test: Option<TextTest>,
        with: String,
    },
    /// All, in order; objects by these members, if there are any.
    Sort { by: Vec<Arc<str>>, descending: bool },
    /// Each item the first time it comes.
    DropDuplicates,
}

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let Some(list) = site.reference("query", site.get("query"))? else {
        return Err(site.wrong("query", "is not set", "Name the list"));
    };
    // A number that is none counts as 0.
    let n = site.get("n").and_then(Value::as_i64).unwrap_or(0);
    let strict = site.flag("strict");
    let operation = match site.text("operations") {
        "nth" => Operation::Nth { n, strict },
        "head" => Operation::Head { n, strict },
        "tail" => Operation::Tail { n, strict },
        "filter" => {
            let member = |name: &str| site.get("filter").and_then(|filter| filter.get(name));
            let test = member("operator").and_then(Value::as_str).unwrap_or("=");
            Operation::Filter {
                test: TextTest::parse(test),
                with: member("value")
                    .map(python_text)
                    .unwrap_or_default()
                    .into_owned(),
            }
        }
        "sort" => Operation::Sort {
            by: site.texts("sort_by").into_iter().map(Arc::from).collect(),
            descending: site.text("sort_method") == "desc",
        },
        "drop_duplicates" => Operation::DropDuplicates,
        _ => {
            return Err(site.wrong(
                "operations",
                "names no operation",
                "Choose nth, head, tail, filter, sort or drop_duplicates",
            ));
        }
    };
    Ok(Arc::new(ListOperations {
        list,
        operation,
        ports: ["result".into(), "first".into(), "last".into()],
    }))
}

impl ListOperations {
    fn apply(&self, node: &Node, value: &Value) -> Result<Vec<Value>, Fault> {
        let Value::Array(items) = value else {
            let name = written(node, self.list);
            let problem = format!("needs a list, and {name} is of type {}", value.type_name());
            return Err(bad_input(node, &problem, "Name a list"));
        };
        self.operation.apply(items).map_err(|beyond| {
            let problem = format!(
                "is strict, and `n` is {} for a list of {}",
                beyond.n,
                items.len()
            );
            bad_input(
                node,
                &problem,
                "Choose an `n` within the list, or set `strict` to false",
            )
        })
    }
}

/// An `n` that leads out of the list, where that is an error.
struct Beyond {
    n: i64,
}

impl Operation {
    fn apply(&self, items: &[Value]) -> Result<Vec<Value>, Beyond> {
        let count = |n: i64, strict: bool| match usize::try_from(n) {
            Ok(count) if (1..=items.len()).contains(&count) => Ok(count),
            _ if strict => Err(Beyond { n }),
            Ok(count) => Ok(count.min(items.len())),
            Err(_) => Ok(0),
        };
        Ok(match *self {
            Operation::Nth { n, strict } => {
                let distance = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX);
                let at = match n.cmp(&0) {
                    Ordering::Greater => distance.checked_sub(1),
                    Ordering::Equal => None,
                    Ordering::Less => items.len().checked_sub(distance),
                };
                match at.and_then(|at| items.get(at)) {
                    Some(item) => vec![item.clone()],
                    None if strict => return Err(Beyond { n }),
                    None => Vec::new(),
                }
            }
            Operation::Head { n, strict } => {
                let count = count(n, strict)?;
                items.iter().take(count).cloned().collect()
            }
            Operation::Tail { n, strict } => {
                let count = count(n, strict)?;
                items.iter().skip(items.len() - count).cloned().collect()
            }
            Operation::Filter { test, ref with } => {
                let passes =
                    |item: &&Value| test.is_some_and(|test| test.holds(&python_text(item), with));
                items.iter().filter(passes).cloned().collect()
            }
            Operation::Sort { ref by, descending } => {
                let mut sorted = items.to_vec();
                // Both ways equal items keep their order.
                match descending {
                    false => sorted.sort_by(|a, b| order(by, a, b)),
                    true => sorted.sort_by(|a, b| order(by, b, a)),
                }
                sorted
            }
            Operation::DropDuplicates => without_duplicates(items),
        })
    }
}

/// Objects by their members of these names, a missing one as `null`; all else by the order over all values.
fn order(by: &[Arc<str>], a: &Value, b: &Value) -> Ordering {
    let (Value::Object(a_members), Value::Object(b_members), false) = (a, b, by.is_empty()) else {
        return a.order(b);
    };
    let by_each = by.iter().map(|name| {
        let member = |members: &easel_core::Object| members.get(name).cloned().unwrap_or_default();
        member(a_members).order(&member(b_members))
    });
    by_each.fold(Ordering::Equal, Ordering::then)
}

/// Each item the first time it comes. Items are the same as in [`Value::same`].
fn without_duplicates(items: &[Value]) -> Vec<Value> {
    let mut sorted: Vec<(usize, &Value)> = items.iter().enumerate().collect();
    sorted.sort_by(|(_, a), (_, b)| a.order(b));
    sorted.dedup_by(|(_, later), (_, first)| later.order(first).is_eq());
    sorted.sort_unstable_by_key(|(at, _)| *at);
    sorted.into_iter().map(|(_, item)| item.clone()).collect()
}

impl Behaviour for ListOperations {
    fn run(self: Arc<Self>, call: Call) -> Run {
        let value = call.inputs().get(self.list).or_null();
        let items = self.apply(call.node(), &value);
        Run::Done(items.map_err(Into::into).map(|items| {
            let first = items.first().cloned().unwrap_or_default();
            let last = items.last().cloned().unwrap_or_default();
            let values = [Value::from(items), first, last];
            Completion {
                ports: self.ports.iter().cloned().zip(values).collect(),
                ..Completion::default()
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use crate::testing::{Trial, Tried};

    fn tried(items: Json, mut params: Json) -> Tried {
        params["query"] = json!("env.l");
        Trial::new("ListOperations", params)
            .given("env.l", items)
            .run()
    }

    fn result(items: Json, params: Json) -> Json {
        tried(items, params).port("result")
    }

    #[test]
    fn the_nth_item_counts_from_one_or_from_the_end() {
        let nth = |n: Json| result(json!(["b", "a", "c"]), json!({"operations": "nth", "n": n}));
        assert_eq!(nth(json!(1)), json!(["b"]));
        assert_eq!(nth(json!("2")), json!(["a"]));
        assert_eq!(nth(json!(-1)), json!(["c"]));
        for beyond in [json!(0), json!(4), json!(-4), json!("x"), json!(i64::MIN)] {
            assert_eq!(nth(beyond), json!([]));
        }
    }

    #[test]
    fn head_and_tail_keep_as_many_as_there_are() {
        let keep = |operation: &str, n: i64| {
            result(json!([1, 2, 3]), json!({"operations": operation, "n": n}))
        };
        assert_eq!(keep("head", 2), json!([1, 2]));
        assert_eq!(keep("topN", 2), json!([1, 2]));
        assert_eq!(keep("tail", 2), json!([2, 3]));
        assert_eq!(keep("head", 9), json!([1, 2, 3]));
        assert_eq!(keep("tail", 9), json!([1, 2, 3]));
        assert_eq!(keep("head", 0), json!([]));
        assert_eq!(keep("tail", -1), json!([]));
    }

    #[test]
    fn a_strict_n_beyond_the_list_is_an_error() {
        for operation in ["nth", "head", "tail"] {
            for n in [0, 9] {
                let params = json!({"operations": operation, "n": n, "strict": "yes"});
                assert_eq!(&*tried(json!([1, 2]), params).fault().code, "bad_input");
            }
        }
        let params = json!({"operations": "nth", "n": -2, "strict": true});
        assert_eq!(result(json!([1, 2]), params), json!([1]));
    }

    #[test]
    fn a_filter_compares_items_as_text() {
        let keep = |operator: &str, value: Json| {
            let filter = json!({"operator": operator, "value": value});
            let items = json!(["aa", "ab", 1, true, null, {"k": "aa"}]);
            result(items, json!({"operations": "filter", "filter": filter}))
        };
        assert_eq!(keep("=", json!("1")), json!([1]));
        assert_eq!(keep("=", json!(1)), json!([1]));
        assert_eq!(keep("=", json!("True")), json!([true]));
        assert_eq!(keep("=", json!("")), json!([null]));
        assert_eq!(keep("contains", json!("aa")), json!(["aa", {"k": "aa"}]));
        assert_eq!(keep("start with", json!("a")), json!(["aa", "ab"]));
        assert_eq!(keep("end with", json!("b")), json!(["ab"]));
        assert_eq!(
            keep("≠", json!("aa")),
            json!(["ab", 1, true, null, {"k": "aa"}])
        );
        assert_eq!(
            keep("regex", json!("a")),
            json!([]),
            "an unknown test passes nothing"
        );
    }

    #[test]
    fn anything_can_be_sorted() {
        let items = json!(["b", 10, null, 9.5, "a", [2], true, {"k": 1}]);
        let sorted = json!([null, true, 9.5, 10, "a", "b", [2], {"k": 1}]);
        assert_eq!(result(items.clone(), json!({"operations": "sort"})), sorted);
        let mut reversed = sorted.as_array().unwrap().clone();
        reversed.reverse();
        let params = json!({"operations": "sort", "sort_method": "desc"});
        assert_eq!(result(items, params), json!(reversed));
    }

    #[test]
    fn objects_are_sorted_by_members_and_equal_ones_keep_their_order() {
        let items =
            json!([{"n": 2, "t": "x"}, {"n": 1, "t": "y"}, {"n": 2, "t": "a"}, {"t": "none"}]);
        let by_n =
            json!([{"t": "none"}, {"n": 1, "t": "y"}, {"n": 2, "t": "x"}, {"n": 2, "t": "a"}]);
        assert_eq!(
            result(items.clone(), json!({"operations": "sort", "sort_by": "n"})),
            by_n
        );
        let down =
            json!([{"n": 2, "t": "x"}, {"n": 2, "t": "a"}, {"n": 1, "t": "y"}, {"t": "none"}]);
        let params = json!({"operations": "sort", "sort_by": "n", "sort_method": "desc"});
        assert_eq!(result(items.clone(), params), down);
        let by_both =
            json!([{"t": "none"}, {"n": 1, "t": "y"}, {"n": 2, "t": "a"}, {"n": 2, "t": "x"}]);
        assert_eq!(
            result(items, json!({"operations": "sort", "sort_by": "n, t"})),
            by_both
        );
    }

    #[test]
    fn duplicates_are_found_at_any_depth() {
        let items = json!(["b", {"a": 1, "b": 2}, "b", {"b": 2, "a": 1.0}, [1], [1], 1, true, 1.0]);
        let kept = json!(["b", {"a": 1, "b": 2}, [1], 1, true]);
        assert_eq!(
            result(items, json!({"operations": "drop_duplicates"})),
            kept
        );
    }

    #[test]
    fn first_and_last_are_always_there() {
        let params = json!({"operations": "head", "n": 2, "outputs": {"result": {}}});
        let ports = json!({"result": [3, 1], "first": 3, "last": 1});
        assert_eq!(tried(json!([3, 1, 2]), params).ports(), ports);
        let ports = json!({"result": [], "first": null, "last": null});
        assert_eq!(
            tried(json!([]), json!({"operations": "sort"})).ports(),
            ports
        );
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        let text = tried(json!("text"), json!({"operations": "sort"}));
        assert_eq!(
            text.fault().to_string(),
            "\"X\" needs a list, and env.l is of type string. Name a list."
        );
        let missing = Trial::new("ListOperations", json!({"query": "env.gone"})).run();
        assert_eq!(&*missing.fault().code, "bad_input");
    }
}
