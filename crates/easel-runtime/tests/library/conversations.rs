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
