//! Texts that are shown while they arrive.

use crate::bind::Resolved;
use crate::effect::{Effect, Observation, StreamTurn};
use crate::event::Fact;
use crate::machine::NodeLife;
use crate::testing::{Deed, Drawing, Order, Run, World, draw};

/// `llm` streams into `say`.
fn spoken() -> Drawing {
    draw("begin -> llm -> say -> end")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out")
}

fn opening(world: World, node: &str) -> World {
    let name = node.to_owned();
    world.does(node, move |_| Deed::gives(name.as_str()).streaming())
}

fn is_stream(run: &Run, node: &str, read: usize) -> bool {
    let executions = run.executions(node);
    let first = executions.first();
    first.is_some_and(|e| matches!(e.inputs.0[read], Resolved::Stream(_)))
}

fn feeds(run: &Run) -> Vec<&StreamTurn> {
    run.effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Feed { turn, .. } => Some(turn),
            _ => None,
        })
        .collect()
}

#[test]
fn a_message_begins_to_speak_while_the_text_arrives() {
    let mut run = opening(World::new(&spoken()), "llm").begin();
    run.step();
    assert_eq!(run.started(), ["begin", "llm"]);
    run.step();
    assert_eq!(run.started(), ["begin", "llm", "say"]);
    assert!(is_stream(&run, "say", 0));
    run.go();
    assert!(run.is_done());
    assert_eq!(run.out("say"), "say(llm)");
    assert_eq!(feeds(&run), [&StreamTurn::Ended("llm".into())]);
    assert!(run.after("end", "say"));
}

#[test]
fn a_text_that_never_opens_is_handed_over_whole() {
    let run = World::new(&spoken()).run();
    assert!(run.is_done());
    assert!(!is_stream(&run, "say", 0));
    assert!(feeds(&run).is_empty());
}

#[test]
fn other_readers_wait_for_the_whole_text() {
    let drawing = spoken()
        .more("llm -> aggregator, quiet; begin -> far")
        .reads("aggregator", "llm@out")
        .reads("quiet", "llm@out")
        .reads("far", "llm@out");
    let mut run = opening(World::new(&drawing), "llm").begin();
    run.step();
    run.step();
    assert_eq!(run.started(), ["begin", "llm", "say"]);
    run.go();
    for node in ["aggregator", "quiet", "far"] {
        assert_eq!(run.out(node), format!("{node}(llm)"));
    }
}

#[test]
fn the_first_message_owns_the_stream_and_the_second_gets_the_text() {
    let drawing = draw("begin -> llm -> one, two")
        .streams("llm")
        .drains("one two")
        .reads("one", "llm@out")
        .reads("two", "llm@out");
    let run = opening(World::new(&drawing), "llm").run();
    assert!(run.is_done());
    assert!(is_stream(&run, "one", 0));
    assert!(!is_stream(&run, "two", 0));
    assert_eq!(run.out("two"), "two(llm)");
}

#[test]
fn a_message_without_an_edge_from_its_source_shows_the_stream_too() {
    let drawing = draw("begin -> llm, x; x -> say")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out");
    let mut run = opening(World::new(&drawing), "llm").holds("llm").run();
    assert_eq!(run.count("say"), 0);
    run.release("llm");
    assert!(is_stream(&run, "say", 0));
    assert!(run.is_done());
}

#[test]
fn a_message_that_is_ready_later_gets_the_text() {
    let drawing = draw("begin -> llm, slow; llm, slow -> say")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out slow@out");
    let mut run = opening(World::new(&drawing), "llm").holds("slow").run();
    assert_eq!(run.count("say"), 0);
    run.release("slow");
    assert!(!is_stream(&run, "say", 0));
    assert_eq!(run.out("say"), "say(llm,slow)");
}

#[test]
fn a_message_may_show_two_streams() {
    let drawing = draw("begin -> a, b -> say")
        .streams("a b")
        .drains("say")
        .reads("say", "a@out b@out");
    for order in [Order::Issue, Order::Reverse, Order::Shuffled(3)] {
        let world = opening(opening(World::new(&drawing), "a"), "b").order(order);
        let run = world.run();
        assert!(run.is_done());
        assert_eq!(run.out("say"), "say(a,b)");
    }
}

#[test]
fn a_message_waits_for_a_source_that_has_not_begun_to_stream() {
    let drawing = draw("begin -> a, b -> say")
        .streams("a b")
        .drains("say")
        .reads("say", "a@out b@out");
    let world = opening(opening(World::new(&drawing), "a"), "b");
    let mut run = world.holds("b").run();
    assert_eq!(run.count("say"), 0);
    run.release("b");
    assert!(run.is_done());
}

#[test]
fn only_the_primary_port_streams() {
    let drawing = spoken().reads("say", "llm@thoughts");
    let run = opening(World::new(&drawing), "llm").run();
    assert!(is_stream(&run, "say", 0));
    assert_eq!(run.executions("say")[0].inputs.0[1], Resolved::Missing);
}

