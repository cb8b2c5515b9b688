//! `/v1/responses`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use easel_runtime::Standing;
use easel_runtime::core::event::Usage;
use easel_store::RunRecord;
use serde_json::{Value as Json, json};

use super::chat::{beside, body_of, is_on, model_of, with_session};
use super::conversation::{Ask, Turn, session_of};
use super::error::ApiError;
use super::prompt::Prompt;
use super::speech::{Answer, Heard, Question, Speech};
use super::stream::{self, Gone, Pen};
use crate::App;
use crate::auth::{Caller, Refused, Scope, now};

pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Result<Caller, Refused>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let caller = caller?;
    caller.may(Scope::Run)?;
    let body = body_of(body)?;
    let model = model_of(&app, &caller, &body).await?;
    let prompt = match body.get("input") {
        Some(Json::String(text)) => Prompt::text(text),
        Some(Json::Array(items)) => Prompt::of(items, "input")?,
        _ => {
            let told = "`input` is missing: give a text, or a list of messages.";
            let code = "missing_required_parameter";
            return Err(ApiError::invalid(Some("input"), code, told));
        }
    };
    if is_on(&body, "background")? {
        let told = "`background` is not supported: every run goes on when its client is gone, and GET /v1/responses/{id} tells how it ended.";
        return Err(ApiError::invalid(
            Some("background"),
            "unsupported_value",
            told,
        ));
    }
    let streams = is_on(&body, "stream")?;
    let previous = body.get("previous_response_id").and_then(Json::as_str);
    let mut ask = Ask::of(model, prompt, &body, &headers)?;
    if let Some(previous) = previous {
        let (record, _) = found(&app, &caller, previous).await?;
        if session_of(&body, &headers)
            .is_some_and(|named| Some(&*named) != record.origin.session.as_deref())
        {
            let told =
                "`previous_response_id` belongs to another session than the one that is named.";
            let param = Some("previous_response_id");
            return Err(ApiError::invalid(param, "invalid_value", told));
        }
        ask.session = record.origin.session.as_deref().map(str::to_owned);
    }
    let mut turn = ask.say(&app, &caller).await?;
    let session = turn.session.clone();
    let form = Form {
        id: format!("resp_{}_{}", turn.live.run(), turn.number),
        created: now() / 1000,
        model: body.get("model").cloned().unwrap_or_default(),
        session: session.clone(),
        run: turn.live.run().clone(),
        previous: previous.map(str::to_owned),
        metadata: body.get("metadata").cloned().unwrap_or_else(|| json!({})),
    };
    let response = match streams {
        true => stream::respond(|pen| form.write(turn, pen)),
        false => {
            let answer = turn.answer().await?;
            let (failure, usage) = turn.end().await;
            let state = match &failure {
                Some(failure) => Status::Failed(failure),
                None => Status::Completed,
            };
            axum::Json(form.response(&answer, state, usage)).into_response()
        }
    };
    Ok(with_session(response, &session))
}

/// A response that was made before, and the turn of its run that it is.
async fn found(app: &App, caller: &Caller, id: &str) -> Result<(RunRecord, u64), ApiError> {
    let unknown = || {
        let told = format!("Response with id `{id}` not found.");
        ApiError::unknown(None, "response_not_found", told)
    };
    let parts = id.strip_prefix("resp_").and_then(|id| id.rsplit_once('_'));
    let (run, number) = parts.ok_or_else(unknown)?;
    let number = number.parse().map_err(|_| unknown())?;
    if run.contains('\0') {
        return Err(unknown());
    }
    let record = app.host.store().run(run).await?;
    let record = record
        .filter(|record| caller.owns(&record.origin.owner) && &*record.origin.trigger == "openai");
    Ok((record.ok_or_else(unknown)?, number))
}

/// A response, from what the journal has of its run.
pub(super) async fn retrieve(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Result<Caller, Refused>,
) -> Result<Response, ApiError> {
    let caller = caller?;
    caller.may(Scope::Read)?;
    let (record, number) = found(&app, &caller, &id).await?;
    let log = app.host.log(&record.id, None).await?;
    let mut speech = Speech::default();
    let mut answer = Answer::default();
    let mut over = false;
    for event in log.iter().filter(|event| event.id.entry >= number) {
        for heard in speech.hear(event) {
            over |= matches!(
                heard,
                Heard::Question(_) | Heard::Finished | Heard::Failed { .. }
            );
            answer.take(heard);
        }
        if over {
            break;
        }
    }
    // A turn whose answer fitted nothing left no event behind.
    if !over && let Some(question) = Question::of(&record.standing) {
        answer.take(Heard::Question(question));
        over = true;
    }
    let failure = answer.failed.as_ref();
    let failure = failure.map(|(code, message)| ApiError::failed(code, message.as_str()));
    let state = match (&failure, &record.standing) {
        (Some(failure), _) => Status::Failed(failure),
        (None, Standing::Cancelled) => Status::Cancelled,
        (None, _) if over => Status::Completed,
        _ => Status::InProgress,
    };
    let session = record.origin.session.clone().unwrap_or_default();
    let form = Form {
        id,
        created: record.created / 1000,
        model: json!(&*record.origin.agent),
        session: session.clone(),
        run: record.id.clone(),
        previous: None,
        metadata: json!({}),
    };
    let usage = speech.usage().unwrap_or(record.usage);
    let response = axum::Json(form.response(&answer, state, usage)).into_response();
    Ok(with_session(response, &session))
}

