//! What agents remember of their users: listed and forgotten.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use easel_store::{Exchange, MemoryFilter};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::problem::{Problem, ProblemBody};
use super::request::{At, Filter, MOST, Reader, Writer, within};
use super::run::seconds;
use crate::App;
use crate::auth::Caller;

/// The most exchanges on a page.
const PAGE: u32 = 100;

/// Which exchanges. What is not given lets all pass.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExchangeFilter {
    /// With this agent, by its id.
    pub agent: Option<String>,
    /// Of this user; blank: of those whom nobody knows.
    pub user: Option<String>,
    /// In the memory of this name.
    pub memory: Option<String>,
    /// How many at most; 30 unless given, never more than 100.
    #[param(minimum = 1, maximum = 1_000_000)]
    pub limit: Option<u32>,
    /// Where the last page ended: its `next`.
    pub cursor: Option<String>,
}

/// Which exchanges are to be forgotten. One of these at least.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ForgetFilter {
    /// With this agent, by its id.
    pub agent: Option<String>,
    /// Of this user; blank: of those whom nobody knows.
    pub user: Option<String>,
    /// In the memory of this name.
    pub memory: Option<String>,
}

/// What a user and an agent said to each other, as it is remembered.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ExchangeView {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent: String,
    /// The user; blank if nobody knows who it is.
    pub user: String,
    /// The conversation in which it was said.
    pub session: String,
    /// The name of the memory.
    pub memory: String,
    /// What the user said.
    pub user_input: String,
    /// What the agent answered.
    pub agent_response: String,
    /// When, in seconds since 1970.
    pub created_at: f64,
}

/// A page of exchanges, the newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ExchangeList {
    /// Those on this page.
    pub memories: Vec<ExchangeView>,
    /// The cursor of the next page; `null` on the last.
    pub next: Option<String>,
}

/// How much was forgotten.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Forgotten {
    /// How many exchanges there were.
    pub deleted: u64,
}

fn view(kept: &Exchange) -> ExchangeView {
    ExchangeView {
        id: kept.id.to_string(),
        agent: kept.agent.to_string(),
        user: kept.user.to_string(),
        session: kept.session.to_string(),
        memory: kept.memory.to_string(),
        user_input: kept.user_input.to_string(),
        agent_response: kept.agent_response.to_string(),
        created_at: seconds(kept.created),
    }
}

/// Lists what is remembered
///
/// Exchanges that messages with `memory_ids` kept.
#[utoipa::path(get, path = "/v1/memories", tag = "memories", params(ExchangeFilter), responses(
    (status = 200, body = ExchangeList),
    (status = "default", body = ProblemBody),
))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    Filter(wanted): Filter<ExchangeFilter>,
) -> Result<Json<ExchangeList>, Problem> {
    let limit = within("limit", wanted.limit, 1..=MOST)?;
    let filter = MemoryFilter {
        owner: Some(caller.owner.to_string()),
        agent: wanted.agent,
        user: wanted.user,
        memory: wanted.memory,
        limit: limit.unwrap_or(30).min(PAGE) as usize,
        cursor: wanted.cursor.filter(|cursor| !cursor.is_empty()),
    };
    let page = app.host.store().exchanges(&filter).await?;
    Ok(Json(ExchangeList {
        memories: page.items.iter().map(view).collect(),
        next: page.next,
    }))
}

/// Forgets what is remembered of a user, with an agent, or in a memory
///
/// At least one of the three is to be named.
#[utoipa::path(delete, path = "/v1/memories", tag = "memories", params(ForgetFilter), responses(
    (status = 200, body = Forgotten),
    (status = 400, body = ProblemBody, description = "Nothing is named"),
    (status = "default", body = ProblemBody),
))]
pub async fn forget_all(
    State(app): State<Arc<App>>,
    Writer(caller): Writer,
    Filter(wanted): Filter<ForgetFilter>,
) -> Result<Json<Forgotten>, Problem> {
    let filter = MemoryFilter {
        owner: Some(caller.owner.to_string()),
        agent: wanted.agent,
        user: wanted.user,
        memory: wanted.memory,
        ..MemoryFilter::default()
    };
    if filter.agent.is_none() && filter.user.is_none() && filter.memory.is_none() {
        let message = "it is not said what is to be forgotten";
        return Err(Problem::bad("query", message).fix("name `user`, `agent` or `memory`"));
    }
    let deleted = app.host.store().forget_all(&filter).await?;
    Ok(Json(Forgotten { deleted }))
}

/// An exchange of the caller's.
async fn exchange(app: &App, caller: &Caller, id: &str) -> Result<Exchange, Problem> {
    let kept = app.host.store().exchange(id).await?;
    let kept = kept.filter(|kept| caller.owns(&kept.owner));
    kept.ok_or_else(|| Problem::missing("no_memory", "exchange", id))
}

/// Shows an exchange that is remembered
#[utoipa::path(get, path = "/v1/memories/{id}", tag = "memories", params(("id" = String, Path, description = "The exchange's id")), responses(
    (status = 200, body = ExchangeView),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = "default", body = ProblemBody),
))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(caller): Reader,
    At(id): At<String>,
) -> Result<Json<ExchangeView>, Problem> {
    Ok(Json(view(&exchange(&app, &caller, &id).await?)))
}

/// Forgets one exchange
#[utoipa::path(delete, path = "/v1/memories/{id}", tag = "memories", params(("id" = String, Path, description = "The exchange's id")), responses(
    (status = 204, description = "It is forgotten"),
    (status = 404, body = ProblemBody, description = "There is none"),
    (status = "default", body = ProblemBody),
))]
pub async fn forget(
    State(app): State<Arc<App>>,
    Writer(caller): Writer,
    At(id): At<String>,
) -> Result<StatusCode, Problem> {
    let kept = exchange(&app, &caller, &id).await?;
    app.host.store().forget(&kept.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
