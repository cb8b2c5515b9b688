//! What differs between two workflows: nodes that came and went, and fields that changed.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use crate::columns::one_line;

/// How much of a value is shown in a line.
const SHORT: usize = 72;

/// What of a long text stands before the place where it changed.
const BEFORE: usize = 24;

/// What there is to compare of a workflow.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The nodes by id: what they are, and each of their fields.
    nodes: IndexMap<String, Node>,
    /// What belongs to the workflow as a whole.
    whole: Map<String, Json>,
    /// Where editors draw things, which changes nothing of what runs.
    drawing: Json,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Node {
    kind: String,
    name: String,
    fields: Map<String, Json>,
}

/// A node that came or went.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    id: String,
    kind: String,
    name: String,
}

/// A field that is not the same.
#[derive(Clone, Debug, PartialEq)]
struct Field {
    path: String,
    old: Option<Json>,
    new: Option<Json>,
}

/// A node of which fields are not the same.
#[derive(Clone, Debug, PartialEq)]
struct Changed {
    node: Named,
    fields: Vec<Field>,
}

/// What differs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    added: Vec<Named>,
    removed: Vec<Named>,
    changed: Vec<Changed>,
    whole: Vec<Field>,
    drawing: bool,
}

/// What a canvas keeps of conversations, which is no part of the workflow.
const OF_CONVERSATIONS: [&str; 9] = [
    "history",
    "path",
    "retrieval",
    "memory",
    "messages",
    "reference",
    "answer",
    "task_id",
    "globals",
];

impl Shape {
    /// Of a canvas: its components. Values that a run left in them do not count.
    pub fn of_canvas(canvas: &Json) -> Shape {
        let mut shape = Shape::default();
        let drawn = canvas["graph"]["nodes"].as_array().map(Vec::as_slice);
        let mut names: IndexMap<&str, &str> = IndexMap::new();
        let mut places = Vec::new();
        for node in drawn.unwrap_or_default() {
            let id = node["id"].as_str().unwrap_or_default();
            if let Some(name) = node["data"]["name"].as_str() {
                names.insert(id, name);
            }
            let note = &node["data"]["form"]["text"];
            places.push(json!([
                id,
                node["position"],
                node["width"],
                node["height"],
                note
            ]));
        }
        shape.drawing = places.into();
        let components = canvas["components"].as_object();
        for (id, component) in components.into_iter().flatten() {
            let kind = component["obj"]["component_name"]
                .as_str()
                .unwrap_or_default();
            let mut fields = Map::new();
            let params = component["obj"]["params"].as_object();
            for (name, value) in params.into_iter().flatten() {
                fields.insert(name.clone(), without_values(name, value));
            }
            fields.insert("→".to_owned(), component["downstream"].clone());
            if let Some(parent) = component["parent_id"].as_str() {
                fields.insert("inside".to_owned(), parent.into());
            }
            let name = names.get(id.as_str()).copied().unwrap_or_default();
            let node = Node {
                kind: kind.to_owned(),
                name: name.to_owned(),
                fields,
            };
            shape.nodes.insert(id.clone(), node);
        }
        let rest = canvas.as_object();
        for (name, value) in rest.into_iter().flatten() {
            let known = matches!(name.as_str(), "components" | "graph" | "_layout");
            if !known && !OF_CONVERSATIONS.contains(&name.as_str()) {
                shape.whole.insert(name.clone(), value.clone());
            }
        }
        let globals = canvas["globals"].as_object();
        for (name, value) in globals.into_iter().flatten() {
            if name.starts_with("env.") {
                shape.whole.insert(name.clone(), value.clone());
            }
        }
        shape
    }

    /// Of a graph: its nodes, and the files beside it.
    pub fn of_graph(graph: &Json, files: Map<String, Json>) -> Shape {
        let mut shape = Shape::default();
        shape.add_nodes("", &graph["nodes"]);
        let rest = graph.as_object();
        for (name, value) in rest.into_iter().flatten() {
            if name != "nodes" {
                shape.whole.insert(name.clone(), value.clone());
            }
        }
        shape.whole.extend(files);
        shape
    }

