//! Bodies that run once, and bodies that run again until a verdict ends them.

use serde_json::json;

use crate::Value;
use crate::draft::{ACCUMULATED, FEEDBACK, Gather, INDEX, ITEM, RESULTS, STOP, VERDICTS};
use crate::event::{Completion, Fact, Ports};
use crate::machine::NodeLife;
use crate::testing::{Deed, Drawing, Run, World, draw, reference};
use crate::value::tests::json as value;

fn one(what: &str) -> Gather {
    Gather::One(reference(what))
}

fn named(nodes: &[&str]) -> Vec<(std::sync::Arc<str>, crate::reference::Reference)> {
    let named = |id: &&str| ((*id).into(), reference(&format!("{id}@out")));
    nodes.iter().map(named).collect()
}

fn verdict(stop: bool, feedback: &str) -> Deed {
    Deed::done(Completion {
        ports: [
            (STOP.into(), Value::from(stop)),
            (FEEDBACK.into(), Value::from(feedback)),
        ]
        .into_iter()
        .collect(),
        ..Completion::default()
    })
}

/// Drafts until told to stop.
fn drafting(maximum: u64) -> Drawing {
    draw("topic -> draft -> end")
        .starting_at_sources()
        .until_told("draft", one("write@out"), maximum, true)
        .inside("draft", "write")
        .reads_pass("write", "draft", INDEX)
        .reads_pass("write", "draft", ITEM)
        .reads_pass("write", "draft", FEEDBACK)
        .reads("draft", "draft@out")
        .reads("end", "draft@out")
}

