//! What a workflow asks for beside its inputs, and what of it is missing here.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use easel_runtime::graphs::package::Package;
use easel_runtime::{Engine, Requirement, Requirements, Supply, Workflow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Reader};
use crate::App;

/// What a workflow asks for.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RequirementsView {
    /// Whether nothing is missing.
    pub satisfied: bool,
    /// The secrets that it names.
    pub secrets: Vec<RequirementView>,
    /// The models that it names, or the default where it names none.
    pub models: Vec<RequirementView>,
    /// The tools that it names.
    pub tools: Vec<RequirementView>,
    /// The Python functions that it calls.
    pub python: Vec<RequirementView>,
}

/// One thing that a workflow asks for.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RequirementView {
    /// Its name.
    pub name: String,
    /// `satisfied`, `missing` or `unusable`.
    pub state: String,
    /// Where it comes from if it is there, and why not otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The nodes that ask for it.
    pub nodes: Vec<String>,
}

impl RequirementsView {
    /// The requirements as they are shown.
    pub fn of(requirements: Requirements) -> RequirementsView {
        let all = |some: Vec<Requirement>| some.into_iter().map(one).collect();
        RequirementsView {
            satisfied: requirements.satisfied,
            secrets: all(requirements.secrets),
            models: all(requirements.models),
            tools: all(requirements.tools),
            python: all(requirements.python),
        }
    }
}

fn one(requirement: Requirement) -> RequirementView {
    let state = match requirement.state {
        Supply::Satisfied => "satisfied",
        Supply::Missing => "missing",
        Supply::Unusable => "unusable",
    };
    RequirementView {
        name: requirement.name,
        state: state.to_owned(),
        detail: requirement.detail,
        nodes: requirement.nodes,
    }
}

/// Says what a workflow asks for
///
/// Secrets by name and never by value, models, tools, Python; each with whether a run would find it here.
#[utoipa::path(get, path = "/v1/workflows/{name}/requirements", tag = "workflows",
    params(("name" = String, Path, description = "Its name or id")), responses(
    (status = 200, body = RequirementsView),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = "default", body = ProblemBody),
))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(name): At<String>,
) -> Result<Json<RequirementsView>, Problem> {
    let agent = access::workflow(&app, &caller, &name).await?;
    let workflow = app.host.workflow(&agent.document).await?;
    let document = app.host.store().document(&agent.document).await?;
    let engine = app.host.engine().clone();
    let read = move || {
        let package = document.and_then(|document| Package::from_archive(&document.bytes).ok());
        let allowed = engine.python_allowed();
        let package = package.as_ref().map(|package| (package, &allowed));
        Requirements::of(&engine, &workflow, package)
    };
    let requirements = tokio::task::spawn_blocking(read).await;
    let requirements =
        requirements.map_err(|_| Problem::unfit("invalid", "the workflow cannot be read"))?;
    Ok(Json(RequirementsView::of(requirements)))
}

/// Refuses a run that would not find what it asks for: secrets and tools (428), models (503).
///
/// # Errors
/// Something is missing.
pub fn must_be_met(engine: &Engine, workflow: &Workflow) -> Result<(), Problem> {
    let requirements = Requirements::of(engine, workflow, None);
    if requirements.satisfied {
        return Ok(());
    }
    let missing = requirements.all().filter(|(_, one)| !one.is_met());
    let missing: Vec<_> = missing.collect();
    let names = missing.iter().map(|(kind, one)| match &one.detail {
        Some(detail) => format!("{kind} {}: {detail}", one.name),
        None => format!("{kind} {}", one.name),
    });
    let names: Vec<String> = names.collect();
    let only_models = missing.iter().all(|(kind, _)| *kind == "model");
    let (status, code, fix) = match only_models {
        true => (
            StatusCode::SERVICE_UNAVAILABLE,
            "no_provider",
            "set up the provider of the model in easel.toml",
        ),
        false => (
            StatusCode::PRECONDITION_REQUIRED,
            "requirements",
            "supply what is missing; GET /v1/workflows/{name}/requirements lists it",
        ),
    };
    let message = format!("the workflow cannot run here: {}", names.join("; "));
    Err(Problem::new(status, code, message)
        .fix(fix)
        .with_requirements(names))
}
