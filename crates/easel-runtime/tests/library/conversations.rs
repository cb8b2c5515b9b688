//! Turns of one conversation.

use std::sync::Arc;

use easel_runtime::{Ending, Engine, Input, Object, RunEvent, ScriptedWorld, Value};
use futures::executor::block_on;
use serde_json::json;

use super::own::canvas;

fn say(session: &mut easel_runtime::Session, input: Input) -> (Ending, String) {
    let mut said = String::new();
    let mut observe = |event: RunEvent| said += event.text();
    let ending = block_on(session.turn(input, &mut observe)).unwrap();
    (ending, said)
}

#[test]
fn turns_are_counted_and_remembered_and_sessions_know_nothing_of_one_another() {
    let engine = Engine::builder().build().unwrap();
    let content = json!({"content": ["{sys.conversation_turns}: {sys.query}"]});
    let text = canvas(&[("Message:M", "Message", content)]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    assert_eq!(say(&mut session, "one".into()).1, "1: one");
    assert_eq!(say(&mut session, "two".into()).1, "2: two");
    let roles: Vec<&str> = session.history().iter().map(|h| &*h.role).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    assert_eq!(session.history()[3].text(), "2: two");
    assert_eq!(say(&mut engine.session(&workflow), "x".into()).1, "1: x");
}

#[test]
fn a_form_waits_refuses_what_does_not_fit_and_goes_on_with_what_does() {
    let engine = Engine::builder().build().unwrap();
    let form = json!({
        "enable_tips": true, "tips": "Who?",
        "inputs": {"name": {"type": "line", "name": "Name"}, "age": {"type": "integer", "name": "Age"}},
    });
    let hello = json!({"content": ["Hello {UserFillUp:F@name}, {UserFillUp:F@age}."]});
    let text = canvas(&[
        ("UserFillUp:F", "UserFillUp", form),
        ("Message:M", "Message", hello),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    assert_eq!(say(&mut session, "hi".into()).0, Ending::Waiting);
    assert!(session.is_waiting());

    let fields = |pairs: &[(&str, Value)]| Input {
        inputs: pairs
            .iter()
            .map(|(k, v)| ((*k).into(), v.clone()))
            .collect::<Object>(),
        ..Input::default()
    };
    let wrong = fields(&[("colour", "red".into())]);
    assert_eq!(say(&mut session, wrong).0, Ending::Unfit);
    assert!(session.is_waiting());
    let turns = session.history().len();

    let right = fields(&[("name", "Ada".into()), ("age", 36.into())]);
    let (ending, said) = say(&mut session, right);
    assert_eq!((ending, &*said), (Ending::Finished, "Hello Ada, 36."));
    assert!(session.history().len() > turns);
}

#[test]
fn what_was_said_before_a_form_is_known_to_the_model_behind_it() {
    let world = json!({"default_reply": "Right."});
    let world = ScriptedWorld::read(world, || {}).unwrap();
    let engine = Engine::builder().model(world.model()).build().unwrap();
    let form = json!({"enable_tips": true, "tips": "Well?", "inputs": {"ok": {"type": "line"}}});
    let text = canvas(&[
        (
            "Message:Plan",
            "Message",
            json!({"content": ["I suggest tea."]}),
        ),
        ("UserFillUp:F", "UserFillUp", form),
        (
            "LLM:A",
            "LLM",
            json!({"llm_id": "m", "sys_prompt": "Help."}),
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{LLM:A@content}"]}),
        ),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    assert_eq!(
        say(&mut session, "What now?".into()),
        (Ending::Waiting, "I suggest tea.".into())
    );
    assert_eq!(
        say(&mut session, "Yes".into()),
        (Ending::Finished, "Right.".into())
    );
    let calls = world.model_calls();
    let messages = calls["LLM:A"][0]["messages"].as_array().unwrap();
    let told: Vec<&str> = messages
        .iter()
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["Help.", "What now?", "I suggest tea.", "Yes"]);
    let lines = session.variables()["sys.history"].as_array().unwrap();
    let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
    let all = [
        "user: What now?",
        "assistant: I suggest tea.",
        "user: Yes",
        "assistant: Right.",
    ];
    assert_eq!(lines, all);
}

#[test]
fn what_was_filled_in_is_known_to_the_model_in_later_turns() {
    let world = ScriptedWorld::read(json!({"default_reply": "Right."}), || {}).unwrap();
    let engine = Engine::builder().model(world.model()).build().unwrap();
    let form = json!({"inputs": {"name": {"type": "line"}, "age": {"type": "integer"}}});
    let text = canvas(&[
        ("UserFillUp:F", "UserFillUp", form),
        (
            "LLM:A",
            "LLM",
            json!({"llm_id": "m", "sys_prompt": "Help."}),
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{LLM:A@content}"]}),
        ),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    let filled_in = || Input {
        inputs: Object::from_iter([
            (
                "name".into(),
                Value::from(json!({"type": "line", "value": "Ada"})),
            ),
            ("age".into(), 36.into()),
        ]),
        ..Input::default()
    };
    for words in ["hi", "again"] {
        say(&mut session, words.into());
        say(&mut session, filled_in());
    }
    let calls = world.model_calls();
    let messages = calls["LLM:A"][1]["messages"].as_array().unwrap();
    let told: Vec<&str> = messages
        .iter()
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(
        told,
        ["Help.", "hi", "name: Ada\nage: 36", "Right.", "again"]
    );
}

#[test]
fn a_message_says_with_which_status_a_webhook_is_answered() {
    let engine = Engine::builder().build().unwrap();
    let params = json!({"content": ["Made."], "status": 201});
    let workflow = engine
        .load(&canvas(&[("Message:M", "Message", params)]))
        .unwrap();
    let mut ends = Vec::new();
    let mut observe = |event: RunEvent| {
        let event = serde_json::to_value(&event).unwrap();
        if event["event"] == "message_end" {
            ends.push(event["data"].clone());
        }
    };
    let mut session = engine.session(&Arc::new(workflow));
    block_on(session.turn("hi".into(), &mut observe)).unwrap();
    assert_eq!(ends, [json!({"status": 201, "component_id": "Message:M"})]);
}

#[test]
fn a_comparison_nobody_knows_is_false_and_the_run_goes_on() {
    let test = |operator: &str| json!({"cpn_id": "sys.query", "operator": operator, "value": "x"});
    let case = |word: &str, items: Vec<serde_json::Value>, to: &str| json!({"logical_operator": word, "items": items, "to": [to]});
    let switch = |word: &str| {
        let tests = vec![test("sounds like"), test("contains")];
        json!({"conditions": [case(word, tests, "Message:Yes")], "end_cpn_ids": ["Message:No"]})
    };
    let said = |word: &str| {
        let says = |text: &str, next: &[&str]| json!({"obj": {"component_name": "Message", "params": {"content": [text]}}, "downstream": next});
        let document = json!({"components": {
            "begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Switch:S"]},
            "Switch:S": {"obj": {"component_name": "Switch", "params": switch(word)},
                         "downstream": ["Message:Yes", "Message:No"]},
            "Message:Yes": says("yes", &[]),
            "Message:No": says("no", &[]),
        }});
        let engine = Engine::builder().build().unwrap();
        let workflow = engine.load(document.to_string().as_bytes()).unwrap();
        say(&mut engine.session(&Arc::new(workflow)), "xyz".into())
    };
    assert_eq!(said("and"), (Ending::Finished, "no".into()));
    assert_eq!(said("or"), (Ending::Finished, "yes".into()));
}

#[test]
fn a_loop_that_a_comparison_nobody_knows_should_end_runs_to_its_maximum() {
    let ends =
        |operator: &str| json!({"variable": "sys.query", "operator": operator, "value": "x"});
    let params = json!({
        "loop_variables": [], "maximum_loop_count": 3, "logical_operator": "and",
        "loop_termination_condition": [ends("sounds like"), ends("not empty")],
    });
    let node = |component: &str, params: serde_json::Value, next: &[&str], parent: Option<&str>| {
        let obj = json!({"component_name": component, "params": params});
        json!({"obj": obj, "downstream": next, "parent_id": parent})
    };
    let document = json!({"components": {
        "begin": node("Begin", json!({}), &["Loop:L"], None),
        "Loop:L": node("Loop", params, &["Message:End"], None),
        "LoopItem:I": node("LoopItem", json!({}), &["Message:Turn"], Some("Loop:L")),
        "Message:Turn": node("Message", json!({"content": ["."]}), &[], Some("Loop:L")),
        "Message:End": node("Message", json!({"content": ["end"]}), &[], None),
    }});
    let engine = Engine::builder().build().unwrap();
    let workflow = engine.load(document.to_string().as_bytes()).unwrap();
    let found = engine.check(&workflow);
    let codes: Vec<&str> = found.iter().map(|found| found.code.rule().name).collect();
    assert!(codes.contains(&"unknown-operator"), "{codes:?}");
    assert!(codes.contains(&"loop-without-end"), "{codes:?}");
    let said = say(&mut engine.session(&Arc::new(workflow)), "xyz".into());
    assert_eq!(said, (Ending::Finished, "...end".into()));
}
