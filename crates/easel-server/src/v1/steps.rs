//! Every attempt of a run.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use easel_runtime::StepRecord;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Filter, MOST, Reader, within};
use super::run::{FaultView, UsageView, json, seconds};
use crate::App;

/// Which steps.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StepFilter {
    /// Of this node.
    pub node: Option<String>,
    /// Behind this many.
    #[param(maximum = 1_000_000_000)]
    pub offset: Option<u32>,
    /// How many at most; never more than 1,000.
    #[param(minimum = 1, maximum = 1_000_000)]
    pub limit: Option<u32>,
}

/// The steps of a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StepList {
    /// The run's id.
    pub run: String,
    /// The attempts, in the order in which they began.
    pub steps: Vec<StepView>,
    /// How many there are that pass the filter.
    pub total: usize,
}

/// One attempt of one node, or a node that a guard kept from running.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StepView {
    /// The id of the node.
    pub node: String,
    /// The name that people read.
    pub name: String,
    /// The component or kind.
    pub component: String,
    /// The passes around it, outermost first.
    pub scope: Vec<PassView>,
    /// Which of the run's firings it belongs to; the same for every attempt of one.
    pub activation: u64,
    /// Which attempt, from 1; 0 for a node that was kept from running.
    pub attempt: u32,
    /// `running`, `waiting`, `done`, `failed`, `cancelled` or `skipped`.
    pub state: String,
    /// What the node read, by reference; what was missing is left out.
    #[schema(value_type = Object)]
    pub inputs: Value,
    /// What it gave, by port.
    #[schema(value_type = Object)]
    pub outputs: Value,
    /// Why it failed, if it did. With the state `done` a default value stood in.
    pub fault: Option<FaultView>,
    /// When it began, in seconds since 1970.
    pub started_at: f64,
    /// When it ended; `null` while it is under way.
    pub ended_at: Option<f64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<i64>,
    /// Tokens that it used.
    pub usage: UsageView,
}

/// One pass of a container.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PassView {
    /// The container's id.
    pub container: String,
    /// Which pass, from 0.
    pub index: u64,
    /// The container's own how-manieth firing in its scope.
    pub visit: u64,
}

impl StepView {
    /// A step as it is shown.
    pub fn of(step: &StepRecord) -> StepView {
        let pass = |pass: &easel_runtime::core::effect::Pass| PassView {
            container: pass.container.to_string(),
            index: pass.index,
            visit: pass.visit,
        };
        let fault = step.fault.as_ref().map(|fault| FaultView {
            node: None,
            code: fault.code.to_string(),
            message: fault.message.to_string(),
        });
        StepView {
            node: step.node.to_string(),
            name: step.name.to_string(),
            component: step.component.to_string(),
            scope: step.scope.iter().map(pass).collect(),
            activation: step.activation,
            attempt: step.attempt,
            state: step.state.name().to_owned(),
            inputs: json(&step.inputs),
            outputs: json(&step.outputs),
            fault,
            started_at: seconds(step.started.0),
            ended_at: step.ended.map(|ended| seconds(ended.0)),
            duration_ms: step.ended.map(|ended| ended.0 - step.started.0),
            usage: step.usage.into(),
        }
    }
}

/// Lists every attempt of a run
///
/// Retries, passes of loops and items, with what each read and gave, masked as the journal has it.
#[utoipa::path(get, path = "/v1/runs/{id}/steps", tag = "runs", params(("id" = String, Path, description = "The run's id"), StepFilter), responses(
    (status = 200, body = StepList),
    (status = 404, body = ProblemBody, description = "There is no such run"),
    (status = "default", body = ProblemBody),
))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(id): At<String>,
    Filter(wanted): Filter<StepFilter>,
) -> Result<Json<StepList>, Problem> {
    let limit = within("limit", wanted.limit, 1..=MOST)?.unwrap_or(1_000);
    let offset = within("offset", wanted.offset, 0..=MOST * 1_000)?;
    let run = access::run(&app, &caller, &id).await?;
    let mut steps = app.host.steps(&run).await?;
    if let Some(node) = &wanted.node {
        steps.retain(|step| *step.node == **node);
    }
    let total = steps.len();
    let some = steps.iter().skip(offset.unwrap_or(0) as usize);
    let some = some.take(limit.min(1_000) as usize);
    Ok(Json(StepList {
        run: run.id.to_string(),
        steps: some.map(StepView::of).collect(),
        total,
    }))
}
