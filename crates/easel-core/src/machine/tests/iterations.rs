//! Passes over a list.

use serde_json::json;

use crate::Value;
use crate::event::{Completion, Ports, Write};
use crate::testing::{Deed, Drawing, Order, World, draw};

/// `begin` gives a list, the body says of each item `a(item,index)`.
fn lines(concurrency: u32) -> Drawing {
    draw("begin -> each -> end")
        .each("each", "begin@out", concurrency)
        .collect("each", "lines", "a@out")
        .inside("each", "item -> a")
        .item("item")
        .reads("a", "item@item item@index")
        .reads("end", "each@lines")
}

const LETTERS: [&str; 5] = ["v", "w", "x", "y", "z"];

#[test]
fn items_run_one_after_the_other_and_results_are_collected() {
    let run = World::new(&lines(1))
        .gives("begin", json!(["x", "y"]))
        .run();
    assert!(run.is_done());
    assert_eq!(
        run.started(),
        ["begin", "each", "item", "a", "item", "a", "end"]
    );
    assert_eq!(run.out("end"), r#"end(["a(x,0)", "a(y,1)"])"#);
}

#[test]
fn concurrent_items_give_their_results_in_the_order_of_the_list() {
    for order in [
        Order::Issue,
        Order::Reverse,
        Order::Shuffled(1),
        Order::Shuffled(2),
    ] {
        let world = World::new(&lines(3))
            .gives("begin", json!(LETTERS))
            .order(order);
        let run = world.run();
        assert_eq!(
            run.port("each", "lines"),
            Some(json!(["a(v,0)", "a(w,1)", "a(x,2)", "a(y,3)", "a(z,4)"]).into()),
            "{order:?}"
        );
        assert_eq!(
            run.port("a", "out"),
            Some("a(z,4)".into()),
            "the last by index"
        );
    }
}

#[test]
fn no_more_items_are_under_way_than_may_be() {
    let mut run = World::new(&lines(2))
        .gives("begin", json!(LETTERS))
        .holds("a")
        .run();
    assert_eq!(run.count("item"), 2);
    assert_eq!(run.machine.scopes(), 3);
    run.release("a");
    assert_eq!(run.count("item"), 5);
}

#[test]
fn an_empty_list_is_done_at_once_and_collects_nothing() {
    for concurrency in [1, 4] {
        let run = World::new(&lines(concurrency))
            .gives("begin", json!([]))
            .run();
        assert!(run.is_done());
        assert_eq!(run.out("end"), "end([])");
        assert_eq!(run.count("item"), 0);
    }
}

#[test]
fn what_is_no_list_fails_the_container_by_name() {
    for (value, kind) in [
        (json!("[1]"), "a string"),
        (json!({"a": 1}), "an object"),
        (json!(null), "null"),
        (json!(5), "a number"),
    ] {
        let run = World::new(&lines(1)).gives("begin", value).run();
        let (node, fault) = run.failure();
        assert_eq!((node, &*fault.code), ("each", "not_a_list"));
        assert!(fault.message.contains("begin@out"), "{fault}");
        assert!(fault.message.ends_with(&format!("{kind}.")), "{fault}");
    }
}

#[test]
fn a_missing_list_is_no_list_either() {
    let drawing = lines(1).each("each", "begin@nothing", 1);
    let run = World::new(&drawing).run();
    assert_eq!(&*run.failure().1.code, "not_a_list");
}

#[test]
fn the_list_is_the_one_at_entry() {
    let drawing = draw("begin -> each")
        .variable("env.list", json!([1, 2]))
        .each("each", "env.list", 1)
        .collect("each", "seen", "item@item")
        .inside("each", "item -> a")
        .item("item")
        .writes("a", "env.list");
    let run = World::new(&drawing).run();
    assert_eq!(run.port("each", "seen"), Some(json!([1, 2]).into()));
    assert_eq!(run.variable("env.list"), "a".into());
}

#[test]
fn every_pass_of_a_body_starts_empty() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 1)
        .collect("each", "lines", "b@out")
        .inside("each", "item -> switch -> a, b; a -> b")
        .item("item")
        .branch("switch")
        .reads("b", "a@out b@out");
    let run = World::new(&drawing)
        .gives("begin", json!([0, 1, 2]))
        .does("switch", |execute| {
            let ways: &[&str] = match execute.scope[0].index {
                1 => &["b"],
                _ => &["a", "b"],
            };
            Deed::done(Completion {
                next: Some(ways.iter().map(|&w| w.into()).collect()),
                ..Completion::default()
            })
        })
        .run();
    assert_eq!(
        run.port("each", "lines"),
        Some(json!(["b(a,-)", "b(-,-)", "b(a,-)"]).into())
    );
}

