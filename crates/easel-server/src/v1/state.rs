//! The state of a run at any of its events.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use easel_runtime::{EventId, Looked, look_up};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Filter, Reader};
use super::run::json;
use crate::App;

/// What is asked for, and when.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// A reference of the workflow's dialect: `Agent:X@content.items.0`, `sys.query`, `nodes.fetch.body`, `inputs.topic`,
    /// `item`. Without it, everything.
    pub r#ref: Option<String>,
    /// The moment: an event's id (`12.3`), or the index of an entry of the journal (`12`). Without it, now.
    pub at: Option<String>,
    /// The container that is meant, where the bodies of several have a value of that name.
    pub within: Option<String>,
}

/// What a reference stood for, or everything.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StateView {
    /// The run's id.
    pub run: String,
    /// The index of the journal's last entry that counts; `null` if it had none.
    pub at: Option<u64>,
    /// Where the run stood.
    pub life: String,
    /// The reference, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#ref: Option<String>,
    /// Whether it stood for anything. A value of `null` is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<bool>,
    /// What it stood for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub value: Option<Value>,
    /// Why it stood for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The variables by name, if no reference was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub variables: Option<Value>,
    /// What each node had put out, by id and port, if no reference was asked for. Of a node in a body, in its last pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<std::collections::HashMap<String, NodeState>>)]
    pub nodes: Option<Map<String, Value>>,
}

/// A node at a moment.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NodeState {
    /// Where it stood: `pending`, `running`, `done`, `dead`, …; `null` in a body that had not begun.
    pub life: Option<String>,
    /// What it had put out, by port.
    #[schema(value_type = Object)]
    pub outputs: Value,
}

/// Looks into a run
///
/// Resolves any reference of the workflow's dialect at any event, with values masked as the journal has them.
#[utoipa::path(get, path = "/v1/runs/{id}/state", tag = "runs", params(("id" = String, Path, description = "The run's id"), Wanted), responses(
    (status = 200, body = StateView),
    (status = 400, body = ProblemBody, description = "`at` is no event's id"),
    (status = 404, body = ProblemBody, description = "There is no such run, or the reference names nothing: with what there is"),
    (status = "default", body = ProblemBody),
))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(id): At<String>,
    Filter(wanted): Filter<Wanted>,
) -> Result<Json<StateView>, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    let last = wanted.at.as_deref().filter(|at| !at.is_empty());
    let last = last.map(entry_of).transpose()?;
    let entries = last.map(|last| usize::try_from(last.saturating_add(1)).unwrap_or(usize::MAX));
    let state = app.host.state_at(&run.id, entries).await?;
    let Some((workflow, machine)) = state else {
        return Err(Problem::missing(
            "no_state",
            "beginning in the journal of run",
            &id,
        ));
    };
    let at = match last {
        Some(last) => last.min(run.entries.saturating_sub(1)),
        None => run.entries.saturating_sub(1),
    };
    let mut view = StateView {
        run: run.id.to_string(),
        at: Some(at),
        life: format!("{:?}", machine.life()).to_lowercase(),
        r#ref: wanted.r#ref.clone(),
        found: None,
        value: None,
        why: None,
        variables: None,
        nodes: None,
    };
    if let Some(reference) = wanted.r#ref.as_deref().filter(|text| !text.is_empty()) {
        let looked = look_up(&workflow, &machine, reference, wanted.within.as_deref());
        match looked {
            Ok(Looked::Value(value)) => {
                view.found = Some(true);
                view.value = Some(json(&value));
            }
            Ok(Looked::Missing(why)) => {
                view.found = Some(false);
                view.why = Some(why);
            }
            Err(unknown) => {
                let status = StatusCode::NOT_FOUND;
                return Err(Problem::new(status, "no_reference", unknown.to_string()));
            }
        }
        return Ok(Json(view));
    }
    let variables = machine.variables();
    let variables = variables.map(|(name, value)| (name.to_string(), json(value)));
    view.variables = Some(Value::Object(variables.collect()));
    let nodes = (0..).map(easel_runtime::core::workflow::NodeId);
    let nodes = nodes.zip(&workflow.compiled().nodes);
    let shown = nodes.filter(|(_, node)| !node.implicit).map(|(id, node)| {
        let life = machine.life_of(id);
        let outputs = machine.ports(id).map(|ports| ports.to_object());
        let state = NodeState {
            life: life.map(|life| format!("{life:?}").to_lowercase()),
            outputs: json(&outputs.unwrap_or_default()),
        };
        (node.draft.id.to_string(), json(&state))
    });
    view.nodes = Some(shown.collect());
    Ok(Json(view))
}

/// The entry of the journal that a moment names.
fn entry_of(at: &str) -> Result<u64, Problem> {
    if let Ok(entry) = at.parse::<u64>() {
        return Ok(entry);
    }
    // A plus in an address is read as a blank.
    let id: Result<EventId, _> = at.replace(' ', "+").parse();
    match id {
        Ok(id) => Ok(id.entry),
        Err(bad) => Err(Problem::bad("at", bad.to_string())),
    }
}