    /// Nodes, and those in their bodies.
    fn add_nodes(&mut self, around: &str, nodes: &Json) {
        for node in nodes.as_array().map(Vec::as_slice).unwrap_or_default() {
            let Some(members) = node.as_object() else {
                continue;
            };
            let said = |key: &str| node[key].as_str().unwrap_or_default().to_owned();
            let id = format!("{around}{}", said("id"));
            let mut fields = members.clone();
            for known in ["id", "kind"] {
                fields.shift_remove(known);
            }
            if let Some(body) = fields.shift_remove("body") {
                let within = format!("{id}/");
                match body.get("nodes") {
                    Some(nodes) => {
                        self.add_nodes(&within, nodes);
                        let mut rest = body.as_object().cloned().unwrap_or_default();
                        rest.shift_remove("nodes");
                        fields.insert("body".to_owned(), rest.into());
                    }
                    None if body.is_array() => self.add_nodes(&within, &body),
                    None => drop(fields.insert("body".to_owned(), body)),
                }
            }
            let node = Node {
                kind: said("kind"),
                name: String::new(),
                fields,
            };
            self.nodes.insert(id, node);
        }
    }
}

/// Declared ports and fields without what a run left in them.
fn without_values(name: &str, value: &Json) -> Json {
    let mut value = value.clone();
    if name == "outputs"
        && let Some(ports) = value.as_object_mut()
    {
        for port in ports.values_mut().filter_map(Json::as_object_mut) {
            port.shift_remove("value");
        }
    }
    value
}

impl Comparison {
    /// What differs between an older shape and a newer one.
    pub fn of(old: &Shape, new: &Shape) -> Comparison {
        let mut comparison = Comparison {
            drawing: old.drawing != new.drawing,
            ..Comparison::default()
        };
        for (id, node) in &new.nodes {
            match old.nodes.get(id) {
                None => comparison.added.push(named(id, node)),
                Some(before) if before != node => {
                    let mut fields = Vec::new();
                    for (path, old, new) in [
                        ("kind", &before.kind, &node.kind),
                        ("name", &before.name, &node.name),
                    ] {
                        if old != new {
                            fields.push(Field {
                                path: path.to_owned(),
                                old: Some(old.as_str().into()),
                                new: Some(new.as_str().into()),
                            });
                        }
                    }
                    members("", &before.fields, &node.fields, &mut fields);
                    let node = named(id, node);
                    comparison.changed.push(Changed { node, fields });
                }
                Some(_) => {}
            }
        }
        let gone = old
            .nodes
            .iter()
            .filter(|(id, _)| !new.nodes.contains_key(*id));
        comparison.removed = gone.map(|(id, node)| named(id, node)).collect();
        members("", &old.whole, &new.whole, &mut comparison.whole);
        // What differs in nothing but the order of its fields is the same.
        comparison
            .changed
            .retain(|changed| !changed.fields.is_empty());
        comparison
    }

