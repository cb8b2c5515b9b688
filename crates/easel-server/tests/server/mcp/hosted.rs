//! The agents of a server as tools.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use easel_runtime::models::{ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo};
use easel_runtime::{Engine, Input, Standing};
use easel_server::auth::LOCAL;
use easel_server::host::{Host, HostError, HostLimits};
use easel_server::{App, Settings, router, serve};
use easel_store::{AgentPatch, Dialect, Location, NewAgent, Permission, RunFilter, Store};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::client::{Client, Stream, until};
use super::{forms, text};
use crate::support::{TestServer, canvas, echo, form, model};

fn client(server: &TestServer, key: &str, can: Value) -> Client {
    let bearer = ("authorization", format!("Bearer {key}"));
    Client::new(&server.url("/mcp"), bearer, Some(can))
}

async fn session(server: &TestServer, key: &str, can: Value) -> Client {
    let bearer = ("authorization", format!("Bearer {key}"));
    Client::session(&server.url("/mcp"), bearer, can).await
}

/// An agent that is released.
async fn released(server: &TestServer, owner: &str, title: &str, canvas: &Value) -> String {
    let agent = server.agent(owner, title, canvas).await;
    server.store.publish(&agent, "released").await.unwrap();
    agent
}

async fn tools(client: &Client) -> Vec<String> {
    let listed = client.result("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_released_is_a_tool_for_those_who_may_use_it() {
    let server = TestServer::start().await;
    released(&server, "ada", "Echo", &echo()).await;
    server.agent("ada", "Draft", &echo()).await;
    let shared = released(&server, "bob", "Shared echo", &echo()).await;
    released(&server, "bob", "Private echo", &echo()).await;
    let team = AgentPatch {
        permission: Some(Permission::Team),
        ..AgentPatch::default()
    };
    server.store.update_agent(&shared, team).await.unwrap();
    let ada = client(
        &server,
        &server.key("ada", &["read", "run"]).await,
        json!({}),
    );
    assert_eq!(tools(&ada).await, ["echo", "resume_run"]);
    for owner in ["ada", "bob"] {
        server.store.join_team("painters", owner).await.unwrap();
    }
    assert_eq!(tools(&ada).await, ["echo", "shared_echo", "resume_run"]);
    let error = ada.error(
        "tools/call",
        json!({"name": "private_echo", "arguments": {"query": "x"}}),
    );
    assert_eq!(error.await["code"], -32602);
    let result = ada.call("shared_echo", json!({"query": "hi"})).await;
    assert_eq!(text(&result), "You said hi.");
    // The run is the caller's, whosever the agent is.
    let run = result["_meta"]["easel/run"].as_str().unwrap();
    let record = server.store.run(run).await.unwrap().unwrap();
    assert_eq!(&*record.origin.owner, "ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_a_run_of_the_released_version() {
    let server = TestServer::start().await;
    let agent = released(&server, "ada", "Echo", &echo()).await;
    let draft = canvas(&[("Message:M", "Message", json!({"content": ["A draft."]}))]);
    let patch = AgentPatch {
        document: Some(server.document(&draft).await),
        ..AgentPatch::default()
    };
    server.store.update_agent(&agent, patch).await.unwrap();
    let key = server.key("ada", &["read", "run"]).await;
    let result = client(&server, &key, json!({}))
        .call("echo", json!({"query": "hi"}))
        .await;
    assert_eq!(text(&result), "You said hi.");
    assert_eq!(result["structuredContent"]["content"], "You said hi.");
    let run = result["_meta"]["easel/run"].as_str().unwrap();
    let record = server.store.run(run).await.unwrap().unwrap();
    assert!(matches!(record.standing, Standing::Finished { .. }));
    let origin = record.origin;
    assert_eq!((&*origin.trigger, &*origin.agent), ("mcp", &*agent));
    let version = server
        .store
        .released_version(&agent)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(origin.version, version.id);
    assert!(origin.session.is_none() && !origin.key.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_names_the_steps() {
    let server = TestServer::start().await;
    released(&server, "ada", "Model", &model()).await;
    let key = server.key("ada", &["read", "run"]).await;
    let call = json!({
        "name": "model", "arguments": {"query": "hi"}, "_meta": {"progressToken": "p"},
    });
    let messages = client(&server, &key, json!({}))
        .ask("tools/call", call)
        .await
        .all()
        .await;
    let told = messages
        .iter()
        .filter_map(|message| message["params"]["message"].as_str());
    let told: Vec<&str> = told.collect();
    assert_eq!(told, ["begin", "Agent:Answer", "Message:Say"]);
    assert_eq!(text(&messages.last().unwrap()["result"]), "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_is_answered_by_any_client_of_its_owner_after_a_restart() {
    let server = TestServer::start().await;
    released(&server, "ada", "Greeter", &form()).await;
    let ada = server.key("ada", &["read", "run"]).await;
    let other = server.key("ada", &["read", "run"]).await;
    let eve = server.key("eve", &["read", "run"]).await;
    let call = json!({"name": "greeter", "arguments": {"query": "hi"}});
    let question = client(&server, &ada, forms())
        .result("tools/call", call.clone())
        .await;
    assert_eq!(question["resultType"], "input_required");
    let asked = &question["inputRequests"]["answers"]["params"];
    assert_eq!(asked["message"], "Who are you?");
    assert_eq!(
        asked["requestedSchema"]["properties"]["name"]["title"],
        "Name"
    );

    let server = server.restart().await;
    let mut retry = call;
    retry["requestState"] = question["requestState"].clone();
    retry["inputResponses"] = json!({"answers": {"action": "accept", "content": {"name": "Ada"}}});
    let error = client(&server, &eve, forms())
        .error("tools/call", retry.clone())
        .await;
    assert_eq!(error["code"], -32602);
    let result = client(&server, &other, forms())
        .result("tools/call", retry.clone())
        .await;
    assert_eq!(text(&result), "Hello Ada.");
    // Sent once more, it is not answered twice.
    let again = client(&server, &other, forms())
        .result("tools/call", retry)
        .await;
    assert_eq!(text(&again), "Hello Ada.");
    let runs = server.store.runs(&RunFilter::default()).await.unwrap();
    assert_eq!(runs.items.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_twice_at_once_answers_one_question() {
    let server = TestServer::start().await;
    let ask = |tips: &str| {
        let field = json!({"name": {"name": "Name", "type": "line", "optional": false}});
        json!({"enable_tips": true, "tips": tips, "inputs": field})
    };
    let names = json!({"content": ["{UserFillUp:A@name} and {UserFillUp:B@name}"]});
    let pair = canvas(&[
        ("UserFillUp:A", "UserFillUp", ask("The first?")),
        ("UserFillUp:B", "UserFillUp", ask("The second?")),
        ("Message:M", "Message", names),
    ]);
    released(&server, "ada", "Pair", &pair).await;
    let key = server.key("ada", &["read", "run"]).await;
    let client = client(&server, &key, forms());
    let call = json!({"name": "pair", "arguments": {"query": "hi"}});
    let answered = |question: &Value, name: &str| {
        let mut retry = call.clone();
        retry["requestState"] = question["requestState"].clone();
        retry["inputResponses"] =
            json!({"answers": {"action": "accept", "content": {"name": name}}});
        retry
    };
    let question = client.result("tools/call", call.clone()).await;
    let retry = answered(&question, "Ada");
    let both = [0; 8].map(|_| client.result("tools/call", retry.clone()));
    let both = futures::future::join_all(both).await;
    // Also those that were let through before the first of them began.
    let runs = server.store.runs(&RunFilter::default()).await.unwrap();
    let run = &*runs.items[0].id;
    let second = server.store.run(run).await.unwrap().unwrap().entries;
    let stale = Input {
        inputs: [("name".into(), "Eve".into())].into_iter().collect(),
        ..Input::default()
    };
    let late = server
        .app
        .host
        .answer_to(run, Some(second - 1), stale)
        .await;
    assert!(matches!(late, Err(HostError::NotWaiting { .. })));
    for next in &both {
        let form = &next["inputRequests"]["answers"]["params"];
        assert_eq!(form["message"], "The second?", "{next}");
        assert_eq!(next["requestState"], both[0]["requestState"]);
    }
    let done = client.result("tools/call", answered(&both[0], "Bob")).await;
    assert_eq!(text(&done), "Ada and Bob");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_session_the_user_of_the_client_answers_the_agent() {
    let server = TestServer::start().await;
    released(&server, "ada", "Greeter", &form()).await;
    let key = server.key("ada", &["read", "run"]).await;
    let client = session(&server, &key, forms()).await;
    let call = json!({"name": "greeter", "arguments": {"query": "hi"}});
    let mut messages = client.ask("tools/call", call).await;
    let question = messages.next().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let result = json!({"action": "accept", "content": {"name": "Ada"}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    assert_eq!(client.post(answer).await.status(), 202);
    let result = messages.next().await.unwrap();
    assert_eq!(text(&result["result"]), "Hello Ada.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_forms_resumes_by_a_tool_and_declining_ends_the_run() {
    let server = TestServer::start().await;
    released(&server, "ada", "Greeter", &form()).await;
    let key = server.key("ada", &["read", "run"]).await;
    let plain = client(&server, &key, json!({}));
    let told = plain.call("greeter", json!({"query": "hi"})).await;
    let run = told["structuredContent"]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let unfit = plain
        .call("resume_run", json!({"run": &*run, "answers": {"age": 3}}))
        .await;
    assert!(
        unfit["isError"] == true && text(&unfit).contains("name"),
        "{unfit}"
    );
    let done = plain
        .call(
            "resume_run",
            json!({"run": &*run, "answers": {"name": "Ada"}}),
        )
        .await;
    assert_eq!(text(&done), "Hello Ada.");
    let late = plain
        .call(
            "resume_run",
            json!({"run": &*run, "answers": {"name": "Ada"}}),
        )
        .await;
    assert!(text(&late).contains("finished"), "{late}");

    let call = json!({"name": "greeter", "arguments": {"query": "hi"}});
    let asks = client(&server, &key, forms());
    let question = asks.result("tools/call", call.clone()).await;
    let mut retry = call;
    retry["requestState"] = question["requestState"].clone();
    retry["inputResponses"] = json!({"answers": {"action": "decline"}});
    let declined = asks.result("tools/call", retry).await;
    assert!(text(&declined).contains("cancelled"), "{declined}");
}

/// A model that never answers.
struct Silent;

impl ChatModel for Silent {
    fn describe(&self, _: &str) -> Result<ModelInfo, ModelError> {
        Ok(ModelInfo::default())
    }

    fn chat(&self, _: ChatRequest) -> ChatStream {
        Box::pin(futures::stream::pending())
    }
}

/// A server whose model never answers, what stops it, and the task that tells how many turns it left.
async fn silent(folder: &Path) -> (Arc<App>, String, oneshot::Sender<()>, JoinHandle<usize>) {
    let store = Store::open(&Location::Folder(folder.to_owned()))
        .await
        .unwrap();
    let engine = Engine::builder()
        .model(Arc::new(Silent))
        .journal(Arc::new(store.clone()))
        .build()
        .unwrap();
    let settings = Settings {
        patience: Duration::from_millis(100),
        ..Settings::default()
    };
    let app = App::new(Host::new(store, engine, HostLimits::default()), settings);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async move { drop(stopped.await) };
    let served = serve::serve(app.clone(), router(app.clone()), listener, stopped);
    (app, url, stop, tokio::spawn(served))
}

/// Calls an agent whose model never answers; the messages that come, and the run.
async fn call_silent(app: &Arc<App>, url: &str) -> (Stream, Arc<str>) {
    let store = app.host.store();
    let bytes = model().to_string().into_bytes();
    let new = NewAgent {
        owner: LOCAL.to_owned(),
        title: "Silent".to_owned(),
        document: store
            .put_document(Dialect::Canvas, bytes)
            .await
            .unwrap()
            .to_string(),
        released: true,
        ..NewAgent::default()
    };
    store.create_agent(new).await.unwrap();
    // Nobody made a key yet, so this machine needs none.
    let client = Client::new(url, ("x-nobody", String::new()), Some(json!({})));
    let call = json!({
        "name": "silent", "arguments": {"query": "x"}, "_meta": {"progressToken": 1},
    });
    let mut messages = client.ask("tools/call", call).await;
    messages.next().await.unwrap();
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    (messages, runs.items[0].id.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_ends_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let (app, url, _stop, _served) = silent(folder.path()).await;
    let (messages, run) = call_silent(&app, &url).await;
    assert!(app.host.live(&run).is_some());
    drop(messages);
    until("the turn is over", || app.host.live(&run).is_none()).await;
    let record = app.host.record(&run).await.unwrap();
    assert!(
        matches!(record.standing, Standing::Cancelled),
        "{:?}",
        record.standing
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_leaves_the_runs_of_its_clients_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let (app, url, stop, served) = silent(folder.path()).await;
    let (mut messages, run) = call_silent(&app, &url).await;
    stop.send(()).unwrap();
    while messages.next().await.is_some() {}
    assert_eq!(served.await.unwrap(), 1);
    let record = app.host.record(&run).await.unwrap();
    assert!(
        matches!(record.standing, Standing::Running),
        "{:?}",
        record.standing
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_key_nothing_is_to_be_had() {
    let server = TestServer::start().await;
    released(&server, "ada", "Echo", &echo()).await;
    let key = server.key("ada", &["read"]).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    let nobody = Client::new(
        &server.url("/mcp"),
        ("x-nobody", String::new()),
        Some(json!({})),
    );
    let list = nobody.request("tools/list", json!({}));
    let refused = nobody.post(list.clone()).await;
    assert_eq!(refused.status(), 401);
    assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    assert_eq!(
        client(&server, "easel_wrong", json!({}))
            .post(list.clone())
            .await
            .status(),
        401
    );
    // A key that may read sees the tools and starts nothing.
    let reader = client(&server, &key, json!({}));
    assert_eq!(tools(&reader).await, ["echo", "resume_run"]);
    let refused = reader.call("echo", json!({"query": "x"})).await;
    assert!(
        refused["isError"] == true && text(&refused).contains("run"),
        "{refused}"
    );
    let runs = server.store.runs(&RunFilter::default()).await.unwrap();
    assert!(runs.items.is_empty());
    // Revoked, it opens nothing.
    let keys = server.store.keys(Some("ada")).await.unwrap();
    server.store.revoke_key(&keys[0].id).await.unwrap();
    assert_eq!(reader.post(list).await.status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_clients_are_counted_while_they_are_open() {
    let server = TestServer::start().await;
    let key = server.key("ada", &["read", "run"]).await;
    let open = || {
        let figures = server
            .app
            .host
            .telemetry()
            .metrics()
            .render(&Default::default());
        let line = figures
            .lines()
            .find(|line| line.starts_with("easel_sse_streams "))
            .unwrap();
        line.rsplit_once(' ').unwrap().1.parse::<u32>().unwrap()
    };
    let client = session(&server, &key, json!({})).await;
    let stream = client.listen().await;
    assert_eq!(stream.status(), 200);
    until("the stream is counted", || open() == 1).await;
    drop(Stream::new(stream));
    until("it is gone", || open() == 0).await;
}

/// The official client, as a script that fails where the client would.
#[tokio::test(flavor = "multi_thread")]
async fn the_official_mcp_client_can_use_it() {
    let Ok(python) = std::env::var("EASEL_MCP_PYTHON") else {
        eprintln!("SKIPPED: tests/clients/mcp.sh installs the official MCP client and runs it.");
        return;
    };
    let server = TestServer::start().await;
    released(&server, LOCAL, "Echo", &echo()).await;
    released(&server, LOCAL, "Greeter", &form()).await;
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/clients/mcp_python.py"
    );
    let mut client = std::process::Command::new(python);
    client.arg(script).env("EASEL_URL", server.url(""));
    let output = tokio::task::spawn_blocking(move || client.output());
    let output = output.await.unwrap().unwrap();
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    print!("{told}");
}
