//! The text of a document while it is read: Markdown that grows within limits.

use std::time::{Duration, Instant};

use crate::limits::Limits;

/// What was read out of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The text, as Markdown: headings, lists and tables are kept.
    pub markdown: String,
    /// Where each page begins, in bytes; empty for formats without pages.
    pub pages: Vec<usize>,
    /// Pages that could not be read, from 1, while others could.
    pub unread: Vec<usize>,
}

/// A limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    Size(usize),
    Time(Duration),
}

/// Markdown that grows block by block.
pub(crate) struct Writer {
    text: Text,
    limit: usize,
    began: Instant,
    time: Duration,
    full: Option<Full>,
}

impl Writer {
    pub(crate) fn new(limits: &Limits) -> Writer {
        Writer {
            text: Text::default(),
            limit: limits.text_bytes,
            began: Instant::now(),
            time: limits.time,
            full: None,
        }
    }

    /// Says whether there is time left.
    pub(crate) fn check_time(&mut self) -> Result<(), Full> {
        if self.began.elapsed() > self.time {
            self.full = Some(Full::Time(self.time));
        }
        self.full.map_or(Ok(()), Err)
    }

    /// Says whether there is room for that many bytes more, and time left.
    pub(crate) fn room(&mut self, bytes: usize) -> Result<(), Full> {
        if self.text.markdown.len().saturating_add(bytes) > self.limit {
            self.full = Some(Full::Size(self.limit));
        }
        self.check_time()
    }

    /// Adds text as it is.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), Full> {
        self.room(text.len())?;
        self.text.markdown.push_str(text);
        Ok(())
    }

    /// Adds a block, with a blank line before it. A block of nothing is none.
    pub(crate) fn block(&mut self, text: &str) -> Result<(), Full> {
        let text = text.trim_end().trim_start_matches(['\n', '\r']);
        if text.trim().is_empty() {
            return self.check_time();
        }
        self.separate()?;
        self.push(text)
    }

    /// Adds a blank line, unless nothing stands before it.
    pub(crate) fn separate(&mut self) -> Result<(), Full> {
        match self.text.markdown.is_empty() {
            true => self.check_time(),
            false => self.push("\n\n"),
        }
    }

    /// Adds a line of a list: without a blank line to the list before it.
    pub(crate) fn item(&mut self, depth: usize, text: &str, follows: bool) -> Result<(), Full> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return Ok(());
        }
        let line = format!("{}- {text}", "  ".repeat(depth.min(8)));
        if follows {
            self.push("\n")?;
            return self.push(&line);
        }
        self.separate()?;
        self.push(&line)
    }

    /// Adds a heading of a level from 1 to 6.
    pub(crate) fn heading(&mut self, level: usize, text: &str) -> Result<(), Full> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return Ok(());
        }
        self.block(&format!("{} {text}", "#".repeat(level.clamp(1, 6))))
    }

    /// Adds a table whose first row is its head. Rows that are short are filled up.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) -> Result<(), Full> {
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        let Some((head, body)) = rows.split_first().filter(|_| width > 0) else {
            return Ok(());
        };
        self.block(&row(head, width))?;
        self.push("\n|")?;
        for _ in 0..width {
            self.push(" --- |")?;
        }
        for cells in body {
            self.push("\n")?;
            self.push(&row(cells, width))?;
        }
        Ok(())
    }

    /// Says that a page begins here.
    pub(crate) fn page(&mut self) {
        self.text.pages.push(self.text.markdown.len());
    }

    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.markdown.is_empty()
    }

    /// How many pages have begun.
    pub(crate) fn pages(&self) -> usize {
        self.text.pages.len()
    }

    /// Says that a page begins here that cannot be read.
    pub(crate) fn unread_page(&mut self) {
        self.page();
        self.text.unread.push(self.pages());
    }

    pub(crate) fn finish(self) -> Text {
        self.text
    }

    /// Which limit kept text out, if one did.
    pub(crate) fn full(&self) -> Option<Full> {
        self.full
    }
}

/// A line of a Markdown table.
fn row(cells: &[String], width: usize) -> String {
    let mut line = String::from("|");
    for at in 0..width {
        let cell = cells.get(at).map(String::as_str).unwrap_or_default();
        line.push(' ');
        for (i, word) in cell.split_whitespace().enumerate() {
            if i > 0 {
                line.push(' ');
            }
            line.push_str(&word.replace('|', "\\|"));
        }
        line.push_str(" |");
    }
    line
}
