//! How many nodes run at once.

use crate::testing::{Deed, Order, World, draw};

#[test]
fn one_at_a_time_nodes_run_in_the_order_of_the_file() {
    let drawing = draw("begin -> c, a, b; x; a -> x; b -> y; c -> z");
    let order = ["begin", "c", "a", "b", "x", "y", "z"];
    assert_eq!(World::new(&drawing).concurrency(1).run().started(), order);
    let drawing = draw("begin; a; a2; b; b2; begin -> b, a; a -> a2; b -> b2");
    assert_eq!(
        World::new(&drawing).concurrency(1).run().started(),
        ["begin", "a", "a2", "b", "b2"]
    );
}

#[test]
fn no_more_nodes_run_at_once_than_may() {
    let drawing = draw("begin -> a, b, c, d -> end");
    let mut run = World::new(&drawing)
        .concurrency(2)
        .holds("a")
        .holds("b")
        .run();
    assert_eq!(run.started(), ["begin", "a", "b"]);
    run.release("b");
    assert_eq!(run.started(), ["begin", "a", "b", "c", "d"]);
    run.release("a");
    assert!(run.is_done());
}

#[test]
fn a_concurrency_of_zero_counts_as_one() {
    let run = World::new(&draw("begin -> a, b")).concurrency(0).run();
    assert!(run.is_done());
}

#[test]
fn whoever_was_ready_first_goes_first() {
    let drawing = draw("begin -> slow, quick; late; quick -> first; slow -> late").clone();
    let mut run = World::new(&drawing).concurrency(2).holds("slow").run();
    assert_eq!(run.started(), ["begin", "slow", "quick", "first"]);
    run.release("slow");
    assert_eq!(run.started()[4..], ["late"]);
}

#[test]
fn one_at_a_time_a_message_waits_for_what_stands_before_it_in_the_file() {
    let drawing = draw("begin -> say; a; begin -> a").drains("say");
    let run = World::new(&drawing).concurrency(1).run();
    assert_eq!(run.started(), ["begin", "say", "a"]);
    let drawing = draw("begin -> a; say; begin -> say").drains("say");
    let run = World::new(&drawing).concurrency(1).run();
    assert_eq!(run.started(), ["begin", "a", "say"]);
}

#[test]
fn one_at_a_time_nothing_else_starts_while_a_message_speaks() {
    let drawing = draw("begin -> say, a").drains("say");
    let mut run = World::new(&drawing).concurrency(1).holds("say").run();
    assert_eq!(run.started(), ["begin", "say"]);
    run.release("say");
    assert_eq!(run.started(), ["begin", "say", "a"]);
}

#[test]
fn one_at_a_time_a_message_may_still_show_a_stream() {
    let drawing = draw("begin -> llm -> say; begin -> other")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out");
    for order in [Order::Issue, Order::Reverse] {
        let run = World::new(&drawing)
            .concurrency(1)
            .does("llm", |_| Deed::gives("x").streaming())
            .order(order)
            .run();
        assert!(run.is_done());
        assert_eq!(run.started(), ["begin", "llm", "say", "other"]);
    }
}

#[test]
fn one_at_a_time_two_messages_of_one_stream_do_not_wait_for_each_other() {
    let drawing = draw("begin -> llm, quick; quick -> plain; llm -> one, two; plain -> end")
        .streams("llm")
        .drains("one two plain")
        .reads("one", "llm@out")
        .reads("two", "llm@out");
    let run = World::new(&drawing)
        .concurrency(1)
        .does("llm", |_| Deed::gives("x").streaming())
        .run();
    assert!(run.is_done());
}

#[test]
fn containers_and_forms_take_no_place() {
    let drawing = draw("begin -> loop, ask, a")
        .repeat("loop", 2)
        .inside("loop", "item -> inner")
        .item("item")
        .form("ask", "x");
    let mut run = World::new(&drawing).concurrency(1).run();
    assert_eq!(run.count("inner"), 2);
    assert_eq!(run.count("a"), 1);
    run.say("1");
    assert!(run.is_done());
}
