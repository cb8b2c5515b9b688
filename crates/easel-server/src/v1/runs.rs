//! Runs: lists, records, receipts, and their end.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use easel_store::RunFilter;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access;
use super::events::view as event_view;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Filter, MOST, Reader, Runner, within};
use super::run::{Names, RunItem, RunView, State as RunState, json, nodes_of, seconds};
use crate::App;
use crate::auth::Scope;

/// The most runs on a page.
const PAGE: u32 = 100;

/// Which runs. What is not given lets all pass.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListFilter {
    /// Of this graph or agent, by name or id.
    pub workflow: Option<String>,
    /// Of this conversation.
    pub session: Option<String>,
    /// In one of these states, with commas between, in either vocabulary (`waiting` or `awaiting_input`).
    pub status: Option<String>,
    /// On behalf of this user.
    pub user: Option<String>,
    /// Started by this: `api`, `chat`, `webhook`, `mcp`, `openai`, `debug`, `cli`.
    pub trigger: Option<String>,
    /// Not before this, in seconds since 1970.
    pub since: Option<f64>,
    /// Not after this, in seconds since 1970.
    pub until: Option<f64>,
    /// Their summary or user has this text in it, or it is their id.
    pub text: Option<String>,
    /// How many at most; 30 unless given, never more than 100.
    #[param(minimum = 1, maximum = 1_000_000)]
    pub limit: Option<u32>,
    /// Where the last page ended: its `next`.
    pub cursor: Option<String>,
}

/// A page of runs, the newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    /// Those on this page.
    pub runs: Vec<RunItem>,
    /// The cursor of the next page; `null` on the last.
    pub next: Option<String>,
}

/// Lists runs
///
/// The caller's own, the newest first, without what they gave out.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(ListFilter), responses(
    (status = 200, body = RunList),
    (status = 400, body = ProblemBody, description = "A filter or the cursor cannot be read"),
    (status = "default", body = ProblemBody),
))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    Filter(wanted): Filter<ListFilter>,
) -> Result<Json<RunList>, Problem> {
    let states = wanted.status.as_deref().unwrap_or_default().split(',');
    let mut known = Vec::new();
    for name in states.map(str::trim).filter(|name| !name.is_empty()) {
        let state = RunState::named(name).ok_or_else(|| {
            Problem::bad("status", format!("{name:?} is no state of a run"))
                .fix("use running, waiting, uncertain, finished, failed or cancelled")
        })?;
        known.push(state.name().to_owned());
    }
    let limit = within("limit", wanted.limit, 1..=MOST)?;
    let mut agents = Vec::new();
    if let Some(name) = wanted.workflow.as_deref().filter(|name| !name.is_empty()) {
        match access::workflow(&app, &caller, name).await {
            Ok(agent) => agents.push(agent.id.to_string()),
            // Of an agent that is gone there may be runs.
            Err(_) => agents.push(name.to_owned()),
        }
    }
    let milliseconds = |seconds: f64| (seconds * 1000.0) as i64;
    let filter = RunFilter {
        agents,
        session: wanted.session,
        states: known,
        owners: vec![caller.owner.to_string()],
        user: wanted.user,
        trigger: wanted.trigger,
        since: wanted.since.map(milliseconds),
        until: wanted.until.map(milliseconds),
        text: wanted.text.filter(|text| !text.is_empty()),
        limit: limit.unwrap_or(30).min(PAGE) as usize,
        cursor: wanted.cursor.filter(|cursor| !cursor.is_empty()),
    };
    let page = app.host.store().runs(&filter).await?;
    let mut names = Names::default();
    let mut runs = Vec::with_capacity(page.items.len());
    for run in page.items {
        let name = names.get(&app, &run.origin.agent).await?;
        runs.push(RunItem::of(run, name));
    }
    let next = page.next;
    Ok(Json(RunList { runs, next }))
}

/// What is shown of a run.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Shown {
    /// Its events too.
    #[serde(default)]
    pub events: bool,
}

/// Shows a run
///
/// Where it stands, what it was given and gave out, and what became of each node.
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs", params(("id" = String, Path, description = "The run's id"), Shown), responses(
    (status = 200, body = RunView),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = "default", body = ProblemBody),
))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(id): At<String>,
    Filter(shown): Filter<Shown>,
) -> Result<Json<RunView>, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    let mut view = whole(&app, &run).await?;
    if shown.events {
        let log = app.host.log(&run.id, None).await?;
        view.events = Some(log.iter().map(event_view).collect());
    }
    Ok(Json(view))
}

