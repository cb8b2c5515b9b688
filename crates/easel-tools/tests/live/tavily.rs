//! Tavily's search and extraction, against a server on this machine.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use easel_core::{Object, Value};
use easel_secrets::{Gate, Opened, Resolver, Sink, SinkKind};
use easel_tools::ToolError;
use easel_tools::guard::Allow;
use easel_tools::live::{self, HttpConfig, SearchConfig};
use easel_tools::search::{SearchRequest, providers};
use serde_json::json;

use crate::server::{Server, respond};

async fn ask(server: &Server, request: SearchRequest) -> Result<Vec<Value>, ToolError> {
    let http = HttpConfig {
        allow: Allow::parse([server.address.to_string().as_str()]).unwrap(),
        ..HttpConfig::default()
    };
    let mut search = SearchConfig {
        pause: Duration::ZERO,
        ..SearchConfig::default()
    };
    for provider in [providers::TAVILY_SEARCH, providers::TAVILY_EXTRACT] {
        search.set_address(provider, &server.url("/")).unwrap();
    }
    let world = live::world(http, search).unwrap();
    Arc::clone(&world.search)
        .search(request)
        .await
        .map(|found| found.results)
}

fn request(provider: &str, subject: serde_json::Value) -> SearchRequest {
    SearchRequest {
        provider: provider.into(),
        subject: subject.into(),
        parameters: Object::new(),
        api_key: Some(key("tvly-key")),
    }
}

pub fn key(value: &str) -> Opened {
    let gate = Gate::new("run-1", Resolver::default());
    let door = gate.door(Sink::new(SinkKind::Tool, "tavily", "X"));
    door.literal("api_key", value).unwrap()
}

async fn answering(status: u16, body: &'static str) -> Server {
    Server::start(move |_| respond(status, ("content-type", "application/json"), body)).await
}

#[tokio::test]
async fn a_search_sends_the_nodes_parameters_and_the_key() {
    let server = answering(
        200,
        r#"{"answer": null, "results": [{"title": "T", "score": 0.5}]}"#,
    )
    .await;
    let mut asked = request(providers::TAVILY_SEARCH, json!("the sun"));
    asked.parameters = Value::from(json!({
        "search_depth": "advanced", "max_results": 6, "include_raw_content": true, "include_images": true,
        "include_domains": ["a.example"], "api_key": "elsewhere", "days": null,
    }))
    .as_object()
    .unwrap()
    .clone();
    let found = ask(&server, asked).await.unwrap();
    assert_eq!(found, [Value::from(json!({"title": "T", "score": 0.5}))]);
    let seen = &server.seen()[0];
    assert_eq!(
        (&seen["method"], &seen["uri"]),
        (&json!("POST"), &json!("/search"))
    );
    assert_eq!(seen["headers"]["authorization"], "Bearer tvly-key");
    let body: serde_json::Value = serde_json::from_str(seen["body"].as_str().unwrap()).unwrap();
    assert_eq!(
        body,
        json!({
            "search_depth": "advanced", "max_results": 6, "include_domains": ["a.example"], "query": "the sun",
            "include_raw_content": false, "include_images": false,
        })
    );
}

#[tokio::test]
async fn an_extraction_takes_a_list_or_a_text_with_commas() {
    let server = answering(
        200,
        r#"{"results": [{"url": "http://e.com/a", "raw_content": "page"}]}"#,
    )
    .await;
    for subject in [
        json!(["http://e.com/a", "http://e.com/b"]),
        json!("http://e.com/a, http://e.com/b,"),
    ] {
        let found = ask(&server, request(providers::TAVILY_EXTRACT, subject))
            .await
            .unwrap();
        assert_eq!(found.len(), 1);
    }
    for seen in server.seen() {
        assert_eq!(seen["uri"], "/extract");
        let body: serde_json::Value = serde_json::from_str(seen["body"].as_str().unwrap()).unwrap();
        assert_eq!(
            body,
            json!({"urls": ["http://e.com/a", "http://e.com/b"], "include_images": false})
        );
    }
}

#[tokio::test]
async fn a_refusal_is_told_in_the_providers_words() {
    let server = answering(
        401,
        r#"{"detail": {"error": "Unauthorized: missing or invalid API key."}}"#,
    )
    .await;
    let error = ask(&server, request(providers::TAVILY_SEARCH, json!("x")))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tavily_search answered with status 401: Unauthorized: missing or invalid API key."
    );
    assert!(!error.retryable());

    let server = answering(429, "slow down").await;
    let error = ask(&server, request(providers::TAVILY_SEARCH, json!("x")))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tavily_search answered with status 429: slow down"
    );
    assert!(error.retryable() && error.certain_nothing_sent());
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_malformed() {
    for body in [
        "",
        "<html>",
        "[]",
        r#"{"results": "none"}"#,
        r#"{"result": []}"#,
    ] {
        let server = answering(200, body).await;
        let error = ask(&server, request(providers::TAVILY_SEARCH, json!("x")))
            .await
            .unwrap_err();
        assert!(
            matches!(error, ToolError::Malformed { .. }),
            "{body:?}: {error}"
        );
    }
}

#[tokio::test]
async fn nothing_is_sent_without_key_query_or_a_known_provider() {
    let server = Server::start(|_| Response::new(Body::empty())).await;
    let mut keyless = request(providers::TAVILY_SEARCH, json!("x"));
    keyless.api_key = Some(key(" "));
    let error = ask(&server, keyless).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tavily_search cannot be used: it has no API key: set api_key"
    );
    for subject in [json!(""), json!(null), json!(["x"])] {
        let error = ask(&server, request(providers::TAVILY_SEARCH, subject))
            .await
            .unwrap_err();
        assert!(matches!(error, ToolError::InvalidRequest { .. }), "{error}");
    }
    let error = ask(&server, request(providers::TAVILY_EXTRACT, json!([])))
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::InvalidRequest { .. }), "{error}");
    let error = ask(&server, request("altavista_search", json!("x")))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("search with altavista_search is not available yet: "),
        "{error}"
    );
    assert!(server.seen().is_empty());
}
