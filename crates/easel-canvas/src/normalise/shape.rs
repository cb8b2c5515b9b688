//! The outer shape: where the parts of a canvas stand and what type they have (spec/canvas-engine §1.1, §1.2, N3, N4).

use easel_core::{Object, Value};

use super::{Rewrite, Rewriter};
use crate::component::{entry_downstream, ids, text};
use crate::edit::{members, rename};
use crate::pointer::Pointer;
use crate::state::{history_entry, is_empty_bucket, memory_entry};

/// The members at the top of the canvas.
pub(super) fn document(rewriter: &mut Rewriter) {
    drawing(rewriter);
    history(rewriter);
    retrieval(rewriter);
    memory(rewriter);
    variables(rewriter);
}

/// `nodes` and `edges` at the top go under `graph`, unless there is a `graph` already.
fn drawing(rewriter: &mut Rewriter) {
    let canvas = rewriter.canvas();
    if matches!(canvas.get("graph"), Some(Value::Object(_)))
        || !matches!(canvas.get("nodes"), Some(Value::Array(_)))
    {
        return;
    }
    let mut graph = Object::new();
    for name in ["nodes", "edges"] {
        let part = canvas.get(name).cloned().unwrap_or_else(Value::empty_array);
        graph.insert(name.into(), part);
    }
    canvas.shift_remove("edges");
    canvas.insert("nodes".into(), graph.into());
    rename(canvas, "nodes", "graph");
    let top = Pointer::root();
    rewriter.note(
        Rewrite::DrawingLifted,
        &top,
        "`nodes` and `edges` stood at the top of the canvas and are now under `graph`",
    );
    for name in ["nodes", "edges"] {
        rewriter.moved(
            Pointer::root().key("graph").key(name),
            Pointer::root().key(name),
        );
    }
}

fn history(rewriter: &mut Rewriter) {
    reshape_list(
        rewriter,
        "history",
        Rewrite::HistoryReshaped,
        "a pair of role and payload",
        |entry| {
            let turn = history_entry(entry)?;
            Some(Value::from(vec![turn.role.into(), turn.payload]))
        },
    );
}

fn memory(rewriter: &mut Rewriter) {
    reshape_list(
        rewriter,
        "memory",
        Rewrite::MemoryReshaped,
        "a triple of user, assistant and summary",
        |entry| memory_entry(entry).map(|triple| Value::from(triple.to_vec())),
    );
}

/// Brings every entry of a list to one shape; what can't be read as an entry is left out.
fn reshape_list(
    rewriter: &mut Rewriter,
    name: &str,
    rewrite: Rewrite,
    shape: &str,
    reshape: impl Fn(&Value) -> Option<Value>,
) {
    let place = Pointer::root().key(name);
    let Some(Value::Array(list)) = rewriter.document.get(name).cloned() else {
        return;
    };
    let new: Vec<Value> = list.iter().filter_map(reshape).collect();
    if new == *list {
        return;
    }
    let lost = list.len() - new.len();
    let mut what = format!("every entry of `{name}` is {shape} now");
    if lost > 0 {
        what.push_str(&format!(
            "; {lost} without a role or with a part missing were left out"
        ));
    }
    rewriter.canvas().insert(name.into(), Value::from(new));
    rewriter.note(rewrite, &place, what);
}

fn retrieval(rewriter: &mut Rewriter) {
    let Some(bucket @ Value::Object(_)) = rewriter.document.get("retrieval").cloned() else {
        return;
    };
    let place = Pointer::root().key("retrieval");
    let buckets = if is_empty_bucket(&bucket) {
        vec![]
    } else {
        vec![bucket]
    };
    rewriter.canvas().insert("retrieval".into(), buckets.into());
    rewriter.note(
        Rewrite::RetrievalReshaped,
        &place,
        "`retrieval` was one bucket and is a list of buckets now",
    );
    rewriter.moved(place.clone().index(0), place);
}

