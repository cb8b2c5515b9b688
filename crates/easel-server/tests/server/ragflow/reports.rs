//! Reports of users of other engines, as this server answers them.

use serde_json::{Value as Json, json};

use super::{Client, text};
use crate::support::{TestServer, canvas};

/// Asks for a pin and shows it to a model.
fn pin() -> Json {
    let ask = json!({"enable_tips": true, "tips": "Please answer.", "inputs": {"pin": {"name": "pin", "type": "line", "optional": false}}});
    let agent = json!({"llm_id": "m@x", "prompts": [{"role": "user", "content": "pin={UserFillUp:Pin@pin}"}], "max_retries": 0});
    canvas(&[
        ("UserFillUp:Pin", "UserFillUp", ask),
        ("Agent:A", "Agent", agent),
        (
            "Message:Out",
            "Message",
            json!({"content": ["{Agent:A@content}"]}),
        ),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_with_conversations_of_one_name_share_nothing() {
    let server = TestServer::start().await;
    let ada = Client::of(&server, "ada").await;
    let bob = Client::of(&server, "bob").await;
    server.store.join_team("t", "ada").await.unwrap();
    server.store.join_team("t", "bob").await.unwrap();
    let agent = ada.agent("Pin", &pin()).await;
    ada.put(&format!("/agents/{agent}"), json!({"permission": "team"}))
        .await;
    let stored = async || ada.get(&format!("/agents/{agent}")).await["data"]["dsl"].clone();
    let before = stored().await;
    let open = async |client: &Client<'_>, user: &str| {
        let body = json!({"user_id": user, "name": "New chat"});
        let opened = client
            .post(&format!("/agents/{agent}/sessions"), body)
            .await;
        text(&opened["data"]["id"])
    };
    let say = async |client: &Client<'_>, session: &str, body: Json| {
        let mut body = body;
        body["agent_id"] = agent.clone().into();
        body["session_id"] = session.into();
        client.follow(body).await
    };
    let prompts = || Json::from(server.script.model_calls()).to_string();
    let first = open(&ada, "user-1").await;
    let asked = say(&ada, &first, json!({"query": "hi"})).await;
    assert!(asked.named("user_inputs")[0]["data"]["inputs"]["pin"].is_object());
    let second = open(&bob, "user-2").await;
    let asked = say(&bob, &second, json!({"query": "hello"})).await;
    // It begins at the beginning and asks on its own account.
    assert_eq!(
        asked.named("node_finished")[0]["data"]["component_id"],
        "begin"
    );
    assert!(asked.named("user_inputs")[0]["data"]["inputs"]["pin"].is_object());
    prompts();
    let answered = say(
        &ada,
        &first,
        json!({"query": "", "inputs": {"pin": {"type": "line", "value": "1234"}}}),
    )
    .await;
    assert_eq!(answered.said(), "ok");
    assert!(prompts().contains("pin=1234"));
    let answered = say(
        &bob,
        &second,
        json!({"query": "", "inputs": {"pin": "9999"}}),
    )
    .await;
    assert_eq!(answered.said(), "ok");
    let told = prompts();
    assert!(
        told.contains("pin=9999") && !told.contains("1234"),
        "{told}"
    );
    let foreign = bob.get(&format!("/agents/{agent}/sessions/{first}")).await;
    assert_eq!(foreign["code"], 102);
    let of_user = ada
        .get(&format!("/agents/{agent}/sessions/{first}?user_id=user-2"))
        .await;
    assert_eq!(of_user["code"], 102);
    assert_eq!(stored().await, before, "the agent is as it was");
}

/// A loop that appends a text of 2,000 characters to a list in each of its passes.
fn appending(passes: u32) -> Json {
    let list = json!({"loop_variables": [{"variable": "n", "type": "number", "input_mode": "constant", "value": 0}],
        "loop_termination_condition": [{"variable": "Loop:L@n", "operator": "≥", "value": 100_000, "input_mode": "constant"}],
        "logical_operator": "and", "maximum_loop_count": passes});
    let code = json!({"lang": "python", "script": "def main():\n    return 'x' * 2000\n", "arguments": {},
        "outputs": {"text": {"type": "String", "value": null}}});
    let assign = json!({"variables": [
        {"variable": "env.log", "operator": "append", "parameter": "CodeExec:Chunk@text"},
        {"variable": "Loop:L@n", "operator": "+=", "parameter": 1},
    ]});
    let node = |component: &str, params: Json, up: &[&str], down: &[&str]| json!({"obj": {"component_name": component, "params": params}, "upstream": up, "downstream": down});
    let body = |mut node: Json| {
        node["parent_id"] = "Loop:L".into();
        node
    };
    json!({
        "components": {
            "begin": node("Begin", json!({}), &[], &["Loop:L"]),
            "Loop:L": node("Loop", list, &["begin"], &["Message:Out"]),
            "LoopItem:I": body(node("LoopItem", json!({}), &[], &["CodeExec:Chunk"])),
            "CodeExec:Chunk": body(node("CodeExec", code, &["LoopItem:I"], &["VariableAssigner:Add"])),
            "VariableAssigner:Add": body(node("VariableAssigner", assign, &["CodeExec:Chunk"], &[])),
            "Message:Out": node("Message", json!({"content": ["n={Loop:L@n}"]}), &["Loop:L"], &[]),
        },
        "variables": {"log": {"name": "log", "type": "array<string>", "value": []}},
        "globals": {"env.log": []},
    })
}

/// The bytes on disk that a loop of so many passes left.
async fn stored(chunk: &str, passes: u32) -> u64 {
    let world = json!({"llm": {}, "code": [{"match": {"contains": "2000"}, "result": chunk}]});
    let server = TestServer::with_world(world).await;
    let ada = Client::of(&server, "ada").await;
    let agent = ada.agent("Loop", &appending(passes)).await;
    let database = server.path().join("easel.db");
    let stream = ada.follow(json!({"agent_id": agent, "query": "go"})).await;
    assert_eq!(
        stream.said(),
        format!("n={passes}"),
        "{:?}",
        stream.frames.last()
    );
    // What was written ahead is in the database once that is closed.
    server.store.close().await;
    std::fs::metadata(database).unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_loop_stores_grows_with_its_passes_and_not_with_their_square() {
    let chunk = "x".repeat(2_000);
    let (nothing, few, many) =
        tokio::join!(stored(&chunk, 1), stored(&chunk, 50), stored(&chunk, 100));
    let (few, many) = (few - nothing, many - nothing);
    assert!(few < 1_000_000, "{few} bytes for 50 passes");
    assert!(
        10 * many < 23 * few,
        "{many} bytes for 100 passes, {few} for 50"
    );
    let text: String = (0..2_000_u64)
        .map(|at| char::from(b'!' + (at * at * 2_654_435_761 % 89) as u8))
        .collect();
    let (few, many) = tokio::join!(stored(&text, 50), stored(&text, 100));
    eprintln!("MEASURED {few} {many} {nothing}");
}
