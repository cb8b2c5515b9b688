//! A turn of a conversation with an agent, as all forms of the API make it.

use std::sync::Arc;

use axum::http::HeaderMap;
use easel_runtime::components::HistoryEntry;
use easel_runtime::core::event::Usage;
use easel_runtime::core::value::from_text;
use easel_runtime::{
    Ending, Input, Logged, Object, Origin, Said, Standing, Timestamp, Value, Workflow,
};
use easel_store::{Dialect, NewFile, NewSession, SessionRecord};
use serde_json::{Value as Json, json};

use super::SESSION;
use super::error::ApiError;
use super::models::Model;
use super::prompt::Prompt;
use super::speech::{Answer, Heard, Speech};
use crate::App;
use crate::auth::{Caller, now};
use crate::host::{Events, Live, Message};

/// The longest name that a conversation gets from its first message, in characters.
const NAME: usize = 250;

/// What a client asks of an agent.
pub(crate) struct Ask {
    pub model: Model,
    pub prompt: Prompt,
    /// The conversation it belongs to; `None` opens one.
    pub session: Option<String>,
    /// The user, as the client names them.
    pub user: String,
    /// Inputs by name, or answers to a form.
    pub inputs: Object,
    /// Handed to the model's chat template.
    pub chat_template_kwargs: Option<Value>,
    /// Headers for MCP servers and tools that declare them.
    pub custom_header: Object,
    /// The W3C trace context.
    pub traceparent: String,
}

/// A turn under way, and its conversation.
pub(crate) struct Turn {
    pub session: Arc<str>,
    pub live: Arc<Live>,
    /// What names this turn among those of its run.
    pub number: u64,
    events: Events,
    first: Option<Logged>,
    speech: Speech,
    ready: std::collections::VecDeque<Heard>,
    /// Tokens that the run had used before.
    before: Usage,
}

/// The conversation that a request names: in its metadata, by a member of its own, or in a header.
pub(crate) fn session_of(body: &Json, headers: &HeaderMap) -> Option<String> {
    let metadata = |name: &str| body.get("metadata")?.get(name)?.as_str();
    let own = || body.get("session_id").and_then(Json::as_str);
    let header = || headers.get(SESSION).and_then(|header| header.to_str().ok());
    let named = metadata("session_id").or_else(own).or_else(header);
    named
        .map(str::trim)
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
}

/// An object out of a request.
pub(crate) fn object_of(body: &Json, name: &str) -> Result<Object, ApiError> {
    match body.get(name).map(Value::from) {
        None | Some(Value::Null) => Ok(Object::new()),
        Some(Value::Object(members)) => Ok(Arc::unwrap_or_clone(members)),
        Some(_) => {
            let told = format!("`{name}` must be an object.");
            Err(ApiError::invalid(None, "invalid_type", told))
        }
    }
}

impl Ask {
    /// What goes beside the messages in every form of request.
    pub fn of(
        model: Model,
        prompt: Prompt,
        body: &Json,
        headers: &HeaderMap,
    ) -> Result<Ask, ApiError> {
        let user = body.get("user").and_then(Json::as_str);
        let traceparent = headers.get("traceparent").and_then(|h| h.to_str().ok());
        let kwargs = body.get("chat_template_kwargs").filter(|k| !k.is_null());
        Ok(Ask {
            model,
            prompt,
            session: session_of(body, headers),
            user: user.unwrap_or_default().to_owned(),
            inputs: object_of(body, "inputs")?,
            chat_template_kwargs: kwargs.map(Value::from),
            custom_header: object_of(body, "custom_header")?,
            traceparent: traceparent.unwrap_or_default().to_owned(),
        })
    }

    /// Says it. What comes back is under way, and its beginning is in the journal.
    pub async fn say(self, app: &Arc<App>, caller: &Caller) -> Result<Turn, ApiError> {
        let store = app.host.store();
        let known = match &self.session {
            Some(id) => Some(self.known(app, caller, id).await?),
            None => None,
        };
        let is_new = known.is_none();
        let session = match known {
            Some(session) => session,
            None => self.open(app, caller).await?,
        };
        let id = session.id.clone();
        let turn = self.turn(app, caller, session, is_new).await;
        if turn.is_err() && is_new {
            // Nothing was said in it.
            store.delete_session(&id).await?;
        }
        turn
    }

