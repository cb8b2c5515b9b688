//! Sessions belong to whoever began them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use axum::http::{Extensions, Method, Request, Response, StatusCode};
use axum::response::IntoResponse;
use futures::future::BoxFuture;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// Owners that are kept before those of ended sessions are looked for.
const PRUNE: usize = 256;

/// The protocol's HTTP service, with sessions that only their own caller can use, and not too many of them.
pub(super) struct Owned<H, I> {
    service: StreamableHttpService<H, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    identity: I,
    most: usize,
    owners: Arc<Mutex<Owners>>,
}

/// Who began which session.
#[derive(Default)]
struct Owners {
    sessions: HashMap<String, Owner>,
    prune_at: usize,
}

struct Owner {
    identity: Option<Arc<str>>,
    used: Instant,
}

impl<H, I: Clone> Clone for Owned<H, I> {
    fn clone(&self) -> Self {
        Owned {
            service: self.service.clone(),
            manager: self.manager.clone(),
            identity: self.identity.clone(),
            most: self.most,
            owners: self.owners.clone(),
        }
    }
}

impl<H: ServerHandler, I> Owned<H, I> {
    /// At most `most` sessions for each caller.
    pub(super) fn new(
        service: StreamableHttpService<H, LocalSessionManager>,
        manager: Arc<LocalSessionManager>,
        identity: I,
        most: usize,
    ) -> Owned<H, I> {
        Owned {
            service,
            manager,
            identity,
            most: most.max(1),
            owners: Arc::default(),
        }
    }

    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a caller may use a session. One that nobody knows is for the protocol to refuse.
    fn admits(&self, session: &str, identity: &Option<Arc<str>>) -> bool {
        match self.owners().sessions.get_mut(session) {
            Some(owner) if owner.identity == *identity => {
                owner.used = Instant::now();
                true
            }
            Some(_) => false,
            None => true,
        }
    }

    /// Takes down who began a session, and ends those that are too many.
    async fn began(&self, session: String, identity: Option<Arc<str>>) {
        let full = {
            let mut owners = self.owners();
            let owner = Owner {
                identity: identity.clone(),
                used: Instant::now(),
            };
            owners.sessions.insert(session, owner);
            owners.sessions.len() > owners.prune_at.max(PRUNE)
        };
        if full {
            let alive: Vec<String> = {
                let sessions = self.manager.sessions.read().await;
                sessions.keys().map(|id| id.to_string()).collect()
            };
            let mut owners = self.owners();
            owners.sessions.retain(|id, _| alive.contains(id));
            owners.prune_at = owners.sessions.len().saturating_mul(2);
        }
        for session in self.too_many(&identity) {
            // One that ended meanwhile is ended.
            let _ = self.manager.close_session(&session.into()).await;
        }
    }

    /// Takes the sessions of a caller off that are too many, those used longest ago.
    fn too_many(&self, identity: &Option<Arc<str>>) -> Vec<String> {
        let mut owners = self.owners();
        let own = owners.sessions.iter();
        let own = own.filter(|(_, owner)| owner.identity == *identity);
        let mut own: Vec<(Instant, String)> =
            own.map(|(id, owner)| (owner.used, id.clone())).collect();
        let surplus = own.len().saturating_sub(self.most);
        if surplus > 0 {
            own.sort();
        }
        let over: Vec<String> = own.into_iter().take(surplus).map(|(_, id)| id).collect();
        for id in &over {
            owners.sessions.remove(id);
        }
        over
    }
}

impl<H, I> Owned<H, I>
where
    H: ServerHandler,
    I: Fn(&Extensions) -> Option<Arc<str>> + Clone + Send + Sync + 'static,
{
    async fn handle(self, request: Request<Body>) -> Response<Body> {
        let identity = (self.identity)(request.extensions());
        let header = request.headers().get(SESSION);
        let session = header
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        if let Some(session) = &session {
            if !self.admits(session, &identity) {
                // As for a session that does not exist: nobody learns that another's does.
                return (StatusCode::NOT_FOUND, "Not Found: Session not found").into_response();
            }
            if request.method() == Method::DELETE {
                self.owners().sessions.remove(session);
            }
        }
        let ends = request.method() == Method::DELETE;
        let mut response = self.service.handle(request).await;
        if ends && response.status() == StatusCode::ACCEPTED {
            // There is nothing more to come: some clients take "accepted" for a failure.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        let begun = response
            .headers()
            .get(SESSION)
            .filter(|_| session.is_none());
        let begun = begun
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        if let Some(begun) = begun {
            self.began(begun, identity).await;
        }
        response.map(Body::new)
    }
}

impl<H, I> tower::Service<Request<Body>> for Owned<H, I>
where
    H: ServerHandler,
    I: Fn(&Extensions) -> Option<Arc<str>> + Clone + Send + Sync + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}
