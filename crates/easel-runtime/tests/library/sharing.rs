//! Runs beside one another on one thread.

use std::sync::{Arc, Mutex};

use easel_runtime::components::Run;
use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::event::Completion;
use easel_runtime::{Bounds, Ending, Engine, Input, RunEvent};
use futures::executor::block_on;
use futures::future::join;
use serde_json::json;

use super::own::{Own, canvas};

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

#[test]
fn no_more_tools_run_at_once_than_are_allowed_and_everybody_gets_a_turn() {
    #[derive(Default)]
    struct Count {
        now: usize,
        most: usize,
        order: Vec<String>,
    }
    let count = Arc::new(Mutex::new(Count::default()));
    let counted = count.clone();
    let (ask, _) = Own::new("Ask", EffectClass::Reads, move |call| {
        let counted = counted.clone();
        let run = call.run.id.to_string();
        Run::Later(Box::pin(async move {
            {
                let mut count = counted.lock().unwrap();
                count.now += 1;
                count.most = count.most.max(count.now);
                count.order.push(run);
            }
            // Others get their turn meanwhile.
            for _ in 0..3 {
                futures::pending!();
            }
            counted.lock().unwrap().now -= 1;
            Ok(Completion::default())
        }))
    });
    let bounds = Bounds {
        tools: 2,
        ..Bounds::default()
    };
    let engine = Engine::builder().component(ask).bounds(bounds).seed(1);
    let engine = engine.build().unwrap();
    let nodes = ["Ask:A", "Ask:B", "Ask:C"].map(|id| (id, "Ask", json!({})));
    let workflow = Arc::new(engine.load(&canvas(&nodes)).unwrap());
    let runs = (0..6).map(|_| {
        let (engine, workflow) = (&engine, &workflow);
        async move {
            let mut session = engine.session(workflow);
            session.turn(Input::from("go"), &mut |_| {}).await.unwrap();
        }
    });
    // Polled over and over, as what waits here wakes nobody.
    let mut all = Box::pin(futures::future::join_all(runs));
    let waker = futures::task::noop_waker();
    let mut context = std::task::Context::from_waker(&waker);
    while all.as_mut().poll(&mut context).is_pending() {}
    let count = count.lock().unwrap();
    assert_eq!(count.most, 2);
    assert_eq!(count.order.len(), 18);
    let first_six: std::collections::BTreeSet<_> = count.order[..6].iter().collect();
    assert_eq!(
        first_six.len(),
        6,
        "every run before any has its second: {:?}",
        count.order
    );
}
