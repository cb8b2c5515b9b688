//! Our own API as its clients use it.

mod looking;
mod memories;
mod steering;
mod workflows;

use reqwest::StatusCode;
use serde_json::{Value as Json, json};

use super::client::Client;
use super::support::TestServer;

/// A server, and somebody on the same machine.
async fn local() -> (TestServer, Client) {
    let server = TestServer::start().await;
    let client = Client::of(&server);
    (server, client)
}

/// A run of a canvas that has come to the end of its turn.
async fn run_of(server: &TestServer, client: &Client, canvas: &Json, body: &Json) -> Json {
    let title = format!("agent {}", easel_server::host::new_id());
    let agent = server.agent("local", &title, canvas).await;
    let mut body = body.clone();
    body["wait"] = json!(true);
    let (status, run) = client
        .post(&format!("/v1/agents/{agent}/runs"), &body)
        .await;
    assert_eq!(status, StatusCode::OK, "{run}");
    run
}
