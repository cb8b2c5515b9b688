//! Circles of edges.

use serde_json::json;

use crate::Value;
use crate::compile::Finding;
use crate::event::Completion;
use crate::testing::{Deed, Drawing, Order, World, draw};

/// A node that chooses by how many nodes `started` has counted so far is not pure; by its visit it is.
fn circle() -> Drawing {
    draw("begin -> a -> b -> switch -> a, end").branch("switch")
}

#[test]
fn a_circle_goes_round_until_the_switch_leaves_it() {
    let run = World::new(&circle())
        .chooses_in_turn("switch", &["a", "a", "end"])
        .run();
    assert!(run.is_done());
    assert_eq!(
        run.started(),
        [
            "begin", "a", "b", "switch", "a", "b", "switch", "a", "b", "switch", "end"
        ]
    );
}

#[test]
fn the_author_is_told_of_the_back_edge() {
    assert_eq!(
        circle().findings(),
        [Finding::BackEdge {
            node: "switch".into(),
            target: "a".into()
        }]
    );
}

#[test]
fn visits_count_the_turns() {
    let run = World::new(&circle())
        .chooses_in_turn("switch", &["a", "end"])
        .run();
    let visits: Vec<u64> = run.executions("a").iter().map(|e| e.visit).collect();
    assert_eq!(visits, [1, 2]);
    assert_ne!(run.executions("a")[0].random, run.executions("a")[1].random);
}

#[test]
fn what_leaves_a_circle_runs_once_the_circle_is_over() {
    let drawing = draw("begin -> a -> switch -> a, out; a -> side")
        .branch("switch")
        .reads("side", "a@out")
        .reads("out", "a@out");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a", "a out", "out"])
        .does("a", |e| Deed::gives(e.visit))
        .run();
    assert_eq!(run.count("a"), 3);
    assert_eq!(run.outs("side"), [Value::from("side(3)")]);
    assert_eq!(
        run.outs("out"),
        [Value::from("out(3)")],
        "an exit that was taken in an earlier turn is followed once"
    );
}

#[test]
fn an_exit_that_no_turn_took_is_dead() {
    let drawing = draw("begin -> a -> switch -> a, x, y; x, y -> join").branch("switch");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a", "y"])
        .run();
    assert_eq!(run.count("x"), 0);
    assert_eq!(run.count("join"), 1);
}

#[test]
fn a_later_turn_does_not_wait_for_edges_from_outside() {
    let drawing = draw("begin -> a, other; other -> b; a -> b -> switch -> a, end")
        .branch("switch")
        .reads("b", "other@out a@out");
    for order in [Order::Issue, Order::Reverse] {
        let run = World::new(&drawing)
            .chooses_in_turn("switch", &["a", "end"])
            .order(order)
            .run();
        assert!(run.is_done());
        assert_eq!(run.count("b"), 2);
        assert_eq!(run.count("other"), 1);
        assert_eq!(run.out("b"), "b(other,a)", "it still reads what is outside");
    }
}

#[test]
fn a_circle_may_be_entered_at_several_nodes() {
    let drawing = draw("begin -> s -> a, b; a -> c; b -> c; c -> switch -> a, end")
        .branch("s")
        .branch("switch");
    for (entry, runs) in [("a", [2, 0]), ("b", [1, 1]), ("a b", [2, 1])] {
        let run = World::new(&drawing)
            .chooses("s", entry)
            .chooses_in_turn("switch", &["a", "end"])
            .run();
        assert!(run.is_done());
        assert_eq!([run.count("a"), run.count("b")], runs, "{entry}");
        assert_eq!(run.count("c"), 2);
    }
}

#[test]
fn a_circle_that_is_entered_in_the_middle_starts_its_turns_where_the_back_edge_leads() {
    // The walk from begin comes to b first, so the edge from c back to b is the back edge.
    let drawing = draw("begin -> s -> b, a; b -> c -> switch -> a, end; a -> b")
        .branch("s")
        .branch("switch");
    let run = World::new(&drawing)
        .chooses("s", "b")
        .chooses_in_turn("switch", &["a", "end"])
        .run();
    assert!(run.is_done());
    assert_eq!(
        run.started(),
        [
            "begin", "s", "b", "c", "switch", "a", "b", "c", "switch", "end"
        ]
    );
}

