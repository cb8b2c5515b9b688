//! One component tried out alone.

use serde_json::{Value as Json, json};

use super::{Client, text};
use crate::support::{TestServer, canvas, form, model};

#[tokio::test(flavor = "multi_thread")]
async fn a_component_says_what_it_can_be_given() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    let path = format!("/agents/{agent}/components");
    let form_of =
        async |id: &str| ada.get(&format!("{path}/{id}/input-form")).await["data"].clone();
    assert_eq!(
        form_of("Agent:Answer").await,
        json!({"sys.query": {"name": "sys.query", "type": "line"}})
    );
    let said = form_of("Message:Say").await;
    assert_eq!(said["Agent:Answer@content"]["type"], "line");
    assert_eq!(form_of("begin").await, json!({}));
    let nothing = ada.get(&format!("{path}/Nobody/input-form")).await;
    assert_eq!(nothing["code"], 102);
    let asks = ada.agent("Form", &form()).await;
    let fields = ada
        .get(&format!(
            "/agents/{asks}/components/UserFillUp:Ask/input-form"
        ))
        .await;
    assert_eq!(fields["data"]["name"]["name"], "Name");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_is_tried_out_with_what_is_posted() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    let debug = async |agent: &str, id: &str, params: Json| {
        ada.post(
            &format!("/agents/{agent}/components/{id}/debug"),
            json!({"params": params}),
        )
        .await
    };
    let said = debug(
        &agent,
        "Message:Say",
        json!({"Agent:Answer@content": {"value": "from here"}}),
    )
    .await;
    assert_eq!(said["data"]["content"], "from here", "{said}");
    let said = debug(&agent, "Message:Say", json!({})).await;
    assert_eq!(said["data"]["content"], "", "upstream is empty: {said}");
    let answered = debug(
        &agent,
        "Agent:Answer",
        json!({"sys.query": {"type": "line", "value": "why?"}}),
    )
    .await;
    assert_eq!(answered["data"]["content"], "ok", "{answered}");
    let calls = server.script.model_calls();
    assert!(Json::from(calls).to_string().contains("why?"));
    let missing = ada
        .post(
            &format!("/agents/{agent}/components/Message:Say/debug"),
            json!({}),
        )
        .await;
    assert_eq!(missing["code"], 101);
    assert_eq!(
        missing["message"],
        "required argument are missing: params; "
    );
    assert_eq!(debug(&agent, "Nobody", json!({})).await["code"], 102);

    let asks = ada.agent("Form", &form()).await;
    let filled = debug(
        &asks,
        "UserFillUp:Ask",
        json!({"name": {"type": "line", "value": "Ada"}}),
    )
    .await;
    assert_eq!(filled["data"]["name"], "Ada", "{filled}");
    let begin = debug(&asks, "begin", json!({"topic": {"value": "cats"}})).await;
    assert_eq!(begin["data"]["topic"], "cats", "{begin}");
    assert_eq!(
        ada.get(&format!("/agents/{asks}/sessions")).await["total"],
        0,
        "no conversation comes of it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_alone_says_why_among_its_outputs() {
    let server = TestServer::with_world(json!({"rules": [{"error": "boom"}]})).await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Model", &model()).await;
    let path = format!("/agents/{agent}/components/Agent:Answer/debug");
    let failed = ada.post(&path, json!({"params": {"sys.query": "x"}})).await;
    assert_eq!(failed["code"], 0, "{failed}");
    assert!(text(&failed["data"]["_ERROR"]).contains("boom"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_is_tried_out_without_what_is_behind_it() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let condition = json!({"logical_operator": "and", "to": ["Message:Yes"],
        "items": [{"cpn_id": "sys.query", "operator": "contains", "value": "yes"}]});
    let switch = json!({"conditions": [condition], "end_cpn_ids": ["Message:No"]});
    let mut made = canvas(&[
        ("Switch:S", "Switch", switch),
        ("Message:Yes", "Message", json!({"content": ["{sys.date}"]})),
    ]);
    made["components"]["Switch:S"]["downstream"] = json!(["Message:Yes", "Message:No"]);
    made["components"]["Message:No"] = made["components"]["Message:Yes"].clone();
    let agent = ada.agent("Switch", &made).await;
    let path = format!("/agents/{agent}/components/Switch:S/debug");
    let tried = ada
        .post(&path, json!({"params": {"sys.query": {"value": "oh yes"}}}))
        .await;
    assert_eq!(tried["data"]["_next"], json!(["Message:Yes"]), "{tried}");
    let tried = ada
        .post(&path, json!({"params": {"sys.query": {"value": "no"}}}))
        .await;
    assert_eq!(tried["data"]["_next"], json!(["Message:No"]), "{tried}");
}
