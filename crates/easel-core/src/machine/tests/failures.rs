//! What a failure does.

use serde_json::json;

use crate::Value;
use crate::effect::{Observation, Outcome};
use crate::machine::RunLife;
use crate::testing::{Deed, Order, World, draw};

#[test]
fn an_unhandled_failure_fails_the_run_and_stops_work_in_flight() {
    let drawing = draw("begin -> good, bad; good -> g; bad -> b; g, b -> join");
    let run = World::new(&drawing)
        .fails("bad")
        .order(Order::Reverse)
        .run();
    let (node, fault) = run.failure();
    assert_eq!((node, &*fault.message), ("bad", "bad broke"));
    assert_eq!(run.stopped(), ["good"]);
    assert_eq!(
        run.steps("good")[0].fault.as_ref().unwrap().code,
        "cancelled".into()
    );
    assert_eq!(run.count("b") + run.count("join"), 0);
    let started = run.started().len();
    let finished = |s: &&Observation| matches!(s, Observation::NodeFinished { .. });
    assert_eq!(
        run.seen.iter().filter(finished).count(),
        started,
        "every start has an end"
    );
}

#[test]
fn what_was_done_before_the_failure_stays_done() {
    let drawing = draw("begin -> good, bad");
    let run = World::new(&drawing).fails("bad").run();
    assert_eq!(run.out("good"), "good");
    assert_eq!(run.port("good", "out"), Some("good".into()));
    assert_eq!(run.failure().0, "bad");
}

#[test]
fn a_handled_failure_takes_the_error_edges_and_no_others() {
    let drawing = draw("begin -> a -> b; h -> end; b -> end")
        .on_error("a", "h")
        .reads("h", "a@_ERROR");
    let failed = World::new(&drawing).fails("a").run();
    assert!(failed.is_done(), "the failure counts as handled");
    assert_eq!(failed.started(), ["begin", "a", "h", "end"]);
    assert_eq!(failed.out("h"), "h(a broke)");
    assert!(failed.steps("a")[0].fault.is_some());

    let well = World::new(&drawing).run();
    assert_eq!(well.started(), ["begin", "a", "b", "end"]);
}

#[test]
fn several_handlers_all_run() {
    let drawing = draw("begin -> a; h; i").on_error("a", "h, i");
    let run = World::new(&drawing).fails("a").run();
    assert_eq!(run.started(), ["begin", "a", "h", "i"]);
}

#[test]
fn one_target_may_be_both_the_next_node_and_the_handler() {
    let drawing = draw("begin -> a -> b").on_error("a", "b");
    for world in [World::new(&drawing), World::new(&drawing).fails("a")] {
        let run = world.run();
        assert_eq!(run.started(), ["begin", "a", "b"]);
        assert!(run.is_done());
    }
}

#[test]
fn a_default_value_stands_in_and_the_run_goes_on() {
    let drawing = draw("begin -> a -> b")
        .default("a", "spare")
        .reads("b", "a@out a@_ERROR");
    let run = World::new(&drawing).fails("a").run();
    assert!(run.is_done());
    assert_eq!(run.out("b"), "b(spare,-)");
    let failed: Vec<_> = run
        .seen
        .iter()
        .filter_map(|s| match s {
            Observation::AttemptFailed(step) => {
                Some((step.attempt, &*step.fault.as_ref()?.message))
            }
            _ => None,
        })
        .collect();
    assert_eq!(failed, [(1, "a broke")], "the failure is on record");
    assert_eq!(run.steps("a")[0].fault, None);
}

#[test]
fn a_broken_node_fails_only_when_it_is_reached() {
    let drawing = draw("begin -> switch -> a, b")
        .branch("switch")
        .broken("b", "no url");
    assert!(World::new(&drawing).chooses("switch", "a").run().is_done());
    let run = World::new(&drawing).chooses("switch", "b").run();
    let (node, fault) = run.failure();
    assert_eq!((node, &*fault.message), ("b", "no url"));
    assert_eq!(run.executions("b").len(), 0);
}

#[test]
fn a_broken_node_may_have_a_default_or_a_handler_too() {
    let spare = draw("begin -> a -> b")
        .broken("a", "no url")
        .default("a", 1);
    assert_eq!(World::new(&spare).run().started(), ["begin", "a", "b"]);
    let handled = draw("begin -> a -> b; h")
        .broken("a", "no url")
        .on_error("a", "h");
    assert_eq!(World::new(&handled).run().started(), ["begin", "a", "h"]);
}

#[test]
fn in_a_graph_only_what_lies_behind_a_failure_is_skipped() {
    let drawing =
        draw("begin -> bad, good; bad -> b1 -> b2; good -> g1; b2, g1 -> join; g1 -> end")
            .failing_edges();
    for order in [Order::Issue, Order::Reverse] {
        let run = World::new(&drawing).fails("bad").order(order).run();
        assert_eq!(run.count("g1") + run.count("end"), 2);
        assert_eq!(run.count("b1") + run.count("b2") + run.count("join"), 0);
        assert_eq!(run.failure().0, "bad");
        assert!(run.stopped().is_empty());
    }
}