#[test]
fn a_body_runs_once_and_gives_what_is_asked_of_it() {
    let drawing = draw("a -> sub -> end")
        .starting_at_sources()
        .once("sub", Gather::Many(named(&["x", "y"])))
        .inside("sub", "x -> y")
        .reads("end", "sub@out.y");
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(
        run.port("sub", "out"),
        Some(value(r#"{"x": "x", "y": "y"}"#))
    );
    assert_eq!(run.out("end"), "end(y)");
}

#[test]
fn of_several_ends_the_ones_that_were_reached_give_the_value() {
    let gather = || Gather::Done(named(&["x", "y"]), Box::new(one("z@out")));
    let drawing = draw("sub")
        .starting_at_sources()
        .once("sub", gather())
        .inside("sub", "s -> x, y; s -> z")
        .branch("s");
    let of = |chosen: &str| {
        World::new(&drawing)
            .chooses("s", chosen)
            .run()
            .port("sub", "out")
    };
    assert_eq!(of("x z"), Some("x".into()));
    assert_eq!(of("x y"), Some(value(r#"{"x": "x", "y": "y"}"#)));
    assert_eq!(of("z"), Some("z".into()), "none was reached");
}

#[test]
fn a_repeated_body_sees_its_number_what_it_gave_before_and_what_it_was_told() {
    let run = World::new(&drafting(5))
        .does("draft", |execute| {
            let pass = execute.attempt - 1;
            verdict(pass == 3, if pass == 1 { "shorter" } else { "" })
        })
        .run();
    assert!(run.is_done());
    let outs: Vec<Value> = run.outs("write");
    assert_eq!(
        outs,
        [
            "write(0,,)".into(),
            "write(1,write(0,,),shorter)".into(),
            // Without a new word the last one stays.
            Value::from("write(2,write(1,write(0,,),shorter),shorter)")
        ]
    );
    assert_eq!(run.port("draft", "out").as_ref(), outs.last());
    assert_eq!(run.port("draft", RESULTS), Some(Value::from(outs)));
    let verdicts = run.port("draft", VERDICTS).unwrap();
    assert_eq!(verdicts.as_array().unwrap().len(), 3);
    assert_eq!(run.count("draft"), 1, "it started once");
}

#[test]
fn a_repeated_body_stops_at_its_maximum_and_the_run_goes_on() {
    let run = World::new(&drafting(2))
        .does("draft", |_| verdict(false, ""))
        .run();
    assert!(run.is_done());
    assert_eq!(run.count("write"), 2);
    assert_eq!(run.count("end"), 1);
}

#[test]
fn a_repeated_body_that_nobody_judges_runs_to_its_maximum() {
    let drawing = draw("l -> end")
        .starting_at_sources()
        .until_told("l", one("w@out"), 3, false)
        .inside("l", "w");
    let run = World::new(&drawing).run();
    assert_eq!(run.count("w"), 3);
    assert!(run.executions("l").is_empty());
    assert_eq!(run.port("l", VERDICTS), None);
}

#[test]
fn a_repeated_body_may_give_the_list_of_all_it_gave() {
    let drawing = draw("l -> end")
        .starting_at_sources()
        .variable("env.all", Value::Null)
        .until_told("l", one("w@out"), 3, false)
        .accumulates("l", "env.all")
        .inside("l", "w")
        .reads_pass("w", "l", ACCUMULATED)
        .reads("end", "env.all");
    let run = World::new(&drawing).run();
    let list = run.port("l", "out").unwrap();
    assert_eq!(list.as_array().unwrap().len(), 3);
    assert_eq!(run.variable("env.all"), list);
    assert_eq!(run.outs("w")[0], "w([])".into());
    assert_eq!(run.outs("w")[1], r#"w(["w([])"])"#.into());
}

#[test]
fn a_node_that_does_not_run_in_a_pass_gives_nothing_in_it() {
    let drawing = draw("l")
        .starting_at_sources()
        .until_told("l", one("x@out"), 2, false)
        .inside("l", "s -> x")
        .branch("s")
        .reads_pass("s", "l", INDEX);
    let run = World::new(&drawing)
        .does("s", |execute| {
            let first = execute.inputs.0[0].or_null() == Value::from(0);
            Deed::done(Completion {
                next: Some(if first { vec!["x".into()] } else { vec![] }),
                ..Completion::default()
            })
        })
        .run();
    assert_eq!(run.port("l", RESULTS), Some(value(r#"["x", null]"#)));
    assert_eq!(run.port("l", "out"), Some(Value::Null));
}

#[test]
fn what_a_body_assigns_is_seen_in_the_rest_of_its_pass_and_nowhere_else() {
    let drawing = draw("l -> end")
        .starting_at_sources()
        .private()
        .variable("env.w", "outside")
        .until_told("l", one("late@out"), 2, false)
        .inside("l", "early -> set -> late")
        .reads("early", "env.w")
        .publishes("set", "env.w")
        .reads("late", "env.w")
        .reads("end", "env.w");
    let run = World::new(&drawing).run();
    assert_eq!(run.outs("early"), vec![Value::from("early(outside)"); 2]);
    assert_eq!(run.outs("late"), vec![Value::from("late(set)"); 2]);
    assert_eq!(run.out("end"), "end(outside)");
    assert_eq!(run.variable("env.w"), "outside".into());
}

#[test]
fn items_keep_what_they_assign_to_themselves() {
    for concurrency in [1, 4] {
        let drawing = draw("m -> end")
            .starting_at_sources()
            .private()
            .variable("env.w", "outside")
            .variable("env.list", value("[1, 2]"))
            .each("m", "env.list", concurrency)
            .collect("m", "out", "b@out")
            .inside("m", "a -> b")
            .reads_pass("a", "m", ITEM)
            .publishes("a", "env.w")
            .reads("b", "env.w")
            .reads("end", "env.w");
        let run = World::new(&drawing).run();
        assert_eq!(
            run.port("m", "out"),
            Some(value(r#"["b(a(1))", "b(a(2))"]"#))
        );
        assert_eq!(run.out("end"), "end(outside)");
    }
}

#[test]
fn a_pass_value_is_that_of_the_container_it_names() {
    let drawing = draw("rows")
        .starting_at_sources()
        .variable("env.rows", value("[[1, 2], [3]]"))
        .each("rows", "env.rows", 1)
        .collect("rows", "out", "cells@out")
        .inside("rows", "cells")
        .each("cells", "env.rows.0", 1)
        .collect("cells", "out", "cell@out")
        .inside("cells", "cell")
        .reads_pass("cell", "rows", INDEX)
        .reads_pass("cell", "cells", ITEM);
    let run = World::new(&drawing).run();
    let rows = run.port("rows", "out").unwrap();
    assert_eq!(
        rows.to_json(),
        json!([["cell(0,1)", "cell(0,2)"], ["cell(1,1)", "cell(1,2)"]])
    );
}

#[test]
fn a_verdict_that_fails_is_handled_like_any_failure_of_the_node() {
    let drawing = drafting(5).default("draft", "none");
    let run = World::new(&drawing).fails("draft").run();
    assert!(run.is_done());
    assert_eq!(run.out("end"), "end(none)");

    let run = World::new(&drafting(5)).fails("draft").run();
    let (node, fault) = run.failure();
    assert_eq!((node, &*fault.message), ("draft", "draft broke"));
}

#[test]
fn a_retry_of_a_repeated_body_begins_at_its_first_pass() {
    let drawing = drafting(5).attempts("draft", 2, 0);
    let run = World::new(&drawing)
        .does("draft", |execute| match execute.attempt {
            2 => verdict(false, ""),
            3 => Deed::fails("no verdict"),
            _ => verdict(true, ""),
        })
        .run();
    assert!(run.is_done());
    let indices: Vec<String> = run.outs("write").iter().map(Value::to_string).collect();
    let first = |out: &String| out.starts_with("write(0");
    assert_eq!(indices.len(), 3, "two passes, and one after the retry");
    assert_eq!(indices.iter().filter(|out| first(out)).count(), 2);
    assert_eq!(
        run.port("draft", RESULTS)
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_run_goes_on_from_its_journal_while_a_verdict_is_awaited() {
    let run = World::new(&drafting(5)).holds("draft").run();
    assert_eq!(run.life_of("draft"), NodeLife::Running);
    let workflow = run.machine.workflow().clone();
    let (mut again, _) = crate::Machine::replay(workflow, run.journal.clone()).unwrap();
    assert_eq!(again.digest(), run.machine.digest());
    let [crate::effect::Effect::Execute(execute)] = &again.in_flight()[..] else {
        panic!("the verdict is to be asked for again");
    };
    assert_eq!(execute.attempt, 2);
    assert_eq!(execute.inputs.0[0].or_null(), "write(0,,)".into());
    let completion = Completion {
        ports: Ports::one(STOP, true),
        ..Completion::default()
    };
    again.apply(&crate::event::Event::new(
        crate::event::Timestamp(9),
        Fact::Completed {
            activation: execute.activation,
            attempt: 2,
            completion,
        },
    ));
    assert_eq!(
        again.life_of(again.workflow().find("draft").unwrap()),
        Some(NodeLife::Done)
    );
}

#[test]
fn a_run_that_is_ended_while_a_verdict_is_awaited_stops_asking() {
    let mut run: Run = World::new(&drafting(5)).holds("draft").run();
    run.cancel();
    assert_eq!(run.stopped(), ["draft"]);
    assert_eq!(run.life_of("draft"), NodeLife::Cancelled);
}
