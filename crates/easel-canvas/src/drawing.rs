//! A drawing that an editor can open, whatever the document has of one (spec/canvas-engine §1.5 N6).

use std::sync::Arc;

use easel_core::{Object, Value};
use indexmap::{IndexMap, IndexSet};

use crate::component::{Component, ids, text};
use crate::document::Document;
use crate::edit::members;
use crate::wiring::Edge;

/// The editor's kinds of nodes by class; all other classes are drawn as `ragNode`.
const KINDS: [(&str, &str); 26] = [
    ("Begin", "beginNode"),
    ("File", "beginNode"),
    ("Agent", "agentNode"),
    ("Categorize", "categorizeNode"),
    ("Message", "messageNode"),
    ("RewriteQuestion", "rewriteNode"),
    ("Switch", "switchNode"),
    ("Retrieval", "retrievalNode"),
    ("Parser", "parserNode"),
    ("Tokenizer", "tokenizerNode"),
    ("TokenChunker", "chunkerNode"),
    ("TitleChunker", "chunkerNode"),
    ("Extractor", "contextNode"),
    ("Compiler", "compilationNode"),
    ("Loop", "loopNode"),
    ("LoopItem", "loopStartNode"),
    ("ExitLoop", "exitLoopNode"),
    ("Iteration", "iterationNode"),
    ("IterationItem", "iterationStartNode"),
    ("DataOperations", "dataOperationsNode"),
    ("ListOperations", "listOperationsNode"),
    ("VariableAssigner", "variableAssignerNode"),
    ("VariableAggregator", "variableAggregatorNode"),
    ("KeywordExtract", "keywordNode"),
    ("Tool", "toolNode"),
    ("Note", "noteNode"),
];

/// Where nodes are put that nobody placed, in the editor's pixels: a row, left to right.
const FIRST_X: f64 = 50.0;
const STEP_X: f64 = 350.0;
const ROW_Y: f64 = 200.0;

impl Document {
    /// The drawing with what an editor needs: normal lines run from `start` to `end`, every component is drawn, and so
    /// are the edges of those that weren't. The document itself stays as it is.
    pub fn drawing(&self) -> Value {
        let mut graph = self
            .get("graph")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let part = |graph: &Object, name: &str| {
            let list = graph
                .get(name)
                .or_else(|| self.get(name))
                .and_then(Value::as_array);
            list.unwrap_or_default().to_vec()
        };
        let (mut nodes, mut lines) = (part(&graph, "nodes"), part(&graph, "edges"));
        for line in lines.iter_mut().filter_map(members) {
            straighten(line, "sourceHandle", "start");
            straighten(line, "targetHandle", "end");
        }
        let components = self.components();
        let drawn: IndexSet<Arc<str>> = nodes
            .iter()
            .filter_map(|node| text(node.get("id")))
            .collect();
        let missing: Vec<&Component> = components
            .values()
            .filter(|component| !drawn.contains(&component.id))
            .collect();
        if !missing.is_empty() {
            let y = lowest(&nodes).map_or(ROW_Y, |lowest| lowest + ROW_Y);
            nodes.extend(
                (0_u32..)
                    .zip(missing)
                    .map(|(at, component)| node(component, FIRST_X + STEP_X * f64::from(at), y)),
            );
            let is_there =
                |edge: &Edge| edge.drawn || drawn.contains(&edge.from) && drawn.contains(&edge.to);
            let edges = self
                .edges()
                .into_iter()
                .filter(|edge| !is_there(edge) && components.contains_key(&edge.to));
            lines.extend(edges.flat_map(|edge| draw(&components, &edge)));
        }
        graph.insert("nodes".into(), nodes.into());
        graph.insert("edges".into(), lines.into());
        graph.into()
    }
}

/// A handle that is one of the two normal ones becomes the one of its side.
fn straighten(line: &mut Object, name: &str, normal: &str) {
    if let Some(Value::String(handle)) = line.get(name)
        && matches!(&**handle, "start" | "end")
        && &**handle != normal
    {
        line.insert(name.into(), normal.into());
    }
}

fn lowest(nodes: &[Value]) -> Option<f64> {
    let height = |node: &Value| node.get("position")?.get("y")?.as_f64();
    nodes.iter().filter_map(height).reduce(f64::max)
}

fn node(component: &Component, x: f64, y: f64) -> Value {
    let kind = KINDS
        .iter()
        .find(|(class, _)| component.is(class))
        .map_or("ragNode", |(_, kind)| kind);
    let position = Object::from_iter([("x".into(), Value::from(x)), ("y".into(), Value::from(y))]);
    let data = Object::from_iter([
        ("label".into(), Value::from(component.class.clone())),
        ("name".into(), Value::from(component.id.clone())),
        ("form".into(), Value::Object(component.params.clone())),
    ]);
    let mut node = Object::from_iter([
        ("id".into(), Value::from(component.id.clone())),
        ("type".into(), Value::from(kind)),
        ("position".into(), position.into()),
        ("data".into(), data.into()),
    ]);
    if let Some(parent) = &component.parent {
        node.insert("parentId".into(), parent.clone().into());
    }
    node.into()
}

/// The lines of an edge: one from each case or category that leads there, else one from the normal handle.
fn draw(components: &IndexMap<Arc<str>, Component>, edge: &Edge) -> Vec<Value> {
    let handles = components
        .get(&edge.from)
        .map(|component| handles(component, &edge.to))
        .unwrap_or_default();
    let line = |handle: &Arc<str>| {
        let members = [
            (
                "id",
                Arc::from(format!("xy-edge__{}{handle}-{}end", edge.from, edge.to)),
            ),
            ("source", edge.from.clone()),
            ("sourceHandle", handle.clone()),
            ("target", edge.to.clone()),
            ("targetHandle", "end".into()),
        ];
        members
            .into_iter()
            .map(|(name, text)| (name.into(), Value::from(text)))
            .collect::<Object>()
            .into()
    };
    handles.iter().map(line).collect()
}

fn handles(component: &Component, to: &Arc<str>) -> Vec<Arc<str>> {
    let leads_there =
        |targets: Option<&Value>| targets.is_some_and(|targets| ids(targets).contains(to));
    let params = &component.params;
    let mut handles: Vec<Arc<str>> = Vec::new();
    let cases = params
        .get("conditions")
        .and_then(Value::as_array)
        .unwrap_or_default();
    for (at, case) in cases.iter().enumerate() {
        if leads_there(case.get("to")) {
            handles.push(format!("Case {}", at + 1).into());
        }
    }
    if leads_there(params.get("end_cpn_ids")) {
        handles.push("end_cpn_ids".into());
    }
    let categories = params
        .get("category_description")
        .and_then(Value::as_object);
    for (name, category) in categories.into_iter().flatten() {
        if leads_there(category.get("to")) {
            handles.push(text(category.get("uuid")).unwrap_or_else(|| name.clone()));
        }
    }
    if handles.is_empty() {
        handles.push("start".into());
    }
    handles
}

#[cfg(test)]
#[path = "drawing_tests.rs"]
mod tests;
