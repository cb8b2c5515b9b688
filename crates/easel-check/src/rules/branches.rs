//! Where branches lead.

use std::collections::HashSet;
use std::sync::Arc;

use easel_core::draft::Kind;

use crate::code::Code;
use crate::findings::{Findings, Found};

/// Reports targets that do not exist and targets without an edge.
pub(crate) fn report(findings: &mut Findings<'_>) {
    let canvas = findings.canvas;
    let ids: HashSet<&str> = canvas
        .workflow
        .nodes
        .iter()
        .map(|node| &*node.draft.id)
        .collect();
    let mut edges: Option<HashSet<(Arc<str>, Arc<str>)>> = None;
    for node in &canvas.workflow.nodes {
        let Kind::Branch { targets } = &node.draft.kind else {
            continue;
        };
        let id = &node.draft.id;
        let edges = edges.get_or_insert_with(|| {
            let edges = canvas.document.edges().into_iter();
            edges.map(|edge| (edge.from, edge.to)).collect()
        });
        let mut seen = HashSet::new();
        for target in targets.iter().filter(|target| seen.insert(&***target)) {
            let exists = ids.contains(&**target);
            let has_edge = edges.contains(&(id.clone(), target.clone()));
            let found = match (exists, has_edge) {
                // An edge to nothing is an error and reported as one.
                (_, true) => continue,
                (false, false) => {
                    let message = format!("`{id}` may go on at `{target}`, which does not exist.");
                    Found::new(Code::NoSuchTarget, message)
                }
                (true, false) => {
                    let message =
                        format!("`{id}` may go on at `{target}` without an edge that leads there.");
                    Found::new(Code::TargetWithoutEdge, message)
                }
            };
            let spot = findings.spots.edge(id, target);
            findings.add(found.node(id).at(spot));
        }
    }
}
