//! Components that changed their names: classes, and the ids made from them (spec/canvas-engine §1.5 N2).

use std::sync::Arc;

use easel_core::{Object, Value};
use indexmap::{IndexMap, IndexSet};

use super::{Rewrite, Rewriter, rewritten};
use crate::component::{entry_class, text};
use crate::edit::{items, members, object_at};
use crate::pointer::Pointer;

/// An old class name and the present one.
struct Renamed {
    old: &'static str,
    new: &'static str,
    /// True if ids made from the class (`Splitter:Fox`) changed with it.
    ids: bool,
}

static RENAMED: [Renamed; 9] = [
    Renamed {
        old: "Splitter",
        new: "TokenChunker",
        ids: true,
    },
    Renamed {
        old: "HierarchicalMerger",
        new: "TitleChunker",
        ids: true,
    },
    Renamed {
        old: "PDFGenerator",
        new: "DocGenerator",
        ids: true,
    },
    Renamed {
        old: "DocsGenerator",
        new: "DocGenerator",
        ids: false,
    },
    Renamed {
        old: "SearchMyDataset",
        new: "Retrieval",
        ids: false,
    },
    Renamed {
        old: "search_my_dataset",
        new: "Retrieval",
        ids: false,
    },
    Renamed {
        old: "search_my_dateset",
        new: "Retrieval",
        ids: false,
    },
    Renamed {
        old: "Fillup",
        new: FORM,
        ids: false,
    },
    Renamed {
        old: "Parallel",
        new: "Iteration",
        ids: false,
    },
];

const FORM: &str = "UserFillUp";

/// The present name of a class, if it has another now. Only exact names count.
fn present(class: &str) -> Option<&'static str> {
    RENAMED
        .iter()
        .find(|renamed| renamed.old == class)
        .map(|renamed| renamed.new)
}

/// Classes of components and of tools inside agents.
pub(super) fn classes(rewriter: &mut Rewriter) {
    rewriter.each_node(|node| {
        if let Some(new) = present(&node.class) {
            let old = std::mem::replace(&mut node.class, new.into());
            node.note(
                Rewrite::ClassRenamed,
                format!("`{old}` is called `{new}` now"),
            );
            if &*old == "Fillup" {
                // The old class asked without words of its own.
                node.params
                    .entry("enable_tips".into())
                    .or_insert(Value::from(false));
            }
        }
        if let Some(tools) = node.params.get("tools").and_then(tools_renamed) {
            node.params.insert("tools".into(), tools);
            node.note_param(
                Rewrite::ClassRenamed,
                "tools",
                "tools with old names have their present ones now",
            );
        }
    });
}

/// The old `Fillup` asked without words of its own; what it became asks with some unless told.
fn quiet(old: &str, params: &mut Object) {
    if old == "Fillup" {
        params
            .entry("enable_tips".into())
            .or_insert(Value::from(false));
    }
}

/// The tools of an agent, and those of agents among them, under their present names; `None` if they are already.
fn tools_renamed(tools: &Value) -> Option<Value> {
    let mut new = tools.clone();
    let mut changed = false;
    for tool in items(&mut new)?.iter_mut().filter_map(members) {
        if let Some(class) = text(tool.get("component_name")).and_then(|class| present(&class)) {
            tool.insert("component_name".into(), class.into());
            changed = true;
        }
        if let Some(inner) = tool
            .get("params")
            .and_then(|params| params.get("tools"))
            .and_then(tools_renamed)
        {
            object_at(tool, "params", |params| {
                params.insert("tools".into(), inner);
            });
            changed = true;
        }
    }
    changed.then_some(new)
}

/// Labels, names and kinds of drawn nodes.
pub(super) fn drawn(rewriter: &mut Rewriter) {
    let mut repaired = Vec::new();
    each_drawn(rewriter, "nodes", |at, node| {
        let mut changed = false;
        let label = node
            .get("data")
            .and_then(|data| text(data.get("label")))
            .unwrap_or_default();
        if let Some(new) = present(&label) {
            object_at(node, "data", |data| {
                if text(data.get("name")).as_ref() == Some(&label) {
                    data.insert("name".into(), new.into());
                }
                data.insert("label".into(), new.into());
                if let Some(Value::Object(_)) = data.get("form") {
                    object_at(data, "form", |form| quiet(&label, form));
                }
            });
            changed = true;
        }
        let label = present(&label).unwrap_or(&label);
        let kind = match text(node.get("type")).as_deref() {
            Some("splitterNode") => Some("chunkerNode"),
            Some("parallelNode") => Some("iterationNode"),
            Some("group") if label == "Iteration" => Some("iterationNode"),
            _ => None,
        };
        if let Some(kind) = kind {
            node.insert("type".into(), kind.into());
            changed = true;
        }
        if changed {
            repaired.push(at);
        }
    });
    for at in repaired {
        rewriter.note(
            Rewrite::DrawingRepaired,
            &Pointer::root().key("graph").key("nodes").index(at),
            "the drawn node has the present name of its class now",
        );
    }
}

/// Lets `change` rewrite each node or edge of the drawing.
fn each_drawn(rewriter: &mut Rewriter, list: &str, mut change: impl FnMut(usize, &mut Object)) {
    let graph = rewriter.canvas().get_mut("graph").and_then(members);
    let Some(list) = graph.and_then(|graph| graph.get_mut(list)).and_then(items) else {
        return;
    };
    for (at, item) in list.iter_mut().enumerate() {
        if let Some(item) = members(item) {
            change(at, item);
        }
    }
}

