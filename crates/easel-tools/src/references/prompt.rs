//! Passages as a model reads them.

use easel_core::{Object, Value};

use super::{Cited, text_of};

/// Tokens of passages that a tool's answer may hold.
pub const PASSAGE_BUDGET: usize = 200_000;

/// The passages as one text, each under its key with title, address and metadata; in shipped canvases and stored
/// conversations the layout is the same.
///
/// It ends after the passage that brings the tokens of all contents over 97 % of `budget`. `tokens` counts a text's.
pub fn passages_text(passages: &[Cited], budget: usize, tokens: impl Fn(&str) -> usize) -> String {
    let limit = budget as f64 * 0.97;
    let mut used = 0;
    let mut blocks = Vec::new();
    for Cited { key, chunk } in passages {
        let content = member(chunk, "content");
        if content.is_empty() {
            continue;
        }
        let mut block = format!("\nID: {key}");
        line(&mut block, "Title", &member(chunk, "document_name"));
        line(&mut block, "URL", &member(chunk, "url"));
        let metadata = chunk.get("document_metadata").and_then(Value::as_object);
        for (name, value) in metadata.into_iter().flatten().filter(|(_, v)| !v.is_null()) {
            line(&mut block, name, &text_of(value));
        }
        block.push_str("\n└── Content:\n");
        block.push_str(&content);
        blocks.push(block);
        used += tokens(&content);
        if used as f64 > limit {
            break;
        }
    }
    blocks.join("\n")
}

fn member(chunk: &Object, name: &str) -> String {
    let value = chunk.get(name).filter(|value| !value.is_null());
    value
        .map(|value| text_of(value).into_owned())
        .unwrap_or_default()
}

/// Adds a heading line, if there is something to say.
fn line(block: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        block.push_str("\n├── ");
        block.push_str(name);
        block.push_str(": ");
        block.push_str(&on_one_line(text));
    }
}

/// Each run of line breaks as one space: a break would end the heading.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut in_run = false;
    for c in text.chars() {
        match (c, in_run) {
            ('\n', true) => {}
            ('\n', false) => line.push(' '),
            _ => line.push(c),
        }
        in_run = c == '\n';
    }
    line
}
