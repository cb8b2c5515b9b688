//! Checking a canvas: the rules, in the order in which they are asked.

use easel_canvas::document::Document;
use easel_canvas::error::ReadError;
use easel_canvas::{lower, normalise};
use easel_catalog::Catalog;
use easel_core::{compile, workflow};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, sentence};
use crate::findings::{Findings, Found};
use crate::rules;

/// A canvas that is loaded, and what was found on the way.
#[derive(Clone, Copy)]
pub struct Canvas<'a> {
    /// The document in today's form.
    pub document: &'a Document,
    /// What was rewritten to bring it there.
    pub notes: &'a [normalise::Note],
    /// What lowering found.
    pub parameters: &'a [lower::Finding],
    /// What compiling found.
    pub structure: &'a [compile::Finding],
    /// What compiling gave.
    pub workflow: &'a workflow::Workflow,
    /// The components that it may use.
    pub catalog: &'a Catalog,
}

/// What there is around a workflow where it is going to run.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Why no model answers to an id; `None` if one does. A blank id asks for the default model.
    pub model: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a secret of that name has a value.
    pub secret: &'a dyn Fn(&str) -> bool,
}

impl Default for Surroundings<'_> {
    /// A place that has every model and every secret: nothing is said about them.
    fn default() -> Self {
        Surroundings {
            model: &|_| None,
            secret: &|_| true,
        }
    }
}

/// Everything there is to say about a canvas, in the order of its file.
pub fn check(canvas: &Canvas<'_>, surroundings: &Surroundings<'_>) -> Vec<Diagnostic> {
    let mut findings = Findings::new(canvas);
    rules::structure::report(&mut findings);
    rules::duplicates::report(&mut findings);
    rules::parameters::report(&mut findings);
    rules::wiring::report(&mut findings);
    rules::branches::report(&mut findings);
    rules::missing::report(&mut findings);
    rules::ports::report(&mut findings);
    rules::inputs::report(&mut findings);
    rules::models::report(&mut findings, surroundings);
    rules::secrets::report(&mut findings, surroundings);
    rules::rewrites::report(&mut findings);
    findings.into_diagnostics()
}

/// Why a canvas must not run: the errors among what [`check`] says. Costs next to nothing where there are none.
pub fn refusals(canvas: &Canvas<'_>) -> Vec<Diagnostic> {
    let mut findings = Findings::new(canvas);
    rules::structure::report_errors(&mut findings);
    rules::duplicates::report_errors(&mut findings);
    rules::parameters::report_errors(&mut findings);
    findings.into_diagnostics()
}

/// A file that cannot be read, as a diagnostic.
pub fn unreadable(error: &ReadError) -> Diagnostic {
    let found = Found::new(Code::NotReadable, sentence(&error.to_string()));
    found.diagnostic(error.position().map(Into::into))
}
