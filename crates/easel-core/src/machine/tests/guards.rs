//! Nodes that are kept from running though they could, and runs that start at every source.

use crate::draft::Guard;
use crate::effect::Observation;
use crate::machine::NodeLife;
use crate::testing::{World, draw};

#[test]
fn a_graph_starts_at_every_node_that_nothing_leads_to() {
    let drawing = draw("a -> c; b -> c; alone").starting_at_sources();
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["a", "b", "alone", "c"]);
}

#[test]
fn a_node_that_is_switched_off_dies_and_so_does_what_only_it_leads_to() {
    let drawing = draw("a -> b -> d; a -> c -> join; b -> join; d -> last")
        .starting_at_sources()
        .guarded("b", Guard::Disabled)
        .reads("join", "b@out")
        .reads("join", "c@out");
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["a", "c", "join"]);
    assert_eq!(run.out("join"), "join(-,c)");
    for dead in ["b", "d", "last"] {
        assert_eq!(run.life_of(dead), NodeLife::Dead, "{dead}");
    }
    let turned_away = |seen: &&Observation| matches!(seen, Observation::NodeSkipped { .. });
    assert_eq!(run.seen.iter().filter(turned_away).count(), 1);
}

#[test]
fn what_a_node_gives_becomes_the_value_of_its_variable() {
    let drawing = draw("a -> b")
        .starting_at_sources()
        .variable("env.w", "before")
        .publishes("a", "env.w")
        .reads("b", "env.w");
    let run = World::new(&drawing).gives("a", 7).run();
    assert_eq!(run.out("b"), "b(7)");
    assert_eq!(run.variable("env.w"), 7.into());
}

#[test]
fn a_field_whose_value_stands_already_is_not_asked_for() {
    let drawing = draw("ask -> b")
        .starting_at_sources()
        .variable("sys.topic", crate::Value::Null)
        .variable("env.topic", crate::Value::Null)
        .form("ask", "topic")
        .answered_by("ask", "topic", "sys.topic")
        .answered_by("ask", "topic", "env.topic")
        .reads("b", "ask@topic");
    let given = World::new(&drawing).given("env.topic", "cats").run();
    assert!(given.is_done());
    assert_eq!(given.questions(), 0);
    assert_eq!(given.out("b"), "b(cats)");

    let empty = World::new(&drawing).given("sys.topic", "").run();
    assert_eq!(empty.out("b"), "b()", "an empty text is an answer");

    let mut asked = World::new(&drawing).run();
    assert_eq!(asked.question().0, ["topic"]);
    asked.answer(&[("topic", "dogs")]);
    assert_eq!(asked.out("b"), "b(dogs)");
}

#[test]
fn a_form_that_lacks_only_what_may_be_missing_does_not_ask() {
    let drawing = draw("ask")
        .starting_at_sources()
        .variable("sys.a", "A")
        .variable("sys.b", crate::Value::Null)
        .form("ask", "a b?")
        .answered_by("ask", "a", "sys.a")
        .answered_by("ask", "b", "sys.b");
    let run = World::new(&drawing).run();
    assert_eq!(run.questions(), 0);
    assert_eq!(run.port("ask", "a"), Some("A".into()));

    let mut asked = World::new(&drawing)
        .given("sys.a", crate::Value::Null)
        .run();
    assert_eq!(asked.question().0, ["a", "b"]);
    asked.answer(&[("a", "x")]);
    assert!(asked.is_done());
}

#[test]
fn a_variable_without_a_value_is_missing_until_it_is_assigned() {
    let drawing = draw("a -> b; before")
        .starting_at_sources()
        .unset("env.w")
        .reads("a", "env.w")
        .writes("b", "env.w");
    let run = World::new(&drawing).run();
    assert_eq!(run.out("a"), "a(-)");
    assert_eq!(run.variable("env.w"), "b".into());
}
