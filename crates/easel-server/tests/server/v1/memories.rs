//! What agents remember, as its owner sees it.

use easel_store::{MemoryOf, NewExchange};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::client::Client;
use crate::support::TestServer;

/// Has something remembered of a user.
async fn remember(server: &TestServer, owner: &str, user: &str, memory: &str, text: &str) {
    let whose = MemoryOf {
        owner: owner.into(),
        agent: "agent".into(),
        user: user.into(),
        session: "talk".into(),
        memory: memory.into(),
    };
    let exchange = NewExchange {
        key: text.into(),
        user_input: text.into(),
        agent_response: "yes".into(),
    };
    server.store.remember(whose, exchange).await.unwrap();
}

/// What users said, as a list shows it.
async fn said(client: &Client, query: &str) -> Vec<String> {
    let (status, page) = client.get(&format!("/v1/memories?{query}")).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    let items = page["memories"].as_array().unwrap().iter();
    items
        .map(|kept| kept["user_input"].as_str().unwrap().to_owned())
        .collect()
}

async fn delete(client: &Client, path: &str) -> (StatusCode, Json) {
    let response = client.request(Method::DELETE, path).send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_remembered_is_listed_shown_and_forgotten() {
    let server = TestServer::start().await;
    let ada = server.key("ada", &["read", "write"]).await;
    let ada = Client::with_key(&server, &ada);
    remember(&server, "ada", "u1", "facts", "one").await;
    remember(&server, "ada", "u1", "tastes", "two").await;
    remember(&server, "ada", "u2", "facts", "three").await;
    remember(&server, "eve", "u1", "facts", "hers").await;
    assert_eq!(said(&ada, "").await, ["three", "two", "one"]);
    assert_eq!(said(&ada, "user=u1&memory=facts").await, ["one"]);
    assert_eq!(said(&ada, "agent=other").await, [""; 0]);
    let (_, page) = ada.get("/v1/memories?limit=2").await;
    let next = page["next"].as_str().unwrap();
    assert_eq!(said(&ada, &format!("cursor={next}")).await, ["one"]);
    let id = page["memories"][0]["id"].as_str().unwrap();
    let (status, kept) = ada.get(&format!("/v1/memories/{id}")).await;
    assert_eq!(
        (status, &kept["agent_response"]),
        (StatusCode::OK, &json!("yes"))
    );
    let (status, _) = delete(&ada, &format!("/v1/memories/{id}")).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, _) = delete(&ada, &format!("/v1/memories/{id}")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, refused) = delete(&ada, "/v1/memories").await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{refused}");
    let (_, forgotten) = delete(&ada, "/v1/memories?user=u1").await;
    assert_eq!(forgotten, json!({"deleted": 2}));
    assert_eq!(said(&ada, "").await, [""; 0]);
    let eve = server.key("eve", &["read"]).await;
    let eve = Client::with_key(&server, &eve);
    assert_eq!(said(&eve, "user=u1").await, ["hers"]);
    let (status, _) = delete(&eve, "/v1/memories?user=u1").await;
    assert_eq!(status, StatusCode::FORBIDDEN, "it may only look");
    for query in ["limit=0", "cursor=odd"] {
        let (status, _) = ada.get(&format!("/v1/memories?{query}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
    }
}
