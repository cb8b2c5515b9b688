//! Runs beside one another on one thread.

use std::sync::{Arc, Mutex};

use easel_runtime::{Ending, Engine, Input, RunEvent};
use futures::executor::block_on;
use futures::future::join;
use serde_json::json;

use super::own::canvas;

#[test]
fn a_long_run_of_pure_nodes_lets_others_go_on() {
    let count = 1_000;
    let ids: Vec<String> = (0..count).map(|n| format!("StringTransform:{n}")).collect();
    let merge = json!({"method": "merge", "script": "{sys.query}", "delimiters": [","]});
    let nodes: Vec<_> = ids
        .iter()
        .map(|id| (id.as_str(), "StringTransform", merge.clone()))
        .collect();
    let engine = Engine::builder().build().unwrap();
    let workflow = Arc::new(engine.load(&canvas(&nodes)).unwrap());
    let seen = Mutex::new(Vec::new());
    let run = |name: char| {
        let (engine, workflow, seen) = (&engine, &workflow, &seen);
        async move {
            let mut session = engine.session(workflow);
            let mut observe = |_| seen.lock().unwrap().push(name);
            session.turn(Input::from("go"), &mut observe).await.unwrap();
        }
    };
    block_on(join(run('a'), run('b')));
    let seen = seen.into_inner().unwrap();
    let first_of_b = seen.iter().position(|&name| name == 'b').unwrap();
    let events_of_one = seen.len() / 2;
    assert!(
        first_of_b < events_of_one / 2,
        "{first_of_b} of {events_of_one}"
    );
}

#[test]
fn a_turn_can_be_made_on_another_thread() {
    let engine = Engine::builder().build().unwrap();
    let said = json!({"content": ["on it"]});
    let text = canvas(&[("Message:M", "Message", said)]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    let turn = async move {
        let mut said = String::new();
        let mut observe = |event: RunEvent| said += event.text();
        let ending = session.turn(Input::from("go"), &mut observe).await;
        (ending.unwrap(), said)
    };
    let thread = std::thread::spawn(|| block_on(turn));
    let (ending, said) = thread.join().unwrap();
    assert_eq!((ending, &*said), (Ending::Finished, "on it"));
}
