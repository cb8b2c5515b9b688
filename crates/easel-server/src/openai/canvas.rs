//! The form in which canvas clients speak OpenAI (spec/canvas-engine §8.7 (O)): its shapes and its errors are those of the
//! canvas API.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use easel_runtime::core::event::Usage;
use easel_runtime::models::tokens;
use easel_store::Store;
use serde_json::{Value as Json, json};

use super::chat::{beside, body_of, is_on, usage_of, with_session};
use super::conversation::{Ask, Turn};
use super::error::ApiError;
use super::models::Model;
use super::prompt::Prompt;
use super::speech::{Answer, Heard};
use super::stream::{self, Gone, Pen};
use crate::App;
use crate::auth::{Caller, Refused, Scope, now};

/// An answer that says what is wrong, as canvas clients read it.
fn refused(code: u16, message: &str) -> Response {
    axum::Json(json!({"code": code, "message": message, "data": false})).into_response()
}

/// `/api/v1/agents_openai/{id}/chat/completions`.
pub(super) async fn completions_of(
    State(app): State<Arc<App>>,
    Path(agent): Path<String>,
    caller: Result<Caller, Refused>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let caller = match caller {
        Ok(caller) => caller,
        Err(refused) => return refused.into_response(),
    };
    match body_of(body) {
        Ok(body) => completions(&app, &caller, &agent, &body, &headers).await,
        Err(error) => refused(101, &error.message),
    }
}

/// The answer to a request with `openai-compatible: true`.
pub(crate) async fn completions(
    app: &Arc<App>,
    caller: &Caller,
    agent: &str,
    body: &Json,
    headers: &HeaderMap,
) -> Response {
    if let Err(refused) = caller.may(Scope::Run) {
        return refused.into_response();
    }
    match answer(app, caller, agent, body, headers).await {
        Ok(response) => response,
        Err(response) => response,
    }
}

async fn answer(
    app: &Arc<App>,
    caller: &Caller,
    agent: &str,
    body: &Json,
    headers: &HeaderMap,
) -> Result<Response, Response> {
    let wrong = |error: ApiError| refused(code_of(&error), &error.message);
    let messages = body.get("messages").and_then(Json::as_array);
    let messages = messages.filter(|messages| !messages.is_empty());
    let messages =
        messages.ok_or_else(|| refused(102, "You must provide at least one message."))?;
    let prompt = Prompt::of(messages, "messages").map_err(wrong)?;
    let model = model(app.host.store(), caller, agent, body).await?;
    let streams = is_on(body, "stream").map_err(wrong)?;
    let mut ask = Ask::of(model, prompt, body, headers).map_err(wrong)?;
    let named = |id: Option<&Json>| id.and_then(Json::as_str).map(str::to_owned);
    let by_id = || named(body.get("id")).or_else(|| named(body.get("metadata")?.get("id")));
    ask.session = ask.session.or_else(by_id).filter(|id| !id.is_empty());
    if let Some(user) = body.get("user_id").and_then(Json::as_str) {
        ask.user = user.to_owned();
    }
    let question = tokens::count(&ask.prompt.query);
    let mut turn = match ask.say(app, caller).await {
        Ok(turn) => turn,
        Err(error) if error.code == "session_not_found" => {
            return Err(refused(102, "Session not found!"));
        }
        Err(error) => return Err(wrong(error)),
    };
    let session = turn.session.clone();
    let form = Form {
        created: now() / 1000,
        model: agent.to_owned(),
        session: session.clone(),
        run: turn.live.run().clone(),
        question,
    };
    let response = match streams {
        true => stream::respond(|pen| form.write(turn, pen)),
        false => form.whole(&mut turn).await.map_err(wrong)?,
    };
    Ok(with_session(response, &session))
}

/// The code of the canvas API for an error.
fn code_of(error: &ApiError) -> u16 {
    match error.status.as_u16() {
        400 | 413 | 422 => 101,
        404 => 102,
        409 => 409,
        _ => 100,
    }
}

/// The draft of an agent, or its released version if that is asked for.
async fn model(
    store: &Store,
    caller: &Caller,
    agent: &str,
    body: &Json,
) -> Result<Model, Response> {
    let broken = |error: easel_store::StoreError| {
        let error = ApiError::from(error);
        refused(code_of(&error), &error.message)
    };
    let found = store
        .agent_for(&caller.owner, agent)
        .await
        .map_err(broken)?;
    let found =
        found.ok_or_else(|| refused(103, "Make sure you have permission to access the agent."))?;
    if !is_on(body, "release").unwrap_or(false) {
        return Ok(Model::draft(found));
    }
    let version = store.released_version(agent).await.map_err(broken)?;
    let version = version.ok_or_else(|| refused(102, "No available published version"))?;
    Ok(Model {
        agent: found,
        version: version.id,
        version_title: version.title,
        document: version.document,
    })
}

