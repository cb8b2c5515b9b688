//! Cutting by size.

use std::ops::Range;

use easel_tools::ingestion::{Block, BlockKind, DocumentPiece, SizeCut};

use super::delimiters::parts;
use super::{Pieces, check_size, context};
use crate::blocks::{page_at, text_of};
use crate::chunks::units::{heading_level, lines};
use crate::chunks::{Chunking, Headings, chunks};
use crate::error::KnowledgeError;
use crate::text::Text;
use crate::tokens::count;

/// Tokens of a piece that was cut at a delimiter whatever its size.
const LARGEST: usize = 8_192;

/// Delimiters at which cutting by size cuts anyway.
const USUAL: [&str; 2] = ["\n", "\r\n"];

/// Cuts blocks into pieces of about the same size.
pub(super) fn cut(
    blocks: &[Block],
    size: &SizeCut,
    pieces: &mut Pieces,
) -> Result<(), KnowledgeError> {
    if size.table_context == 0 {
        return cut_text(blocks, size, pieces);
    }
    let mut rest = blocks;
    while let Some(table) = rest.iter().position(|block| block.kind == BlockKind::Table) {
        let at = blocks.len() - rest.len() + table;
        cut_text(&rest[..table], size, pieces)?;
        let around = context::around(blocks, at, size.table_context);
        for part in sized(&text_of(&blocks[at..=at]), size) {
            pieces.add(DocumentPiece {
                text: around.of(&part.text),
                kind: BlockKind::Table,
                page: blocks[at].page,
                ..part
            })?;
        }
        rest = &rest[table + 1..];
    }
    cut_text(rest, size, pieces)
}

fn cut_text(blocks: &[Block], size: &SizeCut, pieces: &mut Pieces) -> Result<(), KnowledgeError> {
    let text = text_of(blocks);
    check_size(&text.markdown, size.tokens)?;
    let is_usual = |delimiter: &String| USUAL.contains(&delimiter.as_str());
    let of_table = |piece: DocumentPiece| DocumentPiece {
        kind: match blocks {
            [only] => only.kind,
            _ => BlockKind::Text,
        },
        ..piece
    };
    let made = if !size.always.is_empty() {
        let always = parts(&text.markdown, &size.always, false)?;
        apart(&text, always)
    } else if size.delimiters.iter().all(is_usual) {
        sized(&text, size)
    } else {
        delimited(&text, size)?
    };
    made.into_iter()
        .try_for_each(|piece| pieces.add(of_table(piece)))
}

/// Pieces cut between lines and sentences.
fn sized(text: &Text, size: &SizeCut) -> Vec<DocumentPiece> {
    let chunking = Chunking {
        tokens: size.tokens.max(1),
        overlap_percent: size.overlap_percent,
    };
    let piece = |chunk: crate::chunks::Chunk| DocumentPiece {
        text: chunk.text,
        heading: chunk.heading,
        page: chunk.page,
        ..DocumentPiece::default()
    };
    chunks(text, chunking).into_iter().map(piece).collect()
}

/// Each part as a piece of its own.
fn apart(text: &Text, parts: Vec<Range<usize>>) -> Vec<DocumentPiece> {
    let places = Places::of(text);
    let pieces = parts
        .into_iter()
        .flat_map(|part| places.pieces(part, LARGEST));
    pieces.collect()
}

/// Pieces put together from the parts between delimiters.
fn delimited(text: &Text, size: &SizeCut) -> Result<Vec<DocumentPiece>, KnowledgeError> {
    let limit = size.tokens.max(1);
    let parts: Vec<(Range<usize>, usize)> = parts(&text.markdown, &size.delimiters, true)?
        .into_iter()
        .map(|part| (part.clone(), count(&text.markdown[part])))
        .collect();
    let room = limit * size.overlap_percent.min(90) / 100;
    let places = Places::of(text);
    let mut pieces = Vec::new();
    // The parts before `fresh` are in a piece already.
    let (mut from, mut fresh) = (0, 0);
    while fresh < parts.len() {
        let mut used: usize = parts[from..=fresh].iter().map(|(_, tokens)| tokens).sum();
        let mut end = fresh + 1;
        while let Some((_, tokens)) = parts.get(end).filter(|(_, tokens)| used + tokens <= limit) {
            used += tokens;
            end += 1;
        }
        let place = parts[from].0.start..parts[end - 1].0.end;
        pieces.extend(places.pieces(place, limit));
        // The next part must find room behind what is repeated.
        let next = parts.get(end).map_or(limit, |(_, tokens)| *tokens);
        from = repeated(&parts, from..end, room.min(limit.saturating_sub(next)));
        fresh = end;
    }
    Ok(pieces)
}

/// Where the next piece begins: with the last parts of this one that have room in the overlap.
fn repeated(parts: &[(Range<usize>, usize)], piece: Range<usize>, room: usize) -> usize {
    let (mut from, mut used) = (piece.end, 0);
    while from > piece.start + 1 && used + parts[from - 1].1 <= room {
        from -= 1;
        used += parts[from].1;
    }
    from
}

/// The headings and pages of a text.
struct Places<'t> {
    text: &'t Text,
    /// Where each heading ends, and the path from there on.
    headings: Vec<(usize, String)>,
}

impl<'t> Places<'t> {
    fn of(text: &'t Text) -> Places<'t> {
        let (mut path, mut headings, mut fenced) = (Headings::default(), Vec::new(), false);
        for line in lines(&text.markdown) {
            let words = text.markdown[line.clone()].trim();
            let is_fence = words.starts_with("```") || words.starts_with("~~~");
            if let Some(level) = heading_level(words).filter(|_| !fenced) {
                path.enter(level, words);
                headings.push((line.start, path.path()));
            }
            fenced ^= is_fence;
        }
        Places { text, headings }
    }

    /// A place as a piece, or as several if it is above the limit.
    fn pieces(&self, place: Range<usize>, limit: usize) -> Vec<DocumentPiece> {
        let above = self
            .headings
            .partition_point(|(start, _)| *start < place.start);
        let heading = match above.checked_sub(1).and_then(|at| self.headings.get(at)) {
            Some((_, path)) => path.as_str(),
            None => "",
        };
        let piece = |text: &str| DocumentPiece {
            text: text.to_owned(),
            heading: heading.to_owned(),
            page: page_at(self.text, place.start),
            ..DocumentPiece::default()
        };
        let words = &self.text.markdown[place.clone()];
        if count(words) <= limit {
            return vec![piece(words)];
        }
        let whole = Text {
            markdown: words.to_owned(),
            ..Text::default()
        };
        let chunking = Chunking {
            tokens: limit,
            overlap_percent: 0,
        };
        let parts = chunks(&whole, chunking).into_iter();
        parts.map(|part| piece(&part.text)).collect()
    }
}
