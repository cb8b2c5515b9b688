//! Branches that meet again.

use crate::testing::{Order, World, draw};

#[test]
fn a_join_of_branches_of_unequal_length_fires_once_after_the_longest() {
    let drawing =
        draw("begin -> a, b; a -> join; b -> c -> join; join -> end").reads("join", "a@out c@out");
    for order in [Order::Issue, Order::Reverse] {
        let run = World::new(&drawing).order(order).run();
        assert!(run.is_done());
        assert_eq!(run.count("join"), 1);
        assert_eq!(run.out("join"), "join(a,c)");
        assert_eq!(run.count("end"), 1);
        assert!(run.after("join", "a") && run.after("join", "c"));
    }
}

#[test]
fn a_join_that_names_only_its_fast_branch_still_waits_for_the_slow_one() {
    let drawing =
        draw("begin -> fast, slow; slow -> slower -> join; fast -> join").reads("join", "fast@out");
    let run = World::new(&drawing).run();
    assert_eq!(run.count("join"), 1);
    assert!(run.after("join", "slower"));
}

#[test]
fn a_node_both_before_a_join_and_beside_it_is_counted_once() {
    let drawing = draw("begin -> b, c; b -> d, e; c -> d");
    let run = World::new(&drawing).run();
    for node in ["b", "c", "d", "e"] {
        assert_eq!(run.count(node), 1, "{node}");
    }
    assert!(run.after("d", "b") && run.after("d", "c"));
}

#[test]
fn an_edge_that_is_drawn_twice_is_one_edge() {
    let run = World::new(&draw("begin -> a; begin -> a -> b; a -> b")).run();
    assert_eq!(run.started(), ["begin", "a", "b"]);
}

#[test]
fn a_join_waits_for_a_branch_that_is_still_held_up() {
    let drawing = draw("begin -> a, b -> join");
    let mut run = World::new(&drawing).holds("b").run();
    assert_eq!(run.count("join"), 0);
    run.release("b");
    assert_eq!(run.count("join"), 1);
    assert!(run.is_done());
}

#[test]
fn fifty_branches_meet_in_one_join() {
    let branches: Vec<String> = (0..50).map(|n| format!("n{n}")).collect();
    let drawing = draw(&format!("begin -> {} -> join", branches.join(",")));
    let run = World::new(&drawing).order(Order::Shuffled(3)).run();
    assert_eq!(run.count("join"), 1);
    assert_eq!(run.started().len(), 52);
}

#[test]
fn two_ends_are_two_ends() {
    let run = World::new(&draw("begin -> a, b")).run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "a", "b"]);
}

#[test]
fn a_workflow_of_one_node_is_done_when_that_is() {
    let run = World::new(&draw("begin")).run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin"]);
}
