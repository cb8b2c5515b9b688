//! Nodes, edges and references, as compiling found them.

use std::sync::Arc;

use easel_canvas::pointer::Pointer;
use easel_core::compile::Finding;
use easel_core::reference::Root;

use crate::code::Code;
use crate::findings::{Findings, Found};
use crate::spots::Spot;

/// Reports everything that compiling found.
pub(crate) fn report(findings: &mut Findings<'_>) {
    for finding in findings.canvas.structure {
        let found = found(findings, finding);
        findings.add(found);
    }
}

/// Reports what forbids a run.
pub(crate) fn report_errors(findings: &mut Findings<'_>) {
    for finding in findings.canvas.structure.iter().filter(|f| f.refuses()) {
        let found = found(findings, finding);
        findings.add(found);
    }
}

fn found(findings: &mut Findings<'_>, finding: &Finding) -> Found {
    match finding {
        Finding::NoEntry => Found::new(
            Code::NoEntry,
            "The canvas has no node at which a run could start.",
        )
        .at(Spot::whole(Pointer::root().key("components"))),
        Finding::DuplicateId { node } => about(
            findings,
            Code::DuplicateId,
            node,
            format!("Two nodes have the id `{node}`."),
        ),
        Finding::DanglingEdge { node, target } => Found::new(
            Code::EdgeToNothing,
            format!("`{node}` leads to `{target}`, which does not exist."),
        )
        .node(node)
        .at(findings.spots.edge(node, target))
        .fix(format!(
            "Remove `{target}` from the edges of `{node}`, or add the node."
        )),
        Finding::NoSuchContainer { node, parent } => {
            let exists = findings.spots.components().contains_key(parent);
            let what = match exists {
                true => "has no body",
                false => "does not exist",
            };
            let message =
                format!("`{node}` is said to be in the body of `{parent}`, which {what}.");
            Found::new(Code::NoSuchContainer, message)
                .node(node)
                .at(Spot::whole(Pointer::component(node).key("parent_id")))
        }
        Finding::EdgeAcrossScopes { node, target } => {
            let detail = format!("{}, {}.", home(findings, node), home(findings, target));
            let message =
                format!("The edge from `{node}` to `{target}` crosses the border of a body.");
            Found::new(Code::EdgeAcrossBodies, message)
                .node(node)
                .at(findings.spots.edge(node, target))
                .detail(detail)
        }
        Finding::ReferenceAcrossScopes { node, reference } => {
            let message = format!("`{node}` reads `{reference}` out of a body that it is not in.");
            Found::new(Code::ReferenceAcrossBodies, message)
                .node(node)
                .at(findings.spots.reference(node, reference))
        }
        Finding::EndlessCircle { nodes } => {
            let circle = nodes.iter().chain(nodes.first());
            let circle: Vec<String> = circle.map(|id| format!("`{id}`")).collect();
            let message = format!("Nothing can leave the circle {}.", circle.join(" → "));
            first_of(findings, Code::EndlessCircle, nodes, message)
        }
        Finding::ReferenceCircle { nodes } => {
            let message = match nodes.as_slice() {
                [a, b] => format!(
                    "`{a}` and `{b}` each wait for an output of the other, so neither can start."
                ),
                nodes => format!(
                    "{} wait for outputs of one another in a circle, so none can start.",
                    listed(nodes)
                ),
            };
            first_of(findings, Code::ReferenceCircle, nodes, message)
        }
        Finding::SelfEdge { node } => Found::new(
            Code::SelfEdge,
            format!("`{node}` leads to itself; the edge is left out."),
        )
        .node(node)
        .at(findings.spots.edge(node, node)),
        Finding::BackEdge { node, target } => {
            let message = format!(
                "The edge from `{node}` leads back to `{target}`: what lies between runs again when it is taken."
            );
            Found::new(Code::BackEdge, message)
                .node(node)
                .at(findings.spots.edge(node, target))
        }
        Finding::OrderingLeftOut { node, source } => ordering_left_out(findings, node, source),
        Finding::UnknownReference {
            node,
            reference,
            why,
        } => {
            let (why, rest) = why.split_once("; ").unwrap_or((why, ""));
            let message = format!("`{node}` refers to `{reference}`, but {why}.");
            let found = Found::new(Code::UnknownReference, message)
                .node(node)
                .at(findings.spots.reference(node, reference));
            match rest {
                "" => found,
                rest => found.detail(format!("In the canvas {rest}.")),
            }
        }
        Finding::Unreachable { node } => {
            let message = format!("No edge leads to `{node}`, so it never runs.");
            about(findings, Code::UnreachableNode, node, message)
        }
        Finding::EmptyBody { node } => {
            let message = format!("Nothing is in the body of `{node}`, so it does nothing.");
            about(findings, Code::EmptyBody, node, message)
        }
        Finding::ExitOutsideLoop { node } => {
            let message = format!("`{node}` is in no loop that it could end, so it does nothing.");
            about(findings, Code::ExitOutsideLoop, node, message)
        }
        Finding::NoPasses { node } => {
            let message = format!("The loop `{node}` makes no pass: its maximum is 0 or missing.");
            Found::new(Code::LoopWithoutPasses, message)
                .node(node)
                .at(findings.spots.param(node, "maximum_loop_count"))
        }
        Finding::NoEnd { node } => {
            let message = format!("Only its maximum ends the loop `{node}`.");
            about(findings, Code::LoopWithoutEnd, node, message)
        }
    }
}

fn about(findings: &Findings<'_>, code: Code, node: &Arc<str>, message: String) -> Found {
    Found::new(code, message)
        .node(node)
        .at(findings.spots.node(node))
}

fn first_of(findings: &Findings<'_>, code: Code, nodes: &[Arc<str>], message: String) -> Found {
    match nodes.first() {
        Some(node) => about(findings, code, node, message),
        None => Found::new(code, message),
    }
}

/// Ids in a row: `` `a`, `b` and `c` ``.
pub(crate) fn listed<S: AsRef<str>>(ids: &[S]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("`{}`", id.as_ref())).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Which body a node is in, in words.
fn home(findings: &mut Findings<'_>, id: &Arc<str>) -> String {
    let components = findings.spots.components();
    match components
        .get(id)
        .and_then(|component| component.parent.as_ref())
    {
        Some(parent) => format!("`{id}` is in the body of `{parent}`"),
        None => format!("`{id}` is in no body"),
    }
}

/// A node that would close a circle if it waited: for what it reads, or for who writes a variable.
fn ordering_left_out(findings: &mut Findings<'_>, node: &Arc<str>, source: &Arc<str>) -> Found {
    let workflow = findings.canvas.workflow;
    let reader = findings.node(node).map(|id| &workflow.node(id).draft);
    let reads = reader.and_then(|draft| {
        let of_source = |root: &Root| matches!(root, Root::Output { node, .. } if node == source);
        draft
            .reads
            .iter()
            .find(|reference| of_source(&reference.root))
    });
    let (message, spot) = match reads {
        Some(reference) => (
            format!("`{node}` reads `{reference}`, but `{source}` runs after it."),
            findings.spots.reference(node, &reference.text),
        ),
        None => (
            format!(
                "`{node}` uses a variable that `{source}` writes, but `{source}` runs after it."
            ),
            findings.spots.node(node),
        ),
    };
    Found::new(Code::OrderingLeftOut, message)
        .node(node)
        .at(spot)
        .detail("It does not wait for it, and takes what is there by then.")
}
