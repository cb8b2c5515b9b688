//! References that may be missing on some path, and targets that run whatever a branch chooses.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use easel_catalog::common::FILES_PORT;
use easel_core::bind::ReadId;
use easel_core::condition::Operator;
use easel_core::draft::{Field, Kind};
use easel_core::template::Piece;
use easel_core::workflow::{Node, NodeId, ScopeId, Slot, Workflow};

use super::flow::{Flow, Point};
use crate::code::Code;
use crate::findings::{Findings, Found};

/// The component that takes the first of several values that is there.
const AGGREGATOR: &str = "VariableAggregator";

/// The port that is there only after a failure: who reads it knows.
const ERROR_PORT: &str = "_ERROR";

/// One node that reads another of its scope, or of a body in it.
struct Read<'w> {
    source: Point,
    reader: NodeId,
    /// What the file says.
    text: &'w Arc<str>,
}

/// Reports both, scope by scope.
pub(crate) fn report(findings: &mut Findings<'_>) {
    let canvas = findings.canvas;
    let workflow = canvas.workflow;
    let ids = findings.nodes().clone();
    let reads = reads(workflow);
    for (at, scope) in workflow.scopes.iter().enumerate() {
        let reads = reads.get(&at);
        let branches = scope
            .members
            .iter()
            .any(|&member| chooses(workflow.node(member)));
        let entered = scope
            .container
            .is_some_and(|container| workflow.node(container).implicit);
        let may_miss = branches || (entered && reads.is_some());
        if !may_miss {
            // Everything that is reached always runs.
            continue;
        }
        let flow = Flow::new(&canvas, &ids, scope);
        for (&reader, reads) in reads.into_iter().flatten() {
            maybe_missing(findings, &flow, reader, reads);
        }
        runs_anyway(findings, &flow, &scope.members);
    }
}

fn chooses(node: &Node) -> bool {
    let goto = !node.draft.on_error.is_empty();
    goto || node.implicit || matches!(node.draft.kind, Kind::Branch { .. })
}

/// Who reads whom: by scope, then by the member that reads or holds the reader, in file order.
fn reads(workflow: &Workflow) -> BTreeMap<usize, BTreeMap<Point, Vec<Read<'_>>>> {
    let mut all: BTreeMap<usize, BTreeMap<Point, Vec<Read<'_>>>> = BTreeMap::new();
    for (at, node) in workflow.nodes.iter().enumerate() {
        if *node.draft.component == *AGGREGATOR || node.reads.is_empty() {
            continue;
        }
        let tolerant = tolerant(node);
        let holders = holders(workflow, node);
        for (read, (slot, reference)) in node.reads.iter().zip(&node.draft.reads).enumerate() {
            let Slot::Port { place, port, .. } = slot else {
                continue;
            };
            // What was uploaded is read beside its field, of which it is said already.
            let beside = **port == *FILES_PORT;
            if **port == *ERROR_PORT || beside || tolerant.contains(&ReadId(read as u32)) {
                continue;
            }
            let source = place.down.first().copied().unwrap_or(place.member);
            let holder = holders.iter().find(|(_, depth, _)| *depth == place.depth);
            if let Some(&(scope, _, reader)) = holder.filter(|(_, _, reader)| *reader != source) {
                let reads = all
                    .entry(scope.0 as usize)
                    .or_default()
                    .entry(reader)
                    .or_default();
                reads.push(Read {
                    source,
                    reader: NodeId(at as u32),
                    text: &reference.text,
                });
            }
        }
    }
    all
}

/// The member of each scope around a node that holds it, with the scope's depth, innermost first.
fn holders(workflow: &Workflow, node: &Node) -> Vec<(ScopeId, u32, Point)> {
    let mut holders = Vec::new();
    let (mut scope, mut local) = (node.scope, node.local);
    while let Some(here) = workflow.scopes.get(scope.0 as usize) {
        holders.push((scope, here.depth, local));
        let Some(container) = here.container else {
            break;
        };
        let container = workflow.node(container);
        (scope, local) = (container.scope, container.local);
    }
    holders
}

/// The reads of a node that expect a value to be missing, wherever else it uses them: those that it tests for emptiness,
/// and those in Jinja.
fn tolerant(node: &Node) -> HashSet<ReadId> {
    let mut asked = HashSet::new();
    for (_, field) in &node.draft.fields {
        match field {
            Field::Template(template) => {
                asked.extend(template.pieces.iter().filter_map(|piece| match piece {
                    Piece::Name(read) => Some(*read),
                    Piece::Read(_) | Piece::Text(_) => None,
                }))
            }
            Field::Condition(condition) => {
                let empty = |operator| matches!(operator, Operator::Empty | Operator::NotEmpty);
                let tests = condition.tests.iter().filter(|test| empty(test.operator));
                asked.extend(tests.map(|test| test.left));
            }
            Field::Reference(_) | Field::Target(_) => {}
            // In a graph what is missing is said by the text itself.
            Field::Format(_) | Field::Expression(_) | Field::Arguments(_) => {}
        }
    }
    asked
}

fn maybe_missing(findings: &mut Findings<'_>, flow: &Flow, reader: Point, reads: &[Read<'_>]) {
    if !flow.is_reached(reader) {
        return;
    }
    let mut seen = HashSet::new();
    let doubtful: Vec<&Read<'_>> = reads
        .iter()
        .filter(|read| seen.insert((read.source, read.reader)))
        .filter(|read| flow.is_reached(read.source))
        // In a loop a later node is read as the previous turn left it; elsewhere the order itself is reported.
        .filter(|read| !flow.leads(reader, read.source))
        .filter(|read| !flow.implies(reader, read.source))
        .collect();
    let sources: Vec<Point> = doubtful.iter().map(|read| read.source).collect();
    // Where the alternatives leave no way out, one of them is always there.
    if doubtful.is_empty() || (sources.len() > 1 && flow.is_covered(reader, &sources)) {
        return;
    }
    let workflow = findings.canvas.workflow;
    for read in doubtful {
        let id = &workflow.node(read.reader).draft.id;
        let message = format!(
            "`{id}` reads `{}`, which is missing on some of the ways that lead to it.",
            read.text
        );
        let spot = findings.spots.reference(id, read.text);
        findings.add(Found::new(Code::MaybeMissing, message).node(id).at(spot));
    }
}

fn runs_anyway(findings: &mut Findings<'_>, flow: &Flow, members: &[NodeId]) {
    let workflow = findings.canvas.workflow;
    let node = |point: Point| {
        members
            .get(point as usize)
            .map(|&id| &workflow.node(id).draft)
    };
    for (chooser, target, other) in flow.also_reached() {
        let (Some(chooser), Some(target), Some(other)) = (node(chooser), node(target), node(other))
        else {
            continue;
        };
        if !matches!(chooser.kind, Kind::Branch { .. }) {
            continue;
        }
        let message = format!(
            "`{}` runs even if `{}` does not choose it, because `{}` leads to it too.",
            target.id, chooser.id, other.id
        );
        let spot = findings.spots.edge(&chooser.id, &target.id);
        findings.add(
            Found::new(Code::TargetRunsAnyway, message)
                .node(&target.id)
                .at(spot),
        );
    }
}
