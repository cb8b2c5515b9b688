//! Blocks of a document in the form that a Parser hands on.

use easel_tools::ingestion::{Block, BlockKind};

/// Blocks as Markdown.
pub(super) fn markdown(blocks: &[Block]) -> String {
    let texts = blocks.iter().map(|block| block.text.as_str());
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Blocks as text: headings without their marks, rows of tables line by line.
pub(super) fn text(blocks: &[Block]) -> String {
    let texts = blocks.iter().map(|block| match block.kind {
        BlockKind::Table => {
            let rows = rows(&block.text).map(|row| row.join(" | "));
            rows.collect::<Vec<_>>().join("\n")
        }
        _ => match heading(&block.text) {
            Some((_, title)) => title.to_owned(),
            None => block.text.clone(),
        },
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Blocks as HTML.
pub(super) fn html(blocks: &[Block]) -> String {
    let texts = blocks.iter().map(|block| match block.kind {
        BlockKind::Table => table(&block.text),
        _ => match heading(&block.text) {
            Some((level, title)) => format!("<h{level}>{}</h{level}>", escaped(title)),
            None => paragraph(&block.text),
        },
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn table(markdown: &str) -> String {
    let mut html = String::from("<table>");
    for (at, row) in rows(markdown).enumerate() {
        let tag = if at == 0 { "th" } else { "td" };
        html.push_str("\n<tr>");
        for cell in row {
            html.push_str(&format!("<{tag}>{}</{tag}>", escaped(&cell)));
        }
        html.push_str("</tr>");
    }
    html + "\n</table>"
}

/// A list, or a paragraph with its lines.
fn paragraph(text: &str) -> String {
    let items: Option<Vec<&str>> = text
        .lines()
        .map(|line| line.trim_start().strip_prefix("- "))
        .collect();
    match items {
        Some(items) => {
            let items = items
                .iter()
                .map(|item| format!("<li>{}</li>", escaped(item)));
            format!("<ul>{}</ul>", items.collect::<String>())
        }
        None => {
            let lines: Vec<String> = text.lines().map(escaped).collect();
            format!("<p>{}</p>", lines.join("<br>\n"))
        }
    }
}

/// The level and the title of a heading.
fn heading(text: &str) -> Option<(usize, &str)> {
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    let is_one = (1..=6).contains(&level) && title.starts_with(' ') && !title.contains('\n');
    is_one.then(|| (level, title.trim()))
}

/// The rows of a table in Markdown, without the line of dashes.
fn rows(markdown: &str) -> impl Iterator<Item = Vec<String>> {
    let is_dashes = |line: &str| line.contains('-') && line.chars().all(|c| " |:-".contains(c));
    markdown
        .lines()
        .enumerate()
        .filter(move |(at, line)| *at != 1 || !is_dashes(line))
        .map(|(_, line)| cells(line))
}

/// The cells of a row; `\|` is no border.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = match row.strip_suffix('|') {
        Some(rest) if !rest.ends_with('\\') => rest,
        _ => row,
    };
    let (mut cells, mut cell, mut escapes) = (Vec::new(), String::new(), false);
    for c in row.chars() {
        match c {
            '|' if escapes => {
                cell.pop();
                cell.push('|');
            }
            '|' => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
        escapes = c == '\\' && !escapes;
    }
    cells.push(cell);
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks() -> Vec<Block> {
        let block = |text: &str, kind| Block {
            text: text.into(),
            kind,
            page: None,
        };
        vec![
            block("## Prices", BlockKind::Text),
            block(
                "| item | price |\n| --- | --- |\n| a \\| b | < 2 |",
                BlockKind::Table,
            ),
            block("- one\n- two", BlockKind::Text),
            block("Ask & wait.\nThen go.", BlockKind::Text),
        ]
    }

    #[test]
    fn a_document_can_be_handed_on_as_text() {
        assert_eq!(
            text(&blocks()),
            "Prices\n\nitem | price\na | b | < 2\n\n- one\n- two\n\nAsk & wait.\nThen go."
        );
    }

    #[test]
    fn a_document_can_be_handed_on_as_html() {
        assert_eq!(
            html(&blocks()),
            "<h2>Prices</h2>\n<table>\n<tr><th>item</th><th>price</th></tr>\n<tr><td>a | b</td><td>&lt; 2</td></tr>\n</table>\n\
             <ul><li>one</li><li>two</li></ul>\n<p>Ask &amp; wait.<br>\nThen go.</p>"
        );
    }

    #[test]
    fn a_document_can_be_handed_on_as_markdown() {
        assert!(markdown(&blocks()).starts_with("## Prices\n\n| item | price |\n"));
    }
}
