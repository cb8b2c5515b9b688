//! Criterion benches of the core alone: compile, run, render.
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
use easel_core::template::Rendering;

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

fn load(c: &mut Criterion) {
    let engine = easel_runtime::Engine::builder().build().unwrap();
    let text = benches::chain(50);
    c.bench_function("load a canvas of 50 nodes", |b| {
        b.iter(|| Arc::new(engine.load(black_box(&text)).unwrap()))
    });
}

criterion_group!(benches, render, load);
criterion_main!(benches);
