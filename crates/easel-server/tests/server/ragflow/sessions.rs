//! Conversations: opened, listed, read and deleted.

use serde_json::{Value as Json, json};

use super::{Client, text};
use crate::support::{TestServer, canvas, echo, form};

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_begins_with_what_the_agent_says_first() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Echo", &echo()).await;
    let path = format!("/agents/{agent}/sessions");
    let opened = ada
        .post(&path, json!({"user_id": "u1", "name": "Chat"}))
        .await;
    let opened = &opened["data"];
    assert_eq!(
        opened["message"],
        json!([{"role": "assistant", "content": "Hello!"}])
    );
    assert_eq!(opened["agent_id"], json!(agent));
    assert_eq!(
        (opened["source"].clone(), opened["name"].clone()),
        (json!("agent"), json!("Chat"))
    );
    assert_eq!(opened["user_id"], "u1");
    let id = text(&opened["id"]);

    ada.ask(json!({"agent_id": agent, "session_id": id, "query": "one"}))
        .await;
    let listed = ada
        .get(&format!(
            "{path}?page=1&page_size=30&orderby=create_time&desc=True"
        ))
        .await;
    assert_eq!(listed["total"], 1);
    let row = &listed["data"][0];
    let said = row["message"].as_array().unwrap();
    let said: Vec<_> = said
        .iter()
        .map(|m| (text(&m["role"]), text(&m["content"])))
        .collect();
    let expected = [
        ("assistant", "Hello!"),
        ("user", "one"),
        ("assistant", "You said one."),
    ];
    assert_eq!(
        said,
        expected.map(|(role, content)| (role.to_owned(), content.to_owned()))
    );
    assert_eq!(row["dsl"]["history"][0], json!(["user", "one"]));
    assert_eq!(row["dsl"]["globals"]["sys.query"], "one");
    assert_eq!(
        row["dsl"]["globals"]["sys.history"],
        json!(["user: one", "assistant: You said one."])
    );
    assert_eq!(row["round"], 1);
    let short = ada.get(&format!("{path}?dsl=false&id={id}")).await;
    assert!(short["data"][0].get("dsl").is_none());
    let names = ada.get(&format!("{path}?exp_user_id=u1")).await;
    assert_eq!(names["data"], json!([{"id": id, "name": "Chat"}]));
    assert_eq!(ada.get(&format!("{path}?user_id=nobody")).await["total"], 0);
    assert_eq!(
        ada.get(&format!("{path}?keywords=You+said")).await["total"],
        1
    );
    assert_eq!(
        ada.get(&format!("{path}?from_date=2999-01-01")).await["total"],
        0
    );
    assert_eq!(
        ada.get(&format!("{path}?from_date=whenever")).await["code"],
        101
    );
    assert_eq!(
        ada.get(&format!("{path}?orderby=secrets")).await["code"],
        101
    );

    let whole = ada.get(&format!("{path}/{id}")).await;
    let outputs = &whole["data"]["dsl"]["components"]["Message:Echo"]["obj"]["params"]["outputs"];
    assert_eq!(outputs["content"]["value"], "You said one.");
    assert_eq!(
        ada.get(&format!("{path}/{id}?user_id=u2")).await["message"],
        "Session not found!"
    );
    assert_eq!(
        ada.delete(&format!("{path}/{id}"), Json::Null).await["data"],
        true
    );
    assert_eq!(ada.get(&format!("{path}/{id}")).await["code"], 102);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_keeps_its_document_until_the_release_is_asked_for() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let says = |text: &str| canvas(&[("Message:A", "Message", json!({"content": [text]}))]);
    let agent = ada.agent("A", &says("one")).await;
    let session = ada.session(&agent).await;
    let ask = async |more: Json| {
        let mut body = json!({"agent_id": agent, "session_id": session, "query": "hi"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        ada.ask(body).await
    };
    let none = ask(json!({"release": true})).await;
    assert_eq!(none["message"], "No available published version");
    ada.put(
        &format!("/agents/{agent}"),
        json!({"dsl": says("two"), "release": true}),
    )
    .await;
    ada.put(&format!("/agents/{agent}"), json!({"dsl": says("three")}))
        .await;
    assert_eq!(ask(json!({})).await["data"]["data"]["content"], "one");
    assert_eq!(
        ask(json!({"release": true})).await["data"]["data"]["content"],
        "two"
    );
    assert_eq!(
        ask(json!({})).await["data"]["data"]["content"],
        "two",
        "it stays there"
    );
    let new = ada.ask(json!({"agent_id": agent, "query": "hi"})).await;
    assert_eq!(new["data"]["data"]["content"], "three", "the draft");
    let new = ada
        .ask(json!({"agent_id": agent, "query": "hi", "release": true}))
        .await;
    assert_eq!(new["data"]["data"]["content"], "two");
    let opened = ada
        .post(
            &format!("/agents/{agent}/sessions"),
            json!({"release": true}),
        )
        .await;
    assert!(
        text(&opened["data"]["version_title"]).starts_with("ada_A_"),
        "{opened}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_are_deleted_some_or_all() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Form", &form()).await;
    let path = format!("/agents/{agent}/sessions");
    let ids = [
        ada.session(&agent).await,
        ada.session(&agent).await,
        ada.session(&agent).await,
    ];
    // One of them waits for an answer.
    ada.ask(json!({"agent_id": agent, "session_id": ids[0], "query": "hi"}))
        .await;
    let some = ada.delete(&path, json!({"ids": [ids[0], "nothing"]})).await;
    assert_eq!(some["data"]["success_count"], 1, "{some}");
    assert_eq!(
        ada.delete(&path, json!({"ids": ["nothing"]})).await["code"],
        102
    );
    assert_eq!(
        ada.delete(&path, json!({"ids": null})).await["code"],
        101,
        "nothing said is not all"
    );
    let many: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    assert_eq!(ada.delete(&path, json!({"ids": many})).await["code"], 101);
    assert_eq!(ada.get(&path).await["total"], 2);
    assert_eq!(
        ada.delete(&path, json!({"ids": [], "delete_all": true}))
            .await["code"],
        0
    );
    assert_eq!(ada.get(&path).await["total"], 0);
}