#[test]
fn only_what_is_behind_the_back_edge_runs_again() {
    let drawing = draw("begin -> a -> b, c; b -> d; c -> d; d -> switch -> a, b, end")
        .branch("switch")
        .reads("d", "b@out c@out");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["b", "end"])
        .run();
    assert!(run.is_done());
    assert_eq!(
        (
            run.count("a"),
            run.count("b"),
            run.count("c"),
            run.count("d")
        ),
        (1, 2, 1, 2)
    );
    assert_eq!(run.out("d"), "d(b,c)", "c still has its ports");
}

#[test]
fn two_back_edges_in_one_turn_open_one_turn_with_two_starts() {
    let drawing = draw("begin -> a -> b -> switch -> a, b, end").branch("switch");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a b", "end"])
        .run();
    assert!(run.is_done());
    assert_eq!((run.count("a"), run.count("b")), (2, 2));
}

#[test]
fn a_circle_inside_a_circle() {
    let drawing = draw("begin -> a -> b -> inner -> b, outer; outer -> a, end")
        .branch("inner")
        .branch("outer");
    let run = World::new(&drawing)
        .chooses_in_turn("inner", &["b", "outer", "outer"])
        .chooses_in_turn("outer", &["a", "end"])
        .run();
    assert!(run.is_done());
    assert_eq!((run.count("a"), run.count("b")), (2, 3));
}

#[test]
fn two_circles_one_after_the_other() {
    let drawing = draw("begin -> a -> s -> a, b; b -> t -> b, end")
        .branch("s")
        .branch("t");
    let run = World::new(&drawing)
        .chooses_in_turn("s", &["a", "b"])
        .chooses_in_turn("t", &["b", "end"])
        .run();
    assert!(run.is_done());
    assert_eq!((run.count("a"), run.count("b")), (2, 2));
}

#[test]
fn a_reference_in_a_circle_reads_the_turn_before() {
    let drawing = circle().reads("a", "b@out").reads("b", "a@out");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a", "end"])
        .run();
    assert_eq!(run.outs("a"), ["a(-)", "a(b(a(-)))"].map(Value::from));
}

#[test]
fn who_reads_a_node_of_a_circle_waits_for_the_circle() {
    let drawing = circle().more("begin -> reader").reads("reader", "a@out");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a", "end"])
        .does("a", |e| Deed::gives(e.visit))
        .run();
    assert_eq!(run.out("reader"), "reader(2)");
}

#[test]
fn a_circle_waits_for_what_it_reads_outside() {
    let drawing = circle().more("begin -> slow").reads("b", "slow@out");
    for order in [Order::Issue, Order::Reverse] {
        let run = World::new(&drawing)
            .chooses_in_turn("switch", &["a", "end"])
            .order(order)
            .run();
        assert!(run.is_done());
        assert!(run.after("a", "slow"));
        assert_eq!(run.out("b"), "b(slow)");
    }
}

#[test]
fn an_endless_circle_is_stopped_by_the_limit_of_node_runs() {
    let run = World::new(&circle())
        .chooses("switch", "a")
        .node_runs(100)
        .run();
    let (node, fault) = run.failure();
    assert_eq!(&*fault.code, "too_many_node_runs");
    assert!(["a", "b", "switch"].contains(&node));
    assert_eq!(run.started().len(), 101, "begin is in no circle");
}

#[test]
fn node_runs_outside_circles_do_not_count() {
    let drawing = draw("begin -> each -> end")
        .each("each", "begin@out", 1)
        .inside("each", "item -> a")
        .item("item");
    let run = World::new(&drawing)
        .gives("begin", Value::from(vec![Value::Null; 50]))
        .node_runs(10)
        .run();
    assert!(run.is_done());
}

#[test]
fn node_runs_of_containers_inside_a_circle_count() {
    let drawing = draw("begin -> each -> switch -> each, end")
        .branch("switch")
        .each("each", "begin@out", 2)
        .inside("each", "item -> a")
        .item("item");
    let run = World::new(&drawing)
        .gives("begin", json!([1, 2]))
        .chooses("switch", "each")
        .node_runs(60)
        .run();
    assert_eq!(&*run.failure().1.code, "too_many_node_runs");
}

