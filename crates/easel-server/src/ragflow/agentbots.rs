//! Agents that are embedded into other pages.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::json;

use super::access::{self, agent};
use super::completions::{Request, known, speaking};
use super::envelope::{At, Body, Problem, Reply, Value, flag, ok, text};
use super::events::Form;
use super::sessions::{OPENED, open};
use super::stream::{Style, Wish, answer};
use crate::App;
use crate::auth::{Caller, Scope};

/// `GET /agentbots/{id}/inputs`: what a page needs to begin.
pub(super) async fn inputs(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Read, &id).await?;
    let workflow = app.host.workflow(&agent.document).await?;
    let begin = workflow
        .compiled()
        .nodes
        .iter()
        .find(|node| *node.draft.component == *"Begin");
    let mode = begin.and_then(|begin| begin.draft.params.get("mode")?.as_str());
    let inputs = easel_runtime::Value::from(workflow.inputs()).to_json();
    ok(json!({
        "title": agent.title,
        "avatar": agent.avatar,
        "inputs": inputs,
        "prologue": workflow.prologue().unwrap_or_default(),
        "mode": mode.unwrap_or("conversational"),
    }))
}

/// `POST /agentbots/{id}/completions`. It streams unless told not to, and its streams just end.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    At(id): At<String>,
    Body(body): Body,
) -> Reply {
    let request = Request::read(&body)?;
    let (session, is_new) = match text(&body, "session_id") {
        Some(session) => (known(&app, &caller, &id, session, &request).await?, false),
        None => {
            let agent = speaking(&app, &caller, &id).await?;
            let edition = access::edition(app.host.store(), &agent, request.released).await?;
            let user = request.user.as_deref();
            let name = request.name(&body);
            let name = (name.as_str(), request.secrets());
            let session = open(&app, &caller, &agent, edition, user, name, OPENED).await?;
            (session, true)
        }
    };
    let stream = match body.get("stream") {
        None | Some(Value::Null) => true,
        Some(_) => flag(&body, "stream"),
    };
    let wish = Wish {
        session: session.id.clone(),
        form: Form::Whole,
        style: Style::Bots,
        stream,
        return_trace: flag(&body, "return_trace"),
    };
    let message = request.message(&app, &caller, &headers, &session);
    Ok(answer(&app.host, wish, message, is_new).await)
}

/// The message of a run whose tools a client asks about: see [`super::logs`].
pub(super) async fn logs(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((_, message)): At<(String, String)>,
) -> Result<axum::response::Response, Problem> {
    super::logs::of_message(&app, &caller, &message).await
}
