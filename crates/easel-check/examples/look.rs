use std::collections::BTreeMap;
#[path = "../tests/canvas/documents.rs"]
#[allow(dead_code)]
mod common;
fn main() {
    let verbose = std::env::var("V").ok();
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    for file in std::env::args().skip(1) {
        let text = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&text);
        if std::env::var("STAGES").is_ok() {
            use easel_canvas::{document::Document, lower, normalise};
            let t = std::time::Instant::now();
            let doc = Document::read(text.as_bytes()).unwrap();
            eprintln!("read {:?}", t.elapsed());
            let t = std::time::Instant::now();
            let n = normalise::normalise(&doc);
            eprintln!("normalise {:?}", t.elapsed());
            let t = std::time::Instant::now();
            let l = lower::lower(&n.document, easel_catalog::Catalog::builtin());
            eprintln!("lower {:?}", t.elapsed());
            let t = std::time::Instant::now();
            let c = easel_core::compile::compile(l.draft);
            eprintln!("compile {:?}", t.elapsed());
            let canvas = easel_check::Canvas {
                document: &n.document,
                notes: &n.notes,
                parameters: &l.findings,
                structure: &c.findings,
                workflow: &c.workflow,
                catalog: easel_catalog::Catalog::builtin(),
            };
            let t = std::time::Instant::now();
            let all = easel_check::check(&canvas, &easel_check::Surroundings::default());
            eprintln!("check {:?} {}", t.elapsed(), all.len());
            continue;
        }
        let s = easel_check::Surroundings::default();
        let t = std::time::Instant::now();
        let (all, _) = common::checked(&text, &s);
        let took = t.elapsed();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for d in &all {
            *counts.entry(d.code.to_string()).or_default() += 1;
            *total.entry(d.code.to_string()).or_default() += 1;
            if verbose.as_deref() == Some("all") || verbose.as_deref() == Some(d.code.name()) {
                println!(
                    "{file}:{} {}[{}] {} | {}",
                    d.place
                        .map(|p| format!("{}:{}", p.line, p.column))
                        .unwrap_or_default(),
                    d.severity.name(),
                    d.code,
                    d.message,
                    d.detail.as_deref().unwrap_or("")
                );
            }
        }
        if verbose.is_none() {
            println!("{file} {took:?} {counts:?}");
        }
    }
    println!("{total:?}");
}
