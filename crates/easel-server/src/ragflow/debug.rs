//! One component tried out alone: a canvas is made of it in which Begin gives what the component reads, and is run like any
//! other.

use std::sync::Arc;

use axum::extract::State;
use easel_runtime::canvas::document::Document;
use easel_runtime::core::draft::{Kind, NodeDraft};
use easel_runtime::core::reference::{Reference, Root};
use easel_runtime::{Input, Object, Origin, Standing, Value as Content};
use easel_store::Dialect;
use serde_json::json;

use super::access::agent;
use super::envelope::{At, Body, Members, Problem, Reply, Value, ok};
use super::forms::{fields, no_component};
use crate::App;
use crate::auth::{Caller, Scope};
use crate::host::Events;

/// What Begin calls the values that were given, with a number.
const GIVEN: &str = "given";

/// `POST /agents/{id}/components/{component}/debug`
pub(super) async fn run(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, component)): At<(String, String)>,
    Body(body): Body,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Run, &id).await?;
    let params = match body.get("params") {
        Some(Value::Object(params)) => params.clone(),
        Some(Value::Null) | None => {
            return Err(Problem::argument("required argument are missing: params; "));
        }
        Some(_) => return Err(Problem::argument("`params` must be an object.")),
    };
    let workflow = app.host.workflow(&agent.document).await?;
    let canvas = workflow.canvas().ok_or_else(|| no_component(&component))?;
    let mut nodes = workflow
        .compiled()
        .nodes
        .iter()
        .filter(|node| !node.implicit);
    let node = nodes.find(|node| *node.draft.id == *component);
    let node = node.ok_or_else(|| no_component(&component))?;
    let trial = Trial::of(canvas, &node.draft, params)?;
    let bytes = trial.canvas.to_string().into_bytes();
    let document = app
        .host
        .store()
        .put_document(Dialect::Canvas, bytes)
        .await?;
    let origin = Origin {
        document,
        agent: agent.id.clone(),
        owner: caller.owner.clone(),
        key: caller.key.clone(),
        trigger: "debug".into(),
        ..Origin::default()
    };
    let first = Input {
        inputs: trial.inputs,
        user: Some(caller.owner.clone()),
        ..Input::default()
    };
    let mut live = app.host.run(first, origin).await?;
    let end = live.end().await;
    if matches!(end.standing, Standing::Waiting { .. }) {
        let answers = Input {
            inputs: trial.answers,
            ..Input::default()
        };
        live = app.host.answer(live.run(), answers).await?;
    }
    let mut events = Events::of(app.host.clone(), live.clone());
    let mut outputs = None;
    while let Some(event) = events.next().await? {
        if event.name() != "node_finished" {
            continue;
        }
        let data: Value = serde_json::from_str(event.data()).unwrap_or_default();
        if data.get("component_id").and_then(Value::as_str) == Some(&component) {
            outputs = Some(data);
        }
    }
    let end = live.end().await;
    if let Err(error) = &end.ending {
        return Err(Problem::data(error.to_string()));
    }
    match outputs {
        Some(data) => ok(outputs_of(&data)),
        None => Err(Problem::data(match &end.standing {
            Standing::Failed { fault, .. } => fault.message.to_string(),
            Standing::Waiting { .. } => "The values fit no field of the form.".to_owned(),
            standing => format!(
                "The component did not run: the trial is {}.",
                standing.name()
            ),
        })),
    }
}

/// What a node put out; why it failed is among it.
fn outputs_of(data: &Value) -> Value {
    let mut outputs = data.get("outputs").cloned().unwrap_or_else(|| json!({}));
    let error = data.get("error").filter(|error| !error.is_null());
    if let (Some(error), Some(outputs)) = (error, outputs.as_object_mut()) {
        outputs.insert("_ERROR".to_owned(), error.clone());
    }
    outputs
}

/// A canvas around one component, and what its run is given.
struct Trial {
    canvas: Value,
    /// For Begin.
    inputs: Object,
    /// For a form, once it asks.
    answers: Object,
}

