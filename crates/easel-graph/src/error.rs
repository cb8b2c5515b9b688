//! Why a file is no graph that can be read.

use thiserror::Error;

use crate::place::Position;

/// Why a text was refused. What can be read but says something wrong is a [`Finding`](crate::finding::Finding) instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The text has more bytes than are accepted; it was not looked into.
    #[error(
        "the file has {bytes} bytes, at most {limit} are read: is it a graph? If so, raise the limit"
    )]
    TooLarge {
        /// Bytes of the text.
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
    /// Mappings and lists stand deeper in one another than is accepted.
    #[error("line {}, column {}: mappings and lists are nested more than {limit} deep here", at.line, at.column)]
    TooDeep {
        /// The first that is too deep.
        at: Position,
        /// The depth accepted.
        limit: usize,
    },
    /// The text holds more values than are accepted. What an alias repeats counts each time.
    #[error("line {}, column {}: with this the file holds more than {limit} values; aliases (`*name`) that repeat \
        one another multiply: write the values out, or raise the limit", at.line, at.column)]
    TooMany {
        /// The value that was one too many.
        at: Position,
        /// The number accepted.
        limit: usize,
    },
    /// The text is neither YAML nor JSON.
    #[error("line {}, column {}: {message}{}", at.line, at.column, hint.map(|hint| format!(". {hint}")).unwrap_or_default())]
    Syntax {
        /// Where reading stopped.
        at: Position,
        /// What the parser says.
        message: String,
        /// What is most likely meant, and how to write it.
        hint: Option<&'static str>,
    },
    /// An alias repeats a value inside which it stands, or one that there is not.
    #[error("line {}, column {}: this alias names {what}; write the value out", at.line, at.column)]
    Alias {
        /// The alias.
        at: Position,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A tag makes of a value what no graph can hold.
    #[error("line {}, column {}: the tag `{tag}` has no meaning in a graph; leave it out", at.line, at.column)]
    Tag {
        /// The value that has the tag.
        at: Position,
        /// The tag.
        tag: String,
    },
    /// The key of a member is a list or a mapping.
    #[error("line {}, column {}: a key has to be a word, this is {found}; put it in quotes if it is meant as text",
        at.line, at.column)]
    Key {
        /// The key.
        at: Position,
        /// What it is.
        found: &'static str,
    },
    /// What `<<` merges is no mapping.
    #[error("line {}, column {}: `<<` takes in a mapping or a list of mappings, this is {found}", at.line, at.column)]
    Merge {
        /// What is merged.
        at: Position,
        /// What it is.
        found: String,
    },
    /// The file holds a second document.
    #[error("line {}, column {}: a second document begins here, and a graph is one; put it into a file of its own",
        at.line, at.column)]
    SeveralDocuments {
        /// Its beginning.
        at: Position,
    },
    /// The text is no mapping.
    #[error("line {}, column {}: a graph is a mapping with `name` and `nodes`, this is {found}", at.line, at.column)]
    NotAMapping {
        /// Where the value stands.
        at: Position,
        /// What it is.
        found: String,
    },
}

impl ReadError {
    /// Where in the text it is; `None` if the text was not looked into.
    pub fn position(&self) -> Option<Position> {
        match self {
            ReadError::TooLarge { .. } => None,
            ReadError::NotUtf8 { at }
            | ReadError::TooDeep { at, .. }
            | ReadError::TooMany { at, .. }
            | ReadError::Syntax { at, .. }
            | ReadError::Alias { at, .. }
            | ReadError::Tag { at, .. }
            | ReadError::Key { at, .. }
            | ReadError::Merge { at, .. }
            | ReadError::SeveralDocuments { at }
            | ReadError::NotAMapping { at, .. } => Some(*at),
        }
    }
}
