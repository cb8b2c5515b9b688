//! From a [`Draft`] to a [`Workflow`]: names become numbers, references slots, circles implicit loops.
//!
//! Compiling always gives a workflow, so that an unfinished one can be shown; what is wrong with it stands in the
//! [`Finding`]s. A workflow with a finding that [refuses](Finding::refuses) must not be run.

mod circles;
mod finding;
mod orderings;
mod scopes;
mod slots;
#[cfg(test)]
mod tests;

pub use finding::Finding;

use std::collections::HashMap;
use std::sync::Arc;

use crate::draft::Draft;
use crate::workflow::Workflow;

/// A workflow and what was found while it was compiled, in file order of the nodes concerned.
#[derive(Debug)]
pub struct Compiled {
    /// The workflow.
    pub workflow: Workflow,
    /// What is wrong or doubtful about it.
    pub findings: Vec<Finding>,
}

/// Compiles a draft. Takes time in proportion to nodes, edges and references.
pub fn compile(draft: Draft) -> Compiled {
    let mut findings = Vec::new();
    let mut workflow = scopes::lay_out(draft, &mut findings);
    slots::resolve(&mut workflow, &mut findings);
    orderings::add(&mut workflow, &mut findings);
    in_file_order(&workflow, &mut findings);
    Compiled { workflow, findings }
}

fn in_file_order(workflow: &Workflow, findings: &mut [Finding]) {
    let ids = workflow.nodes.iter().map(|node| &node.draft.id);
    let places: HashMap<&Arc<str>, usize> = ids.zip(0..).collect();
    findings.sort_by_key(|finding| finding.node().and_then(|id| places.get(id)).copied());
}
