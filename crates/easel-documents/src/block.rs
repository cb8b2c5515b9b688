//! A text as blocks, which every format is written from.

use std::sync::Arc;

/// A part of a text that stands by itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    /// A heading; 1 is the highest level, 6 the lowest.
    Heading { level: u8, spans: Vec<Span> },
    /// A paragraph.
    Paragraph(Vec<Span>),
    /// Lines that stand as they are written.
    Code(String),
    /// What somebody else said.
    Quote(Vec<Block>),
    /// A list; one with numbers begins with the first.
    List {
        first: Option<u64>,
        items: Vec<Item>,
    },
    /// A table.
    Table(Table),
    /// A line across the page.
    Rule,
}

/// An item of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Item {
    /// Whether it is done, if it is a task.
    pub done: Option<bool>,
    /// What it says.
    pub blocks: Vec<Block>,
}

impl Item {
    /// What stands before the item number `at` of its list.
    pub fn mark(&self, first: Option<u64>, at: usize) -> String {
        match (self.done, first) {
            (Some(true), _) => "☑".to_owned(),
            (Some(false), _) => "☐".to_owned(),
            (None, Some(first)) => format!("{}.", first.saturating_add(at as u64)),
            (None, None) => "•".to_owned(),
        }
    }
}

/// A table. All rows have as many cells as the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// How each column is set.
    pub columns: Vec<Align>,
    /// The rows; the first is the head.
    pub rows: Vec<Vec<Vec<Span>>>,
}

/// How a column of a table is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Align {
    #[default]
    Left,
    Center,
    Right,
}

/// A piece of text of one look. A line break in it is one of the author's.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Span {
    /// The text.
    pub text: String,
    /// How it looks.
    pub style: Style,
    /// Where it leads.
    pub link: Option<Arc<str>>,
}

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Style {
    pub bold: bool,
    pub italic: bool,
    pub code: bool,
    pub struck: bool,
}

/// The text of spans without their looks.
pub(crate) fn text_of(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}
