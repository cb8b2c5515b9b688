//! Code nodes as users set them up.

use easel_core::Value;
use easel_tools::ScriptedWorld;
use serde_json::{Value as Json, json};

use crate::testing::{Trial, Tried};

fn run(params: Json, rule: Json) -> (Tried, Vec<Json>) {
    let mut all = json!({"lang": "python", "script": "def main(x): return x", "arguments": {"x": "sys.query"}});
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    let world = ScriptedWorld::new(serde_json::from_value(json!({"code": [rule]})).unwrap());
    let trial = Trial::new("CodeExec", all).given("sys.query", json!("hello"));
    let tried = trial.world(world.world()).run();
    let calls = world.take_calls().iter().map(Value::to_json).collect();
    (tried, calls)
}

#[test]
fn the_result_goes_to_the_declared_output() {
    let (tried, calls) = run(
        json!({"outputs": {"total": {"type": "Object"}}}),
        json!({"result": {"b": 1, "a": [1]}}),
    );
    assert_eq!(
        tried.ports(),
        json!({"total": {"b": 1, "a": [1]}, "raw_result": {"b": 1, "a": [1]}, "actual_type": "Object", "attachments": [],
               "content": "{\n  \"a\": [\n    1\n  ],\n  \"b\": 1\n}"})
    );
    assert_eq!(
        calls,
        [json!({"code": "python", "arguments": {"x": "hello"}})]
    );
}

#[test]
fn a_script_may_print_its_result() {
    let (tried, _) = run(json!({}), json!({"stdout": "{\"a\": 1}\n"}));
    assert_eq!(tried.port("result"), json!({"a": 1}));
    let (tried, _) = run(json!({"lang": "nodejs"}), json!({"stdout": "hello"}));
    assert_eq!(tried.port("content"), json!("hello"));
}

#[test]
fn what_does_not_fit_fails_and_says_what_was_returned() {
    let (tried, _) = run(
        json!({"outputs": {"n": {"type": "Array<Number>"}}}),
        json!({"result": [1, "a"]}),
    );
    assert_eq!(&*tried.fault().code, "bad_output");
    assert!(
        tried.fault().message.contains("Array<Any>"),
        "{}",
        tried.fault()
    );
}

#[test]
fn a_script_that_only_complains_failed() {
    let (tried, _) = run(json!({}), json!({"stderr": "Traceback: bad"}));
    assert_eq!(
        &*tried.fault().message,
        "\"X\" failed: the script failed: Traceback: bad."
    );
    let (warned, _) = run(json!({}), json!({"stderr": "a warning", "result": 1}));
    assert_eq!(warned.port("result"), json!(1));
}

#[test]
fn a_language_nobody_speaks_is_named() {
    let (tried, _) = run(json!({"lang": "cobol"}), json!({"result": 1}));
    assert!(
        tried.fault().message.contains("`lang`"),
        "{}",
        tried.fault()
    );
}
