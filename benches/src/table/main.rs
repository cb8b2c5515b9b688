//! One table for the whole engine: each row beside its floor, both measured in this process, in alternating pairs.
//!
//! `cargo run --release -p benches` prints it; `benches/README.md` says what the rows are. Words after it choose groups
//! of rows; a path among them is loaded as the largest canvas instead of one made by number.

mod bare;
mod commits;
mod durable;
mod engine;
mod floor;
mod graphs;
mod http;
mod masking;
mod pairs;
mod process;
mod scopes;
mod served;
mod server;
mod side;
mod wrk;

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

use easel_core::Value;
use easel_core::bind::{Inputs, ReadId, Resolved};
use easel_core::reference::canvas::Grammar;
use easel_core::template::{Rendering, Template};
use tokio::runtime::{Builder, Runtime};

use engine::{load, load_and_check, load_only, run, runs};
use pairs::{Pair, measure};

/// As in `easel` itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures a group of rows and prints them.
type Rows<'a> = dyn Fn() -> Result<(), Box<dyn Error>> + 'a;

fn main() -> Result<(), Box<dyn Error>> {
    let mut first = std::env::args_os().skip(1);
    if first.next().is_some_and(|word| word == graphs::WORKER) {
        easel_sandbox::worker::main(first);
        return Ok(());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut arguments = std::env::args_os().skip(1).peekable();
    match arguments.peek().and_then(|first| first.to_str()) {
        Some(process::AT_ONCE) => return process::at_once(&runtime),
        Some(process::PEAK) => return process::peak(arguments.skip(1)),
        Some(bare::BARE) => return bare::serve(arguments.nth(1).map(Into::into)),
        Some(side::SIDE) => return side::serve(arguments.skip(1)),
        _ => {}
    }
    let words: Vec<_> = arguments.collect();
    let file = words.iter().find(|word| Path::new(word).is_file());
    let chosen = |group: &str| {
        let mut groups = words.iter().filter(|&word| Some(word) != file).peekable();
        groups.peek().is_none() || groups.any(|word| *word == *group)
    };
    println!("| what / beside what | asked | Easel | beside it | ratio | a unit |");
    println!("|---|---|---|---|---|---|");
    let groups: [(&str, &Rows<'_>); 15] = [
        ("chain", &|| chain(&runtime)),
        ("fan", &|| fan(&runtime)),
        ("iteration", &|| iterations(&runtime)),
        ("runs", &|| at_once(&runtime)),
        ("scopes", &scopes),
        ("render", &render),
        ("masking", &masking::rows),
        ("load", &|| largest(file)),
        ("growth", &growth),
        ("graphs", &|| graphs::rows(&runtime)),
        ("process", &process::rows),
        ("durable", &durable::rows),
        ("server", &served::answering),
        ("memory", &served::memory),
        ("disk", &served::disk),
    ];
    for (group, rows) in groups {
        if chosen(group) {
            rows()?;
        }
    }
    Ok(())
}

/// Prints a row. `units`: of what one call of ours consists.
fn row(what: &str, asked: &str, pair: Pair, units: u32) {
    let Pair { ours, theirs } = pair;
    let (ratio, unit) = (pair.ratio(), ours / units);
    println!("| {what} | {asked} | {ours:.2?} | {theirs:.2?} | {ratio:.2} | {unit:.2?} |");
}

fn chain(runtime: &Runtime) -> Result<(), Box<dyn Error>> {
    let engine = engine::engine(1)?;
    let chain = load(&engine, &benches::chain(100))?;
    let pair = measure(|| run(&engine, &chain), || floor::hops(runtime, 100));
    row("a chain of 100 text nodes / 100 hops", "ratio 3", pair, 100);
    Ok(())
}

fn fan(runtime: &Runtime) -> Result<(), Box<dyn Error>> {
    let engine = engine::engine(1)?;
    let fan = load(&engine, &benches::fan(50))?;
    let pair = measure(|| run(&engine, &fan), || floor::fan_out(runtime, 50));
    row(
        "a 50-way fan-out and join / 50 tasks joined",
        "200 µs",
        pair,
        50,
    );
    Ok(())
}

fn iterations(runtime: &Runtime) -> Result<(), Box<dyn Error>> {
    let engine = engine::engine(1)?;
    for (items, asked) in [(1_000, "8 ms"), (10_000, "80 ms"), (100_000, "800 ms")] {
        let iteration = load(&engine, &benches::iteration(items))?;
        let hops = 2 * items;
        let pair = measure(|| run(&engine, &iteration), || floor::hops(runtime, hops));
        let what = format!("an iteration over {items} items, body of two / {hops} hops");
        row(&what, asked, pair, items as u32);
    }
    Ok(())
}

fn at_once(runtime: &Runtime) -> Result<(), Box<dyn Error>> {
    let engine = engine::engine(1_000)?;
    let ten = load(&engine, &benches::chain(8))?;
    let pair = measure(
        || runs(runtime, &engine, &ten, 1_000),
        || floor::runs(runtime, 1_000, 10),
    );
    let what = "1,000 runs of a 10-node canvas at once / 1,000 tasks of 10 hops";
    row(what, "40 ms", pair, 1_000);
    Ok(())
}

fn scopes() -> Result<(), Box<dyn Error>> {
    let (deep, root) = (scopes::Reader::at_depth(8)?, scopes::Reader::at_depth(0)?);
    let pair = measure(|| deep.read(), || root.read());
    row(
        "a read eight scopes deep / one at the root",
        "ratio 1.2",
        pair,
        scopes::READS as u32,
    );
    Ok(())
}

fn render() -> Result<(), Box<dyn Error>> {
    let (template, inputs) = prompt();
    let text = template.render(&inputs, Rendering::Display);
    let pair = measure(
        || drop(std::hint::black_box(&template).render(&inputs, Rendering::Display)),
        || drop(std::hint::black_box(&text).clone()),
    );
    let what = "a prompt of 10 KB with 20 references / a copy of its text";
    row(what, "2 µs", pair, 1);
    Ok(())
}

/// A template of 10 KB with 20 references, and what they are.
fn prompt() -> (Template, Inputs) {
    let text: String = (0..20)
        .map(|n| format!("{}{{Agent:A@p{n}}}", "x".repeat(500)))
        .collect();
    let grammar = Grammar {
        known: &|_| true,
        in_iteration: false,
        jinja: false,
    };
    let mut reads = 0;
    let template = grammar.template(&text, |_| {
        reads += 1;
        ReadId(reads - 1)
    });
    let value = Resolved::Value(Value::from("a short value"));
    (template, Inputs(vec![value; 20].into()))
}

fn largest(file: Option<&OsString>) -> Result<(), Box<dyn Error>> {
    let engine = engine::engine(1)?;
    let (what, text) = match file {
        Some(file) => (file.display().to_string(), std::fs::read(file)?),
        None => ("a canvas of 118 KB".to_owned(), benches::agents(118_000)),
    };
    let pair = measure(
        || load_only(&engine, &text),
        || drop(std::hint::black_box(serde_json::from_slice::<Value>(&text))),
    );
    row(&format!("load {what} / parse its JSON"), "2 ms", pair, 1);
    Ok(())
}

/// A hundred times as many nodes should cost about a hundred times as much.
fn growth() -> Result<(), Box<dyn Error>> {
    let engine = engine::engine(1)?;
    type Shape = fn(usize) -> Vec<u8>;
    let shapes: [(&str, Shape); 4] = [
        ("in a chain", benches::chain),
        ("side by side", benches::fan),
        ("in one circle", benches::circle),
        ("in circles of five", benches::circles),
    ];
    for (name, shape) in shapes {
        let (small, large) = (shape(500), shape(50_000));
        let pair = measure(
            || load_and_check(&engine, &large),
            || load_and_check(&engine, &small),
        );
        let what = format!("load and check 50,000 nodes {name} / 500");
        row(&what, "ratio 120", pair, 50_000);
    }
    Ok(())
}
