//! A run as a trace: what asked a model, called a tool or computed, in order.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use easel_runtime::catalog::Family;
use easel_runtime::{Engine, Logged, StepRecord};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Filter, Reader};
use super::run::{Names, UsageView, json, seconds};
use crate::App;

/// The longest text in a trace, in characters.
const LONGEST_TEXT: usize = 4_000;

/// Which steps.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TraceFilter {
    /// Of this node.
    pub node_id: Option<String>,
}

/// A run as a trace.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TraceView {
    /// What it is a trace of.
    pub meta: TraceMeta,
    /// Its steps.
    pub steps: Vec<TraceStep>,
}

/// What a trace is of.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TraceMeta {
    /// The run's id.
    pub run: String,
    /// The name of the graph, or the title of the agent.
    pub workflow: String,
    /// Where the run stands.
    pub state: String,
    /// The trace context that the request came with; blank if none.
    pub traceparent: String,
    /// Tokens so far.
    pub usage: UsageView,
}

/// One step of a trace. Texts are cut at 4,000 characters.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TraceStep {
    /// Its place, from 1.
    pub step_id: usize,
    /// `llm`, `tool` or `function`.
    pub kind: String,
    /// What it is: `node.KIND`, `tool.NAME`.
    pub label: String,
    /// The node.
    pub node_id: String,
    /// The agents that led to it; blank if none did.
    pub agent_id: String,
    /// When it began, in seconds since 1970; `null` where only how long it took is known.
    pub started_at: Option<f64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<i64>,
    /// What went in.
    pub inputs: Value,
    /// What came out.
    pub outputs: Value,
    /// Tokens, attempt and pass.
    #[schema(value_type = Object)]
    pub meta: Value,
    /// Whether it went well.
    pub ok: bool,
    /// Why it did not.
    pub error: Option<String>,
    /// Remarks of the node.
    pub logs: Vec<String>,
}

/// Shows a run as a trace
///
/// Attempts of nodes and calls of tools, in the form that graph servers give.
#[utoipa::path(get, path = "/v1/runs/{id}/trace", tag = "runs", params(("id" = String, Path, description = "The run's id"), TraceFilter), responses(
    (status = 200, body = TraceView),
    (status = 404, body = ProblemBody, description = "There is no such run"),
    (status = "default", body = ProblemBody),
))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(id): At<String>,
    Filter(wanted): Filter<TraceFilter>,
) -> Result<Json<TraceView>, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    let steps = app.host.steps(&run).await?;
    let notes = app.host.store().notes(&run.id).await?;
    let notes: Vec<Logged> = notes.into_iter().map(Logged::from).collect();
    let mut trace = Vec::new();
    for step in &steps {
        trace.push(of_step(app.host.engine(), step, &notes));
    }
    trace.extend(notes.iter().filter_map(of_tool));
    if let Some(node) = &wanted.node_id {
        trace.retain(|step| step.node_id == *node);
    }
    for (at, step) in trace.iter_mut().enumerate() {
        step.step_id = at + 1;
    }
    Ok(Json(TraceView {
        meta: TraceMeta {
            run: run.id.to_string(),
            workflow: Names::default().get(&app, &run.origin.agent).await?,
            state: run.standing.name().to_owned(),
            traceparent: run.origin.traceparent.to_string(),
            usage: run.usage.into(),
        },
        steps: trace,
    }))
}

fn of_step(engine: &Engine, step: &StepRecord, notes: &[Logged]) -> TraceStep {
    let table = engine.registry().catalog().get(&step.component);
    let kind = match (table.map(|table| table.family), &*step.component) {
        (Some(Family::Model), _) | (None, "base" | "react" | "router") => "llm",
        _ if step.usage.calls > 0 => "llm",
        (Some(Family::Tool), _) | (None, "tool") => "tool",
        _ => "function",
    };
    let remarks = notes.iter().filter(|note| note.name() == "warning");
    let remarks = remarks.filter_map(|note| {
        let data: Value = serde_json::from_str(note.data()).ok()?;
        let of_node = data["component_id"].as_str() == Some(&*step.node);
        of_node.then(|| data["message"].as_str().unwrap_or_default().to_owned())
    });
    TraceStep {
        step_id: 0,
        kind: kind.to_owned(),
        label: format!("node.{}", step.component),
        node_id: step.node.to_string(),
        agent_id: String::new(),
        started_at: Some(seconds(step.started.0)),
        duration_ms: step.ended.map(|ended| ended.0 - step.started.0),
        inputs: cut(json(&step.inputs)),
        outputs: cut(json(&step.outputs)),
        meta: serde_json::json!({
            "usage": json(&UsageView::from(step.usage)),
            "attempt": step.attempt,
            "scope": json(&step.scope),
            "state": step.state.name(),
        }),
        ok: step.fault.is_none(),
        error: step.fault.as_ref().map(|fault| fault.message.to_string()),
        logs: remarks.collect(),
    }
}

/// A call of a tool, from what was noted of it.
fn of_tool(note: &Logged) -> Option<TraceStep> {
    if note.name() != "tool_call" {
        return None;
    }
    let data: Value = serde_json::from_str(note.data()).ok()?;
    let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
    let took = data["elapsed_time"].as_f64();
    Some(TraceStep {
        step_id: 0,
        kind: "tool".to_owned(),
        label: format!("tool.{}", text("tool_name")),
        node_id: text("component_id"),
        agent_id: text("path"),
        started_at: None,
        duration_ms: took.map(|seconds| (seconds * 1000.0) as i64),
        inputs: cut(data["arguments"].clone()),
        outputs: cut(data["result"].clone()),
        meta: serde_json::json!({"event": note.id.to_string()}),
        ok: true,
        error: None,
        logs: Vec::new(),
    })
}

/// A value with its texts cut.
fn cut(mut value: Value) -> Value {
    let mut todo = vec![&mut value];
    while let Some(value) = todo.pop() {
        match value {
            Value::String(text) => {
                if let Some((at, _)) = text.char_indices().nth(LONGEST_TEXT) {
                    text.truncate(at);
                    text.push('…');
                }
            }
            Value::Array(items) => todo.extend(items),
            Value::Object(members) => todo.extend(members.values_mut()),
            _ => {}
        }
    }
    value
}
