//! What one component can be given when it is tried out alone.

use std::sync::Arc;

use axum::extract::State;
use easel_runtime::Value as Content;
use easel_runtime::core::draft::{Kind, NodeDraft};
use easel_runtime::core::reference::{Reference, Root};
use serde_json::json;

use super::access::agent;
use super::envelope::{At, Members, Problem, Reply, Value, ok};
use crate::App;
use crate::auth::{Caller, Scope};

/// `GET /agents/{id}/components/{component}/input-form`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, component)): At<(String, String)>,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Read, &id).await?;
    let workflow = app.host.workflow(&agent.document).await?;
    let nodes = workflow.compiled().nodes.iter();
    let mut nodes = nodes.filter(|node| !node.implicit).map(|node| &node.draft);
    let node = nodes.find(|node| *node.id == *component);
    let names = workflow.compiled().nodes.iter();
    let names = names.map(|node| (node.draft.id.clone(), node.draft.name.clone()));
    let names: Vec<(Arc<str>, Arc<str>)> = names.collect();
    let node = node.ok_or_else(|| no_component(&component))?;
    let components = workflow
        .canvas()
        .map(|canvas| canvas.components())
        .unwrap_or_default();
    let written = components
        .get(&node.id)
        .map(|found| found.entry.to_json().to_string());
    ok(of_node(node, &written.unwrap_or_default(), &names))
}

pub(super) fn no_component(id: &str) -> Problem {
    Problem::data(format!("The canvas has no component {id}."))
}

/// Of a form its fields; of all else a line for each reference that is written in it. Some read more, by their defaults.
fn of_node(node: &NodeDraft, written: &str, names: &[(Arc<str>, Arc<str>)]) -> Members {
    if let Some(fields) = fields(node) {
        return fields;
    }
    let lines = node
        .reads
        .iter()
        .filter(|reference| written.contains(&*reference.text));
    let line = |reference: &Reference| {
        let line = json!({"name": shown(reference, names), "type": "line"});
        (reference.text.to_string(), line)
    };
    lines.map(line).collect()
}

/// The fields that a person fills in.
pub(super) fn fields(node: &NodeDraft) -> Option<Members> {
    let asks = *node.component == *"Begin" || matches!(node.kind, Kind::Form { .. });
    if !asks {
        return None;
    }
    let inputs = node.params.get("inputs").map(Content::to_json);
    Some(match inputs {
        Some(Value::Object(inputs)) => inputs,
        _ => Members::new(),
    })
}

/// A reference as people read it: the name of the component, then the port.
fn shown(reference: &Reference, names: &[(Arc<str>, Arc<str>)]) -> String {
    let Root::Output { node, .. } = &reference.root else {
        return reference.text.to_string();
    };
    let name = names
        .iter()
        .find(|(id, _)| id == node)
        .map(|(_, name)| name);
    match (name, reference.text.split_once('@')) {
        (Some(name), Some((_, port))) => format!("{name}@{port}"),
        _ => reference.text.to_string(),
    }
}
