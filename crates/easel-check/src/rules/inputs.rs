//! Inputs of a canvas that nothing reads.

use std::collections::HashSet;

use easel_core::reference::Root;
use easel_core::{Object, Value};

use crate::code::Code;
use crate::findings::{Findings, Found};

/// The component that declares a canvas's inputs.
const BEGIN: &str = "Begin";

/// Reports the declared inputs of Begin that no node reads.
pub(crate) fn report(findings: &mut Findings<'_>) {
    let workflow = findings.canvas.workflow;
    let begins = workflow
        .nodes
        .iter()
        .filter(|node| *node.draft.component == *BEGIN);
    let references = workflow.nodes.iter().flat_map(|node| &node.draft.reads);
    let read: HashSet<(&str, &str)> = references
        .filter_map(|reference| match &reference.root {
            Root::Output { node, port } => Some((&**node, &**port)),
            Root::Variable(_) | Root::Pass(_) | Root::PassOf { .. } => None,
        })
        .collect();
    for begin in begins {
        let id = &begin.draft.id;
        // Somebody takes all of them at once.
        if read.contains(&(&**id, "")) {
            continue;
        }
        let declared = begin.draft.params.get("inputs").and_then(Value::as_object);
        for name in declared.into_iter().flat_map(Object::keys) {
            if read.contains(&(&**id, &**name)) {
                continue;
            }
            let message = format!("Nothing reads the input `{name}`.");
            let spot = findings.spots.param(id, &format!("inputs.{name}"));
            let fix = format!("Read it as `{{{id}@{name}}}`, or remove it.");
            findings.add(
                Found::new(Code::UnusedInput, message)
                    .node(id)
                    .at(spot)
                    .fix(fix),
            );
        }
    }
}
