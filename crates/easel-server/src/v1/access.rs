//! Who may see what. Another owner's things are answered as if they were not there.

use std::sync::Arc;

use axum::http::StatusCode;
use easel_store::{AgentFilter, AgentRecord, PageNumber, RunRecord, SessionRecord, VersionRecord};

use super::problem::Problem;
use crate::App;
use crate::auth::Caller;

/// A run of the caller's.
///
/// # Errors
/// There is none with that id, or it is another's.
pub async fn run(app: &App, caller: &Caller, id: &str) -> Result<RunRecord, Problem> {
    let record = app.host.store().run(id).await?;
    let record = record.filter(|record| caller.owns(&record.origin.owner));
    record.ok_or_else(|| Problem::missing("no_run", "run", id))
}

/// A conversation of the caller's.
///
/// # Errors
/// There is none with that id, or it is another's.
pub async fn session(app: &App, caller: &Caller, id: &str) -> Result<SessionRecord, Problem> {
    let record = app.host.store().session(id).await?;
    let record = record.filter(|record| caller.owns(&record.owner));
    record.ok_or_else(|| Problem::missing("no_session", "session", id))
}

/// An agent that the caller may use: their own, or their team's.
///
/// # Errors
/// There is none with that id, or it is another's.
pub async fn agent(app: &App, caller: &Caller, id: &str) -> Result<AgentRecord, Problem> {
    let record = app.host.store().agent_for(&caller.owner, id).await?;
    record.ok_or_else(|| Problem::missing("no_agent", "agent", id))
}

/// A workflow that the caller may use: a graph by its name, their own before their team's, or any agent by its id.
///
/// # Errors
/// There is none of that name, or it is another's.
pub async fn workflow(app: &App, caller: &Caller, name: &str) -> Result<AgentRecord, Problem> {
    let filter = AgentFilter {
        visible_to: Some(caller.owner.to_string()),
        name: Some(name.to_owned()),
        page: PageNumber { page: 1, size: 100 },
        ..AgentFilter::default()
    };
    let mut named = app.host.store().agents(&filter).await?.items;
    let own = named.iter().position(|agent| caller.owns(&agent.owner));
    if !named.is_empty() {
        return Ok(named.swap_remove(own.unwrap_or(0)));
    }
    let record = app.host.store().agent_for(&caller.owner, name).await?;
    record.ok_or_else(|| Problem::missing("no_workflow", "workflow", name))
}

/// The same, for who is about to change it.
///
/// # Errors
/// There is none of that name, or it is another's.
pub async fn own_workflow(app: &App, caller: &Caller, name: &str) -> Result<AgentRecord, Problem> {
    let record = workflow(app, caller, name).await?;
    if !caller.owns(&record.owner) {
        let message = format!("{name:?} is shared with you, and only its owner may change it");
        return Err(Problem::new(StatusCode::FORBIDDEN, "not_owner", message));
    }
    Ok(record)
}

/// An agent that the caller may use, and what it runs by: see [`choose`].
///
/// # Errors
/// There is none with that id, it is another's, or it has no such version.
pub async fn agent_to_run(
    app: &App,
    caller: &Caller,
    id: &str,
    version: Option<&str>,
) -> Result<(AgentRecord, Chosen), Problem> {
    let found = app.host.store().agent_to_run(&caller.owner, id).await?;
    let (agent, release) = found.ok_or_else(|| Problem::missing("no_agent", "agent", id))?;
    let chosen = match version {
        None => Chosen::of(&agent, release),
        some => choose(app, &agent, some).await?,
    };
    Ok((agent, chosen))
}

/// What an agent runs by: a version that was asked for, the released one where there is one, else the draft.
pub struct Chosen {
    /// The hash of the document.
    pub document: Arc<str>,
    /// The version's id; blank for the draft.
    pub version: Arc<str>,
    /// The version's title; blank for the draft.
    pub title: Arc<str>,
}

impl Chosen {
    /// A version, or the draft.
    fn of(agent: &AgentRecord, version: Option<VersionRecord>) -> Chosen {
        match version {
            Some(version) => Chosen {
                document: version.document,
                version: version.id,
                title: version.title,
            },
            None => Chosen {
                document: agent.document.clone(),
                version: "".into(),
                title: "".into(),
            },
        }
    }
}

/// Chooses what an agent runs by. `draft` is its draft; anything else the id of a version.
///
/// # Errors
/// The agent has no such version.
pub async fn choose(
    app: &App,
    agent: &AgentRecord,
    version: Option<&str>,
) -> Result<Chosen, Problem> {
    match version {
        Some("draft") => Ok(Chosen::of(agent, None)),
        Some(id) => {
            let found = app.host.store().version(id).await?;
            let found = found.filter(|version| version.agent == agent.id);
            let found = found.ok_or_else(|| Problem::missing("no_version", "version", id))?;
            Ok(Chosen::of(agent, Some(found)))
        }
        None => {
            let release = app.host.store().released_version(&agent.id).await?;
            Ok(Chosen::of(agent, release))
        }
    }
}
