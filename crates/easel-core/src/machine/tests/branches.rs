//! Nodes that choose.

use crate::testing::{Deed, World, draw};

#[test]
fn a_switch_may_go_several_ways_at_once() {
    let drawing = draw("begin -> switch -> a, b, c -> join")
        .branch("switch")
        .reads("join", "a@out b@out c@out");
    let run = World::new(&drawing).chooses("switch", "a c").run();
    assert_eq!(run.out("join"), "join(a,-,c)");
}

#[test]
fn a_choice_that_no_edge_carries_fails_the_switch_and_names_the_target() {
    let drawing = draw("begin -> switch -> a; b").branch("switch");
    let run = World::new(&drawing).chooses("switch", "b").run();
    let (node, fault) = run.failure();
    assert_eq!((node, &*fault.code), ("switch", "no_such_target"));
    assert!(fault.message.contains("\"b\""), "{fault}");
}

#[test]
fn an_error_edge_is_no_choice() {
    let drawing = draw("begin -> switch -> a; h")
        .branch("switch")
        .on_error("switch", "h");
    let run = World::new(&drawing).chooses("switch", "h").run();
    assert_eq!(
        run.count("h"),
        1,
        "the bad choice is a failure, which is handled"
    );
    assert_eq!(run.count("a"), 0);
    assert!(run.is_done());
}

#[test]
fn a_switch_inside_a_switch() {
    let drawing = draw("begin -> s1 -> s2, x; s2 -> a, b; a, b, x -> join")
        .branch("s1")
        .branch("s2")
        .reads("join", "a@out b@out x@out");
    let inner = World::new(&drawing).chooses("s1", "s2").chooses("s2", "a");
    assert_eq!(inner.run().out("join"), "join(a,-,-)");
    let outer = World::new(&drawing).chooses("s1", "x").chooses("s2", "a");
    assert_eq!(outer.run().out("join"), "join(-,-,x)");
}

#[test]
fn a_failed_switch_with_a_default_value_goes_nowhere() {
    let drawing = draw("begin -> switch -> a, b; begin -> c")
        .branch("switch")
        .default("switch", "sorry");
    let run = World::new(&drawing).fails("switch").run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "switch", "c"]);
    assert_eq!(run.out("switch"), "sorry");
}

#[test]
fn a_plain_node_takes_all_its_edges() {
    let run = World::new(&draw("begin -> a -> b, c, d"))
        .does("a", |_| Deed::gives(1))
        .run();
    assert_eq!(run.started(), ["begin", "a", "b", "c", "d"]);
}
