//! Nobody reaches what is not theirs, on any route.

use easel_store::NewKey;
use reqwest::Method;
use serde_json::{Value as Json, json};

use super::{Client, text};
use crate::support::{TestServer, echo, form};

/// Something of an owner's on every kind of route.
struct Belongings {
    agent: String,
    session: String,
    version: String,
    run: String,
}

async fn belongings(server: &TestServer, ada: &Client<'_>) -> Belongings {
    let agent = ada.agent("Form", &form()).await;
    let session = ada.session(&agent).await;
    ada.ask(json!({"agent_id": agent, "session_id": session, "query": "hi"}))
        .await;
    let versions = ada.get(&format!("/agents/{agent}/versions")).await;
    let (conversation, _) = server.store.conversation(&session).await.unwrap().unwrap();
    Belongings {
        version: text(&versions["data"][0]["id"]),
        run: conversation.run.unwrap().to_string(),
        agent,
        session,
    }
}

/// Every route that names something, with a body that would do something.
fn routes(of: &Belongings) -> Vec<(Method, String, Json)> {
    let Belongings {
        agent,
        session,
        version,
        run,
    } = of;
    let named = json!({"agent_id": agent, "session_id": session, "query": "Eve"});
    let new = json!({"agent_id": agent, "query": "Eve"});
    vec![
        (Method::GET, format!("/agents/{agent}"), Json::Null),
        (
            Method::PUT,
            format!("/agents/{agent}"),
            json!({"title": "Eve's", "dsl": echo()}),
        ),
        (Method::DELETE, format!("/agents/{agent}"), json!({})),
        (
            Method::PUT,
            format!("/agents/{agent}/tags"),
            json!({"tags": "x"}),
        ),
        (Method::POST, format!("/agents/{agent}/reset"), Json::Null),
        (Method::POST, format!("/agents/{agent}/publish"), Json::Null),
        (Method::POST, format!("/agents/{agent}/run"), named.clone()),
        (
            Method::POST,
            format!("/agents/{agent}/completions"),
            new.clone(),
        ),
        (Method::POST, "/agents/chat/completions".to_owned(), named),
        (
            Method::POST,
            "/agents/chat/completions".to_owned(),
            new.clone(),
        ),
        (
            Method::POST,
            format!("/agents/{agent}/upload?url=http://a.example/"),
            Json::Null,
        ),
        (Method::GET, format!("/agents/{agent}/versions"), Json::Null),
        (
            Method::GET,
            format!("/agents/{agent}/versions/{version}"),
            Json::Null,
        ),
        (
            Method::DELETE,
            format!("/agents/{agent}/versions/{version}"),
            Json::Null,
        ),
        (
            Method::GET,
            format!("/agents/{agent}/components/begin/input-form"),
            Json::Null,
        ),
        (
            Method::POST,
            format!("/agents/{agent}/components/begin/debug"),
            json!({"params": {}}),
        ),
        (Method::GET, format!("/agents/{agent}/sessions"), Json::Null),
        (Method::POST, format!("/agents/{agent}/sessions"), json!({})),
        (
            Method::DELETE,
            format!("/agents/{agent}/sessions"),
            json!({"delete_all": true}),
        ),
        (
            Method::GET,
            format!("/agents/{agent}/sessions/{session}"),
            Json::Null,
        ),
        (
            Method::DELETE,
            format!("/agents/{agent}/sessions/{session}"),
            Json::Null,
        ),
        (
            Method::GET,
            format!("/agentbots/{agent}/inputs"),
            Json::Null,
        ),
        (Method::POST, format!("/agentbots/{agent}/completions"), new),
        (Method::POST, format!("/tasks/{session}/cancel"), Json::Null),
        (Method::POST, format!("/tasks/{run}/cancel"), Json::Null),
        (
            Method::PATCH,
            format!("/tasks/{session}"),
            json!({"action": "stop"}),
        ),
    ]
}

