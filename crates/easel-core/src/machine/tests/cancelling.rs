//! Ending a run from outside, and what a failure stops.

use crate::effect::Outcome;
use crate::machine::RunLife;
use crate::testing::{World, draw};

#[test]
fn a_cancelled_run_stops_what_is_under_way() {
    let drawing = draw("begin -> a, b -> end");
    let mut run = World::new(&drawing).holds("a").holds("b").run();
    run.cancel();
    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert_eq!(run.stopped(), ["a", "b"]);
    assert_eq!(run.count("end"), 0);
    for node in ["a", "b"] {
        let fault = run.steps(node)[0].fault.as_ref().unwrap();
        assert_eq!(&*fault.code, "cancelled");
    }
}

#[test]
fn a_failure_that_nobody_handles_stops_what_is_beside_it() {
    let drawing = draw("begin -> bad, slow -> end");
    let run = World::new(&drawing).fails("bad").holds("slow").run();
    assert_eq!(run.failure().0, "bad");
    assert_eq!(run.stopped(), ["slow"]);
}

#[test]
fn a_pause_between_attempts_can_be_cancelled() {
    let drawing = draw("begin -> a -> end").attempts("a", 3, 1_000);
    let mut run = World::new(&drawing).fails("a").begin();
    while run.executions("a").is_empty()
        || run.machine.life() == RunLife::Running && run.effects.len() < 3
    {
        if !run.step() {
            break;
        }
    }
    run.cancel();
    assert_eq!(run.outcome(), &Outcome::Cancelled);
}

#[test]
fn nothing_happens_to_a_run_that_is_over() {
    let mut run = World::new(&draw("begin -> a")).run();
    assert!(run.is_done());
    run.cancel();
    assert!(run.is_done());
}