#[test]
fn a_body_node_that_did_not_run_is_collected_as_null() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 2)
        .collect("each", "as", "a@out")
        .collect("each", "bs", "b@out")
        .inside("each", "item -> switch -> a, b")
        .item("item")
        .branch("switch");
    let run = World::new(&drawing)
        .gives("begin", json!([0, 1]))
        .does("switch", |execute| {
            let way = if execute.scope[0].index == 0 {
                "a"
            } else {
                "b"
            };
            Deed::done(Completion {
                next: Some(vec![way.into()]),
                ..Completion::default()
            })
        })
        .run();
    assert_eq!(run.port("each", "as"), Some(json!(["a", null]).into()));
    assert_eq!(run.port("each", "bs"), Some(json!([null, "b"]).into()));
}

#[test]
fn a_body_with_several_ends_makes_one_pass_an_item() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 1)
        .collect("each", "xs", "x@out")
        .collect("each", "zs", "z@out")
        .inside("each", "item -> x, y; y -> z")
        .item("item");
    let run = World::new(&drawing).gives("begin", json!([1, 2, 3])).run();
    for node in ["item", "x", "y", "z"] {
        assert_eq!(run.count(node), 3, "{node}");
    }
}

#[test]
fn an_edge_back_to_the_item_node_only_ends_the_pass() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 1)
        .collect("each", "lines", "a@out")
        .inside("each", "item -> a -> item")
        .item("item")
        .reads("a", "item@item");
    assert!(drawing.findings().is_empty());
    let run = World::new(&drawing).gives("begin", json!([1, 2])).run();
    assert_eq!(
        run.port("each", "lines"),
        Some(json!(["a(1)", "a(2)"]).into())
    );
}

#[test]
fn a_body_without_an_item_node_starts_wherever_no_edge_leads() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 1)
        .inside("each", "a, b -> c; d");
    let run = World::new(&drawing).gives("begin", json!([1, 2])).run();
    for node in ["a", "b", "c", "d"] {
        assert_eq!(run.count(node), 2, "{node}");
    }
}

#[test]
fn the_item_its_index_and_the_old_name_result_are_values_of_the_pass() {
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 1)
        .collect("each", "lines", "a@out")
        .inside("each", "item -> a")
        .item("item")
        .reads("a", "item index result item@item.name");
    let run = World::new(&drawing)
        .gives("begin", json!([{"name": "n"}]))
        .run();
    assert_eq!(run.out("a"), r#"a({"name": "n"},0,{"name": "n"},n)"#);
}

