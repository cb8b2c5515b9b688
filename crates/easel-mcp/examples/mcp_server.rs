//! An MCP server on standard input and output, for the tests.
//!
//! With the argument `mute` it complains and ends without an answer.

#[path = "../tests/client/server.rs"]
mod server;

use rmcp::ServiceExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("mute") {
        eprintln!("There is no key, so I do not begin.");
        return Ok(());
    }
    let serving = server::Server::default()
        .serve(rmcp::transport::stdio())
        .await?;
    serving.waiting().await?;
    Ok(())
}