    /// The conversation that was named, if it is the caller's, the user's and with this agent.
    async fn known(&self, app: &App, caller: &Caller, id: &str) -> Result<SessionRecord, ApiError> {
        let session = match id.contains('\0') {
            true => None,
            false => app.host.store().session(id).await?,
        };
        let session = session.filter(|session| {
            let user =
                self.user.is_empty() || session.user.is_empty() || *session.user == *self.user;
            caller.owns(&session.owner) && session.agent == self.model.agent.id && user
        });
        session.ok_or_else(|| {
            let told = format!(
                "There is no session `{id}` with this model. Leave it out to begin a new one."
            );
            ApiError::unknown(None, "session_not_found", told)
        })
    }

    /// Opens a conversation in which the earlier messages were said.
    async fn open(&self, app: &App, caller: &Caller) -> Result<SessionRecord, ApiError> {
        let workflow = app.host.workflow(&self.model.document).await?;
        let said = self.prompt.earlier.iter().map(|(role, text)| Said {
            entry: HistoryEntry::new(role, text.as_str()),
            run: "".into(),
            at: Timestamp(now()),
            files: Vec::new(),
            reference: None,
        });
        let new = NewSession {
            agent: self.model.agent.id.to_string(),
            owner: caller.owner.to_string(),
            user: self.user.clone(),
            name: self.prompt.query.chars().take(NAME).collect(),
            source: "openai".to_owned(),
            version: self.model.version.to_string(),
            version_title: self.model.version_title.to_string(),
            document: self.model.document.to_string(),
            prologue: workflow.prologue().unwrap_or_default().to_owned(),
            said: said.collect(),
            ..NewSession::default()
        };
        Ok(app.host.store().create_session(new).await?)
    }

    async fn turn(
        self,
        app: &Arc<App>,
        caller: &Caller,
        session: SessionRecord,
        is_new: bool,
    ) -> Result<Turn, ApiError> {
        let host = &app.host;
        let files = self.files(app, caller, &session).await?;
        let workflow = host.workflow(&session.document).await?;
        let before = match is_new {
            true => Usage::default(),
            false => used_before(app, &session.id).await?,
        };
        let input = Input {
            files,
            user: Some(match self.user.is_empty() {
                true => caller.owner.clone(),
                false => self.user.as_str().into(),
            }),
            chat_template_kwargs: self.chat_template_kwargs,
            custom_header: self.custom_header,
            ..input_of(
                &workflow,
                self.model.agent.dialect,
                &self.prompt.query,
                self.inputs,
            )
        };
        let origin = Origin {
            agent: self.model.agent.id.clone(),
            version: session.version.clone(),
            owner: caller.owner.clone(),
            user: self.user.as_str().into(),
            key: caller.key.clone(),
            trigger: "openai".into(),
            traceparent: self.traceparent.as_str().into(),
            ..Origin::default()
        };
        let message = Message {
            session: session.id.clone(),
            input,
            origin,
            busy: app.settings.busy,
            abandon: false,
            opened: None,
        };
        let live = host.say(message).await?;
        let mut events = Events::of(host.clone(), live.clone());
        let Some(first) = events.next().await? else {
            let end = live.end().await;
            return Err(match &end.ending {
                Err(error) => ApiError::of_turn(error),
                Ok(_) => ApiError::failed("run_failed", "The run ended before it began."),
            });
        };
        Ok(Turn {
            session: session.id,
            live,
            number: first.id.entry,
            events,
            first: Some(first),
            speech: Speech::default(),
            ready: Default::default(),
            before,
        })
    }

