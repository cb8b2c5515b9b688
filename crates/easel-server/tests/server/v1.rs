//! Our own API as its clients use it.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use super::client::{Client, read, said};
use super::slow::SlowModel;
use super::support::{Setup, TestServer, canvas, echo, form, model};

/// A graph that says what it is given, twice over.
const GRAPH: &str = "\
name: greet
description: Greets somebody.
inputs:
  - {name: topic, type: string}
nodes:
  - {id: second, kind: output, value: 'Hello {topic}!'}
";

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
async fn a_form_is_answered_by_text_by_values_and_by_resume() {
    let (server, client) = local().await;
    for (path, body) in [
        ("answer", json!({"text": "Ada", "wait": true})),
        ("answer", json!({"values": {"name": "Ada"}, "wait": true})),
        ("resume", json!({"values": {"name": "Ada"}, "wait": true})),
    ] {
        let run = run_of(&server, &client, &form(), &json!({"query": "hi"})).await;
        assert_eq!(
            (&run["state"], &run["status"]),
            (&json!("waiting"), &json!("awaiting_input"))
        );
        assert_eq!(run["question"]["tips"], "Who are you?");
        assert!(run["question"]["fields"]["name"].is_object());
        let id = run["id"].as_str().unwrap();
        let (status, refused) = client
            .post(
                &format!("/v1/runs/{id}/answer"),
                &json!({"values": {"nope": 1}}),
            )
            .await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains("name")
        );
        let (status, refused) = client
            .post(&format!("/v1/runs/{id}/resume"), &json!({}))
            .await;
        assert_eq!(status, StatusCode::CONFLICT, "{refused}");
        let (status, ended) = client.post(&format!("/v1/runs/{id}/{path}"), &body).await;
        assert_eq!(status, StatusCode::OK, "{ended}");
        assert_eq!(ended["said"], "Hello Ada.");
        assert_eq!(
            (&ended["id"], &ended["state"]),
            (&json!(id), &json!("finished"))
        );
        let (status, _) = client.post(&format!("/v1/runs/{id}/{path}"), &body).await;
        assert_eq!(status, StatusCode::CONFLICT);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_held_message_by_message() {
    let (server, client) = local().await;
    let agent = server.agent("local", "echo", &echo()).await;
    let (status, opened) = client
        .post(
            &format!("/v1/agents/{agent}/sessions"),
            &json!({"user": "u"}),
        )
        .await;
    assert_eq!(status, StatusCode::CREATED, "{opened}");
    assert_eq!(opened["prologue"], "Hello!");
    let session = opened["id"].as_str().unwrap();
    for text in ["one", "two"] {
        let body = json!({"query": text, "wait": true});
        let (status, run) = client
            .post(&format!("/v1/sessions/{session}/messages"), &body)
            .await;
        assert_eq!(status, StatusCode::OK, "{run}");
        assert_eq!(run["said"], format!("You said {text}."));
        assert_eq!(
            (&run["session"], &run["user"]),
            (&json!(session), &json!("u"))
        );
    }
    let (_, runs) = client.get(&format!("/v1/runs?session={session}")).await;
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_page_by_page_and_by_what_they_are() {
    let (server, client) = local().await;
    let agent = server.agent("local", "echo", &echo()).await;
    for text in ["a", "b", "c"] {
        let body = json!({"query": text, "wait": true, "user": format!("user-{text}")});
        client
            .post(&format!("/v1/agents/{agent}/runs"), &body)
            .await;
    }
    run_of(&server, &client, &form(), &json!({"query": "x"})).await;
    let ids = |page: &Json| -> Vec<String> {
        let runs = page["runs"].as_array().unwrap().iter();
        runs.map(|run| run["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let (_, all) = client.get("/v1/runs").await;
    assert_eq!(ids(&all).len(), 4);
    let mut paged = Vec::new();
    let mut cursor = String::new();
    loop {
        let (status, page) = client
            .get(&format!("/v1/runs?limit=1&cursor={cursor}"))
            .await;
        assert_eq!(status, StatusCode::OK, "{page}");
        paged.extend(ids(&page));
        match page["next"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(paged, ids(&all));
    let count = async |query: &str| {
        let (status, page) = client.get(&format!("/v1/runs?{query}")).await;
        assert_eq!(status, StatusCode::OK, "{query}: {page}");
        ids(&page).len()
    };
    assert_eq!(count(&format!("workflow={agent}")).await, 3);
    assert_eq!(count("status=awaiting_input").await, 1);
    assert_eq!(count("status=waiting,failed").await, 1);
    assert_eq!(count("status=succeeded").await, 3);
    assert_eq!(count("user=user-b").await, 1);
    assert_eq!(count("trigger=api").await, 4);
    assert_eq!(count("trigger=webhook").await, 0);
    assert_eq!(count("since=99999999999").await, 0);
    assert_eq!(count("limit=100000").await, 4);
    for query in ["status=odd", "cursor=odd", "limit=0", "limit=x", "since=x"] {
        let (status, page) = client.get(&format!("/v1/runs?{query}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {page}");
    }
    assert!(
        all["runs"][0].get("final").is_none(),
        "summaries leave outputs out"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_of_a_run_show_every_attempt_and_pass() {
    let world = json!({"rules": [{"times": 1, "error": "busy"}, {"reply": "done"}]});
    let server = TestServer::with_world(world).await;
    let client = Client::of(&server);
    let retried = canvas(&[
        (
            "Agent:Flaky",
            "Agent",
            json!({"llm_id": "flaky@x", "max_retries": 1, "delay_after_error": 0,
                   "sys_prompt": "s", "prompts": [{"role": "user", "content": "{sys.query}"}]}),
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Agent:Flaky@content}"]}),
        ),
    ]);
    let run = run_of(&server, &client, &retried, &json!({"query": "go"})).await;
    let id = run["id"].as_str().unwrap();
    let (_, list) = client
        .get(&format!("/v1/runs/{id}/steps?node=Agent:Flaky"))
        .await;
    let steps = list["steps"].as_array().unwrap();
    let seen = steps
        .iter()
        .map(|s| (s["attempt"].clone(), s["state"].clone()));
    let seen: Vec<_> = seen.collect();
    assert_eq!(
        seen,
        [(json!(1), json!("failed")), (json!(2), json!("done"))],
        "{list}"
    );
    assert!(steps[0]["fault"]["message"].is_string());
    assert_eq!(steps[1]["inputs"]["sys.query"], "go");
    assert_eq!(steps[1]["outputs"]["content"], "done");
    assert!(steps[1]["ended_at"].as_f64() >= steps[1]["started_at"].as_f64());
    let (_, node) = client
        .get(&format!("/v1/runs/{id}/nodes/Agent:Flaky"))
        .await;
    assert_eq!(
        (&node["status"], &node["attempts"]),
        (&json!("ok"), &json!(2))
    );
    let (status, _) = client.get(&format!("/v1/runs/{id}/nodes/Nobody")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (_, trace) = client
        .get(&format!("/v1/runs/{id}/trace?node_id=Agent:Flaky"))
        .await;
    assert_eq!(trace["steps"][0]["label"], "node.Agent");
    assert_eq!(trace["steps"][0]["kind"], "llm");
    let (_, receipt) = client.get(&format!("/v1/runs/{id}/receipt")).await;
    assert_eq!(
        (&receipt["run"], &receipt["entries"]),
        (&json!(id), &json!([]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn any_reference_of_a_canvas_is_looked_up_at_any_event() {
    let (server, client) = local().await;
    let run = run_of(
        &server,
        &client,
        &form(),
        &json!({"query": "hi", "user": "u1"}),
    )
    .await;
    let id = run["id"].as_str().unwrap().to_owned();
    let before = run["entries"].as_u64().unwrap() - 1;
    client
        .post(
            &format!("/v1/runs/{id}/answer"),
            &json!({"text": "Ada", "wait": true}),
        )
        .await;
    let state = async |query: &str| client.get(&format!("/v1/runs/{id}/state?{query}")).await;
    for (reference, value) in [
        ("sys.query", json!("Ada")),
        ("{sys.query}", json!("Ada")),
        ("UserFillUp:Ask@name", json!("Ada")),
        ("Message:Greet@content", json!("Hello Ada.")),
        ("sys.user_id", json!("u1")),
    ] {
        let (status, found) = state(&format!("ref={reference}")).await;
        assert_eq!(
            (status, &found["value"]),
            (StatusCode::OK, &value),
            "{found}"
        );
    }
    let (_, then) = state(&format!("ref=Message:Greet@content&at={before}")).await;
    assert_eq!(then["found"], false, "{then}");
    let (_, then) = state(&format!("ref=sys.query&at={before}.0")).await;
    assert_eq!(
        (&then["value"], &then["at"]),
        (&json!("hi"), &json!(before))
    );
    let (status, unknown) = state("ref=Nobody@content").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("Message:Greet"),
        "it says what there is: {message}"
    );
    let (status, unknown) = state("ref=env.nope").await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{unknown}");
    let (_, missing) = state("ref=UserFillUp:Ask@nope").await;
    assert!(
        missing["why"].as_str().unwrap().contains("name"),
        "{missing}"
    );
    let (status, _) = state("ref=sys.query&at=odd").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let (_, all) = state("").await;
    assert_eq!(
        all["nodes"]["Message:Greet"]["outputs"]["content"],
        "Hello Ada."
    );
    assert_eq!(all["variables"]["sys.query"], "Ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_reference_of_a_graph_is_looked_up_too() {
    let (_server, client) = local().await;
    let graph = "\
name: each
inputs:
  - {name: things, type: array}
nodes:
  - id: all
    kind: map
    over: inputs.things
    item_var: thing
    body:
      - {id: say, kind: output, value: '{index}: {thing}'}
  - {id: last, kind: output, depends_on: [all], value: 'done'}
";
    let (status, made) = client
        .send(Method::POST, "/v1/workflows", "application/yaml", graph)
        .await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let asked = json!({"inputs": {"things": ["a", {"b": 7}]}, "wait": true});
    let (status, run) = client.post("/v1/workflows/each/runs", &asked).await;
    assert_eq!(status, StatusCode::OK, "{run}");
    let id = run["id"].as_str().unwrap();
    for (reference, value) in [
        ("inputs.things[1].b", json!(7)),
        ("nodes.all[0]", json!("0: a")),
        ("{nodes[all]}", json!(["0: a", "1: {'b': 7}"])),
        ("all[1]", json!("1: {'b': 7}")),
        ("nodes['all'][0]", json!("0: a")),
        ("index", json!(1)),
        ("thing.b", json!(7)),
    ] {
        let all = percent_encoding::NON_ALPHANUMERIC;
        let encoded = percent_encoding::utf8_percent_encode(reference, all);
        let (_, found) = client
            .get(&format!("/v1/runs/{id}/state?ref={encoded}"))
            .await;
        assert_eq!(found["value"], value, "{reference}: {found}");
    }
    let (status, unknown) = client
        .get(&format!("/v1/runs/{id}/state?ref=inputs.nope"))
        .await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(
        unknown["error"]["message"]
            .as_str()
            .unwrap()
            .contains("things")
    );
    let (_, list) = client.get(&format!("/v1/runs/{id}/steps?node=say")).await;
    let passes = list["steps"].as_array().unwrap().iter();
    let passes: Vec<_> = passes.map(|s| s["scope"][0]["index"].clone()).collect();
    assert_eq!(passes, [json!(0), json!(1)], "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_then_deleted() {
    let setup = Setup {
        model: Some(Arc::new(SlowModel::counting(2, Duration::from_secs(60)))),
        ..Setup::default()
    };
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let server = TestServer::set_up(folder, json!({}), setup).await;
    let client = Client::of(&server);
    let agent = server.agent("local", "slow", &model()).await;
    let begin = async || {
        let (status, run) = client
            .post(&format!("/v1/agents/{agent}/runs"), &json!({"query": "x"}))
            .await;
        assert_eq!(
            (status, &run["state"]),
            (StatusCode::ACCEPTED, &json!("running"))
        );
        run["id"].as_str().unwrap().to_owned()
    };
    let first = begin().await;
    let (status, run) = client
        .ask(Method::POST, &format!("/v1/runs/{first}/cancel"))
        .await;
    assert_eq!(
        (status, &run["state"]),
        (StatusCode::OK, &json!("cancelled"))
    );
    let second = begin().await;
    let (status, run) = client.delete(&format!("/v1/runs/{second}")).await;
    assert_eq!(
        (status, &run["state"]),
        (StatusCode::ACCEPTED, &json!("cancelled"))
    );
    let (status, _) = client.delete(&format!("/v1/runs/{second}")).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, _) = client.get(&format!("/v1/runs/{second}")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_come_as_a_stream_and_as_a_list() {
    let (server, client) = local().await;
    let run = run_of(&server, &client, &echo(), &json!({"query": "hi"})).await;
    let id = run["id"].as_str().unwrap();
    let events = client.watch(id, None).await;
    assert_eq!(events[0].event, "workflow_started");
    assert_eq!(said(&events), "You said hi.");
    let end = events.last().unwrap();
    assert_eq!(
        (&*end.event, &end.data["state"]),
        ("end", &json!("finished"))
    );
    let request = client
        .request(Method::GET, &format!("/v1/runs/{id}/events"))
        .header("accept", "application/json");
    let (_, list) = read(request.send().await.unwrap()).await;
    let listed = list["events"].as_array().unwrap();
    assert_eq!(listed.len() + 1, events.len());
    assert_eq!(list["next"], events[events.len() - 2].id);
    let (status, _) = client.get(&format!("/v1/runs/{id}/events?after=odd")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let rest = client.watch(id, list["next"].as_str()).await;
    assert_eq!(rest.len(), 1, "nothing but the end is left: {rest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_made_shown_once_and_revoked() {
    let (server, client) = local().await;
    let body = json!({"owner": "ada", "name": "ci", "scopes": ["read", "run"]});
    let (status, made) = client.post("/v1/keys", &body).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let secret = made["key"].as_str().unwrap();
    assert_eq!(made["scopes"], json!(["read", "run"]));
    let ada = Client::with_key(&server, secret);
    let (status, _) = ada.get("/v1/runs").await;
    assert_eq!(status, StatusCode::OK);
    let (status, _) = ada.get("/v1/keys").await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let admin = server.key("root", &["admin"]).await;
    let admin = Client::with_key(&server, &admin);
    let (_, list) = admin.get("/v1/keys?owner=ada").await;
    assert_eq!(list["keys"].as_array().unwrap().len(), 1);
    assert!(!list.to_string().contains(secret));
    let id = made["id"].as_str().unwrap();
    let (status, _) = admin.delete(&format!("/v1/keys/{id}")).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, _) = ada.get("/v1/runs").await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    for body in [
        json!({"owner": ""}),
        json!({"scopes": ["everything"]}),
        json!({"expires_at": -1}),
    ] {
        let (status, refused) = admin.post("/v1/keys", &body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_released_version_runs_and_the_draft_when_asked() {
    let (server, client) = local().await;
    let agent = server.agent("local", "echo", &echo()).await;
    server.store.publish(&agent, "v1").await.unwrap();
    let draft = canvas(&[("Message:New", "Message", json!({"content": ["new"]}))]);
    let patch = easel_store::AgentPatch {
        document: Some(server.document(&draft).await),
        ..Default::default()
    };
    server.store.update_agent(&agent, patch).await.unwrap();
    let path = format!("/v1/agents/{agent}/runs");
    let (_, run) = client
        .post(&path, &json!({"query": "x", "wait": true}))
        .await;
    assert_eq!(run["said"], "You said x.");
    let asked = json!({"query": "x", "wait": true, "version": "draft"});
    let (_, run) = client.post(&path, &asked).await;
    assert_eq!(run["said"], "new");
    let asked = json!({"query": "x", "version": "nobody"});
    let (status, _) = client.post(&path, &asked).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
