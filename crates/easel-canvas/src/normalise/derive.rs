//! Components from a drawing, for an export that has nothing else (spec/canvas-engine §1.4 and N8, canvas-components §10).

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::{Object, Value};
use indexmap::{IndexMap, IndexSet};

use super::{Rewrite, Rewriter, form};
use crate::component::text;
use crate::edit::object_at;
use crate::graph::{EdgeRole, Graph, GraphEdge, GraphNode};
use crate::pointer::Pointer;
use crate::state::env_key;

/// What editors draw that is no component.
const DRAWN_ONLY: [&str; 3] = ["Note", "Tool", "Placeholder"];

/// How deep agents may stand in one another's tools. Deeper ones are left out, with a note.
const DEEPEST_AGENT: usize = 8;

/// How many agents are folded into others in all; a drawing that shares sub-agents level by level could ask for millions.
const MOST_AGENTS: usize = 1_000;

/// Derives `components` where there are none and something is drawn.
pub(super) fn components(rewriter: &mut Rewriter) {
    if matches!(rewriter.document.get("components"), Some(Value::Object(entries)) if !entries.is_empty())
    {
        return;
    }
    let drawing = Drawing::of(rewriter.document.graph());
    if drawing.components.is_empty() {
        return;
    }
    let mut folding = Folding::default();
    let mut entries = Object::new();
    for node in drawing.components.values() {
        let place = Pointer::component(&node.id);
        let drawn = drawn_at(node.index);
        let params = place.clone().key("obj").key("params");
        rewriter.moved(place, drawn.clone());
        rewriter.moved(params, drawn.key("data").key("form"));
        entries.insert(node.id.clone(), drawing.entry(node, &mut folding));
    }
    rewriter.note(
        Rewrite::ComponentsDerived,
        &Pointer::root().key("graph"),
        format!(
            "there were no `components`; {} were derived from the drawing",
            entries.len()
        ),
    );
    for (index, what) in folding.left_out {
        rewriter.note(Rewrite::SubAgentLeftOut, &drawn_at(index), what);
    }
    let variables = rewriter.document.variables();
    let canvas = rewriter.canvas();
    canvas.insert("components".into(), entries.into());
    object_at(canvas, "globals", |globals| {
        for (name, variable) in variables {
            globals.entry(env_key(&name)).or_insert(variable.value);
        }
    });
    // A canvas with components has these, or other engines refuse it (§1.1).
    for name in ["path", "history", "retrieval"] {
        canvas.entry(name.into()).or_insert_with(Value::empty_array);
    }
}

fn drawn_at(index: usize) -> Pointer {
    Pointer::root().key("graph").key("nodes").index(index)
}

/// A drawing, sorted into what is a component and what is part of one.
struct Drawing {
    /// All that is drawn, by id; of several with one id the first.
    nodes: IndexMap<Arc<str>, GraphNode>,
    /// Nodes that stand for a component, by id.
    components: IndexMap<Arc<str>, GraphNode>,
    /// The lines that leave a node, by its id.
    leaving: HashMap<Arc<str>, Vec<GraphEdge>>,
    /// The lines that enter a node, by its id.
    entering: HashMap<Arc<str>, Vec<GraphEdge>>,
}

/// What was seen while agents were put into the tools of others.
#[derive(Default)]
struct Folding {
    /// The agents around the one that is being folded, outermost first.
    around: Vec<Arc<str>>,
    /// Agents folded so far.
    count: usize,
    /// Agents left out: the place of the drawn node, and why.
    left_out: Vec<(usize, String)>,
}

impl Drawing {
    fn of(graph: Graph) -> Drawing {
        let mut nodes = IndexMap::new();
        for node in graph.nodes {
            nodes.entry(node.id.clone()).or_insert(node);
        }
        let mut leaving: HashMap<Arc<str>, Vec<GraphEdge>> = HashMap::new();
        let mut entering: HashMap<Arc<str>, Vec<GraphEdge>> = HashMap::new();
        for edge in graph.edges {
            leaving
                .entry(edge.source.clone())
                .or_default()
                .push(edge.clone());
            entering.entry(edge.target.clone()).or_default().push(edge);
        }
        let is_folded = |node: &GraphNode| {
            let entering = entering.get(&node.id).into_iter().flatten();
            &*node.label == "Agent"
                && entering
                    .into_iter()
                    .any(|edge| edge.role == EdgeRole::SubAgent)
        };
        let is_component =
            |node: &&GraphNode| !DRAWN_ONLY.contains(&&*node.label) && !is_folded(node);
        let components = nodes.values().filter(is_component);
        let components = components
            .map(|node| (node.id.clone(), node.clone()))
            .collect();
        Drawing {
            nodes,
            components,
            leaving,
            entering,
        }
    }

