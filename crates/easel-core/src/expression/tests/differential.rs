//! Random expressions, beside what CPython makes of them.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::Object;
use crate::testing::python;

const LEAVES: [&str; 46] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "10",
    "100",
    "0.5",
    "1.5",
    "2.5",
    "0.1",
    "1e10",
    "1e300",
    "1e-7",
    "True",
    "False",
    "None",
    "'a'",
    "'Ab'",
    "''",
    "'1'",
    "' 12 '",
    "'2.5'",
    "'[1, {\"x\": 2}]'",
    "'ä'",
    "9223372036854775807",
    "18446744073709551615",
    "9007199254740993",
    "inputs.n",
    "inputs.s",
    "inputs.l",
    "inputs.z",
    "inputs.f",
    "inputs.d",
    "inputs.texts",
    "inputs.json",
    "inputs.nope",
    "nodes.c",
    "nodes.txt",
    "vars.score",
    "index",
    "item",
    "nope",
    "[]",
    "{}",
    "'x'",
];

const OPERATORS: [&str; 26] = [
    "+", "-", "*", "/", "//", "%", "**", "+", "-", "*", "/", "//", "%", "and", "or", "==", "!=",
    "<", "<=", ">", ">=", "in", "not in", "is", "is not", "and",
];

/// Functions, and with how many arguments they are called.
const FUNCTIONS: [(&str, usize); 23] = [
    ("len", 1),
    ("bool", 1),
    ("int", 1),
    ("float", 1),
    ("str", 1),
    ("abs", 1),
    ("min", 1),
    ("min", 2),
    ("min", 3),
    ("max", 1),
    ("max", 2),
    ("sum", 1),
    ("sum", 2),
    ("any", 1),
    ("all", 1),
    ("sorted", 1),
    ("round", 1),
    ("round", 2),
    ("lower", 1),
    ("upper", 1),
    ("startswith", 2),
    ("endswith", 2),
    ("contains", 2),
];

/// Expressions as people could write them, most of them with a value, some with parentheses left out.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(LEAVES.as_slice()).prop_map(str::to_owned);
    leaf.prop_recursive(5, 24, 3, |inner| {
        let operator = || prop::sample::select(OPERATORS.as_slice());
        let function = prop::sample::select(FUNCTIONS.as_slice());
        let one = || inner.clone();
        prop_oneof![
            4 => (one(), operator(), one()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            3 => (one(), operator(), one()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            1 => (one(), operator(), one(), operator(), one()).prop_map(|(a, op, b, other, c)| format!("{a} {op} {b} {other} {c}")),
            2 => one().prop_map(|a| format!("-{a}")),
            1 => one().prop_map(|a| format!("not {a}")),
            1 => (one(), one(), one()).prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            4 => (function, prop::collection::vec(one(), 3)).prop_map(|((name, count), arguments)| format!("{name}({})", arguments[..count].join(", "))),
            1 => prop::collection::vec(one(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            1 => prop::collection::vec(one(), 1..3).prop_map(|items| format!("({},)", items.join(", "))),
            1 => prop::collection::vec(one(), 1..3).prop_map(|items| format!("{{{}}}", items.join(", "))),
            1 => (one(), one()).prop_map(|(a, b)| format!("{{'a': {a}, str({b}): 1}}")),
            1 => (one(), one()).prop_map(|(a, b)| format!("({a})[{b}]")),
            1 => one().prop_map(|a| format!("({a}).x")),
            1 => one().prop_map(|a| format!("({a})['a'][0]")),
        ]
    })
}

/// The answer in the form of the reference's: `["value", …]`, `["error", kind]`, `["syntax"]`.
fn ours(text: &str) -> Vec<String> {
    let Ok(parsed) = parse(text) else {
        return vec!["syntax".into()];
    };
    let (expression, inputs) = bound(parsed);
    match expression.evaluate(&inputs) {
        Ok(value) => vec!["value".into(), value.to_json_text()],
        Err(error) => vec!["error".into(), format!("{:?}", error.kind)],
    }
}

/// The reference's answer, its JSON written as ours is.
fn theirs(answer: &Value) -> Vec<String> {
    let words = answer.as_array().unwrap().iter();
    let mut words: Vec<String> = words
        .map(|word| word.as_str().unwrap().to_owned())
        .collect();
    if let [kind, text] = words.as_mut_slice()
        && kind == "value"
    {
        *text = json(text).to_json_text();
    }
    words
}

#[test]
fn expressions_have_the_value_or_the_error_that_cpython_gives_them() {
    let texts = python::samples(4_000, &expressions());
    let names = ["inputs", "nodes", "vars", "state", "item", "index"];
    let scope = names.map(|name| (Arc::from(name), evaluate(name).unwrap()));
    let task = Object::from_iter([
        (Arc::from("scope"), Value::from(Object::from_iter(scope))),
        (
            Arc::from("texts"),
            Value::from(
                texts
                    .iter()
                    .map(|text| text.as_str().into())
                    .collect::<Vec<Value>>(),
            ),
        ),
    ]);
    let Some(answers) = python::answer(include_str!("reference.py"), &task.into()) else {
        return;
    };
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), texts.len());
    let valued = answers
        .iter()
        .filter(|answer| theirs(answer).len() == 2 && theirs(answer)[0] == "value")
        .count();
    assert!(
        valued > texts.len() / 4,
        "only {valued} of {} have a value",
        texts.len()
    );
    let different: Vec<String> = texts
        .iter()
        .zip(answers)
        .map(|(text, answer)| (text, ours(text), theirs(answer)))
        .filter(|(_, ours, theirs)| ours != theirs)
        .map(|(text, ours, theirs)| format!("{text}\n    here    {ours:?}\n    CPython {theirs:?}"))
        .collect();
    let shown = different
        .iter()
        .take(20)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        different.is_empty(),
        "{} of {} differ:\n{shown}",
        different.len(),
        texts.len()
    );
}
