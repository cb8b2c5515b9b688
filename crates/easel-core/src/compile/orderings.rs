//! Which nodes wait for which values, beside the edges (design.md §3, "References order").
//!
//! Orderings are added in file order to a topological order that is kept up to date (Pearce and Kelly), so one that
//! agrees with the order so far costs nothing, and one that would close a circle is found by a search between the two places.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::Finding;
use crate::workflow::{End, NodeId, ScopeId, Slot, VariableId, Workflow};

/// Writer and reader pairs of one variable in one scope up to which each pair is looked at. Beyond it only
/// neighbours in the topological order are, which keeps compiling linear.
const PAIRS: usize = 250_000;

/// Adds orderings to every scope of the workflow.
pub(super) fn add(workflow: &mut Workflow, findings: &mut Vec<Finding>) {
    let mut wishes: Vec<Wishes> = Vec::new();
    wishes.resize_with(workflow.scopes.len(), Wishes::default);
    for at in 0..workflow.nodes.len() {
        collect(workflow, NodeId(at as u32), &mut wishes);
    }
    for (at, wishes) in wishes.into_iter().enumerate() {
        order_scope(workflow, ScopeId(at as u32), wishes, findings);
    }
}

/// What the members of a scope read and write there, their bodies included.
#[derive(Default)]
struct Wishes {
    /// Reader and source, in file order.
    reads: Vec<(u32, u32)>,
    /// Writers and readers of each variable, in file order.
    variables: BTreeMap<VariableId, (Vec<u32>, Vec<u32>)>,
}

/// The member of each scope around a node that holds it, innermost first.
fn holders(workflow: &Workflow, node: NodeId) -> Vec<(ScopeId, u32)> {
    let mut holders = Vec::new();
    let mut at = Some(node);
    while let Some(id) = at {
        let node = workflow.node(id);
        holders.push((node.scope, node.local));
        at = workflow.scope(node.scope).container;
    }
    holders
}

fn collect(workflow: &Workflow, id: NodeId, wishes: &mut [Wishes]) {
    let node = workflow.node(id);
    if node.reads.is_empty() && node.writes.is_empty() {
        return;
    }
    let holders = holders(workflow, id);
    for slot in &node.reads {
        match slot {
            Slot::Port { place, .. } => {
                let holder = holders
                    .iter()
                    .find(|(s, _)| workflow.scope(*s).depth == place.depth);
                let source = place.down.first().copied().unwrap_or(place.member);
                if let Some(&(scope, reader)) = holder.filter(|(_, reader)| *reader != source) {
                    wishes[scope.at()].reads.push((reader, source));
                }
            }
            Slot::Variable { variable, .. } => {
                for &(scope, member) in &holders {
                    let uses = wishes[scope.at()].variables.entry(*variable).or_default();
                    push_new(&mut uses.1, member);
                }
            }
            Slot::Unknown(_) => {}
        }
    }
    for slot in &node.writes {
        if let Slot::Variable { variable, .. } = slot {
            for &(scope, member) in &holders {
                let uses = wishes[scope.at()].variables.entry(*variable).or_default();
                push_new(&mut uses.0, member);
            }
        }
    }
}

/// Nodes come in file order, so a member that is already there is the last.
fn push_new(members: &mut Vec<u32>, member: u32) {
    if members.last() != Some(&member) {
        members.push(member);
    }
}

