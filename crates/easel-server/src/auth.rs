//! Who is calling, and what they may do.
//!
//! A request names its key in `Authorization: Bearer …`. As long as no key was ever made, the machine's own user needs none:
//! requests from loopback addresses that name a loopback host act as [`LOCAL`]. Once there is a key, every request needs
//! one.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use easel_store::{AgentRecord, Permission, Store};
use subtle::ConstantTimeEq;

use crate::rate::{Buckets, Rate};
use crate::{App, Settings};

/// The owner of what is made without a key.
pub const LOCAL: &str = "local";

/// In it commands on this machine say on whose behalf they act. It counts with the local token alone: who has that can read
/// and write everything in the data folder anyway.
pub const OWNER_HEADER: &str = "x-easel-owner";

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// See agents, conversations and runs.
    Read,
    /// Talk to agents: start, answer, cancel.
    Run,
    /// Make, change and delete agents, workflows and what belongs to them.
    Write,
    /// Make and revoke keys, for every owner.
    Admin,
}

impl Scope {
    /// Every scope, from the least to the most.
    pub const ALL: [Scope; 4] = [Scope::Read, Scope::Run, Scope::Write, Scope::Admin];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Run => "run",
            Scope::Write => "write",
            Scope::Admin => "admin",
        }
    }

    /// The scope with that name.
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// Somebody who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// On whose behalf they act.
    pub owner: Arc<str>,
    /// The id of their key; blank without one.
    pub key: Arc<str>,
    /// What they may do.
    pub scopes: Vec<Scope>,
}

impl Caller {
    /// Refuses whoever lacks a scope.
    ///
    /// # Errors
    /// [`Refused::Scope`].
    pub fn may(&self, scope: Scope) -> Result<(), Refused> {
        match self.scopes.contains(&scope) {
            true => Ok(()),
            false => Err(Refused::Scope(scope)),
        }
    }

    /// True if something is theirs.
    pub fn owns(&self, owner: &str) -> bool {
        *self.owner == *owner
    }

    /// True if they may see and use an agent: it is theirs, or their team's.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn may_use(
        &self,
        agent: &AgentRecord,
        store: &Store,
    ) -> Result<bool, easel_store::StoreError> {
        if self.owns(&agent.owner) {
            return Ok(true);
        }
        if agent.permission != Permission::Team {
            return Ok(false);
        }
        let (mine, theirs) = (
            store.teams_of(&self.owner).await?,
            store.teams_of(&agent.owner).await?,
        );
        Ok(mine.iter().any(|team| theirs.contains(team)))
    }
}

/// Why somebody is not let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no key.
    #[error("this needs an API key: send `Authorization: Bearer KEY`; `easel keys new` makes one")]
    NoKey,
    /// The key opens nothing.
    #[error("the API key is unknown, revoked or expired; `easel keys new` makes another")]
    BadKey,
    /// The key is not for this.
    #[error("the API key is not for this: it lacks the scope `{}`", .0.name())]
    Scope(Scope),
    /// It comes too often.
    #[error("too many requests with this key; try again in {} s", .0.as_secs() + 1)]
    TooOften(Duration),
    /// Who it is cannot be found out now.
    #[error("the store does not answer")]
    Unavailable,
}

