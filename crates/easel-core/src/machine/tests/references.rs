//! References that make nodes wait.

use serde_json::json;

use crate::compile::Finding;
use crate::testing::{Order, World, draw};

fn refused(findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|f| f.refuses()).collect()
}

#[test]
fn a_node_waits_for_a_node_it_reads_though_no_edge_leads_there() {
    let drawing = draw("begin -> slow, switch; switch -> a, b")
        .branch("switch")
        .reads("switch", "slow@out");
    for order in [Order::Issue, Order::Reverse] {
        let run = World::new(&drawing).order(order).run();
        assert!(run.after("switch", "slow"));
        assert_eq!(run.out("switch"), "switch(slow)");
    }
}

#[test]
fn a_node_waits_for_a_later_node_of_the_file_too() {
    let drawing = draw("begin -> reader, x; x -> y -> z").reads("reader", "z@out");
    let run = World::new(&drawing).run();
    assert_eq!(run.out("reader"), "reader(z)");
}

#[test]
fn a_chain_of_references_without_edges_runs_in_order() {
    let drawing = draw("begin -> a, b, c, d")
        .reads("a", "b@out")
        .reads("b", "c@out")
        .reads("c", "d@out");
    let run = World::new(&drawing).run();
    assert_eq!(run.out("a"), "a(b(c(d)))");
    assert_eq!(run.started(), ["begin", "d", "c", "b", "a"]);
}

#[test]
fn a_node_that_reads_what_comes_after_it_does_not_wait_and_the_author_is_told() {
    let drawing = draw("begin -> a -> b -> c").reads("a", "c@out");
    assert_eq!(
        drawing.findings(),
        [Finding::OrderingLeftOut {
            node: "a".into(),
            source: "c".into()
        }]
    );
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(run.out("a"), "a(-)");
}

#[test]
fn orderings_are_added_in_file_order_and_one_that_would_close_a_circle_is_left_out() {
    // a -> x and b -> y; x reads b's follower, y reads a's follower.
    let drawing = draw("begin -> a, b; a -> x; b -> y")
        .reads("a", "y@out")
        .reads("b", "x@out");
    assert_eq!(
        drawing.findings(),
        [Finding::OrderingLeftOut {
            node: "b".into(),
            source: "x".into()
        }]
    );
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(run.out("b"), "b(-)");
    assert_eq!(run.out("a"), "a(y)");
}

#[test]
fn two_siblings_that_quote_each_other_are_refused_by_name() {
    let drawing = draw("begin -> a, b")
        .reads("a", "b@out")
        .reads("b", "a@out");
    assert_eq!(
        drawing.findings(),
        [Finding::ReferenceCircle {
            nodes: vec!["a".into(), "b".into()]
        }]
    );
}

#[test]
fn a_circle_of_references_is_named_whole_each_node_before_the_one_it_waits_for() {
    let drawing = draw("begin -> a, b, c, d")
        .reads("a", "b@out d@out")
        .reads("b", "c@out")
        .reads("c", "a@out");
    assert_eq!(
        drawing.findings(),
        [Finding::ReferenceCircle {
            nodes: vec!["a".into(), "b".into(), "c".into()]
        }]
    );
}

#[test]
fn every_circle_of_references_is_reported_once() {
    let drawing = draw("begin -> a, b, c, d")
        .reads("a", "b@out b@other")
        .reads("b", "a@out a@other")
        .reads("c", "d@out")
        .reads("d", "c@out");
    assert_eq!(refused(drawing.findings()).len(), 2);
}

#[test]
fn a_node_may_read_itself_and_its_ancestors() {
    let drawing = draw("begin -> a -> b").reads("b", "begin@out a@out b@out");
    assert!(drawing.findings().is_empty());
    let run = World::new(&drawing).run();
    assert_eq!(run.out("b"), "b(begin,a,-)");
}

#[test]
fn an_unknown_node_or_variable_fails_its_reader_if_that_is_reached() {
    let drawing = draw("begin -> switch -> a, b")
        .branch("switch")
        .variable("env.topic", 1)
        .reads("a", "nobody@out")
        .reads("b", "env.topick");
    let unknown = drawing.findings();
    assert!(refused(unknown.clone()).is_empty());
    assert_eq!(unknown.len(), 2);

    let run = World::new(&drawing).chooses("switch", "a").run();
    let (node, fault) = run.failure();
    assert_eq!((node, &*fault.code), ("a", "unknown_reference"));
    assert!(fault.message.contains("nobody"), "{fault}");

    let run = World::new(&drawing).chooses("switch", "b").run();
    let (node, fault) = run.failure();
    assert_eq!(node, "b");
    assert!(
        fault.message.contains("env.topick") && fault.message.contains("env.topic"),
        "{fault}"
    );
}

