//! Why a document was not made or read.

use std::time::Duration;

use easel_tools::ToolError;

/// Why a document was not made or read. Texts say the cause and the fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The text is too long.
    #[error("the text has {bytes} bytes, and {limit} are the limit; make several documents of it")]
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// It would have too many pages.
    #[error("the document has more than {0} pages; make several of it, or choose `docx`")]
    TooManyPages(usize),
    /// A table is too wide for a page.
    #[error(
        "a table has {columns} columns, and {limit} fit on a page; choose `xlsx` or `html`, or leave some out"
    )]
    TooWide {
        /// Its columns.
        columns: usize,
        /// The limit.
        limit: usize,
    },
    /// The size of the text cannot be used.
    #[error("a text cannot have the size {0}; choose one from 4 to 72 points")]
    FontSize(String),
    /// A workbook is too large.
    #[error("{name} has more than {limit} {what}; split it into smaller files")]
    TooLarge {
        /// Its name.
        name: String,
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A workbook cannot be read.
    #[error(
        "{name} cannot be read as a workbook: {cause}; give an Excel file (xlsx) or a CSV file"
    )]
    Unreadable {
        /// Its name.
        name: String,
        /// What is wrong with it.
        cause: String,
    },
    /// It took too long.
    #[error("it took longer than {:.0} seconds; make it smaller", .0.as_secs_f64())]
    Late(Duration),
    /// Nobody waits for it any more.
    #[error("nobody waits for it any more")]
    Unwanted,
    /// The library that writes the format failed.
    #[error("{what} could not be written: {cause}")]
    Unwritable {
        /// The format.
        what: &'static str,
        /// What the library says.
        cause: String,
    },
    /// No thread could be had, or it broke.
    #[error("the work broke off: {0}")]
    Broken(String),
}

impl From<DocumentError> for ToolError {
    fn from(error: DocumentError) -> ToolError {
        let what = "The document maker".to_owned();
        match error {
            DocumentError::Late(after) => ToolError::Timeout { what, after },
            DocumentError::FontSize(_) => ToolError::InvalidRequest {
                what: "the document".into(),
                problem: error.to_string(),
            },
            other => ToolError::Failed {
                what,
                message: other.to_string(),
            },
        }
    }
}
