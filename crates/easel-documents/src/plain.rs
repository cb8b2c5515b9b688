//! Blocks as text without marks.

use crate::block::{Align, Block, Item, Table, text_of};

/// Columns that a table's cell may have before the table is written cell by cell.
const WIDEST: usize = 40;

/// The text.
pub(crate) fn text(blocks: &[Block]) -> String {
    let mut out = String::new();
    write(blocks, "", &mut out);
    out
}

fn write(blocks: &[Block], indent: &str, out: &mut String) {
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            blank(out);
        }
        match block {
            Block::Heading { spans, .. } | Block::Paragraph(spans) => {
                lines(&text_of(spans), indent, out);
            }
            Block::Code(code) => lines(code, &format!("{indent}    "), out),
            Block::Quote(blocks) => write(blocks, &format!("{indent}> "), out),
            Block::List { first, items } => list(*first, items, indent, out),
            Block::Table(rows) => table(rows, indent, out),
            Block::Rule => lines("----------", indent, out),
        }
    }
}

fn blank(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

fn lines(text: &str, indent: &str, out: &mut String) {
    for line in text.split('\n') {
        let line = format!("{indent}{line}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn list(first: Option<u64>, items: &[Item], indent: &str, out: &mut String) {
    for (at, item) in items.iter().enumerate() {
        let mark = match (item.done, first) {
            (None, None) => "-".to_owned(),
            (Some(true), _) => "[x]".to_owned(),
            (Some(false), _) => "[ ]".to_owned(),
            (None, Some(_)) => item.mark(first, at),
        };
        let within = format!("{indent}{}", " ".repeat(mark.chars().count() + 1));
        let mut text = String::new();
        for (at, block) in item.blocks.iter().enumerate() {
            // A list within an item stands close to it.
            if at > 0 && !matches!(block, Block::List { .. }) {
                blank(&mut text);
            }
            write(std::slice::from_ref(block), &within, &mut text);
        }
        let text = text.strip_prefix(&within).unwrap_or(&text);
        out.push_str(&format!("{indent}{mark} {text}"));
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
}

/// Columns under each other; a table that is too wide for that becomes a list of what each row has.
fn table(table: &Table, indent: &str, out: &mut String) {
    let cell = |spans: &Vec<_>| text_of(spans).replace('\n', " ");
    let rows = table.rows.iter().map(|row| row.iter().map(cell).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    let columns = 0..table.columns.len();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = columns.map(width).collect();
    if widths.iter().any(|width| *width > WIDEST) {
        return described(&rows, indent, out);
    }
    for (at, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).zip(&table.columns);
        let cells: Vec<String> = cells
            .map(|((cell, width), align)| padded(cell, *width, *align))
            .collect();
        lines(&cells.join("  "), indent, out);
        if at == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            lines(&rules.join("  "), indent, out);
        }
    }
}

fn described(rows: &[Vec<String>], indent: &str, out: &mut String) {
    let Some((head, rows)) = rows.split_first() else {
        return;
    };
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            blank(out);
        }
        for (name, cell) in head.iter().zip(row) {
            lines(&format!("{name}: {cell}"), indent, out);
        }
    }
}

fn padded(text: &str, to: usize, align: Align) -> String {
    let room = to.saturating_sub(width(text));
    let left = match align {
        Align::Left => 0,
        Align::Center => room / 2,
        Align::Right => room,
    };
    format!("{}{text}{}", " ".repeat(left), " ".repeat(room - left))
}

/// Columns of a terminal that a text takes: two for a character of Chinese, Japanese or Korean.
fn width(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Whether a character is as wide as two.
pub(crate) fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Patience;

    #[test]
    fn a_text_is_read_without_marks() {
        let markdown = "# Title\n\nSome **bold** text  \nand [more](https://e.com).\n\n1. one\n2. two\n   - inner\n\n     again\n\n\
                        - [x] done\n\n> said\n\n```\na  b\n```\n\n| Name | 价格 |\n|---|--:|\n| 苹果 | 3 |\n| pear | 12 |\n\n---\n";
        let blocks = crate::markdown::blocks(markdown, &Patience::endless()).unwrap();
        insta::assert_snapshot!(text(&blocks));
    }

    #[test]
    fn a_table_too_wide_for_lines_is_told_row_by_row() {
        let long = "word ".repeat(12);
        let markdown = format!("| a | b |\n|---|---|\n| 1 | {long}|\n| 2 | x |\n");
        let blocks = crate::markdown::blocks(&markdown, &Patience::endless()).unwrap();
        assert_eq!(
            text(&blocks),
            format!("a: 1\nb: {}\n\na: 2\nb: x\n", long.trim())
        );
    }
}