#[test]
fn a_broken_stream_is_tried_again_and_the_message_told_to_begin_anew() {
    let drawing = spoken().attempts("llm", 2, 0);
    let run = World::new(&drawing)
        .does("llm", |e| match e.attempt {
            1 => Deed::fails("cut off").streaming(),
            _ => Deed::gives("whole").streaming(),
        })
        .run();
    assert!(run.is_done());
    assert_eq!(run.out("say"), "say(whole)");
    assert_eq!(
        feeds(&run),
        [&StreamTurn::Restarts, &StreamTurn::Ended("whole".into())]
    );
    let resets = |s: &&Observation| matches!(s, Observation::MessageReset { .. });
    assert_eq!(run.seen.iter().filter(resets).count(), 1);
    assert_eq!(run.executions("say").len(), 1, "the message goes on");
}

#[test]
fn who_waits_for_the_text_goes_on_waiting_through_a_retry() {
    let drawing = spoken()
        .attempts("llm", 2, 0)
        .more("begin -> other; llm -> two")
        .drains("two")
        .reads("two", "llm@out other@out");
    for order in [Order::Issue, Order::Reverse, Order::Shuffled(1)] {
        let run = World::new(&drawing)
            .does("llm", |e| match e.attempt {
                1 => Deed::fails("cut off").streaming(),
                _ => Deed::gives("whole").streaming(),
            })
            .order(order)
            .run();
        assert!(run.is_done());
        assert!(run.outs("two").contains(&"two(whole,other)".into()));
    }
}

#[test]
fn a_default_value_ends_a_broken_stream() {
    let drawing = spoken().default("llm", "sorry");
    let run = World::new(&drawing)
        .does("llm", |_| Deed::fails("cut off").streaming())
        .run();
    assert!(run.is_done());
    assert_eq!(run.out("say"), "say(sorry)");
    assert_eq!(feeds(&run), [&StreamTurn::Ended("sorry".into())]);
}

#[test]
fn a_stream_that_breaks_for_good_fails_the_run_and_the_message_with_it() {
    let run = World::new(&spoken())
        .does("llm", |_| Deed::fails("cut off").streaming())
        .run();
    assert_eq!(run.failure().0, "llm");
    assert!(matches!(feeds(&run)[..], [StreamTurn::Broken(fault)] if &*fault.message == "cut off"));
    assert_eq!(run.stopped(), ["say"]);
    assert_eq!(run.count("end"), 0);
}

#[test]
fn in_a_graph_a_message_fails_with_its_broken_stream_or_stands_in_for_it() {
    let drawing = spoken().failing_edges();
    let broken = |drawing: &Drawing| {
        World::new(drawing)
            .does("llm", |_| Deed::fails("cut off").streaming())
            .run()
    };
    let run = broken(&drawing);
    assert_eq!(run.failure().0, "llm");
    assert!(run.steps("say")[0].fault.is_some());
    assert_eq!(run.count("end"), 0);

    let run = broken(&drawing.clone().attempts("say", 3, 0));
    assert_eq!(
        run.executions("say").len(),
        1,
        "there is nothing to try again"
    );

    let run = broken(&drawing.default("say", "sorry"));
    assert_eq!(run.count("end"), 1);
    assert_eq!(run.out("say"), "sorry");
}

#[test]
fn in_a_graph_a_message_that_has_not_begun_when_its_stream_breaks_is_skipped() {
    let drawing = draw("begin -> llm, other; llm -> say; other -> first; say -> end")
        .streams("llm")
        .drains("first say")
        .reads("say", "llm@out")
        .failing_edges();
    let mut run = World::new(&drawing)
        .does("llm", |_| Deed::fails("cut off").streaming())
        .holds("first")
        .holds("llm")
        .run();
    assert_eq!(run.started(), ["begin", "llm", "other", "first"]);
    run.release("llm");
    run.release("first");
    assert_eq!(run.count("say") + run.count("end"), 0);
    assert_eq!(run.failure().0, "llm");
}

#[test]
fn in_a_graph_a_message_that_waits_for_more_is_skipped_when_a_source_breaks() {
    let drawing = draw("begin -> a, b -> say")
        .streams("a b")
        .drains("say")
        .reads("say", "a@out b@out")
        .failing_edges();
    let mut run = opening(World::new(&drawing), "b")
        .does("a", |_| Deed::fails("cut off").streaming())
        .holds("b")
        .run();
    run.release("b");
    assert_eq!(run.count("say"), 0);
}

#[test]
fn a_failure_that_has_a_handler_is_known_before_anything_is_shown() {
    let drawing = spoken().on_error("llm", "h").more("h");
    assert!(drawing.findings().is_empty());
    let run = World::new(&drawing)
        .does("llm", |_| Deed::fails("cut off").streaming())
        .run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "llm", "h"]);
    let well = opening(World::new(&drawing), "llm").run();
    assert!(!is_stream(&well, "say", 0));
    assert_eq!(well.out("say"), "say(llm)");
}

