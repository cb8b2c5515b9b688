//! The events of a run: as a stream that can be taken up anywhere, or as a list.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use easel_runtime::{EventId, Logged, Standing};
use easel_store::RunRecord;
use futures::Stream;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access;
use super::problem::{Problem, ProblemBody};
use super::request::{At, Filter, Reader};
use super::run::EventView;
use crate::App;
use crate::host::{Events, Host, HostError};

/// How often a silent stream says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How often it is looked whether a run that this process does not drive went on.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The most events of a list.
const LISTED: usize = 10_000;

/// From where on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Behind {
    /// Only what is behind the event of this id. The header `Last-Event-ID` counts before it.
    pub after: Option<String>,
}

/// The events of a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EventList {
    /// The run's id.
    pub run: String,
    /// Where it stands: `running`, `waiting`, `uncertain`, `finished`, `failed` or `cancelled`.
    pub state: String,
    /// The events, at most 10,000.
    pub events: Vec<EventView>,
    /// The id to go on behind; `null` if there was no event.
    pub next: Option<String>,
}

/// An event as it is streamed: the fields of a server-sent event.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StreamedEvent {
    /// Its number; the last event, `end`, has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What happened, or `end`.
    pub event: String,
    /// What there is to say about it, as JSON.
    pub data: String,
}

/// An event as it is listed.
pub fn view(event: &Logged) -> EventView {
    EventView {
        id: event.id.to_string(),
        event: event.name().to_owned(),
        data: serde_json::from_str(event.data()).unwrap_or_default(),
    }
}

/// Watches a run
///
/// Server-sent events: first those that are past, then each as it happens, until the turn ends; the last one is `end`. Each
/// has an `id`; a client that was cut off sends the last one it saw as `Last-Event-ID` and misses nothing, also after the
/// server was started anew. Within a message, the rest of its text comes as one piece. Where an attempt was lost,
/// `message_reset` says that its text will come again. With `Accept: application/json` it is the list of what is past.
#[utoipa::path(get, path = "/v1/runs/{id}/events", tag = "runs", params(
    ("id" = String, Path, description = "The run's id"), Behind,
    ("Last-Event-ID" = Option<String>, Header, description = "The last event that was seen"),
), responses(
    (status = 200, content((StreamedEvent = "text/event-stream"), (EventList = "application/json"))),
    (status = 400, body = ProblemBody, description = "That is no event's id"),
    (status = 404, body = ProblemBody, description = "There is no such run"),
    (status = "default", body = ProblemBody),
))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(id): At<String>,
    Filter(from): Filter<Behind>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let run = access::run(&app, &caller, &id).await?;
    let after = after(&headers, from.after.as_deref())?;
    if wants_list(&headers) {
        return list(&app, &run, after).await;
    }
    let events = app.host.watch(&run.id, after).await?;
    let watcher = Watcher {
        host: app.host.clone(),
        run: run.id,
        events,
        last: after,
        entries: run.entries,
        over: false,
    };
    let alive = KeepAlive::new().interval(HEARTBEAT).text("ping");
    let mut response = Sse::new(watcher.stream()).keep_alive(alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that gather answers would hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// The event behind which a client wants to go on.
fn after(headers: &HeaderMap, query: Option<&str>) -> Result<Option<EventId>, Problem> {
    let header = headers.get("last-event-id");
    let header = header.map(|value| value.to_str().unwrap_or("?"));
    let asked = header.or(query).map(str::trim).filter(|id| !id.is_empty());
    // A plus in an address is read as a blank.
    let id = asked.map(|id| id.replace(' ', "+").parse());
    id.transpose()
        .map_err(|bad: easel_runtime::BadEventId| Problem::bad("after", bad.to_string()))
}

fn wants_list(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    let accept = accept.unwrap_or_default();
    accept.contains("application/json") && !accept.contains("text/event-stream")
}

async fn list(app: &App, run: &RunRecord, after: Option<EventId>) -> Result<Response, Problem> {
    let log = app.host.log(&run.id, after).await?;
    let events: Vec<EventView> = log.iter().take(LISTED).map(view).collect();
    let next = events.last().map(|event| event.id.clone());
    Ok(Json(EventList {
        run: run.id.to_string(),
        state: run.standing.name().to_owned(),
        next: next.or_else(|| after.map(|after| after.to_string())),
        events,
    })
    .into_response())
}

/// A client that watches a run. It takes an event when it has room for one, so one that is slow holds back nobody.
struct Watcher {
    host: Arc<Host>,
    run: Arc<str>,
    events: Events,
    /// The last event that was given.
    last: Option<EventId>,
    /// How many entries the journal had when the events were read.
    entries: u64,
    over: bool,
}

impl Watcher {
    fn stream(self) -> impl Stream<Item = Result<Event, Infallible>> {
        futures::stream::unfold(self, |mut watcher| async move {
            if watcher.over {
                return None;
            }
            let event = match watcher.next().await {
                Ok(event) => event,
                Err(error) => {
                    watcher.over = true;
                    let problem = Problem::from(error).body();
                    let data = serde_json::to_string(&problem).unwrap_or_default();
                    Event::default().event("problem").data(data)
                }
            };
            Some((Ok(event), watcher))
        })
    }

    async fn next(&mut self) -> Result<Event, HostError> {
        loop {
            if let Some(logged) = self.events.next().await? {
                self.last = Some(logged.id);
                return Ok(Event::default()
                    .id(logged.id.to_string())
                    .event(logged.name())
                    .data(logged.data()));
            }
            let record = self.host.record(&self.run).await?;
            let live = self.host.live(&self.run).is_some();
            if record.standing != Standing::Running && record.entries == self.entries && !live {
                self.over = true;
                let end = serde_json::json!({"run": &*self.run, "state": record.standing.name()});
                return Ok(Event::default().event("end").data(end.to_string()));
            }
            // Nobody drives it here just now: another process does, or soon will.
            if record.entries == self.entries && !live {
                tokio::time::sleep(LOOK_EVERY).await;
                continue;
            }
            self.entries = record.entries;
            self.events = self.host.watch(&self.run, self.last).await?;
        }
    }
}
