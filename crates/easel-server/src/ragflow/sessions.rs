//! Conversations with agents: open, list, read, delete.

use std::sync::Arc;

use axum::extract::State;
use easel_runtime::Workflow;
use easel_runtime::secrets::{Masker, Secret};
use easel_store::{AgentRecord, NewSession, RunFilter, SessionFilter, SessionOrder, SessionRecord};
use serde_json::json;

use super::access::{self, Edition, agent, own_agent};
use super::agents::no_order;
use super::envelope::{At, Body, MOST, Members, Problem, Query, Reply, Value, flag, ok, text};
use super::session_row::{self, Detail};
use crate::App;
use crate::auth::{Caller, Scope};

/// Conversations that were opened before the first message.
pub(super) const OPENED: &str = "agent";
/// Conversations that their first message opened.
pub(super) const ASKED: &str = "workflow";
/// The longest name that a conversation gets from its first message, in characters.
const LONGEST_NAME: usize = 250;

/// `POST /agents/{id}/sessions`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    query: Query,
    Body(body): Body,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Run, &id).await?;
    let user = text(&body, "user_id").or(query.text("user_id"));
    let edition = access::edition(app.host.store(), &agent, flag(&body, "release")).await?;
    let name = text(&body, "name").unwrap_or_default();
    let opened = open(
        &app,
        &caller,
        &agent,
        edition,
        user,
        (name, Vec::new()),
        OPENED,
    )
    .await?;
    let detail = Detail {
        dsl: true,
        outputs: false,
    };
    ok(session_row::row(&app.host, &opened, detail).await?)
}

/// Opens a conversation in which nothing was said.
pub(super) async fn open(
    app: &App,
    caller: &Caller,
    agent: &AgentRecord,
    edition: Edition,
    user: Option<&str>,
    (name, secrets): (&str, Vec<Secret>),
    source: &str,
) -> Result<SessionRecord, Problem> {
    let workflow = app.host.workflow(&edition.document).await?;
    let name = masked(app, &workflow, secrets, name);
    let new = NewSession {
        agent: agent.id.to_string(),
        owner: caller.owner.to_string(),
        user: user.unwrap_or_default().to_owned(),
        name: name
            .chars()
            .filter(|c| *c != '\0')
            .take(LONGEST_NAME)
            .collect(),
        source: source.to_owned(),
        version: edition.version.to_string(),
        version_title: edition.title.to_string(),
        document: edition.document.to_string(),
        prologue: workflow.prologue().unwrap_or_default().to_owned(),
        ..NewSession::default()
    };
    Ok(app.host.store().create_session(new).await?)
}

/// What a conversation is called after its first message: no secret of the workflow, and none of `more`, is in it.
pub(super) fn masked(app: &App, workflow: &Workflow, more: Vec<Secret>, name: &str) -> String {
    let uses = workflow.secrets();
    let mut secrets = more;
    secrets.extend(uses.written_out().map(|found| Secret::new(&*found.value)));
    for asked in uses.asked() {
        // What cannot be found now is not in the run either.
        if let Ok(Some(found)) = app.host.engine().secrets().find(&asked.name) {
            secrets.push(found.secret);
        }
    }
    match Masker::new(&secrets) {
        Ok(masker) => masker.mask(name).into_owned(),
        Err(_) => String::new(),
    }
}

/// `GET /agents/{id}/sessions`. The owner of the agent sees all, others their own.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    query: Query,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Read, &id).await?;
    let order = match query.text("orderby").unwrap_or("update_time") {
        "create_time" | "create_date" => SessionOrder::Created,
        "update_time" | "update_date" => SessionOrder::Updated,
        "name" => SessionOrder::Name,
        other => return Err(no_order(other)),
    };
    let of_user = query.text("exp_user_id");
    let owners = match caller.owns(&agent.owner) {
        true => Vec::new(),
        false => vec![caller.owner.to_string()],
    };
    let filter = SessionFilter {
        agent: Some(agent.id.to_string()),
        id: query.text("id").map(str::to_owned),
        owners,
        user: of_user.or(query.text("user_id")).map(str::to_owned),
        keywords: query.text("keywords").map(str::to_owned),
        from: time(&query, "from_date")?,
        to: time(&query, "to_date")?,
        order,
        desc: query.flag("desc").unwrap_or(true),
        page: query.page()?,
        ..SessionFilter::default()
    };
    let listed = app.host.store().sessions(&filter).await?;
    let mut rows: Vec<Value> = Vec::with_capacity(listed.items.len());
    for session in &listed.items {
        if of_user.is_some() {
            rows.push(json!({"id": session.id, "name": session.name}));
            continue;
        }
        let detail = Detail {
            dsl: query.flag("dsl").unwrap_or(true),
            outputs: false,
        };
        rows.push(session_row::row(&app.host, session, detail).await?.into());
    }
    // The number of all stands beside the list.
    let answer = json!({"code": 0, "message": "success", "data": rows, "total": listed.total});
    Ok(axum::response::IntoResponse::into_response(axum::Json(
        answer,
    )))
}

