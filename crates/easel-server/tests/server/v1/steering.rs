//! Conversations, and runs that are answered, decided, ended; keys.

use std::sync::Arc;
use std::time::Duration;

use easel_runtime::core::event::{Event, Fact};
use easel_runtime::{Batch, Journal};
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{local, run_of};
use crate::client::Client;
use crate::slow::SlowModel;
use crate::support::{Setup, TestServer, canvas, echo, form, model, origin};

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

/// A run that another process left in the midst of its write.
async fn left_in_a_write(server: &TestServer) -> String {
    let post = json!({"url": "http://api.example.com/pay", "method": "post", "timeout": 5});
    let writes = canvas(&[
        ("Invoke:Pay", "Invoke", post),
        (
            "Message:M",
            "Message",
            json!({"content": ["It says {Invoke:Pay@result}."]}),
        ),
    ]);
    let client = Client::of(server);
    let whole = run_of(server, &client, &writes, &json!({"query": "x"})).await;
    let id = whole["id"].as_str().unwrap();
    let journal = server.store.read(id).await.unwrap();
    let done = journal.iter().position(|event| match &event.fact {
        Fact::Completed { completion, .. } => completion.ports.get("result").is_some(),
        Fact::Failed { .. } => true,
        _ => false,
    });
    let mut left: Vec<Event> = journal[..done.unwrap()].to_vec();
    let run = easel_server::host::new_id();
    if let Fact::Started(start) = &mut left[0].fact {
        start.run = run.as_str().into();
    }
    let record = server.store.run(id).await.unwrap().unwrap();
    let mut batch = Batch::new(run.as_str(), 0, left);
    batch.origin = Some(Arc::new(easel_runtime::Origin {
        document: record.origin.document,
        ..origin()
    }));
    server.store.append(batch).await.unwrap();
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uncertain_write_is_decided_once() {
    let world = json!({"http": [{"text": "paid"}]});
    let server = TestServer::with_world(world).await;
    let first = left_in_a_write(&server).await;
    let second = left_in_a_write(&server).await;
    let server = server.restart().await;
    let client = Client::of(&server);
    for (run, decision, said, state) in [
        (
            first,
            json!({"decision": "happened", "outputs": {"result": "done"}}),
            "It says done.",
            "finished",
        ),
        (
            second,
            json!({"decision": "failed", "message": "no money"}),
            "",
            "failed",
        ),
    ] {
        let seen = client.watch(&run, None).await;
        assert_eq!(seen.last().unwrap().data["state"], "uncertain", "{seen:#?}");
        let (_, view) = client.get(&format!("/v1/runs/{run}")).await;
        assert_eq!(view["status"], "interrupted");
        assert_eq!(view["uncertain"][0]["node"], "Invoke:Pay");
        assert!(view["uncertain"][0]["question"].is_string());
        let path = format!("/v1/runs/{run}/decide");
        let (status, _) = client
            .post(&path, &json!({"decision": "repeat", "activation": 77}))
            .await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let (status, _) = client
            .post(&format!("/v1/runs/{run}/answer"), &json!({"text": "x"}))
            .await;
        assert_eq!(status, StatusCode::CONFLICT);
        let (status, _) = client.post(&path, &json!({"decision": "maybe"})).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        let mut decided = decision;
        decided["wait"] = json!(true);
        let (status, ended) = client.post(&path, &decided).await;
        assert_eq!(status, StatusCode::OK, "{ended}");
        assert_eq!(
            (&ended["state"], &ended["said"]),
            (&json!(state), &json!(said)),
            "{ended}"
        );
        let (status, _) = client.post(&path, &decided).await;
        assert_eq!(status, StatusCode::CONFLICT);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_goes_along_if_it_is_ones_own() {
    let (server, client) = local().await;
    let agent = server.agent("local", "echo", &echo()).await;
    let put = async |owner: &str| {
        let file = easel_store::NewFile {
            owner: owner.to_owned(),
            name: "a.txt".to_owned(),
            mime: "text/plain".to_owned(),
            session: None,
        };
        let file = server.store.put_file(file, b"inside".to_vec(), 100).await;
        file.unwrap().id.to_string()
    };
    let (mine, theirs) = (put("local").await, put("eve").await);
    let path = format!("/v1/agents/{agent}/runs");
    let body = |id: &str| json!({"query": "x", "files": [{"id": id}], "wait": true});
    let (status, run) = client.post(&path, &body(&mine)).await;
    assert_eq!(status, StatusCode::OK, "{run}");
    let id = run["id"].as_str().unwrap();
    let (_, files) = client
        .get(&format!("/v1/runs/{id}/state?ref=sys.files"))
        .await;
    assert!(
        files["value"][0].as_str().unwrap().contains("inside"),
        "{files}"
    );
    for id in [theirs.as_str(), "nobody's"] {
        let (status, refused) = client.post(&path, &body(id)).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
        assert_eq!(refused["error"]["code"], "no_file");
    }
}