fn order_scope(workflow: &mut Workflow, id: ScopeId, wishes: Wishes, findings: &mut Vec<Finding>) {
    if wishes.reads.is_empty() && wishes.variables.is_empty() {
        return;
    }
    let scope = workflow.scope(id);
    let mut order = Order::new(scope.members.len(), {
        let inner = scope.edges.iter().filter(|e| !e.back);
        inner.filter_map(|e| match (e.from, e.to) {
            (End::Member(from), End::Member(to)) => Some((from, to)),
            _ => None,
        })
    });
    let in_loop = scope.keeps;
    let name = |member: u32| -> Arc<str> {
        workflow
            .node(scope.members[member as usize])
            .draft
            .id
            .clone()
    };
    let mut after: Vec<(u32, u32)> = Vec::new();
    let mut seen = HashSet::new();
    let mut circles = HashSet::new();
    for &(reader, source) in &wishes.reads {
        if !seen.insert((reader, source)) || order.has_edge(source, reader) {
            continue;
        }
        match order.add(source, reader) {
            Added::Yes => after.push((reader, source)),
            Added::Circle(circle) if order.by_orderings_alone(&circle) => {
                let mut key = circle.clone();
                key.sort_unstable();
                if circles.insert(key) {
                    findings.push(Finding::ReferenceCircle {
                        nodes: circle.into_iter().map(name).collect(),
                    });
                }
            }
            Added::Circle(_) if in_loop => {}
            Added::Circle(_) => findings.push(Finding::OrderingLeftOut {
                node: name(reader),
                source: name(source),
            }),
        }
    }
    for (writers, readers) in wishes.variables.into_values() {
        let pairs = order.variable_pairs(writers, readers);
        for (earlier, later) in pairs {
            if order.has_edge(earlier, later) || !seen.insert((later, earlier)) {
                continue;
            }
            match order.add(earlier, later) {
                Added::Yes => after.push((later, earlier)),
                Added::Circle(circle) => {
                    let behind_the_reader = order.by_edges_alone(&circle);
                    if !behind_the_reader && !in_loop {
                        findings.push(Finding::OrderingLeftOut {
                            node: name(later),
                            source: name(earlier),
                        });
                    }
                }
            }
        }
    }
    // A drain that reads a stream it has an edge from is handed the stream; everyone else waits for the text.
    let streaming = |member: u32| workflow.node(scope.members[member as usize]).draft.streams;
    let sources: Vec<(u32, u32)> = {
        let distinct: HashSet<(u32, u32)> = wishes.reads.iter().copied().collect();
        let mut all: Vec<_> = distinct
            .into_iter()
            .filter(|&(_, s)| streaming(s))
            .collect();
        all.sort_unstable();
        all
    };
    let members = scope.members.clone();
    let at = |member: u32| members[member as usize].at();
    for (reader, source) in after {
        workflow.nodes[at(reader)].after.push(source);
        workflow.nodes[at(source)].watchers.push(reader);
    }
    for (reader, source) in sources {
        workflow.nodes[at(reader)].sources.push(source);
        let watchers = &mut workflow.nodes[at(source)].watchers;
        if !watchers.contains(&reader) {
            watchers.push(reader);
        }
    }
}

/// What became of an ordering.
enum Added {
    /// It holds now.
    Yes,
    /// It would close this circle: from the later node back to the earlier one.
    Circle(Vec<u32>),
}

/// A topological order of a scope's members that grows new constraints.
struct Order {
    place: Vec<u32>,
    out: Vec<Vec<(u32, bool)>>,
    into: Vec<Vec<u32>>,
    edges: HashSet<(u32, u32)>,
}

impl Order {
    /// The order of the edges alone; ties in file order.
    fn new(members: usize, edges: impl Iterator<Item = (u32, u32)>) -> Order {
        let mut order = Order {
            place: vec![0; members],
            out: vec![Vec::new(); members],
            into: vec![Vec::new(); members],
            edges: HashSet::new(),
        };
        for (from, to) in edges {
            if order.edges.insert((from, to)) {
                order.out[from as usize].push((to, true));
                order.into[to as usize].push(from);
            }
        }
        let mut waits: Vec<usize> = order.into.iter().map(Vec::len).collect();
        let free = (0..members as u32).filter(|&m| waits[m as usize] == 0);
        let mut ready: std::collections::BinaryHeap<_> = free.map(std::cmp::Reverse).collect();
        let mut next = 0;
        while let Some(std::cmp::Reverse(member)) = ready.pop() {
            order.place[member as usize] = next;
            next += 1;
            for &(to, _) in &order.out[member as usize] {
                waits[to as usize] -= 1;
                if waits[to as usize] == 0 {
                    ready.push(std::cmp::Reverse(to));
                }
            }
        }
        order
    }

    fn has_edge(&self, from: u32, to: u32) -> bool {
        self.edges.contains(&(from, to))
    }

