//! The examples do what the docs say they do.

use std::path::Path;
use std::sync::Arc;

use easel_runtime::{Ending, Engine, Input, Object, ScriptedWorld, Value};
use futures::executor::block_on;

/// One turn with a canvas under `examples/`, and what comes of it.
struct Turn {
    input: Input,
    said: &'static str,
    ending: Ending,
}

fn says(query: &str, said: &'static str) -> Turn {
    Turn {
        input: Input::from(query),
        said,
        ending: Ending::Finished,
    }
}

fn fills_in(fields: &[(&str, &str)], said: &'static str) -> Turn {
    let inputs: Object = fields
        .iter()
        .map(|&(key, value)| (Arc::from(key), Value::from(value)))
        .collect();
    Turn {
        input: Input {
            inputs,
            ..Input::default()
        },
        said,
        ending: Ending::Finished,
    }
}

fn is_asked(query: &str) -> Turn {
    Turn {
        input: Input::from(query),
        said: "",
        ending: Ending::Waiting,
    }
}

fn check(file: &str, turns: Vec<Turn>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(file);
    let canvas = std::fs::read(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let world = std::fs::read(path.with_file_name("llm.json"));
    let world = world.map(|text| serde_json::from_slice(&text).expect("llm.json is JSON"));
    let world = ScriptedWorld::read(world.unwrap_or_default(), || {}).expect("a scripted world");
    let engine = Engine::builder()
        .model(world.model())
        .world(world.tools())
        .seed(1)
        .build()
        .expect("an engine");
    let workflow = Arc::new(engine.load(&canvas).expect("a canvas"));
    let mut session = engine.session(&workflow);
    for turn in turns {
        let mut said = String::new();
        let mut observe = |event: easel_runtime::RunEvent| said += event.text();
        let ending = block_on(session.turn(turn.input, &mut observe));
        let ending = ending.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(said, turn.said, "{file}");
        assert_eq!(ending, turn.ending, "{file}");
    }
}

#[test]
fn hello() {
    let said = "Hello, Ada! This canvas ran without a model, a key or a service.";
    check("hello.json", vec![says("Ada", said)]);
}

#[test]
fn a_branch_and_a_join_that_fires_once() {
    let turns = vec![
        says(
            "The shop is DOWN",
            "Paging whoever is on duty: The shop is DOWN",
        ),
        says(
            "A new logo, please",
            "Filed for tomorrow: A new logo, please",
        ),
    ];
    check("branch-and-join.json", turns);
}

#[test]
fn an_iteration_with_results_in_order() {
    let turns = vec![says("red, green,blue", "0: red\n1: green\n2: blue")];
    check("iteration.json", turns);
}

#[test]
fn a_loop_that_is_left_early() {
    let said = "Square 11 is the first with more than 1000 grains: 1024.";
    check("loop.json", vec![says("", said)]);
}

#[test]
fn a_form_that_changes_what_is_said() {
    let turns = vec![
        is_asked("a table"),
        fills_in(
            &[("day", "Friday"), ("people", "4")],
            "Booked: a table, Friday, 4 people.",
        ),
        is_asked("a boat"),
        fills_in(
            &[("day", "Monday"), ("people", "2"), ("wishes", "No rain")],
            "Booked: a boat, Monday, 2 people. We wrote down: No rain",
        ),
    ];
    check("form.json", turns);
}

#[test]
fn a_failure_with_a_default_and_one_that_goes_elsewhere() {
    let said = "The largest order: [\"no orders\"]\nThe name could not be read: \"Cut the customer's name\" can split \
                text only, and env.customer is of type number. Name a text, or use `merge` to make one.";
    check("errors.json", vec![says("", said)]);
}

#[test]
fn an_agent_in_a_scripted_world() {
    let turns = vec![
        says(
            "When are you open?",
            "We open at nine and close at six, Monday to Saturday.",
        ),
        says("And on Sunday?", "We are closed on Sundays."),
    ];
    check("cases/assistant/canvas.json", turns);
}
