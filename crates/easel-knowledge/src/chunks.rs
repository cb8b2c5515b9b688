//! Texts in passages of a size that models and searches can use.

pub(crate) mod units;

use std::ops::Range;

use crate::error::KnowledgeError;
use crate::text::Text;
use crate::tokens::count;
use units::{Border, Kind, Unit};

/// How texts are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunking {
    /// Tokens of a passage at most, by [`crate::tokens::count`]; from 32 to 8,192.
    pub tokens: usize,
    /// How much of a passage the next one repeats, in percent of `tokens`; at most 50.
    pub overlap_percent: usize,
}

impl Default for Chunking {
    /// 512 tokens, nothing repeated.
    fn default() -> Self {
        Chunking {
            tokens: 512,
            overlap_percent: 0,
        }
    }
}

impl Chunking {
    /// Says whether the settings are within their bounds.
    pub fn check(&self) -> Result<(), KnowledgeError> {
        let invalid = |what: &str, problem: String| {
            Err(KnowledgeError::Invalid {
                what: what.into(),
                problem,
            })
        };
        match self {
            Chunking { tokens, .. } if !(32..=8_192).contains(tokens) => {
                invalid("chunk tokens", format!("{tokens} is not from 32 to 8192"))
            }
            Chunking {
                overlap_percent, ..
            } if *overlap_percent > 50 => {
                invalid("overlap", format!("{overlap_percent} % is above 50 %"))
            }
            _ => Ok(()),
        }
    }
}

/// A passage of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// What it says. Where it begins within a table, the table's head stands first.
    pub text: String,
    /// The headings above it: `Guide > Install`. Empty before the first.
    pub heading: String,
    /// Where it stands in the document's text, in bytes.
    pub place: Range<usize>,
    /// The page on which it begins, from 1; `None` for formats without pages.
    pub page: Option<usize>,
}

/// Cuts a text into passages: at headings first, then at paragraphs, then at sentences and rows. A passage of few words
/// goes on over a heading.
///
/// Nothing is left out, and no passage is above the limit. The same text and settings give the same passages.
pub fn chunks(text: &Text, chunking: Chunking) -> Vec<Chunk> {
    let units = units::units(&text.markdown, chunking.tokens);
    let mut packer = Packer {
        text,
        units: &units,
        chunking,
    };
    packer.pack()
}

struct Packer<'t> {
    text: &'t Text,
    units: &'t [Unit],
    chunking: Chunking,
}

impl Packer<'_> {
    fn pack(&mut self) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let mut headings = Headings::default();
        // The units before `fresh` are in a passage already.
        let (mut from, mut fresh) = (0, 0);
        while fresh < self.units.len() {
            let end = self.end(from, fresh);
            chunks.push(self.chunk(from..end, &mut headings));
            from = self.overlap_start(fresh, end);
            fresh = end;
        }
        chunks
    }

    /// Where the passage ends that begins with the unit `from`; at least one fresh unit is in it.
    fn end(&self, from: usize, fresh: usize) -> usize {
        let limit = self.chunking.tokens;
        let mut used = self.head_tokens(from);
        let mut paragraph = None;
        let mut at = from;
        while let Some(unit) = self.units.get(at) {
            let new_section = unit.border == Border::Heading && used * 8 >= limit;
            let after_heading = at > 0 && matches!(self.units[at - 1].kind, Kind::Heading(_));
            if at > fresh && new_section && !after_heading {
                return at;
            }
            if used + unit.tokens > limit && at > fresh {
                break;
            }
            if at > fresh && unit.border >= Border::Paragraph && used * 2 >= limit {
                paragraph = Some(at);
            }
            used += unit.tokens;
            at += 1;
        }
        if at == self.units.len() {
            return at;
        }
        self.without_last_headings(fresh, paragraph.unwrap_or(at))
    }

    /// A heading belongs to what stands below it.
    fn without_last_headings(&self, fresh: usize, end: usize) -> usize {
        let is_heading = |unit: &Unit| matches!(unit.kind, Kind::Heading(_));
        let headings = self.units[fresh..end].iter().rev();
        let headings = headings.take_while(|unit| is_heading(unit)).count();
        match end - headings {
            start if start > fresh => start,
            _ => end,
        }
    }

    /// Where the passage after this one begins: with the last sentences of it, as far as they go into the overlap.
    fn overlap_start(&self, fresh: usize, end: usize) -> usize {
        let room = self.chunking.tokens * self.chunking.overlap_percent / 100;
        let crosses = self
            .units
            .get(end)
            .is_none_or(|next| next.border == Border::Heading || matches!(next.kind, Kind::Row(_)));
        if crosses {
            return end;
        }
        // The next unit must find room behind what is repeated.
        let next = self.units.get(end).map_or(0, |next| next.tokens);
        let room = room.min(self.chunking.tokens.saturating_sub(next));
        let (mut start, mut used) = (end, 0);
        for at in (fresh + 1..end).rev() {
            let unit = &self.units[at];
            used += unit.tokens;
            if used > room || unit.kind != Kind::Prose {
                break;
            }
            start = at;
        }
        start
    }

    /// The tokens of the head that is repeated before a unit.
    fn head_tokens(&self, unit: usize) -> usize {
        self.head(unit).map_or(0, count)
    }

    /// The head of the table within which a passage that begins with this unit would begin, unless it has no room there.
    fn head(&self, unit: usize) -> Option<&str> {
        let Unit {
            kind: Kind::Row(start),
            range,
            tokens,
            ..
        } = self.units.get(unit)?
        else {
            return None;
        };
        let head = self.units[..unit]
            .iter()
            .rev()
            .find(|u| u.range.start == *start)?;
        let head = self.text.markdown.get(head.range.clone())?;
        let fits =
            count(head) * 2 <= self.chunking.tokens && count(head) + tokens <= self.chunking.tokens;
        (range.start > *start && fits).then_some(head)
    }

    fn chunk(&self, units: Range<usize>, headings: &mut Headings) -> Chunk {
        let markdown = &self.text.markdown;
        let (first, last) = (&self.units[units.start], &self.units[units.end - 1]);
        let place = first.range.start..last.range.end;
        let text = match self.head(units.start) {
            Some(head) => format!("{head}\n{}", &markdown[place.clone()]),
            None => markdown[place.clone()].to_owned(),
        };
        let mut path = None;
        for unit in &self.units[units] {
            match unit.kind {
                Kind::Heading(level) => headings.enter(level, &markdown[unit.range.clone()]),
                Kind::Prose | Kind::Row(_) => {
                    path.get_or_insert_with(|| headings.path());
                }
            }
        }
        let pages = self
            .text
            .pages
            .partition_point(|start| *start <= place.start);
        Chunk {
            text,
            heading: path.unwrap_or_else(|| headings.path()),
            page: (!self.text.pages.is_empty()).then_some(pages.max(1)),
            place,
        }
    }
}

/// The headings above a place.
#[derive(Default)]
pub(crate) struct Headings(Vec<(usize, String)>);

impl Headings {
    pub(crate) fn enter(&mut self, level: usize, line: &str) {
        self.0.retain(|(above, _)| *above < level);
        let title = line.trim_matches(['#', ' ', '\t']);
        self.0.push((level, title.to_owned()));
    }

    pub(crate) fn path(&self) -> String {
        let titles: Vec<_> = self.0.iter().map(|(_, title)| title.as_str()).collect();
        titles.join(" > ")
    }
}

#[cfg(test)]
mod tests;
