use easel_models::config::{ModelConfig, ProviderConfig, ProviderKind, ThinkingField};
use easel_models::{
    ChatRequest, Content, FinishReason, Message, ModelError, ModelEvent, Part, ResponseFormat,
    Role, Sampling, Thinking, ToolCall, ToolSpec,
};
use serde_json::{Value as Json, json};

use super::server::{KEY, Prepared, Server, ask, events, replied, reply, sent};

const KIND: ProviderKind = ProviderKind::Anthropic;

fn start() -> Json {
    json!({"type": "message_start", "message": {"id": "msg_1", "usage": {
        "input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}}})
}

fn block(index: u32, block: Json) -> Json {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: Json) -> Json {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u32) -> Json {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Json; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 25}}),
        json!({"type": "message_stop"}),
    ]
}

fn thoughtful_call() -> Prepared {
    let mut data = vec![
        start(),
        json!({"type": "ping"}),
        block(0, json!({"type": "thinking", "thinking": ""})),
        delta(
            0,
            json!({"type": "thinking_delta", "thinking": "let me see"}),
        ),
        delta(0, json!({"type": "signature_delta", "signature": "sig"})),
        stop(0),
        block(1, json!({"type": "redacted_thinking", "data": "xyz"})),
        stop(1),
        block(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "I'll look."})),
        stop(2),
        block(
            3,
            json!({"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}),
        ),
        delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(
            3,
            json!({"type": "input_json_delta", "partial_json": "{\"q\": "}),
        ),
        delta(3, json!({"type": "input_json_delta", "partial_json": "1}"})),
        stop(3),
        block(
            4,
            json!({"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}),
        ),
        stop(4),
    ];
    data.extend(end("tool_use"));
    Prepared::events(data)
}

#[tokio::test]
async fn text_reasoning_calls_and_usage_come_in() {
    let reply = replied(KIND, thoughtful_call()).await.unwrap();
    assert_eq!(
        (&*reply.text, &*reply.reasoning),
        ("I'll look.", "let me see")
    );
    let calls: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|c| (&*c.id, &*c.name, &*c.arguments))
        .collect();
    assert_eq!(
        calls,
        [
            ("toolu_1", "search", "{\"q\": 1}"),
            ("toolu_2", "now", "{}")
        ]
    );
    let usage = reply.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cached_tokens, usage.output_tokens),
        (15, 5, 25)
    );
    assert_eq!(reply.finish_reason, FinishReason::ToolCalls);
}

#[tokio::test]
async fn signed_reasoning_goes_back_with_the_results_of_its_calls_in_one_turn() {
    let server = Server::start([thoughtful_call()]).await;
    let model = server.model(KIND);
    let first = reply(&model, ask("hi")).await.unwrap();
    let again = ChatRequest {
        messages: vec![
            Message::user("hi"),
            first.into_message(),
            Message::tool("toolu_1", "found"),
            Message::tool("toolu_2", "noon"),
            Message::user("go on"),
        ],
        ..ask("")
    };
    let _ = reply(&model, again).await;
    assert_eq!(
        server.got()[1].body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "let me see", "signature": "sig"},
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "text", "text": "I'll look."},
                {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": 1}},
                {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "noon"},
                {"type": "text", "text": "go on"}]}
        ])
    );
}

#[tokio::test]
async fn the_request_is_what_the_api_expects() {
    let request = ChatRequest {
        messages: vec![
            Message::system("Be brief."),
            Message {
                content: Content::Parts(vec![
                    Part::text("what?"),
                    Part::image("data:image/jpeg;base64,AA=="),
                    Part::image("https://example.org/a.png"),
                ]),
                ..Message::default()
            },
            Message::assistant(""),
            Message {
                role: Role::Assistant,
                tool_calls: vec![ToolCall {
                    id: "c".into(),
                    name: "t".into(),
                    arguments: "{broken".into(),
                }],
                ..Message::default()
            },
        ],
        tools: vec![ToolSpec {
            name: "t".into(),
            description: "d".into(),
            parameters: json!({"type": "object"}).into(),
        }],
        sampling: Sampling {
            temperature: Some(0.2),
            presence_penalty: Some(1.0),
            ..Sampling::default()
        },
        response_format: Some(ResponseFormat {
            name: "answer".into(),
            schema: json!({"type": "object"}).into(),
        }),
        ..ask("")
    };
    let got = sent(|server| server.config(KIND), request).await;
    assert_eq!(got.path, "/base/messages");
    assert_eq!(got.headers["x-api-key"], KEY);
    assert_eq!(got.headers["anthropic-version"], "2023-06-01");
    assert_eq!(
        got.body,
        json!({
            "model": "m",
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "what?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AA=="}},
                    {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "c", "name": "t", "input": {"arguments": "{broken"}}]}
            ],
            "tools": [{"name": "t", "description": "d", "input_schema": {"type": "object"}}],
            "temperature": 0.2,
            "max_tokens": 8192,
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
            "stream": true
        })
    );
}

#[tokio::test]
async fn reasoning_is_asked_for_as_the_model_wants_it() {
    let request = |thinking| ChatRequest {
        thinking,
        sampling: Sampling {
            temperature: Some(0.2),
            max_tokens: Some(1000),
            ..Sampling::default()
        },
        ..ask("hi")
    };
    let budget = |server: &Server| {
        let older = ModelConfig {
            thinking: Some(ThinkingField::Budget),
            ..ModelConfig::default()
        };
        ProviderConfig {
            models: [("m".to_owned(), older)].into_iter().collect(),
            ..server.config(KIND)
        }
    };
    let adaptive = sent(|server| server.config(KIND), request(Thinking::Enabled))
        .await
        .body;
    assert_eq!(adaptive["thinking"], json!({"type": "adaptive"}));
    assert!(adaptive.get("temperature").is_none());
    let budgeted = sent(budget, request(Thinking::Enabled)).await.body;
    assert_eq!(
        budgeted["thinking"],
        json!({"type": "enabled", "budget_tokens": 1024})
    );
    assert_eq!(budgeted["max_tokens"], 2048);
    let disabled = sent(|server| server.config(KIND), request(Thinking::Disabled))
        .await
        .body;
    assert_eq!(disabled["thinking"], json!({"type": "disabled"}));
    assert_eq!(
        (&disabled["temperature"], &disabled["max_tokens"]),
        (&json!(0.2), &json!(1000))
    );
}

#[tokio::test]
async fn an_error_event_ends_the_stream() {
    let server = Server::start([Prepared::events([
        start(),
        block(0, json!({"type": "text", "text": "half"})),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ])])
    .await;
    let events = events(&server.model(KIND), ask("hi")).await;
    assert_eq!(events[0], Ok(ModelEvent::Text("half".into())));
    let error = events[1].clone().unwrap_err();
    assert!(
        matches!(error, ModelError::Failed { passing: true, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn reasons_to_stop_are_translated() {
    for (reason, expected) in [
        ("end_turn", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("pause_turn", FinishReason::Other("pause_turn".into())),
    ] {
        let data = [vec![start()], end(reason).to_vec()].concat();
        assert_eq!(
            replied(KIND, Prepared::events(data))
                .await
                .unwrap()
                .finish_reason,
            expected
        );
    }
    let cut = replied(KIND, Prepared::events([start()]))
        .await
        .unwrap_err();
    assert!(matches!(cut, ModelError::Broken { .. }));
}
