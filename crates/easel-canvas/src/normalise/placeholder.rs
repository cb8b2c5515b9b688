//! Placeholders of the time before `{component@output}`: `{input}`, `{retrieval:0}`, and bare ids in parameters.
//!
//! An old text took what came along the edges (`{input}`), what a table of parameters named (`{topic}`), or what a
//! component put out (`{retrieval:0}`). Each of these has one meaning as a reference, and what a person said last is
//! `sys.query`.

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::Value;
use indexmap::{IndexMap, IndexSet};

use super::{Node, Rewrite, Rewriter, rewritten};
use crate::component::{Component, text};
use crate::document::Document;
use crate::edit::{items, members};
use crate::wiring::Edge;

/// What a person said last.
const SAID: &str = "sys.query";

/// Rewrites the old placeholders of every component. Runs while classes still have their old names.
pub(super) fn references(rewriter: &mut Rewriter) {
    let sources = Sources::of(&rewriter.document);
    let has_answers = sources
        .components
        .values()
        .any(|component| component.is("Answer"));
    rewriter.each_node(|node| {
        if node.is("Generate") {
            prompt(node, &sources);
        }
        if node.is("Message") {
            in_text(node, "messages", &|token| sources.bare(token).map(braced));
        }
        if node.is("Switch") {
            compared(node, &sources);
        }
        if !node.is("DataOperations") {
            query(node, &sources);
        }
        if has_answers {
            answered(node, &sources);
        }
    });
}

/// The port of a class that stands for what it puts out.
pub(super) fn port(class: &str) -> &'static str {
    let port = [
        (
            "content",
            &[
                "Agent",
                "Browser",
                "Generate",
                "LLM",
                "Message",
                "RewriteQuestion",
                "Template",
            ][..],
        ),
        (
            "result",
            &[
                "CodeExec",
                "DataOperations",
                "Invoke",
                "ListOperations",
                "StringTransform",
            ],
        ),
        ("category_name", &["Categorize"]),
    ];
    let of_class = port
        .iter()
        .find(|(_, classes)| classes.iter().any(|name| name.eq_ignore_ascii_case(class)));
    of_class.map_or("formalized_content", |(port, _)| port)
}

/// How many nodes are looked at for one `{input}`, so that a drawing of thousands costs no square of that.
const MOST_SOURCES: usize = 100;

/// What comes from where.
struct Sources {
    components: IndexMap<Arc<str>, Component>,
    /// The ids of the nodes before each node.
    before: HashMap<Arc<str>, Vec<Arc<str>>>,
}

impl Sources {
    fn of(document: &Document) -> Sources {
        let components = document.components();
        let mut before: HashMap<Arc<str>, Vec<Arc<str>>> = HashMap::new();
        let edges = document.edges_between(&components).into_iter();
        for edge in edges.filter(Edge::is_wired) {
            before.entry(edge.to).or_default().push(edge.from);
        }
        Sources { components, before }
    }

    fn is_answer(&self, id: &str) -> bool {
        self.components
            .get(id)
            .is_some_and(|component| component.is("Answer"))
    }

    /// The key of what a component puts out, if the text is the id of one.
    fn bare(&self, id: &str) -> Option<String> {
        let component = self.components.get(id)?;
        if component.is("Begin") || component.is("Answer") {
            return Some(SAID.to_owned());
        }
        Some(format!("{id}@{}", port(&component.class)))
    }

    /// The key that an old table names: a component's id, or a key as today.
    fn named(&self, id: &str) -> Option<String> {
        self.bare(id)
            .or_else(|| id.contains('@').then(|| id.to_owned()))
    }

    /// What comes to a node along its edges, as references one a line: the nodes before it, seen through those that
    /// only choose a way. What a person said counts only if nothing else comes.
    fn input(&self, id: &str) -> String {
        let before = |id: &str| self.before.get(id).cloned().unwrap_or_default();
        let mut keys = IndexSet::new();
        let mut seen: IndexSet<Arc<str>> = before(id).into_iter().collect();
        let mut at = 0;
        while let Some(source) = seen.get_index(at).filter(|_| at < MOST_SOURCES).cloned() {
            at += 1;
            let chooses = ["Categorize", "Concentrator", "Relevant", "Switch"];
            match self.components.get(&source) {
                Some(component) if chooses.iter().any(|class| component.is(class)) => {
                    seen.extend(before(&source))
                }
                _ => keys.extend(self.bare(&source)),
            }
        }
        if keys.len() > 1 {
            keys.shift_remove(SAID);
        } else if keys.is_empty() {
            keys.insert(SAID.to_owned());
        }
        keys.iter().map(braced).collect::<Vec<_>>().join("\n")
    }
}

