//! One table for the whole engine: each row beside its floor, measured in alternating pairs in this process.
//!
//! Run it with `cargo run --release -p benches`. No model latency; every event is serialised to JSON and counted.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use easel_runtime::{Engine, Input, RunEvent, Workflow};

/// Pairs of measurements a row.
const PAIRS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let engine = Engine::builder().build()?;
    println!("| what | Easel | floor | ratio | per unit |");
    println!("|---|---|---|---|---|");

    let nodes = 100;
    let chain = load(&engine, &benches::chain(nodes))?;
    row(
        "chain of 100 text nodes / 100 hops",
        nodes,
        || run(&engine, &chain, 1),
        || hops(&runtime, nodes),
    );

    let width = 50;
    let fan = load(&engine, &benches::fan(width))?;
    row(
        "50-way fan-out and join / 50 spawns joined",
        width,
        || run(&engine, &fan, 1),
        || fan_out(&runtime, width),
    );

    for items in [1_000, 10_000, 100_000] {
        let iteration = load(&engine, &benches::iteration(items))?;
        let name = format!(
            "iteration over {items} items, body of two / {} hops",
            items * 2
        );
        let engine = roomy(items)?;
        row(
            &name,
            items,
            || run(&engine, &iteration, 1),
            || hops(&runtime, items * 2),
        );
    }

    let ten = load(&engine, &benches::chain(8))?;
    row(
        "1,000 runs of a 10-node canvas / 10,000 hops",
        1_000,
        || run(&engine, &ten, 1_000),
        || hops(&runtime, 10_000),
    );

    let deep = load(&engine, &benches::nested(8))?;
    let flat = load(&engine, &benches::nested(1))?;
    row(
        "nine scopes deep / two",
        1,
        || run(&engine, &deep, 1),
        || run(&engine, &flat, 1),
    );

    let (small, large) = (benches::chain(500), benches::chain(50_000));
    row(
        "load 50,000 nodes / 500 nodes",
        1,
        || load_only(&engine, &large),
        || load_only(&engine, &small),
    );
    Ok(())
}

fn load(engine: &Arc<Engine>, text: &[u8]) -> Result<Arc<Workflow>, Box<dyn std::error::Error>> {
    Ok(Arc::new(engine.load(text)?))
}

fn load_only(engine: &Arc<Engine>, text: &[u8]) {
    let loaded = engine.load(text);
    assert!(std::hint::black_box(loaded).is_ok());
}

/// An engine whose runs may be long.
fn roomy(items: usize) -> Result<Arc<Engine>, easel_runtime::Rejected> {
    let limits = easel_runtime::RunLimits {
        node_runs: 10 * items as u64 + 1_000,
        ..Default::default()
    };
    Engine::builder().limits(limits).build()
}

/// Counts what is written to it.
#[derive(Default)]
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(engine: &Arc<Engine>, workflow: &Arc<Workflow>, times: usize) {
    let mut sink = Counter::default();
    for _ in 0..times {
        let mut observe = |event: RunEvent| {
            assert!(serde_json::to_writer(&mut sink, &event).is_ok());
        };
        let mut session = engine.session(workflow);
        let turn = session.turn(Input::from("hello"), &mut observe);
        let ending = futures::executor::block_on(turn);
        assert!(matches!(ending, Ok(easel_runtime::Ending::Finished)));
    }
    assert!(std::hint::black_box(sink.0) > 0);
}

/// The floor of a hop: a task is spawned, sends one value over a channel, and the next starts when it came.
fn hops(runtime: &tokio::runtime::Runtime, count: usize) {
    runtime.block_on(async {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        for n in 0..count {
            let sender = sender.clone();
            tokio::spawn(async move { sender.send(n) });
            std::hint::black_box(receiver.recv().await);
        }
    });
}

/// The floor of a fan-out: tasks are spawned, and all their values come back over one channel.
fn fan_out(runtime: &tokio::runtime::Runtime, width: usize) {
    runtime.block_on(async {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        for n in 0..width {
            let sender = sender.clone();
            tokio::spawn(async move { sender.send(n) });
        }
        for _ in 0..width {
            std::hint::black_box(receiver.recv().await);
        }
    });
}

/// Measures both sides in turn and prints their medians.
fn row(name: &str, units: usize, mut easel: impl FnMut(), mut floor: impl FnMut()) {
    let once = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    // Warm up, and see how often a short one must be repeated to be measurable.
    let first = once(&mut easel).max(Duration::from_nanos(1));
    once(&mut floor);
    let repeat = (Duration::from_millis(5).as_nanos() / first.as_nanos()).clamp(1, 1_000) as u32;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        ours.push(once(&mut || (0..repeat).for_each(|_| easel())) / repeat);
        theirs.push(once(&mut || (0..repeat).for_each(|_| floor())) / repeat);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let each = ours / u32::try_from(units).unwrap_or(u32::MAX);
    println!("| {name} | {ours:.2?} | {theirs:.2?} | {ratio:.2} | {each:.2?} |");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
