//! The smallest pieces that passages are put together from: sentences, rows of tables, headings.

use std::ops::Range;

use crate::tokens::count;

/// How strong the border before a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Border {
    /// Within a sentence that is above the limit.
    Word,
    /// Before a sentence or a line.
    Sentence,
    /// Before a paragraph, a list, a table.
    Paragraph,
    /// Before a heading.
    Heading,
}

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Prose,
    /// A heading of a level from 1 to 6.
    Heading(usize),
    /// A row of the table whose head begins there.
    Row(usize),
}

/// A piece of the text, without blanks at its ends.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) range: Range<usize>,
    pub(crate) border: Border,
    pub(crate) kind: Kind,
    pub(crate) tokens: usize,
}

/// Cuts a text into units, none of more than `limit` tokens. All visible characters are in one, in order.
pub(crate) fn units(text: &str, limit: usize) -> Vec<Unit> {
    let mut cutter = Cutter {
        text,
        limit,
        units: Vec::new(),
        border: Border::Paragraph,
    };
    let lines: Vec<Range<usize>> = lines(text).collect();
    let (mut at, mut fenced) = (0, false);
    while let Some(line) = lines.get(at) {
        let words = text[line.clone()].trim();
        let is_fence = words.starts_with("```") || words.starts_with("~~~");
        if words.is_empty() {
            cutter.border = Border::Paragraph;
        } else if let Some(level) = heading_level(words).filter(|_| !fenced && !is_fence) {
            cutter.border = Border::Heading;
            cutter.add(line.clone(), Kind::Heading(level));
            cutter.border = Border::Paragraph;
        } else if !fenced && is_table(text, &lines[at..]) {
            at += cutter.table(&lines[at..]);
            continue;
        } else {
            cutter.prose(line.clone(), fenced || is_fence);
        }
        fenced ^= is_fence;
        at += 1;
    }
    cutter.units
}

/// The lines of a text, without what ends them.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let range = at..at + line.len();
        at = range.end + 1;
        range
    })
}

/// The level of a line that is a heading.
pub(crate) fn heading_level(line: &str) -> Option<usize> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    let titled = words.starts_with([' ', '\t']) && !words.trim().is_empty();
    ((1..=6).contains(&level) && titled).then_some(level)
}

/// Whether a table begins there: a row, and below it a line of dashes.
pub(crate) fn is_table(text: &str, lines: &[Range<usize>]) -> bool {
    let [head, dashes, ..] = lines else {
        return false;
    };
    let dashes = text[dashes.clone()].trim();
    is_row(&text[head.clone()])
        && dashes.contains('-')
        && dashes.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
        && dashes.contains('|')
}

pub(crate) fn is_row(line: &str) -> bool {
    line.contains('|')
}

struct Cutter<'t> {
    text: &'t str,
    limit: usize,
    units: Vec<Unit>,
    /// The border before what comes next.
    border: Border,
}

impl Cutter<'_> {
    /// Adds a piece, cut at words if it is above the limit.
    fn add(&mut self, range: Range<usize>, kind: Kind) {
        let piece = &self.text[range.clone()];
        let start = range.start + (piece.len() - piece.trim_start().len());
        let piece = piece.trim();
        let mut rest = piece;
        while !rest.is_empty() {
            let end = fitting(rest, self.limit);
            let (unit, after) = rest.split_at(end);
            let from = start + (piece.len() - rest.len());
            self.units.push(Unit {
                range: from..from + unit.trim_end().len(),
                border: self.border,
                kind,
                tokens: count(unit),
            });
            self.border = Border::Word;
            rest = after.trim_start();
        }
        self.border = Border::Sentence;
    }

    /// Adds a line of text sentence by sentence; a line of code as it is.
    fn prose(&mut self, line: Range<usize>, code: bool) {
        if code {
            return self.add(line, Kind::Prose);
        }
        let mut from = line.start;
        for end in sentence_ends(&self.text[line.clone()]) {
            self.add(from..line.start + end, Kind::Prose);
            from = line.start + end;
        }
        self.add(from..line.end, Kind::Prose);
    }

    /// Adds the rows of a table; tells how many lines it has. The line of dashes belongs to the head.
    fn table(&mut self, lines: &[Range<usize>]) -> usize {
        let head = lines[0].start..lines[1].end;
        let start = head.start;
        self.border = Border::Paragraph;
        self.add(head, Kind::Row(start));
        let rows = lines[2..].iter();
        let rows = rows.take_while(|line| is_row(&self.text[(*line).clone()]));
        let mut read = 2;
        for row in rows {
            self.border = Border::Sentence;
            self.add(row.clone(), Kind::Row(start));
            read += 1;
        }
        self.border = Border::Paragraph;
        read
    }
}

/// Where sentences end in a line, in bytes.
fn sentence_ends(line: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends_here = match c {
            '。' | '！' | '？' | '；' | '｡' => true,
            '.' | '!' | '?' => {
                let followed = chars.peek().is_some_and(|(_, next)| next.is_whitespace());
                followed && !is_abbreviation(&line[..at])
            }
            _ => false,
        };
        if ends_here {
            while let Some((_, c)) =
                chars.next_if(|(_, c)| matches!(c, '”' | '’' | '」' | '』' | '）'))
            {
                debug_assert!(!c.is_whitespace());
            }
            ends.push(chars.peek().map_or(line.len(), |(next, _)| *next));
        }
    }
    ends
}

/// Whether a full stop behind this belongs to the word: `e.g.`, `J.`, `3.`
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or("");
    let word = word.trim_start_matches(['(', '[', '"', '“']);
    let numbered = !word.is_empty() && word.chars().all(char::is_numeric) && before.trim() == word;
    word.chars().count() == 1 && !crate::tokens::has_no_spaces(word.chars().next().unwrap_or(' '))
        || numbered
        || word.contains('.') && word.len() < 6
        || [
            "Dr", "Mr", "Mrs", "Ms", "St", "vs", "etc", "No", "Fig", "bzw", "Nr",
        ]
        .contains(&word)
}

/// How many bytes from the start fit the limit; cut at a space if there is one, and never nothing.
fn fitting(text: &str, limit: usize) -> usize {
    if text.len() <= limit || count(text) <= limit {
        return text.len();
    }
    let mut low = text.chars().next().map_or(0, char::len_utf8);
    let mut high = text.len();
    // The count grows with the length, so the place can be halved towards.
    while low < high {
        let middle = text.ceil_char_boundary(low + (high - low).div_ceil(2));
        if count(&text[..middle]) <= limit {
            low = middle;
        } else {
            let below = text.floor_char_boundary(middle - 1);
            high = below.max(low);
        }
    }
    let space = text[..low].rfind(char::is_whitespace);
    space.filter(|at| *at > low / 2).unwrap_or(low)
}