#[test]
fn a_failed_edge_weighs_more_than_a_dead_or_a_taken_one() {
    let drawing = draw("begin -> bad, good, switch; switch -> x, y; bad, good, x -> join")
        .branch("switch")
        .failing_edges();
    let run = World::new(&drawing)
        .fails("bad")
        .chooses("switch", "y")
        .run();
    assert_eq!(run.count("join"), 0);
    assert_eq!(run.count("y"), 1);
}

#[test]
fn the_first_failure_is_the_one_that_is_reported() {
    let drawing = draw("begin -> a, b").failing_edges();
    let world = World::new(&drawing).fails("a").fails("b");
    assert_eq!(world.clone().run().failure().0, "a");
    assert_eq!(world.order(Order::Reverse).run().failure().0, "b");
}

#[test]
fn a_failure_in_a_body_that_the_container_handles_does_not_fail_the_run() {
    for kind in ["each", "while"] {
        let drawing = draw("begin -> box -> end")
            .inside("box", "item -> a -> b")
            .item("item");
        let drawing = match kind {
            "each" => drawing.each("box", "begin@out", 1),
            _ => drawing.repeat("box", 3),
        };
        let spare = drawing
            .clone()
            .default("box", "spare")
            .reads("end", "box@out");
        let run = World::new(&spare)
            .gives("begin", json!([1, 2]))
            .fails("a")
            .run();
        assert!(run.is_done(), "{kind}");
        assert_eq!(run.out("end"), "end(spare)");
        assert_eq!(run.count("a"), 1);

        let unhandled = World::new(&drawing)
            .gives("begin", json!([1, 2]))
            .fails("a")
            .run();
        assert_eq!(
            unhandled.failure().0,
            "a",
            "the node that failed first is named"
        );
        let fault = unhandled.steps("box")[0].fault.clone();
        assert_eq!(&*fault.unwrap().message, "a broke");
        assert_eq!(unhandled.count("end"), 0);
    }
}

#[test]
fn a_handler_behind_a_container_can_read_what_was_collected_and_the_error() {
    let drawing = draw("begin -> each -> end; h")
        .each("each", "begin@out", 1)
        .collect("each", "lines", "a@out")
        .inside("each", "item -> a")
        .item("item")
        .reads("a", "item@item")
        .on_error("each", "h")
        .reads("h", "each@lines each@_ERROR a@_ERROR");
    let run = World::new(&drawing)
        .gives("begin", json!(["x", "y", "z"]))
        .does("a", |execute| match execute.inputs.0[0].or_null() {
            Value::String(s) if &*s == "z" => Deed::fails("no z"),
            value => Deed::gives(value),
        })
        .run();
    assert!(run.is_done());
    assert_eq!(run.out("h"), r#"h(["x", "y"],no z,no z)"#);
}

#[test]
fn a_failure_deep_inside_reaches_the_nearest_container_that_handles_it() {
    let mut drawing = draw("begin -> c0 -> end")
        .repeat("c0", 1)
        .default("c0", "spare");
    for depth in 0..8 {
        let outer = format!("c{depth}");
        let inner = format!("c{}", depth + 1);
        drawing = drawing
            .inside(&outer, &format!("i{depth} -> {inner} -> after{depth}"))
            .item(&format!("i{depth}"));
        if depth < 7 {
            drawing = drawing.repeat(&inner, 1);
        }
    }
    let run = World::new(&drawing).fails("c8").run();
    assert!(run.is_done());
    assert_eq!(run.out("c0"), "spare");
    assert_eq!(run.count("end"), 1);
    for depth in 0..8 {
        assert_eq!(run.count(&format!("after{depth}")), 0);
    }
}

#[test]
fn in_a_graph_a_failed_body_goes_on_beside_the_failure_before_it_fails_its_container() {
    let drawing = draw("begin -> box -> end; begin -> other")
        .repeat("box", 2)
        .inside("box", "item -> bad, good; bad -> b; good -> g")
        .item("item")
        .failing_edges();
    let run = World::new(&drawing).fails("bad").run();
    assert_eq!(
        run.count("g"),
        1,
        "one pass, and what is not behind the failure runs"
    );
    assert_eq!(run.count("b") + run.count("end"), 0);
    assert_eq!(run.count("other"), 1);
    assert_eq!(run.failure().0, "bad");
}

#[test]
fn a_value_that_cannot_be_assigned_fails_the_node() {
    let drawing = draw("begin -> a -> b")
        .variable("env.n", "text")
        .writes("a", "env.n.part");
    let run = World::new(&drawing).run();
    let (node, fault) = run.failure();
    assert_eq!((node, &*fault.code), ("a", "bad_target"));
    assert!(fault.message.contains("env.n.part"), "{fault}");
    assert_eq!(run.variable("env.n"), "text".into());
}

#[test]
fn nothing_happens_to_a_run_that_failed() {
    let run = World::new(&draw("begin -> a, b")).fails("a").run();
    assert_eq!(run.machine.life(), RunLife::Failed);
    assert!(matches!(run.outcome(), Outcome::Failed { .. }));
    assert!(run.machine.in_flight().is_empty());
    let last = run.seen.last();
    assert!(
        matches!(last, Some(Observation::Finished { .. })),
        "{last:?}"
    );
}