impl Refused {
    /// The HTTP status for it.
    pub fn status(&self) -> StatusCode {
        match self {
            Refused::NoKey | Refused::BadKey => StatusCode::UNAUTHORIZED,
            Refused::Scope(_) => StatusCode::FORBIDDEN,
            Refused::TooOften(_) => StatusCode::TOO_MANY_REQUESTS,
            Refused::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The form that every client of the server understands: `code` and `message` for canvas clients, `error` for others.
impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = self.status();
        let message = self.to_string();
        let body = serde_json::json!({
            "code": status.as_u16(),
            "message": message,
            "data": null,
            "error": {"message": message, "type": "authentication_error", "code": status.as_u16()},
        });
        let mut response = (status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        match self {
            Refused::NoKey | Refused::BadKey => {
                let bearer = header::HeaderValue::from_static("Bearer");
                headers.insert(header::WWW_AUTHENTICATE, bearer);
            }
            Refused::TooOften(pause) => {
                headers.insert(header::RETRY_AFTER, (pause.as_secs() + 1).into());
            }
            _ => {}
        }
        response
    }
}

/// Looks at keys.
pub(crate) struct Doorkeeper {
    store: Store,
    rate: Option<Rate>,
    buckets: Buckets,
    /// Lets commands on this machine in while the server holds the data folder.
    token: String,
    /// True once there is a key.
    locked: AtomicBool,
    looked: std::sync::Mutex<Option<Instant>>,
}

/// How often it is looked whether the first key was made.
const LOOK_EVERY: Duration = Duration::from_millis(500);

impl Doorkeeper {
    pub fn new(store: Store, settings: &Settings) -> Doorkeeper {
        let token = format!("local_{}{}", random(), random());
        Doorkeeper {
            store,
            rate: settings.rate,
            buckets: Buckets::default(),
            token,
            locked: AtomicBool::new(false),
            looked: std::sync::Mutex::default(),
        }
    }

    /// By what a command on this machine is known.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether requests need a key.
    pub async fn is_locked(&self) -> Result<bool, Refused> {
        if self.locked.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let due = {
            let mut looked = self
                .looked
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let due = looked.is_none_or(|then| then.elapsed() >= LOOK_EVERY);
            if due {
                *looked = Some(Instant::now());
            }
            due
        };
        if due {
            let keys = self.store.keys(None).await;
            let any = !keys.map_err(|_| Refused::Unavailable)?.is_empty();
            self.locked.store(any, Ordering::Relaxed);
        }
        Ok(self.locked.load(Ordering::Relaxed))
    }

    /// Lets somebody in, or not.
    async fn admit(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<Caller, Refused> {
        let Some(secret) = bearer(headers) else {
            let here = peer.is_some_and(is_loopback) && names_loopback(headers);
            if !here || self.is_locked().await? {
                return Err(Refused::NoKey);
            }
            return Ok(everything(LOCAL, ""));
        };
        let local = secret.as_bytes().ct_eq(self.token.as_bytes());
        if bool::from(local) && peer.is_some_and(is_loopback) {
            let owner = headers.get(OWNER_HEADER).map(|owner| owner.to_str());
            let owner = owner.and_then(Result::ok).filter(|owner| !owner.is_empty());
            return Ok(everything(owner.unwrap_or(LOCAL), "local"));
        }
        let key = self.store.key_by_secret(secret).await;
        let key = key.map_err(|_| Refused::Unavailable)?;
        let key = key
            .filter(|key| key.is_valid_at(now()))
            .ok_or(Refused::BadKey)?;
        if let Some(rate) = self.rate {
            let taken = self.buckets.take(&key.id, rate, Instant::now());
            taken.map_err(Refused::TooOften)?;
        }
        let scopes = key.scopes.iter().filter_map(|name| Scope::named(name));
        Ok(Caller {
            scopes: scopes.collect(),
            owner: key.owner,
            key: key.id,
        })
    }
}

fn everything(owner: &str, key: &str) -> Caller {
    Caller {
        owner: owner.into(),
        key: key.into(),
        scopes: Scope::ALL.to_vec(),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| secret.trim())
        .filter(|secret| !secret.is_empty())
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => address.is_loopback(),
            None => address.is_loopback(),
        },
    }
}

/// Whether a request says that it is for this machine, and from no page of elsewhere: a page in the user's own browser can
/// reach this port under a name of its own, and must not be taken for the user.
fn names_loopback(headers: &HeaderMap) -> bool {
    let loopback = |authority: &str| {
        let host = match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        };
        let address = host.parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(is_loopback)
    };
    let host = headers.get(header::HOST).map(|host| host.to_str());
    let host = matches!(host, Some(Ok(host)) if loopback(host));
    let origin = match headers.get(header::ORIGIN).map(|origin| origin.to_str()) {
        None => true,
        Some(Ok(origin)) => {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            authority.is_some_and(loopback)
        }
        Some(Err(_)) => false,
    };
    host && origin
}

fn random() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Caller, Refused> {
        if let Some(caller) = parts.extensions.get::<Caller>() {
            return Ok(caller.clone());
        }
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(address)| address.ip());
        let caller = app.doorkeeper.admit(&parts.headers, peer).await?;
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs.iter().cloned();
        pairs
            .map(|(name, value)| (name, value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn a_page_of_elsewhere_is_not_taken_for_the_user() {
        use header::{HOST, ORIGIN};
        let names = |pairs: &[_]| names_loopback(&headers(pairs));
        assert!(names(&[(HOST, "127.0.0.1:9380")]));
        assert!(names(&[(HOST, "localhost")]));
        assert!(names(&[
            (HOST, "[::1]:9380"),
            (ORIGIN, "http://localhost:5173")
        ]));
        assert!(!names(&[(HOST, "evil.example:9380")]));
        assert!(!names(&[(HOST, "127.0.0.1.evil.example")]));
        assert!(!names(&[
            (HOST, "localhost"),
            (ORIGIN, "https://evil.example")
        ]));
        assert!(!names(&[(HOST, "localhost"), (ORIGIN, "null")]));
        assert!(!names(&[]));
    }

    #[test]
    fn a_key_is_read_from_its_header_only() {
        use header::AUTHORIZATION;
        assert_eq!(
            bearer(&headers(&[(AUTHORIZATION, "Bearer abc")])),
            Some("abc")
        );
        assert_eq!(
            bearer(&headers(&[(AUTHORIZATION, "bearer  abc ")])),
            Some("abc")
        );
        assert_eq!(bearer(&headers(&[(AUTHORIZATION, "Bearer ")])), None);
        assert_eq!(bearer(&headers(&[(AUTHORIZATION, "Basic abc")])), None);
    }
}
