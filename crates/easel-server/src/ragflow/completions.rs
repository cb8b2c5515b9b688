//! A message to an agent: `POST /agents/chat/completions` and its aliases (spec/canvas-engine §8.7).

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use easel_runtime::secrets::Secret;
use easel_runtime::{Input, Object, Origin, Value as Content};
use easel_store::{AgentRecord, SessionRecord, Store};

use super::access::{self, agent};
use super::agents::PIPELINE;
use super::envelope::{At, Body, MOST, Members, Problem, Reply, Value, flag, text};
use super::events::Form;
use super::sessions::{ASKED, open};
use super::stream::{Style, Wish, answer};
use crate::App;
use crate::auth::{Caller, Scope};
use crate::host::{Busy, Message};

/// What a caller gets who speaks in a conversation that is not theirs.
const NOT_THEIRS: &str = "Only authorized users can access this agent session.";

/// `POST /agents/chat/completions`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    Body(body): Body,
) -> Reply {
    let id = text(&body, "agent_id").map(str::to_owned);
    let id = id.ok_or_else(|| Problem::argument("`agent_id` is required."))?;
    ask(&app, &caller, &headers, &id, body).await
}

/// The same with the agent in the path.
pub(super) async fn create_of(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    At(id): At<String>,
    Body(body): Body,
) -> Reply {
    ask(&app, &caller, &headers, &id, body).await
}

async fn ask(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    id: &str,
    body: Members,
) -> Reply {
    if flag(&body, "openai-compatible") {
        let body = Value::Object(body);
        return Ok(crate::openai::canvas::completions(app, caller, id, &body, headers).await);
    }
    let request = Request::read(&body)?;
    let (session, is_new) = match text(&body, "session_id") {
        Some(session) => (known(app, caller, id, session, &request).await?, false),
        None => {
            let agent = speaking(app, caller, id).await?;
            let edition = access::edition(app.host.store(), &agent, request.released).await?;
            let user = request.user.as_deref();
            let name = request.name(&body);
            let name = (name.as_str(), request.secrets());
            let session = open(app, caller, &agent, edition, user, name, ASKED).await?;
            (session, true)
        }
    };
    let form = match *session.source == *ASKED {
        true => Form::Whole,
        false => Form::Short,
    };
    let wish = Wish {
        session: session.id.clone(),
        form,
        style: Style::Agents,
        stream: flag(&body, "stream"),
        return_trace: flag(&body, "return_trace"),
    };
    let mut message = request.message(app, caller, headers, &session);
    message.opened = is_new.then_some(session);
    Ok(answer(&app.host, wish, message, is_new).await)
}

/// An agent that can be spoken to.
pub(super) async fn speaking(app: &App, caller: &Caller, id: &str) -> Result<AgentRecord, Problem> {
    let agent = agent(app, caller, Scope::Run, id).await?;
    match *agent.category == *PIPELINE {
        true => Err(Problem::data(
            "This is an ingestion pipeline, which prepares documents for datasets. The server keeps such pipelines; `easel kb add --pipeline` runs them.",
        )),
        false => Ok(agent),
    }
}

/// The conversation that a request names, if it is with that agent and the caller's.
pub(super) async fn known(
    app: &App,
    caller: &Caller,
    agent: &str,
    session: &str,
    request: &Request,
) -> Result<SessionRecord, Problem> {
    caller.may(Scope::Run)?;
    let store = app.host.store();
    let session = store.session(session).await?;
    let session = session.ok_or_else(|| Problem::data("Session not found!"))?;
    if *session.agent != *agent {
        let message = "Session does not belong to the requested agent.";
        return Err(Problem::operating(message));
    }
    let seen = store.agent_for(&caller.owner, agent).await?;
    let theirs = caller.owns(&session.owner) && access::is_users(&session, request.user.as_deref());
    if seen.is_none() || !theirs {
        return Err(Problem::operating(NOT_THEIRS));
    }
    match request.released {
        true => moved(store, session).await,
        false => Ok(session),
    }
}

/// A conversation that goes on with the version that was released last. What waits in it ends with the version it began with.
async fn moved(store: &Store, session: SessionRecord) -> Result<SessionRecord, Problem> {
    let version = store.released_version(&session.agent).await?;
    let version = version.ok_or_else(|| Problem::data("No available published version"))?;
    if version.id != session.version {
        store.move_session(&session.id, &version).await?;
    }
    Ok(SessionRecord {
        document: version.document,
        version: version.id,
        version_title: version.title,
        ..session
    })
}

/// What a client sends along with a message.
pub(super) struct Request {
    input: Input,
    /// The user, as the client names them.
    pub user: Option<String>,
    /// Whether the version that was released last is meant, not the draft.
    pub released: bool,
    busy: Option<Busy>,
    abandon: bool,
}

