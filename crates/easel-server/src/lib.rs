//! Easel over HTTP: agents, conversations, runs, webhooks, OpenAI and MCP.
//!
//! [`App`] is what all routes share, [`router`] the routes, [`serve::serve`] the loop that answers connections. What a
//! route may do is said by its [`auth::Caller`]; what runs, runs in the [`host::Host`].
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod auth;
pub mod files;
pub mod health;
pub mod host;
pub mod local;
pub mod mcp;
pub mod openai;
pub mod openapi;
mod patience;
pub mod ragflow;
pub mod rate;
mod retold;
pub mod serve;
pub mod settings;
pub mod telemetry;
pub mod templates;
mod unknown;
pub mod v1;
pub mod webhook;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use tokio_util::sync::CancellationToken;

pub use settings::Settings;

use auth::Doorkeeper;
use host::Host;

/// What all routes share.
pub struct App {
    /// Drives runs.
    pub host: Arc<Host>,
    /// How the server is set up.
    pub settings: Settings,
    /// Who may come in.
    pub(crate) doorkeeper: Doorkeeper,
    /// The description of all routes, as JSON.
    pub(crate) description: std::sync::OnceLock<bytes::Bytes>,
    /// Cancelled when the server is about to end its connections: clients that are cut off then leave their runs going.
    pub(crate) closing: CancellationToken,
    /// How often webhooks were called.
    pub(crate) webhooks: rate::Buckets,
}

impl App {
    /// By what commands on the same machine are known while this server holds the data folder. For them alone.
    pub fn local_token(&self) -> &str {
        self.doorkeeper.token()
    }

    /// Whether requests need a key: true once one was made.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn needs_key(&self) -> Result<bool, auth::Refused> {
        self.doorkeeper.is_locked().await
    }

    /// A server over a host.
    pub fn new(host: Arc<Host>, settings: Settings) -> Arc<App> {
        let doorkeeper = Doorkeeper::new(host.store().clone(), &settings);
        Arc::new(App {
            host,
            settings,
            doorkeeper,
            description: std::sync::OnceLock::new(),
            closing: CancellationToken::new(),
            webhooks: rate::Buckets::default(),
        })
    }
}

/// All routes.
pub fn router(app: Arc<App>) -> Router {
    let limit = DefaultBodyLimit::max(app.settings.body_limit);
    let cors = serve::cors(&app.settings);
    let metrics = app.host.telemetry().metrics().clone();
    let (router, description) = openapi::describe([
        health::routes(),
        v1::routes(),
        mcp::routes(&app).into(),
        telemetry::routes().into(),
        ragflow::routes(&app.settings).into(),
        openai::routes().into(),
        webhook::routes().into(),
    ]);
    let description = serde_json::to_vec(&description).unwrap_or_default();
    let _ = app.description.set(description.into());
    let patience = app.settings.body_time;
    let slow = move |request, next| patience::bound(patience, request, next);
    let router = router
        .fallback(unknown::path)
        .method_not_allowed_fallback(unknown::method)
        .layer(limit)
        .layer(from_fn(slow))
        .layer(from_fn_with_state(metrics, telemetry::count));
    let router = match cors {
        Some(cors) => router.layer(cors),
        None => router,
    };
    router.with_state(app)
}
