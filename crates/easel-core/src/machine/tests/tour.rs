//! Every transition of every life is taken by some run.

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::machine::life::taken;
use crate::machine::{EdgeLife, FrameLife, NodeLife, RunLife};
use crate::testing::{Deed, World, draw};

fn arrows<S: Debug, T: Debug>(table: &[(S, T, S)]) -> BTreeSet<String> {
    let arrow = |(from, by, to): &(S, T, S)| format!("{from:?} --{by:?}--> {to:?}");
    table.iter().map(arrow).collect()
}

/// Runs that between them do everything a run can do.
fn travel() {
    // Streams that break, and are stopped, and fail for good.
    let talk = draw("begin -> model -> say")
        .streams("model")
        .drains("say")
        .reads("say", "model@out");
    let broken = |_: &_| Deed::fails("broke").streaming();
    World::new(&talk.clone().attempts("model", 2, 1))
        .does("model", broken)
        .run();
    World::new(&talk)
        .does("model", |_| Deed::gives("x").streaming())
        .run();
    // Stopped while a text arrives, and between two attempts.
    let opened = World::new(&talk).does("model", |_| Deed::gives("x").streaming());
    let resting = World::new(&draw("begin -> a").attempts("a", 2, 1_000)).fails("a");
    for world in [opened, resting] {
        let mut run = world.begin();
        run.step();
        run.step();
        run.cancel();
    }
    // A message that waits for its turn when the text it was to show breaks off.
    let hushed = draw("begin -> first, model; model -> say")
        .streams("model")
        .drains("first say")
        .reads("say", "model@out")
        .failing_edges();
    let mut run = World::new(&hushed)
        .holds("first")
        .does("model", broken)
        .run();
    run.release("first");
    // Values that are waited for, by a node and by a circle.
    let late = draw("begin -> slow, a; begin -> b -> switch -> b, end")
        .branch("switch")
        .reads("a", "slow@out")
        .reads("b", "slow@out");
    let mut run = World::new(&late)
        .chooses("switch", "end")
        .holds("slow")
        .run();
    run.release("slow");
    // A node beside a failure in each state in which it can be stopped.
    let beside =
        draw("begin -> bad, open, run, wait, rest, form, each, late; open -> say; late -> never")
            .streams("open")
            .drains("say")
            .reads("say", "open@out")
            .reads("wait", "run@out")
            .attempts("rest", 2, 1_000)
            .form("form", "x")
            .variable("env.items", vec![1.into()])
            .each("each", "env.items", 1)
            .inside("each", "item -> inner")
            .item("item");
    for concurrency in [3, 16] {
        let mut run = World::new(&beside)
            .concurrency(concurrency)
            .does("open", |_| Deed::gives("x").streaming())
            .fails("rest")
            .holds("bad")
            .holds("run")
            .holds("say")
            .holds("inner")
            .holds("late")
            .begin();
        for _ in 0..6 {
            run.step();
        }
        run.cancel();
    }
    // Containers that fail: again, handled, for good.
    let list = draw("begin -> each -> end")
        .variable("env.items", vec![1.into()])
        .each("each", "env.items", 1)
        .inside("each", "item -> a")
        .item("item");
    World::new(&list.clone().attempts("each", 2, 1))
        .fails("a")
        .run();
    World::new(&list.clone().more("h").on_error("each", "h"))
        .fails("a")
        .run();
    World::new(&list.failing_edges()).fails("a").run();
    // A reference to nothing, handled and not.
    let lost = draw("begin -> a -> end").reads("a", "env.none");
    World::new(&lost).run();
    World::new(&lost.more("h").on_error("a", "h")).run();
    // Turns in which nodes were done, handled, skipped and dead before.
    let turns = draw("begin -> a -> switch -> a, b, end; a -> c; c -> switch; b -> switch")
        .more("h; h -> switch")
        .branch("switch")
        .on_error("c", "h");
    World::new(&turns)
        .fails("c")
        .chooses_in_turn("switch", &["a", "b", "end"])
        .run();
    // A failure whose edges fail, and what is behind it.
    World::new(&draw("begin -> bad -> next; begin -> good").failing_edges())
        .fails("bad")
        .run();
    // A question, an answer, and the end while it waits.
    let ask = draw("begin -> form -> end").form("form", "x");
    let mut run = World::new(&ask).run();
    run.answer(&[("x", "1")]);
    let mut run = World::new(&ask).run();
    run.cancel();
}

#[test]
fn every_arrow_of_every_life_is_taken() {
    travel();
    let mut wanted = arrows(NodeLife::ARROWS);
    wanted.extend(arrows(EdgeLife::ARROWS));
    wanted.extend(arrows(FrameLife::ARROWS));
    wanted.extend(arrows(RunLife::ARROWS));
    let taken = taken::all();
    let missing: Vec<&String> = wanted.difference(&taken).collect();
    assert!(missing.is_empty(), "never taken: {missing:#?}");
}
