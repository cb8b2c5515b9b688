//! What the check says about a workflow, as the API shows it.

use easel_runtime::Requirements;
use easel_runtime::check::{Diagnostic, Severity};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the check says about a workflow.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Validation {
    /// Whether it may run.
    pub ok: bool,
    /// Why it must not.
    pub errors: Vec<Issue>,
    /// What it asks for and does not find here. It is kept all the same.
    pub gaps: Vec<Issue>,
    /// What fails if it is reached, or may not be meant.
    pub warnings: Vec<Issue>,
    /// What is worth knowing.
    pub infos: Vec<Issue>,
}

/// One thing that the check has to say.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Issue {
    /// A stable word for programs; `easel explain` explains it.
    pub kind: String,
    /// One sentence.
    pub message: String,
    /// The node that it is about.
    pub node_id: Option<String>,
    /// What to do about it.
    pub suggestion: Option<String>,
    /// What is missing: the name of a secret, a model, a tool, a function.
    pub subject: Option<String>,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The line in the file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl Validation {
    /// What the check said.
    pub fn of(diagnostics: &[Diagnostic]) -> Validation {
        let of = |severity: Severity| {
            let some = diagnostics.iter().filter(|d| d.severity == severity);
            some.map(issue).collect()
        };
        let errors: Vec<Issue> = of(Severity::Error);
        Validation {
            ok: errors.is_empty(),
            errors,
            gaps: Vec::new(),
            warnings: of(Severity::Warning),
            infos: of(Severity::Info),
        }
    }

    /// The same, with what is missing here.
    pub fn with_gaps(self, requirements: &Requirements) -> Validation {
        let missing = requirements.all().filter(|(_, one)| !one.is_met());
        let gap = |(kind, one): (&'static str, &easel_runtime::Requirement)| Issue {
            kind: kind.to_owned(),
            message: match &one.detail {
                Some(detail) => format!("the {kind} `{}` is missing: {detail}", one.name),
                None => format!("the {kind} `{}` is missing", one.name),
            },
            node_id: one.nodes.first().cloned(),
            suggestion: None,
            subject: Some(one.name.clone()),
            detail: None,
            line: None,
            column: None,
        };
        Validation {
            gaps: missing.map(gap).collect(),
            ..self
        }
    }

    /// The first error, as one sentence.
    pub fn first_error(&self) -> Option<&str> {
        self.errors.first().map(|issue| &*issue.message)
    }
}

fn issue(found: &Diagnostic) -> Issue {
    Issue {
        kind: found.code.to_string(),
        message: found.message.clone(),
        node_id: found.node.as_ref().map(|node| node.to_string()),
        suggestion: Some(found.fix.clone()).filter(|fix| !fix.is_empty()),
        subject: None,
        detail: found.detail.clone(),
        line: found.place.map(|place| place.line),
        column: found.place.map(|place| place.column),
    }
}
