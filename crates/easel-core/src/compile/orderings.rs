//! Which nodes wait for which values, beside the edges (design.md §3, "References order").
//!
//! Orderings are wished for in file order, and one that would close a circle is left out. Only wishes between nodes that
//! all edges and wishes together put on one circle can do that, so all others hold at once. Those few are tried one by one
//! in [`Order`].

mod order;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::Finding;
use super::circles::{self, Graph};
use crate::draft::Assignments;
use crate::workflow::{End, NodeId, Scope, ScopeId, Slot, VariableId, Workflow};
use order::{Added, Order};

/// Pairs of two writers, or of a writer and a reader, of one variable in one scope, up to which each pair is ordered.
/// Beyond it only neighbours are, which keeps compiling linear; a writer that dies then no longer holds up those after the
/// one before it.
const PAIRS: usize = 250_000;

/// Adds orderings to every scope of the workflow.
pub(super) fn add(workflow: &mut Workflow, findings: &mut Vec<Finding>) {
    let mut uses: Vec<Uses> = Vec::new();
    uses.resize_with(workflow.scopes.len(), Uses::default);
    for at in 0..workflow.nodes.len() {
        collect(workflow, NodeId(at as u32), &mut uses);
    }
    for (at, uses) in uses.into_iter().enumerate() {
        order_scope(workflow, ScopeId(at as u32), uses, findings);
    }
}

/// What the members of a scope read and write there, their bodies included.
#[derive(Default)]
struct Uses {
    /// Reader and source, in file order of the nodes that read.
    reads: Vec<(u32, u32)>,
    variables: BTreeMap<VariableId, VariableUses>,
}

