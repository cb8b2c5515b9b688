//! A text in blocks (headings, paragraphs, tables), and blocks as a text.

use std::ops::Range;

use easel_tools::ingestion::{Block, BlockKind};

use crate::chunks::units::{heading_level, is_row, is_table, lines};
use crate::text::Text;

/// The blocks of a text, in order. Blank lines aside, all of it is in one.
pub(crate) fn blocks(text: &Text) -> Vec<Block> {
    let mut found = Found {
        text,
        blocks: Vec::new(),
        open: None,
    };
    let markdown = &text.markdown;
    let lines: Vec<Range<usize>> = lines(markdown).collect();
    let (mut at, mut fenced) = (0, false);
    while let Some(line) = lines.get(at) {
        let words = markdown[line.clone()].trim();
        let is_fence = words.starts_with("```") || words.starts_with("~~~");
        at += 1;
        if is_fence || fenced {
            found.add(line.clone());
        } else if words.is_empty() {
            found.end();
        } else if heading_level(words).is_some() {
            found.end();
            found.add(line.clone());
            found.end();
        } else if is_table(markdown, &lines[at - 1..]) {
            found.end();
            let rows = lines[at..].iter();
            let rows = rows.take_while(|row| is_row(&markdown[(*row).clone()]));
            let last = rows.last().unwrap_or(line).clone();
            at += lines[at..].partition_point(|other| other.start <= last.start);
            found.push(line.start..last.end, BlockKind::Table);
        } else {
            found.add(line.clone());
        }
        fenced ^= is_fence;
    }
    found.end();
    found.blocks
}

/// What was found so far.
struct Found<'t> {
    text: &'t Text,
    blocks: Vec<Block>,
    /// The block that may go on.
    open: Option<Range<usize>>,
}

impl Found<'_> {
    fn add(&mut self, line: Range<usize>) {
        match &mut self.open {
            Some(open) => open.end = line.end,
            None => self.open = Some(line),
        }
    }

    fn end(&mut self) {
        if let Some(open) = self.open.take() {
            self.push(open, BlockKind::Text);
        }
    }

    fn push(&mut self, place: Range<usize>, kind: BlockKind) {
        let words = self.text.markdown[place.clone()].trim_end();
        if words.trim().is_empty() {
            return;
        }
        self.blocks.push(Block {
            text: words.to_owned(),
            kind,
            page: page_at(self.text, place.start),
        });
    }
}

/// The page on which a place of a text is; `None` for a format without pages.
pub(crate) fn page_at(text: &Text, place: usize) -> Option<usize> {
    let pages = text.pages.partition_point(|start| *start <= place);
    (!text.pages.is_empty()).then_some(pages.max(1))
}

/// Blocks as one text, with a blank line between.
pub(crate) fn text_of(blocks: &[Block]) -> Text {
    let mut text = Text::default();
    for block in blocks {
        if !text.markdown.is_empty() {
            text.markdown.push_str("\n\n");
        }
        let begun = text.markdown.len();
        let page = block.page.unwrap_or(0);
        while text.pages.len() < page {
            text.pages.push(begun);
        }
        text.markdown.push_str(&block.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(markdown: &str) -> Vec<String> {
        let text = Text {
            markdown: markdown.into(),
            ..Text::default()
        };
        let blocks = blocks(&text).into_iter();
        blocks
            .map(|block| format!("{}: {}", block.kind.name(), block.text))
            .collect()
    }

    #[test]
    fn headings_paragraphs_and_tables_are_blocks() {
        let markdown =
            "# Guide\nFirst line\nsecond line\n\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\nBehind it";
        assert_eq!(
            spelled(markdown),
            [
                "text: # Guide",
                "text: First line\nsecond line",
                "table: | a | b |\n| --- | --- |\n| 1 | 2 |",
                "text: Behind it",
            ]
        );
        assert_eq!(
            spelled("| a | b |\n| --- | --- |"),
            ["table: | a | b |\n| --- | --- |"]
        );
    }

    #[test]
    fn code_stays_together_and_has_no_headings() {
        assert_eq!(
            spelled("```sh\n# no heading\n\nls\n```\ntext"),
            ["text: ```sh\n# no heading\n\nls\n```\ntext"]
        );
    }

    #[test]
    fn pages_survive_the_way_there_and_back() {
        let text = Text {
            markdown: "one\n\ntwo\n\nthree".into(),
            pages: vec![0, 5, 5],
            unread: vec![2],
        };
        let there = blocks(&text);
        let pages: Vec<_> = there.iter().map(|block| block.page).collect();
        assert_eq!(pages, [Some(1), Some(3), Some(3)]);
        let back = text_of(&there);
        assert_eq!(back.markdown, text.markdown);
        assert_eq!(blocks(&back), there);
    }
}
