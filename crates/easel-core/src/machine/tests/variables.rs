//! Variables.

use crate::event::{Completion, Ports, Write};
use crate::testing::{Deed, World, draw};

fn assigns(value: &'static str) -> Deed {
    Deed::done(Completion {
        ports: Ports::new(),
        writes: vec![Write {
            target: 0,
            value: value.into(),
        }],
        ..Completion::default()
    })
}

#[test]
fn a_reader_waits_for_a_writer_beside_it() {
    let drawing = draw("begin -> reader, writer")
        .variable("env.x", "old")
        .writes("writer", "env.x")
        .reads("reader", "env.x");
    let run = World::new(&drawing)
        .does("writer", |_| assigns("new"))
        .run();
    assert_eq!(run.out("reader"), "reader(new)");
    assert_eq!(run.variable("env.x"), "new".into());
}

#[test]
fn a_reader_does_not_wait_for_a_writer_behind_it() {
    let drawing = draw("begin -> reader -> writer")
        .variable("env.x", "old")
        .writes("writer", "env.x")
        .reads("reader", "env.x");
    let run = World::new(&drawing)
        .does("writer", |_| assigns("new"))
        .run();
    assert_eq!(run.out("reader"), "reader(old)");
}

#[test]
fn writers_go_in_the_order_of_the_file() {
    let drawing = draw("begin -> first, second; first, second -> end")
        .variable("env.x", "")
        .writes("first", "env.x")
        .writes("second", "env.x")
        .reads("end", "env.x");
    let run = World::new(&drawing)
        .does("first", |_| assigns("1"))
        .does("second", |_| assigns("2"))
        .run();
    assert_eq!(run.out("end"), "end(2)");
}

#[test]
fn a_run_may_begin_with_other_values() {
    let drawing = draw("begin -> a")
        .variable("env.x", "old")
        .reads("a", "env.x");
    let run = World::new(&drawing)
        .given("env.x", "given")
        .given("env.none", "lost")
        .run();
    assert_eq!(run.out("a"), "a(given)");
}
