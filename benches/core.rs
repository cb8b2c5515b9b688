//! Criterion benches of the core alone: compile, run, render, evaluate.
#![expect(
    clippy::unwrap_used,
    reason = "a bench that cannot be set up should stop"
)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use easel_core::Value;
use easel_core::bind::{Inputs, ReadId, Resolved};
use easel_core::reference::canvas::Grammar;
use easel_core::reference::graph::Binding;
use easel_core::template::Rendering;
use easel_core::{expression, format};

fn render(c: &mut Criterion) {
    let mut text = String::new();
    for n in 0..20 {
        text += &"x".repeat(500);
        text += &format!("{{Agent:A@p{n}}}");
    }
    let mut reads = 0;
    let grammar = Grammar {
        known: &|_| true,
        in_iteration: false,
        jinja: false,
    };
    let template = grammar.template(&text, |_| {
        reads += 1;
        ReadId(reads - 1)
    });
    let value = Resolved::Value(Value::from("a short value"));
    let inputs = Inputs(vec![value; 20].into());
    c.bench_function("render a prompt of 10 KB with 20 references", |b| {
        b.iter(|| black_box(&template).render(black_box(&inputs), Rendering::Display))
    });
}

/// What a graph computes before nearly every node: a guard, and the text of an instruction.
fn graph(c: &mut Criterion) {
    let items = vec![Value::from(1); 5];
    let check = Value::from("Yes, this is fine");
    let inputs = Inputs([Resolved::Value(items.into()), Resolved::Value(check)].into());
    let bind = |root: &str| Binding::Read {
        read: ReadId(u32::from(root == "nodes")),
        used: 1,
    };
    let guard = "len(inputs.items) > 3 and contains(lower(nodes.check), 'yes')";
    let guard = expression::parse(guard)
        .unwrap()
        .bind(|chain| bind(&chain.root));
    c.bench_function("evaluate a guard with two reads and three calls", |b| {
        b.iter(|| black_box(&guard).truth(black_box(&inputs)))
    });
    let instruction = "Check {inputs.items} again, {nodes.check:>20}\n";
    let instruction =
        format::parse(instruction, format::Secrets::None).bind(|chain| bind(&chain.root));
    c.bench_function("render an instruction with two placeholders", |b| {
        b.iter(|| black_box(&instruction).render(black_box(&inputs)))
    });
}

fn load(c: &mut Criterion) {
    let engine = easel_runtime::Engine::builder().build().unwrap();
    let text = benches::chain(50);
    c.bench_function("load a canvas of 50 nodes", |b| {
        b.iter(|| Arc::new(engine.load(black_box(&text)).unwrap()))
    });
}

criterion_group!(benches, render, graph, load);
criterion_main!(benches);
