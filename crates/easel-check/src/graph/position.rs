//! Where a part of a text stands in the file.

use std::ops::Range;

use easel_graph::document::Document;
use easel_graph::marked::Form;
use easel_graph::place::{self, Position};

use crate::diagnostic::Place;

/// A position as the check reports it; `None` for what stands in no text.
pub(super) fn of(at: Position) -> Option<Place> {
    (at.line > 0).then_some(Place {
        line: at.line,
        column: at.column,
        offset: at.offset,
        len: at.len,
    })
}

/// Where a span of the text at a place stands, as far as the way it is written shows it; else where the text stands.
pub(super) fn within(
    document: &Document,
    place: &place::Place,
    span: &Range<usize>,
) -> Option<Place> {
    let exact = || {
        let marked = document.get(place)?;
        let text = marked.as_text()?;
        text.get(span.clone())?;
        let raw = document
            .source()?
            .text()
            .get(marked.at.offset..marked.at.end())?;
        let found = match raw.chars().next()? {
            _ if span.is_empty() => return None,
            _ if marked.form == Form::Block => return of_block(raw, text, span, marked.at),
            '"' => quoted(raw, text, span, escape_of_double)?,
            '\'' => quoted(raw, text, span, escape_of_single)?,
            _ if raw == &**text && !raw.contains('\n') => span.clone(),
            _ => return None,
        };
        Some(Place {
            line: marked.at.line,
            column: marked.at.column + raw.get(..found.start)?.chars().count(),
            offset: marked.at.offset + found.start,
            len: found.len(),
        })
    };
    exact().or_else(|| of(document.locate(place)?))
}

/// The bytes of a quoted text on one line that stand for a span of what it says. `escape` tells how many bytes of the
/// beginning stand for one character, if it is not itself.
fn quoted(
    raw: &str,
    text: &str,
    span: &Range<usize>,
    escape: fn(&str, char) -> Option<usize>,
) -> Option<Range<usize>> {
    if raw.contains('\n') {
        return None;
    }
    // Behind the first quote.
    let mut at = 1;
    let mut start = None;
    for (offset, c) in text.char_indices() {
        if offset == span.start {
            start = Some(at);
        }
        if offset == span.end {
            return Some(start?..at);
        }
        let rest = raw.get(at..)?;
        at += match escape(rest, c) {
            Some(bytes) => bytes,
            None if rest.starts_with(c) => c.len_utf8(),
            None => return None,
        };
    }
    (span.end == text.len()).then_some(start?..at)
}

fn escape_of_double(rest: &str, c: char) -> Option<usize> {
    let mut letters = rest.strip_prefix('\\')?.chars();
    Some(match letters.next()? {
        'x' => 4,
        'u' if c as u32 > 0xffff => 12,
        'u' => 6,
        'U' => 10,
        other => 1 + other.len_utf8(),
    })
}

fn escape_of_single(rest: &str, c: char) -> Option<usize> {
    (c == '\'' && rest.starts_with("''")).then_some(2)
}

/// The place of a span of a block (`|`), which begins at its first word: its lines stand in the file as they are, indented.
/// Those of a folded one (`>`) do only where nothing is folded.
fn of_block(raw: &str, text: &str, span: &Range<usize>, at: Position) -> Option<Place> {
    let indent = at.column.checked_sub(1)?;
    let before = text.get(..span.start)?;
    let blank = text.bytes().take_while(|&b| b == b'\n').count();
    let newlines = before.bytes().filter(|&b| b == b'\n').count();
    let line = newlines.checked_sub(blank)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let said = text.get(start..)?.lines().next()?;
    let mut lines = raw.split_inclusive('\n');
    let mut offset: usize = lines.by_ref().take(line).map(str::len).sum();
    let mut written = lines.next()?.trim_end_matches(['\n', '\r']);
    if line > 0 {
        written = written.get(indent..)?;
        offset += indent;
    }
    if written != said {
        return None;
    }
    let column = span.start - start;
    Some(Place {
        line: at.line + line,
        column: at.column + said.get(..column)?.chars().count(),
        offset: at.offset + offset + column,
        len: span.len().min(said.len() - column),
    })
}

#[cfg(test)]
mod tests {
    use easel_graph::source::Format;
    use proptest::prelude::*;

    use super::*;

    /// What the file has at the place of a part of the instructions of the first node.
    fn shown(file: &str, part: &str) -> (String, usize, usize) {
        let document = Document::read(file.as_bytes(), Format::Yaml).unwrap();
        let text = document.nodes[0].instructions.as_ref().unwrap();
        let start = text.find(part).unwrap();
        let place = document.nodes[0].key("instructions");
        let at = within(&document, &place, &(start..start + part.len())).unwrap();
        (
            file[at.offset..at.offset + at.len].to_owned(),
            at.line,
            at.column,
        )
    }

    #[test]
    fn a_part_of_a_text_is_found_however_the_text_is_written() {
        for (written, part, wanted) in [
            ("instructions: é {topik} x", "{topik}", ("{topik}", 3, 21)),
            (
                r#"instructions: "é \"a\" \u00e9 {topik} x""#,
                "{topik}",
                ("{topik}", 3, 35),
            ),
            (
                "instructions: 'it''s {topik} x'",
                "{topik}",
                ("{topik}", 3, 26),
            ),
            (
                "instructions: |\n      One é.\n\n      Two é {topik} x\n",
                "{topik}",
                ("{topik}", 6, 13),
            ),
            (
                "instructions: |2-\n      Two {topik} x",
                "{topik}",
                ("{topik}", 4, 11),
            ),
        ] {
            let file = format!("name: g\nnodes:\n  - {written}\n    id: a\n");
            let (text, line, column) = shown(&file, part);
            assert_eq!((&*text, line, column), wanted, "{file}");
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_shown_whole() {
        let file = "name: g\nnodes:\n  - id: a\n    instructions: >\n      One\n      {topik}\n";
        let (text, line, _) = shown(file, "{topik}");
        assert!(text.starts_with("One") && line == 5, "{text}");
    }

    proptest! {
        #[test]
        fn places_are_in_the_file(text in "[a-z{}é'\"\\\\\n: ]{1,30}", from in 0..30usize, len in 0..30usize, style in 0..4u8) {
            let quoted = serde_json::to_string(&text).unwrap();
            let written = match style {
                0 => quoted,
                1 => format!("'{}'", text.replace('\'', "''")),
                2 => format!("|\n      {}", text.replace('\n', "\n      ")),
                _ => text.clone(),
            };
            let file = format!("name: g\nnodes:\n  - id: a\n    instructions: {written}\n");
            let Ok(document) = Document::read(file.as_bytes(), Format::Yaml) else {
                return Ok(());
            };
            let Some(node) = document.nodes.first() else {
                return Ok(());
            };
            let place = node.key("instructions");
            if let Some(at) = within(&document, &place, &(from..from + len)) {
                let source = document.source().unwrap().text();
                prop_assert!(source.get(at.offset..at.offset + at.len).is_some());
            }
        }
    }
}
