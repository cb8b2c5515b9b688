//! The description of all routes, against the routes.

mod page;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::client::Client;
use super::support::TestServer;

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "patch", "head", "options"];

/// The description, and every method and path in it.
pub async fn description(server: &TestServer) -> (Json, BTreeSet<(String, String)>) {
    let (status, described) = Client::of(server).get("/openapi.json").await;
    assert_eq!(status, 200);
    let mut all = BTreeSet::new();
    for (path, item) in described["paths"].as_object().unwrap() {
        let methods = METHODS.into_iter().filter(|m| item[*m].is_object());
        all.extend(methods.map(|method| (method.to_owned(), path.clone())));
    }
    (described, all)
}

/// Every method and path of the router, as its `Debug` shows them: there is no other way to ask it.
fn routed(server: &TestServer) -> BTreeSet<(String, String)> {
    let shown = format!("{:?}", easel_server::router(server.app.clone()));
    let shown = shown.split("fallback_router").next().unwrap();
    let paths = shown.split("RouteId(").skip(1).filter_map(|rest| {
        let (id, rest) = rest.split_once("): ")?;
        let id: u32 = id.parse().ok()?;
        Some((id, rest))
    });
    let mut of_path = std::collections::BTreeMap::new();
    let mut methods = std::collections::BTreeMap::new();
    for (id, rest) in paths {
        if let Some(path) = rest.strip_prefix('"') {
            of_path.insert(id, path.split('"').next().unwrap().to_owned());
        } else {
            methods.insert(id, allowed(rest));
        }
    }
    assert!(
        !of_path.is_empty(),
        "axum shows its routes otherwise by now"
    );
    let mut all = BTreeSet::new();
    for (id, path) in of_path {
        // What answers that there is nothing is no route.
        if path.contains("{*") {
            continue;
        }
        let methods = methods.get(&id).cloned().unwrap_or_default();
        all.extend(methods.into_iter().map(|method| (method, path.clone())));
    }
    all
}

/// The methods that an endpoint answers.
fn allowed(endpoint: &str) -> Vec<String> {
    let head = endpoint.split("fallback").next().unwrap_or(endpoint);
    let known = METHODS.into_iter().filter(|method| {
        let name = format!("{method}: ");
        let mut at = head.split(&name).skip(1);
        at.any(|rest| !rest.starts_with("None"))
    });
    known.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_described_and_every_description_has_its_route() {
    let server = TestServer::start().await;
    let (_, described) = description(&server).await;
    let routed = routed(&server);
    if std::env::var_os("EASEL_SHOW_ROUTES").is_some() {
        eprintln!("{:?}", easel_server::router(server.app.clone()));
    }
    let described: BTreeSet<_> = described.into_iter().filter(|(_, p)| p != "/mcp").collect();
    let routed: BTreeSet<_> = routed.into_iter().filter(|(_, p)| p != "/mcp").collect();
    let missing: Vec<_> = routed.difference(&described).collect();
    let beyond: Vec<_> = described.difference(&routed).collect();
    assert!(missing.is_empty(), "not described: {missing:?}");
    assert!(beyond.is_empty(), "described and not there: {beyond:?}");
    assert!(routed.len() > 25, "{routed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_says_what_it_is_and_what_it_gives() {
    let server = TestServer::start().await;
    let (described, all) = description(&server).await;
    let mut ids = BTreeSet::new();
    for (method, path) in all {
        let operation = &described["paths"][&path][&method];
        let of = format!("{method} {path}");
        assert!(operation["summary"].is_string(), "{of} has no summary");
        assert!(operation["tags"][0].is_string(), "{of} has no tag");
        assert!(
            !operation["responses"].as_object().unwrap().is_empty(),
            "{of}"
        );
        let id = operation["operationId"].as_str().unwrap().to_owned();
        assert!(ids.insert(id), "{of} has the id of another");
        let names = path
            .split('{')
            .skip(1)
            .map(|rest| rest.split('}').next().unwrap());
        let parameters = operation["parameters"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for name in names {
            let told = parameters
                .iter()
                .any(|p| p["name"] == name && p["in"] == "path");
            assert!(told, "{of} does not describe {name}");
        }
    }
    let text = described.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        let there = described["components"]["schemas"][name].is_object();
        assert!(there, "there is no schema {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_page_of_the_book_is_what_the_server_says() {
    let server = TestServer::start().await;
    let (described, _) = description(&server).await;
    let page = page::page(&described);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    if std::env::var_os("EASEL_WRITE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/api.md is not what the server says: EASEL_WRITE=1 cargo test -p easel-server --test server api_page"
    );
}
