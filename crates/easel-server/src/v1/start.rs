//! Runs that begin, and what a request that waits is told.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use easel_runtime::{Ending, Input, Object, Origin, Value};
use easel_store::{AgentRecord, Dialect};
use serde::{Deserialize, Serialize};
use serde_json::Value as Given;
use utoipa::ToSchema;

use super::access::{self, Chosen};
use super::problem::{Problem, ProblemBody};
use super::request::{At, Body, Runner, Trace};
use super::requirements::must_be_met;
use super::run::{Names, RunView, json};
use crate::App;
use crate::auth::Caller;
use crate::host::{Events, Live};

/// The longest time that a request waits for the end of a turn. The run goes on after that.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// What a run of a graph begins with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowRun {
    /// The inputs by name.
    #[schema(value_type = Option<Object>)]
    pub inputs: Object,
    /// The user on whose behalf it runs.
    pub user: Option<String>,
    /// Files that were uploaded before.
    pub files: Vec<FileRef>,
    /// A version by its id, or `draft`; the released version if there is none.
    pub version: Option<String>,
    /// Wait for the end of the turn.
    pub wait: bool,
}

/// What a run of an agent begins with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentRun {
    /// What the user says: text, or any JSON.
    #[schema(value_type = Option<Value>)]
    pub query: Value,
    /// Begin's inputs by name: bare values or `{"value": …}`.
    #[schema(value_type = Option<Object>)]
    pub inputs: Object,
    /// The user on whose behalf it runs.
    pub user: Option<String>,
    /// Files that were uploaded before.
    pub files: Vec<FileRef>,
    /// Headers for MCP servers and tools that declare them.
    #[schema(value_type = Option<Object>)]
    pub custom_header: Object,
    /// Handed to the model's chat template.
    #[schema(value_type = Option<Object>)]
    pub chat_template_kwargs: Option<Value>,
    /// A version by its id, or `draft`; the released version if there is none.
    pub version: Option<String>,
    /// Wait for the end of the turn.
    pub wait: bool,
}

/// A file that was uploaded before.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FileRef {
    /// Its id.
    pub id: String,
}

/// Runs a workflow
///
/// A graph by its name, or any agent by its id. The answer comes once the run is safe: whatever happens to the server, it
/// will be driven to its end. With `wait` it comes at the end of the turn, or after 600 s.
#[utoipa::path(post, path = "/v1/workflows/{name}/runs", tag = "runs", params(("name" = String, Path, description = "Its name or id")),
    request_body = Option<WorkflowRun>, responses(
    (status = 202, body = RunView, description = "It began"),
    (status = 200, body = RunView, description = "Its turn ended"),
    (status = 404, body = ProblemBody, description = "There is no such workflow"),
    (status = 422, body = ProblemBody, description = "It cannot run with these inputs, or must not run"),
    (status = 428, body = ProblemBody, description = "Something it asks for is missing"),
    (status = 503, body = ProblemBody, description = "There is no such model, or no room"),
    (status = "default", body = ProblemBody),
))]
pub async fn workflow(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    trace: Trace,
    At(name): At<String>,
    Body(run): Body<WorkflowRun>,
) -> Result<Response, Problem> {
    let agent = access::workflow(&app, &caller, &name).await?;
    let asked = AgentRun {
        inputs: run.inputs,
        user: run.user,
        files: run.files,
        version: run.version,
        wait: run.wait,
        ..AgentRun::default()
    };
    let chosen = access::choose(&app, &agent, asked.version.as_deref()).await?;
    begin(&app, &caller, trace, (&agent, chosen), asked).await
}

/// Runs an agent
///
/// One run that belongs to no conversation: nothing of it is remembered by the next. The answer comes once the run is safe,
/// with `wait` at the end of the turn.
#[utoipa::path(post, path = "/v1/agents/{id}/runs", tag = "runs", params(("id" = String, Path, description = "The agent's id")),
    request_body = Option<AgentRun>, responses(
    (status = 202, body = RunView, description = "It began"),
    (status = 200, body = RunView, description = "Its turn ended"),
    (status = 404, body = ProblemBody, description = "There is no such agent"),
    (status = 422, body = ProblemBody, description = "It cannot run with these inputs, or must not run"),
    (status = 428, body = ProblemBody, description = "Something it asks for is missing"),
    (status = 503, body = ProblemBody, description = "There is no such model, or no room"),
    (status = "default", body = ProblemBody),
))]
pub async fn agent(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    trace: Trace,
    At(id): At<String>,
    Body(run): Body<AgentRun>,
) -> Result<Response, Problem> {
    let version = run.version.as_deref();
    let (agent, chosen) = access::agent_to_run(&app, &caller, &id, version).await?;
    begin(&app, &caller, trace, (&agent, chosen), run).await
}

