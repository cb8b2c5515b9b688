//! Ending what is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use easel_runtime::components::Run;
use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::machine::NodeLife;
use easel_runtime::{Ending, Engine, Input, ScriptedWorld};
use futures::channel::oneshot;
use futures::executor::block_on;
use serde_json::json;

use super::own::{Own, canvas};

/// Says when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A component that never comes back, and whether its work was dropped.
fn endless() -> (Arc<Own>, Arc<AtomicBool>) {
    let dropped = Arc::new(AtomicBool::new(false));
    let flag = dropped.clone();
    let (own, _) = Own::new("Endless", EffectClass::Reads, move |_| {
        let guard = Dropped(flag.clone());
        Run::later(async move {
            let _guard = guard;
            std::future::pending().await
        })
    });
    (own, dropped)
}

#[test]
fn a_run_that_somebody_stops_ends_as_cancelled_and_its_work_is_dropped() {
    let (own, dropped) = endless();
    let engine = Engine::builder().component(own).build().unwrap();
    let text = canvas(&[("Endless:E", "Endless", json!({}))]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let mut stop = Some(stop);
    let mut events = Vec::new();
    let mut session = engine.session(&workflow);
    let mut observe = |event: easel_runtime::RunEvent| {
        let started_last = event.kind.name() == "node_started" && !events.is_empty();
        events.push(event.kind.name());
        if started_last && events.len() > 3 {
            stop.take().map(|stop| stop.send(()));
        }
    };
    let turn = session.turn_until(Input::from("go"), &mut observe, async {
        let _ = stopped.await;
    });
    assert_eq!(block_on(turn).unwrap(), Ending::Cancelled);
    assert!(dropped.load(Ordering::SeqCst));
    assert_eq!(events.last(), Some(&"workflow_finished"));
    // The conversation goes on after it.
    assert!(!session.is_waiting());
}

#[test]
fn a_node_that_takes_longer_than_it_may_fails_and_its_work_is_dropped() {
    let (own, dropped) = endless();
    let engine = Engine::builder().component(own).build().unwrap();
    let text = canvas(&[("Endless:E", "Endless", json!({"timeout_s": 0.01}))]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut session = engine.session(&workflow);
    let ending = block_on(session.turn(Input::from("go"), &mut |_| {})).unwrap();
    let Ending::Failed { node, fault } = ending else {
        panic!("{ending:?}");
    };
    assert_eq!(
        (node.as_deref(), &*fault.code),
        (Some("Endless:E"), "timeout")
    );
    assert!(dropped.load(Ordering::SeqCst));
}

#[test]
fn whoever_stops_a_run_at_the_first_word_of_a_message_keeps_the_rest_from_being_done() {
    let world = ScriptedWorld::read(json!({"rules": [{"reply": "abcdefghi"}]}), || {}).unwrap();
    let engine = Engine::builder().model(world.model()).build().unwrap();
    let prompt = json!({"llm_id": "m", "prompts": [{"role": "user", "content": "{sys.query}"}]});
    let text = canvas(&[
        ("LLM:A", "LLM", prompt),
        (
            "Message:M",
            "Message",
            json!({"content": ["{LLM:A@content}"]}),
        ),
        (
            "StringTransform:B",
            "StringTransform",
            json!({"method": "merge", "script": "{Message:M@content}", "delimiters": [","]}),
        ),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let stop = AtomicBool::new(false);
    let mut observe = |event: easel_runtime::RunEvent| {
        if event.kind.name() == "message" {
            stop.store(true, Ordering::SeqCst);
        }
    };
    let stopped = std::future::poll_fn(|_| match stop.load(Ordering::SeqCst) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    let mut session = engine.session(&workflow);
    let turn = session.turn_until(Input::from("go"), &mut observe, stopped);
    assert_eq!(block_on(turn).unwrap(), Ending::Cancelled);
    let done = session
        .lives()
        .find(|(id, _)| &***id == "StringTransform:B");
    assert_ne!(done.unwrap().1, Some(NodeLife::Done));
}
