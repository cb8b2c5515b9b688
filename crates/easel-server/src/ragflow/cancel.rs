//! Ending what is under way.

use std::sync::Arc;

use axum::extract::State;
use easel_store::RunFilter;

use super::access;
use super::envelope::{At, Body, Problem, Reply, ok, text};
use super::message_id;
use crate::App;
use crate::auth::{Caller, Scope};
use crate::host::{Host, HostError};

/// `POST /tasks/{id}/cancel`
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    _: Body,
) -> Reply {
    stop(&app, &caller, &id).await
}

/// `PATCH /tasks/{id}` with `{"action": "stop"}`
pub(super) async fn patch(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Body(body): Body,
) -> Reply {
    match text(&body, "action") {
        Some("stop") => stop(&app, &caller, &id).await,
        _ => Err(Problem::argument("`action` must be `stop`.")),
    }
}

/// Ends what a task stands for: what a conversation does or waits for, or one run. Only for whoever it belongs to; to others
/// it is not there.
async fn stop(app: &App, caller: &Caller, id: &str) -> Reply {
    caller.may(Scope::Run)?;
    let store = app.host.store();
    if let Some(session) = store.session(id).await? {
        let agent = store.agent(&session.agent).await?;
        let theirs = agent.is_some_and(|agent| caller.owns(&agent.owner));
        if theirs || caller.owns(&session.owner) {
            end_session(&app.host, id).await?;
            return ok(true);
        }
        return Err(not_there());
    }
    // A message's id stands for its run.
    for (run, _) in message_id::candidates(id).take(64) {
        let Some(record) = store.run(&run).await? else {
            continue;
        };
        if access::may_see_run(store, caller, &record).await? {
            end(&app.host, &run).await?;
            return ok(true);
        }
        break;
    }
    Err(not_there())
}

fn not_there() -> Problem {
    Problem::data("Task not found!")
}

/// Ends what a conversation does or waits for.
pub(super) async fn end_session(host: &Arc<Host>, session: &str) -> Result<(), Problem> {
    let runs = RunFilter {
        session: Some(session.to_owned()),
        ..RunFilter::default()
    };
    end_all(host, runs).await
}

/// Ends all runs that pass a filter and are not over.
pub(super) async fn end_all(host: &Arc<Host>, filter: RunFilter) -> Result<(), Problem> {
    let mut filter = RunFilter {
        states: ["running", "waiting", "uncertain"]
            .map(str::to_owned)
            .to_vec(),
        ..filter
    };
    loop {
        let page = host.store().runs(&filter).await?;
        for run in &page.items {
            end(host, &run.id).await?;
        }
        match page.next {
            Some(cursor) => filter.cursor = Some(cursor),
            None => return Ok(()),
        }
    }
}

async fn end(host: &Arc<Host>, run: &str) -> Result<(), Problem> {
    match host.cancel(run).await {
        // It ended on its own meanwhile.
        Ok(_) | Err(HostError::NothingToDrive { .. } | HostError::NoRun(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
