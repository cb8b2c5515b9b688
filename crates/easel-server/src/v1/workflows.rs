//! Graphs that are kept here, by name. What is put here runs from the next run on; runs that began keep what they began with.

pub mod report;
pub mod upload;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use easel_runtime::graphs::package::Package;
use easel_runtime::secrets::MASK;
use easel_runtime::{Requirements, Workflow};
use easel_store::{
    AgentFilter, AgentOrder, AgentPatch, AgentRecord, Dialect, NewAgent, PageNumber,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Filter, MOST, Reader, Writer, within};
use super::requirements::RequirementsView;
use super::run::{json, name_of, seconds};
use crate::App;
use crate::auth::Caller;
use report::Validation;
use upload::{Loaded, Upload, WorkflowBody, WorkflowForm};

/// The category under which graphs are kept.
pub const CATEGORY: &str = "workflow";

/// The longest name of a workflow, in characters.
const LONGEST_NAME: usize = 128;

/// Which workflows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListFilter {
    /// Text that the title has in it.
    pub keywords: Option<String>,
    /// The page, from 1.
    #[param(minimum = 1, maximum = 1_000_000)]
    pub page: Option<u32>,
    /// How many are on a page; at most 100.
    #[param(minimum = 1, maximum = 1_000_000)]
    pub limit: Option<u32>,
}

/// A list of workflows.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkflowList {
    /// Those on this page.
    pub workflows: Vec<WorkflowItem>,
    /// How many there are on all pages.
    pub total: u64,
}

/// A workflow in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkflowItem {
    /// By what it is called.
    pub name: String,
    /// Its id, by which it is found too.
    pub id: String,
    /// What it is for.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The hash of its document.
    pub document: String,
    /// Whether it is the caller's own.
    pub own: bool,
    /// When it was made, in seconds since 1970.
    pub created_at: f64,
    /// When it was changed last, in seconds since 1970.
    pub updated_at: f64,
    /// Why it cannot be loaded, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A workflow.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct WorkflowView {
    /// By what it is called.
    pub name: String,
    /// Its id.
    pub id: String,
    /// `graph` or `canvas`.
    pub dialect: String,
    /// What it is for.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The hash of its document.
    pub document: String,
    /// The inputs that it declares, by name.
    #[schema(value_type = Object)]
    pub inputs: Value,
    /// The graph as an object; `null` for a canvas.
    #[schema(value_type = Option<Object>)]
    pub graph: Value,
    /// The text of the graph's file.
    pub source: Option<String>,
    /// The names of the package's files, if it is one.
    pub files: Vec<String>,
    /// What it asks for, and what of it is missing.
    pub requirements: Option<RequirementsView>,
    /// What the check says.
    pub validation: Validation,
    /// When it was made, in seconds since 1970.
    pub created_at: f64,
    /// When it was changed last, in seconds since 1970.
    pub updated_at: f64,
}

/// That a workflow is gone.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    /// What it was called.
    pub deleted: String,
}

