//! What was found while a graph was lowered: in its texts, about its names.

use std::ops::Range;
use std::sync::Arc;

use easel_core::expression::SyntaxError;

use super::names::{Language, Missing};
use crate::place::Place;

/// Something about one text of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The id of the node, as the file has it.
    pub node: Arc<str>,
    /// The text: `nodes[0].instructions`, `nodes[1].tool_args.url`.
    pub place: Place,
    /// The bytes of the text that it is about.
    pub span: Range<usize>,
    /// What it is.
    pub kind: FindingKind,
}

/// What can be found in a text.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// An expression cannot be read.
    Syntax(SyntaxError),
    /// A name stands for nothing.
    Missing {
        /// In which language the text is.
        language: Language,
        /// The name as it is written, with its steps.
        written: Arc<str>,
        /// Why.
        why: Missing,
    },
    /// A variable that only nodes write which need not have run: no node before this one writes it.
    Unsure {
        /// Its name.
        variable: Arc<str>,
    },
    /// A brace without its partner.
    UnpairedBrace,
    /// Braces around what looks like text.
    Literal {
        /// What would be the name.
        name: Arc<str>,
    },
    /// `${NAME}` with a name that the node does not declare, or where no secret can stand.
    Secret {
        /// The name.
        name: Arc<str>,
        /// True where secrets can stand.
        allowed: bool,
    },
    /// A placeholder in a text that is sent as it is written.
    NotRendered {
        /// The placeholder's name.
        name: Arc<str>,
    },
    /// `until` looks like the name of a function, and the sidecar has none of that name.
    NoFunction {
        /// The name.
        name: Arc<str>,
        /// The functions that there are.
        known: Vec<Arc<str>>,
    },
    /// `until` names something of the sidecar that is no function.
    NotCallable {
        /// The name.
        name: Arc<str>,
    },
    /// A class that was named as the shape of an answer cannot be used.
    Schema {
        /// Why, as a sentence.
        why: Arc<str>,
    },
}
