//! References to outputs that their nodes do not have.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use easel_catalog::common::RESERVED_PORTS;
use easel_catalog::nearest;
use easel_core::Value;
use easel_core::reference::Root;
use easel_core::workflow::Workflow;

use super::structure::listed;
use crate::code::Code;
use crate::findings::{Findings, Found};

/// Reports every such reference once for each node that reads it.
pub(crate) fn report(findings: &mut Findings<'_>) {
    let canvas = findings.canvas;
    let workflow = canvas.workflow;
    let nodes = workflow.nodes.iter().map(|node| (&*node.draft.id, node));
    let nodes: HashMap<&str, _> = nodes.collect();
    let assigned = assigned(workflow);
    let mut ports: HashMap<&str, Option<Vec<Arc<str>>>> = HashMap::new();
    for node in &workflow.nodes {
        let id = &node.draft.id;
        for reference in &node.draft.reads {
            let Root::Output { node: source, port } = &reference.root else {
                continue;
            };
            let Some(draft) = nodes.get(&**source).map(|node| &node.draft) else {
                continue;
            };
            let known = ports.entry(source).or_insert_with(|| {
                let table = canvas.catalog.get(&draft.component)?;
                let params = draft.params.as_object()?;
                let mut ports = table.ports_of(params);
                let declared = params.get("outputs").and_then(Value::as_object);
                ports.extend(declared.into_iter().flatten().map(|(name, _)| name.clone()));
                (!ports.is_empty()).then_some(ports)
            });
            let Some(known) = known else {
                continue;
            };
            let has = port.is_empty()
                || known.contains(port)
                || RESERVED_PORTS.contains(&&**port)
                || assigned.contains(&(&**source, &**port));
            if has {
                continue;
            }
            let message = format!(
                "`{id}` reads `{}`, but `{source}` has no output `{port}`.",
                reference.text
            );
            let mut found = Found::new(Code::UnknownPort, message)
                .node(id)
                .at(findings.spots.reference(id, &reference.text))
                .detail(format!("It has {}.", listed(known)));
            if let Some(like) = nearest(port, known.iter().map(|port| &**port)) {
                found = found.fix(format!("Did you mean `{source}@{like}`?"));
            }
            findings.add(found);
        }
    }
}

/// Outputs that some node assigns to.
fn assigned(workflow: &Workflow) -> HashSet<(&str, &str)> {
    let writes = workflow.nodes.iter().flat_map(|node| &node.draft.writes);
    let output = writes.filter_map(|reference| match &reference.root {
        Root::Output { node, port } => Some((&**node, &**port)),
        Root::Variable(_) | Root::Pass(_) | Root::PassOf { .. } => None,
    });
    output.collect()
}