/// The members that write and read one variable.
#[derive(Default)]
struct VariableUses {
    writers: Vec<u32>,
    readers: Vec<u32>,
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

fn collect(workflow: &Workflow, id: NodeId, uses: &mut [Uses]) {
    let node = workflow.node(id);
    let collected = node.collect.iter().flat_map(|(_, what)| what.references());
    let mut reads = node.reads.iter().chain(collected).peekable();
    if reads.peek().is_none() && node.writes.is_empty() {
        return;
    }
    let holders = holders(workflow, id);
    for slot in reads {
        match slot {
            Slot::Port { place, .. } => {
                let here = |&&(s, _): &&(ScopeId, u32)| workflow.scope(s).depth == place.depth;
                let source = place.down.first().copied().unwrap_or(place.member);
                if let Some(&(scope, reader)) = holders.iter().find(here)
                    && reader != source
                {
                    uses[scope.at()].reads.push((reader, source));
                }
            }
            Slot::Variable { variable, .. } => {
                for &(scope, member) in &holders {
                    let uses = uses[scope.at()].variables.entry(*variable).or_default();
                    uses.readers.push(member);
                }
            }
            Slot::Pass { .. } | Slot::Unknown(_) => {}
        }
    }
    let seen = match workflow.assignments {
        Assignments::Shared => &holders[..],
        Assignments::Private => &holders[..1],
    };
    for slot in &node.writes {
        if let Slot::Variable { variable, .. } = slot {
            for &(scope, member) in seen {
                let uses = uses[scope.at()].variables.entry(*variable).or_default();
                uses.writers.push(member);
            }
        }
    }
}

/// One node that should wait for another.
#[derive(Clone, Copy)]
struct Wish {
    earlier: u32,
    later: u32,
    /// Whether it reads a port there.
    for_port: bool,
    /// Whether it reads, or assigns to, a variable that is assigned there.
    for_variable: bool,
}

fn order_scope(workflow: &mut Workflow, id: ScopeId, uses: Uses, findings: &mut Vec<Finding>) {
    let scope = workflow.scope(id);
    let draft = |member: u32| &workflow.node(scope.members[member as usize]).draft;
    // Who drains streams may start as soon as a text begins to arrive, long before anything is assigned.
    let shows = |source: u32, reader: u32| draft(source).streams && draft(reader).drains;
    let edges = edges_of(scope);
    let wishes = wishes(scope.members.len(), &edges, &uses, shows);
    let holding = Trial {
        scope,
        name: &|member| name_of(workflow, scope, member),
        parts: parts(scope.members.len(), &edges, &wishes),
    }
    .try_all(&edges, wishes, findings);
    let (after_text, after): (Vec<Wish>, Vec<Wish>) = holding
        .iter()
        .partition(|wish| !wish.for_variable && shows(wish.earlier, wish.later));

    // What streams can be read while it is not settled; who reads it must know.
    let mut sources = uses.reads;
    sources.retain(|&(_, source)| draft(source).streams);
    sources.sort_unstable();
    sources.dedup();
    let waiting: HashSet<(u32, u32)> = holding.iter().map(|w| (w.later, w.earlier)).collect();

    let members = scope.members.clone();
    let at = |member: u32| members[member as usize].at();
    for wish in &after {
        workflow.nodes[at(wish.later)].after.push(wish.earlier);
    }
    for wish in &after_text {
        workflow.nodes[at(wish.later)].after_text.push(wish.earlier);
    }
    for wish in holding {
        workflow.nodes[at(wish.earlier)].watchers.push(wish.later);
    }
    for (reader, source) in sources {
        workflow.nodes[at(reader)].sources.push(source);
        if !waiting.contains(&(reader, source)) {
            workflow.nodes[at(source)].watchers.push(reader);
        }
    }
}

/// The edges inside a scope; back edges order nothing.
fn edges_of(scope: &Scope) -> Vec<(u32, u32)> {
    let inner = scope.edges.iter().filter(|edge| !edge.back);
    let ends = inner.filter_map(|edge| match (edge.from, edge.to) {
        (End::Member(from), End::Member(to)) => Some((from, to)),
        _ => None,
    });
    ends.collect()
}

/// A member as its author knows it: an implicit loop goes by its first node.
fn name_of(workflow: &Workflow, scope: &Scope, member: u32) -> Arc<str> {
    let node = workflow.node(scope.members[member as usize]);
    let first = node.body.filter(|_| node.implicit).and_then(|body| {
        let first = workflow.scope(body).members.first();
        first.map(|&id| workflow.node(id))
    });
    first.unwrap_or(node).draft.id.clone()
}

/// All orderings a scope could want beside its edges, each once, in the order in which they are tried. `shows` tells of
/// two members whether the second may start while the first is still giving its text.
fn wishes(
    members: usize,
    edges: &[(u32, u32)],
    uses: &Uses,
    shows: impl Fn(u32, u32) -> bool,
) -> Vec<Wish> {
    let drawn: HashSet<(u32, u32)> = edges.iter().copied().collect();
    let mut wishes: Vec<Wish> = Vec::new();
    let mut places: HashMap<(u32, u32), usize> = HashMap::new();
    let mut wish = |earlier, later, for_port| {
        let edge_is_enough = for_port || !shows(earlier, later);
        if edge_is_enough && drawn.contains(&(earlier, later)) {
            return;
        }
        let at = *places.entry((earlier, later)).or_insert_with(|| {
            wishes.push(Wish {
                earlier,
                later,
                for_port: false,
                for_variable: false,
            });
            wishes.len() - 1
        });
        wishes[at].for_port |= for_port;
        wishes[at].for_variable |= !for_port;
    };
    // A circle of references alone is an error, so references come first; then node by node what they wait for because
    // of variables: a reader waits for a writer even where that turns the order of two writers round.
    for &(reader, source) in &uses.reads {
        wish(source, reader, true);
    }
    let variables = uses.variables.values();
    let mut pairs: Vec<(u32, u32)> = variables.flat_map(|v| v.pairs(members, edges)).collect();
    pairs.sort_unstable_by_key(|&(earlier, later)| (later, earlier));
    for (earlier, later) in pairs {
        wish(earlier, later, false);
    }
    wishes
}

impl VariableUses {
    /// Who goes before whom: writers in file order, readers after writers.
    fn pairs(&self, members: usize, edges: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let (mut writers, mut readers) = (self.writers.clone(), self.readers.clone());
        writers.sort_unstable();
        writers.dedup();
        readers.sort_unstable();
        readers.dedup();
        readers.retain(|reader| writers.binary_search(reader).is_err());

        let mut pairs = Vec::new();
        if writers.len().saturating_mul(writers.len()) <= PAIRS {
            for (at, &writer) in writers.iter().enumerate() {
                pairs.extend(writers[at + 1..].iter().map(|&later| (writer, later)));
            }
        } else {
            let neighbours = Order::new(members, edges.iter().copied()).sort(&writers);
            pairs.extend(neighbours.windows(2).map(|two| (two[0], two[1])));
        }
        if writers.len().saturating_mul(readers.len()) <= PAIRS {
            for &writer in &writers {
                pairs.extend(readers.iter().map(|&reader| (writer, reader)));
            }
        } else {
            let all: Vec<u32> = writers.iter().chain(&readers).copied().collect();
            let mut last = None;
            for member in Order::new(members, edges.iter().copied()).sort(&all) {
                match writers.binary_search(&member) {
                    Ok(_) => last = Some(member),
                    Err(_) => pairs.extend(last.map(|writer| (writer, member))),
                }
            }
        }
        pairs
    }
}

/// For each member the circle of edges and wishes it is on, if any.
fn parts(members: usize, edges: &[(u32, u32)], wishes: &[Wish]) -> Vec<Option<u32>> {
    let mut graph: Graph = vec![Vec::new(); members];
    let wished = wishes.iter().map(|wish| (wish.earlier, wish.later));
    for (from, to) in edges.iter().copied().chain(wished) {
        graph[from as usize].push(to);
    }
    let mut part_of = vec![None; members];
    for (part, nodes) in (0..).zip(circles::strong_parts(&graph)) {
        for node in nodes {
            part_of[node as usize] = Some(part);
        }
    }
    part_of
}

/// Wishes of one scope on trial.
struct Trial<'a> {
    scope: &'a Scope,
    name: &'a dyn Fn(u32) -> Arc<str>,
    parts: Vec<Option<u32>>,
}