#[test]
fn passes_of_a_container_in_two_turns_of_a_circle_do_not_look_alike() {
    let drawing = draw("begin -> each -> switch -> each, end")
        .branch("switch")
        .each("each", "begin@out", 1)
        .inside("each", "item -> a")
        .item("item");
    let run = World::new(&drawing)
        .gives("begin", json!(["x"]))
        .chooses_in_turn("switch", &["each", "end"])
        .run();
    let executions = run.executions("a");
    let keys: Vec<_> = executions
        .iter()
        .map(|e| (e.scope.clone(), e.visit))
        .collect();
    assert_eq!(keys.len(), 2);
    assert_ne!(keys[0], keys[1], "a write in each has a key of its own");
    assert_ne!(executions[0].random, executions[1].random);
}

#[test]
fn a_form_in_a_circle_asks_in_every_turn() {
    let drawing = draw("begin -> ask -> switch -> ask, end")
        .form("ask", "name")
        .branch("switch");
    let mut run = World::new(&drawing)
        .chooses_in_turn("switch", &["ask", "end"])
        .run();
    run.answer(&[("name", "a")]);
    assert_eq!(run.questions(), 2);
    assert_eq!(run.question().0, ["name"]);
    run.answer(&[("name", "b")]);
    assert!(run.is_done());
    assert_eq!(run.port("ask", "name"), Some("b".into()));
}

#[test]
fn the_entry_itself_may_be_in_a_circle() {
    let drawing = draw("begin -> a -> switch -> begin, end").branch("switch");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["begin", "end"])
        .run();
    assert!(run.is_done());
    assert_eq!(
        run.started(),
        ["begin", "a", "switch", "begin", "a", "switch", "end"]
    );
}

#[test]
fn a_failure_in_a_circle_may_go_back_and_try_again() {
    let drawing = draw("begin -> a -> end; mend -> a").on_error("a", "mend");
    let run = World::new(&drawing)
        .does("a", |e| match e.visit {
            1 => Deed::fails("not yet"),
            visit => Deed::gives(visit),
        })
        .run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "a", "mend", "a", "end"]);
}

#[test]
fn an_unhandled_failure_in_a_circle_fails_the_run() {
    let run = World::new(&circle())
        .chooses("switch", "a")
        .does("b", |e| match e.visit {
            3 => Deed::fails("third time"),
            _ => Deed::gives(1),
        })
        .run();
    assert_eq!(run.failure().0, "b");
    assert_eq!(run.count("end"), 0);
}

#[test]
fn an_unhandled_failure_in_a_circle_in_a_body_is_the_containers_to_handle() {
    let drawing = draw("begin -> loop -> end")
        .repeat("loop", 1)
        .default("loop", "spare")
        .inside("loop", "item -> a -> switch -> a, out")
        .item("item")
        .branch("switch");
    let run = World::new(&drawing)
        .chooses("switch", "a")
        .does("a", |e| match e.visit {
            2 => Deed::fails("no"),
            _ => Deed::gives(1),
        })
        .run();
    assert!(run.is_done());
    assert_eq!(run.count("end"), 1);
}

#[test]
fn a_circle_in_a_loop_keeps_its_ports_from_pass_to_pass() {
    let drawing = draw("begin -> loop")
        .repeat("loop", 2)
        .inside("loop", "item -> a -> b -> switch -> a, out")
        .item("item")
        .branch("switch")
        .reads("a", "b@out");
    let run = World::new(&drawing)
        .does("b", |e| {
            Deed::gives(format!("{}.{}", e.scope[0].index, e.visit))
        })
        .chooses_in_turn("switch", &["a", "out"])
        .run();
    assert!(run.is_done());
    assert_eq!(
        run.outs("a"),
        ["a(-)", "a(0.1)", "a(0.2)", "a(1.1)"].map(Value::from)
    );
    assert_eq!(run.count("out"), 2);
}

