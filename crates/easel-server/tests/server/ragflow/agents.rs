//! Agents and their versions.

use serde_json::{Value as Json, json};

use super::{Client, text};
use crate::support::{TestServer, canvas, echo};

/// A tool that needs a key, which stands in the file.
fn with_a_key(key: &str) -> Json {
    let tavily = json!({"api_key": key, "query": "{sys.query}"});
    let mut made = canvas(&[("TavilySearch:Look", "TavilySearch", tavily)]);
    // Editors keep a copy in the drawing.
    made["graph"] = json!({"nodes": [{"id": "TavilySearch:Look", "type": "ragNode", "data":
        {"label": "TavilySearch", "name": "Look", "form": {"api_key": key}}}], "edges": []});
    made
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_made_listed_read_changed_and_deleted() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let new = json!({"title": "Echo", "dsl": echo(), "description": "says it again", "canvas_type": "Agent", "tags": "a,b"});
    let made = ada.post("/agents", new).await;
    assert_eq!(made["code"], 0);
    let id = text(&made["data"]["id"]);
    assert_eq!(id.len(), 32);
    assert_eq!(made["data"]["canvas_category"], "agent_canvas");

    let listed = ada
        .get("/agents?page_size=100&orderby=update_time&desc=True")
        .await;
    assert_eq!(listed["data"]["total"], 1);
    let row = &listed["data"]["canvas"][0];
    assert_eq!(row["id"], json!(id));
    assert_eq!(row["tags"], "a,b");
    assert!(row.get("dsl").is_none());
    assert_eq!(ada.get("/agents?keywords=ECH").await["data"]["total"], 1);
    assert_eq!(ada.get("/agents?tags=c").await["data"]["total"], 0);
    let facets = ada.get("/agents?type=filter").await;
    assert_eq!(facets["data"]["filter"]["tags"], json!({"a": 1, "b": 1}));

    let read = ada.get(&format!("/agents/{id}")).await;
    assert_eq!(
        read["data"]["dsl"]["components"]["Message:Echo"]["obj"]["component_name"],
        "Message"
    );
    assert_eq!(read["data"]["canvas_type"], "Agent");

    let tagged = ada
        .put(&format!("/agents/{id}/tags"), json!({"tags": ["c"]}))
        .await;
    assert_eq!(tagged["data"], true);
    assert_eq!(
        ada.get("/agents/tags").await["data"],
        json!([{"tag": "c", "count": 1}])
    );

    let changed = ada
        .put(&format!("/agents/{id}"), json!({"title": "Echo 2"}))
        .await;
    assert!(changed["data"]["update_time"].is_i64(), "{changed}");
    let read = ada.get(&format!("/agents/{id}")).await;
    // What is left out of a change is off or blank.
    assert_eq!(read["data"]["canvas_type"], "");
    assert_eq!(read["data"]["release"], false);
    assert_eq!(read["data"]["title"], "Echo 2");

    assert_eq!(
        ada.delete(&format!("/agents/{id}"), json!({})).await["data"],
        true
    );
    let gone = ada.get(&format!("/agents/{id}")).await;
    assert_eq!(
        (gone["code"].clone(), gone["message"].clone()),
        (json!(102), json!("canvas not found."))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_new_agent_is_said() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    ada.agent("Echo", &echo()).await;
    for (body, code, message) in [
        (json!({"title": "x"}), 101, "No DSL data in request."),
        (json!({"dsl": echo()}), 101, "No title in request."),
        (
            json!({"title": "ECHO", "dsl": echo()}),
            102,
            "ECHO already exists.",
        ),
        (
            json!({"title": "x", "dsl": {"a": 1}}),
            101,
            "The DSL is no canvas",
        ),
        (
            json!({"title": "x", "dsl": {"nodes": []}}),
            101,
            "The DSL is no canvas",
        ),
        (json!({"title": "x", "dsl": "{"}), 101, "The DSL is no JSON"),
        (
            json!({"title": "x", "dsl": echo(), "permission": "all"}),
            101,
            "`permission`",
        ),
    ] {
        let refused = ada.post("/agents", body.clone()).await;
        assert_eq!(refused["code"], code, "{body}: {refused}");
        assert!(text(&refused["message"]).starts_with(message), "{refused}");
    }
    let (status, refused) = ada.call(reqwest::Method::POST, "/agents", json!([1])).await;
    assert_eq!((status, refused["code"].clone()), (200, json!(101)));
    assert_eq!(ada.get("/agents?page_size=101").await["code"], 101);
    let (status, nowhere) = ada.call(reqwest::Method::GET, "/nowhere", Json::Null).await;
    assert_eq!((status, nowhere["code"].clone()), (404, json!(404)));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_new_draft_is_a_version_and_released_ones_stay() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let id = ada.agent("Echo", &echo()).await;
    let path = format!("/agents/{id}");
    let versions = async || {
        let listed = ada.get(&format!("{path}/versions")).await;
        listed["data"].as_array().unwrap().clone()
    };
    ada.put(&path, json!({"dsl": echo()})).await;
    assert_eq!(
        versions().await.len(),
        1,
        "the same document is the same version"
    );
    ada.put(&path, json!({"dsl": echo(), "release": true}))
        .await;
    assert_eq!(versions().await.len(), 1);
    let read = ada.get(&path).await;
    assert!(read["data"]["last_publish_time"].is_i64());
    assert_eq!(read["data"]["release"], true);
    ada.put(&path, json!({"dsl": echo()})).await;
    assert_eq!(
        versions().await.len(),
        2,
        "what was released is not overwritten"
    );
    for number in 0..22 {
        let saved = canvas(&[(
            "Message:Echo",
            "Message",
            json!({"content": [number.to_string()]}),
        )]);
        assert_eq!(ada.put(&path, json!({"dsl": saved})).await["code"], 0);
    }
    let all = versions().await;
    assert_eq!(all.len(), 21, "twenty, and the released one");
    let released = all
        .iter()
        .find(|version| version["release"] == true)
        .unwrap();
    assert!(released.get("dsl").is_none());
    assert!(text(&released["title"]).starts_with("ada_Echo_20"));
    let released = text(&released["id"]);
    let whole = ada.get(&format!("{path}/versions/{released}")).await;
    assert!(whole["data"]["dsl"]["components"].is_object());
    let gone = ada.get(&format!("{path}/versions/nothing")).await;
    assert_eq!(
        (gone["code"].clone(), gone["message"].clone()),
        (json!(102), json!("Version not found."))
    );
    let kept = ada
        .delete(&format!("{path}/versions/{released}"), Json::Null)
        .await;
    assert_eq!(kept["code"], 102, "what is published stays");
    let published = ada.post(&format!("{path}/publish"), Json::Null).await;
    assert_eq!(published["data"]["release"], true, "{published}");
    let deleted = ada
        .delete(&format!("{path}/versions/{released}"), Json::Null)
        .await;
    assert_eq!(deleted["data"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_must_not_run_may_be_a_draft_and_no_release() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let mut broken = echo();
    broken["components"]["begin"]["downstream"] = json!(["Message:Echo", "Message:Nowhere"]);
    let id = ada.agent("Broken", &broken).await;
    let refused = ada
        .put(&format!("/agents/{id}"), json!({"release": true}))
        .await;
    assert_eq!(refused["code"], 101, "{refused}");
    let refused = ada.post(&format!("/agents/{id}/publish"), Json::Null).await;
    assert_eq!(refused["code"], 101);
    let said = ada.ask(json!({"agent_id": id, "query": "hi"})).await;
    assert_ne!(said["code"], 0);
    assert!(
        text(&said["data"]["data"]["content"]).starts_with("**ERROR**"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_in_a_canvas_comes_back_to_nobody_and_survives_an_editor() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let id = ada.agent("Search", &with_a_key("tvly-0123456789")).await;
    let path = format!("/agents/{id}");
    let read = ada.get(&path).await;
    assert!(!read.to_string().contains("tvly-0123456789"), "{read}");
    let mark =
        text(&read["data"]["dsl"]["components"]["TavilySearch:Look"]["obj"]["params"]["api_key"]);
    assert!(mark.starts_with("easel-kept-"));
    let session = ada.session(&id).await;
    for path in [
        format!("{path}/sessions"),
        format!("{path}/sessions/{session}"),
        format!(
            "{path}/versions/{}",
            text(&ada.get(&format!("{path}/versions")).await["data"][0]["id"])
        ),
    ] {
        let read = ada.get(&path).await;
        assert!(read.to_string().contains("easel-kept-"), "{path}");
        assert!(!read.to_string().contains("tvly-0123456789"), "{path}");
    }
    // An editor saves what it read: the credential is still there, and nothing changed.
    let saved = ada.put(&path, json!({"dsl": read["data"]["dsl"]})).await;
    assert_eq!(saved["code"], 0, "{saved}");
    assert_eq!(
        ada.get(&format!("{path}/versions")).await["data"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    let agent = server.store.agent(&id).await.unwrap().unwrap();
    let document = server
        .store
        .document(&agent.document)
        .await
        .unwrap()
        .unwrap();
    assert!(
        String::from_utf8(document.bytes)
            .unwrap()
            .contains("tvly-0123456789")
    );
    // The mark is of no use to somebody else.
    let eve = Client::of(&server, "eve").await;
    let stolen = eve
        .post(
            "/agents",
            json!({"title": "Mine", "dsl": with_a_key(&mark)}),
        )
        .await;
    assert_eq!(stolen["code"], 101, "{stolen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_takes_an_old_conversation_out_of_the_draft() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let mut used = echo();
    used["history"] = json!([["user", "old"]]);
    used["globals"] = json!({"sys.query": "old", "sys.history": ["user: old"]});
    let id = ada.agent("Echo", &used).await;
    let reset = ada.post(&format!("/agents/{id}/reset"), Json::Null).await;
    assert_eq!(reset["data"]["history"], json!([]));
    assert_eq!(reset["data"]["globals"]["sys.query"], "");
    let read = ada.get(&format!("/agents/{id}")).await;
    assert_eq!(read["data"]["dsl"]["history"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_templates_and_prompts_to_begin_with() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let templates = ada.get("/agents/templates").await;
    let templates = templates["data"].as_array().unwrap();
    assert!(templates.len() >= 8);
    for template in templates {
        assert!(template["title"]["en"].is_string(), "{template}");
        ada.agent(&text(&template["title"]["en"]), &template["dsl"])
            .await;
    }
    let prompts = ada.get("/agents/prompts").await;
    for name in [
        "task_analysis",
        "plan_generation",
        "reflection",
        "citation_guidelines",
    ] {
        assert!(!text(&prompts["data"][name]).is_empty());
    }
    let rerun = ada.post("/agents/rerun", json!({"id": "x"})).await;
    assert_eq!(rerun["code"], 102);
}
