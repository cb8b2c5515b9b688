//! What can go wrong, for people.

use std::path::PathBuf;

/// Why a knowledge base could not do what it was asked for. Texts name the place, the cause and the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnowledgeError {
    /// A document cannot be read: it is damaged, of no known format, or above a limit.
    #[error("{name} cannot be read: {cause}. {fix}")]
    Document {
        /// The document's name.
        name: String,
        /// What is wrong with it.
        cause: String,
        /// What to do about it.
        fix: &'static str,
    },
    /// No knowledge base has this id or name.
    #[error("Dataset({0}) does not exist.")]
    NoBase(String),
    /// The name is taken.
    #[error("there is a knowledge base \"{0}\" already. Choose another name")]
    NameTaken(String),
    /// The knowledge base has no such document.
    #[error(
        "knowledge base \"{base}\" has no document \"{name}\". Documents are asked for by their full name"
    )]
    NoDocument {
        /// The knowledge base.
        base: String,
        /// The name that was asked for.
        name: String,
    },
    /// A setting or a part of a request is out of bounds.
    #[error("{what} cannot be used: {problem}")]
    Invalid {
        /// The setting or the part.
        what: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// Vectors of different models cannot be compared.
    #[error("Knowledge bases use different embedding models. Search them one after the other: {0}")]
    DifferentModels(String),
    /// Nobody provides the model that made the vectors of a knowledge base.
    #[error(
        "knowledge base \"{base}\" uses the embedding model \"{model}\", which is not connected. Connect it, or make \
         the knowledge base anew with another model"
    )]
    NoEmbedder {
        /// The knowledge base.
        base: String,
        /// Its model.
        model: String,
    },
    /// Nobody provides the reranking model.
    #[error("the reranking model \"{0}\" is not connected. Connect it, or leave `rerank_id` empty")]
    NoReranker(String),
    /// A model failed.
    #[error("the model \"{model}\" failed: {cause}")]
    Model {
        /// The model.
        model: String,
        /// What it said.
        cause: String,
    },
    /// A folder or a file in it cannot be read.
    #[error("{} cannot be read: {cause}. Check that it is there and may be read", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The database failed.
    #[error(
        "the knowledge database failed: {0}. Check the disk; if it stays so, restore {FILE} from a backup"
    )]
    Database(#[from] rusqlite::Error),
    /// The database was written by a later version.
    #[error(
        "{FILE} was written by a later version of Easel (its layout is {found}, known is {known}). Use that version"
    )]
    Later {
        /// The layout that was found.
        found: i64,
        /// The layout that is known.
        known: i64,
    },
    /// A piece of work ended without a result.
    #[error(
        "work on the knowledge base broke off: {0}. This is a fault of Easel: please report it"
    )]
    Broken(String),
}

/// The database's file name.
pub const FILE: &str = "knowledge.db";

/// Why a document could not be read, before its name is known.
#[derive(Debug)]
pub(crate) struct ReadError {
    pub(crate) cause: String,
    pub(crate) fix: &'static str,
}

impl ReadError {
    pub(crate) fn new(cause: impl Into<String>, fix: &'static str) -> ReadError {
        ReadError {
            cause: cause.into(),
            fix,
        }
    }

    pub(crate) fn damaged(format: &str, cause: impl std::fmt::Display) -> ReadError {
        ReadError::new(
            format!("it is damaged as {format} ({cause})"),
            "Open it in the program that made it and save it anew",
        )
    }

    pub(crate) fn of(self, name: &str) -> KnowledgeError {
        KnowledgeError::Document {
            name: name.into(),
            cause: self.cause,
            fix: self.fix,
        }
    }
}

impl From<crate::text::Full> for ReadError {
    fn from(full: crate::text::Full) -> ReadError {
        match full {
            crate::text::Full::Size(limit) => ReadError::new(
                format!("its text is larger than {limit} bytes"),
                "Split it into smaller documents",
            ),
            crate::text::Full::Time(limit) => ReadError::new(
                format!("reading it took longer than {:.0} s", limit.as_secs_f64()),
                "Split it into smaller documents",
            ),
        }
    }
}