/// The form of an answer.
struct Form {
    created: i64,
    model: String,
    session: Arc<str>,
    run: Arc<str>,
    /// Tokens of the question.
    question: usize,
}

impl Form {
    /// Tokens of the question and of what was said, which is what this form counts.
    fn usage(&self, answer: &Answer) -> Json {
        let prompt = self.question as u64;
        let completion = tokens::count(&answer.text) as u64;
        usage_of(Usage {
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: prompt + completion,
            calls: 0,
        })
    }

    async fn whole(self, turn: &mut Turn) -> Result<Response, ApiError> {
        let mut answer = tagged(turn).await?;
        let (failure, _) = turn.end().await;
        if let Some(failure) = failure {
            answer.text = format!("**ERROR**: {}", failure.message);
        }
        let mut message = json!({"role": "assistant", "content": answer.text});
        if let Some(reference) = answer.references.last() {
            message["reference"] = reference.clone();
        }
        let body = json!({
            "id": &*self.session,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "param": null,
            "usage": self.usage(&answer),
            "choices": [{"message": message, "logprobs": null, "finish_reason": "stop", "index": 0}],
            "easel": beside(&self.session, &self.run, &answer),
        });
        Ok(axum::Json(body).into_response())
    }

    fn chunk(&self, content: &str, reference: Option<&Json>, finish: Option<&str>) -> Json {
        let mut delta = json!({
            "content": content, "role": "assistant", "function_call": null, "tool_calls": null,
        });
        if let Some(reference) = reference {
            delta["reference"] = reference.clone();
        }
        json!({
            "id": &*self.session,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "system_fingerprint": "",
            "usage": null,
            "choices": [{"delta": delta, "finish_reason": finish, "index": 0, "logprobs": null}],
        })
    }

    async fn write(self, mut turn: Turn, pen: Pen) -> Result<(), Gone> {
        let mut answer = Answer::default();
        let mut tags = Tags::default();
        let failure = loop {
            let heard = match turn.next().await {
                Ok(Some(heard)) => heard,
                Ok(None) => break turn.end().await.0,
                Err(error) => break Some(error),
            };
            let text = tags.text(&heard, &answer);
            if !text.is_empty() {
                pen.data(self.chunk(&text, None, None)).await?;
            }
            if let Heard::Reference(reference) = &heard {
                pen.data(self.chunk("", Some(reference), None)).await?;
            }
            tags.take(heard, text, &mut answer);
        };
        let rest = tags.close();
        if let Some(failure) = failure {
            let text = format!("{rest}**ERROR**: {}", failure.message);
            pen.data(self.chunk(&text, None, Some("stop"))).await?;
            return pen.data("[DONE]").await;
        }
        answer.text.push_str(rest);
        let mut last = self.chunk(rest, None, Some("stop"));
        last["usage"] = self.usage(&answer);
        last["easel"] = beside(&self.session, &self.run, &answer);
        pen.data(last).await?;
        pen.data("[DONE]").await
    }
}

/// All of a turn, with the thoughts in their tags.
async fn tagged(turn: &mut Turn) -> Result<Answer, ApiError> {
    let mut answer = Answer::default();
    let mut tags = Tags::default();
    while let Some(heard) = turn.next().await? {
        let text = tags.text(&heard, &answer);
        tags.take(heard, text, &mut answer);
    }
    answer.text.push_str(tags.close());
    Ok(answer)
}

/// Puts thoughts into tags, as canvas clients know them.
#[derive(Default)]
struct Tags {
    open: bool,
}

impl Tags {
    /// What is written of something.
    fn text(&mut self, heard: &Heard, answer: &Answer) -> String {
        let (thinks, text) = match heard {
            Heard::Thought(text) => (true, text.clone()),
            Heard::Text(text) => (false, text.clone()),
            Heard::Question(question) => (false, answer.lead_in() + &question.text()),
            _ => return String::new(),
        };
        let tag = match (self.open, thinks) {
            (false, true) => "<think>",
            (true, false) => "</think>",
            _ => "",
        };
        self.open = thinks;
        format!("{tag}{text}")
    }

    /// Takes it in as it was written.
    fn take(&self, heard: Heard, text: String, answer: &mut Answer) {
        match heard {
            Heard::Question(question) => answer.question = Some(question),
            Heard::Thought(_) | Heard::Text(_) => {}
            other => return answer.take(other),
        }
        answer.text.push_str(&text);
    }

    /// What ends thoughts that nothing followed.
    fn close(&mut self) -> &'static str {
        match std::mem::take(&mut self.open) {
            true => "</think>",
            false => "",
        }
    }
}
