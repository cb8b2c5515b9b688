//! Loops.

use serde_json::json;

use crate::Value;
use crate::event::{Completion, Ports, Write};
use crate::testing::{Deed, Drawing, Order, World, draw};

/// A loop whose body raises `loop@n`.
fn counter(maximum: u64) -> Drawing {
    draw("begin -> loop -> end")
        .repeat("loop", maximum)
        .first("loop", "n", 0)
        .inside("loop", "item -> inc")
        .item("item")
        .reads("inc", "loop@n")
        .writes("inc", "loop@n")
        .reads("end", "loop@n")
}

fn raise(world: World, node: &str) -> World {
    world.does(node, |execute| {
        let n = execute.inputs.0[0].or_null().as_i64().unwrap() + 1;
        Deed::done(Completion {
            ports: Ports::one("out", n),
            writes: vec![Write {
                target: 0,
                value: n.into(),
            }],
            ..Completion::default()
        })
    })
}

#[test]
fn a_loop_ends_when_its_condition_holds() {
    let drawing = counter(10).until("loop", "loop@n ≥ 3");
    let run = raise(World::new(&drawing), "inc").run();
    assert!(run.is_done());
    assert_eq!(run.count("inc"), 3);
    assert_eq!(run.out("end"), "end(3)");
}

#[test]
fn a_loop_stops_at_its_maximum_and_the_run_goes_on() {
    let drawing = counter(4).until("loop", "loop@n ≥ 100");
    let run = raise(World::new(&drawing), "inc").run();
    assert_eq!(run.out("end"), "end(4)");
}

#[test]
fn a_condition_that_holds_at_once_makes_no_pass() {
    let drawing = counter(10).until("loop", "loop@n = 0");
    let run = raise(World::new(&drawing), "inc").run();
    assert_eq!(run.count("inc"), 0);
    assert_eq!(run.out("end"), "end(0)");
}

#[test]
fn a_maximum_of_zero_makes_no_pass() {
    let run = raise(World::new(&counter(0)), "inc").run();
    assert_eq!(run.count("inc"), 0);
    assert_eq!(run.out("end"), "end(0)");
}

#[test]
fn a_loop_without_a_condition_runs_to_its_maximum() {
    let run = raise(World::new(&counter(5)), "inc").run();
    assert_eq!(run.out("end"), "end(5)");
}

#[test]
fn a_condition_may_read_what_the_body_gave() {
    let drawing = counter(10).until("loop", "inc@out ≥ 2");
    let run = raise(World::new(&drawing), "inc").run();
    assert_eq!(run.count("inc"), 2);
}

#[test]
fn a_loop_variable_may_begin_as_another_value() {
    let drawing = counter(1)
        .first_from("loop", "m", "begin@out.m")
        .reads("end", "loop@m");
    let run = raise(World::new(&drawing).gives("begin", json!({"m": 7})), "inc").run();
    assert_eq!(run.out("end"), "end(1,7)");
}

#[test]
fn nodes_of_a_loop_keep_their_ports_from_pass_to_pass() {
    let drawing = draw("begin -> loop")
        .repeat("loop", 3)
        .inside("loop", "item -> a -> b")
        .item("item")
        .reads("a", "b@out")
        .reads("b", "a@out");
    assert!(!drawing.findings().iter().any(|f| f.refuses()));
    let run = World::new(&drawing).run();
    assert_eq!(
        run.outs("b"),
        ["b(a(-))", "b(a(b(a(-))))", "b(a(b(a(b(a(-))))))"].map(Value::from),
        "missing in the first turn, then that of the turn before"
    );
}

#[test]
fn a_node_that_is_dead_in_a_pass_still_has_the_ports_of_an_earlier_one() {
    let drawing = draw("begin -> loop")
        .repeat("loop", 2)
        .inside("loop", "item -> switch -> a, b; a, b -> c")
        .item("item")
        .branch("switch")
        .reads("c", "a@out b@out");
    let run = World::new(&drawing)
        .does("switch", |execute| {
            let way = ["a", "b"][execute.scope[0].index as usize];
            Deed::done(Completion {
                next: Some(vec![way.into()]),
                ..Completion::default()
            })
        })
        .run();
    assert_eq!(run.outs("c"), ["c(a,-)", "c(a,b)"].map(Value::from));
}

#[test]
fn from_outside_a_body_reads_as_its_last_pass() {
    let drawing = counter(3).reads("end", "inc@out");
    let run = raise(World::new(&drawing), "inc").run();
    assert_eq!(run.out("end"), "end(3,3)");
}

#[test]
fn a_node_beside_a_loop_that_reads_its_body_waits_for_the_loop() {
    let drawing = counter(3)
        .more("begin -> reader")
        .reads("reader", "inc@out");
    let run = raise(World::new(&drawing), "inc")
        .order(Order::Reverse)
        .run();
    assert!(run.after("reader", "loop"));
    assert_eq!(run.out("reader"), "reader(3)");
}

#[test]
fn an_exit_ends_its_loop_and_the_run_goes_on_behind_it() {
    let drawing = counter(10)
        .inside("loop", "inc -> switch -> leave, stay")
        .branch("switch")
        .exit("leave");
    let run = raise(World::new(&drawing), "inc")
        .does("switch", |execute| {
            let way = if execute.scope[0].index == 1 {
                "leave"
            } else {
                "stay"
            };
            Deed::done(Completion {
                next: Some(vec![way.into()]),
                ..Completion::default()
            })
        })
        .run();
    assert!(run.is_done());
    assert_eq!(run.out("end"), "end(2)");
    assert_eq!(run.steps("loop").len(), 1);
    assert_eq!(run.steps("loop")[0].fault, None);
}

