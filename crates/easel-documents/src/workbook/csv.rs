//! Tables as text (RFC 4180, and what people write instead).

use easel_core::Value;
use easel_tools::documents::{Sheet, WorkbookFile};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::{number_of, too_large, unreadable};
use crate::error::DocumentError;
use crate::limits::{Limits, Patience};

/// What may stand between cells.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// The only sheet of the file; it is named after it.
pub(super) fn read(
    file: &WorkbookFile,
    limits: &Limits,
    patience: &Patience,
) -> Result<Vec<Sheet>, DocumentError> {
    let text = decode(&file.bytes);
    if text.contains('\0') {
        return Err(unreadable(&file.name, "it is neither"));
    }
    let rows = Rows::new(&text, separator(&text));
    let mut sheet = Sheet {
        name: stem(&file.name).to_owned(),
        rows: Vec::new(),
    };
    let (mut cells, mut widest) = (0_usize, 0_usize);
    for row in rows {
        let row = row.map_err(|line| {
            let cause = format!("the quote that opens in line {line} never closes");
            unreadable(&file.name, cause)
        })?;
        patience.check()?;
        widest = widest.max(row.len());
        cells = widest.saturating_mul(sheet.rows.len() + 1).max(cells);
        if cells > limits.cells {
            return Err(too_large(&file.name, "cells", limits.cells as u64));
        }
        sheet.rows.push(row.into_iter().map(value).collect());
    }
    for row in &mut sheet.rows {
        row.resize(widest, Value::Null);
    }
    Ok(vec![sheet])
}

/// A file's name without its extension.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// UTF-8, UTF-16 with a mark in front, or what older programs for Windows write.
fn decode(bytes: &[u8]) -> String {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        None => WINDOWS_1252,
    };
    encoding.decode(bytes).0.into_owned()
}

fn value(cell: String) -> Value {
    match cell.trim() {
        "" => Value::Null,
        text => number_of(text, false).unwrap_or_else(|| Value::from(text)),
    }
}

/// What stands most often in the first line, outside of quotes.
fn separator(text: &str) -> char {
    let mut counts = [0_usize; SEPARATORS.len()];
    let mut quoted = false;
    for c in text.trim_start().chars() {
        match c {
            '"' => quoted = !quoted,
            '\n' if !quoted => break,
            _ if quoted => {}
            c => {
                if let Some(at) = SEPARATORS.iter().position(|s| *s == c) {
                    counts[at] += 1;
                }
            }
        }
    }
    // The first of equals: a line without any is one cell whatever is taken.
    let best = (0..counts.len()).rev().max_by_key(|at| counts[*at]);
    SEPARATORS[best.unwrap_or(0)]
}

/// The rows of a text that have a cell with something in it. An error is the line of a quote that never closes.
struct Rows<'t> {
    chars: std::iter::Peekable<std::str::Chars<'t>>,
    separator: char,
    line: usize,
}

impl<'t> Rows<'t> {
    fn new(text: &'t str, separator: char) -> Rows<'t> {
        Rows {
            chars: text.chars().peekable(),
            separator,
            line: 1,
        }
    }

    /// The next row, empty ones among them. `None`: the text is at its end.
    fn row(&mut self) -> Option<Result<Vec<String>, usize>> {
        self.chars.peek()?;
        let (mut row, mut cell, mut quoted) = (Vec::new(), String::new(), None);
        while let Some(c) = self.chars.next() {
            self.line += usize::from(c == '\n');
            match c {
                '"' if quoted.is_some() && self.chars.peek() == Some(&'"') => {
                    cell.extend(self.chars.next());
                }
                '"' if quoted.is_some() => quoted = None,
                '"' if cell.trim().is_empty() => {
                    cell.clear();
                    quoted = Some(self.line);
                }
                c if quoted.is_some() => cell.push(c),
                '\n' | '\r' => {
                    row.push(cell);
                    return Some(Ok(row));
                }
                c if c == self.separator => row.push(std::mem::take(&mut cell)),
                c => cell.push(c),
            }
        }
        row.push(cell);
        Some(quoted.map_or(Ok(row), Err))
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Vec<String>, usize>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.row()? {
                Ok(row) if row.iter().all(|cell| cell.trim().is_empty()) => {}
                other => return Some(other),
            }
        }
    }
}