impl Trial {
    fn of(canvas: &Document, node: &NodeDraft, params: Members) -> Result<Trial, Problem> {
        let single = matches!(
            node.kind,
            Kind::Task | Kind::Branch { .. } | Kind::Form { .. }
        );
        if !single || node.parent.is_some() && node.reads.iter().any(of_a_pass) && params.is_empty()
        {
            return Err(Problem::data(format!(
                "\"{}\" cannot be tried out alone, as it works with what is around it. Run the agent.",
                node.name
            )));
        }
        let components = canvas.components();
        let entry = components
            .get(&node.id)
            .map(|component| component.entry.to_json());
        let Some(Value::Object(mut entry)) = entry else {
            return Err(no_component(&node.id));
        };
        let given = params
            .into_iter()
            .map(|(key, value)| (bare(&key).to_owned(), value));
        let mut given: Members = given.collect();
        let asks = fields(node).is_some();
        let mut inputs = Members::new();
        let mut declared = Members::new();
        let mut parameters = swap_parameters(&mut entry, None);
        if !asks {
            // The longest first: one may begin with another.
            let mut reads: Vec<&Reference> = node.reads.iter().collect();
            reads.sort_by_key(|reference| std::cmp::Reverse(reference.text.len()));
            for (number, reference) in reads.into_iter().enumerate() {
                let value = given.shift_remove(&*reference.text);
                let upstream = !matches!(reference.root, Root::Variable(_));
                if value.is_none() && !upstream {
                    continue;
                }
                let name = format!("{GIVEN}{number}");
                redirect(&mut parameters, reference, &format!("begin@{name}"));
                if let Some(value) = value {
                    declared.insert(name.clone(), declaration(&value));
                    inputs.insert(name, value);
                }
            }
            // What is no reference is a parameter.
            for (name, value) in std::mem::take(&mut given) {
                set(&mut parameters, &name, plain(value));
            }
        }
        let is_begin = *node.component == *"Begin";
        let targets: Vec<&Arc<str>> = match &node.kind {
            Kind::Branch { .. } => node.downstream.iter().collect(),
            _ => Vec::new(),
        };
        parameters.insert("exception_goto".to_owned(), json!([]));
        swap_parameters(&mut entry, Some(parameters));
        entry.shift_remove("parent_id");
        entry.insert("downstream".to_owned(), json!(targets));
        entry.insert("upstream".to_owned(), json!([]));
        let mut made = Members::new();
        if !is_begin {
            let begin = json!({
                "obj": {"component_name": "Begin", "params": {"inputs": declared}},
                "downstream": [node.id],
                "upstream": [],
            });
            made.insert("begin".to_owned(), begin);
        }
        made.insert(node.id.to_string(), entry.into());
        for target in targets {
            // Only whether it is reached matters.
            let stub = json!({
                "obj": {"component_name": "Message", "params": {"content": [""]}},
                "downstream": [],
                "upstream": [node.id],
            });
            made.entry(target.to_string()).or_insert(stub);
        }
        let drawn = json!({"id": node.id, "type": "ragNode", "data": {"label": node.component, "name": node.name}});
        let canvas = json!({
            "components": made,
            "graph": {"nodes": [drawn], "edges": []},
            "globals": Content::from(canvas.fresh_globals()).to_json(),
            "variables": canvas.get("variables").map_or_else(|| json!({}), Content::to_json),
            "history": [],
            "path": [],
            "retrieval": [],
        });
        let (inputs, answers) = match (asks, is_begin) {
            (true, true) => (given, Members::new()),
            (true, false) => (Members::new(), given),
            (false, _) => (inputs, Members::new()),
        };
        Ok(Trial {
            canvas,
            inputs: object(inputs),
            answers: object(answers),
        })
    }
}

/// A reference to the item of the pass around.
fn of_a_pass(reference: &Reference) -> bool {
    matches!(reference.root, Root::Pass(_) | Root::PassOf { .. })
}

fn object(members: Members) -> Object {
    match Content::from(Value::Object(members)) {
        Content::Object(members) => Arc::unwrap_or_clone(members),
        _ => Object::new(),
    }
}

/// A key without braces and blanks around it.
fn bare(key: &str) -> &str {
    key.trim_matches(|c: char| c == '{' || c == '}' || c.is_whitespace())
}

/// A value that may come with its type around it.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(mut members) if members.contains_key("value") => {
            members.shift_remove("value").unwrap_or_default()
        }
        value => value,
    }
}

/// How Begin declares a value that is given.
fn declaration(value: &Value) -> Value {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("line");
    json!({"name": "", "type": kind, "optional": true})
}

/// Takes the parameters out of a component's entry of either shape, or puts them back.
fn swap_parameters(entry: &mut Members, put: Option<Members>) -> Members {
    let swap = |holder: &mut Members| match put {
        Some(parameters) => holder.insert("params".to_owned(), parameters.into()),
        None => holder.shift_remove("params"),
    };
    let taken = match entry.get_mut("obj").and_then(Value::as_object_mut) {
        Some(holder) => swap(holder),
        None => swap(entry),
    };
    match taken {
        Some(Value::Object(parameters)) => parameters,
        _ => Members::new(),
    }
}

/// Sets a parameter, or what a parameter called `arguments` has under that name.
fn set(parameters: &mut Members, name: &str, value: Value) {
    let arguments = parameters
        .get_mut("arguments")
        .and_then(Value::as_object_mut);
    match arguments.filter(|arguments| arguments.contains_key(name)) {
        Some(arguments) => drop(arguments.insert(name.to_owned(), value)),
        None => drop(parameters.insert(name.to_owned(), value)),
    }
}

/// Lets every text that names a reference name another one.
fn redirect(members: &mut Members, from: &Reference, to: &str) {
    let whole = !of_a_pass(from);
    for (_, value) in members.iter_mut() {
        redirect_in(value, &from.text, whole, to);
    }
}

fn redirect_in(value: &mut Value, from: &str, whole: bool, to: &str) {
    match value {
        Value::String(text) if whole && text.trim() == from => *text = to.to_owned(),
        Value::String(text) => *text = redirected(text, from, to),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| redirect_in(item, from, whole, to)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|value| redirect_in(value, from, whole, to)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text with `{from}` as `{to}`; blanks inside of the braces stay.
fn redirected(text: &str, from: &str, to: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, found) = rest.split_at(at);
        let behind = found.get(from.len()..).unwrap_or_default();
        let named = before.trim_end().ends_with('{') && behind.trim_start().starts_with('}');
        written.push_str(before);
        written.push_str(if named { to } else { from });
        rest = behind;
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_redirected_where_it_is_one() {
        let redirected = |text| redirected(text, "A@x", "begin@given0");
        assert_eq!(
            redirected("{A@x} { A@x }"),
            "{begin@given0} { begin@given0 }"
        );
        assert_eq!(redirected("{A@x.y} A@x {BA@x}"), "{A@x.y} A@x {BA@x}");
    }

    #[test]
    fn a_value_comes_with_or_without_its_type() {
        assert_eq!(plain(json!({"value": 1, "type": "line"})), json!(1));
        assert_eq!(plain(json!({"a": 1})), json!({"a": 1}));
        assert_eq!(bare("{ sys.query }"), "sys.query");
    }
}
