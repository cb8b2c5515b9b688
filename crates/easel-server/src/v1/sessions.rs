//! Conversations: opened with an agent, then message by message.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use easel_runtime::{Input, Object, Value};
use easel_store::NewSession;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Body, Runner, Trace};
use super::run::{Names, RunView, json, seconds};
use super::start::{FileRef, answer, descriptors, origin};
use crate::App;
use crate::host::{Busy, Message};

/// A conversation that is to be opened.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewConversation {
    /// What people call it.
    pub name: Option<String>,
    /// The user, as the client names them.
    pub user: Option<String>,
    /// A version by its id, or `draft`; the released version if there is none. The conversation keeps it.
    pub version: Option<String>,
}

/// A conversation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ConversationView {
    /// Its id.
    pub id: String,
    /// The agent's id.
    pub agent: String,
    /// What people call it.
    pub name: String,
    /// The user.
    pub user: String,
    /// The version it goes by; blank for a draft.
    pub version: String,
    /// What the agent says before anybody has asked.
    pub prologue: String,
    /// When it was opened, in seconds since 1970.
    pub created_at: f64,
}

/// What a user says in a conversation.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewMessage {
    /// What the user says: text, or any JSON.
    #[schema(value_type = Option<Value>)]
    pub query: Value,
    /// Begin's inputs, or the fields of an open form, by name.
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
    /// If another message is being answered: `queue` waits for its turn, `refuse` does not. As the server is set up unless
    /// told.
    pub busy: Option<Busy>,
    /// End a run that waits for an answer, and begin a new one.
    pub abandon: bool,
    /// Wait for the end of the turn.
    pub wait: bool,
}

/// Opens a conversation
///
/// It begins with nothing said and the agent's variables as declared.
#[utoipa::path(post, path = "/v1/agents/{id}/sessions", tag = "sessions", params(("id" = String, Path, description = "The agent's id")),
    request_body = Option<NewConversation>, responses(
    (status = 201, body = ConversationView),
    (status = 404, body = ProblemBody, description = "There is no such agent"),
    (status = "default", body = ProblemBody),
))]
pub async fn open(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    At(id): At<String>,
    Body(new): Body<NewConversation>,
) -> Result<(StatusCode, Json<ConversationView>), Problem> {
    let agent = access::agent(&app, &caller, &id).await?;
    let chosen = access::choose(&app, &agent, new.version.as_deref()).await?;
    let workflow = app.host.workflow(&chosen.document).await?;
    let new = NewSession {
        agent: agent.id.to_string(),
        owner: caller.owner.to_string(),
        user: new.user.unwrap_or_default(),
        name: new.name.unwrap_or_default(),
        source: "agent".to_owned(),
        version: chosen.version.to_string(),
        version_title: chosen.title.to_string(),
        document: chosen.document.to_string(),
        prologue: workflow.prologue().unwrap_or_default().to_owned(),
        ..NewSession::default()
    };
    let made = app.host.store().create_session(new).await?;
    let view = ConversationView {
        id: made.id.to_string(),
        agent: made.agent.to_string(),
        name: made.name.to_string(),
        user: made.user.to_string(),
        version: made.version.to_string(),
        prologue: made.prologue.to_string(),
        created_at: seconds(made.created),
    };
    Ok((StatusCode::CREATED, Json(view)))
}

/// Says something in a conversation
///
/// Begins a run, or answers the one that waits. The answer comes once the message is safe, with `wait` at the end of the
/// turn.
#[utoipa::path(post, path = "/v1/sessions/{id}/messages", tag = "sessions", params(("id" = String, Path, description = "The conversation's id")),
    request_body = Option<NewMessage>, responses(
    (status = 202, body = RunView, description = "It is being answered"),
    (status = 200, body = RunView, description = "The turn ended"),
    (status = 404, body = ProblemBody, description = "There is no such conversation"),
    (status = 409, body = ProblemBody, description = "Another message is being answered, or something has to be decided first"),
    (status = 422, body = ProblemBody, description = "The answer fits no open field, or the agent must not run"),
    (status = "default", body = ProblemBody),
))]
pub async fn say(
    State(app): State<Arc<App>>,
    Runner(caller): Runner,
    trace: Trace,
    At(id): At<String>,
    Body(said): Body<NewMessage>,
) -> Result<Response, Problem> {
    let session = access::session(&app, &caller, &id).await?;
    let given = json(&said.inputs);
    let user = said.user.as_deref().or(Some(&*session.user));
    let origin = easel_runtime::Origin {
        agent: session.agent.clone(),
        version: session.version.clone(),
        ..origin(&caller, trace, user)
    };
    let message = Message {
        session: session.id.clone(),
        input: Input {
            query: said.query,
            inputs: said.inputs,
            files: descriptors(&app, &caller, &said.files).await?,
            user: user.filter(|user| !user.is_empty()).map(Arc::from),
            webhook: None,
            chat_template_kwargs: said.chat_template_kwargs,
            custom_header: said.custom_header,
        },
        origin,
        busy: said.busy.unwrap_or(app.settings.busy),
        abandon: said.abandon,
        opened: None,
    };
    let live = app.host.say(message).await?;
    answer(&app, live, said.wait, given, Names::default()).await
}