/// What is there did not change.
async fn is_untouched(ada: &Client<'_>, of: &Belongings) {
    let read = ada.get(&format!("/agents/{}", of.agent)).await;
    assert_eq!(read["data"]["title"], "Form");
    assert_eq!(read["data"]["tags"], "");
    let said = ada.get(&format!("/agents/{}/sessions", of.agent)).await;
    assert_eq!(said["total"], 1);
    assert_eq!(
        said["data"][0]["message"].as_array().map(Vec::len),
        Some(2),
        "{said}"
    );
    let body = json!({"agent_id": of.agent, "session_id": of.session, "query": "Ada"});
    assert_eq!(
        ada.ask(body).await["data"]["data"]["content"],
        "Hello Ada.",
        "it still waits"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_owner_reaches_nothing() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let eve = Client::of(&server, "eve").await;
    let theirs = belongings(&server, &ada).await;
    for (method, path, body) in routes(&theirs) {
        let (status, refused) = eve.call(method.clone(), &path, body).await;
        assert_eq!(status, 200, "{method} {path}: {refused}");
        let code = refused["code"].as_i64().unwrap();
        assert!(code == 102 || code == 103, "{method} {path}: {refused}");
        assert!(
            !refused.to_string().contains("Who are you?"),
            "{method} {path}: {refused}"
        );
    }
    assert_eq!(eve.get("/agents").await["data"]["total"], 0);
    assert_eq!(eve.get("/agents?owner_ids=ada").await["data"]["total"], 0);
    // What a client says of itself does not count.
    let claimed = json!({"title": "Mine", "dsl": echo(), "user_id": "ada", "created_by": "ada", "tenant_id": "ada"});
    let made = eve.post("/agents", claimed).await;
    assert_eq!(made["data"]["user_id"], "eve");
    is_untouched(&ada, &theirs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_and_with_a_revoked_one_nothing_is_reached() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let theirs = belongings(&server, &ada).await;
    let new = NewKey {
        owner: "ada".to_owned(),
        scopes: vec!["read".into(), "run".into(), "write".into()],
        ..NewKey::default()
    };
    let (record, secret) = server.store.create_key(new).await.unwrap();
    server.store.revoke_key(&record.id).await.unwrap();
    let revoked = Client::with(&server, Some(secret.reveal().to_owned()));
    let nobody = Client::with(&server, None);
    let all = [
        (Method::GET, "/agents".to_owned(), Json::Null),
        (
            Method::POST,
            "/agents".to_owned(),
            json!({"title": "x", "dsl": echo()}),
        ),
        (Method::GET, "/agents/tags".to_owned(), Json::Null),
        (Method::GET, "/agents/templates".to_owned(), Json::Null),
        (Method::GET, "/agents/prompts".to_owned(), Json::Null),
        (Method::GET, "/agents/download?id=x".to_owned(), Json::Null),
        (Method::POST, "/agents/rerun".to_owned(), json!({})),
    ];
    for (method, path, body) in routes(&theirs).into_iter().chain(all) {
        for client in [&revoked, &nobody] {
            let (status, refused) = client.call(method.clone(), &path, body.clone()).await;
            assert_eq!(status, 401, "{method} {path}: {refused}");
            assert_eq!(refused["code"], 401);
        }
    }
    is_untouched(&ada, &theirs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_does_what_its_scopes_say() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let theirs = belongings(&server, &ada).await;
    let reads = Client::with(&server, Some(server.key("ada", &["read"]).await));
    for (method, path, body) in routes(&theirs) {
        let reading = method == Method::GET;
        let (status, answer) = reads.call(method.clone(), &path, body).await;
        let expected = if reading { 200 } else { 403 };
        assert_eq!(status, expected, "{method} {path}: {answer}");
    }
    is_untouched(&ada, &theirs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_uses_and_edits_an_agent_and_its_owner_keeps_the_rest() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let bob = Client::of(&server, "bob").await;
    server.store.join_team("t", "ada").await.unwrap();
    server.store.join_team("t", "bob").await.unwrap();
    let agent = ada.agent("Echo", &echo()).await;
    let path = format!("/agents/{agent}");
    assert_eq!(bob.get(&path).await["code"], 102, "it is not shared yet");
    ada.put(&path, json!({"permission": "team"})).await;
    assert_eq!(bob.get(&path).await["code"], 0);
    assert_eq!(
        bob.put(&path, json!({"description": "by Bob"})).await["code"],
        0
    );
    assert_eq!(
        bob.put(&path, json!({"permission": "me"})).await["code"],
        103
    );
    let owner = "Only the owner of the agent is authorized for this operation.";
    assert_eq!(bob.delete(&path, json!({})).await["message"], owner);
    let all = bob
        .delete(&format!("{path}/sessions"), json!({"delete_all": true}))
        .await;
    assert_eq!(all["message"], owner);
    let adas = ada.session(&agent).await;
    let bobs = bob.session(&agent).await;
    let ask = json!({"agent_id": agent, "session_id": adas, "query": "hi"});
    assert_eq!(
        bob.ask(ask).await["message"],
        "Only authorized users can access this agent session."
    );
    assert_eq!(
        bob.get(&format!("{path}/sessions/{adas}")).await["code"],
        102
    );
    assert_eq!(
        bob.delete(&format!("{path}/sessions/{adas}"), Json::Null)
            .await["code"],
        102
    );
    assert_eq!(
        bob.post(&format!("/tasks/{adas}/cancel"), Json::Null).await["code"],
        102
    );
    assert_eq!(
        bob.get(&format!("{path}/sessions")).await["total"],
        1,
        "his own"
    );
    assert_eq!(
        ada.get(&format!("{path}/sessions")).await["total"],
        2,
        "the owner sees all"
    );
    assert_eq!(
        bob.delete(&format!("{path}/sessions/{bobs}"), Json::Null)
            .await["data"],
        true
    );
}
