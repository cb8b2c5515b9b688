//! Versions of agents.

use std::sync::Arc;

use axum::extract::State;
use easel_store::VersionRecord;
use serde_json::json;

use super::access::{agent, own_agent};
use super::agents::{must_run, version_title};
use super::envelope::{At, Members, Problem, Reply, Value, ok, put_times};
use super::kept;
use crate::App;
use crate::auth::{Caller, Scope};

/// `GET /agents/{id}/versions`: the one that was saved last first, without documents.
pub(super) async fn list(State(app): State<Arc<App>>, caller: Caller, At(id): At<String>) -> Reply {
    let agent = agent(&app, &caller, Scope::Read, &id).await?;
    let mut versions = app.host.store().versions(&agent.id).await?;
    versions.sort_by_key(|version| std::cmp::Reverse(version.updated));
    ok(versions.iter().map(row).collect::<Vec<_>>())
}

/// `GET /agents/{id}/versions/{version}`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, version)): At<(String, String)>,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Read, &id).await?;
    let version = of_agent(&app, &agent.id, &version).await?;
    let mut row = row(&version);
    row.insert(
        "dsl".to_owned(),
        kept::shown(&app.host, &version.document).await?,
    );
    ok(row)
}

/// `DELETE /agents/{id}/versions/{version}`. What was released last is what the outside gets, and stays.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, version)): At<(String, String)>,
) -> Reply {
    let agent = own_agent(&app, &caller, Scope::Write, &id).await?;
    let version = of_agent(&app, &agent.id, &version).await?;
    let store = app.host.store();
    let released = store.released_version(&agent.id).await?;
    if released.is_some_and(|released| released.id == version.id) {
        let message = "This version is the one that is published. Publish another one first.";
        return Err(Problem::data(message));
    }
    store.delete_version(&version.id).await?;
    ok(true)
}

/// `POST /agents/{id}/publish`: releases the draft.
pub(super) async fn publish(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Write, &id).await?;
    must_run(&app.host, &agent.document).await?;
    let title = version_title(&caller, &agent.title);
    let version = app.host.store().publish(&agent.id, &title).await?;
    ok(row(&version))
}

async fn of_agent(app: &App, agent: &str, version: &str) -> Result<VersionRecord, Problem> {
    let version = app.host.store().version(version).await?;
    let version = version.filter(|version| *version.agent == *agent);
    version.ok_or_else(|| Problem::data("Version not found."))
}

fn row(version: &VersionRecord) -> Members {
    let row = json!({
        "id": version.id,
        "user_canvas_id": version.agent,
        "title": version.title,
        "description": version.description,
        "release": version.released,
    });
    let mut row = match row {
        Value::Object(row) => row,
        _ => Members::new(),
    };
    put_times(&mut row, version.created, version.updated);
    row
}
