//! Execution of a user's code.

use std::str::FromStr;
use std::time::Duration;

use easel_core::{Object, Value};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Runs a script's `main` away from the host.
pub trait CodeRunner: Send + Sync {
    /// Calls `main` with the arguments. A script that fails is an outcome with an exit code and `stderr`;
    /// an error means that the runner itself failed.
    fn run(&self, request: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>>;
}

/// A script and the arguments of its `main` (`spec/canvas-components §6.2`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeRequest {
    /// The language of the script.
    pub language: Language,
    /// The source; it defines `main` (JavaScript also exports it).
    pub script: String,
    /// Arguments by name.
    pub arguments: Object,
    /// Time allowed.
    pub timeout: Duration,
}

/// A language of code nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// Python 3.
    #[serde(rename = "python")]
    Python,
    /// JavaScript.
    #[serde(rename = "nodejs")]
    JavaScript,
}

impl Language {
    /// The name that runners and records use: `python` or `nodejs`.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::JavaScript => "nodejs",
        }
    }
}

impl FromStr for Language {
    type Err = ToolError;

    /// Reads the names that canvases use: `python`, `python3`, `nodejs`, `javascript`, in any case.
    fn from_str(name: &str) -> Result<Language, ToolError> {
        match name.trim().to_ascii_lowercase().as_str() {
            "python" | "python3" => Ok(Language::Python),
            "nodejs" | "javascript" => Ok(Language::JavaScript),
            _ => Err(ToolError::InvalidRequest {
                what: format!("language \"{name}\""),
                problem: "use python or javascript".into(),
            }),
        }
    }
}

/// What a script did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeOutcome {
    /// What `main` returned; `None` if it came to no return.
    pub result: Option<CodeResult>,
    /// What the script printed.
    pub stdout: String,
    /// What it printed as errors, tracebacks included.
    pub stderr: String,
    /// How it ended: 0 for well.
    pub exit_code: i32,
    /// Files it left to be kept.
    pub artifacts: Vec<Artifact>,
}

/// A returned value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeResult {
    /// The value; a returned `None` or `null` is a value too.
    pub value: Value,
    /// What the runner calls its type; for information.
    #[serde(rename = "type", default)]
    pub type_name: String,
}

/// A file that a script or another tool made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The file name, without folders.
    pub name: String,
    /// Its media type.
    pub mime_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its bytes, in base64.
    pub content_b64: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_known_by_all_their_names() {
        for name in ["python", "Python3", " python "] {
            assert_eq!(name.parse::<Language>(), Ok(Language::Python));
        }
        for name in ["nodejs", "JavaScript"] {
            assert_eq!(name.parse::<Language>(), Ok(Language::JavaScript));
        }
        let refusal = "ruby".parse::<Language>().unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "language \"ruby\" cannot be used: use python or javascript"
        );
    }
}
