//! Canvases to measure with, made by number.

use serde_json::{Map, Value as Json, json};

/// A canvas in the making.
#[derive(Default)]
pub struct Canvas {
    components: Map<String, Json>,
    globals: Map<String, Json>,
}

impl Canvas {
    /// A canvas with a Begin that leads to these nodes.
    pub fn new(first: &[&str]) -> Canvas {
        Canvas::default().node("begin", "Begin", json!({}), first, None)
    }

    /// Adds a node.
    pub fn node(
        mut self,
        id: &str,
        class: &str,
        params: Json,
        downstream: &[&str],
        parent: Option<&str>,
    ) -> Canvas {
        let mut entry = json!({
            "obj": {"component_name": class, "params": params},
            "downstream": downstream,
        });
        if let Some(parent) = parent {
            entry["parent_id"] = json!(parent);
        }
        self.components.insert(id.to_owned(), entry);
        self
    }

    /// Adds a variable with its value.
    pub fn variable(mut self, name: &str, value: Json) -> Canvas {
        self.globals.insert(name.to_owned(), value);
        self
    }

    /// The canvas as text.
    pub fn text(self) -> Vec<u8> {
        let globals = self.globals;
        let variables: Map<String, Json> = globals
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("env.")?, value)))
            .map(|(name, value)| (name.to_owned(), json!({"value": value})))
            .collect();
        let canvas = json!({
            "components": self.components, "globals": globals, "variables": variables,
        });
        canvas.to_string().into_bytes()
    }
}

fn merge(script: &str) -> Json {
    json!({"method": "merge", "script": script, "delimiters": [","]})
}

/// Begin, then `length` text nodes, each reading the one before, then a Message.
pub fn chain(length: usize) -> Vec<u8> {
    let name = |n: usize| format!("StringTransform:N{n}");
    let mut canvas = Canvas::new(&[&name(0)]);
    for n in 0..length {
        let script = match n {
            0 => "{sys.query}".to_owned(),
            n => format!("{{{}@result}}", name(n - 1)),
        };
        let next = match n + 1 == length {
            true => "Message:End".to_owned(),
            false => name(n + 1),
        };
        canvas = canvas.node(&name(n), "StringTransform", merge(&script), &[&next], None);
    }
    let said = json!({"content": [format!("{{{}@result}}", name(length - 1))]});
    canvas
        .node("Message:End", "Message", said, &[], None)
        .text()
}

/// Begin, then `width` text nodes side by side, then a Message that joins them.
pub fn fan(width: usize) -> Vec<u8> {
    let names: Vec<String> = (0..width)
        .map(|n| format!("StringTransform:F{n}"))
        .collect();
    let mut canvas = Canvas::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for name in &names {
        canvas = canvas.node(
            name,
            "StringTransform",
            merge("{sys.query}"),
            &["Message:End"],
            None,
        );
    }
    let said: String = names.iter().map(|n| format!("{{{n}@result}}")).collect();
    canvas
        .node(
            "Message:End",
            "Message",
            json!({"content": [said]}),
            &[],
            None,
        )
        .text()
}

/// An iteration over `items` items with a body of two text nodes, then a Message.
pub fn iteration(items: usize) -> Vec<u8> {
    let list: Vec<Json> = (0..items).map(|n| json!(format!("item {n}"))).collect();
    Canvas::new(&["Iteration:I"])
        .variable("env.items", Json::from(list))
        .node(
            "Iteration:I",
            "Iteration",
            json!({"items_ref": "env.items", "outputs": {"lines": {"ref": "StringTransform:B@result"}}}),
            &["Message:End"],
            None,
        )
        .node("IterationItem:It", "IterationItem", json!({}), &["StringTransform:A"], Some("Iteration:I"))
        .node("StringTransform:A", "StringTransform", merge("a {item}"), &["StringTransform:B"], Some("Iteration:I"))
        .node("StringTransform:B", "StringTransform", merge("b {StringTransform:A@result}"), &[], Some("Iteration:I"))
        .node("Message:End", "Message", json!({"content": ["done"]}), &[], None)
        .text()
}

/// `depth` iterations, one inside the other, each with one pass; the innermost text node reads a variable and a port of
/// the root.
pub fn nested(depth: usize) -> Vec<u8> {
    let mut canvas = Canvas::new(&["StringTransform:Root"])
        .variable("env.one", json!(["x"]))
        .node(
            "StringTransform:Root",
            "StringTransform",
            merge("{sys.query}"),
            &["Iteration:I0"],
            None,
        );
    for level in 0..depth {
        let id = format!("Iteration:I{level}");
        let parent = level.checked_sub(1).map(|n| format!("Iteration:I{n}"));
        let next: &[&str] = if level == 0 { &["Message:End"] } else { &[] };
        let params = json!({"items_ref": "env.one"});
        canvas = canvas.node(&id, "Iteration", params, next, parent.as_deref());
        let inner = match level + 1 == depth {
            true => "StringTransform:Leaf".to_owned(),
            false => format!("Iteration:I{}", level + 1),
        };
        canvas = canvas.node(
            &format!("IterationItem:T{level}"),
            "IterationItem",
            json!({}),
            &[&inner],
            Some(&id),
        );
    }
    let parent = depth.checked_sub(1).map(|n| format!("Iteration:I{n}"));
    canvas
        .node(
            "StringTransform:Leaf",
            "StringTransform",
            merge("{StringTransform:Root@result}"),
            &[],
            parent.as_deref(),
        )
        .node(
            "Message:End",
            "Message",
            json!({"content": ["done"]}),
            &[],
            None,
        )
        .text()
}
