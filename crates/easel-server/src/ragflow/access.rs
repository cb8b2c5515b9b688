//! Who may use which agent, conversation and run. Every route asks here.

use std::sync::Arc;

use easel_store::{AgentRecord, Dialect, RunRecord, SessionRecord, Store};

use super::envelope::{NO_AGENT, NOT_OWNER, Problem};
use crate::App;
use crate::auth::{Caller, Scope};

/// The agent, for a caller with that scope who may see it.
pub(super) async fn agent(
    app: &App,
    caller: &Caller,
    scope: Scope,
    id: &str,
) -> Result<AgentRecord, Problem> {
    caller.may(scope)?;
    let agent = app.host.store().agent_for(&caller.owner, id).await?;
    // Graphs are kept elsewhere; this API knows canvases only.
    let agent = agent.filter(|agent| agent.dialect == Dialect::Canvas);
    agent.ok_or_else(|| Problem::operating(NO_AGENT))
}

/// The agent, for a caller with that scope who owns it.
pub(super) async fn own_agent(
    app: &App,
    caller: &Caller,
    scope: Scope,
    id: &str,
) -> Result<AgentRecord, Problem> {
    let agent = agent(app, caller, scope, id).await?;
    match caller.owns(&agent.owner) {
        true => Ok(agent),
        false => Err(Problem::operating(NOT_OWNER)),
    }
}

/// A conversation with an agent, for whoever held it or owns the agent. `user` is whom the request speaks for; somebody
/// else's conversation is not there for them.
pub(super) async fn session(
    store: &Store,
    caller: &Caller,
    agent: &AgentRecord,
    id: &str,
    user: Option<&str>,
) -> Result<SessionRecord, Problem> {
    let session = store.session(id).await?;
    session
        .filter(|session| session.agent == agent.id)
        .filter(|session| caller.owns(&session.owner) || caller.owns(&agent.owner))
        .filter(|session| is_users(session, user))
        .ok_or_else(|| Problem::data("Session not found!"))
}

/// Whether a conversation may be of a user: neither is known, or they are the same.
pub(super) fn is_users(session: &SessionRecord, user: Option<&str>) -> bool {
    let user = user.unwrap_or_default();
    user.is_empty() || session.user.is_empty() || *session.user == *user
}

/// Whether a run is for the caller to see and to end: it is theirs, or one of an agent that is theirs.
pub(super) async fn may_see_run(
    store: &Store,
    caller: &Caller,
    run: &RunRecord,
) -> Result<bool, Problem> {
    if caller.owns(&run.origin.owner) {
        return Ok(true);
    }
    let agent = store.agent(&run.origin.agent).await?;
    Ok(agent.is_some_and(|agent| caller.owns(&agent.owner)))
}

/// The id of a version of an agent and its hash.
#[derive(Clone, Debug, Default)]
pub(super) struct Edition {
    /// The hash of the document.
    pub document: Arc<str>,
    /// The version; blank for a draft.
    pub version: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
}

/// What a new conversation goes by: the version that was released last if that is asked for, else the draft.
pub(super) async fn edition(
    store: &Store,
    agent: &AgentRecord,
    released: bool,
) -> Result<Edition, Problem> {
    if !released {
        return Ok(Edition {
            document: agent.document.clone(),
            ..Edition::default()
        });
    }
    let version = store.released_version(&agent.id).await?;
    let version = version.ok_or_else(|| Problem::data("No available published version"))?;
    Ok(Edition {
        document: version.document,
        version: version.id,
        title: version.title,
    })
}