    /// Makes `later` wait for `earlier`, unless that closes a circle.
    fn add(&mut self, earlier: u32, later: u32) -> Added {
        let (low, high) = (self.place[later as usize], self.place[earlier as usize]);
        if low < high {
            let mut came_from: BTreeMap<u32, u32> = BTreeMap::new();
            let mut behind = vec![later];
            let mut next = 0;
            while let Some(&node) = behind.get(next) {
                next += 1;
                for &(to, _) in &self.out[node as usize] {
                    if to == earlier {
                        came_from.insert(to, node);
                        return Added::Circle(trail(&came_from, later, earlier));
                    }
                    let within = self.place[to as usize] < high;
                    if within && to != later && !came_from.contains_key(&to) {
                        came_from.insert(to, node);
                        behind.push(to);
                    }
                }
            }
            self.reorder(earlier, low, behind);
        }
        self.out[earlier as usize].push((later, false));
        self.into[later as usize].push(earlier);
        Added::Yes
    }

    /// Moves what is behind the later node behind what is before the earlier one, in the places they hold now.
    fn reorder(&mut self, earlier: u32, low: u32, mut behind: Vec<u32>) {
        let mut before = vec![earlier];
        let mut seen = HashSet::from([earlier]);
        let mut next = 0;
        while let Some(&node) = before.get(next) {
            next += 1;
            for &from in &self.into[node as usize] {
                if self.place[from as usize] > low && seen.insert(from) {
                    before.push(from);
                }
            }
        }
        before.sort_unstable_by_key(|&n| self.place[n as usize]);
        behind.sort_unstable_by_key(|&n| self.place[n as usize]);
        before.extend(behind);
        let mut places: Vec<u32> = before.iter().map(|&n| self.place[n as usize]).collect();
        places.sort_unstable();
        for (node, place) in before.into_iter().zip(places) {
            self.place[node as usize] = place;
        }
    }

    /// True if no step of the circle is, or follows from, an edge.
    fn by_orderings_alone(&self, circle: &[u32]) -> bool {
        let closing = circle.first().zip(circle.last());
        let steps = circle.windows(2).map(|w| (w[0], w[1]));
        let ends = closing.map(|(&first, &last)| (last, first));
        !steps.chain(ends).any(|(from, to)| self.leads(from, to))
    }

    /// True if every step but the one that would close the circle is an edge.
    fn by_edges_alone(&self, circle: &[u32]) -> bool {
        circle.windows(2).all(|w| self.has_edge(w[0], w[1]))
    }

    /// True if edges lead from one node to another.
    fn leads(&self, from: u32, to: u32) -> bool {
        let mut seen = HashSet::from([from]);
        let mut todo = vec![from];
        while let Some(node) = todo.pop() {
            for &(next, edge) in &self.out[node as usize] {
                if edge && next == to {
                    return true;
                }
                if edge && seen.insert(next) {
                    todo.push(next);
                }
            }
        }
        false
    }

    /// Who goes before whom for the sake of one variable: writers in file order, readers after writers.
    fn variable_pairs(&self, writers: Vec<u32>, readers: Vec<u32>) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        if writers.len().saturating_mul(writers.len() + readers.len()) <= PAIRS {
            for (at, &writer) in writers.iter().enumerate() {
                pairs.extend(writers[at + 1..].iter().map(|&later| (writer, later)));
            }
            for &writer in &writers {
                let others = readers.iter().filter(|&&r| !writers.contains(&r));
                pairs.extend(others.map(|&reader| (writer, reader)));
            }
            return pairs;
        }
        let mut all: Vec<(u32, bool, u32)> = Vec::new();
        all.extend(writers.iter().map(|&w| (self.place[w as usize], true, w)));
        all.extend(readers.iter().map(|&r| (self.place[r as usize], false, r)));
        all.sort_unstable();
        let mut last = None;
        for (_, writes, member) in all {
            pairs.extend(last.filter(|&w| w != member).map(|w| (w, member)));
            if writes {
                last = Some(member);
            }
        }
        pairs
    }
}

/// The way found from one node to another.
fn trail(came_from: &BTreeMap<u32, u32>, start: u32, end: u32) -> Vec<u32> {
    let mut way = vec![end];
    let mut at = end;
    while at != start {
        match came_from.get(&at) {
            Some(&before) => at = before,
            None => break,
        }
        way.push(at);
    }
    way.reverse();
    way
}
