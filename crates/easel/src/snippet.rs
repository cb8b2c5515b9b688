//! The lines of a file around a place, as a terminal can show them.

use easel_runtime::check::Place;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// A file with one place in it. Long lines, as canvases written by programs have them, are cut around the place; a place
/// that covers several lines is shown by its first.
#[derive(Clone, Debug)]
pub struct Snippet<'t> {
    name: String,
    text: &'t str,
    place: Place,
}

/// The longest line that is shown whole, in bytes.
const WHOLE: usize = 160;

/// How much of a longer line is shown before the place and after its start, in bytes.
const BEFORE: usize = 40;
const AFTER: usize = 100;

impl<'t> Snippet<'t> {
    /// A place of a file.
    pub fn new(name: &str, text: &'t str, place: Place) -> Snippet<'t> {
        Snippet {
            name: name.to_owned(),
            text,
            place,
        }
    }

    /// What to mark: the part of the place that is on its first line and shown.
    pub fn mark(&self) -> SourceSpan {
        let Line { start, end } = self.line(self.place.offset);
        let offset = self.place.offset.clamp(start, end);
        let longest = match end - start <= WHOLE {
            true => end - offset,
            false => AFTER / 2,
        };
        let last = self.boundary((offset + self.place.len.min(longest)).min(end));
        (offset, last.saturating_sub(offset)).into()
    }

    /// The line around a byte.
    fn line(&self, at: usize) -> Line {
        let at = self.boundary(at.min(self.text.len()));
        let (before, after) = self.text.split_at(at);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = after
            .find('\n')
            .map_or(self.text.len(), |length| at + length);
        let end = match self.text.get(start..end) {
            Some(line) => start + line.trim_end_matches('\r').len(),
            None => end,
        };
        Line {
            start,
            end: end.max(at),
        }
    }

    /// The nearest place before or at `at` that is between two characters.
    fn boundary(&self, at: usize) -> usize {
        (0..=at.min(self.text.len()))
            .rev()
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(0)
    }

    /// What is shown around the place, and how many lines before that of the place it begins.
    fn window(&self) -> (usize, usize, usize) {
        let here = self.line(self.place.offset);
        if here.end - here.start > WHOLE {
            let from = self.boundary(self.place.offset.saturating_sub(BEFORE).max(here.start));
            let to = self.boundary((self.place.offset + AFTER).min(here.end));
            return (from, to, 0);
        }
        let (mut from, mut to, mut lines) = (here.start, here.end, 0);
        if here.start > 0 {
            let above = self.line(here.start - 1);
            if above.end - above.start <= WHOLE {
                (from, lines) = (above.start, 1);
            }
        }
        let below = self.text.get(here.end..).and_then(|rest| rest.find('\n'));
        if let Some(below) = below.map(|length| self.line(here.end + length + 1))
            && below.end - below.start <= WHOLE
            && below.end > below.start
        {
            to = below.end;
        }
        (from, to, lines)
    }
}

struct Line {
    start: usize,
    end: usize,
}

impl SourceCode for Snippet<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let line = self.place.line.saturating_sub(1);
        let (from, to, line, column) = match before {
            // Only the place is asked for, to be named.
            0 => {
                let end = span.offset() + span.len();
                (
                    span.offset(),
                    end,
                    line,
                    self.place.column.saturating_sub(1),
                )
            }
            _ => {
                let (from, to, lines) = self.window();
                (from, to, line.saturating_sub(lines), 0)
            }
        };
        let data = self
            .text
            .as_bytes()
            .get(from..to)
            .ok_or(MietteError::OutOfBounds)?;
        let lines = data.iter().filter(|byte| **byte == b'\n').count() + 1;
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            data,
            (from, to - from).into(),
            line,
            column,
            lines,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, word: &str) -> Place {
        let offset = text.find(word).unwrap();
        let before = &text[..offset];
        Place {
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            offset,
            len: word.len(),
        }
    }

    fn shown(text: &str, word: &str) -> String {
        let snippet = Snippet::new("f", text, place(text, word));
        let mark = snippet.mark();
        assert!(
            text.is_char_boundary(mark.offset())
                && text.is_char_boundary(mark.offset() + mark.len())
        );
        let contents = snippet.read_span(&mark, 1, 1).unwrap();
        let data = String::from_utf8(contents.data().to_vec()).unwrap();
        format!("{}:{data}", contents.line() + 1)
    }

    #[test]
    fn a_short_line_is_shown_with_its_neighbours() {
        assert_eq!(shown("one\ntwo\nthree\nfour", "two"), "1:one\ntwo\nthree");
        assert_eq!(shown("one\r\ntwo", "one"), "1:one\r\ntwo");
        assert_eq!(shown("alone", "alone"), "1:alone");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let long = format!("{}x{}", "ä".repeat(500), "ö".repeat(500));
        let text = shown(&long, "x");
        assert!(text.len() < 200 && text.contains('x'), "{text}");
    }

    #[test]
    fn a_place_of_several_lines_is_marked_on_its_first() {
        let text = "{\n \"a\": {\n  \"b\": 1\n }\n}";
        let snippet = Snippet::new("f", text, place(text, "{\n  \"b\": 1\n }"));
        assert_eq!(snippet.mark().len(), 1);
    }

    #[test]
    fn a_place_beyond_the_text_is_no_panic() {
        let beyond = Place {
            line: 9,
            column: 9,
            offset: 99,
            len: 9,
        };
        let snippet = Snippet::new("f", "ab\nc", beyond);
        let mark = snippet.mark();
        assert!(snippet.read_span(&mark, 1, 1).is_ok());
    }
}
