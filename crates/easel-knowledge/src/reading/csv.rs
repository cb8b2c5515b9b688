//! Tables as text: RFC 4180, and what people write instead.

use super::plain;
use crate::error::ReadError;
use crate::text::Writer;

/// What may stand between cells.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

pub(super) fn read(bytes: &[u8], out: &mut Writer) -> Result<(), ReadError> {
    let text = plain::decode(bytes)?;
    let text = text.trim_start_matches('\u{feff}');
    let rows = rows(text, separator(text))?;
    Ok(out.table(&rows)?)
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
            _ => {
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

/// Every row that has a cell with something in it.
fn rows(text: &str, separator: char) -> Result<Vec<Vec<String>>, ReadError> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    let (mut quoted, mut line, mut opened) = (false, 1_usize, 1);
    let end_row = |rows: &mut Vec<_>, row: &mut Vec<String>| {
        if row.iter().any(|cell| !cell.trim().is_empty()) {
            rows.push(std::mem::take(row));
        }
        row.clear();
    };
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.extend(chars.next()),
            '"' if quoted => quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                (quoted, opened) = (true, line);
            }
            c if quoted => cell.push(c),
            '\n' | '\r' => {
                row.push(std::mem::take(&mut cell));
                end_row(&mut rows, &mut row);
            }
            c if c == separator => row.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    if quoted {
        let cause = format!("the quote that opens in line {opened} never closes");
        return Err(ReadError::damaged("csv", cause));
    }
    row.push(cell);
    end_row(&mut rows, &mut row);
    Ok(rows)
}
