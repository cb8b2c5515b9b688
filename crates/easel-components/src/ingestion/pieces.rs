//! Pieces and blocks as pipelines write them: objects with `text`, `doc_type_kwd` and what was found out.

use std::sync::Arc;

use easel_core::{Object, Value};
use easel_tools::ingestion::{Block, BlockKind, DocumentPiece, Passage};

/// Keys of a chunk.
const TEXT: &str = "text";
const KIND: &str = "doc_type_kwd";
const PAGE: &str = "page";
const HEADING: &str = "heading";
const WHOLE: &str = "mom";

/// A chunk with that text.
pub(super) fn text_chunk(text: &Arc<str>) -> Object {
    Object::from_iter([
        (TEXT.into(), Value::from(text.clone())),
        (KIND.into(), Value::from(BlockKind::Text.name())),
    ])
}

/// The text of a chunk.
pub(super) fn text_of(chunk: &Object) -> &str {
    let member = |name: &str| chunk.get(name).and_then(Value::as_str);
    member(TEXT)
        .or_else(|| member("content_with_weight"))
        .unwrap_or_default()
}

/// A block as the list of a Parser has it.
pub(super) fn of_block(block: Block) -> Object {
    let mut item = Object::from_iter([
        (Arc::from(TEXT), Value::from(block.text)),
        (KIND.into(), Value::from(block.kind.name())),
    ]);
    add_page(&mut item, block.page);
    item
}

/// The block that an item of a Parser's list, or a chunk, is.
pub(super) fn block(item: &Object) -> Block {
    let kind = item.get(KIND).and_then(Value::as_str).unwrap_or_default();
    Block {
        text: text_of(item).to_owned(),
        kind: BlockKind::of(kind),
        page: page(item),
    }
}

/// A piece as a chunk.
pub(super) fn of_piece(piece: DocumentPiece) -> Object {
    let mut chunk = Object::from_iter([
        (Arc::from(TEXT), Value::from(piece.text)),
        (KIND.into(), Value::from(piece.kind.name())),
    ]);
    if !piece.heading.is_empty() {
        chunk.insert(HEADING.into(), Value::from(piece.heading));
    }
    add_page(&mut chunk, piece.page);
    if let Some(whole) = piece.whole {
        chunk.insert(WHOLE.into(), Value::from(whole));
    }
    chunk
}

/// A chunk as it is kept. `embedded` names the fields whose meaning counts.
pub(super) fn passage(chunk: &Object, embedded: &[String]) -> Passage {
    let text = |name: &str| chunk.get(name).map(plain).unwrap_or_default();
    let kind = text(KIND);
    let metadata = chunk.get("metadata").and_then(Value::as_object);
    let meaning = embedded.iter().map(|field| text(field));
    let meaning: Vec<String> = meaning.filter(|part| !part.trim().is_empty()).collect();
    let whole = text(WHOLE);
    Passage {
        piece: DocumentPiece {
            text: text_of(chunk).to_owned(),
            kind: BlockKind::of(&kind),
            heading: text(HEADING),
            page: page(chunk),
            whole: (!whole.is_empty()).then_some(whole),
        },
        summary: text("summary"),
        keywords: parted(chunk.get("keywords"), &[',', '，', '、', ';', '；', '\n']),
        questions: parted(chunk.get("questions"), &['\n']),
        embedded: meaning.join("\n"),
        metadata: metadata.cloned().unwrap_or_default(),
    }
}

/// The parts of a text, or the items of a list, without blanks around them.
fn parted(value: Option<&Value>, at: &[char]) -> Vec<String> {
    let parts: Vec<String> = match value {
        Some(Value::Array(items)) => items.iter().map(plain).collect(),
        Some(value) => plain(value).split(at).map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let parts = parts.iter().map(|part| part.trim());
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A value as text: a list line by line.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        other => other.to_json_text(),
    }
}

fn page(item: &Object) -> Option<usize> {
    let page = item.get(PAGE).and_then(Value::as_i64)?;
    usize::try_from(page).ok().filter(|page| *page > 0)
}

fn add_page(item: &mut Object, page: Option<usize>) {
    if let Some(page) = page {
        item.insert(PAGE.into(), Value::from(page as u64));
    }
}
