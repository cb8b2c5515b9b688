//! References in texts, and their places in Jinja.
#![no_main]

use easel_runtime::core::bind::{Inputs, ReadId, Resolved};
use easel_runtime::core::reference::canvas::{Grammar, bare};
use easel_runtime::core::template::{Piece, Rendering};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for (in_iteration, jinja) in [(false, false), (true, false), (false, true), (true, true)] {
        let grammar = Grammar {
            known: &|name| name == "my agent" || name == "env.my-var",
            in_iteration,
            jinja,
        };
        references_stand_apart_and_in_order(&grammar, text);
        nothing_of_the_text_is_lost(&grammar, text);
    }
    if let Some(reference) = bare(text) {
        let again = bare(&reference.to_string());
        assert_eq!(
            again.as_ref(),
            Some(&reference),
            "a reference reads as itself"
        );
    }
});

fn references_stand_apart_and_in_order(grammar: &Grammar<'_>, text: &str) {
    let mut end = 0;
    for token in grammar.scan(text).tokens {
        assert!(end <= token.range.start && token.range.start < token.range.end);
        let written = text.get(token.range.clone()).expect("whole characters");
        assert!(written.contains(&*token.reference.text));
        end = token.range.end;
    }
}

/// Each reference put back where it stood, as it was written, gives the text.
fn nothing_of_the_text_is_lost(grammar: &Grammar<'_>, text: &str) {
    let mut written = grammar
        .scan(text)
        .tokens
        .into_iter()
        .map(|token| token.range);
    let mut values = Vec::new();
    let template = grammar.template(text, |_| {
        let range = written.next().unwrap_or_default();
        values.push(Resolved::Value(text[range].into()));
        ReadId(values.len() as u32 - 1)
    });
    let raw = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains("raw %}"));
    if template.pieces.iter().any(raw) {
        return;
    }
    let rendered = template.render(&Inputs(values.into()), Rendering::Display);
    let named = template
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Name(_)));
    assert!(named || rendered == text, "{rendered:?} is not {text:?}");
}
