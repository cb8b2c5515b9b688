//! From a graph to a workflow: nodes and edges, scopes for bodies, names to references, texts to templates.
//!
//! | in the graph | in the workflow |
//! |---|---|
//! | `depends_on` | an edge; to the node's `on_error` handler an error edge |
//! | `when`, `disabled` | the node's guard |
//! | `router` | a branch. What depends on it and is no target of it is always chosen |
//! | `map`, `subgraph`, `loop` | passes over a list, a body that runs once, a body that runs until it is told |
//! | `input` | a form whose fields the run's inputs, then variables, may answer |
//! | `writes`, `accumulate` | variables called `vars.…` |
//! | the run's inputs | one variable, `inputs`, an object |
//! | the rest | tasks |
//!
//! With `compat: neurosurfer-2.0`, some accidents of the old engine are kept (spec/graph-engine §18): a handled failure
//! still fails its scope (Q1), a guard that fails prunes (Q7), a route is the first label that is part of the answer (Q13),
//! a body gives the last node of the old order (Q16), a dependency that did not run is shown as `None` (Q30). Whom a router
//! or an error route prunes is not among them (Q20): there is one rule for joins.
//!
//! A node that cannot be lowered is broken: it fails when it is reached, and a [`Finding`] says why.

pub mod finding;
mod kinds;
pub mod names;
mod reader;
mod results;

use std::sync::Arc;

use easel_core::draft::{
    Assignments, Draft, EffectClass, Entry, Guard, NodeDraft, OnFailure, Otherwise, Policy,
};
use easel_core::event::Fault;
use easel_core::{Object, Value};

use crate::document::{Document, Node};
use crate::kind::Kind;
pub use finding::{Finding, FindingKind};
use names::{INPUTS, Level, Names, VALUE};
use reader::Reader;
pub use results::Results;

/// Seconds that one attempt may take, where the file says nothing (design.md §3).
const MODEL_S: f64 = 600.0;
const AGENT_S: f64 = 1_200.0;
const CODE_S: f64 = 60.0;

/// What is around a graph that it may name.
pub struct Surroundings<'a> {
    /// What a tool of that name does to the outside. `None`: there is no such tool.
    pub tool: &'a dyn Fn(&str) -> Option<EffectClass>,
    /// The JSON Schema of a class of the package, or why there is none.
    pub schema: &'a dyn Fn(&str) -> Result<Value, String>,
    /// The names that the sidecar defines, each with whether it can be called. `None`: there is no sidecar.
    pub sidecar: Option<&'a [(Arc<str>, bool)]>,
}

impl Surroundings<'_> {
    /// A graph by itself: no tools, no package.
    pub fn none() -> Surroundings<'static> {
        Surroundings {
            tool: &|_| None,
            schema: &|_| Err("there is no package to find it in".to_owned()),
            sidecar: None,
        }
    }
}

/// A lowered graph.
#[derive(Debug)]
pub struct Lowered {
    /// The workflow as the compiler takes it.
    pub draft: Draft,
    /// What a run gives out.
    pub results: Results,
    /// What was found in its texts, in the order of the nodes.
    pub findings: Vec<Finding>,
    /// The ids that nodes of bodies have in the workflow where they differ from those in the file: `(theirs, the file's)`.
    pub renamed: Vec<(Arc<str>, Arc<str>)>,
}

/// Lowers a graph. One with errors lowers too: what they are about is left out or broken.
pub fn lower(document: &Document, surroundings: &Surroundings<'_>) -> Lowered {
    let names = Names::of(document);
    let mut findings = Vec::new();
    let mut drafts = Vec::new();
    let mut renamed = Vec::new();
    for (at, level) in names.levels.iter().enumerate() {
        for place in 0..level.nodes.len() {
            let (node, id) = &level.nodes[place];
            if **id != **node.id {
                renamed.push((id.clone(), (*node.id).clone()));
            }
            let lowering = Lowering {
                document,
                names: &names,
                surroundings,
                level: at,
                place,
            };
            drafts.push(lowering.node(&mut findings));
        }
    }
    let inputs = (INPUTS.into(), Some(Value::from(Object::new())));
    let variables = names.variables.iter();
    let variables = variables.map(|name| (names::variable(name).text, None));
    Lowered {
        results: Results::of(document, &names),
        draft: Draft {
            entry: Entry::Sources,
            nodes: drafts,
            variables: std::iter::once(inputs).chain(variables).collect(),
            on_failure: match *document.fail_fast {
                true => OnFailure::FailScope,
                false => OnFailure::FailEdges,
            },
            assignments: Assignments::Private,
        },
        findings,
        renamed,
    }
}