/// How a response stands.
#[derive(Clone, Copy)]
enum Status<'e> {
    InProgress,
    Completed,
    Cancelled,
    Failed(&'e ApiError),
}

/// The form of a response.
struct Form {
    id: String,
    created: i64,
    model: Json,
    session: Arc<str>,
    run: Arc<str>,
    previous: Option<String>,
    metadata: Json,
}

impl Form {
    fn item_id(&self) -> String {
        self.id.replacen("resp_", "msg_", 1)
    }

    fn part(text: &str) -> Json {
        json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
    }

    fn item(&self, status: &str, content: Vec<Json>) -> Json {
        json!({"id": self.item_id(), "type": "message", "status": status, "role": "assistant", "content": content})
    }

    fn response(&self, answer: &Answer, state: Status<'_>, usage: Usage) -> Json {
        let (status, error) = match state {
            Status::InProgress => ("in_progress", Json::Null),
            Status::Completed => ("completed", Json::Null),
            Status::Cancelled => ("cancelled", Json::Null),
            Status::Failed(error) => {
                let error = json!({"code": error.code, "message": error.message});
                ("failed", error)
            }
        };
        let output = match state {
            Status::InProgress => Vec::new(),
            Status::Completed => vec![self.item("completed", vec![Form::part(&answer.text)])],
            _ if answer.text.is_empty() => Vec::new(),
            _ => vec![self.item("incomplete", vec![Form::part(&answer.text)])],
        };
        let usage = match state {
            Status::InProgress => Json::Null,
            _ => json!({
                "input_tokens": usage.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": usage.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.total_tokens,
            }),
        };
        let mut metadata = self.metadata.clone();
        if let Some(members) = metadata.as_object_mut() {
            members.insert("session_id".into(), json!(&*self.session));
        }
        json!({
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": error,
            "incomplete_details": null,
            "instructions": null,
            "max_output_tokens": null,
            "model": self.model,
            "output": output,
            "parallel_tool_calls": false,
            "previous_response_id": self.previous,
            "reasoning": {"effort": null, "summary": null},
            "store": true,
            "temperature": null,
            "text": {"format": {"type": "text"}},
            "tool_choice": "none",
            "tools": [],
            "top_p": null,
            "truncation": "disabled",
            "usage": usage,
            "metadata": metadata,
            "easel": beside(&self.session, &self.run, answer),
        })
    }

    /// The response piece by piece, with the events that the official clients know.
    async fn write(self, mut turn: Turn, pen: Pen) -> Result<(), Gone> {
        let mut pen = Numbered { pen, number: 0 };
        let mut answer = Answer::default();
        let begun = self.response(&answer, Status::InProgress, Usage::default());
        pen.event("response.created", json!({"response": begun}))
            .await?;
        pen.event("response.in_progress", json!({"response": begun}))
            .await?;
        let item = self.item("in_progress", Vec::new());
        pen.event(
            "response.output_item.added",
            json!({"output_index": 0, "item": item}),
        )
        .await?;
        let part = json!({"item_id": self.item_id(), "output_index": 0, "content_index": 0});
        pen.event(
            "response.content_part.added",
            with(&part, "part", Form::part("")),
        )
        .await?;
        let mut broken = None;
        loop {
            let heard = match turn.next().await {
                Ok(Some(heard)) => heard,
                Ok(None) => break,
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            };
            let text = match &heard {
                Heard::Text(text) => text.clone(),
                Heard::Question(question) => answer.lead_in() + &question.text(),
                _ => String::new(),
            };
            if !text.is_empty() {
                let mut delta = with(&part, "delta", json!(text));
                delta["logprobs"] = json!([]);
                pen.event("response.output_text.delta", delta).await?;
            }
            answer.take(heard);
        }
        let (failure, usage) = match broken {
            Some(error) => (Some(error), Usage::default()),
            None => turn.end().await,
        };
        if let Some(failure) = failure {
            let failed = self.response(&answer, Status::Failed(&failure), usage);
            return pen
                .event("response.failed", json!({"response": failed}))
                .await;
        }
        let mut done = with(&part, "text", json!(answer.text));
        done["logprobs"] = json!([]);
        pen.event("response.output_text.done", done).await?;
        let whole = Form::part(&answer.text);
        pen.event(
            "response.content_part.done",
            with(&part, "part", whole.clone()),
        )
        .await?;
        let item = self.item("completed", vec![whole]);
        pen.event(
            "response.output_item.done",
            json!({"output_index": 0, "item": item}),
        )
        .await?;
        let response = self.response(&answer, Status::Completed, usage);
        pen.event("response.completed", json!({"response": response}))
            .await
    }
}

fn with(object: &Json, name: &str, value: Json) -> Json {
    let mut object = object.clone();
    object[name] = value;
    object
}

/// Writes events with their numbers.
struct Numbered {
    pen: Pen,
    number: u64,
}

impl Numbered {
    async fn event(&mut self, name: &str, mut data: Json) -> Result<(), Gone> {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.number);
        self.number += 1;
        self.pen.event(name, data).await
    }
}