#[test]
fn a_circle_in_an_iteration_begins_afresh_for_every_item() {
    for concurrency in [1, 2] {
        let drawing = draw("begin -> each")
            .each("each", "begin@out", concurrency)
            .collect("each", "lines", "out@out")
            .inside("each", "item -> a -> b -> switch -> a, out")
            .item("item")
            .branch("switch")
            .reads("a", "b@out item@item")
            .reads("out", "a@out");
        let run = World::new(&drawing)
            .gives("begin", json!(["x", "y"]))
            .chooses_in_turn("switch", &["a", "out"])
            .run();
        assert_eq!(
            run.port("each", "lines"),
            Some(json!(["out(a(b,x))", "out(a(b,y))"]).into())
        );
    }
}

#[test]
fn a_self_edge_is_left_out_with_a_warning() {
    let drawing = draw("begin -> a -> a; a -> end");
    assert_eq!(drawing.findings(), [Finding::SelfEdge { node: "a".into() }]);
    assert_eq!(World::new(&drawing).run().started(), ["begin", "a", "end"]);
}

#[test]
fn a_circle_that_nothing_can_leave_is_refused_whole() {
    let drawing = draw("begin -> a -> b -> c -> a; c -> end");
    let refused: Vec<Finding> = drawing
        .findings()
        .into_iter()
        .filter(|f| f.refuses())
        .collect();
    assert_eq!(
        refused,
        [Finding::EndlessCircle {
            nodes: vec!["a".into(), "b".into(), "c".into()]
        }]
    );
}

#[test]
fn a_circle_inside_one_that_can_be_left_is_refused_if_it_cannot() {
    let drawing = draw("begin -> a -> b -> a; b -> switch -> begin, end").branch("switch");
    let endless = drawing.findings().into_iter().any(|f| {
        f == Finding::EndlessCircle {
            nodes: vec!["a".into(), "b".into()],
        }
    });
    assert!(endless);
}

#[test]
fn a_switch_that_goes_nowhere_ends_its_circle() {
    let run = World::new(&circle())
        .does("switch", |e| {
            Deed::done(Completion {
                next: Some(match e.visit {
                    1 => vec!["a".into()],
                    _ => Vec::new(),
                }),
                ..Completion::default()
            })
        })
        .run();
    assert!(run.is_done());
    assert_eq!(run.count("end"), 0);
}

#[test]
fn an_exit_in_a_circle_ends_the_loop_around_it() {
    let drawing = draw("begin -> loop -> end")
        .repeat("loop", 5)
        .inside("loop", "item -> a -> switch -> a, leave")
        .item("item")
        .branch("switch")
        .exit("leave");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a", "leave"])
        .run();
    assert!(run.is_done());
    assert_eq!((run.count("a"), run.count("end")), (2, 1));

    let inside = draw("begin -> loop -> end")
        .repeat("loop", 5)
        .inside("loop", "item -> a -> switch -> a, leave; leave -> a")
        .item("item")
        .branch("switch")
        .exit("leave");
    let run = World::new(&inside).chooses("switch", "leave").run();
    assert!(run.is_done());
    assert_eq!((run.count("a"), run.count("end")), (1, 1));
}

#[test]
fn an_edge_from_one_circle_into_another() {
    let drawing = draw("begin -> a -> s -> a, b; begin -> c; b -> d; c -> d -> t -> b, end")
        .branch("s")
        .branch("t")
        .reads("d", "b@out c@out");
    for order in [Order::Issue, Order::Reverse] {
        let run = World::new(&drawing)
            .chooses_in_turn("s", &["a", "b"])
            .chooses_in_turn("t", &["b", "end"])
            .order(order)
            .run();
        assert!(run.is_done());
        assert_eq!((run.count("a"), run.count("b"), run.count("d")), (2, 2, 2));
        assert_eq!(run.out("d"), "d(b,c)");
    }
}

#[test]
fn in_a_graph_an_edge_that_failed_into_a_circle_counts_in_its_first_turn_only() {
    let drawing = draw("begin -> a, bad; a -> switch -> a, x, end; x -> a; bad -> x")
        .branch("switch")
        .failing_edges();
    let run = World::new(&drawing)
        .fails("bad")
        .chooses_in_turn("switch", &["a x", "a x", "end"])
        .run();
    assert_eq!(run.failure().0, "bad");
    assert_eq!(run.count("a"), 3);
    assert_eq!(run.count("x"), 1, "skipped in the first turn");
    assert_eq!(run.count("end"), 1);
}