impl Trial<'_> {
    /// The wishes that hold.
    fn try_all(
        &self,
        edges: &[(u32, u32)],
        wishes: Vec<Wish>,
        findings: &mut Vec<Finding>,
    ) -> Vec<Wish> {
        if self.parts.iter().all(Option::is_none) {
            return wishes;
        }
        let inside = edges.iter().copied().filter(|&(a, b)| self.one_part(a, b));
        let mut order = Order::new(self.scope.members.len(), inside);
        let mut circles = HashSet::new();
        let mut holds = |wish: &Wish| {
            if !self.one_part(wish.earlier, wish.later) {
                return true;
            }
            let Added::Circle(circle) = order.add(wish.earlier, wish.later) else {
                return true;
            };
            let nodes = circle.iter().copied().collect::<BTreeSet<u32>>();
            if !(wish.for_port && order.by_orderings_alone(&circle)) {
                findings.extend(self.left_out(&order, wish));
            } else if circles.insert(nodes) {
                findings.push(Finding::ReferenceCircle {
                    nodes: self.in_waiting_order(circle),
                });
            }
            false
        };
        let mut wishes = wishes;
        wishes.retain(&mut holds);
        wishes
    }

    fn one_part(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.parts[a as usize], self.parts[b as usize]);
        a.is_some() && a == b
    }

    /// What to say about a wish that would close a circle. Of what is behind it, a node in a loop means to read the value
    /// of the turn before, and nobody means to wait for an assignment.
    fn left_out(&self, order: &Order, wish: &Wish) -> Option<Finding> {
        let behind = order.leads(wish.later, wish.earlier);
        let as_meant = behind && (self.scope.keeps || !wish.for_port);
        (!as_meant).then(|| Finding::OrderingLeftOut {
            node: (self.name)(wish.later),
            source: (self.name)(wish.earlier),
        })
    }

    /// The nodes of a circle such that each waits for the next, from the first in the file on.
    fn in_waiting_order(&self, mut circle: Vec<u32>) -> Vec<Arc<str>> {
        circle.reverse();
        let first = (0..circle.len()).min_by_key(|&at| circle[at]).unwrap_or(0);
        circle.rotate_left(first);
        circle.into_iter().map(self.name).collect()
    }
}