/// `variables` that is no object becomes one: a list of named declarations by its names, anything else empty.
fn variables(rewriter: &mut Rewriter) {
    let declared = match rewriter.document.get("variables") {
        None | Some(Value::Object(_)) => return,
        Some(Value::Array(items)) => items.to_vec(),
        Some(_) => vec![],
    };
    let place = Pointer::root().key("variables");
    let mut variables = Object::new();
    for (at, declaration) in declared.iter().enumerate() {
        if let Some(name) = text(declaration.get("name")) {
            rewriter.moved(place.clone().key(&name), place.clone().index(at));
            variables.insert(name, declaration.clone());
        }
    }
    rewriter
        .canvas()
        .insert("variables".into(), variables.into());
    rewriter.note(
        Rewrite::VariablesReshaped,
        &place,
        "`variables` is an object of declarations by name now",
    );
}

/// The entries of `components`: `obj` around class and parameters, lists where lists belong.
pub(super) fn entries(rewriter: &mut Rewriter) {
    let entries = rewriter
        .document
        .get("components")
        .and_then(Value::as_object)
        .cloned();
    for (id, entry) in entries.into_iter().flatten() {
        let Value::Object(old) = &entry else { continue };
        let mut new = Object::clone(old);
        let place = Pointer::component(&id);
        if flat(&mut new) {
            let obj = place.clone().key("obj");
            let class = if old.contains_key("component_name") {
                "component_name"
            } else {
                "name"
            };
            rewriter.note(
                Rewrite::EntryReshaped,
                &place,
                format!(
                    "class and parameters of `{id}` stood side by side and are under `obj` now"
                ),
            );
            rewriter.moved(obj.clone().key("component_name"), place.clone().key(class));
            rewriter.moved(obj.key("params"), place.clone().key("params"));
        }
        if doubled(&mut new) {
            let merged = entry_downstream(&entry).into_iter().map(Value::from);
            new.insert("downstream".into(), Value::from(merged.collect::<Vec<_>>()));
            rewriter.note(
                Rewrite::EntryReshaped,
                &place.clone().key("obj").key("downstream"),
                format!("`{id}` had a second list `downstream` under `obj`; both are one now"),
            );
        }
        for name in ["downstream", "upstream"] {
            if let Some(Value::String(one)) = new.get(name) {
                let list = ids(&Value::String(one.clone()))
                    .into_iter()
                    .map(Value::from)
                    .collect::<Vec<_>>();
                new.insert(name.into(), list.into());
                rewriter.note(
                    Rewrite::EntryReshaped,
                    &place.clone().key(name),
                    format!("`{name}` of `{id}` was one text and is a list now"),
                );
            }
        }
        if new != **old
            && let Some(entries) = rewriter.entries()
        {
            entries.insert(id, new.into());
        }
    }
}

/// Puts class and parameters of a flat entry under `obj`. Says whether it was flat.
fn flat(entry: &mut Object) -> bool {
    let class = ["component_name", "name"]
        .into_iter()
        .find(|name| entry.contains_key(*name));
    let Some(first) = class.or_else(|| entry.contains_key("params").then_some("params")) else {
        return false;
    };
    if entry.contains_key("obj") {
        return false;
    }
    let mut obj = Object::new();
    let class = class
        .and_then(|name| entry.get(name))
        .cloned()
        .unwrap_or_else(|| Value::from(""));
    obj.insert("component_name".into(), class);
    obj.insert(
        "params".into(),
        entry
            .get("params")
            .cloned()
            .unwrap_or_else(Value::empty_object),
    );
    entry.insert(first.into(), obj.into());
    rename(entry, first, "obj");
    entry.shift_remove("params");
    true
}

/// Takes the list `downstream` out of an entry's `obj`. Says whether there was one.
fn doubled(entry: &mut Object) -> bool {
    let obj = entry.get_mut("obj").and_then(members);
    obj.is_some_and(|obj| obj.shift_remove("downstream").is_some())
}