#[test]
fn a_body_may_read_what_was_collected_so_far() {
    let drawing = lines(1).reads("a", "each@lines");
    let run = World::new(&drawing).gives("begin", json!(["x", "y"])).run();
    assert_eq!(
        run.port("each", "lines"),
        Some(json!(["a(x,0,[])", r#"a(y,1,["a(x,0,[])"])"#]).into())
    );
}

#[test]
fn who_reads_into_a_body_waits_for_the_container_and_reads_the_last_item() {
    let drawing = draw("begin -> each, reader")
        .each("each", "begin@out", 2)
        .inside("each", "item -> a")
        .item("item")
        .reads("a", "item@item")
        .reads("reader", "a@out");
    for order in [Order::Issue, Order::Reverse, Order::Shuffled(5)] {
        let world = World::new(&drawing)
            .gives("begin", json!(LETTERS))
            .order(order);
        assert_eq!(world.run().out("reader"), "reader(a(z))");
    }
}

#[test]
fn a_container_waits_for_what_its_body_reads() {
    let drawing = lines(1)
        .more("begin -> slow")
        .inside("each", "item -> b")
        .reads("b", "slow@out");
    let run = World::new(&drawing)
        .gives("begin", json!([1]))
        .order(Order::Reverse)
        .run();
    assert!(run.after("each", "slow"));
    assert_eq!(run.out("b"), "b(slow)");
}

#[test]
fn variables_that_concurrent_items_assign_are_kept_apart_and_merged_in_order() {
    let drawing = draw("begin -> each -> end")
        .variable("env.x", "none")
        .each("each", "begin@out", 3)
        .inside("each", "item -> a -> b")
        .item("item")
        .reads("a", "item@item")
        .writes("a", "env.x")
        .reads("b", "env.x")
        .collect("each", "seen", "b@out")
        .reads("end", "env.x");
    for order in [Order::Issue, Order::Reverse, Order::Shuffled(4)] {
        let run = World::new(&drawing)
            .gives("begin", json!(["x", "y", "z"]))
            .order(order)
            .run();
        assert_eq!(
            run.port("each", "seen"),
            Some(json!(["b(a(x))", "b(a(y))", "b(a(z))"]).into()),
            "each item sees its own"
        );
        assert_eq!(
            run.out("end"),
            "end(a(z))",
            "the last item has the last word"
        );
    }
}

#[test]
fn concurrent_items_that_set_different_parts_of_a_variable_keep_each_others() {
    let drawing = draw("begin -> each")
        .variable("env.x", json!({}))
        .each("each", "begin@out", 3)
        .inside("each", "item -> switch -> a, b")
        .item("item")
        .branch("switch")
        .writes("a", "env.x.a")
        .writes("b", "env.x.b");
    let run = World::new(&drawing)
        .gives("begin", json!([0, 1]))
        .order(Order::Reverse)
        .does("switch", |execute| {
            let way = if execute.scope[0].index == 0 {
                "a"
            } else {
                "b"
            };
            Deed::done(Completion {
                next: Some(vec![way.into()]),
                ..Completion::default()
            })
        })
        .run();
    assert_eq!(run.variable("env.x"), json!({"a": "a", "b": "b"}).into());
}

#[test]
fn what_concurrent_items_assigned_survives_a_failure_that_is_handled() {
    let drawing = draw("begin -> each -> end")
        .variable("env.x", "none")
        .each("each", "begin@out", 2)
        .default("each", 0)
        .inside("each", "item -> a -> b")
        .item("item")
        .reads("a", "item@item")
        .writes("a", "env.x")
        .reads("end", "env.x");
    let run = World::new(&drawing)
        .gives("begin", json!(["x", "y"]))
        .fails("b")
        .run();
    assert!(run.is_done());
    assert_eq!(run.out("end"), "end(a(y))");
}

#[test]
fn sequential_items_see_what_the_one_before_assigned() {
    let drawing = draw("begin -> each")
        .variable("env.sum", "")
        .each("each", "begin@out", 1)
        .inside("each", "item -> a")
        .item("item")
        .reads("a", "env.sum item@item")
        .writes("a", "env.sum");
    let run = World::new(&drawing).gives("begin", json!([1, 2, 3])).run();
    assert_eq!(run.variable("env.sum"), "a(a(a(,1),2),3)".into());
}

#[test]
fn nested_iterations_are_independent_and_collect_lists_of_lists() {
    for (outer, inner) in [(1, 1), (1, 3), (3, 1), (2, 2)] {
        let drawing = draw("begin -> out")
            .variable("env.numbers", json!([1, 2]))
            .each("out", "begin@out", outer)
            .collect("out", "all", "in@lines")
            .inside("out", "i -> in")
            .item("i")
            .each("in", "env.numbers", inner)
            .collect("in", "lines", "a@out")
            .inside("in", "j -> a")
            .item("j")
            .reads("a", "i@item j@item");
        for order in [Order::Issue, Order::Reverse, Order::Shuffled(9)] {
            let world = World::new(&drawing)
                .gives("begin", json!(["A", "B"]))
                .order(order);
            assert_eq!(
                world.run().port("out", "all"),
                Some(json!([["a(A,1)", "a(A,2)"], ["a(B,1)", "a(B,2)"]]).into()),
                "{outer} {inner} {order:?}"
            );
        }
    }
}

#[test]
fn nested_concurrent_items_merge_what_they_assign_from_the_inside_out() {
    let drawing = draw("begin -> out -> end")
        .variable("env.numbers", json!([1, 2]))
        .variable("env.x", "none")
        .each("out", "begin@out", 2)
        .collect("out", "seen", "after@out")
        .inside("out", "i -> in -> after")
        .item("i")
        .each("in", "env.numbers", 2)
        .inside("in", "j -> a")
        .item("j")
        .reads("a", "i@item j@item")
        .writes("a", "env.x")
        .reads("after", "env.x")
        .reads("end", "env.x");
    for order in [Order::Issue, Order::Reverse, Order::Shuffled(7)] {
        let run = World::new(&drawing)
            .gives("begin", json!(["A", "B"]))
            .order(order)
            .run();
        assert_eq!(
            run.port("out", "seen"),
            Some(json!(["after(a(A,2))", "after(a(B,2))"]).into())
        );
        assert_eq!(run.out("end"), "end(a(B,2))");
    }
}

#[test]
fn containers_nest_to_depth_eight() {
    let mut drawing = draw("begin -> c0 -> end").each("c0", "begin@out", 2);
    for depth in 0..8 {
        let (outer, inner) = (format!("c{depth}"), format!("c{}", depth + 1));
        let item = format!("i{depth}");
        drawing = drawing
            .inside(&outer, &format!("{item} -> {inner}"))
            .item(&item);
        let port = if depth == 7 { "out" } else { "lines" };
        drawing = drawing.collect(&outer, "lines", &format!("{inner}@{port}"));
        if depth < 7 {
            drawing = drawing.each(&inner, &format!("{item}@item"), 2);
        }
    }
    let drawing = drawing.reads("c8", "i7@item i0@index i7@index");
    let mut list = json!(["leaf"]);
    for _ in 0..7 {
        list = json!([list]);
    }
    let list = json!([list[0], list[0]]);
    let run = World::new(&drawing).gives("begin", list).run();
    assert!(run.is_done(), "{:?}", run.outcome());
    assert_eq!(run.count("c8"), 2);
    assert_eq!(
        run.outs("c8"),
        ["c8(leaf,0,0)".into(), Value::from("c8(leaf,1,0)")]
    );
    let step = run.steps("c8")[1];
    assert_eq!(step.scope.len(), 8);
    assert_eq!(step.scope[0].index, 1);
}

#[test]
fn a_container_with_an_empty_body_is_done_when_it_is_reached() {
    let drawing = draw("begin -> each -> end").each("each", "begin@out", 1);
    let run = World::new(&drawing).gives("begin", json!([1, 2])).run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "each", "end"]);
}

#[test]
fn every_node_of_a_body_counts_its_visits_from_one_in_every_pass() {
    let drawing = lines(1);
    let run = World::new(&drawing).gives("begin", json!([1, 2])).run();
    let keys: Vec<(u64, u64)> = run
        .executions("a")
        .iter()
        .map(|e| (e.scope[0].index, e.visit))
        .collect();
    assert_eq!(keys, [(0, 1), (1, 1)]);
    let wide = World::new(&lines(2)).gives("begin", json!([1, 2])).run();
    let random = |run: &crate::testing::Run| -> Vec<u64> {
        run.executions("a").iter().map(|e| e.random).collect()
    };
    assert_eq!(
        random(&run),
        random(&wide),
        "chance does not depend on concurrency"
    );
}

#[test]
fn a_failed_item_fails_the_container_with_the_others_stopped() {
    let run = World::new(&lines(3))
        .gives("begin", json!(LETTERS))
        .does("a", |e| match e.scope[0].index {
            1 => Deed::fails("no w"),
            _ => Deed::gives(1),
        })
        .order(Order::Reverse)
        .run();
    assert_eq!(&*run.failure().1.message, "no w");
    assert_eq!(run.stopped(), ["a"], "item 0 was under way");
    assert_eq!(run.count("end"), 0);
}

#[test]
fn in_a_graph_items_under_way_end_and_the_first_failed_item_counts() {
    for order in [Order::Issue, Order::Reverse, Order::Shuffled(2)] {
        let run = World::new(&lines(3).failing_edges())
            .gives("begin", json!(LETTERS))
            .does("a", |e| match e.scope[0].index {
                1 | 2 => Deed::fails(&format!("no {}", e.scope[0].index)),
                _ => Deed::gives(1),
            })
            .order(order)
            .run();
        assert_eq!(&*run.failure().1.message, "no 1", "{order:?}");
        assert!(run.stopped().is_empty());
        assert_eq!(run.count("end"), 0);
    }
}

#[test]
fn a_port_of_a_container_outside_may_be_assigned_by_concurrent_items() {
    let drawing = draw("begin -> loop -> end")
        .repeat("loop", 1)
        .first("loop", "found", "nothing")
        .inside("loop", "start -> each")
        .item("start")
        .each("each", "begin@out", 2)
        .inside("each", "item -> a")
        .item("item")
        .reads("a", "item@item")
        .writes("a", "loop@found")
        .reads("end", "loop@found");
    let run = World::new(&drawing)
        .gives("begin", json!([1, 2, 3]))
        .does("a", |e| {
            Deed::done(Completion {
                ports: Ports::new(),
                writes: vec![Write {
                    target: 0,
                    value: e.inputs.0[0].or_null(),
                }],
                ..Completion::default()
            })
        })
        .order(Order::Reverse)
        .run();
    assert_eq!(run.out("end"), "end(3)");
}
