//! Cutting at headings, which patterns find.

mod levels;
mod tree;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use easel_tools::ingestion::{Block, BlockKind, DocumentPiece, HeadingCut};

use super::{Pieces, check_size};
use crate::chunks::{Chunking, chunks};
use crate::error::KnowledgeError;
use crate::text::Text;
use crate::tokens::count;
use levels::Levels;

/// Tokens that a group of sections has at least, if more sections follow.
const SMALL: usize = 32;

/// A line of a document, not blank.
#[derive(Clone, Copy, Debug)]
struct Line<'b> {
    text: &'b str,
    page: Option<usize>,
    /// The level of the heading that it is, from 1.
    level: Option<usize>,
}

/// Cuts blocks at their headings. A table is a piece of its own.
pub(super) fn cut(
    blocks: &[Block],
    cut: &HeadingCut,
    pieces: &mut Pieces,
) -> Result<(), KnowledgeError> {
    let levels = Levels::read(&cut.levels)?;
    let texts = blocks.iter().filter(|block| is_text(block));
    let family = levels.family(texts.flat_map(|block| block.text.lines()));
    let mut cutter = Cutter { cut, pieces };
    for run in blocks.chunk_by(|a, b| is_text(a) && is_text(b)) {
        match run {
            [table] if !is_text(table) => cutter.table(table)?,
            run => {
                let lines = run.iter().flat_map(|block| {
                    let page = block.page;
                    let lines = block.text.lines().filter(|line| !line.trim().is_empty());
                    lines.map(move |text| (text, page))
                });
                let lines: Vec<Line<'_>> = lines
                    .map(|(text, page)| Line {
                        text,
                        page,
                        level: family.and_then(|family| family.level(text)),
                    })
                    .collect();
                cutter.run(&lines)?;
            }
        }
    }
    Ok(())
}

fn is_text(block: &Block) -> bool {
    block.kind == BlockKind::Text
}

struct Cutter<'c> {
    cut: &'c HeadingCut,
    pieces: &'c mut Pieces,
}

impl Cutter<'_> {
    /// Cuts lines between which no table stands.
    fn run(&mut self, lines: &[Line<'_>]) -> Result<(), KnowledgeError> {
        let depth = match self.cut.grouped && self.cut.depth == 0 {
            true => commonest(lines),
            false => nth(lines, self.cut.depth),
        };
        match (depth, self.cut.grouped) {
            (depth, true) => self.groups(lines, depth),
            (Some(depth), false) => {
                let cut = self.cut;
                tree::each_path(lines, depth, cut, |path| self.piece(path))
            }
            (None, false) => self.piece(lines),
        }
    }

    /// Puts sections together until they have a fair size.
    fn groups(&mut self, lines: &[Line<'_>], depth: Option<usize>) -> Result<(), KnowledgeError> {
        let begins = |line: &Line<'_>| line.level.is_some_and(|level| Some(level) <= depth);
        let (mut from, mut tokens) = (0, 0);
        for (at, line) in lines.iter().enumerate() {
            let more = count(line.text);
            let ends = begins(line) && tokens >= SMALL || tokens + more > self.cut.tokens;
            if ends && at > from {
                self.piece(&lines[from..at])?;
                (from, tokens) = (at, 0);
            }
            tokens += more;
        }
        self.piece(&lines[from..])
    }

    /// Adds lines as a piece, or as several if they are above the limit.
    fn piece(&mut self, lines: &[Line<'_>]) -> Result<(), KnowledgeError> {
        let Some(first) = lines.first() else {
            return Ok(());
        };
        let text: Vec<&str> = lines.iter().map(|line| line.text).collect();
        let text = text.join("\n");
        let piece = |text: String, heading: String| DocumentPiece {
            text,
            heading,
            page: first.page,
            ..DocumentPiece::default()
        };
        if count(&text) <= self.cut.tokens {
            return self.pieces.add(piece(text, String::new()));
        }
        check_size(&text, self.cut.tokens)?;
        let titles = lines.iter().take_while(|line| line.level.is_some());
        let titles: Vec<&str> = titles
            .map(|line| line.text.trim_matches(['#', ' ']))
            .collect();
        for (at, part) in self.parts(text).into_iter().enumerate() {
            // The first part has the headings in it.
            let heading = if at == 0 {
                String::new()
            } else {
                titles.join(" > ")
            };
            self.pieces.add(piece(part, heading))?;
        }
        Ok(())
    }

    fn table(&mut self, table: &Block) -> Result<(), KnowledgeError> {
        check_size(&table.text, self.cut.tokens)?;
        for text in self.parts(table.text.clone()) {
            self.pieces.add(DocumentPiece {
                text,
                kind: table.kind,
                page: table.page,
                ..DocumentPiece::default()
            })?;
        }
        Ok(())
    }

    /// A text in parts that are not above the limit.
    fn parts(&self, markdown: String) -> Vec<String> {
        let text = Text {
            markdown,
            ..Text::default()
        };
        let chunking = Chunking {
            tokens: self.cut.tokens.max(1),
            overlap_percent: 0,
        };
        let parts = chunks(&text, chunking).into_iter();
        parts.map(|chunk| chunk.text).collect()
    }
}

/// The `n`th of the levels that occur, or the last of them.
fn nth(lines: &[Line<'_>], n: usize) -> Option<usize> {
    let mut levels: Vec<usize> = lines.iter().filter_map(|line| line.level).collect();
    levels.sort_unstable();
    levels.dedup();
    levels.get(n.max(1) - 1).or(levels.last()).copied()
}

/// The level that most headings have; of equal ones the higher.
fn commonest(lines: &[Line<'_>]) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for level in lines.iter().filter_map(|line| line.level) {
        *counts.entry(level).or_default() += 1;
    }
    let most = counts
        .into_iter()
        .max_by_key(|(level, count)| (*count, Reverse(*level)));
    most.map(|(level, _)| level)
}
