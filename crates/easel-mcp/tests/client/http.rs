//! A server of streamable HTTP.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{LOCATION, WWW_AUTHENTICATE};
use axum::routing::any;
use easel_core::Object;
use easel_tools::mcp::{McpReach, McpServer, McpServers, with_secrets};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::server::Server;
use crate::{call, clients, listed, said, visit};

/// Serves, and gives the address.
async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/mcp")
}

/// A server of MCP. `sessions`: it keeps some.
async fn mcp(sessions: bool) -> String {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = sessions;
    let server = Server::default();
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    serve(Router::new().nest_service("/mcp", service)).await
}

fn at(url: &str, trusted: bool) -> McpServer {
    let reach = McpReach::Http {
        url: url.to_owned(),
        headers: vec![("Authorization".into(), with_secrets("Bearer k"))],
        trusted,
    };
    McpServer::new("tested", reach)
}

#[tokio::test]
async fn its_tools_are_listed_and_called_with_and_without_sessions() {
    for sessions in [true, false] {
        let clients = clients(vec![at(&mcp(sessions).await, true)], &[]);
        assert_eq!(listed(&clients).await.len(), 9);
        assert_eq!(said(&clients, "a", "count").await, "1");
        assert_eq!(said(&clients, "a", "headers").await, "Bearer k");
    }
}

#[tokio::test]
async fn an_address_of_a_workflow_goes_through_the_guard() {
    let url = mcp(true).await;
    let guarded = clients(vec![at(&url, false)], &[]);
    let refused = call(&guarded, "a", "count", Object::new())
        .await
        .unwrap_err();
    assert_eq!(refused.code(), "tool.blocked");
    let allowed = clients(vec![at(&url, false)], &["127.0.0.1"]);
    assert_eq!(said(&allowed, "a", "count").await, "1");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let inside = mcp(true).await;
    let elsewhere = Router::new().route(
        "/mcp",
        any(move || async move { (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, inside)]) }),
    );
    let clients = clients(vec![at(&serve(elsewhere).await, true)], &[]);
    let refused = call(&clients, "a", "count", Object::new())
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("307"), "{refused}");
}

#[tokio::test]
async fn a_server_that_wants_a_key_says_so_in_our_words() {
    let closed = Router::new().route(
        "/mcp",
        any(|| async { (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]) }),
    );
    let clients = clients(vec![at(&serve(closed).await, true)], &[]);
    let refused = call(&clients, "a", "count", Object::new())
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("wants to know who asks"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_page_that_is_no_mcp_server_and_a_closed_port_are_told_apart() {
    let page = Router::new().route("/mcp", any(|| async { "<h1>Hello</h1>" }));
    let page = clients(vec![at(&serve(page).await, true)], &[]);
    let told = call(&page, "a", "count", Object::new()).await.unwrap_err();
    assert!(
        told.to_string()
            .starts_with("no connection to the MCP server tested: "),
        "{told}"
    );

    let nobody = clients(vec![at("http://127.0.0.1:9/mcp", true)], &[]);
    let told = call(&nobody, "a", "count", Object::new())
        .await
        .unwrap_err();
    assert_eq!(
        told.to_string(),
        "no connection to the MCP server tested: Connection refused (os error 111)"
    );
}

#[tokio::test]
async fn a_workflow_cannot_get_at_a_connection_by_the_name_of_its_server() {
    let url = mcp(true).await;
    let clients = clients(vec![at(&url, true)], &[]);
    assert_eq!(said(&clients, "a", "count").await, "1");
    // The same name, conversation and headers, and what stands in the workflow goes through the guard all the same.
    let own = visit(&Arc::new(at(&url, false)), "a");
    let refused = clients.tools(own).await.unwrap_err();
    assert_eq!(refused.code(), "tool.blocked");
}