#[test]
fn an_exit_stops_work_in_flight_in_its_loop() {
    let drawing = draw("begin -> loop -> end")
        .repeat("loop", 3)
        .inside("loop", "item -> slow, leave; slow -> slower")
        .item("item")
        .exit("leave");
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "loop", "item", "leave", "end"]);

    let drawing = drawing.inside("loop", "item -> quick -> leave");
    let run = World::new(&drawing).holds("slow").run();
    assert!(run.is_done());
    assert_eq!(run.stopped(), ["slow"]);
    assert_eq!(
        &*run.steps("slow")[0].fault.as_ref().unwrap().code,
        "cancelled"
    );
    assert_eq!(run.count("slower"), 0);
}

#[test]
fn an_exit_goes_through_iterations_to_the_loop_around_them() {
    for concurrency in [1, 3] {
        let drawing = draw("begin -> loop -> end")
            .repeat("loop", 5)
            .first("loop", "found", "nothing")
            .inside("loop", "start -> each -> after")
            .item("start")
            .each("each", "begin@out", concurrency)
            .inside(
                "each",
                "item -> switch -> note, other; note -> leave; other -> more",
            )
            .item("item")
            .branch("switch")
            .reads("note", "item@item")
            .writes("note", "loop@found")
            .exit("leave")
            .reads("end", "loop@found");
        let run = World::new(&drawing)
            .gives("begin", json!(["x", "y", "z"]))
            .does("switch", |execute| {
                let way = if execute.scope[1].index == 1 {
                    "note"
                } else {
                    "other"
                };
                Deed::done(Completion {
                    next: Some(vec![way.into()]),
                    ..Completion::default()
                })
            })
            .run();
        assert!(run.is_done());
        assert_eq!(run.count("after"), 0);
        assert_eq!(run.count("start"), 1);
        assert_eq!(run.out("end"), "end(note(y))", "what was assigned stays");
        assert_eq!(
            run.steps("each")[0].fault.as_ref().unwrap().code,
            "cancelled".into()
        );
        if concurrency == 3 {
            assert_eq!(run.stopped(), ["other", "more"]);
        }
    }
}

#[test]
fn an_exit_ends_only_the_innermost_loop() {
    let drawing = draw("begin -> outer -> end")
        .repeat("outer", 2)
        .inside("outer", "i -> inner -> after")
        .item("i")
        .repeat("inner", 9)
        .inside("inner", "j -> leave")
        .item("j")
        .exit("leave");
    let run = World::new(&drawing).run();
    assert_eq!(run.count("leave"), 2);
    assert_eq!(run.count("after"), 2);
    assert_eq!(run.count("end"), 1);
}

#[test]
fn an_exit_without_a_loop_does_nothing() {
    let drawing = draw("begin -> leave -> end").exit("leave");
    let run = World::new(&drawing).run();
    assert_eq!(run.started(), ["begin", "leave", "end"]);
    assert!(run.is_done());
}

#[test]
fn a_loop_inside_an_iteration_begins_afresh_for_every_item() {
    for concurrency in [1, 2] {
        let drawing = draw("begin -> each")
            .each("each", "begin@out", concurrency)
            .collect("each", "sums", "loop@n")
            .inside("each", "item -> loop")
            .item("item")
            .repeat("loop", 3)
            .first_from("loop", "n", "item@item")
            .inside("loop", "start -> inc")
            .item("start")
            .reads("inc", "loop@n")
            .writes("inc", "loop@n");
        let run = raise(World::new(&drawing).gives("begin", json!([0, 10])), "inc").run();
        assert_eq!(run.port("each", "sums"), Some(json!([3, 13]).into()));
    }
}

#[test]
fn a_loop_inside_a_loop_begins_afresh_in_every_pass() {
    let drawing = draw("begin -> outer -> end")
        .repeat("outer", 2)
        .inside("outer", "i -> inner")
        .item("i")
        .repeat("inner", 2)
        .first("inner", "n", 0)
        .inside("inner", "j -> a -> b")
        .item("j")
        .reads("a", "b@out")
        .reads("b", "");
    let run = World::new(&drawing).run();
    assert_eq!(
        run.outs("a"),
        ["a(-)", "a(b)", "a(-)", "a(b)"].map(Value::from)
    );
}

#[test]
fn an_iteration_inside_a_loop_runs_over_the_list_of_that_pass() {
    let drawing = draw("begin -> loop")
        .variable("env.list", json!([1]))
        .repeat("loop", 2)
        .inside("loop", "start -> each -> grow")
        .item("start")
        .each("each", "env.list", 1)
        .inside("each", "item -> a")
        .item("item")
        .writes("grow", "env.list");
    let run = World::new(&drawing)
        .does("grow", |_| {
            Deed::done(Completion {
                writes: vec![Write {
                    target: 0,
                    value: json!([1, 2, 3]).into(),
                }],
                ..Completion::default()
            })
        })
        .run();
    assert_eq!(run.count("a"), 4);
}

#[test]
fn passes_are_numbered_from_zero_and_never_look_alike() {
    let drawing = counter(2)
        .inside("loop", "inc -> each")
        .each("each", "begin@out.list", 1);
    let drawing = drawing.inside("each", "i -> leaf").item("i");
    let world = World::new(&drawing).gives("begin", json!({"list": [0, 0]}));
    let run = raise(world, "inc").run();
    let keys: Vec<Vec<(u64, u64)>> = run
        .executions("leaf")
        .iter()
        .map(|e| e.scope.iter().map(|p| (p.index, p.visit)).collect())
        .collect();
    assert_eq!(
        keys,
        [
            [(0, 1), (0, 1)],
            [(0, 1), (1, 1)],
            [(1, 1), (0, 1)],
            [(1, 1), (1, 1)]
        ]
    );
}
