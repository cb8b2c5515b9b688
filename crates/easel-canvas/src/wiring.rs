//! The edges of a canvas: the union of what its components list and what its drawing shows.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use crate::component::Component;
use crate::document::Document;
use crate::graph::{EdgeRole, Graph};
use crate::pointer::Pointer;

/// One edge, and the places that have it. `from` and `to` are ids as written; nothing says that such nodes exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The id of the node it leaves.
    pub from: Arc<str>,
    /// The id of the node it leads to.
    pub to: Arc<str>,
    /// `from` lists `to` under `downstream`.
    pub downstream: bool,
    /// `to` lists `from` under `upstream`.
    pub upstream: bool,
    /// The drawing has a line that stands for it.
    pub drawn: bool,
}

impl Edge {
    /// True if a component lists it; an edge that is only drawn has no component that knows of it.
    pub fn is_wired(&self) -> bool {
        self.downstream || self.upstream
    }
}

/// An edge that not every place has which should have it. Still an edge: the union counts (design.md §7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asymmetry {
    /// The edge.
    pub edge: Edge,
    /// What is missing.
    pub kind: AsymmetryKind,
    /// The place that has the edge.
    pub place: Pointer,
}

/// On which side an edge is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsymmetryKind {
    /// The target has a list `upstream` in which the source isn't.
    NotInUpstream,
    /// The source doesn't list the target under `downstream`.
    NotInDownstream,
    /// Both nodes are drawn and no line is.
    NotDrawn,
    /// A line is drawn and neither component knows of it.
    NotWired,
}

impl Document {
    /// Every edge once, by source in file order; of one source first those of `downstream` in its order, then those
    /// that only `upstream` has, then those that are only drawn. Self edges and edges to nothing are among them; lines
    /// to tools, sub-agents and error handlers are not (spec/canvas-engine T3, T4).
    pub fn edges(&self) -> Vec<Edge> {
        self.edges_between(&self.components())
    }

    /// The same for who has the [`components`](Document::components) of the document at hand.
    pub fn edges_between(&self, components: &IndexMap<Arc<str>, Component>) -> Vec<Edge> {
        union(components, &self.graph())
    }

    /// The edges that are drawn or wired on one side only. The start of a body need not list what closes its pass, and
    /// a canvas without lines has no drawing to differ from. `components` are those of the document.
    pub fn asymmetries(&self, components: &IndexMap<Arc<str>, Component>) -> Vec<Asymmetry> {
        let graph = self.graph();
        let drawn: IndexSet<&str> = graph.nodes.iter().map(|node| &*node.id).collect();
        let has_lines = graph.edges.iter().any(|edge| edge.role == EdgeRole::Flow);
        let kind_of = |edge: &Edge| {
            let (from, to) = (components.get(&edge.from)?, components.get(&edge.to)?);
            let both_drawn = drawn.contains(&*edge.from) && drawn.contains(&*edge.to);
            match edge {
                Edge {
                    downstream: false,
                    upstream: false,
                    ..
                } => Some(AsymmetryKind::NotWired),
                Edge {
                    downstream: false, ..
                } => Some(AsymmetryKind::NotInDownstream),
                Edge {
                    upstream: false, ..
                } if to.upstream.is_some() && !closes_pass(from, to) => {
                    Some(AsymmetryKind::NotInUpstream)
                }
                Edge { drawn: false, .. } if has_lines && both_drawn && !closes_pass(from, to) => {
                    Some(AsymmetryKind::NotDrawn)
                }
                _ => None,
            }
        };
        let mut lines: HashMap<(&str, &str), usize> = HashMap::new();
        for line in &graph.edges {
            let ends = (&*line.source, &*line.target);
            lines.entry(ends).or_insert(line.index);
        }
        let line = |edge: &Edge| {
            lines
                .get(&(&*edge.from, &*edge.to))
                .copied()
                .unwrap_or_default()
        };
        let asymmetry = |edge: Edge| {
            let kind = kind_of(&edge)?;
            let place = match kind {
                AsymmetryKind::NotInUpstream | AsymmetryKind::NotDrawn => {
                    Pointer::component(&edge.from).key("downstream")
                }
                AsymmetryKind::NotInDownstream => Pointer::component(&edge.to).key("upstream"),
                AsymmetryKind::NotWired => {
                    Pointer::root().key("graph").key("edges").index(line(&edge))
                }
            };
            Some(Asymmetry { edge, kind, place })
        };
        union(components, &graph)
            .into_iter()
            .filter_map(asymmetry)
            .collect()
    }
}

/// True for an edge into a container's start node: it ends a pass and is written as people like (§1.4).
fn closes_pass(from: &Component, to: &Component) -> bool {
    (to.is("IterationItem") || to.is("LoopItem")) && from.parent.is_some()
}

fn union(components: &IndexMap<Arc<str>, Component>, graph: &Graph) -> Vec<Edge> {
    let mut union = Union {
        components,
        strangers: IndexSet::new(),
        edges: Vec::new(),
        places: HashMap::new(),
    };
    for component in components.values() {
        for to in &component.downstream {
            union.edge(&component.id, to).downstream = true;
        }
    }
    for component in components.values() {
        for from in component.upstream.iter().flatten() {
            union.edge(from, &component.id).upstream = true;
        }
    }
    let lines = graph.edges.iter();
    for line in lines.filter(|line| line.role == EdgeRole::Flow) {
        if components.contains_key(&line.source) && components.contains_key(&line.target) {
            union.edge(&line.source, &line.target).drawn = true;
        }
    }
    // The sort keeps the order of those with one source.
    union.edges.sort_by_key(|&(source, _)| source);
    union.edges.into_iter().map(|(_, edge)| edge).collect()
}

/// The edges found so far, each with the place of its source in the file.
struct Union<'a> {
    components: &'a IndexMap<Arc<str>, Component>,
    /// Sources that are no components, which come last.
    strangers: IndexSet<&'a str>,
    edges: Vec<(usize, Edge)>,
    places: HashMap<(&'a str, &'a str), usize>,
}

impl<'a> Union<'a> {
    /// The edge between these two, to be marked.
    fn edge(&mut self, from: &'a Arc<str>, to: &'a Arc<str>) -> &mut Edge {
        let next = self.edges.len();
        let at = *self.places.entry((from, to)).or_insert(next);
        if at == next {
            let source = self.components.get_index_of(from);
            let source = source
                .unwrap_or_else(|| self.components.len() + self.strangers.insert_full(from).0);
            let edge = Edge {
                from: from.clone(),
                to: to.clone(),
                downstream: false,
                upstream: false,
                drawn: false,
            };
            self.edges.push((source, edge));
        }
        &mut self.edges[at].1
    }
}

#[cfg(test)]
#[path = "wiring_tests.rs"]
mod tests;
