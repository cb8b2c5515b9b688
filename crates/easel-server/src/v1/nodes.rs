//! One node of a run.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Reader};
use super::run::{NodeView, nodes_of};
use super::steps::StepView;
use crate::App;

/// What became of a node in a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NodeOfRun {
    /// The run's id.
    pub run_id: String,
    /// The node's id.
    pub node_id: String,
    /// What became of it; of a node in a body, in the body's last pass.
    #[serde(flatten)]
    pub node: NodeView,
    /// Its attempts.
    pub steps: Vec<StepView>,
}

/// Shows a node of a run
///
/// What it read, gave and took, and each of its attempts. In a body, every pass.
#[utoipa::path(get, path = "/v1/runs/{id}/nodes/{node}", tag = "runs", params(
    ("id" = String, Path, description = "The run's id"),
    ("node" = String, Path, description = "The node's id in the file"),
), responses(
    (status = 200, body = NodeOfRun),
    (status = 404, body = ProblemBody, description = "There is no such run, no such node, or it has not begun"),
    (status = "default", body = ProblemBody),
))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At((id, node)): At<(String, String)>,
) -> Result<Json<NodeOfRun>, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    let workflow = app.host.workflow(&run.origin.document).await?;
    let mut steps = app.host.steps(&run).await?;
    steps.retain(|step| *step.node == *node);
    let view = nodes_of(&workflow, &steps).pop();
    let Some((_, view)) = view else {
        let known = workflow.compiled().find(&node).is_some();
        return Err(match known {
            true => Problem::missing("not_begun", "record of the node", &node)
                .fix("it has not begun, or nothing led to it"),
            false => Problem::missing("no_node", "node", &node),
        });
    };
    Ok(Json(NodeOfRun {
        run_id: run.id.to_string(),
        node_id: node,
        node: view,
        steps: steps.iter().map(StepView::of).collect(),
    }))
}
