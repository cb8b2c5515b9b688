//! Agents: list, make, read, change, delete.

use std::sync::Arc;

use axum::extract::State;
use easel_runtime::canvas::document::Document;
use easel_runtime::canvas::export::SessionState;
use easel_runtime::canvas::normalise::normalise;
use easel_runtime::{Value as Content, is_canvas};
use easel_store::{
    AgentFilter, AgentOrder, AgentPatch, AgentRecord, Dialect, NewAgent, Permission, RunFilter,
};
use serde_json::json;

use super::access::{agent, own_agent};
use super::envelope::{
    At, Body, Members, NOT_OWNER, Problem, Query, Reply, Value, flag, ok, plain, put_times, text,
};
use super::{kept, tags};
use crate::App;
use crate::auth::{Caller, Scope};
use crate::host::Host;

/// What agents are unless their category says otherwise.
pub(super) const AGENT: &str = "agent_canvas";
/// Ingestion pipelines.
pub(super) const PIPELINE: &str = "dataflow_canvas";
/// The longest title, in characters.
const LONGEST_TITLE: usize = 255;

/// `GET /agents`
pub(super) async fn list(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Reply {
    caller.may(Scope::Read)?;
    let order = match query.text("orderby").unwrap_or("create_time") {
        "create_time" | "create_date" => AgentOrder::Created,
        "update_time" | "update_date" => AgentOrder::Updated,
        "title" => AgentOrder::Title,
        other => return Err(no_order(other)),
    };
    let filter = AgentFilter {
        visible_to: Some(caller.owner.to_string()),
        owners: query.list("owner_ids"),
        keywords: query.text("keywords").map(str::to_owned),
        tags: query.list("tags"),
        category: query.text("canvas_category").map(str::to_owned),
        kind: query.text("canvas_type").map(str::to_owned),
        dialect: Some(Dialect::Canvas),
        order,
        desc: query.flag("desc").unwrap_or(true),
        page: query.page()?,
        ..AgentFilter::default()
    };
    if query.text("type") == Some("filter") {
        return facets(&app, filter).await;
    }
    let listed = app.host.store().agents(&filter).await?;
    let canvas: Vec<Value> = listed.items.iter().map(in_list).collect();
    ok(json!({"canvas": canvas, "total": listed.total}))
}

/// How many agents there are of each owner, category, type and tag.
async fn facets(app: &App, filter: AgentFilter) -> Reply {
    let store = app.host.store();
    let tags = store.agent_tags(&filter).await?;
    let tags = tags
        .iter()
        .map(|count| (count.tag.to_string(), count.agents.into()));
    let mut facets = [
        ("owner", Members::new()),
        ("canvas_category", Members::new()),
        ("canvas_type", Members::new()),
    ];
    let mut page = easel_store::PageNumber {
        page: 1,
        size: 1_000,
    };
    let total = loop {
        let listed = store
            .agents(&AgentFilter {
                page,
                ..filter.clone()
            })
            .await?;
        for agent in &listed.items {
            let values = [&agent.owner, &agent.category, &agent.kind];
            for ((_, counts), value) in facets.iter_mut().zip(values) {
                let count = counts.get(&**value).and_then(Value::as_u64).unwrap_or(0);
                counts.insert(value.to_string(), (count + 1).into());
            }
        }
        if u64::from(page.page) * u64::from(page.size) >= listed.total {
            break listed.total;
        }
        page.page += 1;
    };
    let mut filter =
        Members::from_iter(facets.map(|(name, counts)| (name.to_owned(), counts.into())));
    filter.insert("tags".to_owned(), Members::from_iter(tags).into());
    ok(json!({"filter": filter, "total": total}))
}

/// `POST /agents`
pub(super) async fn create(State(app): State<Arc<App>>, caller: Caller, body: Body) -> Reply {
    caller.may(Scope::Write)?;
    let Body(body) = body;
    let dsl = body.get("dsl").filter(|dsl| !dsl.is_null());
    let dsl = dsl.ok_or_else(|| Problem::argument("No DSL data in request."))?;
    let title = text(&body, "title").ok_or_else(|| Problem::argument("No title in request."))?;
    let released = flag(&body, "release");
    let document = save(&app.host, &caller, None, dsl, released).await?;
    let new = NewAgent {
        owner: caller.owner.to_string(),
        title: checked_title(title)?,
        description: plain(&body, "description").unwrap_or_default(),
        avatar: plain(&body, "avatar").unwrap_or_default(),
        category: text(&body, "canvas_category").unwrap_or(AGENT).to_owned(),
        kind: plain(&body, "canvas_type").unwrap_or_default(),
        tags: tags::given(body.get("tags"))?.unwrap_or_default(),
        permission: permission(&body)?.unwrap_or_default(),
        released,
        version_title: version_title(&caller, title),
        document: document.to_string(),
        ..NewAgent::default()
    };
    let made = app.host.store().create_agent(new).await?;
    ok(whole(&app.host, &made).await?)
}

/// `GET /agents/{id}`
pub(super) async fn get(State(app): State<Arc<App>>, caller: Caller, At(id): At<String>) -> Reply {
    caller.may(Scope::Read)?;
    let agent = app.host.store().agent_for(&caller.owner, &id).await?;
    let agent = agent.filter(|agent| agent.dialect == Dialect::Canvas);
    let agent = agent.ok_or_else(|| Problem::data("canvas not found."))?;
    ok(whole(&app.host, &agent).await?)
}

/// `PUT /agents/{id}`. What a client does not send of `release` and `canvas_type` is taken as off and blank.
pub(super) async fn update(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Body(body): Body,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Write, &id).await?;
    let released = flag(&body, "release");
    let permission = permission(&body)?;
    // A member of the team must not decide who else sees it.
    if permission.is_some_and(|wanted| wanted != agent.permission) && !caller.owns(&agent.owner) {
        return Err(Problem::operating(NOT_OWNER));
    }
    let document = match body.get("dsl").filter(|dsl| !dsl.is_null()) {
        Some(dsl) => Some(save(&app.host, &caller, Some(&agent), dsl, released).await?),
        // To publish is to save what is there as released.
        None if released => {
            must_run(&app.host, &agent.document).await?;
            Some(agent.document.clone())
        }
        None => None,
    };
    let title = text(&body, "title").map(checked_title).transpose()?;
    let patch = AgentPatch {
        version_title: version_title(&caller, title.as_deref().unwrap_or(&agent.title)),
        title,
        description: plain(&body, "description"),
        avatar: plain(&body, "avatar"),
        category: text(&body, "canvas_category").map(str::to_owned),
        kind: Some(plain(&body, "canvas_type").unwrap_or_default()),
        tags: tags::given(body.get("tags"))?,
        permission,
        released: Some(released),
        document: document.map(|hash| hash.to_string()),
    };
    let changed = app.host.store().update_agent(&agent.id, patch).await?;
    let changed = changed.ok_or_else(|| Problem::data("canvas not found."))?;
    ok(json!({"id": changed.id, "update_time": changed.updated}))
}

