//! Graphs that are kept by name, and their runs.

use reqwest::{Method, StatusCode};
use serde_json::json;

use super::local;
use crate::client::Client;
use crate::support::{TestServer, echo};

/// A graph that says what it is given, twice over.
const GRAPH: &str = "\
name: greet
description: Greets somebody.
inputs:
  - {name: topic, type: string}
nodes:
  - {id: second, kind: output, value: 'Hello {topic}!'}
";

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_is_kept_run_replaced_and_deleted() {
    let (_server, client) = local().await;
    let (status, made) = client
        .send(Method::POST, "/v1/workflows", "application/yaml", GRAPH)
        .await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(made["name"], "greet");
    assert_eq!(made["graph"]["nodes"][0]["id"], "second");
    assert_eq!(made["inputs"]["topic"]["type"], "string");
    assert_eq!(made["validation"]["ok"], true);

    let (status, again) = client
        .send(Method::POST, "/v1/workflows", "application/yaml", GRAPH)
        .await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(again["error"]["code"], "exists");

    let asked = json!({"inputs": {"topic": "Ada"}, "wait": true});
    let (status, run) = client.post("/v1/workflows/greet/runs", &asked).await;
    assert_eq!(status, StatusCode::OK, "{run}");
    assert_eq!(run["state"], "finished");
    assert_eq!(run["status"], "succeeded");
    assert_eq!(run["final"]["second"], "Hello Ada!");
    assert_eq!(run["workflow"], "greet");

    let (status, begun) = client
        .post(
            "/v1/workflows/greet/runs",
            &json!({"inputs": {"topic": "Bo"}}),
        )
        .await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let id = begun["id"].as_str().unwrap();
    client.watch(id, None).await;
    let (_, whole) = client.get(&format!("/v1/runs/{id}?events=true")).await;
    assert_eq!(whole["inputs"], json!({"topic": "Bo"}));
    assert_eq!(whole["nodes"]["second"]["output"], "Hello Bo!");
    assert_eq!(whole["nodes"]["second"]["status"], "ok");
    assert!(whole["events"].as_array().unwrap().len() > 3);

    let better = GRAPH.replace("Hello {topic}!", "Good day, {topic}.");
    let (status, _) = client
        .put("/v1/workflows/greet", &json!({"graph": better}))
        .await;
    assert_eq!(status, StatusCode::OK);
    let (_, run) = client.post("/v1/workflows/greet/runs", &asked).await;
    assert_eq!(run["final"]["second"], "Good day, Ada.");

    let (status, gone) = client.delete("/v1/workflows/greet").await;
    assert_eq!(
        (status, &gone["deleted"]),
        (StatusCode::OK, &json!("greet"))
    );
    let (status, _) = client.get("/v1/workflows/greet").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, _) = client.get(&format!("/v1/runs/{id}")).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "its runs went with it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_must_not_run_is_refused_with_what_the_check_says() {
    let (_server, client) = local().await;
    let broken = json!({"name": "broken", "graph": {"nodes": [
        {"id": "a", "kind": "output", "depends_on": ["nobody"], "value": "x"},
    ]}});
    let (status, refused) = client.post("/v1/workflows", &broken).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
    assert_eq!(refused["validation"]["ok"], false);
    assert!(
        refused["validation"]["errors"][0]["message"].is_string(),
        "{refused}"
    );
    let (status, report) = client.post("/v1/workflows/validate", &broken).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(report["errors"], refused["validation"]["errors"]);
    let (_, list) = client.get("/v1/workflows").await;
    assert_eq!(list["total"], 0);
    for (body, code) in [
        (json!({}), "no_graph"),
        (json!({"graph": 7}), "no_graph"),
        (
            json!({"graph": {"nodes": []}, "files": {"../x.py": "1"}}),
            "invalid",
        ),
        (json!({"graph": GRAPH, "name": "a/b"}), "name"),
        (json!({"graph": GRAPH, "name": "validate"}), "name"),
        (echo(), "no_graph"),
        (json!({"graph": echo()}), "canvas"),
    ] {
        let (status, refused) = client.post("/v1/workflows", &body).await;
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{body}: {refused}"
        );
        assert_eq!(refused["error"]["code"], code, "{body}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_comes_as_an_archive_as_a_form_and_file_by_file() {
    let (_server, client) = local().await;
    let files = [
        (
            "workflow.yaml",
            "name: packed\ndescription: A package.\ntags: [t]\n",
        ),
        ("graph.yaml", GRAPH),
        ("notes.py", "def f():\n    return 1\n"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let package = easel_runtime::graphs::package::Package::from_files(files).unwrap();
    let archive = package.to_archive().unwrap();
    let (status, made) = client
        .send(
            Method::POST,
            "/v1/workflows",
            "application/zip",
            archive.clone(),
        )
        .await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(
        (&made["name"], &made["tags"]),
        (&json!("packed"), &json!(["t"]))
    );
    assert_eq!(
        made["files"],
        json!(["graph.yaml", "notes.py", "workflow.yaml"])
    );

    let boundary = "b0undary";
    let mut form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nby form\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"package\"; filename=\"p.zip\"\r\n\r\n"
    )
    .into_bytes();
    form.extend_from_slice(&archive);
    form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    let media = format!("multipart/form-data; boundary={boundary}");
    let (status, made) = client
        .send(Method::POST, "/v1/workflows", &media, form)
        .await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(made["name"], "by form");
    let asked = json!({"inputs": {"topic": "Ada"}, "wait": true});
    let (_, run) = client.post("/v1/workflows/by%20form/runs", &asked).await;
    assert_eq!(run["final"]["second"], "Hello Ada!");

    let nameless = json!({"nodes": [{"id": "a", "kind": "output", "value": "b"}]});
    let body = json!({"name": "named here", "graph": nameless});
    let (status, made) = client.post("/v1/workflows", &body).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(made["graph"]["name"], "named here");

    let body = json!({"name": "in parts", "graph": GRAPH, "files": {"notes.py": "x = 1\n"}});
    let (status, made) = client.post("/v1/workflows", &body).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(
        made["files"],
        json!(["graph.yaml", "notes.py", "workflow.yaml"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_broken_workflow_does_not_keep_the_others_from_being_listed() {
    let (server, client) = local().await;
    client
        .send(Method::POST, "/v1/workflows", "application/yaml", GRAPH)
        .await;
    // As another version of Easel may have left it.
    let bytes = b"PK\x03\x04 and no archive".to_vec();
    let document = server
        .store
        .put_document(easel_store::Dialect::Graph, bytes)
        .await;
    let broken = easel_store::NewAgent {
        owner: "local".to_owned(),
        title: "broken".to_owned(),
        category: "workflow".to_owned(),
        dialect: Some(easel_store::Dialect::Graph),
        name: Some("broken".to_owned()),
        document: document.unwrap().to_string(),
        ..easel_store::NewAgent::default()
    };
    server.store.create_agent(broken).await.unwrap();
    let (status, list) = client.get("/v1/workflows").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(list["total"], 2);
    let of = |name: &str| {
        let all = list["workflows"].as_array().unwrap();
        all.iter().find(|w| w["name"] == name).unwrap().clone()
    };
    assert!(of("broken")["error"].is_string());
    assert!(of("greet")["error"].is_null());
    let (status, shown) = client.get("/v1/workflows/broken").await;
    assert_eq!(
        (status, &shown["validation"]["ok"]),
        (StatusCode::OK, &json!(false))
    );
    let (status, _) = client.post("/v1/workflows/broken/runs", &json!({})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_begin_says_why() {
    let (_server, client) = local().await;
    client
        .send(Method::POST, "/v1/workflows", "application/yaml", GRAPH)
        .await;
    let (status, _) = client.post("/v1/workflows/nobody/runs", &json!({})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    for body in [
        json!({"inputs": []}),
        json!({"inputs": 7}),
        json!({"nonsense": 1}),
    ] {
        let (status, refused) = client.post("/v1/workflows/greet/runs", &body).await;
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{body}: {refused}"
        );
    }
    let (status, refused) = client
        .post("/v1/workflows/greet/runs", &json!({"inputs": {}}))
        .await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
    assert_eq!(refused["error"]["code"], "inputs");
    let needy = "\
name: needy
nodes:
  - id: find
    kind: tool
    tools: [tavily_search]
    secrets: [EASEL_TEST_NO_SUCH_KEY]
    tool_args: {query: x, api_key: '${EASEL_TEST_NO_SUCH_KEY}'}
";
    client
        .send(Method::POST, "/v1/workflows", "application/yaml", needy)
        .await;
    let (_, needs) = client.get("/v1/workflows/needy/requirements").await;
    assert_eq!(needs["satisfied"], false, "{needs}");
    assert_eq!(needs["secrets"][0]["name"], "EASEL_TEST_NO_SUCH_KEY");
    assert_eq!(needs["secrets"][0]["state"], "missing");
    let (status, refused) = client.post("/v1/workflows/needy/runs", &json!({})).await;
    assert_eq!(status, StatusCode::PRECONDITION_REQUIRED, "{refused}");
    assert!(
        refused["requirements"][0]
            .as_str()
            .unwrap()
            .contains("EASEL_TEST_NO_SUCH_KEY")
    );
    let (_, runs) = client.get("/v1/runs").await;
    assert_eq!(runs["runs"], json!([]), "nothing of it was kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_is_shared_with_a_team_is_run_by_its_members_and_deleted_by_its_owner() {
    let server = TestServer::start().await;
    let scopes = ["read", "run", "write"];
    let ada = Client::with_key(&server, &server.key("ada", &scopes).await);
    let bo = Client::with_key(&server, &server.key("bo", &scopes).await);
    let (_, made) = ada
        .send(Method::POST, "/v1/workflows", "application/yaml", GRAPH)
        .await;
    let id = made["id"].as_str().unwrap();
    let (status, _) = bo.get("/v1/workflows/greet").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    for owner in ["ada", "bo"] {
        server.store.join_team("us", owner).await.unwrap();
    }
    let shared = easel_store::AgentPatch {
        permission: Some(easel_store::Permission::Team),
        ..Default::default()
    };
    server.store.update_agent(id, shared).await.unwrap();
    let asked = json!({"inputs": {"topic": "Bo"}, "wait": true});
    let (status, run) = bo.post("/v1/workflows/greet/runs", &asked).await;
    assert_eq!(
        (status, &run["final"]["second"]),
        (StatusCode::OK, &json!("Hello Bo!"))
    );
    let (status, _) = ada
        .get(&format!("/v1/runs/{}", run["id"].as_str().unwrap()))
        .await;
    assert_eq!(status, StatusCode::NOT_FOUND, "what Bo asked is Bo's");
    let (_, list) = bo.get("/v1/workflows").await;
    assert_eq!(list["workflows"][0]["own"], false);
    let (status, refused) = bo.delete("/v1/workflows/greet").await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{refused}");
    // Bo's own graph of that name comes first.
    let own = GRAPH.replace("Hello {topic}!", "Mine, {topic}.");
    let (status, _) = bo
        .send(Method::POST, "/v1/workflows", "application/yaml", own)
        .await;
    assert_eq!(status, StatusCode::CREATED);
    let (_, run) = bo.post("/v1/workflows/greet/runs", &asked).await;
    assert_eq!(run["final"]["second"], "Mine, Bo.");
}
