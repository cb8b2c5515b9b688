//! The servers of a deployment, and the ways to them.

use std::sync::Arc;

use easel_tools::ToolError;
use easel_tools::live::LiveHttp;
use easel_tools::mcp::{McpAnswer, McpCall, McpServer, McpServers, McpTool, McpVisit};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::connection::Connection;
use crate::pool::Pool;

/// A client of all MCP servers of a deployment, and of those that workflows bring.
///
/// Needs a tokio runtime with I/O and time around each call.
pub struct McpClients {
    servers: Vec<Arc<McpServer>>,
    http: LiveHttp,
    pool: Arc<Pool>,
}

impl McpClients {
    /// A client that has connected to none of them yet. Servers of streamable HTTP are reached through `http`, and those
    /// that workflows bring through its guard.
    pub fn new(servers: Vec<McpServer>, http: LiveHttp) -> McpClients {
        McpClients {
            servers: servers.into_iter().map(Arc::new).collect(),
            http,
            pool: Arc::default(),
        }
    }

    /// Ends all connections, and with them the programs behind them.
    pub async fn close(&self) {
        for connection in self.pool.empty() {
            connection.close().await;
        }
    }

    /// Does something with the connection of a visit. If nothing of it can have reached the server, as when the
    /// connection had ended in the meantime, it is done once more with a new one.
    async fn with<T>(
        &self,
        visit: &McpVisit,
        work: impl Fn(Arc<Connection>) -> BoxFuture<'static, Result<T, ToolError>> + Send + Sync,
    ) -> Result<T, ToolError> {
        let slot = self.pool.slot(visit)?;
        let (connection, fresh) = slot.connection(&self.http, visit).await?;
        let done = work(connection.clone()).await;
        let Err(error) = done else { return done };
        if connection.is_over() {
            slot.let_go_of(&connection).await;
            if !fresh && error.certain_nothing_sent() {
                let (connection, _) = slot.connection(&self.http, visit).await?;
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
