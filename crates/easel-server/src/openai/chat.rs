//! `/v1/chat/completions`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use easel_runtime::core::event::Usage;
use serde_json::{Value as Json, json};

use super::SESSION;
use super::conversation::{Ask, Turn};
use super::error::ApiError;
use super::models::Model;
use super::prompt::Prompt;
use super::speech::{Answer, Heard, Question};
use super::stream::{self, Gone, Pen};
use crate::App;
use crate::auth::{Caller, Refused, Scope, now};

/// A request's body as JSON.
pub(super) fn body_of(body: Result<Bytes, BytesRejection>) -> Result<Json, ApiError> {
    let body = body.map_err(|rejection| ApiError {
        status: rejection.status(),
        ..ApiError::invalid(None, "invalid_body", rejection.body_text())
    })?;
    let parsed = serde_json::from_slice::<Json>(&body);
    let parsed = parsed.map_err(|error| {
        let told = format!("The body of the request is no valid JSON: {error}.");
        ApiError::invalid(None, "invalid_json", told)
    })?;
    match parsed {
        Json::Object(_) => Ok(parsed),
        _ => {
            let told = "The body of the request must be a JSON object.";
            Err(ApiError::invalid(None, "invalid_json", told))
        }
    }
}

/// A switch of a request; off if it is not there.
pub(super) fn is_on(body: &Json, name: &'static str) -> Result<bool, ApiError> {
    match body.get(name) {
        None | Some(Json::Null) => Ok(false),
        Some(Json::Bool(on)) => Ok(*on),
        Some(_) => {
            let told = format!("`{name}` must be true or false.");
            Err(ApiError::invalid(Some(name), "invalid_type", told))
        }
    }
}

/// The model that a request names.
pub(super) async fn model_of(app: &App, caller: &Caller, body: &Json) -> Result<Model, ApiError> {
    let name = body.get("model").and_then(Json::as_str);
    let name = name.filter(|name| !name.is_empty()).ok_or_else(|| {
        let told = "`model` is missing: give the id of a released agent.";
        ApiError::invalid(Some("model"), "missing_required_parameter", told)
    })?;
    Model::named(name, caller, app.host.store()).await
}

pub(super) fn with_session(mut response: Response, session: &str) -> Response {
    if let Ok(session) = HeaderValue::from_str(session) {
        response.headers_mut().insert(SESSION, session);
    }
    response
}

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
    let messages = body.get("messages").and_then(Json::as_array);
    let messages = messages.ok_or_else(|| {
        let told = "`messages` is missing: give a list with at least one message of a user.";
        ApiError::invalid(Some("messages"), "missing_required_parameter", told)
    })?;
    let prompt = Prompt::of(messages, "messages")?;
    if body.get("n").and_then(Json::as_u64).is_some_and(|n| n > 1) {
        let told = "`n` must be 1: an agent gives one answer.";
        return Err(ApiError::invalid(Some("n"), "unsupported_value", told));
    }
    let streams = is_on(&body, "stream")?;
    let usage = match body.get("stream_options") {
        Some(options) => is_on(options, "include_usage")?,
        None => false,
    };
    let name = body.get("model").cloned().unwrap_or_default();
    let mut turn = Ask::of(model, prompt, &body, &headers)?
        .say(&app, &caller)
        .await?;
    let session = turn.session.clone();
    let form = Form::new(&turn, name, usage);
    let response = match streams {
        true => stream::respond(|pen| form.write(turn, pen)),
        false => form.whole(&mut turn).await?,
    };
    Ok(with_session(response, &session))
}

/// The form of an answer.
struct Form {
    id: String,
    created: i64,
    model: Json,
    session: Arc<str>,
    run: Arc<str>,
    usage: bool,
}

/// What OpenAI calls the tokens of a run.
pub(super) fn usage_of(usage: Usage) -> Json {
    json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

/// What an answer says that OpenAI has no word for.
pub(super) fn beside(session: &str, run: &str, answer: &Answer) -> Json {
    let mut easel = json!({"session_id": session, "run_id": run});
    if let Some(question) = &answer.question {
        easel["waiting"] = question.form();
    }
    if !answer.references.is_empty() {
        easel["references"] = json!(answer.references);
    }
    easel
}

impl Form {
    fn new(turn: &Turn, model: Json, usage: bool) -> Form {
        Form {
            id: format!("chatcmpl-{}-{}", turn.live.run(), turn.number),
            created: now() / 1000,
            model,
            session: turn.session.clone(),
            run: turn.live.run().clone(),
            usage,
        }
    }

    /// The answer in one piece.
    async fn whole(self, turn: &mut Turn) -> Result<Response, ApiError> {
        let answer = turn.answer().await?;
        let (failure, usage) = turn.end().await;
        if let Some(failure) = failure {
            return Err(failure);
        }
        let mut message = json!({
            "role": "assistant", "content": answer.text, "refusal": null, "annotations": [],
        });
        if !answer.thoughts.is_empty() {
            message["reasoning_content"] = json!(answer.thoughts);
        }
        let body = json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}],
            "usage": usage_of(usage),
            "system_fingerprint": null,
            "metadata": {"session_id": &*self.session},
            "easel": beside(&self.session, &self.run, &answer),
        });
        Ok(axum::Json(body).into_response())
    }

    fn chunk(&self, choices: Json) -> Json {
        let mut chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "system_fingerprint": null,
            "choices": choices,
        });
        if self.usage {
            chunk["usage"] = Json::Null;
        }
        chunk
    }

    fn delta(&self, delta: Json, finish: Option<&str>) -> Json {
        self.chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]))
    }

    /// The answer piece by piece.
    async fn write(self, mut turn: Turn, pen: Pen) -> Result<(), Gone> {
        let mut answer = Answer::default();
        let mut first = self.delta(
            json!({"role": "assistant", "content": "", "refusal": null}),
            None,
        );
        first["metadata"] = json!({"session_id": &*self.session});
        first["easel"] = beside(&self.session, &self.run, &answer);
        pen.data(first).await?;
        loop {
            let heard = match turn.next().await {
                Ok(Some(heard)) => heard,
                Ok(None) => break,
                Err(error) => return self.fail(&pen, &error).await,
            };
            match &heard {
                Heard::Text(text) => pen.data(self.delta(json!({"content": text}), None)).await?,
                Heard::Thought(text) => {
                    pen.data(self.delta(json!({"reasoning_content": text}), None))
                        .await?;
                }
                Heard::Question(question) => self.ask(&pen, &answer, question).await?,
                Heard::Reference(_) | Heard::Finished | Heard::Failed { .. } => {}
            }
            answer.take(heard);
        }
        let (failure, usage) = turn.end().await;
        if let Some(failure) = failure {
            return self.fail(&pen, &failure).await;
        }
        let mut last = self.delta(json!({}), Some("stop"));
        last["easel"] = beside(&self.session, &self.run, &answer);
        pen.data(last).await?;
        if self.usage {
            let mut chunk = self.chunk(json!([]));
            chunk["usage"] = usage_of(usage);
            pen.data(chunk).await?;
        }
        pen.data("[DONE]").await
    }

    /// A question is text, and a form for those who can show one.
    async fn ask(&self, pen: &Pen, answer: &Answer, question: &Question) -> Result<(), Gone> {
        let text = answer.lead_in() + &question.text();
        pen.data(self.delta(json!({"content": text}), None)).await
    }

    /// The official clients raise what stands under `error`.
    async fn fail(&self, pen: &Pen, error: &ApiError) -> Result<(), Gone> {
        pen.data(error.body()).await?;
        pen.data("[DONE]").await
    }
}
