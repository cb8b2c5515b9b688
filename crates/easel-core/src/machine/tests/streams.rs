//! Texts that are shown while they arrive.

use crate::bind::Resolved;
use crate::effect::{Effect, StreamTurn};
use crate::testing::{Deed, Run, World, draw};

fn handed_a_stream(run: &Run, node: &str) -> bool {
    let executions = run.executions(node);
    let reads = executions.iter().flat_map(|e| e.inputs.0.iter());
    reads.filter(|r| matches!(r, Resolved::Stream(_))).count() > 0
}

fn turns(run: &Run) -> Vec<&StreamTurn> {
    let feeds = run.effects.iter().filter_map(|effect| match effect {
        Effect::Feed { turn, .. } => Some(turn),
        _ => None,
    });
    feeds.collect()
}

#[test]
fn a_message_shows_a_text_while_it_arrives() {
    let drawing = draw("begin -> model -> say")
        .streams("model")
        .drains("say")
        .reads("say", "model@out");
    let run = World::new(&drawing)
        .does("model", |_| Deed::gives("hello").streaming())
        .run();
    assert!(handed_a_stream(&run, "say"));
    assert_eq!(run.out("say"), "say(hello)");
    assert_eq!(turns(&run), [&StreamTurn::Ended("hello".into())]);
}

#[test]
fn the_first_message_shows_the_stream_and_the_second_gets_the_text() {
    let drawing = draw("begin -> model -> say, repeat")
        .streams("model")
        .drains("say repeat")
        .reads("say", "model@out")
        .reads("repeat", "model@out");
    let run = World::new(&drawing)
        .does("model", |_| Deed::gives("hello").streaming())
        .run();
    assert!(handed_a_stream(&run, "say"));
    assert!(!handed_a_stream(&run, "repeat"));
    assert_eq!(run.out("repeat"), "repeat(hello)");
}

#[test]
fn a_node_that_shows_nothing_waits_for_the_whole_text() {
    let drawing = draw("begin -> model -> say, sum")
        .streams("model")
        .drains("say")
        .reads("say", "model@out")
        .reads("sum", "model@out");
    let run = World::new(&drawing)
        .does("model", |_| Deed::gives("hello").streaming())
        .run();
    assert!(run.after("sum", "model"));
    assert_eq!(run.out("sum"), "sum(hello)");
}

#[test]
fn a_stream_that_breaks_starts_again_with_the_next_attempt() {
    let drawing = draw("begin -> model -> say")
        .streams("model")
        .drains("say")
        .reads("say", "model@out")
        .attempts("model", 2, 0);
    let run = World::new(&drawing)
        .does("model", |execute| match execute.attempt {
            1 => Deed::fails("broke off").streaming(),
            _ => Deed::gives("hello").streaming(),
        })
        .run();
    assert_eq!(run.out("say"), "say(hello)");
    let want = [&StreamTurn::Restarts, &StreamTurn::Ended("hello".into())];
    assert_eq!(turns(&run), want);
}

#[test]
fn a_default_value_takes_over_a_stream_that_broke() {
    let drawing = draw("begin -> model -> say")
        .streams("model")
        .drains("say")
        .reads("say", "model@out")
        .default("model", "sorry");
    let run = World::new(&drawing)
        .does("model", |_| Deed::fails("broke off").streaming())
        .run();
    assert!(run.is_done());
    assert_eq!(run.out("say"), "say(sorry)");
}

#[test]
fn a_stream_that_breaks_for_good_fails_the_run() {
    let drawing = draw("begin -> model -> say")
        .streams("model")
        .drains("say")
        .reads("say", "model@out");
    let run = World::new(&drawing)
        .does("model", |_| Deed::fails("broke off").streaming())
        .run();
    assert_eq!(run.failure().0, "model");
}

#[test]
fn messages_speak_one_at_a_time() {
    let drawing = draw("begin -> a, b, c").drains("a b c");
    let mut run = World::new(&drawing).holds("a").holds("b").holds("c").run();
    assert_eq!(run.started(), ["begin", "a"]);
    run.release("a");
    assert_eq!(run.started(), ["begin", "a", "b"]);
    run.release("b");
    run.release("c");
    assert!(run.is_done());
}
