//! Agents as OpenAI's clients see them.

mod canvas_form;
mod clients;
mod responses;

use easel_store::{Dialect, NewAgent};
use serde_json::{Value as Json, json};

use crate::support::{TestServer, canvas, client, echo, form, model};

const SCOPES: &[&str] = &["read", "run"];

/// A server with a released agent of that canvas, which is ann's, and a key of hers.
async fn with(agent: &Json) -> (TestServer, String, String) {
    let world = json!({"llm": {}, "default_reply": "Once upon a time."});
    let server = TestServer::with_world(world).await;
    let agent = server.agent("ann", "Helper", agent).await;
    server.store.publish(&agent, "first").await.unwrap();
    let key = server.key("ann", SCOPES).await;
    (server, agent, key)
}

/// Status, headers and body.
type Got = (u16, reqwest::header::HeaderMap, String);

async fn send(server: &TestServer, key: &str, path: &str, body: Option<Json>) -> Got {
    let url = server.url(path);
    let request = match &body {
        Some(body) => client()
            .post(url)
            .header("content-type", "application/json")
            .body(body.to_string()),
        None => client().get(url),
    };
    let response = request.bearer_auth(key).send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    (status, headers, response.text().await.unwrap())
}

async fn post(server: &TestServer, key: &str, path: &str, body: Json) -> (u16, Json) {
    let (status, _, text) = send(server, key, path, Some(body)).await;
    (status, serde_json::from_str(&text).unwrap())
}

async fn get(server: &TestServer, key: &str, path: &str) -> (u16, Json) {
    let (status, _, text) = send(server, key, path, None).await;
    (status, serde_json::from_str(&text).unwrap())
}

async fn chat(server: &TestServer, key: &str, body: Json) -> (u16, Json) {
    post(server, key, "/v1/chat/completions", body).await
}

fn says(text: &str) -> Json {
    json!([{"role": "user", "content": text}])
}

