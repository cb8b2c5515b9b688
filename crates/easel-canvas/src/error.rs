//! Why a file is no canvas that can be read.

use thiserror::Error;

use crate::pointer::Pointer;
use crate::source::Position;

/// Why a file was refused. Every variant but the first knows the line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The file has more bytes than are accepted; it was not looked into.
    #[error(
        "the file has {bytes} bytes, at most {limit} are read: is it a canvas? If so, raise the limit"
    )]
    TooLarge {
        /// Bytes of the file.
        bytes: usize,
        /// Bytes accepted.
        limit: usize,
    },
    /// The bytes are no UTF-8 text.
    #[error("line {}, column {}: this is not UTF-8 text; save the file as UTF-8", at.line, at.column)]
    NotUtf8 {
        /// The first byte that is none.
        at: Position,
    },
    /// Objects and lists stand deeper in one another than is accepted.
    #[error("line {}, column {}: objects and lists are nested more than {limit} deep here", at.line, at.column)]
    TooDeep {
        /// The first that is too deep.
        at: Position,
        /// The depth accepted.
        limit: usize,
    },
    /// The file ends too early.
    #[error("the file ends at line {}, column {} where {expected} should follow{}; it seems to be cut off",
        at.line, at.column, still_open(inside, opened.as_ref()))]
    Unfinished {
        /// The end of the file.
        at: Position,
        /// What should have followed.
        expected: &'static str,
        /// The innermost object or list that is still open.
        inside: Pointer,
        /// Where that begins; `None` if nothing is open.
        opened: Option<Position>,
    },
    /// Something stands where JSON doesn't allow it.
    #[error("line {}, column {}: found `{found}` where {expected} should stand{}", at.line, at.column, within(inside))]
    Syntax {
        /// Where it stands.
        at: Position,
        /// What JSON allows there.
        expected: &'static str,
        /// The beginning of what stands there.
        found: String,
        /// The innermost object or list around it.
        inside: Pointer,
    },
    /// The JSON value isn't an object.
    #[error("line {}, column {}: a canvas is a JSON object, this is {found}", at.line, at.column)]
    NotAnObject {
        /// Where the value stands.
        at: Position,
        /// The JSON type it has instead.
        found: &'static str,
    },
    /// The object has none of the members by which a canvas is known.
    #[error("line {}, column {}: this object is no canvas: it has neither `components` nor `graph`, `nodes` or `dsl`",
        at.line, at.column)]
    NotACanvas {
        /// Where the object stands.
        at: Position,
    },
    /// The canvas stands as text inside the file, and that text can't be read.
    #[error("line {}, column {}: the canvas stands here as text, and in that text: {error}", at.line, at.column)]
    InText {
        /// Where the text stands.
        at: Position,
        /// What is wrong in it, with lines and columns of the text itself.
        error: Box<ReadError>,
    },
}

impl ReadError {
    /// Where in the file it is; `None` if the file was not looked into.
    pub fn position(&self) -> Option<Position> {
        match self {
            ReadError::TooLarge { .. } => None,
            ReadError::NotUtf8 { at }
            | ReadError::TooDeep { at, .. }
            | ReadError::Unfinished { at, .. }
            | ReadError::Syntax { at, .. }
            | ReadError::NotAnObject { at, .. }
            | ReadError::NotACanvas { at }
            | ReadError::InText { at, .. } => Some(*at),
        }
    }
}

fn still_open(inside: &Pointer, opened: Option<&Position>) -> String {
    match opened {
        None => String::new(),
        Some(opened) if inside.is_empty() => format!(" (open since line {})", opened.line),
        Some(opened) => format!(" (`{inside}` is open since line {})", opened.line),
    }
}

fn within(inside: &Pointer) -> String {
    if inside.is_empty() {
        String::new()
    } else {
        format!(", in `{inside}`")
    }
}