/// Lists workflows
///
/// The graphs that the caller may use: their own and their team's. One that cannot be loaded is listed with its error.
#[utoipa::path(get, path = "/v1/workflows", tag = "workflows", params(ListFilter), responses(
    (status = 200, body = WorkflowList),
    (status = "default", body = ProblemBody),
))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    Filter(filter): Filter<ListFilter>,
) -> Result<Json<WorkflowList>, Problem> {
    let page = within("page", filter.page, 1..=MOST)?.unwrap_or(1);
    let size = within("limit", filter.limit, 1..=MOST)?.unwrap_or(100);
    let filter = AgentFilter {
        visible_to: Some(caller.owner.to_string()),
        keywords: filter.keywords,
        dialect: Some(Dialect::Graph),
        order: AgentOrder::Title,
        page: PageNumber {
            page,
            size: size.min(100),
        },
        ..AgentFilter::default()
    };
    let listed = app.host.store().agents(&filter).await?;
    let mut workflows = Vec::with_capacity(listed.items.len());
    for agent in listed.items {
        let error = match app.host.workflow(&agent.document).await {
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        workflows.push(item(&agent, &caller, error));
    }
    Ok(Json(WorkflowList {
        workflows,
        total: listed.total,
    }))
}

fn item(agent: &AgentRecord, caller: &Caller, error: Option<String>) -> WorkflowItem {
    WorkflowItem {
        name: name_of(agent).to_string(),
        id: agent.id.to_string(),
        description: agent.description.to_string(),
        tags: agent.tags.iter().map(|tag| tag.to_string()).collect(),
        document: agent.document.to_string(),
        own: caller.owns(&agent.owner),
        created_at: seconds(agent.created),
        updated_at: seconds(agent.updated),
        error,
    }
}

/// Shows a workflow
///
/// By its name, or by the id of any agent. Credentials that are written out in it are masked.
#[utoipa::path(get, path = "/v1/workflows/{name}", tag = "workflows", params(("name" = String, Path, description = "Its name or id")), responses(
    (status = 200, body = WorkflowView),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = "default", body = ProblemBody),
))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(name): At<String>,
) -> Result<Json<WorkflowView>, Problem> {
    let agent = access::workflow(&app, &caller, &name).await?;
    Ok(Json(view(&app, &agent).await?))
}

/// Keeps a new workflow
///
/// A graph as YAML or JSON, or a package as a zip file. It runs from then on.
#[utoipa::path(post, path = "/v1/workflows", tag = "workflows",
    request_body(content(
        (WorkflowBody = "application/json"),
        (String = "application/yaml"),
        (Vec<u8> = "application/zip"),
        (WorkflowForm = "multipart/form-data"),
    )),
    responses(
    (status = 201, body = WorkflowView),
    (status = 409, body = ProblemBody, description = "There is one of that name"),
    (status = 422, body = ProblemBody, description = "It is no graph, or one that must not run: with what the check says"),
    (status = "default", body = ProblemBody),
))]
pub async fn create(
    State(app): State<Arc<App>>,
    Writer(caller): Writer,
    upload: Upload,
) -> Result<(StatusCode, Json<WorkflowView>), Problem> {
    let loaded = upload::load(&app, &upload).await?;
    let name = name_for(&loaded)?;
    let loaded = must_run(loaded)?;
    let document = app.host.store().put_document(Dialect::Graph, upload.bytes);
    let document = document.await?.to_string();
    let new = NewAgent {
        owner: caller.owner.to_string(),
        title: name.clone(),
        description: loaded.description.clone(),
        category: CATEGORY.to_owned(),
        tags: loaded.tags.iter().map(|tag| tag.as_str().into()).collect(),
        released: true,
        dialect: Some(Dialect::Graph),
        version_title: version_title(&name),
        name: Some(name),
        document,
        ..NewAgent::default()
    };
    let made = app.host.store().create_agent(new).await;
    let made = made.map_err(|error| match error {
        easel_store::StoreError::TitleTaken(name) => easel_store::StoreError::NameTaken(name),
        other => other,
    })?;
    Ok((StatusCode::CREATED, Json(view(&app, &made).await?)))
}

/// Replaces a workflow
///
/// The new graph runs from then on; it is a new version, and runs under way keep the one they began with.
#[utoipa::path(put, path = "/v1/workflows/{name}", tag = "workflows", params(("name" = String, Path, description = "Its name or id")),
    request_body(content(
        (WorkflowBody = "application/json"),
        (String = "application/yaml"),
        (Vec<u8> = "application/zip"),
        (WorkflowForm = "multipart/form-data"),
    )),
    responses(
    (status = 200, body = WorkflowView),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = 422, body = ProblemBody, description = "It is no graph, or one that must not run: with what the check says"),
    (status = "default", body = ProblemBody),
))]
pub async fn replace(
    State(app): State<Arc<App>>,
    Writer(caller): Writer,
    At(name): At<String>,
    upload: Upload,
) -> Result<Json<WorkflowView>, Problem> {
    let agent = access::workflow(&app, &caller, &name).await?;
    if agent.dialect != Dialect::Graph {
        return Err(Problem::unfit("canvas", format!("{name:?} is a canvas"))
            .fix("change it with PUT /api/v1/agents/{id}"));
    }
    let loaded = must_run(upload::load(&app, &upload).await?)?;
    let document = app.host.store().put_document(Dialect::Graph, upload.bytes);
    let patch = AgentPatch {
        description: Some(loaded.description),
        tags: Some(loaded.tags.iter().map(|tag| tag.as_str().into()).collect()),
        released: Some(true),
        document: Some(document.await?.to_string()),
        version_title: version_title(&name),
        ..AgentPatch::default()
    };
    let changed = app.host.store().update_agent(&agent.id, patch).await?;
    let changed = changed.ok_or_else(|| Problem::missing("no_workflow", "workflow", &name))?;
    Ok(Json(view(&app, &changed).await?))
}

