//! Pieces cut into smaller ones for search, each of which knows the whole piece.

use std::sync::Arc;

use easel_tools::ingestion::{BlockKind, DocumentPiece};

use super::Pieces;
use super::delimiters::parts;
use crate::error::KnowledgeError;

/// Cuts pieces of text at delimiters. Without delimiters, and for tables, they stay as they are.
pub(super) fn cut(
    pieces: Vec<DocumentPiece>,
    delimiters: &[String],
) -> Result<Vec<DocumentPiece>, KnowledgeError> {
    if delimiters.iter().all(String::is_empty) {
        return Ok(pieces);
    }
    let mut made = Pieces::default();
    for piece in pieces {
        if piece.kind != BlockKind::Text {
            made.add(piece)?;
            continue;
        }
        let whole: Arc<str> = piece.text.as_str().into();
        for part in parts(&whole, delimiters, false)? {
            made.add(DocumentPiece {
                text: whole[part].to_owned(),
                whole: Some(whole.to_string()),
                ..piece.clone()
            })?;
        }
    }
    Ok(made.made)
}
