//! What nobody serves.

use reqwest::{Method, StatusCode};

use super::client::Client;
use super::support::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn a_path_or_a_method_that_nobody_knows_is_told_what_there_is() {
    let server = TestServer::start().await;
    let client = Client::of(&server);
    let (status, body) = client.get("/api/v1/nowhere").await;
    assert_eq!(
        (status, &body["code"]),
        (StatusCode::NOT_FOUND, &404.into())
    );
    let message = body["message"].as_str().unwrap();
    assert!(message.contains("/api/v1/nowhere"), "{message}");
    let (status, body) = client.ask(Method::PATCH, "/v1/runs").await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(body["error"]["code"], "method_not_allowed");
}
