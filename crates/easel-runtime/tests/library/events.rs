//! Events as programs read them.

use std::sync::Arc;

use easel_runtime::components::Run;
use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::event::Fault;
use easel_runtime::{Engine, Input, Object, RunEvent, Session, Value};
use futures::executor::block_on;
use serde_json::json;

use super::own::{Own, canvas};

/// Makes a turn and compares the two ways in which each of its events is written.
fn turn(session: &mut Session, input: Input) -> Vec<String> {
    let mut names = Vec::new();
    let mut observe = |event: RunEvent| {
        let mut line = Vec::new();
        event.write_json(&mut line);
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line, serde_json::to_string(&event).unwrap());
        names.push(event.kind.name().to_owned());
    };
    let _ = block_on(session.turn(input, &mut observe));
    names
}

#[test]
fn an_event_is_written_fast_as_it_is_written_by_any_serialiser() {
    let (fails, _) = Own::new("Fails", EffectClass::Reads, |_| {
        Run::Done(Err(Fault::new("broken", "It said: \"no\"\n").into()))
    });
    let engine = Engine::builder().component(fails).build().unwrap();
    let form = json!({"inputs": {"name": {"type": "line", "name": "Na\"me"}}, "tips": "Who?\n"});
    let list =
        json!({"items_ref": "env.list", "outputs": {"all": {"ref": "StringTransform:é@result"}}});
    let merge =
        json!({"method": "merge", "script": "\"{item}\" \\ {sys.query}", "delimiters": [","]});
    let said = json!({"content": ["{UserFillUp:F@name}: {Iteration:I@all} \u{1}"], "status": 201});
    let own = json!({"max_retries": 1, "delay_after_error": 0});
    let mut text: serde_json::Value = serde_json::from_slice(&canvas(&[
        ("UserFillUp:F", "UserFillUp", form),
        ("Iteration:I", "Iteration", list),
        ("Message:M", "Message", said),
        ("Fails:X", "Fails", own),
    ]))
    .unwrap();
    let list = json!(["a", 1, null, {"k": 1.5}]);
    text["globals"] = json!({"env.list": list});
    text["variables"] = json!({"list": {"value": list}});
    for (id, class, params, next) in [
        (
            "IterationItem:T",
            "IterationItem",
            json!({}),
            vec!["StringTransform:é"],
        ),
        ("StringTransform:é", "StringTransform", merge, vec![]),
    ] {
        text["components"][id] = json!({
            "obj": {"component_name": class, "params": params},
            "downstream": next, "parent_id": "Iteration:I",
        });
    }
    let workflow = Arc::new(engine.load(text.to_string().as_bytes()).unwrap());
    let mut session = engine.session(&workflow);
    let mut seen = turn(&mut session, "say \"hi\"\t".into());
    let fields = |name: &str| Input {
        inputs: Object::from_iter([(name.into(), Value::from("Ada"))]),
        ..Input::default()
    };
    seen.extend(turn(&mut session, fields("no field")));
    seen.extend(turn(&mut session, fields("name")));
    for name in [
        "workflow_started",
        "node_started",
        "node_finished",
        "user_inputs",
        "answer_unfit",
        "message",
        "message_end",
        "attempt_failed",
        "error",
    ] {
        assert!(seen.iter().any(|seen| seen == name), "no {name}: {seen:?}");
    }
    let mut session = engine.session(&workflow);
    session_finishes(&mut session);
}

/// A run that is ended by somebody tells so in both ways too.
fn session_finishes(session: &mut Session) {
    let mut observe = |event: RunEvent| {
        let mut line = Vec::new();
        event.write_json(&mut line);
        assert_eq!(line, serde_json::to_vec(&event).unwrap());
    };
    let turn = session.turn_until("x".into(), &mut observe, async {});
    let _ = block_on(turn);
}