/// `DELETE /agents/{id}`: with its conversations. What is under way is ended before.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    _: Body,
) -> Reply {
    let agent = own_agent(&app, &caller, Scope::Write, &id).await?;
    let runs = RunFilter {
        agents: vec![agent.id.to_string()],
        ..RunFilter::default()
    };
    super::cancel::end_all(&app.host, runs).await?;
    app.host.store().delete_agent(&agent.id, false).await?;
    ok(true)
}

/// `POST /agents/{id}/reset`: the draft without what an earlier engine left in it of a conversation.
pub(super) async fn reset(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Write, &id).await?;
    let workflow = app.host.workflow(&agent.document).await?;
    let canvas = workflow.canvas().ok_or_else(no_canvas)?;
    let fresh = canvas.with_session(SessionState {
        globals: Some(canvas.fresh_globals()),
        history: Some(Vec::new()),
        path: Some(Vec::new()),
        retrieval: Some(Vec::new()),
        memory: Some(Vec::new()),
        outputs: canvas
            .components()
            .keys()
            .map(|id| (id.clone(), Default::default()))
            .collect(),
    });
    let bytes = bytes_of(&fresh.canvas().to_json());
    let hash = app
        .host
        .store()
        .put_document(Dialect::Canvas, bytes)
        .await?;
    if hash != agent.document {
        let patch = AgentPatch {
            document: Some(hash.to_string()),
            version_title: version_title(&caller, &agent.title),
            ..AgentPatch::default()
        };
        app.host.store().update_agent(&agent.id, patch).await?;
    }
    ok(kept::shown(&app.host, &hash).await?)
}

/// `GET /agents/prompts`: texts that an editor offers for the prompts of an agent.
pub(super) async fn prompts(caller: Caller) -> Reply {
    caller.may(Scope::Read)?;
    ok(json!({
        "task_analysis": "Say in a few lines what the user wants, what is known already, and what has to be found out before it can be answered.",
        "plan_generation": "Choose the next tools to call. Say for each why it brings the answer nearer. Call nothing whose result is known already.",
        "reflection": "Compare what the tools gave with what the user wants. Say what is settled, what is still open, and whether another way is better.",
        "citation_guidelines": "Put [ID:n] behind each statement that comes from the passage with that ID. Cite only passages you were given, at most four for one statement.",
    }))
}

