//! Where a run does not go.

use crate::bind::Resolved;
use crate::testing::{World, draw};

#[test]
fn a_join_below_an_exclusive_switch_fires_for_the_branch_that_was_taken() {
    let drawing = draw("begin -> switch -> a, b -> join -> end")
        .branch("switch")
        .reads("join", "a@out b@out");
    let run = World::new(&drawing).chooses("switch", "b").run();
    assert_eq!(run.started(), ["begin", "switch", "b", "join", "end"]);
    assert_eq!(run.out("join"), "join(-,b)");
}

#[test]
fn what_lies_behind_a_dead_branch_is_dead_too() {
    let drawing = draw("begin -> switch -> a, b; a -> a1 -> a2; b -> b1").branch("switch");
    let run = World::new(&drawing).chooses("switch", "b").run();
    assert_eq!(run.started(), ["begin", "switch", "b", "b1"]);
    assert!(run.is_done());
}

#[test]
fn a_join_of_a_live_and_a_long_dead_branch_does_not_wait_for_ever() {
    let drawing =
        draw("begin -> switch, live; switch -> a, b; a -> a1 -> a2 -> join; live -> join")
            .branch("switch");
    let run = World::new(&drawing).chooses("switch", "b").run();
    assert_eq!(run.count("join"), 1);
    assert_eq!(run.count("a2"), 0);
}

#[test]
fn a_target_that_was_not_chosen_runs_if_another_live_edge_leads_to_it() {
    let drawing = draw("begin -> router, other; router -> a, b; other -> b").branch("router");
    let run = World::new(&drawing).chooses("router", "a").run();
    assert_eq!(run.count("a"), 1);
    assert_eq!(run.count("b"), 1);
    assert!(run.after("b", "other"));
}

#[test]
fn a_reference_to_a_dead_node_is_missing_and_holds_nothing_up() {
    let drawing = draw("begin -> switch, c; switch -> a, b")
        .branch("switch")
        .reads("c", "a@out b@out");
    let run = World::new(&drawing).chooses("switch", "b").run();
    assert_eq!(run.out("c"), "c(-,b)");
    let step = &run.steps("c")[0];
    assert_eq!(step.inputs.0[0], Resolved::Missing);
}

#[test]
fn a_node_that_no_edge_leads_to_never_runs_and_reads_as_missing() {
    let drawing = draw("begin -> a; lonely -> lonelier").reads("a", "lonely@out");
    let run = World::new(&drawing).run();
    assert_eq!(run.started(), ["begin", "a"]);
    assert_eq!(run.out("a"), "a(-)");
    assert!(run.is_done());
}

#[test]
fn a_live_node_behind_a_node_that_no_edge_leads_to_still_runs() {
    let drawing = draw("begin -> a -> b; lonely -> b");
    let run = World::new(&drawing).run();
    assert_eq!(run.started(), ["begin", "a", "b"]);
}

#[test]
fn a_branch_that_chooses_nothing_ends_its_path() {
    let drawing = draw("begin -> switch, other; switch -> a, b").branch("switch");
    let run = World::new(&drawing).chooses("switch", "").run();
    assert_eq!(run.started(), ["begin", "switch", "other"]);
    assert!(run.is_done());
}
