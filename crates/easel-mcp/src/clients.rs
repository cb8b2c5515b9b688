//! The servers of a deployment, and the ways to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use easel_tools::ToolError;
use easel_tools::live::LiveHttp;
use easel_tools::mcp::{McpAnswer, McpCall, McpReach, McpServer, McpServers, McpTool, McpVisit};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::connection::Connection;
use crate::greeting;
use crate::pool::{Pool, locked};
use crate::sign_in::{Credentials, Kept, SignIn};
use crate::trouble;

/// A client of all MCP servers of a deployment, and of those that workflows bring.
///
/// Needs a tokio runtime with I/O and time around each call.
pub struct McpClients {
    servers: Vec<Arc<McpServer>>,
    http: LiveHttp,
    pool: Arc<Pool>,
    signed_in: Option<SignedIn>,
}

/// What came of signing in to servers.
struct SignedIn {
    credentials: Arc<dyn Credentials>,
    renewing: Mutex<HashMap<Arc<str>, Arc<tokio::sync::Mutex<()>>>>,
}

impl McpClients {
    /// A client that has connected to none of them yet. Servers of streamable HTTP are reached through `http`, and those
    /// that workflows bring through its guard.
    pub fn new(servers: Vec<McpServer>, http: LiveHttp) -> McpClients {
        McpClients {
            servers: servers.into_iter().map(Arc::new).collect(),
            http,
            pool: Arc::default(),
            signed_in: None,
        }
    }

    /// The same, with what came of signing in to servers.
    pub fn signed_in(self, credentials: Arc<dyn Credentials>) -> McpClients {
        McpClients {
            signed_in: Some(SignedIn {
                credentials,
                renewing: Mutex::default(),
            }),
            ..self
        }
    }

    /// Begins to sign in to a server; the browser is sent to `redirect` with what comes of it.
    ///
    /// # Errors
    /// It is a program, or a server that does not say where one signs in.
    pub async fn sign_in(&self, visit: &McpVisit, redirect: &str) -> Result<SignIn, ToolError> {
        let server = &visit.server;
        let (McpReach::Http { url, .. }, Some(kept)) = (&server.reach, self.kept(server)) else {
            return Err(ToolError::InvalidRequest {
                what: format!("signing in to {}", trouble::called(server)),
                problem: "one signs in to addresses alone; a program gets what it needs under env"
                    .to_owned(),
            });
        };
        let challenge = greeting::challenge(&self.http, visit).await?;
        SignIn::begin(server.clone(), url, kept, challenge, redirect).await
    }

    /// What is kept for a server of the deployment.
    fn kept(&self, server: &McpServer) -> Option<Kept> {
        let signed_in = self.signed_in.as_ref()?;
        let McpReach::Http { trusted: true, .. } = &server.reach else {
            return None;
        };
        let mut renewing = locked(&signed_in.renewing);
        Some(Kept {
            server: server.name.clone(),
            credentials: signed_in.credentials.clone(),
            renewing: renewing.entry(server.name.clone()).or_default().clone(),
        })
    }

    /// Ends all connections, and with them the programs behind them.
    pub async fn close(&self) {
        for connection in self.pool.empty() {
            connection.close().await;
        }
    }

    /// Connects, signed in if somebody has.
    async fn open(&self, visit: &McpVisit) -> Result<Connection, ToolError> {
        let kept = self
            .kept(&visit.server)
            .filter(|kept| kept.token().is_some());
        Connection::open(&self.http, visit, kept).await
    }

    /// Does something with the connection of a visit. If nothing of it can have reached the server, as when the
    /// connection had ended in the meantime, it is done once more with a new one.
    async fn with<T>(
        &self,
        visit: &McpVisit,
        work: impl Fn(Arc<Connection>) -> BoxFuture<'static, Result<T, ToolError>> + Send + Sync,
    ) -> Result<T, ToolError> {
        let slot = self.pool.slot(visit)?;
        let (connection, fresh) = slot.connection(|| self.open(visit)).await?;
        let done = work(connection.clone()).await;
        let Err(error) = done else { return done };
        if connection.is_over() {
            slot.let_go_of(&connection).await;
            if !fresh && error.certain_nothing_sent() {
                let (connection, _) = slot.connection(|| self.open(visit)).await?;
                return work(connection).await;
            }
        }
        Err(error)
    }
}

impl McpServers for McpClients {
    fn servers(&self) -> &[Arc<McpServer>] {
        &self.servers
    }

    fn tokens(&self, server: &McpServer) -> Vec<String> {
        let kept = self.kept(server);
        kept.and_then(|kept| kept.token()).into_iter().collect()
    }

    fn tools(&self, visit: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>> {
        async move {
            let list = |at: Arc<Connection>| async move { at.tools().await }.boxed();
            let listed = self.with(&visit, list).await?;
            let offered = listed.iter().filter(|tool| visit.server.offers(&tool.name));
            Ok(offered.cloned().collect())
        }
        .boxed()
    }

    fn call(&self, visit: McpVisit, call: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>> {
        async move {
            let make = |at: Arc<Connection>| {
                let call = call.clone();
                async move { at.call(&call).await }.boxed()
            };
            self.with(&visit, make).await
        }
        .boxed()
    }
}
