//! Runs that are driven on, answered, decided or ended.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use easel_runtime::{Decision, Input, Object, Standing, Value};
use easel_store::RunRecord;
use serde::Deserialize;
use utoipa::ToSchema;

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Body, Runner};
use super::run::{Names, RunView, json};
use super::runs::whole;
use super::start::{FileRef, answer as answered, descriptors};
use crate::App;
use crate::auth::Caller;

/// What a run is taken up with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Resume {
    /// Answers by field, for a run that waits.
    #[schema(value_type = Option<Object>)]
    pub values: Option<Object>,
    /// Wait for the end of the turn.
    pub wait: bool,
}

/// An answer to a run that waits.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// Values by field.
    #[schema(value_type = Option<Object>)]
    pub values: Object,
    /// Plain text, where exactly one field is open.
    pub text: Option<String>,
    /// Files that were uploaded before.
    pub files: Vec<FileRef>,
    /// Wait for the end of the turn.
    pub wait: bool,
}

/// What became of a write of which nobody knew.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// Which of the run's writes: its `activation`. May be left out where there is only one.
    pub activation: Option<u64>,
    /// What became of it.
    pub decision: Word,
    /// The node's outputs by port, if it happened.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub outputs: Object,
    /// Why it counts as failed.
    #[serde(default)]
    pub message: Option<String>,
    /// Wait for the end of the turn.
    #[serde(default)]
    pub wait: bool,
}

/// What may have become of a write.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It did not happen, or does no harm twice: do it again, with the same idempotency key.
    Repeat,
    /// It happened.
    Happened,
    /// It counts as failed.
    Failed,
}

/// Takes up a run
///
/// Drives on a run that nobody drives, from where it was left: nothing that is done is done again, and it stays the same run.
/// With `values` it answers a run that waits. (Graph servers begin a new run here; Easel does not.)
#[utoipa::path(post, path = "/v1/runs/{id}/resume", tag = "runs", params(("id" = String, Path, description = "The run's id")),
    request_body = Option<Resume>, responses(
    (status = 202, body = RunView, description = "It goes on"),
    (status = 200, body = RunView, description = "Its turn ended"),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = 409, body = ProblemBody, description = "There is nothing to go on with, or something has to be decided or answered first"),
    (status = 422, body = ProblemBody, description = "The values fit no open field"),
    (status = "default", body = ProblemBody),
))]
pub async fn resume(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    At(id): At<String>,
    Body(resume): Body<Resume>,
) -> Result<Response, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    if let Some(values) = resume.values.filter(|values| !values.is_empty()) {
        let answer = Answer {
            values,
            wait: resume.wait,
            ..Answer::default()
        };
        return give(&app, &caller, run, answer).await;
    }
    let problem = match &run.standing {
        Standing::Waiting { .. } => Some("it waits for an answer: send `values`"),
        Standing::Uncertain { .. } => Some("say what became of its writes with …/decide"),
        _ => None,
    };
    let live = app.host.resume(&run.id).await;
    let live = live.map_err(|error| match problem {
        Some(fix) => Problem::from(error).fix(fix),
        None => error.into(),
    })?;
    answered(
        &app,
        live,
        resume.wait,
        given(&app, &run).await?,
        Names::default(),
    )
    .await
}

/// Answers a run that waits
///
/// With values for its open fields, or with a text where exactly one is open.
#[utoipa::path(post, path = "/v1/runs/{id}/answer", tag = "runs", params(("id" = String, Path, description = "The run's id")),
    request_body = Option<Answer>, responses(
    (status = 202, body = RunView, description = "It goes on"),
    (status = 200, body = RunView, description = "Its turn ended"),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = 409, body = ProblemBody, description = "It does not wait"),
    (status = 422, body = ProblemBody, description = "The answer fits no open field"),
    (status = "default", body = ProblemBody),
))]
pub async fn answer(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    At(id): At<String>,
    Body(answer): Body<Answer>,
) -> Result<Response, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    give(&app, &caller, run, answer).await
}

async fn give(
    app: &Arc<App>,
    caller: &Caller,
    run: RunRecord,
    answer: Answer,
) -> Result<Response, Problem> {
    let inputs = given(app, &run).await?;
    if let Standing::Waiting { fields, .. } = &run.standing {
        let fits = match &answer.text {
            _ if answer.values.keys().any(|key| fields.contains_key(key)) => true,
            Some(_) => fields.len() == 1,
            None => false,
        };
        if !fits {
            let open: Vec<&str> = fields.keys().map(|key| &**key).collect();
            let message = format!(
                "the answer fits no open field; open are {}",
                open.join(", ")
            );
            return Err(Problem::unfit("unfit", message));
        }
    }
    let input = Input {
        query: answer.text.map_or(Value::Null, Value::from),
        inputs: answer.values,
        files: descriptors(app, caller, &answer.files).await?,
        ..Input::default()
    };
    let live = app.host.answer(&run.id, input).await?;
    answered(app, live, answer.wait, inputs, Names::default()).await
}

/// Decides about a write
///
/// For a run that does not know whether a write reached the outside.
#[utoipa::path(post, path = "/v1/runs/{id}/decide", tag = "runs", params(("id" = String, Path, description = "The run's id")),
    request_body = Decided, responses(
    (status = 202, body = RunView, description = "It goes on"),
    (status = 200, body = RunView, description = "Its turn ended"),
    (status = 404, body = ProblemBody, description = "There is no such run, or it has no such write"),
    (status = 409, body = ProblemBody, description = "It is not uncertain"),
    (status = "default", body = ProblemBody),
))]
pub async fn decide(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    At(id): At<String>,
    Body(decided): Body<Decided>,
) -> Result<Response, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    let inputs = given(&app, &run).await?;
    let activation = match (decided.activation, &run.standing) {
        (Some(activation), _) => activation,
        (None, Standing::Uncertain { writes }) => match writes.as_slice() {
            [only] => only.activation,
            several => {
                let all: Vec<_> = several.iter().map(|w| w.activation.to_string()).collect();
                let message = format!("the run has several writes: {}", all.join(", "));
                return Err(Problem::unfit("activation", message).fix("send `activation`"));
            }
        },
        // The host says how it stands.
        (None, _) => 0,
    };
    let decision = match decided.decision {
        Word::Repeat => Decision::Repeat,
        Word::Happened => Decision::Happened(decided.outputs),
        Word::Failed => {
            let message = decided.message.as_deref();
            Decision::Failed(message.unwrap_or("Somebody said that it failed.").into())
        }
    };
    let live = app.host.decide(&run.id, activation, decision).await?;
    answered(&app, live, decided.wait, inputs, Names::default()).await
}

/// Ends a run
///
/// It ends as cancelled; requests in flight are dropped. One that is over stays as it is.
#[utoipa::path(post, path = "/v1/runs/{id}/cancel", tag = "runs", params(("id" = String, Path, description = "The run's id")), responses(
    (status = 200, body = RunView),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = 409, body = ProblemBody, description = "The server that drives it does not end it"),
    (status = "default", body = ProblemBody),
))]
pub async fn cancel(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    At(id): At<String>,
) -> Result<Json<RunView>, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    app.host.cancel(&run.id).await?;
    let run = access::run(&app, &caller, &id).await?;
    Ok(Json(whole(&app, &run).await?))
}

/// What a run was given.
async fn given(app: &App, run: &RunRecord) -> Result<serde_json::Value, Problem> {
    let start = app.host.given(&run.id).await?;
    let inputs = start.and_then(|start| start.context.get("inputs").cloned());
    Ok(inputs.map_or_else(|| serde_json::json!({}), |inputs| json(&inputs)))
}
