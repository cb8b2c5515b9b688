//! Checking a graph: the rules, in the order in which they are asked.

mod capability;
mod context;
mod functions;
mod inputs;
mod loading;
mod models;
mod position;
mod schema;
mod secrets;
mod texts;
mod tools;
mod wiring;

use std::sync::Arc;

use easel_catalog::Catalog;
use easel_core::{compile, workflow};
use easel_graph::document::Document;
use easel_graph::error::ReadError;
use easel_graph::lower;
use easel_graph::package::PackageError;

use crate::canvas::Surroundings;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Severity, sentence};
use crate::findings::Found;
use crate::rules::secrets::SecretUses;
use context::{Context, Findings};

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
    /// What is known of a function of its package, by the text of `callable`. [`unread`] where there is no package.
    pub functions: &'a dyn Fn(&str) -> Callable,
}

/// What is known of a function, of reading its file and running nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callable {
    /// Nothing: its file was not read.
    Unread,
    /// There is none of that name.
    Missing {
        /// Why, as a phrase: `helpers.py defines no such name`.
        why: String,
        /// The names that could be meant.
        known: Vec<Arc<str>>,
    },
    /// There is one.
    Found(Signature),
}

/// How a function can be called, and what may keep it from running.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The parameters that can be given by name, in order, each with whether it has a default. `None`: they cannot be told
    /// from the text, as of a class or a function behind a decorator.
    pub parameters: Option<Vec<(Arc<str>, bool)>>,
    /// True if it has `**kwargs`, so that no keyword is one too many.
    pub takes_any_keyword: bool,
    /// What in its files may keep it from running.
    pub problems: Vec<CodeProblem>,
}

/// Something in a Python file that does not work where it would run: a relative import, an interpreter that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CodeProblem {
    /// The file, relative to the package.
    pub file: Arc<str>,
    /// The line, counted from 1; 0 if it is about the file as a whole.
    pub line: usize,
    /// What is the case, as a phrase.
    pub cause: String,
    /// What to do, as one sentence.
    pub fix: String,
}

/// Knows of no function: for a graph by itself.
pub fn unread(_callable: &str) -> Callable {
    Callable::Unread
}

/// Everything there is to say about a graph, in the order of its file; what has no place comes first.
pub fn check(graph: &Graph<'_>, surroundings: &Surroundings<'_>) -> Vec<Diagnostic> {
    let context = Context::new(graph);
    let mut findings = Findings::default();
    errors(&context, &mut findings);
    wiring::report(&context, &mut findings);
    models::report(&context, surroundings, &mut findings);
    capability::report(&context, &mut findings);
    tools::report(&context, &mut findings);
    functions::report(&context, &mut findings);
    secrets::report(&context, surroundings, &mut findings);
    findings.into_diagnostics()
}

/// Why a graph must not run: the errors among what [`check`] says.
pub fn refusals(graph: &Graph<'_>) -> Vec<Diagnostic> {
    let context = Context::new(graph);
    let mut findings = Findings::default();
    errors(&context, &mut findings);
    let mut refusals = findings.into_diagnostics();
    refusals.retain(|found| found.severity == Severity::Error);
    refusals
}

/// The rules that can refuse a run.
fn errors(context: &Context<'_>, findings: &mut Findings) {
    loading::report(context, findings);
    texts::report(context, findings);
    wiring::report_errors(context, findings);
    inputs::report(context, findings);
    models::report_errors(context, findings);
    tools::report_errors(context, findings);
    functions::report_errors(context, findings);
}

/// What a graph does with secrets: those that a node both declares and names in an argument, and credentials of tools that
/// are written out.
pub fn secret_uses(graph: &Graph<'_>) -> SecretUses {
    secrets::uses(&Context::new(graph))
}

/// A file that cannot be read, as a diagnostic.
pub fn unreadable(error: &ReadError) -> Diagnostic {
    let found = Found::new(Code::NotReadable, sentence(&error.to_string()));
    let fix = "Mend the place that is named; a graph is YAML or JSON with `name` and `nodes`.";
    found
        .fix(fix)
        .diagnostic(error.position().and_then(position::of))
}

/// What is no package, as a diagnostic.
pub fn no_package(error: &PackageError) -> Diagnostic {
    if let PackageError::Graph { error, .. } = error {
        return unreadable(error);
    }
    let found = Found::new(Code::NotReadable, sentence(&error.to_string()));
    let fix =
        "A package is a folder or an archive with `workflow.yaml` and the graph that it names.";
    found.fix(fix).diagnostic(None)
}