/// A run with what it was given and what became of its nodes.
///
/// # Errors
/// It cannot be read.
pub async fn whole(app: &App, run: &easel_store::RunRecord) -> Result<RunView, Problem> {
    let workflow = app.host.workflow(&run.origin.document).await?;
    let steps = app.host.steps(run).await?;
    let given = app.host.given(&run.id).await?;
    let given = given.and_then(|start| {
        let inputs = start.context.get("inputs").cloned();
        inputs.or_else(|| start.variables.get("inputs").cloned())
    });
    let inputs = given.map_or_else(|| serde_json::json!({}), |given| json(&given));
    let name = Names::default().get(app, &run.origin.agent).await?;
    let mut view = RunView::of(run, name, inputs);
    let outside: Vec<_> = steps.into_iter().filter(|s| s.scope.is_empty()).collect();
    let nodes = nodes_of(&workflow, &outside).into_iter();
    view.nodes = nodes
        .map(|(id, node)| (id.to_string(), json(&node)))
        .collect();
    Ok(view)
}

/// Ends or deletes a run
///
/// A run that is under way, waits or is uncertain ends as cancelled: 202, and its record stays. One that is over is deleted
/// with its journal: 204; that takes the scope `write`.
#[utoipa::path(delete, path = "/v1/runs/{id}", tag = "runs", params(("id" = String, Path, description = "The run's id")), responses(
    (status = 202, body = RunView, description = "It was cancelled"),
    (status = 204, description = "It was over, and is deleted"),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = "default", body = ProblemBody),
))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    At(id): At<String>,
) -> Result<Response, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    if !run.standing.is_over() {
        app.host.cancel(&run.id).await?;
        let run = access::run(&app, &caller, &id).await?;
        let view = whole(&app, &run).await?;
        return Ok((StatusCode::ACCEPTED, Json(view)).into_response());
    }
    caller.may(Scope::Write)?;
    app.host.store().delete_run(&run.id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// What a run did with secrets.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReceiptView {
    /// The version of this form.
    pub version: u32,
    /// The run's id.
    pub run: String,
    /// Each time a secret went to a sink, in order.
    pub entries: Vec<ReceiptLine>,
    /// Bytes of text that were searched for secrets on their way out; 0 if the run knew none.
    pub bytes_scanned: u64,
    /// Places where a secret was found and masked.
    pub masked: u64,
    /// The secrets that stood in a number, where they could not be masked.
    pub unmasked: Vec<String>,
}

/// A secret went to a sink.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ReceiptLine {
    /// The secret's name, never its value.
    pub secret: String,
    /// The provider that had it.
    pub provider: String,
    /// What kind of thing it went to.
    pub kind: String,
    /// The name of what it went to.
    pub sink: String,
    /// The id of the node.
    pub node: String,
    /// The passes around the node; blank outside of bodies.
    pub scope: String,
    /// When, in seconds since 1970.
    pub time: f64,
}

/// Shows a run's receipt
///
/// Which secret reached what, by name, and that every byte that left was searched.
#[utoipa::path(get, path = "/v1/runs/{id}/receipt", tag = "runs", params(("id" = String, Path, description = "The run's id")), responses(
    (status = 200, body = ReceiptView),
    (status = 404, body = ProblemBody, description = "There is no such run"),
    (status = "default", body = ProblemBody),
))]
pub async fn receipt(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(id): At<String>,
) -> Result<Json<ReceiptView>, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    let receipt = app.host.store().receipt(&run.id).await?;
    let receipt = receipt.unwrap_or(easel_runtime::secrets::Receipt {
        version: easel_runtime::secrets::Receipt::VERSION,
        run: run.id.to_string(),
        entries: Vec::new(),
        bytes_scanned: 0,
        masked: 0,
        unmasked: Vec::new(),
    });
    let entries = receipt.entries.into_iter().map(|entry| ReceiptLine {
        kind: json(&entry.kind).as_str().unwrap_or_default().to_owned(),
        secret: entry.secret,
        provider: entry.provider,
        sink: entry.sink,
        node: entry.node,
        scope: entry.scope,
        time: seconds(entry.time),
    });
    Ok(Json(ReceiptView {
        version: receipt.version,
        run: receipt.run,
        entries: entries.collect(),
        bytes_scanned: receipt.bytes_scanned,
        masked: receipt.masked,
        unmasked: receipt.unmasked,
    }))
}