    /// Keeps the files of the message, and names them for the run.
    async fn files(
        &self,
        app: &App,
        caller: &Caller,
        session: &SessionRecord,
    ) -> Result<Vec<Value>, ApiError> {
        let mut named = Vec::new();
        for file in &self.prompt.files {
            let new = NewFile {
                owner: caller.owner.to_string(),
                session: Some(session.id.to_string()),
                name: file.name.clone(),
                mime: file.media_type.clone(),
            };
            let limit = app.settings.upload_limit as u64;
            let kept = app
                .host
                .store()
                .put_file(new, file.bytes.clone(), limit)
                .await?;
            named.push(Value::from(json!({
                "id": &*kept.id, "name": &*kept.name, "mime_type": &*kept.mime, "created_by": &*kept.owner,
            })));
        }
        Ok(named)
    }
}

/// What a run gets of a text. A graph takes inputs by name: the text is their JSON, or the one that it asks for.
fn input_of(workflow: &Workflow, dialect: Dialect, query: &str, inputs: Object) -> Input {
    let text = Value::from(query);
    if dialect == Dialect::Canvas || !inputs.is_empty() {
        return Input {
            query: text,
            inputs,
            ..Input::default()
        };
    }
    if let Ok(Value::Object(members)) = from_text(query) {
        return Input {
            inputs: Arc::unwrap_or_clone(members),
            ..Input::default()
        };
    }
    let declared = workflow.inputs();
    let required = declared.iter().filter(|(_, declaration)| {
        let optional = declaration.get("optional");
        !optional.is_some_and(Value::is_truthy)
    });
    let names = |mut names: Vec<&Arc<str>>| match names.len() {
        1 => names.pop().cloned(),
        _ => None,
    };
    let only = names(required.map(|(name, _)| name).collect());
    match only.or_else(|| names(declared.keys().collect())) {
        Some(only) => Input {
            inputs: Object::from_iter([(only, text)]),
            ..Input::default()
        },
        None => Input {
            query: text,
            ..Input::default()
        },
    }
}

/// Tokens that the run which waits in a conversation has used already.
async fn used_before(app: &App, session: &str) -> Result<Usage, ApiError> {
    let store = app.host.store();
    let kept = store.conversation_end(session, 0).await?;
    let run = kept.and_then(|(conversation, _)| conversation.run);
    let record = match run {
        Some(run) => store.run(&run).await?,
        None => None,
    };
    let record = record.filter(|record| matches!(record.standing, Standing::Waiting { .. }));
    Ok(record.map(|record| record.usage).unwrap_or_default())
}

impl Turn {
    /// The next thing to pass on; `None` once the turn is over.
    pub async fn next(&mut self) -> Result<Option<Heard>, ApiError> {
        loop {
            if let Some(heard) = self.ready.pop_front() {
                return Ok(Some(heard));
            }
            let event = match self.first.take() {
                Some(first) => Some(first),
                None => self.events.next().await?,
            };
            let Some(event) = event else {
                return Ok(None);
            };
            self.ready.extend(self.speech.hear(&event));
        }
    }

    /// All of the turn, once it is over.
    pub async fn answer(&mut self) -> Result<Answer, ApiError> {
        let mut answer = Answer::default();
        while let Some(heard) = self.next().await? {
            answer.take(heard);
        }
        Ok(answer)
    }

    /// Why the turn failed, if it did, and the tokens that it used.
    pub async fn end(&self) -> (Option<ApiError>, Usage) {
        let end = self.live.end().await;
        let failure = match &end.ending {
            Ok(Ending::Failed { fault, .. }) => {
                Some(ApiError::failed(&fault.code, fault.message.to_string()))
            }
            Ok(Ending::Cancelled) => {
                Some(ApiError::failed("run_cancelled", "The run was cancelled."))
            }
            Ok(_) => None,
            Err(error) => Some(ApiError::of_turn(error)),
        };
        (failure, less(end.usage, self.before))
    }
}

fn less(usage: Usage, before: Usage) -> Usage {
    Usage {
        prompt_tokens: usage.prompt_tokens.saturating_sub(before.prompt_tokens),
        completion_tokens: usage
            .completion_tokens
            .saturating_sub(before.completion_tokens),
        total_tokens: usage.total_tokens.saturating_sub(before.total_tokens),
        calls: usage.calls.saturating_sub(before.calls),
    }
}
