//! Who waits for whose values.

use crate::compile::Finding;
use crate::testing::{World, draw};

#[test]
fn a_node_waits_for_a_value_from_beside_it() {
    let drawing = draw("begin -> slow, reader").reads("reader", "slow@out");
    let mut run = World::new(&drawing).holds("slow").run();
    assert_eq!(run.count("reader"), 0);
    run.release("slow");
    assert_eq!(run.out("reader"), "reader(slow)");
}

#[test]
fn a_value_of_a_dead_node_is_missing_and_nobody_waits_for_it() {
    let drawing = draw("begin -> switch -> a, b; begin -> reader")
        .branch("switch")
        .reads("reader", "b@out");
    let run = World::new(&drawing).chooses("switch", "a").run();
    assert!(run.is_done());
    assert_eq!(run.out("reader"), "reader(-)");
}

#[test]
fn nodes_that_each_wait_for_the_other_are_refused_by_name() {
    let drawing = draw("begin -> a, b")
        .reads("a", "b@out")
        .reads("b", "a@out");
    let findings = drawing.findings();
    let circle = findings.iter().find(|f| f.refuses());
    let Some(Finding::ReferenceCircle { nodes }) = circle else {
        panic!("{findings:?}");
    };
    assert_eq!(nodes.len(), 2);
}

#[test]
fn a_value_from_further_down_is_not_waited_for() {
    let drawing = draw("begin -> a -> b").reads("a", "b@out");
    let left_out = |f: &Finding| matches!(f, Finding::OrderingLeftOut { .. });
    assert!(drawing.findings().iter().any(left_out));
    assert!(World::new(&drawing).run().is_done());
}

#[test]
fn an_unknown_name_fails_the_node_and_says_what_there_is() {
    let drawing = draw("begin -> a").variable("env.x", 1).reads("a", "env.y");
    let run = World::new(&drawing).run();
    let (node, fault) = run.failure();
    assert_eq!((node, &*fault.code), ("a", "unknown_reference"));
    assert!(fault.message.contains("env.x"), "{fault}");
}

#[test]
fn of_two_nodes_with_one_id_the_second_is_refused() {
    let findings = draw("begin -> a").again("a").findings();
    let twice = |f: &Finding| matches!(f, Finding::DuplicateId { .. });
    assert!(findings.iter().any(|f| twice(f) && f.refuses()));
}

#[test]
fn a_file_without_an_entry_is_refused() {
    let findings = draw("a -> b").entry(None).findings();
    assert!(findings.contains(&Finding::NoEntry));
}
