//! What stands around a table, to go with it.

use easel_tools::ingestion::{Block, BlockKind};

use crate::chunks::units::units;
use crate::tokens::count;

/// The text before and behind a table.
pub(super) struct Around {
    before: String,
    behind: String,
}

impl Around {
    /// A table with the text around it.
    pub(super) fn of(&self, table: &str) -> String {
        let parts = [self.before.as_str(), table, self.behind.as_str()];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n\n")
    }
}

/// The text around the table that is the block `at`: whole sentences, of `tokens` tokens at most on each side.
pub(super) fn around(blocks: &[Block], at: usize, tokens: usize) -> Around {
    let mut before = gathered(blocks[..at].iter().rev(), tokens, true);
    before.reverse();
    let behind = gathered(blocks[at + 1..].iter(), tokens, false);
    Around {
        before: before.join("\n\n"),
        behind: behind.join("\n\n"),
    }
}

/// The blocks of text at one side of a table as far as they have room, nearest first; of the last one what has.
fn gathered<'b>(
    blocks: impl Iterator<Item = &'b Block>,
    tokens: usize,
    from_end: bool,
) -> Vec<String> {
    let (mut taken, mut left) = (Vec::new(), tokens);
    for block in blocks.take_while(|block| block.kind == BlockKind::Text) {
        let part = sentences(&block.text, left, from_end);
        let whole = part == block.text;
        left = left.saturating_sub(count(&part));
        if !part.is_empty() {
            taken.push(part);
        }
        if !whole {
            break;
        }
    }
    taken
}

/// The sentences at one end of a text that have room.
fn sentences(text: &str, tokens: usize, from_end: bool) -> String {
    let units = units(text, usize::MAX);
    let mut room = tokens;
    let mut fits = |unit: &&crate::chunks::units::Unit| {
        let fits = unit.tokens <= room;
        room = room.saturating_sub(unit.tokens);
        fits
    };
    let taken = match from_end {
        true => units.iter().rev().take_while(&mut fits).count(),
        false => units.iter().take_while(&mut fits).count(),
    };
    let place = match (taken, from_end) {
        (0, _) => return String::new(),
        (_, true) => units[units.len() - taken].range.start..text.len(),
        (_, false) => 0..units[taken - 1].range.end,
    };
    text[place].to_owned()
}