async fn begin(
    app: &Arc<App>,
    caller: &Caller,
    trace: Trace,
    (agent, chosen): (&AgentRecord, Chosen),
    run: AgentRun,
) -> Result<Response, Problem> {
    let Chosen {
        document, version, ..
    } = chosen;
    let workflow = app.host.workflow(&document).await?;
    if agent.dialect == Dialect::Graph {
        must_be_met(app.host.engine(), &workflow)?;
    }
    let inputs = json(&run.inputs);
    let input = Input {
        query: run.query,
        inputs: run.inputs,
        files: descriptors(app, caller, &run.files).await?,
        user: run.user.as_deref().map(Arc::from),
        webhook: None,
        chat_template_kwargs: run.chat_template_kwargs,
        custom_header: run.custom_header,
    };
    let origin = Origin {
        document,
        agent: agent.id.clone(),
        version,
        ..origin(caller, trace, run.user.as_deref())
    };
    let live = app.host.run(input, origin).await?;
    answer(app, live, run.wait, inputs, Names::knowing(agent)).await
}

/// Where a request comes from.
pub fn origin(caller: &Caller, Trace(traceparent): Trace, user: Option<&str>) -> Origin {
    Origin {
        owner: caller.owner.clone(),
        key: caller.key.clone(),
        user: user.unwrap_or_default().into(),
        trigger: "api".into(),
        traceparent,
        ..Origin::default()
    }
}

/// Uploaded files as runs know them.
///
/// # Errors
/// There is none with that id, or it is another's.
pub async fn descriptors(
    app: &App,
    caller: &Caller,
    files: &[FileRef],
) -> Result<Vec<Value>, Problem> {
    let mut descriptors = Vec::with_capacity(files.len());
    for file in files {
        let record = app.host.store().file(&file.id).await?;
        let record = record.filter(|record| caller.owns(&record.owner));
        let record = record.ok_or_else(|| {
            let id: String = file.id.chars().take(100).collect();
            Problem::unfit("no_file", format!("there is no file {id:?}"))
                .fix("upload it first, with the same owner's key")
        })?;
        let members = [
            ("id", record.id),
            ("name", record.name),
            ("mime_type", record.mime),
            ("created_by", record.owner),
        ];
        let members = members.map(|(key, value)| (key.into(), Value::from(value)));
        descriptors.push(Value::from(Object::from_iter(members)));
    }
    Ok(descriptors)
}

/// Answers with a run, once its turn is safe or over.
///
/// # Errors
/// The turn could not be made.
pub async fn answer(
    app: &Arc<App>,
    live: Arc<Live>,
    wait: bool,
    inputs: Given,
    mut names: Names,
) -> Result<Response, Problem> {
    let mut said = None;
    let mut status = StatusCode::ACCEPTED;
    if wait {
        let whole = told(app, live.clone());
        if let Ok(text) = tokio::time::timeout(LONGEST_WAIT, whole).await {
            said = Some(text?);
            status = StatusCode::OK;
        }
    }
    if !live.accepted().await {
        let end = live.end().await;
        return Err(match &end.ending {
            Err(error) => Problem::of_turn(error),
            Ok(_) => Problem::conflict("refused", "the turn ended before it began"),
        });
    }
    if status == StatusCode::OK && matches!(live.end().await.ending, Ok(Ending::Unfit)) {
        return Err(Problem::unfit("unfit", "the answer fits no open field")
            .fix("the run still waits; GET it to see its fields"));
    }
    let left = match status {
        StatusCode::OK => live.end().await.record.clone(),
        _ => None,
    };
    let record = match left {
        Some(record) => record,
        None => app.host.record(live.run()).await?,
    };
    let workflow = names.get(app, &record.origin.agent).await?;
    let mut view = RunView::of(&record, workflow, inputs);
    view.said = said;
    Ok(located(status, view))
}

/// A run with where it is found.
fn located(status: StatusCode, view: RunView) -> Response {
    let place = format!("/v1/runs/{}", view.id);
    let session = view.session.clone();
    let mut response = (status, Json(view)).into_response();
    let headers = response.headers_mut();
    if let Ok(place) = HeaderValue::from_str(&place) {
        headers.insert(header::LOCATION, place);
    }
    if let Some(Ok(session)) = session.map(|session| HeaderValue::from_str(&session)) {
        headers.insert(HeaderName::from_static("x-easel-session"), session);
    }
    response
}

/// What the messages of a turn say, once it is over; blank lines between them.
async fn told(app: &Arc<App>, live: Arc<Live>) -> Result<String, Problem> {
    let mut events = Events::of(app.host.clone(), live);
    let (mut whole, mut open) = (Vec::new(), String::new());
    while let Some(event) = events.next().await? {
        match event.name() {
            "message" => {
                let data: Given = serde_json::from_str(event.data()).unwrap_or_default();
                open += data["content"].as_str().unwrap_or_default();
            }
            "message_reset" => open.clear(),
            "message_end" => whole.push(std::mem::take(&mut open)),
            _ => {}
        }
    }
    whole.retain(|text| !text.trim().is_empty());
    events.end().await;
    Ok(whole.join("\n\n"))
}
