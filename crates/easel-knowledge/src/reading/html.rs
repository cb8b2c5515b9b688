//! Web pages: readable text, with headings, lists and tables as in Markdown.

use easel_tools::html::clean_html;

use super::plain;
use crate::error::ReadError;
use crate::text::{Full, Writer};

/// What marks a line as the row of a table on its way through the reader: a sign that stands for nothing.
const ROW: &str = "\u{e000}";

pub(super) fn read(bytes: &[u8], out: &mut Writer) -> Result<(), ReadError> {
    Ok(read_page(&plain::decode(bytes)?, out)?)
}

/// Reads a page that is decoded.
pub(super) fn read_page(page: &str, out: &mut Writer) -> Result<(), Full> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in clean_html(&marked(page)).lines() {
        if let Some(row) = line.strip_prefix(ROW) {
            rows.push(cells(row));
            continue;
        }
        table(&std::mem::take(&mut rows), out)?;
        match line.starts_with("- ") {
            true => out.push(&format!("\n{line}"))?,
            false => out.block(line)?,
        }
    }
    table(&rows, out)
}

/// The cells of a row as the reader writes it.
fn cells(row: &str) -> Vec<String> {
    let row = row.strip_suffix(" |").unwrap_or(row);
    row.split(" | ")
        .map(|cell| cell.trim().replace(ROW, ""))
        .collect()
}

/// Writes the rows of a table. What has a single row or column is there for its looks, and is text.
fn table(rows: &[Vec<String>], out: &mut Writer) -> Result<(), Full> {
    let is_table = rows.len() > 1 && rows.iter().any(|row| row.len() > 1);
    match is_table {
        true => out.table(rows),
        false => rows.iter().try_for_each(|row| out.block(&row.join(" | "))),
    }
}

/// The page with marks behind the tags of headings, list items and rows; where a tag is no tag (in a script, in a
/// comment) the reader leaves the mark out with what is around it.
fn marked(page: &str) -> String {
    let mut marked = String::with_capacity(page.len() + page.len() / 16);
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        marked.push_str(before);
        let Some(mark) = mark(tag) else {
            marked.push('<');
            rest = &tag[1..];
            continue;
        };
        let end = end_of_tag(tag);
        marked.push_str(&tag[..end]);
        if tag[..end].ends_with('>') {
            marked.push_str(mark);
        }
        rest = &tag[end..];
    }
    marked + rest
}

/// The mark that belongs behind the start tag that the text begins with.
fn mark(tag: &str) -> Option<&'static str> {
    let name_end = tag[1..].find(|c: char| !c.is_ascii_alphanumeric())? + 1;
    Some(match tag[1..name_end].to_ascii_lowercase().as_str() {
        "h1" => "# ",
        "h2" => "## ",
        "h3" => "### ",
        "h4" => "#### ",
        "h5" => "##### ",
        "h6" => "###### ",
        "li" => "- ",
        "tr" => ROW,
        _ => return None,
    })
}

/// Where the tag ends that the text begins with; a `>` in quotes ends none.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    tag.len()
}
