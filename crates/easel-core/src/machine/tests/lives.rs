//! A tour on which every arrow of every life is taken.

use std::collections::BTreeSet;

use serde_json::json;

use crate::draft::{Gather, Guard};
use crate::event::{Fact, Fault};
use crate::machine::edge::EdgeLife;
use crate::machine::frame::FrameLife;
use crate::machine::life::taken;
use crate::machine::node::NodeLife;
use crate::machine::run::RunLife;
use crate::testing::{Deed, Drawing, Run, World, draw, reference};

#[test]
fn a_tour_takes_every_arrow() {
    taken::forget();
    tour();
    let mut left = BTreeSet::new();
    left.extend(NodeLife::ARROWS.iter().map(|a| taken::name("NodeLife", a)));
    left.extend(EdgeLife::ARROWS.iter().map(|a| taken::name("EdgeLife", a)));
    left.extend(
        FrameLife::ARROWS
            .iter()
            .map(|a| taken::name("FrameLife", a)),
    );
    left.extend(RunLife::ARROWS.iter().map(|a| taken::name("RunLife", a)));
    for arrow in taken::all() {
        assert!(left.remove(&arrow), "no such arrow: {arrow}");
    }
    assert!(left.is_empty(), "never taken: {left:#?}");
}

fn tour() {
    ordinary_ways();
    failures_of_each_kind();
    streams_that_end_and_break();
    loops_that_turn();
    graphs();
    runs_stopped_in_every_state();
}

fn ordinary_ways() {
    // Waiting for a value, dead ends, forms, an item and an exit.
    let drawing = draw("begin -> reader, slow, s; s -> x, y; begin -> ask")
        .branch("s")
        .reads("reader", "slow@out")
        .form("ask", "f");
    let mut run = World::new(&drawing).chooses("s", "x").run();
    run.say("hi");
    assert!(run.is_done());
    // A circle that waits for a value before it is entered.
    let drawing = draw("begin -> a -> s -> a, end; begin -> slow")
        .branch("s")
        .reads("a", "slow@out");
    assert!(World::new(&drawing).chooses("s", "end").run().is_done());
}

fn graphs() {
    // A guard that says no after waiting for a value, and a body that is judged after each pass.
    let drawing = draw("slow; off; l")
        .starting_at_sources()
        .guarded("off", Guard::Disabled)
        .reads("off", "slow@out")
        .until_told("l", Gather::One(reference("w@out")), 2, true)
        .inside("l", "w");
    assert!(World::new(&drawing).run().is_done());
}

fn failures_of_each_kind() {
    // While queued, because something is broken: fail, default, handle.
    let broken = draw("begin -> a; h").broken("a", "no url");
    World::new(&broken).run();
    World::new(&broken.clone().default("a", 1)).run();
    World::new(&broken.on_error("a", "h")).run();
    // While running: retry, fail, handle.
    let failing = draw("begin -> a -> b; h");
    World::new(&failing.clone().attempts("a", 2, 0))
        .fails("a")
        .run();
    World::new(&failing.clone().on_error("a", "h"))
        .fails("a")
        .run();
    World::new(&failing.failing_edges()).fails("a").run();
    // In a body: retry, fail, handle.
    let body = draw("begin -> box; h")
        .repeat("box", 1)
        .inside("box", "i -> a")
        .item("i");
    World::new(&body.clone().attempts("box", 2, 0))
        .fails("a")
        .run();
    World::new(&body.on_error("box", "h")).fails("a").run();
    // Into a circle that goes on without the failed edge.
    let circle = draw("begin -> bad, a; bad -> b; a -> b; a -> s -> a, end; b -> s")
        .branch("s")
        .failing_edges();
    World::new(&circle)
        .fails("bad")
        .does("s", |e| choose(e.visit == 1))
        .run();
    let circle = draw("begin -> bad, a; bad -> b; a -> s -> a, end; b -> t -> b, out; s -> b")
        .branch("s")
        .branch("t")
        .failing_edges();
    World::new(&circle).fails("bad").run();
    // A failed edge into a circle that turns all the same.
    let circle = draw("begin -> a, bad; bad -> x; a -> s -> a, x, end; x -> a")
        .branch("s")
        .failing_edges();
    World::new(&circle)
        .fails("bad")
        .does("s", |e| choose(e.visit == 1))
        .run();
}

fn choose(again: bool) -> Deed {
    let next = if again { "a" } else { "end" };
    Deed::done(crate::event::Completion {
        next: Some(vec![next.into()]),
        ..Default::default()
    })
}

fn spoken() -> Drawing {
    draw("begin -> llm -> say")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out")
}

fn streaming(drawing: &Drawing) -> World {
    World::new(drawing).does("llm", |_| Deed::gives("x").streaming())
}

fn breaking(drawing: &Drawing) -> World {
    World::new(drawing).does("llm", |_| Deed::fails("cut off").streaming())
}

fn streams_that_end_and_break() {
    streaming(&spoken()).run();
    breaking(&spoken().attempts("llm", 2, 0)).run();
    // A message that has not begun when its text breaks off.
    let drawing = spoken()
        .more("begin -> first")
        .drains("first")
        .failing_edges();
    let mut run = breaking(&drawing).holds("first").holds("llm").run();
    run.release("llm");
    run.release("first");
}

fn loops_that_turn() {
    // Done, dead and handled nodes, taken and dead edges begin anew.
    let drawing = draw("begin -> loop")
        .repeat("loop", 2)
        .inside("loop", "i -> s -> a, b; a -> x; h")
        .item("i")
        .branch("s")
        .on_error("a", "h");
    World::new(&drawing).chooses("s", "a").fails("a").run();
    let drawing = draw("begin -> loop")
        .repeat("loop", 2)
        .inside("loop", "i -> a, leave; leave -> x")
        .item("i")
        .exit("leave");
    World::new(&drawing).run();
}

fn runs_stopped_in_every_state() {
    let cancelled = |world: World| {
        let mut run = world.run();
        run.cancel();
        run
    };
    // Pending, blocked, queued, running.
    let drawing = draw("begin -> a, b, c -> d").reads("c", "a@out");
    cancelled(World::new(&drawing).concurrency(1).holds("a"));
    // Open and asking.
    let drawing = spoken().more("begin -> ask").form("ask", "f");
    let mut run = streaming(&drawing).begin();
    run.step();
    run.step();
    run.cancel();
    // Inside, and a run that waits.
    let drawing = draw("begin -> each")
        .each("each", "begin@out", 2)
        .inside("each", "i -> ask")
        .item("i")
        .form("ask", "f");
    cancelled(World::new(&drawing).gives("begin", json!([1, 2])));
    // Resting.
    let drawing = draw("begin -> a").attempts("a", 2, 1_000);
    let mut run = World::new(&drawing).holds("a").run();
    fail(&mut run, "a");
    run.cancel();
}

fn fail(run: &mut Run, node: &str) {
    let activation = run.executions(node)[0].activation;
    run.happens(Fact::Failed {
        activation,
        attempt: 1,
        fault: Fault::new("broke", "broke"),
        usage: Default::default(),
    });
}
