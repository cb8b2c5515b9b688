//! What a graph, and what a body, gives out (spec/graph-engine §3.6, §7.7; design.md §4).

use std::collections::HashSet;
use std::sync::Arc;

use easel_core::draft::Gather;

use super::Lowering;
use super::names::{Level, Names, value_of};
use crate::document::{Document, Node};
use crate::kind::Kind;

/// What a run gives out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The output nodes: if any of them ran, their values by id are what the run gives out.
    pub outputs: Vec<Arc<str>>,
    /// Else the values of these nodes by id, null for one that did not run.
    pub listed: Vec<Arc<str>>,
    /// Else the value of this node.
    pub last: Option<Arc<str>>,
}

impl Results {
    pub(super) fn of(document: &Document, names: &Names<'_>) -> Results {
        let Some(top) = names.levels.first() else {
            return Results::default();
        };
        let outputs = top
            .nodes
            .iter()
            .filter(|(node, _)| *node.kind == Kind::Output);
        let listed = document.outputs.iter().filter(|id| top.find(id).is_some());
        Results {
            outputs: outputs.map(|(node, _)| (*node.id).clone()).collect(),
            listed: listed.map(|id| (**id).clone()).collect(),
            last: last_in_order(top).map(|node| (*node.id).clone()),
        }
    }
}

/// What a container takes from a pass of its body: the output nodes that ran, else what `body_outputs` lists, else the
/// nodes behind which there is none.
pub(super) fn of_body(lowering: &Lowering<'_>) -> Gather {
    let Some(&body) = lowering.here().bodies.get(&lowering.place) else {
        return Gather::Many(Vec::new());
    };
    let body = &lowering.names.levels[body];
    let outputs: Vec<_> = (body.nodes.iter())
        .filter(|(node, _)| *node.kind == Kind::Output)
        .map(|(node, id)| ((*node.id).clone(), value_of(id)))
        .collect();
    let listed = lowering.it().body_outputs.iter();
    let listed: Vec<&(&Node, Arc<str>)> = listed.filter_map(|id| body.find(id)).collect();
    let given = match listed.is_empty() {
        false => listed,
        true if lowering.document.is_compat() => {
            let last = last_in_order(body);
            let last = last.and_then(|last| body.find(&last.id));
            last.into_iter().collect()
        }
        true => sinks(body),
    };
    let mut given: Vec<_> = given
        .into_iter()
        .map(|(node, id)| ((*node.id).clone(), value_of(id)))
        .collect();
    let given = match given.len() {
        1 => Gather::One(given.remove(0).1),
        _ => Gather::Many(given),
    };
    match outputs.is_empty() {
        true => given,
        false => Gather::Done(outputs, Box::new(given)),
    }
}

/// The nodes on which no other depends.
fn sinks<'l, 'a>(level: &'l Level<'a>) -> Vec<&'l (&'a Node, Arc<str>)> {
    let dependencies = level.nodes.iter().flat_map(|(node, _)| &node.depends_on);
    let needed: HashSet<&str> = dependencies.map(|id| &***id).collect();
    let nodes = level.nodes.iter();
    nodes
        .filter(|(node, _)| !needed.contains(&**node.id))
        .collect()
}

/// The last node of an order in which each stands behind what it depends on, as the old engine sorts: of the nodes that
/// are free the one that became so last goes first.
fn last_in_order<'a>(level: &Level<'a>) -> Option<&'a Node> {
    let mut left = vec![0_usize; level.nodes.len()];
    for place in 0..level.nodes.len() {
        for (dependent, _) in level.dependents(place) {
            if let Some(at) = level.place(&dependent.id) {
                left[at] += 1;
            }
        }
    }
    let mut ready: Vec<usize> = (0..left.len()).filter(|&at| left[at] == 0).collect();
    let mut last = None;
    while let Some(at) = ready.pop() {
        last = Some(at);
        for (dependent, _) in level.dependents(at) {
            if let Some(dependent) = level.place(&dependent.id) {
                left[dependent] -= 1;
                if left[dependent] == 0 {
                    ready.push(dependent);
                }
            }
        }
    }
    last.map(|at| level.nodes[at].0)
}