/// A time in a query: milliseconds since 1970, or a date with or without a time of day, as this machine's clock shows it.
fn time(query: &Query, name: &str) -> Result<Option<i64>, Problem> {
    let Some(text) = query.text(name) else {
        return Ok(None);
    };
    if let Ok(at) = text.parse::<i64>() {
        return Ok(Some(at));
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(Some(at.as_millisecond()));
    }
    let civil = text.parse::<jiff::civil::DateTime>();
    let at = civil.and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::system()));
    match at {
        Ok(at) => Ok(Some(at.timestamp().as_millisecond())),
        Err(_) => Err(Problem::argument(format!(
            "`{name}` must be a date, as in 2026-12-31 or 2026-12-31 08:00:00."
        ))),
    }
}

/// `GET /agents/{id}/sessions/{session}`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, session)): At<(String, String)>,
    query: Query,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Read, &id).await?;
    let store = app.host.store();
    let user = query.text("user_id");
    let session = access::session(store, &caller, &agent, &session, user).await?;
    let detail = Detail {
        dsl: query.flag("dsl").unwrap_or(true),
        outputs: true,
    };
    ok(session_row::row(&app.host, &session, detail).await?)
}

/// `DELETE /agents/{id}/sessions/{session}`
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, session)): At<(String, String)>,
    query: Query,
    Body(body): Body,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Run, &id).await?;
    let user = query.text("user_id").or(text(&body, "user_id"));
    let session = access::session(app.host.store(), &caller, &agent, &session, user).await?;
    ok(remove(&app, &session.id).await?)
}

/// `DELETE /agents/{id}/sessions`: those with these ids, or all.
pub(super) async fn delete_several(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Body(body): Body,
) -> Reply {
    let agent = own_agent(&app, &caller, Scope::Write, &id).await?;
    let store = app.host.store();
    if flag(&body, "delete_all") {
        let runs = RunFilter {
            agents: vec![agent.id.to_string()],
            ..RunFilter::default()
        };
        super::cancel::end_all(&app.host, runs).await?;
        store.delete_sessions_of(&agent.id).await?;
        return ok(true);
    }
    let ids = ids(&body)?;
    let mut errors = Vec::new();
    let mut deleted = 0;
    for id in &ids {
        match access::session(store, &caller, &agent, id, None).await {
            Ok(session) => deleted += u32::from(remove(&app, &session.id).await?),
            Err(_) => errors.push(format!("The agent doesn't own the session {id}")),
        }
    }
    if errors.is_empty() {
        return ok(true);
    }
    if deleted == 0 {
        return Err(Problem::data(errors.join("; ")));
    }
    let message = format!(
        "Partially deleted {deleted} sessions with {} errors",
        errors.len()
    );
    let data = json!({"success_count": deleted, "errors": errors});
    let answer = json!({"code": 0, "message": message, "data": data});
    Ok(axum::response::IntoResponse::into_response(axum::Json(
        answer,
    )))
}

/// The ids in a request, each once.
fn ids(body: &Members) -> Result<Vec<String>, Problem> {
    let ids = match body.get("ids") {
        Some(Value::Array(ids)) => ids.iter().filter_map(Value::as_str),
        _ => {
            let message = "Say which sessions: `ids` with a list, or `delete_all` for all of them.";
            return Err(Problem::argument(message));
        }
    };
    let mut once: Vec<String> = Vec::new();
    for id in ids {
        if !once.iter().any(|known| known == id) {
            once.push(id.to_owned());
        }
    }
    match once.len() > MOST as usize {
        true => Err(Problem::argument(format!(
            "At most {MOST} sessions are deleted at once."
        ))),
        false => Ok(once),
    }
}

/// Ends what is under way in a conversation, and deletes it.
async fn remove(app: &App, session: &str) -> Result<bool, Problem> {
    super::cancel::end_session(&app.host, session).await?;
    Ok(app.host.store().delete_session(session).await?)
}