    /// True if nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Comparison::default()
    }

    /// In a few words.
    pub fn summary(&self) -> String {
        let mut parts = Vec::new();
        let nodes = |count: usize| match count {
            1 => "1 node".to_owned(),
            count => format!("{count} nodes"),
        };
        for (count, what) in [
            (self.added.len(), "added"),
            (self.removed.len(), "removed"),
            (self.changed.len(), "changed"),
        ] {
            if count > 0 {
                parts.push(format!("{} {what}", nodes(count)));
            }
        }
        match self.whole.len() {
            0 => {}
            1 => parts.push("1 setting changed".to_owned()),
            count => parts.push(format!("{count} settings changed")),
        }
        match (self.drawing, parts.is_empty()) {
            (true, true) => "only the drawing".to_owned(),
            (true, false) => format!("{}, and the drawing", parts.join(", ")),
            (false, true) => "nothing changed".to_owned(),
            (false, false) => parts.join(", "),
        }
    }

    /// Line by line.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for node in &self.added {
            let _ = writeln!(text, "  + {}", node.line());
        }
        for node in &self.removed {
            let _ = writeln!(text, "  - {}", node.line());
        }
        for Changed { node, fields } in &self.changed {
            let _ = writeln!(text, "  ~ {}", node.line());
            fields.iter().for_each(|field| field.write(&mut text, 6));
        }
        self.whole
            .iter()
            .for_each(|field| field.write(&mut text, 2));
        text
    }

    /// For programs.
    pub fn to_json(&self) -> Json {
        let node = |node: &Named| json!({"id": node.id, "kind": node.kind, "name": node.name});
        let field = |field: &Field| {
            let mut shown = json!({"field": field.path});
            for (name, value) in [("old", &field.old), ("new", &field.new)] {
                if let Some(value) = value {
                    shown[name] = value.clone();
                }
            }
            shown
        };
        let changed = |changed: &Changed| {
            let mut shown = node(&changed.node);
            shown["fields"] = changed.fields.iter().map(field).collect();
            shown
        };
        json!({
            "same": self.is_empty(),
            "added": self.added.iter().map(node).collect::<Vec<_>>(),
            "removed": self.removed.iter().map(node).collect::<Vec<_>>(),
            "changed": self.changed.iter().map(changed).collect::<Vec<_>>(),
            "settings": self.whole.iter().map(field).collect::<Vec<_>>(),
            "drawing": self.drawing,
        })
    }
}

fn named(id: &str, node: &Node) -> Named {
    Named {
        id: id.to_owned(),
        kind: node.kind.clone(),
        name: node.name.clone(),
    }
}

impl Named {
    fn line(&self) -> String {
        let mut about = Vec::new();
        if !self.id.starts_with(&format!("{}:", self.kind)) && !self.kind.is_empty() {
            about.push(self.kind.as_str());
        }
        if !self.name.is_empty() && self.name != self.id {
            about.push(&self.name);
        }
        match about.is_empty() {
            true => self.id.clone(),
            false => format!("{} ({})", self.id, about.join(", ")),
        }
    }
}

/// Fields of two objects that are not the same, by path.
fn members(around: &str, old: &Map<String, Json>, new: &Map<String, Json>, found: &mut Vec<Field>) {
    let path = |name: &str| match around.is_empty() {
        true => name.to_owned(),
        false => format!("{around}.{name}"),
    };
    for (name, value) in old {
        match new.get(name) {
            None => found.push(Field {
                path: path(name),
                old: Some(value.clone()),
                new: None,
            }),
            Some(other) => values(&path(name), value, other, found),
        }
    }
    for (name, value) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        found.push(Field {
            path: path(name),
            old: None,
            new: Some(value.clone()),
        });
    }
}

fn values(path: &str, old: &Json, new: &Json, found: &mut Vec<Field>) {
    match (old, new) {
        _ if old == new => {}
        (Json::Object(old), Json::Object(new)) => members(path, old, new, found),
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (at, (old, new)) in old.iter().zip(new).enumerate() {
                values(&format!("{path}.{at}"), old, new, found);
            }
        }
        _ => found.push(Field {
            path: path.to_owned(),
            old: Some(old.clone()),
            new: Some(new.clone()),
        }),
    }
}

impl Field {
    fn write(&self, text: &mut String, indent: usize) {
        let blank = " ".repeat(indent);
        let path = &self.path;
        let _ = match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                let (old, new) = side_by_side(&flat(old), &flat(new));
                writeln!(text, "{blank}{path}: {old} → {new}")
            }
            (None, Some(new)) => writeln!(text, "{blank}+ {path}: {}", cut(&flat(new), 0)),
            (Some(old), None) => writeln!(text, "{blank}- {path}: {}", cut(&flat(old), 0)),
            (None, None) => Ok(()),
        };
    }
}

/// A value in a line.
fn flat(value: &Json) -> String {
    match value {
        Json::String(text) => format!("\"{}\"", one_line(text)),
        other => other.to_string(),
    }
}

