//! API keys. What opens the door is shown once, to whoever made it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use easel_store::{KeyRecord, NewKey};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::problem::{Problem, ProblemBody};
use super::request::{At, Body, Filter, Keyholder};
use super::run::seconds;
use crate::App;
use crate::auth::Scope;

/// The longest name or owner of a key, in characters.
const LONGEST: usize = 128;

/// Which keys.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct KeyFilter {
    /// Of this owner.
    pub owner: Option<String>,
}

/// A key that is to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyBody {
    /// On whose behalf it acts; the caller's owner unless given.
    #[schema(min_length = 1, max_length = 128)]
    pub owner: Option<String>,
    /// What people call it.
    #[serde(default)]
    #[schema(max_length = 128)]
    pub name: String,
    /// What it may be used for; to look and to run unless given.
    pub scopes: Option<Vec<ScopeWord>>,
    /// From when on it is of no use any more, in seconds since 1970.
    #[schema(minimum = 0)]
    pub expires_at: Option<f64>,
}

/// What a key may be used for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeWord {
    /// See agents, conversations and runs.
    Read,
    /// Talk to agents: start, answer, cancel.
    Run,
    /// Make, change and delete agents, workflows and what belongs to them.
    Write,
    /// Make and revoke keys, for every owner.
    Admin,
}

impl ScopeWord {
    fn scope(self) -> Scope {
        match self {
            ScopeWord::Read => Scope::Read,
            ScopeWord::Run => Scope::Run,
            ScopeWord::Write => Scope::Write,
            ScopeWord::Admin => Scope::Admin,
        }
    }
}

/// What is known of a key.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct KeyView {
    /// Its id.
    pub id: String,
    /// How it begins.
    pub prefix: String,
    /// On whose behalf it acts.
    pub owner: String,
    /// What people call it.
    pub name: String,
    /// What it may be used for.
    pub scopes: Vec<String>,
    /// When it was made, in seconds since 1970.
    pub created_at: f64,
    /// When it was used last, to the minute.
    pub used_at: Option<f64>,
    /// From when on it is of no use any more.
    pub expires_at: Option<f64>,
    /// When it was revoked.
    pub revoked_at: Option<f64>,
}

/// A key that was made.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NewKeyView {
    /// The key itself. It cannot be had again.
    pub key: String,
    /// What is known of it.
    #[serde(flatten)]
    pub record: KeyView,
}

/// Keys.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct KeyList {
    /// The keys, the newest last; revoked ones too.
    pub keys: Vec<KeyView>,
}

fn view(key: &KeyRecord) -> KeyView {
    KeyView {
        id: key.id.to_string(),
        prefix: key.prefix.to_string(),
        owner: key.owner.to_string(),
        name: key.name.to_string(),
        scopes: key.scopes.iter().map(|scope| scope.to_string()).collect(),
        created_at: seconds(key.created),
        used_at: key.used.map(seconds),
        expires_at: key.expires.map(seconds),
        revoked_at: key.revoked.map(seconds),
    }
}

/// Lists keys
///
/// Without what opens the door.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", params(KeyFilter), responses(
    (status = 200, body = KeyList),
    (status = "default", body = ProblemBody),
))]
pub async fn list(
    State(app): State<Arc<App>>,
    Keyholder(_caller): Keyholder,
    Filter(filter): Filter<KeyFilter>,
) -> Result<Json<KeyList>, Problem> {
    let keys = app.host.store().keys(filter.owner.as_deref()).await?;
    let keys = keys.iter().map(view).collect();
    Ok(Json(KeyList { keys }))
}

/// Makes a key
///
/// What opens the door is in this answer and nowhere else.
#[utoipa::path(post, path = "/v1/keys", tag = "keys", request_body = Option<KeyBody>, responses(
    (status = 201, body = NewKeyView),
    (status = 422, body = ProblemBody, description = "The name, the owner or the time cannot be used"),
    (status = "default", body = ProblemBody),
))]
pub async fn create(
    State(app): State<Arc<App>>,
    Keyholder(caller): Keyholder,
    Body(body): Body<KeyBody>,
) -> Result<Response, Problem> {
    let owner = body.owner.unwrap_or_else(|| caller.owner.to_string());
    let fits = |text: &str| text.chars().count() <= LONGEST && !text.contains(char::is_control);
    if owner.trim().is_empty() || !fits(&owner) || !fits(&body.name) {
        let message = format!("an owner or a name is blank, odd or longer than {LONGEST}");
        return Err(Problem::unfit("name", message));
    }
    let expires = match body.expires_at {
        Some(at) if !(at.is_finite() && at > 0.0) => {
            return Err(Problem::unfit("expires_at", "that is no time"));
        }
        at => at.map(|at| (at * 1000.0) as i64),
    };
    let scopes = body.scopes.unwrap_or(vec![ScopeWord::Read, ScopeWord::Run]);
    let mut scopes: Vec<Scope> = scopes.into_iter().map(ScopeWord::scope).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let new = NewKey {
        owner,
        name: body.name,
        scopes: scopes
            .into_iter()
            .map(|scope| scope.name().into())
            .collect(),
        expires,
    };
    let (record, secret) = app.host.store().create_key(new).await?;
    let made = NewKeyView {
        key: secret.reveal().to_owned(),
        record: view(&record),
    };
    let mut response = (StatusCode::CREATED, Json(made)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Revokes a key
///
/// From then on it opens nothing.
#[utoipa::path(delete, path = "/v1/keys/{id}", tag = "keys", params(("id" = String, Path, description = "The key's id")), responses(
    (status = 204, description = "It is revoked"),
    (status = 404, body = ProblemBody, description = "There is none, or it was revoked before"),
    (status = "default", body = ProblemBody),
))]
pub async fn revoke(
    State(app): State<Arc<App>>,
    Keyholder(_caller): Keyholder,
    At(id): At<String>,
) -> Result<StatusCode, Problem> {
    match app.host.store().revoke_key(&id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::missing("no_key", "key", &id)),
    }
}
