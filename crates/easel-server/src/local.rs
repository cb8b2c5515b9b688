//! The API for commands on the same machine: through the server that holds the data folder, or without one in the command's
//! own process. The answers are the same.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use easel_runtime::Engine;
use easel_store::Store;
use serde_json::Value as Json;
use tower::ServiceExt;

use crate::auth::{Caller, OWNER_HEADER, Scope};
use crate::host::{Host, HostError, HostLimits};
use crate::{App, Settings, router};

/// A request of a command.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The method.
    pub method: Method,
    /// The path, with its query.
    pub path: String,
    /// On whose behalf.
    pub owner: Arc<str>,
    /// The body.
    pub body: Option<Json>,
}

impl Ask {
    /// A request that reads.
    pub fn get(owner: &Arc<str>, path: String) -> Ask {
        Ask {
            method: Method::GET,
            path,
            owner: owner.clone(),
            body: None,
        }
    }

    /// A request that does something.
    pub fn post(owner: &Arc<str>, path: String, body: Option<Json>) -> Ask {
        Ask {
            method: Method::POST,
            path,
            owner: owner.clone(),
            body,
        }
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body; `null` if there was none.
    pub body: Json,
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// Nobody listens where the server was.
    #[error("no server answers at {0}")]
    Gone(SocketAddr),
    /// The connection broke.
    #[error("the server at {address} did not answer: {cause}")]
    Broken {
        /// Where it is.
        address: SocketAddr,
        /// What went wrong.
        cause: String,
    },
    /// What came back is not what this version understands.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
}

/// A server that runs in this process and listens to nobody.
pub struct Here {
    router: Router,
    host: Arc<Host>,
}

impl Here {
    /// Over a store, with an engine whose journal is that store.
    pub fn over(store: &Store, engine: Arc<Engine>) -> Here {
        let host = Host::new(store.clone(), engine, HostLimits::default());
        let router = router(App::new(host.clone(), Settings::default()));
        Here { router, host }
    }

    /// Says to servers on the same database that it is there: to be done before it drives anything.
    ///
    /// # Errors
    /// [`HostError`] if the store cannot be written.
    pub async fn attend(&self) -> Result<(), HostError> {
        self.host.attend().await
    }

    /// Asks it.
    ///
    /// # Errors
    /// [`NoAnswer::Unreadable`].
    pub async fn ask(&self, ask: Ask) -> Result<Answer, NoAnswer> {
        let caller = Caller {
            owner: ask.owner,
            key: "local".into(),
            scopes: Scope::ALL.to_vec(),
        };
        let body = match &ask.body {
            Some(body) => Body::from(body.to_string()),
            None => Body::empty(),
        };
        let mut request = Request::builder().method(ask.method).uri(&ask.path);
        request = request.header(header::ACCEPT, "application/json");
        if ask.body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request.extension(caller).body(body);
        let request = request.map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
        let Ok(response) = self.router.clone().oneshot(request).await;
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), usize::MAX).await;
        let bytes = bytes.map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
        read(status, &bytes)
    }
}

/// The server that holds a data folder.
pub struct Remote {
    address: SocketAddr,
    token: String,
    client: reqwest::Client,
}

impl Remote {
    /// The server there, which lets in whoever knows that token.
    ///
    /// # Errors
    /// [`NoAnswer::Broken`] if this machine cannot make connections.
    pub fn at(address: SocketAddr, token: String) -> Result<Remote, NoAnswer> {
        // Another one that is there already does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build();
        let client = client.map_err(|error| NoAnswer::Broken {
            address,
            cause: error.to_string(),
        })?;
        Ok(Remote {
            address,
            token,
            client,
        })
    }

    /// Asks it.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub async fn ask(&self, ask: Ask) -> Result<Answer, NoAnswer> {
        let url = format!("http://{}{}", self.address, ask.path);
        let mut request = self
            .client
            .request(ask.method, url)
            .bearer_auth(&self.token)
            .header(OWNER_HEADER, &*ask.owner)
            .header(header::ACCEPT, "application/json");
        if let Some(body) = &ask.body {
            request = request
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        let broken = |error: reqwest::Error| match error.is_connect() {
            true => NoAnswer::Gone(self.address),
            false => NoAnswer::Broken {
                address: self.address,
                cause: error.to_string(),
            },
        };
        let response = request.send().await.map_err(broken)?;
        let status = response.status().as_u16();
        read(status, &response.bytes().await.map_err(broken)?)
    }
}

fn read(status: u16, bytes: &[u8]) -> Result<Answer, NoAnswer> {
    if bytes.is_empty() {
        return Ok(Answer {
            status,
            body: Json::Null,
        });
    }
    match serde_json::from_slice(bytes) {
        Ok(body) => Ok(Answer { status, body }),
        Err(error) => Err(NoAnswer::Unreadable(format!("status {status}: {error}"))),
    }
}
