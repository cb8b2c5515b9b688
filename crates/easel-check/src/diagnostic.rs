//! One thing that the check has to say about a file.

use std::fmt;
use std::sync::Arc;

use easel_canvas::source::Position;
use serde::Serialize;

use crate::code::Code;

/// One thing that the check has to say about a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What kind of thing: stable, and explained by [`Code::rule`].
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// Where in the file; `None` for a workflow that has no file, or where nothing in it is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The id of the node that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Arc<str>>,
    /// One sentence that says what is the case. It names the nodes.
    pub message: String,
    /// More about it: what follows, what else there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do about it, as one sentence.
    pub fix: String,
}

/// The sentence alone.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The workflow must not run.
    Error,
    /// It runs; a node fails if it is reached, or does something that nobody may have meant.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A place in a file as people and editors count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// Bytes before it.
    pub offset: usize,
    /// Bytes it covers; 0 for a point.
    pub len: usize,
}

impl From<Position> for Place {
    fn from(at: Position) -> Place {
        Place {
            line: at.line,
            column: at.column,
            offset: at.offset,
            len: at.len,
        }
    }
}

/// What the check has to say about one file, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The file as the user named it.
    pub file: String,
    /// What there is to say.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// How many there are of that severity.
    pub fn count(&self, severity: Severity) -> usize {
        let diagnostics = self.diagnostics.iter();
        diagnostics.filter(|d| d.severity == severity).count()
    }

    /// Whether the workflow may run.
    pub fn passes(&self) -> bool {
        self.count(Severity::Error) == 0
    }
}

/// A phrase as a sentence of its own.
pub(crate) fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let first = letters.next().map(char::to_uppercase);
    let mut sentence: String = first.into_iter().flatten().chain(letters).collect();
    if !sentence.ends_with(['.', '?', '!']) {
        sentence.push('.');
    }
    sentence
}