/// Keeps a DSL that a client sent, in today's form. Gives its hash.
async fn save(
    host: &Host,
    caller: &Caller,
    agent: Option<&AgentRecord>,
    dsl: &Value,
    released: bool,
) -> Result<Arc<str>, Problem> {
    let mut dsl = match dsl {
        Value::String(text) => serde_json::from_str(text)
            .map_err(|error| Problem::argument(format!("The DSL is no JSON: {error}.")))?,
        other => other.clone(),
    };
    let agent = agent.map(|agent| &*agent.id);
    kept::restore(host, caller, agent, &mut dsl).await?;
    if !is_canvas(&bytes_of(&dsl)) {
        let message = "The DSL is no canvas: it has no `components` and no `graph`. Graphs are saved at /v1/workflows.";
        return Err(Problem::argument(message));
    }
    let document = Document::from_value(Content::from(dsl))
        .map_err(|error| Problem::argument(format!("The DSL cannot be read: {error}.")))?;
    let normal = normalise(&document).document.canvas().to_json();
    let hash = host
        .store()
        .put_document(Dialect::Canvas, bytes_of(&normal))
        .await?;
    // What cannot be loaded must not be saved; what must not run may be a draft, and no release.
    host.workflow(&hash)
        .await
        .map_err(|error| Problem::argument(error.to_string()))?;
    if released {
        must_run(host, &hash).await?;
    }
    Ok(hash)
}

/// Refuses what the check refuses.
pub(super) async fn must_run(host: &Host, document: &str) -> Result<(), Problem> {
    let workflow = host.workflow(document).await?;
    let refusal = workflow.refusals().next();
    match refusal {
        Some(refusal) => Err(Problem::argument(format!(
            "This cannot be released: {refusal}"
        ))),
        None => Ok(()),
    }
}

fn bytes_of(document: &Value) -> Vec<u8> {
    document.to_string().into_bytes()
}

fn no_canvas() -> Problem {
    Problem::data("This agent is a graph and has no canvas; see /v1/workflows.")
}

pub(super) fn no_order(name: &str) -> Problem {
    Problem::argument(format!("Nothing can be ordered by `{name}`."))
}

fn checked_title(title: &str) -> Result<String, Problem> {
    let title = title.trim();
    match title.chars().count() > LONGEST_TITLE {
        true => Err(Problem::argument(format!(
            "The title has more than {LONGEST_TITLE} characters."
        ))),
        false => Ok(title.to_owned()),
    }
}

fn permission(body: &Members) -> Result<Option<Permission>, Problem> {
    let Some(name) = text(body, "permission") else {
        return Ok(None);
    };
    let permission = Permission::of(name).map(Some);
    permission.ok_or_else(|| Problem::argument("`permission` must be `me` or `team`."))
}

/// The title of a version: who saved what, when.
pub(super) fn version_title(caller: &Caller, title: &str) -> String {
    let zone = jiff::tz::TimeZone::system();
    let now = jiff::Timestamp::now().to_zoned(zone);
    let title = if title.is_empty() { "agent" } else { title };
    format!(
        "{}_{title}_{}",
        caller.owner,
        now.strftime("%Y-%m-%d %H:%M:%S")
    )
}

/// An agent with its document.
async fn whole(host: &Host, agent: &AgentRecord) -> Result<Members, Problem> {
    let mut row = row(agent);
    row.insert("dsl".to_owned(), kept::shown(host, &agent.document).await?);
    row.insert("last_publish_time".to_owned(), agent.published.into());
    if *agent.category == *PIPELINE {
        row.insert("datasets".to_owned(), json!([]));
    }
    Ok(row)
}

/// An agent in a list.
fn in_list(agent: &AgentRecord) -> Value {
    let mut row = row(agent);
    row.insert("tenant_id".to_owned(), json!(agent.owner));
    row.insert("nickname".to_owned(), json!(agent.owner));
    row.insert("tenant_avatar".to_owned(), json!(""));
    row.insert("release_time".to_owned(), agent.released_at.into());
    row.into()
}

/// What is kept of an agent beside its document.
fn row(agent: &AgentRecord) -> Members {
    let row = json!({
        "id": agent.id,
        "user_id": agent.owner,
        "title": agent.title,
        "avatar": agent.avatar,
        "description": agent.description,
        "permission": agent.permission.name(),
        "release": agent.released,
        "canvas_type": agent.kind,
        "canvas_category": agent.category,
        "tags": tags::joined(&agent.tags),
    });
    let mut row = match row {
        Value::Object(row) => row,
        _ => Members::new(),
    };
    put_times(&mut row, agent.created, agent.updated);
    row
}
