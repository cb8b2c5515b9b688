//! Documents cut as ingestion pipelines ask for: by size, at delimiters, at headings.

mod children;
mod context;
mod delimiters;
mod headings;
mod size;

use easel_tools::ingestion::{Block, Cut, CutRequest, DocumentPiece};

use crate::blocks::{page_at, text_of};
use crate::error::{KnowledgeError, ReadError};
use crate::tokens::count;

/// Pieces of a document at most.
pub(crate) const PIECES: usize = 100_000;

/// Bytes of all pieces of a document at most. Headings and overlaps are repeated, so there may be more of them than of the
/// document.
const BYTES: usize = 256 << 20;

/// Cuts blocks into pieces. The same request gives the same pieces, and none is blank.
pub(crate) fn cut(request: &CutRequest) -> Result<Vec<DocumentPiece>, KnowledgeError> {
    let mut pieces = Pieces::default();
    match &request.cut {
        Cut::Whole => whole(&request.blocks, &mut pieces)?,
        Cut::Size(size) => size::cut(&request.blocks, size, &mut pieces)?,
        Cut::Headings(headings) => headings::cut(&request.blocks, headings, &mut pieces)?,
    }
    children::cut(pieces.made, &request.children)
}

fn whole(blocks: &[Block], pieces: &mut Pieces) -> Result<(), KnowledgeError> {
    let text = text_of(blocks);
    pieces.add(DocumentPiece {
        page: page_at(&text, 0),
        text: text.markdown,
        ..DocumentPiece::default()
    })
}

/// Pieces that were made, within limits.
#[derive(Default)]
pub(crate) struct Pieces {
    made: Vec<DocumentPiece>,
    bytes: usize,
}

impl Pieces {
    /// Adds a piece; a blank one is none.
    pub(crate) fn add(&mut self, piece: DocumentPiece) -> Result<(), KnowledgeError> {
        let piece = DocumentPiece {
            text: piece.text.trim().to_owned(),
            ..piece
        };
        if piece.text.is_empty() {
            return Ok(());
        }
        self.bytes += piece.text.len() + piece.whole.as_ref().map_or(0, String::len);
        self.made.push(piece);
        match self.made.len() > PIECES || self.bytes > BYTES {
            true => Err(too_many()),
            false => Ok(()),
        }
    }
}

/// Refuses to cut a text into pieces of so many tokens if there would be too many, before it is done.
pub(crate) fn check_size(text: &str, tokens: usize) -> Result<(), KnowledgeError> {
    match count(text) / tokens.max(1) > PIECES {
        true => Err(too_many()),
        false => Ok(()),
    }
}

fn too_many() -> KnowledgeError {
    ReadError::new(
        format!(
            "it gives more than {PIECES} pieces, or pieces of more than {BYTES} bytes together"
        ),
        "Cut into larger pieces, or repeat less",
    )
    .of("the document")
}

#[cfg(test)]
mod tests;