/// Ids made from a renamed class, and every reference to them: also the bare ones, which the old migration forgot.
pub(super) fn ids(rewriter: &mut Rewriter) {
    let ids = renamed_ids(rewriter);
    if ids.is_empty() {
        return;
    }
    let rewrite = |text: &str| rewrite_reference(text, &ids);
    if let Some(entries) = rewriter.entries() {
        let renamed = std::mem::take(entries).into_iter().map(|(id, entry)| {
            let id = ids.get(&id).cloned().unwrap_or(id);
            let entry = rewritten(&entry, &rewrite).unwrap_or(entry);
            (id, entry)
        });
        *entries = renamed.collect();
    }
    for name in ["path", "history", "messages", "reference"] {
        if let Some(new) = rewriter
            .document
            .get(name)
            .and_then(|value| rewritten(value, &rewrite))
        {
            rewriter.canvas().insert(name.into(), new);
        }
    }
    each_drawn(rewriter, "nodes", |_, node| {
        rewrite_members(node, &["id", "parentId"], &rewrite);
        if let Some(form) = node
            .get("data")
            .and_then(|data| data.get("form"))
            .and_then(|form| rewritten(form, &rewrite))
        {
            object_at(node, "data", |data| {
                data.insert("form".into(), form);
            });
        }
    });
    each_drawn(rewriter, "edges", |_, edge| {
        // An editor makes the id of a line from the ids that it joins.
        let joined = ["source", "target"]
            .into_iter()
            .filter_map(|end| text(edge.get(end)));
        let mut joined: Vec<_> = joined.filter_map(|id| ids.get_key_value(&id)).collect();
        joined.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
        rewrite_members(edge, &["source", "target"], &rewrite);
        rewrite_members(edge, &["id"], &|id| {
            let new = joined
                .iter()
                .fold(id.to_owned(), |id, (old, new)| id.replace(&***old, new));
            (new != id).then_some(new)
        });
    });
    for (old, new) in &ids {
        rewriter.note(
            Rewrite::IdRenamed,
            &Pointer::component(old),
            format!("`{old}` is `{new}` now, here and wherever it is named"),
        );
        rewriter.moved(Pointer::component(new), Pointer::component(old));
    }
}

/// What an id is called now and behind which colon its own part follows, if it has the name of a retired class.
fn retired(id: &str) -> Option<(&'static Renamed, &str)> {
    let (old, rest) = id.split_once(':')?;
    let mut renamed = RENAMED.iter();
    let renamed = renamed.find(|renamed| renamed.ids && renamed.old == old)?;
    Some((renamed, rest))
}

/// The ids to rename. An id whose new name is taken keeps its old one.
fn renamed_ids(rewriter: &Rewriter) -> IndexMap<Arc<str>, Arc<str>> {
    let mut classes: IndexMap<Arc<str>, Arc<str>> = IndexMap::new();
    for node in rewriter.document.graph().nodes {
        classes.entry(node.id).or_insert(node.label);
    }
    for (id, entry) in rewriter
        .document
        .get("components")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        classes.insert(id.clone(), entry_class(entry));
    }
    let mut ids = IndexMap::new();
    if !classes.keys().any(|id| retired(id).is_some()) {
        return ids;
    }
    let mut taken: IndexSet<Arc<str>> = classes.keys().cloned().collect();
    for (id, class) in &classes {
        let Some((renamed, rest)) = retired(id) else {
            continue;
        };
        let new: Arc<str> = format!("{}:{rest}", renamed.new).into();
        if &**class == renamed.new && taken.insert(new.clone()) {
            ids.insert(id.clone(), new);
        }
    }
    ids
}

fn rewrite_members(object: &mut Object, names: &[&str], rewrite: &impl Fn(&str) -> Option<String>) {
    for name in names {
        if let Some(new) = object
            .get(*name)
            .and_then(|value| rewritten(value, rewrite))
        {
            object.insert((*name).into(), new);
        }
    }
}

/// A text that is an id, begins with one before its first `@`, or has one in braces before an `@`.
fn rewrite_reference(text: &str, ids: &IndexMap<Arc<str>, Arc<str>>) -> Option<String> {
    if let Some(new) = ids.get(text) {
        return Some(new.to_string());
    }
    if let Some((id, port)) = text.split_once('@')
        && let Some(new) = ids.get(id)
    {
        return Some(format!("{new}@{port}"));
    }
    let mut rewritten = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some(brace) = rest.find('{') {
        let (before, behind) = rest.split_at(brace + 1);
        let inner = behind.trim_start();
        let end =
            inner.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-')));
        let (id, tail) = inner.split_at(end.unwrap_or(inner.len()));
        rewritten.push_str(before);
        rewritten.push_str(behind.get(..behind.len() - inner.len()).unwrap_or_default());
        match ids.get(id) {
            Some(new) if tail.starts_with('@') => {
                rewritten.push_str(new);
                changed = true;
            }
            _ => rewritten.push_str(id),
        }
        rest = tail;
    }
    rewritten.push_str(rest);
    changed.then_some(rewritten)
}
