//! Ending a run from outside.

use serde_json::json;

use crate::effect::{Observation, Outcome};
use crate::event::Fact;
use crate::machine::RunLife;
use crate::testing::{Deed, World, draw};

#[test]
fn a_cancelled_run_stops_everything_under_way() {
    let mut run = World::new(&draw("begin -> a, b -> c"))
        .holds("a")
        .holds("b")
        .run();
    run.cancel();
    assert_eq!(*run.outcome(), Outcome::Cancelled);
    assert_eq!(run.stopped(), ["a", "b"]);
    assert_eq!(
        &*run.steps("a")[0].fault.as_ref().unwrap().code,
        "cancelled"
    );
    assert_eq!(run.count("c"), 0);
    assert!(run.machine.in_flight().is_empty());
    let finished = |s: &&Observation| matches!(s, Observation::NodeFinished { .. });
    assert_eq!(
        run.seen.iter().filter(finished).count(),
        3,
        "every start has an end"
    );
}

#[test]
fn a_run_can_be_cancelled_before_anything_is_done() {
    let mut run = World::new(&draw("begin -> a")).begin();
    run.cancel();
    assert_eq!(run.machine.life(), RunLife::Cancelled);
    assert_eq!(run.started(), ["begin"]);
}

#[test]
fn a_pause_between_attempts_is_cancelled_too() {
    let drawing = draw("begin -> a").attempts("a", 2, 1_000);
    let mut run = World::new(&drawing).fails("a").holds("a").begin();
    run.go();
    run.happens(Fact::Failed {
        activation: run.executions("a")[0].activation,
        attempt: 1,
        fault: crate::event::Fault::new("broke", "broke"),
        usage: Default::default(),
    });
    run.cancel();
    assert_eq!(run.stopped(), ["a"]);
    assert_eq!(run.machine.life(), RunLife::Cancelled);
}

#[test]
fn a_node_that_waits_to_be_tried_again_gets_an_end_too() {
    let drawing = draw("begin -> a, b; b -> c").attempts("a", 2, 0);
    let mut run = World::new(&drawing)
        .concurrency(1)
        .fails_first("a", 1)
        .holds("b")
        .run();
    // `a` is queued for its second attempt behind `b`.
    assert_eq!(run.started(), ["begin", "a", "b"]);
    run.cancel();
    assert_eq!(run.steps("a").len(), 1);
}

#[test]
fn bodies_are_cancelled_to_any_depth() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 2)
        .inside("each", "item -> loop")
        .item("item")
        .repeat("loop", 2)
        .inside("loop", "start -> a")
        .item("start");
    let mut run = World::new(&drawing)
        .gives("begin", json!([1, 2]))
        .holds("a")
        .run();
    run.cancel();
    assert_eq!(run.stopped(), ["a", "a"]);
    assert_eq!(run.steps("loop").len(), 2);
    assert_eq!(run.steps("each").len(), 1);
}

#[test]
fn what_was_assigned_before_the_end_stays_assigned() {
    let drawing = draw("begin -> each")
        .variable("env.x", 0)
        .each("each", "begin@out", 2)
        .inside("each", "item -> a -> b")
        .item("item")
        .writes("a", "env.x");
    let mut run = World::new(&drawing)
        .gives("begin", json!([1, 2]))
        .holds("b")
        .run();
    run.cancel();
    assert_eq!(run.variable("env.x"), "a".into());
}

#[test]
fn a_message_and_its_stream_are_cancelled_together() {
    let drawing = draw("begin -> llm -> say")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out");
    let mut run = World::new(&drawing)
        .does("llm", |_| Deed::gives("x").streaming())
        .begin();
    run.step();
    run.step();
    run.cancel();
    assert_eq!(run.stopped(), ["llm", "say"]);
}

#[test]
fn an_ended_run_cannot_be_cancelled() {
    let mut run = World::new(&draw("begin")).run();
    run.cancel();
    assert!(run.is_done());
}

#[test]
fn the_usage_of_a_run_counts_all_attempts_also_of_a_run_that_failed() {
    let drawing = draw("begin -> a").attempts("a", 3, 0);
    let mut run = World::new(&drawing).holds("a").run();
    for attempt in 1..=3 {
        let failed = Fact::Failed {
            activation: run.executions("a")[0].activation,
            attempt,
            fault: crate::event::Fault::new("broke", "broke"),
            usage: crate::event::Usage {
                prompt_tokens: 1,
                completion_tokens: 2,
                total_tokens: 3,
                calls: 1,
            },
        };
        run.happens(failed);
        let woke = Fact::Woke {
            activation: run.executions("a")[0].activation,
            attempt,
        };
        run.happens(woke);
    }
    assert_eq!(run.failure().0, "a");
    assert_eq!(run.machine.usage().total_tokens, 9);
}
