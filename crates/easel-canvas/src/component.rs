//! The nodes of a canvas as its `components` describe them.

use std::sync::Arc;

use easel_core::{Object, Value};
use indexmap::{IndexMap, IndexSet};

use crate::document::Document;

/// One entry of `components` (spec/canvas-engine §1.2). Cloning one copies no parameters.
#[derive(Clone, Debug)]
pub struct Component {
    /// The key of the entry. Any text: colons, blanks and every script are fine.
    pub id: Arc<str>,
    /// `component_name` as written; empty if there is none.
    pub class: Arc<str>,
    /// The name that the drawing shows, where it has one.
    pub name: Option<Arc<str>>,
    /// The parameters; empty if there are none.
    pub params: Arc<Object>,
    /// Ids of the nodes behind it as its entry lists them, repetitions included. [`Document::edges`] has the union.
    pub downstream: Vec<Arc<str>>,
    /// Ids of the nodes before it as its entry lists them; `None` if the entry has no such list.
    pub upstream: Option<Vec<Arc<str>>>,
    /// The container whose body it is part of: `parent_id`, else the drawing's `parentId` if that is a component.
    pub parent: Option<Arc<str>>,
    /// The entry as it stands in the file.
    pub entry: Value,
}

impl Component {
    /// True if this is its class, whatever the case (spec/canvas-components §1.1 D1).
    pub fn is(&self, class: &str) -> bool {
        self.class.eq_ignore_ascii_case(class)
    }

    /// The outputs that stand in the document with a value: what a form offers at first, or what an earlier run left
    /// (spec/canvas-engine T6). A `null` is no value.
    pub fn initial_outputs(&self) -> Object {
        let declared = self.params.get("outputs").and_then(Value::as_object);
        let values = declared.into_iter().flatten().filter_map(|(name, output)| {
            let value = output.get("value").filter(|value| !value.is_null())?;
            Some((name.clone(), value.clone()))
        });
        values.collect()
    }
}

impl Document {
    /// The components by id, in the order of the file. Empty for a drawing alone; normalising derives them from it.
    pub fn components(&self) -> IndexMap<Arc<str>, Component> {
        let Some(entries) = self.get("components").and_then(Value::as_object) else {
            return IndexMap::new();
        };
        let graph = self.graph();
        let drawn: IndexMap<&str, _> = graph.nodes.iter().map(|node| (&*node.id, node)).collect();
        let component = |(id, entry): (&Arc<str>, &Value)| {
            let drawn = drawn.get(&**id);
            let parent = || {
                drawn
                    .and_then(|node| node.parent.clone())
                    .filter(|parent| entries.contains_key(parent))
            };
            let component = Component {
                id: id.clone(),
                class: entry_class(entry),
                name: drawn.and_then(|node| node.name.clone()),
                params: entry_params(entry),
                downstream: entry_downstream(entry),
                upstream: entry.get("upstream").map(ids),
                parent: text(entry.get("parent_id")).or_else(parent),
                entry: entry.clone(),
            };
            (id.clone(), component)
        };
        entries.iter().map(component).collect()
    }
}

/// The class in an entry: `obj.component_name`, or `component_name` or `name` of the flat shape.
pub(crate) fn entry_class(entry: &Value) -> Arc<str> {
    let class = match entry.get("obj") {
        Some(obj) => text(obj.get("component_name")),
        None => text(entry.get("component_name")).or_else(|| text(entry.get("name"))),
    };
    class.unwrap_or_default()
}

/// The parameters in an entry: `obj.params`, or `params` of the flat shape.
pub(crate) fn entry_params(entry: &Value) -> Arc<Object> {
    match entry.get("obj").unwrap_or(entry).get("params") {
        Some(Value::Object(params)) => params.clone(),
        _ => Arc::default(),
    }
}

/// The ids behind an entry: `obj.downstream` of an old exporter first, then `downstream`.
pub(crate) fn entry_downstream(entry: &Value) -> Vec<Arc<str>> {
    let listed = entry.get("downstream").map(ids).unwrap_or_default();
    match entry.get("obj").and_then(|obj| obj.get("downstream")) {
        None => listed,
        Some(doubled) => {
            let once: IndexSet<Arc<str>> = ids(doubled).into_iter().chain(listed).collect();
            once.into_iter().collect()
        }
    }
}

/// The texts in a list of ids; a bare text is a list of one. Blank and non-text items name nothing.
pub(crate) fn ids(value: &Value) -> Vec<Arc<str>> {
    match value {
        Value::Array(items) => items.iter().filter_map(|item| text(Some(item))).collect(),
        other => text(Some(other)).into_iter().collect(),
    }
}

/// The value as a text that isn't blank.
pub(crate) fn text(value: Option<&Value>) -> Option<Arc<str>> {
    match value {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "component_tests.rs"]
mod tests;
