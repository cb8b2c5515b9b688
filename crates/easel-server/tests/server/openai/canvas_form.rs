//! The same in the form of canvas clients.

use serde_json::json;

use super::{SCOPES, data, post, says, send, with};
use crate::support::{canvas, model};

#[tokio::test]
async fn canvas_clients_speak_it_in_their_own_form() {
    let (server, agent, key) = with(&model()).await;
    let path = format!("/api/v1/agents_openai/{agent}/chat/completions");
    let (status, answer) = post(
        &server,
        &key,
        &path,
        json!({"model": "model", "messages": says("tell")}),
    )
    .await;
    assert_eq!(
        (status, &answer["object"], &answer["param"]),
        (200, &json!("chat.completion"), &json!(null))
    );
    let message = &answer["choices"][0]["message"];
    assert_eq!(
        (&message["content"], &answer["model"]),
        (&json!("Once upon a time."), &json!(agent))
    );
    assert!(answer["usage"]["completion_tokens"].as_u64().unwrap() > 0);
    let session = answer["id"].as_str().unwrap();
    let body =
        json!({"messages": says("more"), "stream": true, "session_id": session, "user_id": "u"});
    let (_, _, stream) = send(&server, &key, &path, Some(body)).await;
    assert!(stream.ends_with("data: [DONE]\n\n"), "{stream}");
    let chunks = data(&stream);
    let first = &chunks[0];
    assert_eq!(
        (&first["id"], &first["system_fingerprint"], &first["usage"]),
        (&json!(session), &json!(""), &json!(null))
    );
    assert_eq!(first["choices"][0]["delta"]["function_call"], json!(null));
    let deltas = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    assert_eq!(deltas.collect::<String>(), "Once upon a time.");
    assert_eq!(
        chunks.last().unwrap()["choices"][0]["finish_reason"],
        "stop"
    );

    // The same by the flag of the route that all canvas clients use.
    let body = json!({"agent_id": agent, "openai-compatible": true, "messages": says("tell")});
    let (_, flagged) = post(&server, &key, "/api/v1/agents/chat/completions", body).await;
    assert_eq!(
        (&flagged["object"], &flagged["model"]),
        (&answer["object"], &json!(agent))
    );
    assert_eq!(
        flagged["choices"][0]["message"]["content"],
        "Once upon a time."
    );

    let (status, none) = post(&server, &key, &path, json!({"messages": []})).await;
    assert_eq!((status, &none["code"]), (200, &json!(102)));
    assert_eq!(none["message"], "You must provide at least one message.");
    let body = json!({"messages": says("x"), "id": "unknown"});
    assert_eq!(
        post(&server, &key, &path, body).await.1["message"],
        "Session not found!"
    );
    let bob = server.key("bob", SCOPES).await;
    let (_, foreign) = post(&server, &bob, &path, json!({"messages": says("x")})).await;
    assert_eq!(foreign["code"], 103);
    assert_eq!(
        post(&server, "no-key", &path, json!({"messages": says("x")}))
            .await
            .0,
        401
    );
}

#[tokio::test]
async fn canvas_clients_hear_of_a_failure_as_text() {
    let broken = canvas(&[(
        "Message:Out",
        "Message",
        json!({"content": ["{Agent:Nowhere@content}"]}),
    )]);
    let (server, agent, key) = with(&broken).await;
    let path = format!("/api/v1/agents_openai/{agent}/chat/completions");
    let (status, answer) = post(&server, &key, &path, json!({"messages": says("x")})).await;
    assert_eq!(status, 200);
    let content = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(
        content.starts_with("**ERROR**: ") && content.contains("Agent:Nowhere"),
        "{content}"
    );
    let body = json!({"messages": says("x"), "stream": true});
    let (.., stream) = send(&server, &key, &path, Some(body)).await;
    let last = data(&stream).pop().unwrap();
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert!(
        last["choices"][0]["delta"]["content"]
            .as_str()
            .unwrap()
            .starts_with("**ERROR**: ")
    );
}