/// Two texts from shortly before the place where they part.
fn side_by_side(old: &str, new: &str) -> (String, String) {
    let same = old
        .chars()
        .zip(new.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let long = old.chars().count().max(new.chars().count()) > SHORT;
    let from = if long { same.saturating_sub(BEFORE) } else { 0 };
    (cut(old, from), cut(new, from))
}

/// At most so much of a text, from a character on.
fn cut(text: &str, from: usize) -> String {
    let mut shown: String = text.chars().skip(from).take(SHORT).collect();
    if from > 0 {
        shown.insert(0, '…');
    }
    if text.chars().count() > from + SHORT {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canvas(prompt: &str, extra: bool) -> Json {
        let mut canvas = json!({
            "components": {
                "begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Agent:A"], "upstream": []},
                "Agent:A": {
                    "obj": {"component_name": "Agent", "params": {"sys_prompt": prompt, "outputs": {"content": {"type": "string", "value": "x"}}}},
                    "downstream": [], "upstream": ["begin"],
                },
            },
            "graph": {"nodes": [{"id": "Agent:A", "position": {"x": 1, "y": 2}, "data": {"name": "Clerk"}}]},
            "history": [["user", "hi"]],
            "variables": {"n": {"type": "number", "value": 1}},
        });
        if extra {
            canvas["components"]["Message:M"] = json!({"obj": {"component_name": "Message", "params": {"content": ["hi"]}}, "downstream": []});
            canvas["components"]["Agent:A"]["downstream"] = json!(["Message:M"]);
            canvas["variables"]["n"]["value"] = json!(2);
        }
        canvas
    }

    fn compare(old: &Json, new: &Json) -> Comparison {
        Comparison::of(&Shape::of_canvas(old), &Shape::of_canvas(new))
    }

    #[test]
    fn nodes_that_came_went_and_changed_are_told_with_their_fields() {
        let found = compare(&canvas("Be brief.", false), &canvas("Be kind.", true));
        assert_eq!(
            found.summary(),
            "1 node added, 1 node changed, 1 setting changed"
        );
        let text = "  + Message:M\n  ~ Agent:A (Clerk)\n      sys_prompt: \"Be brief.\" → \"Be kind.\"\n\
                    \x20     →: [] → [\"Message:M\"]\n  variables.n.value: 1 → 2\n";
        assert_eq!(found.to_text(), text);
        let back = compare(&canvas("Be kind.", true), &canvas("Be brief.", false));
        assert!(back.to_text().starts_with("  - Message:M\n"));
    }

    #[test]
    fn what_a_conversation_left_behind_is_no_change() {
        let old = canvas("x", false);
        let mut new = old.clone();
        new["history"] = json!([]);
        new["components"]["Agent:A"]["obj"]["params"]["outputs"]["content"]["value"] = json!("y");
        assert!(compare(&old, &new).is_empty());
    }

    #[test]
    fn a_node_that_was_moved_changes_the_drawing_only() {
        let old = canvas("x", false);
        let mut new = old.clone();
        new["graph"]["nodes"][0]["position"]["x"] = json!(5);
        let found = compare(&old, &new);
        assert!(!found.is_empty());
        assert_eq!(found.summary(), "only the drawing");
    }

    #[test]
    fn a_long_prompt_is_shown_where_it_changed() {
        let long = "word ".repeat(100);
        let found = compare(
            &canvas(&format!("{long} old end"), false),
            &canvas(&format!("{long} new end"), false),
        );
        let text = found.to_text();
        assert!(
            text.contains("old end\" → ") && text.contains("new end\""),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() < 200));
    }

    #[test]
    fn nodes_in_the_body_of_a_graph_are_compared_too() {
        let graph = |prompt: &str| json!({"name": "g", "nodes": [{"id": "each", "kind": "map", "body": {"nodes": [{"id": "say", "kind": "base", "prompt": prompt}]}}]});
        let old = Shape::of_graph(&graph("a"), Map::new());
        let new = Shape::of_graph(&graph("b"), Map::new());
        let text = Comparison::of(&old, &new).to_text();
        assert_eq!(text, "  ~ each/say (base)\n      prompt: \"a\" → \"b\"\n");
    }
}
