//! What the tests of a webhook did, for whoever watches: read from the stored runs (spec/canvas-engine §7.8).

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use easel_runtime::{Journal, Logged, Standing};
use easel_store::{AgentRecord, RunFilter, RunRecord};
use serde::Deserialize;
use serde_json::{Value, json};

use super::route::{Refused, TEST_TRIGGER, owned};
use crate::App;
use crate::auth::{Caller, Scope, now};
use crate::host::HostError;

/// How long a test can be watched, in milliseconds.
const KEPT: i64 = 600_000;

/// What a watcher has seen.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Seen {
    /// The time of the last event that was seen, in seconds.
    since_ts: Option<f64>,
    /// The test that is watched.
    webhook_id: Option<String>,
}

/// What a watcher gets.
#[derive(Debug, PartialEq)]
struct News {
    webhook: Option<Arc<str>>,
    events: Vec<Value>,
    next: f64,
    finished: bool,
}

impl IntoResponse for News {
    fn into_response(self) -> Response {
        let data = json!({
            "webhook_id": self.webhook.as_deref(),
            "events": self.events,
            "next_since_ts": self.next,
            "finished": self.finished,
        });
        Json(json!({"code": 0, "message": "success", "data": data})).into_response()
    }
}

pub(super) async fn logs(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(seen): Query<Seen>,
    caller: Caller,
) -> Response {
    let agent = match owned(&app, &id, &caller).await {
        Ok(agent) => agent,
        Err(response) => return response,
    };
    if let Err(refused) = caller.may(Scope::Read) {
        return refused.into_response();
    }
    match news(&app, &agent, &seen).await {
        Ok(news) => news.into_response(),
        Err(error) => Refused::from(error).into_response(),
    }
}

async fn news(app: &Arc<App>, agent: &AgentRecord, seen: &Seen) -> Result<News, HostError> {
    let now = now();
    let nothing = |next: f64| News {
        webhook: None,
        events: Vec::new(),
        next,
        finished: false,
    };
    let Some(since) = seen.since_ts.filter(|since| since.is_finite()) else {
        return Ok(nothing(seconds(now)));
    };
    match &seen.webhook_id {
        None => Ok(match earliest(app, agent, since, now).await? {
            Some((run, started)) => News {
                webhook: Some(run),
                ..nothing(started)
            },
            None => nothing(since),
        }),
        Some(run) => {
            let record = app.host.store().run(run).await?;
            let record = record.filter(|record| {
                record.origin.agent == agent.id
                    && &*record.origin.trigger == TEST_TRIGGER
                    && record.created >= now - KEPT
            });
            match record {
                Some(record) => behind(app, &record, since).await,
                None => Ok(News {
                    webhook: Some(run.as_str().into()),
                    finished: true,
                    ..nothing(since)
                }),
            }
        }
    }
}

/// The first test that began behind a time.
async fn earliest(
    app: &App,
    agent: &AgentRecord,
    since: f64,
    now: i64,
) -> Result<Option<(Arc<str>, f64)>, HostError> {
    let mut filter = RunFilter {
        agents: vec![agent.id.to_string()],
        trigger: Some(TEST_TRIGGER.into()),
        since: Some(now - KEPT),
        limit: 100,
        ..RunFilter::default()
    };
    let mut earliest = None;
    loop {
        let page = app.host.store().runs(&filter).await?;
        for run in page.items {
            let started = seconds(run.created);
            if started <= since {
                return Ok(earliest);
            }
            earliest = Some((run.id, started));
        }
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => return Ok(earliest),
        }
    }
}

/// The events of a test behind a time.
async fn behind(app: &Arc<App>, record: &RunRecord, since: f64) -> Result<News, HostError> {
    let log = app.host.log(&record.id, None).await?;
    let journal = app.host.store().read(&record.id).await;
    let journal = journal.map_err(|error| HostError::Turn(error.into()))?;
    let times: Vec<i64> = journal.iter().map(|event| event.at.0).collect();
    let mut events = stamped(&log, &times, record);
    events.extend(closing(events.last(), record));
    events.retain(|(ts, _)| *ts > since);
    Ok(News {
        webhook: Some(record.id.clone()),
        next: events.last().map_or(since, |(ts, _)| *ts),
        events: events.into_iter().map(|(_, event)| event).collect(),
        finished: is_over(&record.standing),
    })
}

fn is_over(standing: &Standing) -> bool {
    standing.is_over() || matches!(standing, Standing::Waiting { .. })
}

/// Each event with a time of its own, so that a watcher who names the last one it saw misses none.
fn stamped(log: &[Logged], times: &[i64], record: &RunRecord) -> Vec<(f64, Value)> {
    let mut last = seconds(record.created);
    let stamped = log.iter().map(|logged| {
        let at = usize::try_from(logged.id.entry).ok();
        let at = at.and_then(|at| times.get(at)).copied();
        last = at.map_or(last, seconds).max(last + INSTANT);
        let data: Value = serde_json::from_str(logged.data()).unwrap_or_default();
        let event = json!({
            "ts": last,
            "event": logged.name(),
            "message_id": &*record.id,
            "created_at": record.created / 1000,
            "task_id": &*record.origin.agent,
            "data": data,
        });
        (last, event)
    });
    stamped.collect()
}

/// The least difference between the times of two events, in seconds.
const INSTANT: f64 = 0.000_01;

/// What the trace of a test ends with.
fn closing(last: Option<&(f64, Value)>, record: &RunRecord) -> Vec<(f64, Value)> {
    if !is_over(&record.standing) {
        return Vec::new();
    }
    let mut ts = last.map_or_else(|| seconds(record.created), |(ts, _)| *ts);
    let mut closing = Vec::new();
    let mut push = |mut event: Value| {
        ts += INSTANT;
        event["ts"] = json!(ts);
        closing.push((ts, event));
    };
    if let Standing::Failed { fault, .. } = &record.standing {
        push(json!({"event": "error", "message": &*fault.message, "error_type": &*fault.code}));
    }
    let success = matches!(
        record.standing,
        Standing::Finished { .. } | Standing::Waiting { .. }
    );
    let elapsed = seconds(record.updated - record.created);
    push(json!({"event": "finished", "elapsed_time": elapsed, "success": success}));
    closing
}

fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}
