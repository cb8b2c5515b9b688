//! A graph under check: its nodes by level, its tools by name, its places; and what was found so far.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use easel_catalog::{Component, Tool, nearest};
use easel_graph::document::{Document, Node, Text};
use easel_graph::lower::names::Names;
use easel_graph::place;

use super::{Graph, position};
use crate::diagnostic::{Diagnostic, Place};
use crate::findings::Found;

/// Unknown words that are compared with the known ones, at most: each comparison looks at all of them.
const SUGGESTIONS: usize = 200;

/// A graph under check.
pub(super) struct Context<'a> {
    pub graph: Graph<'a>,
    pub document: &'a Document,
    /// Its levels and variables.
    pub names: Names<'a>,
    /// Tools by the name of their function.
    functions: HashMap<&'a str, &'a Arc<Component>>,
    /// Nodes by their id in the workflow.
    by_id: HashMap<Arc<str>, &'a Node>,
}

/// A node on its level.
#[derive(Clone, Copy)]
pub(super) struct Here<'c, 'a> {
    pub node: &'a Node,
    /// Its id in the workflow.
    pub id: &'c Arc<str>,
    /// The number of its level.
    pub level: usize,
}

impl<'a> Context<'a> {
    pub fn new(graph: &Graph<'a>) -> Context<'a> {
        let names = Names::of(graph.document);
        let mut functions = HashMap::new();
        for table in graph.catalog.iter() {
            if let Some(tool) = &table.tool {
                functions.entry(&*tool.function).or_insert(table);
            }
        }
        let nodes = names.levels.iter().flat_map(|level| &level.nodes);
        Context {
            by_id: nodes.map(|(node, id)| (id.clone(), *node)).collect(),
            graph: *graph,
            document: graph.document,
            names,
            functions,
        }
    }

    /// Every node, level by level.
    pub fn nodes(&self) -> impl Iterator<Item = Here<'_, 'a>> {
        let levels = self.names.levels.iter().enumerate();
        levels.flat_map(|(level, here)| {
            let nodes = here.nodes.iter();
            nodes.map(move |(node, id)| Here { node, id, level })
        })
    }

    /// The node that has an id in the workflow.
    pub fn node(&self, id: &str) -> Option<&'a Node> {
        self.by_id.get(id).copied()
    }

    /// The tool of that name: of a component, or of the function that a component is to models.
    pub fn tool(&self, name: &str) -> Option<(&'a Arc<Component>, &'a Tool)> {
        let by_name = self.graph.catalog.get(name);
        let table = by_name.or_else(|| self.functions.get(name).copied())?;
        Some((table, table.tool.as_ref()?))
    }

    /// Whether a tool of that name may be an MCP server's.
    pub fn may_be_elsewhere(&self, name: &str) -> bool {
        self.graph.catalog.may_be_elsewhere(name)
    }

    /// Everything that a tool can be named by.
    pub fn tool_names(&self) -> impl Iterator<Item = &'a str> {
        let tables = self.graph.catalog.iter();
        tables.flat_map(|table| {
            let function = table.tool.iter().map(|tool| &*tool.function);
            function.chain(table.tool.is_some().then_some(&*table.name))
        })
    }

    /// Where a key of a node stands, or else where the node begins.
    pub fn key(&self, node: &Node, key: &str) -> Option<Place> {
        let map = self.document.get(&node.place).and_then(|it| it.as_map());
        let entry = map.and_then(|map| map.get(key));
        let start = place::Position { len: 0, ..node.at };
        position::of(entry.map_or(start, |entry| entry.key.at))
    }

    /// Where the key of a member stands, or else the value around it.
    pub fn member(&self, place: &place::Place) -> Option<Place> {
        let (last, around) = place.split_last()?;
        let map = self.document.get(around).and_then(|it| it.as_map());
        let entry = match last {
            place::Step::Key(name) => map.and_then(|map| map.get(name)),
            place::Step::Index(_) => None,
        };
        match entry {
            Some(entry) => position::of(entry.key.at),
            None => position::of(self.document.locate(place)?),
        }
    }

    /// Where a part of a text stands.
    pub fn within(&self, place: &place::Place, span: &Range<usize>) -> Option<Place> {
        position::within(self.document, place, span)
    }

    /// Where the nodes of the graph begin.
    pub fn all(&self) -> Option<Place> {
        let entry = self
            .document
            .root()
            .as_map()
            .and_then(|map| map.get("nodes"));
        position::of(entry?.key.at)
    }
}

/// Where a text stands.
pub(super) fn at(text: &Text) -> Option<Place> {
    position::of(text.at)
}

/// A text that says something.
pub(super) fn filled(text: &Option<Text>) -> Option<&Text> {
    text.as_ref().filter(|text| !text.trim().is_empty())
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Diagnostic>,
    suggestions: usize,
}

impl Findings {
    /// Adds what was found at a place.
    pub fn add(&mut self, at: Option<Place>, found: Found) {
        self.found.push(found.diagnostic(at));
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// The known word that is spelled like another one. After many questions it gives none.
    pub fn suggest<'w>(
        &mut self,
        word: &str,
        known: impl Iterator<Item = &'w str>,
    ) -> Option<&'w str> {
        self.suggestions += 1;
        match self.suggestions > SUGGESTIONS {
            true => None,
            false => nearest(word, known),
        }
    }

    /// Everything, in the order of the file; what has no place comes first.
    pub fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.found
            .sort_by_key(|d| (d.place.map(|at| at.offset), d.severity, d.code));
        self.found
    }
}
