//! Markdown that grows by words, lines and blocks.

/// Blocks of lines.
#[derive(Default)]
pub(super) struct Blocks {
    done: String,
    line: String,
    /// A blank is due before the next word.
    blank: bool,
    /// A blank line is due before the next one.
    apart: bool,
    /// Where the marks of the line end and its words begin.
    marks: usize,
}

impl Blocks {
    /// Begins a line with a mark of Markdown's.
    pub(super) fn begin(&mut self, mark: &str) {
        self.line.push_str(mark);
        self.marks = self.line.len();
        self.blank = false;
    }

    /// Words, with one blank between each two.
    pub(super) fn words(&mut self, text: &str) {
        self.blank |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            if self.blank && self.line.len() > self.marks {
                self.line.push(' ');
            }
            self.line.push_str(word);
            self.blank = true;
        }
        self.blank = text.ends_with(char::is_whitespace) || (self.blank && text.trim().is_empty());
    }

    /// A mark around words. One without words between is taken back.
    pub(super) fn mark(&mut self, mark: &str, opens: bool) {
        if opens {
            if self.blank && self.line.len() > self.marks {
                self.line.push(' ');
            }
            self.blank = false;
            self.line.push_str(mark);
        } else if self.line.ends_with(mark) {
            self.line.truncate(self.line.len() - mark.len());
        } else if self.line.len() > self.marks {
            self.line.push_str(mark);
        }
    }

    /// Makes what stands in the line from there on the words of a link.
    pub(super) fn link(&mut self, begin: usize, address: &str) {
        let words = self.line.get(begin..).unwrap_or_default();
        let blank = words.len() - words.trim_start().len();
        let words = words.trim().to_owned();
        if !words.is_empty() {
            self.line.truncate(begin + blank);
            self.line.push_str(&format!("[{words}]({address})"));
        }
    }

    /// The line that grows.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// How many bytes were written.
    pub(super) fn len(&self) -> usize {
        self.done.len() + self.line.len()
    }

    /// All that was written.
    pub(super) fn finish(self) -> String {
        self.done
    }

    /// Text as it stands.
    pub(super) fn verbatim(&mut self, text: &str) {
        self.line.push_str(text);
    }

    /// Ends a block of code.
    pub(super) fn end_verbatim(&mut self) {
        if !self.line.ends_with('\n') {
            self.line.push('\n');
        }
        self.line.push_str("```");
    }

    /// The line, which is empty then.
    pub(super) fn take_line(&mut self) -> String {
        self.blank = false;
        self.marks = 0;
        std::mem::take(&mut self.line).trim().to_owned()
    }

    /// A row of a table.
    pub(super) fn row(&mut self, row: &str) {
        self.line.clear();
        self.line.push_str(row);
        self.marks = 0;
        self.end_line(0);
    }

    /// Ends the line, inside of so many quotes.
    pub(super) fn end_line(&mut self, quotes: usize) {
        let words = self.line.get(self.marks..).unwrap_or_default();
        let words = words.trim_matches(['*', '`', ' ', '\n']);
        let has_words = !words.is_empty() || self.line == "---";
        let line = std::mem::take(&mut self.line);
        (self.marks, self.blank) = (0, false);
        if !has_words {
            return;
        }
        if !self.done.is_empty() {
            self.done.push('\n');
            if self.apart {
                self.done.push('\n');
            }
        }
        self.apart = false;
        for (at, line) in line.trim_end().lines().enumerate() {
            if at > 0 {
                self.done.push('\n');
            }
            self.done.push_str(&"> ".repeat(quotes));
            self.done.push_str(line);
        }
    }

    /// Ends a block: a blank line comes before the next one.
    pub(super) fn end_block(&mut self) {
        self.apart = true;
    }
}