#[test]
fn an_unknown_reference_fails_at_once_and_is_not_tried_again() {
    let drawing = draw("begin -> a")
        .reads("a", "nobody@out")
        .attempts("a", 3, 0);
    let run = World::new(&drawing).run();
    assert_eq!(run.executions("a").len(), 0);
    assert_eq!(run.steps("a")[0].attempt, 1);
}

#[test]
fn all_ports_of_a_node_read_as_one_object() {
    let drawing = draw("begin -> a").reads("a", "begin@");
    let drawing = match drawing.findings().is_empty() {
        true => drawing,
        false => panic!("{:?}", drawing.findings()),
    };
    let run = World::new(&drawing).run();
    assert_eq!(run.out("a"), r#"a({"out": "begin"})"#);
}

#[test]
fn a_reference_from_one_body_into_another_is_refused() {
    let drawing = draw("begin -> one, two")
        .repeat("one", 1)
        .inside("one", "i -> a")
        .item("i")
        .repeat("two", 1)
        .inside("two", "j -> b")
        .item("j")
        .reads("b", "a@out");
    let refused = refused(drawing.findings());
    assert!(
        matches!(&refused[..], [Finding::ReferenceAcrossScopes { node, .. }] if &**node == "b"),
        "{refused:?}"
    );
}

#[test]
fn a_body_reads_out_of_any_number_of_bodies() {
    let drawing = draw("begin -> one; begin -> far")
        .repeat("one", 1)
        .inside("one", "i -> near -> two")
        .item("i")
        .repeat("two", 1)
        .inside("two", "j -> b")
        .item("j")
        .reads("b", "near@out far@out begin@out");
    let run = World::new(&drawing).order(Order::Reverse).run();
    assert_eq!(run.out("b"), "b(near,far,begin)");
    assert!(run.after("one", "far"));
}

#[test]
fn an_outer_node_reads_into_any_number_of_bodies() {
    let drawing = draw("begin -> one, reader")
        .each("one", "begin@out", 1)
        .inside("one", "i -> two")
        .item("i")
        .repeat("two", 3)
        .inside("two", "j -> b")
        .item("j")
        .reads("b", "i@item")
        .reads("reader", "b@out");
    let run = World::new(&drawing).gives("begin", json!([1, 2])).run();
    assert_eq!(run.out("reader"), "reader(b(2))");
}

#[test]
fn containers_that_read_each_others_bodies_are_a_circle_of_references() {
    let drawing = draw("begin -> one, two")
        .repeat("one", 1)
        .inside("one", "i -> a")
        .item("i")
        .reads("a", "two@out")
        .repeat("two", 1)
        .inside("two", "j -> b")
        .item("j")
        .reads("b", "one@out");
    assert_eq!(
        refused(drawing.findings()),
        [Finding::ReferenceCircle {
            nodes: vec!["one".into(), "two".into()]
        }]
    );
}

#[test]
fn a_container_that_reads_a_body_that_was_never_entered_finds_nothing() {
    let drawing = draw("begin -> switch -> box, other; box, other -> reader")
        .branch("switch")
        .repeat("box", 1)
        .inside("box", "i -> a")
        .item("i")
        .reads("reader", "a@out");
    let run = World::new(&drawing).chooses("switch", "other").run();
    assert_eq!(run.out("reader"), "reader(-)");
}

#[test]
fn what_a_container_collects_may_lie_outside_and_is_waited_for() {
    let drawing = draw("begin -> each; begin -> slow")
        .each("each", "begin@out", 1)
        .collect("each", "lines", "slow@out")
        .inside("each", "i -> a")
        .item("i");
    let run = World::new(&drawing)
        .gives("begin", json!([1, 2]))
        .order(Order::Reverse)
        .run();
    assert_eq!(
        run.port("each", "lines"),
        Some(json!(["slow", "slow"]).into())
    );
}

#[test]
fn a_reference_to_a_node_that_waits_behind_a_form_waits_for_the_answer() {
    let drawing = draw("begin -> ask, reader; ask -> a; begin -> free")
        .form("ask", "name")
        .reads("reader", "a@out");
    let mut run = World::new(&drawing).run();
    assert_eq!(run.started(), ["begin", "free"]);
    run.answer(&[("name", "x")]);
    assert_eq!(run.out("reader"), "reader(a)");
}

#[test]
fn a_reference_into_json_text_and_to_a_missing_part() {
    let drawing = draw("begin -> a").reads("a", "begin@out.k.0 begin@out.nope begin@other");
    let run = World::new(&drawing).gives("begin", r#"{"k": ["v"]}"#).run();
    assert_eq!(run.out("a"), "a(v,-,-)");
}
