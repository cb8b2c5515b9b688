//! Loads canvases as the runtime does, and builds them from a few words.

use easel_canvas::document::Document;
use easel_canvas::{lower, normalise};
use easel_catalog::Catalog;
use easel_check::{Canvas, Diagnostic, Surroundings, check, refusals, unreadable};
use easel_core::compile;
use serde_json::{Map, Value, json};

/// What the check says about a file, and which of that forbids a run.
pub fn checked(text: &str, surroundings: &Surroundings<'_>) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let document = match Document::read(text.as_bytes()) {
        Ok(document) => document,
        Err(error) => return (vec![unreadable(&error)], vec![unreadable(&error)]),
    };
    let catalog = Catalog::builtin();
    let normal = normalise::normalise(&document);
    let lowered = lower::lower(&normal.document, catalog);
    let compiled = compile::compile(lowered.draft);
    let canvas = Canvas {
        document: &normal.document,
        notes: &normal.notes,
        parameters: &lowered.findings,
        structure: &compiled.findings,
        workflow: &compiled.workflow,
        catalog,
    };
    (check(&canvas, surroundings), refusals(&canvas))
}

/// A place where nothing is configured.
pub fn nothing() -> Surroundings<'static> {
    Surroundings {
        model: &|id| Some(format!("there is no provider for `{id}`")),
        secret: &|_| false,
    }
}

/// A node: `{"A": node("LLM", {..}).to(["B"])}` in the words of a canvas.
pub struct Node(pub Value);

pub fn node(component: &str, params: Value) -> Node {
    Node(json!({"obj": {"component_name": component, "params": params}, "downstream": []}))
}

impl Node {
    pub fn to(mut self, targets: &[&str]) -> Node {
        self.0["downstream"] = json!(targets);
        self
    }

    pub fn inside(mut self, container: &str) -> Node {
        self.0["parent_id"] = json!(container);
        self
    }
}

/// A canvas of these nodes.
pub fn canvas(nodes: Vec<(&str, Node)>) -> Value {
    let components: Map<String, Value> = nodes
        .into_iter()
        .map(|(id, node)| (id.to_owned(), node.0))
        .collect();
    json!({"components": components})
}

/// `begin`, leading to these.
pub fn begin(targets: &[&str]) -> (&'static str, Node) {
    ("begin", node("Begin", json!({})).to(targets))
}

/// A Message.
pub fn says(text: &str) -> Node {
    node("Message", json!({"content": [text]}))
}

/// A Switch with one case and a rest.
pub fn switch(case: &[&str], rest: &[&str]) -> Node {
    let test = json!({"cpn_id": "sys.query", "operator": "contains", "value": "a"});
    let conditions = json!([{"logical_operator": "and", "items": [test], "to": case}]);
    let all: Vec<&str> = case.iter().chain(rest).copied().collect();
    node(
        "Switch",
        json!({"conditions": conditions, "end_cpn_ids": rest}),
    )
    .to(&all)
}
