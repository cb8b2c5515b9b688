//! What is left out of a text on request: tables of contents, and what stands at the edges of pages.

use std::collections::HashMap;

use crate::text::Text;

/// What is to be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaving {
    /// The lines of tables of contents.
    pub(crate) contents: bool,
    /// The lines that stand at the top or the bottom of most pages.
    pub(crate) margins: bool,
}

/// Pages that must have the same line at an edge at least.
const PAGES: usize = 3;

impl Leaving {
    /// The text without what is left out.
    pub(crate) fn apply(self, text: Text) -> Text {
        let text = match self.margins && text.pages.len() >= PAGES {
            true => without_margins(text),
            false => text,
        };
        match self.contents {
            true => kept(&text, |_, line| !leads_to_a_page(line)),
            false => text,
        }
    }
}

/// Whether it is a line of a table of contents: `2.1 Install .......... 7`.
pub(crate) fn leads_to_a_page(line: &str) -> bool {
    let line = line.trim_end();
    let before = line.trim_end_matches(|c: char| c.is_ascii_digit());
    let dots = before.trim_end();
    let leads = ["...", ". .", "…"].iter().any(|end| dots.ends_with(end));
    before.len() < line.len() && leads
}

/// Leaves out lines that are the first or the last of more than half of the pages, numbers aside.
fn without_margins(text: Text) -> Text {
    let lines: Vec<Line<'_>> = lines(&text).collect();
    let mut counts: HashMap<(bool, String), usize> = HashMap::new();
    let mut edges: HashMap<usize, (bool, String)> = HashMap::new();
    for page in lines.chunk_by(|a, b| a.page == b.page) {
        let visible = |line: &&Line<'_>| !line.words.trim().is_empty();
        let first = page.iter().find(visible);
        let last = page.iter().rev().find(visible);
        for (top, edge) in [(true, first), (false, last)] {
            if let Some(line) = edge {
                let key = (top, without_numbers(line.words));
                *counts.entry(key.clone()).or_default() += 1;
                edges.insert(line.place, key);
            }
        }
    }
    let most = |key: &(bool, String)| {
        let count = counts.get(key).copied().unwrap_or(0);
        count >= PAGES && count * 2 > text.pages.len()
    };
    kept(&text, |place, _| !edges.get(&place).is_some_and(most))
}

fn without_numbers(line: &str) -> String {
    line.trim().chars().filter(|c| !c.is_numeric()).collect()
}

/// A line, where it begins and the number of its page.
struct Line<'t> {
    words: &'t str,
    place: usize,
    page: usize,
}

fn lines(text: &Text) -> impl Iterator<Item = Line<'_>> {
    let mut at = 0;
    text.markdown.split('\n').map(move |words| {
        let place = at;
        at += words.len() + 1;
        Line {
            words,
            place,
            page: text.pages.partition_point(|start| *start <= place),
        }
    })
}

/// The lines for which `keep` holds, given where they begin; pages begin where they did.
fn kept(text: &Text, keep: impl Fn(usize, &str) -> bool) -> Text {
    let mut left = Text {
        unread: text.unread.clone(),
        ..Text::default()
    };
    let mut at = 0;
    for line in text.markdown.split_inclusive('\n') {
        let begun = text.pages.partition_point(|start| *start <= at);
        while left.pages.len() < begun {
            left.pages.push(left.markdown.len());
        }
        if keep(at, line.trim_end_matches('\n')) {
            left.markdown.push_str(line);
        }
        at += line.len();
    }
    while left.pages.len() < text.pages.len() {
        left.pages.push(left.markdown.len());
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_contents_is_left_out() {
        let text = Text {
            markdown: "Contents\n1 Install ........ 3\n2 Use . . . 12\n\n1 Install\nDo it 3".into(),
            ..Text::default()
        };
        let leaving = Leaving {
            contents: true,
            ..Leaving::default()
        };
        assert_eq!(
            leaving.apply(text).markdown,
            "Contents\n\n1 Install\nDo it 3"
        );
    }

    #[test]
    fn what_stands_at_the_edges_of_pages_is_left_out() {
        let page =
            |n: usize| format!("ACME report\n\nText of page {n}.\n\nACME report\n\nPage {n}");
        let (mut markdown, mut pages) = (String::new(), Vec::new());
        for n in 1..=3 {
            pages.push(markdown.len());
            markdown.push_str(&page(n));
            markdown.push_str("\n\n");
        }
        let text = Text {
            markdown,
            pages,
            unread: Vec::new(),
        };
        let leaving = Leaving {
            margins: true,
            ..Leaving::default()
        };
        let left = leaving.apply(text);
        let lines: Vec<_> = left
            .markdown
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        assert_eq!(lines.len(), 6, "{lines:?}");
        assert_eq!(lines[..2], ["Text of page 1.", "ACME report"]);
        let second = &left.markdown[left.pages[1]..];
        assert!(
            second.trim_start().starts_with("Text of page 2."),
            "{second}"
        );
    }
}
