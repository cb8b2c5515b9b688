//! The parameters that an editor's form stands for (spec/canvas-components §10). Most forms are the parameters.

use std::sync::Arc;

use easel_core::{Object, Value};

use crate::component::text;
use crate::edit::{items, members, object_at, rename};
use crate::graph::{GraphEdge, GraphNode};

/// The parameters of a drawn node, given the edges that leave it.
pub(super) fn params(node: &GraphNode, leaving: &[GraphEdge]) -> Object {
    let mut params = node.form.as_object().cloned().unwrap_or_default();
    match &*node.label {
        "Begin" => webhook(&mut params),
        "Categorize" => categories(&mut params, leaving),
        "Switch" => cases(&mut params, leaving),
        "DataOperations" => {
            unwrap(&mut params, "query", "input");
            unwrap(&mut params, "select_keys", "name");
            unwrap(&mut params, "remove_keys", "name");
        }
        "TokenChunker" => {
            unwrap(&mut params, "delimiters", "value");
            unwrap(&mut params, "children_delimiters", "value");
        }
        _ => {}
    }
    params
}

/// A list of one-member objects becomes the list of those members' values.
fn unwrap(params: &mut Object, list: &str, member: &str) {
    let Some(list) = params.get_mut(list).and_then(items) else {
        return;
    };
    for item in list {
        if let Some(inner) = item.get(member).cloned() {
            *item = inner;
        }
    }
}

/// The targets of the edges that leave by a handle.
fn targets<'e>(leaving: &'e [GraphEdge], handle: &'e str) -> impl Iterator<Item = Value> + 'e {
    let by_handle = leaving
        .iter()
        .filter(move |edge| &*edge.source_handle == handle);
    by_handle.map(|edge| Value::from(edge.target.clone()))
}

/// `items` with an id each become `category_description` by name, with the targets of each id's edges.
fn categories(params: &mut Object, leaving: &[GraphEdge]) {
    let Some(drawn) = params
        .get("items")
        .and_then(Value::as_array)
        .map(<[Value]>::to_vec)
    else {
        return;
    };
    let mut described = Object::new();
    for item in drawn {
        let Value::Object(item) = item else { continue };
        let mut category = Arc::unwrap_or_clone(item);
        let name = text(category.shift_remove("name").as_ref()).unwrap_or_default();
        let id = text(category.get("uuid")).unwrap_or_default();
        unwrap(&mut category, "examples", "value");
        let to: Vec<Value> = targets(leaving, &id).collect();
        if !to.is_empty() || !category.contains_key("to") {
            category.insert("to".into(), to.into());
        }
        described.insert(name, category.into());
    }
    params.shift_remove("category_description");
    params.insert("items".into(), described.into());
    rename(params, "items", "category_description");
}

/// Cases without a target get those of their handles: `Case 1`, `Case 2`, ..., `end_cpn_ids`.
fn cases(params: &mut Object, leaving: &[GraphEdge]) {
    let fill = |object: &mut Object, name: &str, handle: &str| {
        let to: Vec<Value> = targets(leaving, handle).collect();
        if !to.is_empty() && !object.get(name).is_some_and(Value::is_truthy) {
            object.insert(name.into(), to.into());
        }
    };
    for (at, case) in params
        .get_mut("conditions")
        .and_then(items)
        .into_iter()
        .flatten()
        .enumerate()
    {
        if let Some(case) = members(case) {
            fill(case, "to", &format!("Case {}", at + 1));
        }
    }
    fill(params, "end_cpn_ids", "end_cpn_ids");
}

/// A webhook's tables become a JSON schema for each part of the request, and plain lists.
fn webhook(params: &mut Object) {
    if let Some(schema) = params.get_mut("schema").and_then(members) {
        for part in ["query", "headers", "body"] {
            if let Some(rows) = schema.get(part).and_then(Value::as_array).map(json_schema) {
                schema.insert(part.into(), rows);
            }
        }
    }
    if let Some(Value::Object(_)) = params.get("security") {
        object_at(params, "security", |security| {
            unwrap(security, "ip_whitelist", "value");
            if let Some(Value::Object(_)) = security.get("jwt") {
                object_at(security, "jwt", |jwt| {
                    unwrap(jwt, "required_claims", "value")
                });
            }
        });
    }
}

fn json_schema(rows: &[Value]) -> Value {
    let mut properties = Object::new();
    let mut required = Vec::new();
    for row in rows {
        let Some(key) = text(row.get("key")) else {
            continue;
        };
        let kind = row
            .get("type")
            .cloned()
            .unwrap_or_else(|| Value::from("string"));
        let property = Object::from_iter([(Arc::from("type"), kind)]);
        properties.insert(key.clone(), property.into());
        if row.get("required").is_some_and(Value::is_truthy) {
            required.push(Value::from(key));
        }
    }
    Value::from(Object::from_iter([
        (Arc::from("type"), Value::from("object")),
        (Arc::from("properties"), properties.into()),
        (Arc::from("required"), required.into()),
    ]))
}