    fn leaving(&self, node: &GraphNode) -> &[GraphEdge] {
        self.leaving
            .get(&node.id)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The entry of a component: class, parameters and edges.
    fn entry(&self, node: &GraphNode, folding: &mut Folding) -> Value {
        let mut obj = Object::new();
        obj.insert("component_name".into(), node.label.clone().into());
        obj.insert("params".into(), self.params(node, folding).into());
        let is_flow = |edge: &&GraphEdge| edge.role == EdgeRole::Flow;
        // A target that isn't drawn at all is an edge to nothing, which the check reports.
        let is_part =
            |id: &Arc<str>| !self.components.contains_key(id) && self.nodes.contains_key(id);
        let downstream = self
            .leaving(node)
            .iter()
            .filter(is_flow)
            .map(|edge| &edge.target);
        let entering = self.entering.get(&node.id).into_iter().flatten();
        let upstream = entering.filter(is_flow).map(|edge| &edge.source);
        let mut entry = Object::new();
        entry.insert("obj".into(), obj.into());
        entry.insert(
            "downstream".into(),
            list(downstream.filter(|id| !is_part(id))),
        );
        entry.insert(
            "upstream".into(),
            list(upstream.filter(|id| self.components.contains_key(*id))),
        );
        if let Some(parent) = &node.parent {
            entry.insert("parent_id".into(), parent.clone().into());
        }
        entry.into()
    }

    fn params(&self, node: &GraphNode, folding: &mut Folding) -> Object {
        let mut params = form::params(node, self.leaving(node));
        if &*node.label == "Agent" {
            self.fold(node, &mut params, folding);
        }
        params
    }

    /// Puts the agents drawn below an agent into its tools, and what its error edges lead to into `exception_goto`.
    fn fold(&self, node: &GraphNode, params: &mut Object, folding: &mut Folding) {
        let by_role = |role| {
            self.leaving(node)
                .iter()
                .filter(move |edge| edge.role == role)
        };
        if by_role(EdgeRole::Exception).next().is_some() {
            let targets = by_role(EdgeRole::Exception).map(|edge| &edge.target);
            params.insert("exception_goto".into(), list(targets));
        }
        let mut tools = params
            .get("tools")
            .and_then(Value::as_array)
            .unwrap_or_default()
            .to_vec();
        let mut listed: IndexSet<Arc<str>> = tools
            .iter()
            .filter_map(|tool| text(tool.get("id")))
            .collect();
        folding.around.push(node.id.clone());
        for edge in by_role(EdgeRole::SubAgent) {
            let Some(child) = self
                .nodes
                .get(&edge.target)
                .filter(|child| &*child.label == "Agent")
            else {
                continue;
            };
            if !listed.insert(child.id.clone()) {
                continue;
            }
            if let Some(why) = folding.refuses(child) {
                folding.left_out.push((child.index, why));
                continue;
            }
            folding.count += 1;
            let mut tool = Object::new();
            tool.insert("component_name".into(), "Agent".into());
            tool.insert("id".into(), child.id.clone().into());
            tool.insert(
                "name".into(),
                child
                    .name
                    .clone()
                    .unwrap_or_else(|| child.id.clone())
                    .into(),
            );
            tool.insert("params".into(), self.params(child, folding).into());
            tools.push(tool.into());
        }
        folding.around.pop();
        if !tools.is_empty() {
            params.insert("tools".into(), tools.into());
        }
    }
}

impl Folding {
    fn refuses(&self, child: &GraphNode) -> Option<String> {
        let id = &child.id;
        if self.around.contains(id) {
            Some(format!(
                "the sub-agent `{id}` would be a tool of itself and was left out there"
            ))
        } else if self.around.len() > DEEPEST_AGENT {
            Some(format!(
                "the sub-agent `{id}` lies more than {DEEPEST_AGENT} agents deep and was left out there"
            ))
        } else if self.count >= MOST_AGENTS {
            Some(format!(
                "the sub-agent `{id}` was left out: {MOST_AGENTS} agents are tools of others already"
            ))
        } else {
            None
        }
    }
}

/// The ids as a list, each once.
fn list<'i>(ids: impl Iterator<Item = &'i Arc<str>>) -> Value {
    let once: IndexSet<&Arc<str>> = ids.collect();
    Value::from(
        once.into_iter()
            .map(|id| Value::from(id.clone()))
            .collect::<Vec<_>>(),
    )
}

#[cfg(test)]
#[path = "derive_tests.rs"]
mod tests;
