//! Text with references in it, compiled to a list of pieces.

use std::sync::Arc;

use crate::bind::{Inputs, ReadId};

/// A text in which references were found when the workflow loaded. Rendering never scans text again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// Literal text and references, in order.
    pub pieces: Vec<Piece>,
    /// True if the text holds Jinja statements or expressions around its references.
    pub jinja: bool,
}

/// One piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Literal text.
    Text(Arc<str>),
    /// A reference to be inserted.
    Read(ReadId),
    /// A reference inside a Jinja block, where it stands for a typed value.
    Name(ReadId),
}

/// How values become text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// Texts as they are, `null` and what is missing as nothing, all else as JSON that keeps non-ASCII characters.
    Display,
}

impl Template {
    /// The text with every reference replaced. A stream renders as nothing: who drains streams walks the pieces itself.
    pub fn render(&self, inputs: &Inputs, rendering: Rendering) -> String {
        let _ = (inputs, rendering);
        String::new()
    }
}