/// One node on its way.
struct Lowering<'a> {
    document: &'a Document,
    names: &'a Names<'a>,
    surroundings: &'a Surroundings<'a>,
    /// Its level, and its place in it.
    level: usize,
    place: usize,
}

impl<'a> Lowering<'a> {
    fn here(&self) -> &'a Level<'a> {
        &self.names.levels[self.level]
    }

    fn it(&self) -> &'a Node {
        self.here().nodes[self.place].0
    }

    fn id(&self) -> &'a Arc<str> {
        &self.here().nodes[self.place].1
    }

    /// The nodes that depend on it, in the order of the text, and whether each is the handler of its errors.
    fn dependents(&self) -> impl Iterator<Item = (&'a Arc<str>, bool)> {
        let handler = self.it().on_error.as_ref();
        self.here().dependents(self.place).map(move |(node, id)| {
            let handles = handler.is_some_and(|handler| **handler == *node.id);
            (id, handles)
        })
    }

    fn node(&self, findings: &mut Vec<Finding>) -> NodeDraft {
        let node = self.it();
        let mut reader = Reader::new(self.names, self.level, node);
        let guard = match &node.when {
            _ if *node.disabled => Guard::Disabled,
            Some(when) => match reader.expression(&node.key("when"), when) {
                Some(when) if self.document.is_compat() => Guard::WhenSure(when),
                Some(when) => Guard::When(when),
                None => Guard::None,
            },
            None => Guard::None,
        };
        let made = self.kind(&mut reader);
        let (handlers, others): (Vec<_>, Vec<_>) =
            self.dependents().partition(|&(_, handles)| handles);
        let ids = |nodes: Vec<(&Arc<str>, bool)>| -> Vec<Arc<str>> {
            nodes.into_iter().map(|(id, _)| id.clone()).collect()
        };
        if let Some(name) = &node.writes {
            reader.publishes = Some(reader.write(names::variable(name)));
        }
        // A name that cannot be read as an expression would otherwise run as if it were not there.
        let unread = reader
            .findings
            .iter()
            .find_map(|finding| match &finding.kind {
                FindingKind::Syntax(error) => Some((finding.place.last_key(), error.to_string())),
                _ => None,
            });
        let unread = unread.map(|(key, error)| {
            let message = format!("\"{}\" cannot run: its `{key}` {error}", node.id);
            Fault::new("bad_expression", message)
        });
        findings.append(&mut reader.findings);
        NodeDraft {
            id: self.id().clone(),
            name: node.name.as_deref().unwrap_or(&node.id).clone(),
            component: node.kind.name().into(),
            kind: made.kind,
            guard,
            parent: self.here().around.and_then(|(outer, container)| {
                let outer: &Level<'_> = &self.names.levels[outer];
                Some(outer.find(&container.id)?.1.clone())
            }),
            downstream: ids(others),
            on_error: ids(handlers),
            reads: reader.reads.into_iter().collect(),
            writes: reader.writes,
            params: Value::from(made.params),
            fields: reader.fields,
            primary: VALUE.into(),
            publishes: reader.publishes,
            policy: self.policy(),
            drains: false,
            streams: false,
            effect: made.effect,
            idempotent: false,
            timeout_s: self.timeout_s(),
            broken: made.broken.or(unread),
        }
    }

    fn policy(&self) -> Policy {
        let node = self.it();
        let retries = node.policy.retries.map_or(0, |retries| *retries);
        let delay_s = node.policy.delay_s.map_or(0.0, |delay| *delay);
        Policy {
            attempts: retries.saturating_add(1),
            delay_ms: (delay_s * 1_000.0) as u64,
            otherwise: match node.on_error {
                Some(_) if self.document.is_compat() => Otherwise::GotoAndFail,
                Some(_) => Otherwise::Goto,
                None => Otherwise::Fail,
            },
        }
    }

    fn timeout_s(&self) -> Option<f64> {
        let node = self.it();
        let usual = match *node.kind {
            Kind::Base | Kind::Router => Some(MODEL_S),
            Kind::React => Some(AGENT_S),
            Kind::Function | Kind::Python | Kind::Tool => Some(CODE_S),
            // What a loop asks after each pass; its body takes as long as it takes.
            Kind::Loop => Some(MODEL_S),
            Kind::Map | Kind::Subgraph | Kind::Input | Kind::Output => None,
        };
        match &node.policy.timeout_s {
            Some(seconds) => (**seconds > 0.0).then_some(**seconds),
            None => usual,
        }
    }
}

#[cfg(test)]
mod tests;
