//! The drawing that an editor keeps beside the components.

use std::collections::HashSet;
use std::sync::Arc;

use easel_core::Value;

use crate::component::text;
use crate::document::Document;

/// The drawing of a canvas (spec/canvas-engine §1.4).
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// What is drawn, in file order: nodes, tools, notes.
    pub nodes: Vec<GraphNode>,
    /// The lines, in file order.
    pub edges: Vec<GraphEdge>,
}

/// Something drawn.
#[derive(Clone, Debug)]
pub struct GraphNode {
    /// The id; that of the component it stands for, if it stands for one.
    pub id: Arc<str>,
    /// The editor's kind of node (`agentNode`); empty if there is none.
    pub kind: Arc<str>,
    /// The component class (`data.label`); empty if there is none.
    pub label: Arc<str>,
    /// The name shown (`data.name`).
    pub name: Option<Arc<str>>,
    /// The editor's form (`data.form`); `null` if there is none.
    pub form: Value,
    /// The node inside which it is drawn.
    pub parent: Option<Arc<str>>,
    /// The place of the node in [`Graph::nodes`] of the file, which may hold things that are no nodes.
    pub index: usize,
}

/// A line from one node to another.
#[derive(Clone, Debug)]
pub struct GraphEdge {
    /// The id of the node at which it starts.
    pub source: Arc<str>,
    /// The id of the node at which it ends.
    pub target: Arc<str>,
    /// The handle it starts from as the file has it: `start`, `Case 1`, a category's id, `tool` and so on.
    pub source_handle: Arc<str>,
    /// The handle it ends at as the file has it.
    pub target_handle: Arc<str>,
    /// What it stands for.
    pub role: EdgeRole,
    /// The place of the edge in the file's list of edges.
    pub index: usize,
}

/// What a drawn line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeRole {
    /// What runs after what. The only lines that are edges of the workflow (spec/canvas-engine T3).
    Flow,
    /// From an agent to the box that shows its tools.
    Tool,
    /// From an agent to a sub-agent, which is one of its tools.
    SubAgent,
    /// From an agent to where it goes when it fails.
    Exception,
}

impl GraphEdge {
    fn role(source_handle: &str, target_handle: &str, to_tool: bool) -> EdgeRole {
        match (source_handle, target_handle) {
            ("agentException", _) => EdgeRole::Exception,
            ("agentBottom", _) | (_, "agentTop") => EdgeRole::SubAgent,
            ("tool", _) => EdgeRole::Tool,
            _ if to_tool => EdgeRole::Tool,
            _ => EdgeRole::Flow,
        }
    }
}

impl Graph {
    /// The node of that id; the first of several.
    pub fn node(&self, id: &str) -> Option<&GraphNode> {
        self.nodes.iter().find(|node| &*node.id == id)
    }
}

impl Document {
    /// The drawing: `graph`, or `nodes` and `edges` at the top of the canvas. Empty if there is none.
    pub fn graph(&self) -> Graph {
        let part = |name| {
            let inside = self.get("graph").and_then(|graph| graph.get(name));
            inside
                .or_else(|| self.get(name))
                .and_then(Value::as_array)
                .unwrap_or_default()
        };
        let nodes: Vec<GraphNode> = part("nodes").iter().enumerate().filter_map(node).collect();
        let tools: HashSet<&str> = nodes
            .iter()
            .filter(|node| &*node.label == "Tool")
            .map(|node| &*node.id)
            .collect();
        let is_tool = |id: &str| id.starts_with("Tool:") || tools.contains(id);
        let edges = part("edges")
            .iter()
            .enumerate()
            .filter_map(|at| edge(at, is_tool))
            .collect();
        Graph { nodes, edges }
    }
}

fn node((index, node): (usize, &Value)) -> Option<GraphNode> {
    let data = node.get("data");
    let in_data = |name| data.and_then(|data| data.get(name));
    Some(GraphNode {
        id: text(node.get("id"))?,
        kind: text(node.get("type")).unwrap_or_default(),
        label: text(in_data("label")).unwrap_or_default(),
        name: text(in_data("name")),
        form: in_data("form").cloned().unwrap_or_default(),
        parent: text(node.get("parentId")),
        index,
    })
}

fn edge((index, edge): (usize, &Value), is_tool: impl Fn(&str) -> bool) -> Option<GraphEdge> {
    let (source, target) = (text(edge.get("source"))?, text(edge.get("target"))?);
    let source_handle = text(edge.get("sourceHandle")).unwrap_or_default();
    let target_handle = text(edge.get("targetHandle")).unwrap_or_default();
    Some(GraphEdge {
        role: GraphEdge::role(&source_handle, &target_handle, is_tool(&target)),
        source,
        target,
        source_handle,
        target_handle,
        index,
    })
}