#[test]
fn a_branch_that_streams_is_followed_only_when_it_has_chosen() {
    let drawing = draw("begin -> judge -> yes, no")
        .branch("judge")
        .streams("judge")
        .drains("yes no")
        .reads("yes", "judge@out")
        .reads("no", "judge@out");
    let run = World::new(&drawing)
        .does("judge", |_| {
            let mut deed = Deed::gives("fine").streaming();
            if let Ok(completion) = &mut deed.result {
                completion.next = Some(vec!["yes".into()]);
            }
            deed
        })
        .run();
    assert_eq!(run.started(), ["begin", "judge", "yes"]);
    assert_eq!(run.out("yes"), "yes(fine)");
}

#[test]
fn a_node_that_does_not_stream_cannot_open() {
    let drawing = draw("begin -> a -> say")
        .drains("say")
        .reads("say", "a@out");
    let run = opening(World::new(&drawing), "a").run();
    assert!(run.is_done());
    assert!(!is_stream(&run, "say", 0));
}

#[test]
fn a_message_that_fails_early_leaves_its_stream_to_nobody() {
    let drawing = spoken()
        .on_error("say", "other")
        .more("other")
        .drains("other")
        .reads("other", "llm@out");
    let mut run = opening(World::new(&drawing), "llm").begin();
    run.step();
    run.step();
    let say = run.executions("say")[0].clone();
    run.happens(Fact::Failed {
        activation: say.activation,
        attempt: 1,
        fault: crate::event::Fault::new("broke", "no voice"),
        usage: Default::default(),
    });
    assert_eq!(run.count("other"), 0, "it waits for the text");
    run.forget(say.activation);
    run.go();
    assert_eq!(run.out("other"), "other(llm)");
    assert!(run.is_done());
}

#[test]
fn messages_speak_one_at_a_time_in_the_order_in_which_they_became_ready() {
    let drawing = draw("begin -> slow, quick; slow -> one; quick -> two").drains("one two");
    let mut run = World::new(&drawing).holds("slow").holds("two").run();
    run.release("slow");
    assert_eq!(run.started(), ["begin", "slow", "quick", "two"]);
    run.release("two");
    assert_eq!(run.started()[3..], ["two", "one"]);
    assert!(run.after("one", "two"));
    assert!(run.is_done());
}

#[test]
fn messages_that_become_ready_together_speak_in_the_order_of_the_edges() {
    let drawing = draw("begin -> x; one; two; x -> two, one").drains("one two");
    let run = World::new(&drawing).run();
    assert_eq!(run.started(), ["begin", "x", "two", "one"]);
    assert!(run.after("one", "two"));
}

#[test]
fn behind_the_edges_come_those_that_waited_for_a_value_in_the_order_of_the_file() {
    let drawing = draw("begin -> x; begin -> waits; x -> late")
        .drains("waits late")
        .reads("waits", "x@out");
    let run = World::new(&drawing).run();
    assert_eq!(run.started(), ["begin", "x", "late", "waits"]);
}

#[test]
fn a_message_takes_no_place_from_others() {
    let drawing = draw("begin -> say, a").drains("say");
    let mut run = World::new(&drawing).concurrency(2).holds("say").run();
    assert_eq!(run.count("a"), 1);
    run.release("say");
    assert!(run.is_done());
}

#[test]
fn one_at_a_time_a_stream_that_is_tried_again_does_not_block_its_message() {
    let drawing = spoken().attempts("llm", 3, 10).more("begin -> other");
    let run = World::new(&drawing)
        .concurrency(1)
        .does("llm", |e| match e.attempt {
            1 | 2 => Deed::fails("cut off").streaming(),
            _ => Deed::gives("whole").streaming(),
        })
        .run();
    assert!(run.is_done());
    assert_eq!(run.out("say"), "say(whole)");
}

#[test]
fn in_a_loop_every_pass_streams_anew() {
    let drawing = draw("begin -> loop")
        .repeat("loop", 2)
        .inside("loop", "item -> llm -> say")
        .item("item")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out");
    let run = opening(World::new(&drawing), "llm").run();
    assert!(run.is_done());
    let streams = |e: &&&crate::effect::Execute| matches!(e.inputs.0[0], Resolved::Stream(_));
    assert_eq!(run.executions("say").iter().filter(streams).count(), 2);
}

#[test]
fn a_message_in_a_body_gets_the_text_of_a_source_outside() {
    let drawing = draw("begin -> llm -> loop")
        .streams("llm")
        .repeat("loop", 1)
        .inside("loop", "item -> say")
        .item("item")
        .drains("say")
        .reads("say", "llm@out");
    let run = opening(World::new(&drawing), "llm").run();
    assert!(!is_stream(&run, "say", 0));
    assert_eq!(run.out("say"), "say(llm)");
}

#[test]
fn a_node_whose_text_arrives_is_open() {
    let mut run = opening(World::new(&spoken()), "llm").begin();
    run.step();
    run.step();
    assert_eq!(run.life_of("llm"), NodeLife::Open);
    assert_eq!(run.life_of("say"), NodeLife::Running);
}