/// Deletes a workflow
///
/// Its versions go with it, and its runs.
#[utoipa::path(delete, path = "/v1/workflows/{name}", tag = "workflows", params(("name" = String, Path, description = "Its name or id")), responses(
    (status = 200, body = Deleted),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = 409, body = ProblemBody, description = "A run of it is under way"),
    (status = "default", body = ProblemBody),
))]
pub async fn remove(
    State(app): State<Arc<App>>,
    Writer(caller): Writer,
    At(name): At<String>,
) -> Result<Json<Deleted>, Problem> {
    let agent = access::own_workflow(&app, &caller, &name).await?;
    if agent.dialect != Dialect::Graph {
        return Err(Problem::unfit("canvas", format!("{name:?} is a canvas"))
            .fix("delete it with DELETE /api/v1/agents/{id}"));
    }
    let alive = easel_store::RunFilter {
        agents: vec![agent.id.to_string()],
        states: ["running", "waiting", "uncertain"]
            .map(str::to_owned)
            .into(),
        limit: 1,
        ..Default::default()
    };
    if let Some(run) = app.host.store().runs(&alive).await?.items.first() {
        let message = format!("the run {} of it is {}", run.id, run.state);
        return Err(Problem::conflict("under_way", message).fix("cancel its runs first"));
    }
    app.host.store().delete_agent(&agent.id, false).await?;
    let deleted = name_of(&agent).to_string();
    Ok(Json(Deleted { deleted }))
}

/// Checks a workflow
///
/// Says everything that can be known about it before a run, and keeps nothing. What is no graph at all is answered in the same
/// form.
#[utoipa::path(post, path = "/v1/workflows/validate", tag = "workflows",
    request_body(content(
        (WorkflowBody = "application/json"),
        (String = "application/yaml"),
        (Vec<u8> = "application/zip"),
        (WorkflowForm = "multipart/form-data"),
    )),
    responses(
    (status = 200, body = Validation),
    (status = "default", body = ProblemBody),
))]
pub async fn validate(
    State(app): State<Arc<App>>,
    Reader(_caller): Reader,
    upload: Upload,
) -> Result<Json<Validation>, Problem> {
    match upload::load(&app, &upload).await {
        Ok(loaded) => Ok(Json(loaded.validation)),
        Err(problem) => match problem.body().validation {
            Some(validation) => Ok(Json(validation)),
            None => Err(Problem::unfit(
                "canvas",
                "this is a canvas, and workflows here are graphs",
            )
            .fix("`easel check` checks canvases")),
        },
    }
}

/// What a new workflow is to be called.
fn name_for(loaded: &Loaded) -> Result<String, Problem> {
    let Some(name) = &loaded.name else {
        let fix = "send `name`, or write `name:` into the graph";
        return Err(Problem::unfit("no_name", "the workflow has no name").fix(fix));
    };
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | '?' | '#' | '%');
    let reserved = matches!(&**name, "." | ".." | "validate");
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(odd) || reserved {
        let message = format!("{name:?} cannot be the name of a workflow");
        let fix = format!(
            "use at most {LONGEST_NAME} letters, digits, blanks and marks other than / \\ ? # %"
        );
        return Err(Problem::unfit("name", message).fix(fix));
    }
    Ok(name.clone())
}

