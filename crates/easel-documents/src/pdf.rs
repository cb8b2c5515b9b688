//! Blocks as a PDF.
//!
//! `faces` finds a face that has a character, `shape` makes glyphs of words, `line` fills lines with them, `flow` puts blocks on
//! pages, `table` those that are tables, `frame` what stands around each page, and `draw` writes it all down.

mod draw;
mod faces;
mod flow;
mod frame;
mod line;
mod shape;
mod table;

use easel_tools::documents::DocumentRequest;

use crate::block::Block;
use crate::error::DocumentError;
use crate::limits::{Limits, Patience};

use draw::Undrawn;
pub(crate) use faces::Fonts;
use flow::Flow;
use shape::Shaper;

/// The document, and what is to be told about it.
pub(crate) fn document(
    request: &DocumentRequest,
    blocks: &[Block],
    fonts: &Fonts,
    limits: &Limits,
    patience: &Patience,
) -> Result<(Vec<u8>, Vec<String>), DocumentError> {
    match with_fonts(request, blocks, fonts, limits, patience) {
        Ok(made) => Ok(made),
        Err(Undrawn::Failed(error)) => Err(error),
        // A face of this machine that cannot be part of a document: those that come with Easel can.
        Err(Undrawn::Font(cause)) => {
            let made = with_fonts(request, blocks, &Fonts::built_in(), limits, patience);
            let (bytes, mut told) = made.map_err(|error| match error {
                Undrawn::Failed(error) => error,
                Undrawn::Font(cause) => DocumentError::Unwritable {
                    what: "The PDF",
                    cause,
                },
            })?;
            told.push(format!(
                "The PDF has only the fonts that come with Easel: one of this machine cannot be used ({cause})."
            ));
            Ok((bytes, told))
        }
    }
}

fn with_fonts(
    request: &DocumentRequest,
    blocks: &[Block],
    fonts: &Fonts,
    limits: &Limits,
    patience: &Patience,
) -> Result<(Vec<u8>, Vec<String>), Undrawn> {
    let mut shaper = Shaper::new(fonts);
    let mut flow = Flow::new(&mut shaper, request, limits, patience);
    flow.blocks(blocks).map_err(Undrawn::Failed)?;
    let (mut pages, headings) = flow.finish();
    for (at, page) in pages.iter_mut().enumerate() {
        patience.check().map_err(Undrawn::Failed)?;
        frame::add(&mut shaper, request, at + 1, page);
    }
    let told = shaper.missing().into_iter().collect();
    let bytes = draw::draw(&request.title, &pages, headings, &shaper, patience)?;
    Ok((bytes, told))
}

#[cfg(test)]
mod tests;
