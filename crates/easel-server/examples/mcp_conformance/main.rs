//! The server that the MCP conformance suite judges: Easel's MCP server with the tools that the suite asks for.
//!
//! What agents can do (texts, images, failures, progress, questions) is served by [`agents`] through the same trait as real
//! agents. What Easel has no use for and the suite asks for (prompts, resources, sampling, roots, logging) is added by
//! [`everything`] around the server, so that the transport below is judged with it. `tests/clients/mcp.sh` runs it.
#![expect(
    deprecated,
    reason = "the suite judges revisions that have sampling, logging and subscriptions"
)]

mod agents;
mod everything;
mod extras;

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use easel_server::mcp::{self, McpServer, Options};
use tokio::net::TcpListener;

use agents::{Fixture, Judge};
use everything::{Everything, Lists};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listen = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let options = Options {
        // Calls are short here, but for those that the suite wants as tasks.
        patience: Duration::from_millis(400),
        ..Options::default()
    };
    let fixture = Arc::new(Fixture::default());
    let lists = Lists::default();
    let (patience, closing) = (options.patience, options.closing.clone());
    let server = move || {
        let inner = McpServer::new(fixture.clone(), patience, closing.clone());
        Everything::new(inner, lists.clone())
    };
    let router = mcp::router_of(server, |_| Some("judge".into()), &options).layer(Extension(Judge));
    let listener = TcpListener::bind(&listen).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}