/// Refuses what must not run.
fn must_run(loaded: Loaded) -> Result<Loaded, Problem> {
    if loaded.validation.ok {
        return Ok(loaded);
    }
    let message = loaded.validation.first_error().unwrap_or("it has a fault");
    let message = format!("the workflow must not run: {message}");
    Err(Problem::unfit("invalid", message).with_validation(loaded.validation))
}

fn version_title(name: &str) -> String {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S");
    format!("{name} {now}")
}

/// A workflow as it is shown.
async fn view(app: &App, agent: &AgentRecord) -> Result<WorkflowView, Problem> {
    let host = &app.host;
    let document = host.store().document(&agent.document).await?;
    let document = document
        .ok_or_else(|| Problem::conflict("no_document", "the document of the workflow is gone"))?;
    let engine = host.engine().clone();
    let loaded = host.workflow(&agent.document).await;
    let (workflow, failed) = match loaded {
        Ok(workflow) => (Some(workflow), None),
        Err(error) => (None, Some(Problem::from(error).body().validation)),
    };
    let bytes = document.bytes;
    let read = move || {
        let package = Package::from_archive(&bytes).ok();
        let allowed = engine.python_allowed();
        let shown = workflow.as_ref().map(|workflow| Shown {
            graph: graph_of(workflow),
            source: source_of(workflow),
            files: package
                .iter()
                .flat_map(|package| package.files().map(|(name, _)| name.to_owned()))
                .collect(),
            requirements: Requirements::of(
                &engine,
                workflow,
                package.as_ref().map(|package| (package, &allowed)),
            ),
            validation: Validation::of(&engine.check(workflow)),
            inputs: json(&workflow.inputs()),
        });
        shown
    };
    let shown = tokio::task::spawn_blocking(read).await.ok().flatten();
    let (validation, inputs, graph, source, files, requirements) = match shown {
        Some(shown) => (
            shown.validation.with_gaps(&shown.requirements),
            shown.inputs,
            shown.graph,
            shown.source,
            shown.files,
            Some(RequirementsView::of(shown.requirements)),
        ),
        None => (
            failed.flatten().unwrap_or_default(),
            serde_json::json!({}),
            Value::Null,
            None,
            Vec::new(),
            None,
        ),
    };
    Ok(WorkflowView {
        name: name_of(agent).to_string(),
        id: agent.id.to_string(),
        dialect: agent.dialect.name().to_owned(),
        description: agent.description.to_string(),
        tags: agent.tags.iter().map(|tag| tag.to_string()).collect(),
        document: agent.document.to_string(),
        inputs,
        graph,
        source,
        files,
        requirements,
        validation,
        created_at: seconds(agent.created),
        updated_at: seconds(agent.updated),
    })
}

/// What is shown of a workflow that can be loaded.
struct Shown {
    graph: Value,
    source: Option<String>,
    files: Vec<String>,
    requirements: Requirements,
    validation: Validation,
    inputs: Value,
}

/// The graph as an object, without the credentials that are written out in it.
fn graph_of(workflow: &Workflow) -> Value {
    let source = workflow.graph().and_then(|graph| graph.document().source());
    let mut graph = match source {
        Some(source) => json(&source.root().to_value()),
        None => Value::Null,
    };
    for found in workflow.secrets().written_out() {
        mask(&mut graph, &found.value);
    }
    graph
}

/// The text of the graph's file, without the credentials that are written out in it.
fn source_of(workflow: &Workflow) -> Option<String> {
    let source = workflow.graph()?.document().source()?;
    let written_out = workflow.secrets().written_out();
    Some(written_out.fold(
        source.text().to_owned(),
        |text, found| match found.value.is_empty() {
            true => text,
            false => text.replace(&*found.value, MASK),
        },
    ))
}

fn mask(value: &mut Value, secret: &str) {
    match value {
        Value::String(text) if !secret.is_empty() && text.contains(secret) => {
            *text = text.replace(secret, MASK);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, secret)),
        Value::Object(members) => members.values_mut().for_each(|member| mask(member, secret)),
        _ => {}
    }
}
