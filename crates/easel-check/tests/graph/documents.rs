//! Graphs under check, with a package and a world around them.

use std::sync::Arc;

use easel_catalog::Catalog;
use easel_check::graph::{Callable, CodeProblem, Graph, Signature};
use easel_check::{Diagnostic, SecretUses, Surroundings};
use easel_core::compile::compile;
use easel_graph::document::Document;
use easel_graph::lower::{self, lower};
use easel_graph::source::Format;

/// Functions of a package: `helpers:strict(topic)`, `helpers:free(**kwargs)`, one behind a decorator, one whose file has
/// a relative import.
pub fn helpers(callable: &str) -> Callable {
    let found = |parameters: Option<&[&str]>, takes_any_keyword| {
        let named = |names: &[&str]| names.iter().map(|name| (Arc::from(*name), false)).collect();
        Callable::Found(Signature {
            parameters: parameters.map(named),
            takes_any_keyword,
            problems: Vec::new(),
        })
    };
    match callable {
        "helpers:strict" => found(Some(&["topic"]), false),
        "helpers:free" => found(Some(&[]), true),
        "helpers:hidden" => found(None, false),
        "helpers:relative" => Callable::Found(Signature {
            takes_any_keyword: true,
            problems: vec![CodeProblem {
                file: "helpers.py".into(),
                line: 3,
                cause: "a file that stands alone cannot import `.rules`".to_owned(),
                fix: "Import it by its name, as `import rules`.".to_owned(),
            }],
            ..Signature::default()
        }),
        _ => Callable::Missing {
            why: "helpers.py defines no such name".to_owned(),
            known: vec!["helpers:rate".into(), "helpers:free".into()],
        },
    }
}

/// A place without models, providers and secrets.
pub fn nothing() -> Surroundings<'static> {
    Surroundings {
        model: &|_| Some("no model is configured".to_owned()),
        secret: &|_| false,
    }
}

/// A place that has everything.
pub fn everything() -> Surroundings<'static> {
    Surroundings::default()
}

/// What is known of a graph.
pub struct Checked {
    pub all: Vec<Diagnostic>,
    pub refusals: Vec<Diagnostic>,
    pub secrets: SecretUses,
    /// Whether compiling found something with which nothing must run.
    pub uncompiled: bool,
}

/// Checks a graph with the tools that come with Easel and the package above.
pub fn checked(text: &str, surroundings: &Surroundings<'_>) -> Checked {
    checked_as(Format::Yaml, text, surroundings)
}

pub fn checked_as(format: Format, text: &str, surroundings: &Surroundings<'_>) -> Checked {
    checked_with(Catalog::builtin(), format, text, surroundings)
}

/// Checks a graph with these components.
pub fn checked_with(
    catalog: &Catalog,
    format: Format,
    text: &str,
    surroundings: &Surroundings<'_>,
) -> Checked {
    let document = match Document::read(text.as_bytes(), format) {
        Ok(document) => document,
        Err(error) => {
            let all = vec![easel_check::graph::unreadable(&error)];
            return Checked {
                refusals: all.clone(),
                all,
                secrets: SecretUses::default(),
                uncompiled: false,
            };
        }
    };
    let sidecar = [("stop".into(), true), ("LIMIT".into(), false)];
    let tool = |name: &str| catalog.get(name).map(|table| table.effect);
    let lowered = lower(
        &document,
        &lower::Surroundings {
            tool: &tool,
            sidecar: document.functions.as_ref().map(|_| &sidecar[..]),
            ..lower::Surroundings::none()
        },
    );
    let compiled = compile(lowered.draft);
    let graph = Graph {
        document: &document,
        texts: &lowered.findings,
        structure: &compiled.findings,
        workflow: &compiled.workflow,
        catalog,
        functions: &helpers,
    };
    Checked {
        all: easel_check::graph::check(&graph, surroundings),
        refusals: easel_check::graph::refusals(&graph),
        secrets: easel_check::graph::secret_uses(&graph),
        uncompiled: compiled.findings.iter().any(|found| found.refuses()),
    }
}
