//! Checking a graph: the rules, in the order in which they are asked.

use easel_catalog::Catalog;
use easel_core::draft::Field;
use easel_core::{compile, workflow};
use easel_graph::document::Document;
use easel_graph::error::ReadError;
use easel_graph::finding::{self, Finding};
use easel_graph::lower;
use easel_graph::package::PackageError;

use crate::canvas::Surroundings;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place, Severity, sentence};
use crate::rules::secrets::{SecretUse, SecretUses};

/// A graph that is loaded, and what was found on the way.
#[derive(Clone, Copy)]
pub struct Graph<'a> {
    /// The document.
    pub document: &'a Document,
    /// What lowering found in its texts.
    pub texts: &'a [lower::Finding],
    /// What compiling found.
    pub structure: &'a [compile::Finding],
    /// What compiling gave.
    pub workflow: &'a workflow::Workflow,
    /// The components that are there, among them the tools.
    pub catalog: &'a Catalog,
}

/// Everything there is to say about a graph, in the order of its file.
pub fn check(graph: &Graph<'_>, _surroundings: &Surroundings<'_>) -> Vec<Diagnostic> {
    graph.document.findings().iter().map(of_document).collect()
}

/// Why a graph must not run: the errors among what [`check`] says.
pub fn refusals(graph: &Graph<'_>) -> Vec<Diagnostic> {
    graph.document.errors().map(of_document).collect()
}

/// The secrets that a graph's tools are given: those that a node both declares and names in an argument.
pub fn secret_uses(graph: &Graph<'_>) -> SecretUses {
    let nodes = graph.workflow.nodes.iter().map(|node| &node.draft);
    let uses = nodes.flat_map(|draft| {
        draft.fields.iter().flat_map(|(path, field)| {
            let names = match field {
                Field::Arguments(arguments) => arguments.secrets().cloned().collect(),
                _ => Vec::new(),
            };
            names.into_iter().map(|name| SecretUse {
                name,
                node: draft.id.clone(),
                path: path.to_string(),
            })
        })
    });
    SecretUses::asking(uses.collect())
}

/// A file that cannot be read, as a diagnostic.
pub fn unreadable(error: &ReadError) -> Diagnostic {
    Diagnostic {
        code: Code::NotReadable,
        severity: Severity::Error,
        place: None,
        node: None,
        message: sentence(&error.to_string()),
        detail: None,
        fix: String::new(),
    }
}

/// What is no package, as a diagnostic.
pub fn no_package(error: &PackageError) -> Diagnostic {
    if let PackageError::Graph { error, .. } = error {
        return unreadable(error);
    }
    Diagnostic {
        code: Code::NotReadable,
        severity: Severity::Error,
        place: None,
        node: None,
        message: sentence(&error.to_string()),
        detail: None,
        fix: String::new(),
    }
}

fn of_document(finding: &Finding) -> Diagnostic {
    Diagnostic {
        code: Code::NotReadable,
        severity: match finding.severity {
            finding::Severity::Error => Severity::Error,
            finding::Severity::Warning => Severity::Warning,
            finding::Severity::Info => Severity::Info,
        },
        place: (finding.at.line > 0).then_some(Place {
            line: finding.at.line,
            column: finding.at.column,
            offset: finding.at.offset,
            len: finding.at.len,
        }),
        node: finding.node.clone(),
        message: finding.cause.clone(),
        detail: None,
        fix: finding.fix.clone(),
    }
}