/// The data of each event of a stream.
fn data(stream: &str) -> Vec<Json> {
    let lines = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let lines = lines.filter(|line| *line != "[DONE]");
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn every_released_agent_is_a_model() {
    let (server, agent, key) = with(&echo()).await;
    server.agent("ann", "Draft", &echo()).await;
    let hers = server.agent("bob", "His", &echo()).await;
    server.store.publish(&hers, "first").await.unwrap();
    let (status, models) = get(&server, &key, "/v1/models").await;
    assert_eq!((status, &models["object"]), (200, &json!("list")));
    let ids: Vec<&Json> = models["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["id"])
        .collect();
    assert_eq!(ids, [&json!(agent)]);
    assert_eq!(models["data"][0]["owned_by"], "ann");
    let (_, one) = get(&server, &key, &format!("/v1/models/{agent}")).await;
    assert_eq!(
        (&one["object"], &one["name"]),
        (&json!("model"), &json!("Helper"))
    );
    for unknown in [hers.as_str(), "gpt-5", "Draft"] {
        let (status, error) = get(&server, &key, &format!("/v1/models/{unknown}")).await;
        assert_eq!(
            (status, &error["error"]["code"]),
            (404, &json!("model_not_found")),
            "{unknown}"
        );
        let (status, error) = chat(
            &server,
            &key,
            json!({"model": unknown, "messages": says("x")}),
        )
        .await;
        assert_eq!(
            (status, &error["error"]["code"]),
            (404, &json!("model_not_found")),
            "{unknown}"
        );
    }
}

#[tokio::test]
async fn an_agent_answers_in_one_piece() {
    let (server, agent, key) = with(&echo()).await;
    let (status, answer) = chat(
        &server,
        &key,
        json!({"model": agent, "messages": says("hi")}),
    )
    .await;
    assert_eq!(
        (status, &answer["object"]),
        (200, &json!("chat.completion"))
    );
    let choice = &answer["choices"][0];
    assert_eq!(choice["message"]["content"], "You said hi.");
    assert_eq!(
        (&choice["message"]["role"], &choice["finish_reason"]),
        (&json!("assistant"), &json!("stop"))
    );
    assert_eq!(
        (&answer["model"], &answer["usage"]["total_tokens"]),
        (&json!(agent), &json!(0))
    );
    let run = answer["easel"]["run_id"].as_str().unwrap();
    let record = server.store.run(run).await.unwrap().unwrap();
    assert_eq!(
        (&*record.origin.trigger, &*record.origin.owner),
        ("openai", "ann")
    );
    // By its title, too.
    let (status, _) = chat(
        &server,
        &key,
        json!({"model": "Helper", "messages": says("hi")}),
    )
    .await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn an_agent_answers_piece_by_piece() {
    let (server, agent, key) = with(&model()).await;
    let body = json!({
        "model": agent, "messages": says("tell"), "stream": true, "stream_options": {"include_usage": true},
    });
    let (status, headers, stream) =
        send(&server, &key, "/v1/chat/completions", Some(body.clone())).await;
    assert_eq!(
        (status, headers["content-type"].to_str().unwrap()),
        (200, "text/event-stream")
    );
    assert!(stream.ends_with("data: [DONE]\n\n"), "{stream}");
    let chunks = data(&stream);
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk["object"] == "chat.completion.chunk"
                && chunk["id"] == chunks[0]["id"])
    );
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let deltas = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    assert_eq!(deltas.collect::<String>(), "Once upon a time.");
    let [.., last, usage] = &chunks[..] else {
        panic!("{stream}")
    };
    assert_eq!(last["choices"][0]["finish_reason"], "stop");
    assert_eq!(usage["choices"], json!([]));
    assert!(
        usage["usage"]["total_tokens"].as_u64().unwrap() > 0,
        "{usage}"
    );
    assert_eq!(
        headers["x-easel-session"],
        chunks[0]["metadata"]["session_id"].as_str().unwrap()
    );
    let mut plain = body;
    plain["stream_options"] = Json::Null;
    let (.., stream) = send(&server, &key, "/v1/chat/completions", Some(plain)).await;
    assert!(
        data(&stream)
            .iter()
            .all(|chunk| chunk.get("usage").is_none())
    );
}

/// Says how many turns there were and what was said before.
fn remembers() -> Json {
    canvas(&[(
        "Message:Memory",
        "Message",
        json!({"content": ["{sys.conversation_turns}: {sys.history}"]}),
    )])
}

#[tokio::test]
async fn a_session_goes_on_where_it_is_named() {
    let (server, agent, key) = with(&remembers()).await;
    let ask = async |extra: Json, text: &str| {
        let mut body = json!({"model": agent, "messages": says(text)});
        for (name, value) in extra.as_object().unwrap() {
            body[name] = value.clone();
        }
        chat(&server, &key, body).await.1
    };
    let content = |answer: &Json| {
        answer["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let first = ask(json!({}), "one").await;
    let session = first["metadata"]["session_id"].as_str().unwrap().to_owned();
    assert!(content(&first).starts_with("1: "), "{first}");
    let second = ask(json!({"metadata": {"session_id": session}}), "two").await;
    assert!(
        content(&second).starts_with("2: ") && content(&second).contains("user: one"),
        "{second}"
    );
    let url = server.url("/v1/chat/completions");
    let body = json!({"model": agent, "messages": says("three")}).to_string();
    let third = client()
        .post(url)
        .bearer_auth(&key)
        .header("x-easel-session", &session)
        .body(body);
    let third: Json =
        serde_json::from_str(&third.send().await.unwrap().text().await.unwrap()).unwrap();
    assert!(content(&third).starts_with("3: "), "{third}");
    let other = ask(json!({}), "new").await;
    assert!(
        content(&other).starts_with("1: ") && !content(&other).contains("user: one"),
        "{other}"
    );
}

#[tokio::test]
async fn earlier_messages_seed_a_new_session() {
    let (server, agent, key) = with(&remembers()).await;
    let messages = json!([
        {"role": "system", "content": "be brief"}, {"role": "user", "content": "my name is Ann"},
        {"role": "assistant", "content": "Hello Ann"}, {"role": "user", "content": "who am I?"},
    ]);
    let (_, answer) = chat(&server, &key, json!({"model": agent, "messages": messages})).await;
    let content = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(
        content.contains("user: my name is Ann") && content.contains("assistant: Hello Ann"),
        "{content}"
    );
    assert!(!content.contains("be brief"), "{content}");
}

#[tokio::test]
async fn sessions_are_their_owners_and_users() {
    let (server, agent, key) = with(&echo()).await;
    let ask = async |key: &str, user: &str, session: Option<&str>| {
        let mut body = json!({"model": agent, "messages": says("x"), "user": user});
        if let Some(session) = session {
            body["metadata"] = json!({"session_id": session});
        }
        chat(&server, key, body).await
    };
    let (_, first) = ask(&key, "u1", None).await;
    let session = first["metadata"]["session_id"].as_str().unwrap();
    assert_eq!(ask(&key, "u1", Some(session)).await.0, 200);
    let (status, error) = ask(&key, "u2", Some(session)).await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (404, &json!("session_not_found"))
    );
    assert_eq!(ask(&key, "u1", Some("nothing")).await.0, 404);
    let bob = server.key("bob", SCOPES).await;
    assert_eq!(
        ask(&bob, "u1", Some(session)).await.1["error"]["code"],
        "model_not_found"
    );
    let other = server.agent("ann", "Other", &echo()).await;
    server.store.publish(&other, "first").await.unwrap();
    let body = json!({"model": other, "messages": says("x"), "metadata": {"session_id": session}});
    assert_eq!(chat(&server, &key, body).await.0, 404);
}

#[tokio::test]
async fn a_question_is_text_and_a_form() {
    let (server, agent, key) = with(&form()).await;
    let (status, asked) = chat(
        &server,
        &key,
        json!({"model": agent, "messages": says("hi")}),
    )
    .await;
    let choice = &asked["choices"][0];
    assert_eq!(
        (status, &choice["message"]["content"]),
        (200, &json!("Who are you?"))
    );
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(asked["easel"]["waiting"]["tips"], "Who are you?");
    assert_eq!(asked["easel"]["waiting"]["fields"]["name"]["type"], "line");
    let session = &asked["metadata"]["session_id"];
    let body =
        json!({"model": agent, "messages": says("Ann"), "metadata": {"session_id": session}});
    let (_, answered) = chat(&server, &key, body.clone()).await;
    assert_eq!(answered["choices"][0]["message"]["content"], "Hello Ann.");
    assert_eq!(answered["easel"]["run_id"], asked["easel"]["run_id"]);
    assert_ne!(answered["id"], asked["id"]);
    // Answered by name, in a stream.
    let again = json!({"model": agent, "messages": says("hi"), "stream": true});
    let (.., stream) = send(&server, &key, "/v1/chat/completions", Some(again)).await;
    let chunks = data(&stream);
    let last = chunks.last().unwrap();
    assert_eq!(last["easel"]["waiting"]["tips"], "Who are you?");
    let mut body = body;
    body["metadata"]["session_id"] = last["easel"]["session_id"].clone();
    body["inputs"] = json!({"name": "Bob"});
    assert_eq!(
        chat(&server, &key, body).await.1["choices"][0]["message"]["content"],
        "Hello Bob."
    );
}

#[tokio::test]
async fn files_come_with_a_message() {
    let shows = canvas(&[(
        "Message:Files",
        "Message",
        json!({"content": ["{sys.query}: {sys.files}"]}),
    )]);
    let (server, agent, key) = with(&shows).await;
    let content = json!([
        {"type": "text", "text": "read"},
        {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,aGVsbG8="}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
    ]);
    let body = json!({"model": agent, "messages": [{"role": "user", "content": content}]});
    let (status, answer) = chat(&server, &key, body).await;
    let said = answer["choices"][0]["message"]["content"]
        .as_str()
        .unwrap_or_default();
    assert_eq!(status, 200, "{answer}");
    assert!(
        said.contains("hello") && said.contains("data:image/png;base64,UE5H"),
        "{said}"
    );
    let content =
        json!([{"type": "image_url", "image_url": {"url": "http://169.254.169.254/x.png"}}]);
    let body = json!({"model": agent, "messages": [{"role": "user", "content": content}]});
    assert_eq!(chat(&server, &key, body).await.0, 400);
}

#[tokio::test]
async fn what_is_wrong_is_said_as_clients_read_it() {
    let (server, agent, key) = with(&echo()).await;
    let wrong = [
        (
            json!({"messages": says("x")}),
            400,
            "missing_required_parameter",
        ),
        (json!({"model": agent}), 400, "missing_required_parameter"),
        (
            json!({"model": agent, "messages": []}),
            400,
            "invalid_value",
        ),
        (
            json!({"model": agent, "messages": [{"role": "boss"}]}),
            400,
            "invalid_value",
        ),
        (
            json!({"model": agent, "messages": says("x"), "stream": "yes"}),
            400,
            "invalid_type",
        ),
        (
            json!({"model": agent, "messages": says("x"), "n": 2}),
            400,
            "unsupported_value",
        ),
        (json!([]), 400, "invalid_json"),
    ];
    for (body, status, code) in wrong {
        let (got, error) = chat(&server, &key, body.clone()).await;
        assert_eq!(
            (got, &error["error"]["code"]),
            (status, &json!(code)),
            "{body}"
        );
        assert_eq!(error["error"]["type"], "invalid_request_error");
    }
    let url = server.url("/v1/chat/completions");
    let broken = client()
        .post(&url)
        .bearer_auth(&key)
        .body("{")
        .send()
        .await
        .unwrap();
    assert_eq!(broken.status(), 400);
    for path in ["/v1/models", "/v1/models/x", "/v1/responses/resp_x_1"] {
        let (status, error) = get(&server, "no-key", path).await;
        assert_eq!(
            (status, &error["error"]["code"]),
            (401, &json!("invalid_api_key")),
            "{path}"
        );
        let keyless = client().get(server.url(path)).send().await.unwrap();
        assert_eq!(keyless.status(), 401, "{path}");
    }
    for path in ["/v1/chat/completions", "/v1/responses"] {
        let (status, error) = post(&server, "no-key", path, json!({"model": agent})).await;
        assert_eq!(
            (status, &error["error"]["code"]),
            (401, &json!("invalid_api_key")),
            "{path}"
        );
        let reads = server.key("ann", &["read"]).await;
        let (status, error) = post(&server, &reads, path, json!({"model": agent})).await;
        assert_eq!(
            (status, &error["error"]["code"]),
            (403, &json!("insufficient_permissions")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_run_that_fails_is_an_error_that_clients_do_not_send_again() {
    let broken = canvas(&[(
        "Message:Out",
        "Message",
        json!({"content": ["{Agent:Nowhere@content}"]}),
    )]);
    let (server, agent, key) = with(&broken).await;
    let body = json!({"model": agent, "messages": says("x")});
    let (status, headers, text) = send(&server, &key, "/v1/chat/completions", Some(body)).await;
    assert_eq!(
        (status, headers["x-should-retry"].to_str().unwrap()),
        (500, "false")
    );
    assert!(text.contains("Agent:Nowhere"), "{text}");
    let body = json!({"model": agent, "messages": says("x"), "stream": true});
    let (status, _, stream) = send(&server, &key, "/v1/chat/completions", Some(body)).await;
    assert_eq!(status, 200);
    let last = data(&stream).pop().unwrap();
    assert_eq!(last["error"]["type"], "server_error");
    let body = json!({"model": agent, "input": "x"});
    let (status, response) = post(&server, &key, "/v1/responses", body).await;
    assert_eq!((status, &response["status"]), (200, &json!("failed")));
    assert!(
        response["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Agent:Nowhere")
    );
    let body = json!({"model": agent, "input": "x", "stream": true});
    let (.., stream) = send(&server, &key, "/v1/responses", Some(body)).await;
    assert_eq!(data(&stream).pop().unwrap()["type"], "response.failed");
}

#[tokio::test]
async fn a_graph_is_a_model_too() {
    let (server, _, key) = with(&echo()).await;
    let graph = "name: greet\ninputs: {who: string}\nnodes:\n  - {id: hello, kind: output, value: \"Hello {who}\"}\n";
    let document = server
        .store
        .put_document(Dialect::Graph, graph.as_bytes().to_vec())
        .await
        .unwrap();
    let new = NewAgent {
        owner: "ann".into(),
        title: "Greeter".into(),
        dialect: Some(Dialect::Graph),
        name: Some("greet".into()),
        document: document.to_string(),
        ..NewAgent::default()
    };
    server.store.create_agent(new).await.unwrap();
    let (_, models) = get(&server, &key, "/v1/models").await;
    assert_eq!(models["data"].as_array().unwrap().len(), 2);
    for query in ["Ann", r#"{"who": "Ann"}"#] {
        let (status, answer) = chat(
            &server,
            &key,
            json!({"model": "greet", "messages": says(query)}),
        )
        .await;
        assert_eq!(
            (status, &answer["choices"][0]["message"]["content"]),
            (200, &json!("Hello Ann")),
            "{answer}"
        );
    }
}
