//! A scripted model in a scripted browser.

use easel_core::Value;
use easel_tools::ScriptedWorld;
use serde_json::{Value as Json, json};

use crate::testing::{Trial, Tried};
use crate::turn::Turn;

/// A model that makes these answers, one after the other: calls of tools, or a text.
fn model(answers: Json) -> Json {
    let rules = answers.as_array().unwrap().iter().map(|answer| {
        let mut rule = match answer {
            Json::String(text) => json!({"reply": text}),
            calls => json!({"tool_calls": calls}),
        };
        rule["times"] = json!(1);
        rule
    });
    rules.collect()
}

fn call(name: &str, arguments: Json) -> Json {
    json!({"name": name, "arguments": arguments})
}

/// A shop with two pages and a file.
fn shop() -> Json {
    json!({
        "https://shop.example/": {"text": "Shop\n[1] search\n[2] link Report", "links": {"1": "https://shop.example/?q", "2": "https://shop.example/report"}},
        "https://shop.example/?q": {"text": "One teapot, 12 euros."},
        "https://shop.example/report": {"text": "There you are.", "downloads": {"report.csv": "a,b"}},
    })
}

fn browse(params: Json, answers: Json) -> (Tried, Vec<Json>) {
    let mut all = json!({"llm_id": "m", "prompts": "What does a teapot cost?"});
    all.as_object_mut()
        .unwrap()
        .extend(params.as_object().unwrap().clone());
    let script = json!({
        "browser": shop(),
        "rules": model(answers),
        "files": {"f1": "notes", "another-users": "private"},
        "http": [{"match": {"contains": "cat.txt"}, "text": "meow"}],
    });
    let world = ScriptedWorld::new(serde_json::from_value(script.clone()).unwrap());
    let tried = Trial::new("Browser", all)
        .model(script)
        .world(world.world())
        .turn(Turn {
            files: vec![Value::from(json!({"id": "f1", "name": "notes.txt"}))],
            ..Turn::default()
        })
        .run();
    let calls = world.take_calls();
    (tried, calls.iter().map(|call| call.to_json()).collect())
}

#[test]
fn a_model_works_in_pages_until_it_is_done() {
    let (tried, calls) = browse(
        json!({}),
        json!([
            [call("go", json!({"address": "https://shop.example/"}))],
            [call(
                "type",
                json!({"element": 1, "text": "teapot", "enter": true})
            )],
            [call("done", json!({"answer": "12 euros"}))],
        ]),
    );
    assert_eq!(tried.port("content"), "12 euros");
    assert_eq!(tried.port("downloaded_files"), json!([]));
    assert_eq!(
        calls,
        [
            json!({"browser": []}),
            json!({"step": "go", "address": "https://shop.example/"}),
            json!({"step": "type", "element": 1, "text": "teapot", "enter": true}),
        ]
    );
}

#[test]
fn a_step_that_does_not_work_is_told_and_the_model_goes_on() {
    let (tried, _) = browse(
        json!({}),
        json!([
            [
                call("go", json!({"address": "https://nowhere.example/"})),
                call("click", json!({"element": 7}))
            ],
            "It cannot be found.",
        ]),
    );
    assert_eq!(tried.port("content"), "It cannot be found.");
}

#[test]
fn when_no_step_is_left_the_model_has_to_answer() {
    let go = || json!([call("go", json!({"address": "https://shop.example/"}))]);
    let (tried, calls) = browse(
        json!({"max_steps": 2}),
        json!([go(), go(), "I found a shop."]),
    );
    assert_eq!(tried.port("content"), "I found a shop.");
    assert_eq!(calls.len(), 3, "one browser and two steps: {calls:?}");
}

#[test]
fn what_was_downloaded_is_given_as_files() {
    let (tried, _) = browse(
        json!({}),
        json!([
            [call("go", json!({"address": "https://shop.example/"}))],
            [call("click", json!({"element": 2}))],
            [call("done", json!({"answer": "There."}))],
        ]),
    );
    let expected = json!([{"name": "report.csv", "url": "data:text/plain;base64,YSxi", "mime_type": "text/plain", "size": 3}]);
    assert_eq!(tried.port("downloaded_files"), expected);
    assert_eq!(tried.port("_ARTIFACTS"), expected);
}

#[test]
fn files_are_handed_in_by_id_and_by_address() {
    let (_, calls) = browse(
        json!({"upload_sources": "f1, https://a.example/cat.txt?x=1"}),
        json!(["Done."]),
    );
    assert!(
        calls.contains(&json!({"browser": ["notes.txt", "cat.txt"]})),
        "{calls:?}"
    );
    let (tried, calls) = browse(
        json!({"upload_sources": ["another-users"]}),
        json!(["Done."]),
    );
    assert_eq!(&*tried.fault().code, "tool.not_found");
    assert!(calls.is_empty(), "no browser was opened");
    let many: Vec<String> = (0..11).map(|n| format!("https://a.example/{n}")).collect();
    let (tried, _) = browse(json!({"upload_sources": many}), json!(["Done."]));
    let message = &tried.fault().message;
    assert!(
        message.contains("names 11 files, and 10 are allowed"),
        "{message}"
    );
}

#[test]
fn without_a_browser_or_a_task_it_says_so() {
    let none = Trial::new("Browser", json!({"llm_id": "m", "prompts": "Look."}));
    let tried = none.model(json!({"rules": []})).run();
    assert_eq!(&*tried.fault().code, "tool.not_configured");
    let (tried, _) = browse(json!({"prompts": " "}), json!([]));
    assert!(
        tried.fault().message.contains("nothing to do"),
        "{}",
        tried.fault().message
    );
}
