//! Instructions of the core and the engine, counted: the same on every machine and however busy it is.
//!
//! `cargo bench -p benches --bench instructions` needs valgrind, and `gungraun-runner` in the version of the library.
#![expect(missing_docs, reason = "the macros write public items")]
#![expect(
    clippy::unwrap_used,
    reason = "a bench that cannot be set up should stop"
)]

use std::hint::black_box;
use std::sync::Arc;

use easel_core::Machine;
use easel_core::effect::Effect;
use easel_core::event::{Start, Timestamp};
use easel_runtime::{Engine, Input, RunEvent, Workflow};
use futures::executor::block_on;
use gungraun::{library_benchmark, library_benchmark_group, main};

/// An engine and a workflow that has run once, so that what is done once is done.
fn warm(text: Vec<u8>) -> (Arc<Engine>, Arc<Workflow>) {
    let engine = Engine::builder().build().unwrap();
    let workflow = Arc::new(engine.load(&text).unwrap());
    run_once(&engine, &workflow);
    (engine, workflow)
}

fn run_once(engine: &Arc<Engine>, workflow: &Arc<Workflow>) {
    let mut session = engine.session(workflow);
    let mut observe = |event: RunEvent| drop(black_box(event));
    block_on(session.turn(Input::from("hello"), &mut observe)).unwrap();
}

// A whole run, its events not serialised.
#[library_benchmark]
#[bench::chain_of_100(args = (benches::chain(100)), setup = warm)]
#[bench::fan_of_50(args = (benches::fan(50)), setup = warm)]
#[bench::iteration_over_100(args = (benches::iteration(100)), setup = warm)]
fn engine((engine, workflow): (Arc<Engine>, Arc<Workflow>)) -> (Arc<Engine>, Arc<Workflow>) {
    run_once(&engine, &workflow);
    (engine, workflow)
}

/// The events of a run.
fn events(text: Vec<u8>) -> Vec<RunEvent> {
    let (engine, workflow) = warm(text);
    let mut events = Vec::new();
    let mut session = engine.session(&workflow);
    let mut observe = |event| events.push(event);
    block_on(session.turn(Input::from("hello"), &mut observe)).unwrap();
    events
}

// The events of a run as JSON.
#[library_benchmark]
#[bench::chain_of_100(args = (benches::chain(100)), setup = events)]
fn serialise(events: Vec<RunEvent>) -> Vec<RunEvent> {
    let mut line = Vec::new();
    for event in &events {
        line.clear();
        black_box(event).write_json(&mut line);
    }
    events
}

fn compiled(text: Vec<u8>) -> Arc<easel_core::workflow::Workflow> {
    Workflow::load(&text).unwrap().compiled().clone()
}

// The machine alone: every node is done at once.
#[library_benchmark]
#[bench::chain_of_100(args = (benches::chain(100)), setup = compiled)]
#[bench::fan_of_50(args = (benches::fan(50)), setup = compiled)]
fn machine(workflow: Arc<easel_core::workflow::Workflow>) -> Machine {
    let start = Start {
        run: "bench".into(),
        concurrency: 16,
        ..Start::default()
    };
    let (mut machine, reaction) = Machine::start(workflow, start, Timestamp(0));
    let mut effects = reaction.effects;
    while let Some(effect) = effects.pop() {
        let Effect::Execute(execute) = effect else {
            continue;
        };
        let reaction = machine.apply(&benches::completed(&execute));
        effects.extend(reaction.effects);
    }
    assert!(machine.life().over());
    machine
}

fn with_engine(text: Vec<u8>) -> (Arc<Engine>, Vec<u8>) {
    (Engine::builder().build().unwrap(), text)
}

// From text to workflow.
#[library_benchmark]
#[bench::chain_of_100(args = (benches::chain(100)), setup = with_engine)]
#[bench::agents(args = (benches::agents(118_000)), setup = with_engine)]
fn load((engine, text): (Arc<Engine>, Vec<u8>)) -> (Arc<Engine>, Workflow) {
    let workflow = engine.load(black_box(&text)).unwrap();
    (engine, workflow)
}

library_benchmark_group!(
    name = easel,
    benchmarks = [engine, serialise, machine, load]
);

main!(library_benchmark_groups = easel);