/// The prompt of an old text generator: `{input}`, the names of its table `parameters`, and ids.
fn prompt(node: &mut Node, sources: &Sources) {
    let table = node
        .params
        .get("parameters")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let row = |row: &Value| {
        Some((
            text(row.get("key"))?,
            sources.named(&text(row.get("component_id"))?)?,
        ))
    };
    let table: HashMap<Arc<str>, String> = table.iter().filter_map(row).collect();
    let input = sources.input(&node.id);
    in_text(node, "prompt", &|token| match table.get(token) {
        Some(key) => Some(braced(key)),
        None if token == "input" => Some(input.clone()),
        None => sources.bare(token).map(braced),
    });
}

/// Replaces placeholders in one parameter, a text or a list of texts.
fn in_text(node: &mut Node, param: &str, replacement: &impl Fn(&str) -> Option<String>) {
    let replaced = |text: &str| replace_braced(text, replacement);
    if let Some(new) = node
        .params
        .get(param)
        .and_then(|value| rewritten(value, &replaced))
    {
        node.params.insert(param.into(), new);
        let what = format!("placeholders of old in `{param}` are references now");
        node.note_param(Rewrite::PlaceholderRewritten, param, what);
    }
}

/// The text with each `{...}` for whose inner part there is a replacement replaced, or `None` if there is none.
fn replace_braced(text: &str, replacement: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut new = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some((before, behind)) = rest.split_once('{') {
        new.push_str(before);
        let inner = behind
            .split_once('}')
            .filter(|(inner, _)| !inner.contains('{'));
        match inner.and_then(|(inner, tail)| Some((replacement(inner.trim())?, tail))) {
            Some((replacement, tail)) => {
                new.push_str(&replacement);
                rest = tail;
                changed = true;
            }
            None => {
                new.push('{');
                rest = behind;
            }
        }
    }
    new.push_str(rest);
    changed.then_some(new)
}

fn braced(key: impl AsRef<str>) -> String {
    format!("{{{}}}", key.as_ref())
}

/// The compared values of a Switch, which were bare ids.
fn compared(node: &mut Node, sources: &Sources) {
    let mut changed = false;
    let conditions = node
        .params
        .get_mut("conditions")
        .and_then(items)
        .into_iter()
        .flatten();
    for condition in conditions.filter_map(members) {
        for item in condition
            .get_mut("items")
            .and_then(items)
            .into_iter()
            .flatten()
            .filter_map(members)
        {
            if let Some(key) = text(item.get("cpn_id")).and_then(|id| sources.bare(&id)) {
                item.insert("cpn_id".into(), key.into());
                changed = true;
            }
        }
    }
    if changed {
        let what = "values to compare were named by a component alone and are references to its output now";
        node.note_param(Rewrite::PlaceholderRewritten, "conditions", what);
    }
}

/// A query that was a table of references and texts.
fn query(node: &mut Node, sources: &Sources) {
    let Some(rows) = node.params.get("query").and_then(Value::as_array) else {
        return;
    };
    let part = |row: &Value| match text(row.get("component_id")) {
        Some(id) => sources.named(&id).map(braced),
        None => text(row.get("value")).map(|value| value.to_string()),
    };
    let is_table = rows.iter().any(|row| row.get("component_id").is_some());
    if is_table {
        let text = rows.iter().filter_map(part).collect::<Vec<_>>().join("\n");
        node.params.insert("query".into(), text.into());
        node.note_param(
            Rewrite::PlaceholderRewritten,
            "query",
            "`query` was a table and is a text with references now",
        );
    }
}

/// References to what a person answered.
fn answered(node: &mut Node, sources: &Sources) {
    let is_answer = |key: &str| {
        key.split_once('@')
            .is_some_and(|(id, _)| sources.is_answer(id))
    };
    let said = |text: &str| {
        if is_answer(text) {
            return Some(SAID.to_owned());
        }
        replace_braced(text, |token| {
            (sources.is_answer(token) || is_answer(token)).then(|| braced(SAID))
        })
    };
    let params: Vec<_> = node.params.keys().cloned().collect();
    for param in params {
        if let Some(new) = node
            .params
            .get(&param)
            .and_then(|value| rewritten(value, &said))
        {
            node.params.insert(param.clone(), new);
            let what = format!("what a person answered is read as `{SAID}` in `{param}` now");
            node.note_param(Rewrite::PlaceholderRewritten, &param, what);
        }
    }
}