impl Request {
    pub fn read(body: &Members) -> Result<Request, Problem> {
        let query = match body.get("query").filter(|query| !is_blank(query)) {
            Some(query) => Some(query),
            None => body.get("question").filter(|query| !is_blank(query)),
        };
        let kwargs = match body.get("chat_template_kwargs") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.trim().is_empty() => None,
            Some(Value::String(text)) => Some(parsed("chat_template_kwargs", text)?),
            Some(kwargs) => Some(Content::from(kwargs.clone())),
        };
        if kwargs
            .as_ref()
            .is_some_and(|kwargs| kwargs.as_object().is_none())
        {
            return Err(Problem::argument(
                "`chat_template_kwargs` must be an object.",
            ));
        }
        let busy = match text(body, "busy") {
            None => None,
            Some("queue") => Some(Busy::Queue),
            Some("refuse") => Some(Busy::Refuse),
            Some(_) => return Err(Problem::argument("`busy` must be `queue` or `refuse`.")),
        };
        Ok(Request {
            input: Input {
                query: query.cloned().map(Content::from).unwrap_or_default(),
                inputs: object(body, "inputs")?,
                files: files(body)?,
                chat_template_kwargs: kwargs,
                custom_header: headers(body)?,
                ..Input::default()
            },
            user: text(body, "user_id").map(str::to_owned),
            released: flag(body, "release"),
            busy,
            abandon: flag(body, "abandon"),
        })
    }

    /// What a conversation is called that begins with it.
    pub fn name(&self, body: &Members) -> String {
        match (text(body, "name"), &self.input.query) {
            (Some(name), _) => name.to_owned(),
            (None, Content::String(query)) => query.to_string(),
            (None, Content::Null) => String::new(),
            (None, query) => query.to_json_text(),
        }
    }

    /// What it brings that only tools may see.
    pub fn secrets(&self) -> Vec<Secret> {
        let values = self.input.custom_header.values();
        values
            .filter_map(Content::as_str)
            .map(Secret::new)
            .collect()
    }

    /// The message to a conversation.
    pub fn message(
        self,
        app: &App,
        caller: &Caller,
        headers: &HeaderMap,
        session: &SessionRecord,
    ) -> Message {
        let named = self.user.as_deref().unwrap_or(&session.user);
        let user: Arc<str> = named.into();
        let traceparent = headers
            .get("traceparent")
            .and_then(|value| value.to_str().ok());
        let input = Input {
            user: Some(match user.is_empty() {
                true => caller.owner.clone(),
                false => user.clone(),
            }),
            ..self.input
        };
        Message {
            session: session.id.clone(),
            input,
            origin: Origin {
                agent: session.agent.clone(),
                version: session.version.clone(),
                owner: caller.owner.clone(),
                user,
                key: caller.key.clone(),
                trigger: "chat".into(),
                traceparent: traceparent.unwrap_or_default().into(),
                ..Origin::default()
            },
            busy: self.busy.unwrap_or(app.settings.busy),
            abandon: self.abandon,
            opened: None,
        }
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

fn parsed(name: &str, text: &str) -> Result<Content, Problem> {
    let value: Result<Value, _> = serde_json::from_str(text);
    match value {
        Ok(value) => Ok(Content::from(value)),
        Err(error) => Err(Problem::argument(format!("`{name}` is no JSON: {error}."))),
    }
}

fn object(body: &Members, name: &str) -> Result<Object, Problem> {
    match body.get(name).cloned().map(Content::from) {
        None | Some(Content::Null) => Ok(Object::new()),
        Some(Content::Object(members)) => Ok(Arc::unwrap_or_clone(members)),
        Some(_) => Err(Problem::argument(format!("`{name}` must be an object."))),
    }
}

/// Headers for tools: texts by name; numbers and switches are written as text.
fn headers(body: &Members) -> Result<Object, Problem> {
    let headers = object(body, "custom_header")?;
    let headers = headers.into_iter().filter(|(_, value)| !value.is_null());
    let text = |(name, value): (Arc<str>, Content)| (name, Content::from(value.to_string()));
    Ok(headers.map(text).collect())
}

/// Uploaded files by their descriptors. Whose they are is looked up, not read from here.
fn files(body: &Members) -> Result<Vec<Content>, Problem> {
    let files = match body.get("files") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(files)) => files.as_slice(),
        Some(file @ Value::Object(_)) => std::slice::from_ref(file),
        Some(_) => {
            return Err(Problem::argument(
                "`files` must be a list of what the upload gave.",
            ));
        }
    };
    if files.len() > MOST as usize {
        return Err(Problem::argument(format!(
            "At most {MOST} files go with a message."
        )));
    }
    if files
        .iter()
        .any(|file| file.get("id").and_then(Value::as_str).is_none())
    {
        return Err(Problem::argument(
            "Each of `files` must have the `id` that the upload gave.",
        ));
    }
    Ok(files.iter().cloned().map(Content::from).collect())
}

/// What a caller gets for asking what this version does not do.
pub(super) async fn rerun(caller: Caller, _: Body) -> Result<Response, Problem> {
    caller.may(Scope::Run)?;
    Err(Problem::data(
        "Only ingestion pipelines are run again from a component, and the server does not run them.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: Value) -> Result<Request, Problem> {
        Request::read(body.as_object().unwrap())
    }

    #[test]
    fn a_blank_query_is_none_and_the_question_counts() {
        assert_eq!(
            read(json!({"query": " "})).unwrap().input.query,
            Content::Null
        );
        let asked = read(json!({"query": "", "question": "q"})).unwrap();
        assert_eq!(asked.input.query, Content::from("q"));
        let object = read(json!({"query": {"a": 1}})).unwrap();
        assert_eq!(object.name(&Members::new()), r#"{"a":1}"#);
    }

    #[test]
    fn what_has_the_wrong_type_is_refused() {
        for body in [
            json!({"inputs": []}),
            json!({"files": "x"}),
            json!({"files": [{"name": "x"}]}),
            json!({"custom_header": "x"}),
            json!({"chat_template_kwargs": "{"}),
            json!({"chat_template_kwargs": [1]}),
            json!({"busy": "panic"}),
        ] {
            let refused = read(body.clone()).err().map(|problem| problem.code);
            assert_eq!(refused, Some(101), "{body}");
        }
        assert!(
            read(json!({"inputs": null, "files": null, "chat_template_kwargs": "{\"a\": 1}"}))
                .is_ok()
        );
    }

    #[test]
    fn headers_are_texts() {
        let request = read(json!({"custom_header": {"a": 1, "b": "x", "c": null}})).unwrap();
        let headers = Content::from(request.input.custom_header).to_json_text();
        assert_eq!(headers, r#"{"a":"1","b":"x"}"#);
    }
}
