use easel_models::config::ProviderKind;
use easel_models::{
    ChatRequest, Content, FinishReason, Message, ModelError, Part, ResponseFormat, Sampling,
    Thinking, ToolSpec,
};
use serde_json::json;

use super::server::{KEY, Prepared, Server, ask, replied, reply, sent};

const KIND: ProviderKind = ProviderKind::Gemini;

fn calling() -> Prepared {
    Prepared::events([
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "let me see", "thought": true}]}}]}),
        json!({"candidates": [{"content": {"parts": [
            {"text": "I'll look."},
            {"functionCall": {"name": "search", "args": {"q": 1}}, "thoughtSignature": "sig"},
            {"functionCall": {"id": "f2", "name": "now"}}]}}]}),
        json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}}),
    ])
}

#[tokio::test]
async fn text_reasoning_calls_and_usage_come_in() {
    let reply = replied(KIND, calling()).await.unwrap();
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
        [("call_0", "search", "{\"q\":1}"), ("f2", "now", "{}")]
    );
    let usage = reply.usage.unwrap();
    assert_eq!(
        (
            usage.input_tokens,
            usage.output_tokens,
            usage.reasoning_tokens
        ),
        (7, 5, 2)
    );
    assert_eq!(reply.finish_reason, FinishReason::ToolCalls);
}

#[tokio::test]
async fn signatures_go_back_with_their_calls_and_results_by_name() {
    let server = Server::start([calling()]).await;
    let model = server.model(KIND);
    let first = reply(&model, ask("hi")).await.unwrap();
    let again = ChatRequest {
        messages: vec![
            Message::user("hi"),
            first.into_message(),
            Message::tool("call_0", "found"),
            Message::tool("f2", "noon"),
        ],
        ..ask("")
    };
    let _ = reply(&model, again).await;
    assert_eq!(
        server.got()[1].body["contents"],
        json!([
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [
                {"text": "I'll look."},
                {"functionCall": {"id": "call_0", "name": "search", "args": {"q": 1}}, "thoughtSignature": "sig"},
                {"functionCall": {"id": "f2", "name": "now", "args": {}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "call_0", "name": "search", "response": {"result": "found"}}},
                {"functionResponse": {"id": "f2", "name": "now", "response": {"result": "noon"}}}]}
        ])
    );
}

#[tokio::test]
async fn the_request_is_what_the_api_expects() {
    let request = ChatRequest {
        model: "models/gemini/../x".into(),
        messages: vec![
            Message::system("Be brief."),
            Message {
                content: Content::Parts(vec![
                    Part::text("what?"),
                    Part::image("data:image/png;base64,AA=="),
                ]),
                ..Message::default()
            },
        ],
        tools: vec![ToolSpec {
            name: "t".into(),
            description: "d".into(),
            parameters: json!({"type": "object"}).into(),
        }],
        sampling: Sampling {
            temperature: Some(0.5),
            top_p: Some(0.25),
            max_tokens: Some(9),
            ..Sampling::default()
        },
        thinking: Thinking::Enabled,
        response_format: Some(ResponseFormat {
            name: "answer".into(),
            schema: json!({"type": "object"}).into(),
        }),
        ..ask("")
    };
    let got = sent(|server| server.config(KIND), request).await;
    // A name from a workflow stays one segment of the path, whatever is in it.
    assert_eq!(
        got.path,
        "/base/models/gemini%2F..%2Fx:streamGenerateContent?alt=sse"
    );
    assert_eq!(got.headers["x-goog-api-key"], KEY);
    assert_eq!(
        got.body,
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"role": "user", "parts": [
                {"text": "what?"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]}],
            "tools": [{"functionDeclarations": [
                {"name": "t", "description": "d", "parametersJsonSchema": {"type": "object"}}]}],
            "generationConfig": {
                "temperature": 0.5,
                "topP": 0.25,
                "maxOutputTokens": 9,
                "thinkingConfig": {"includeThoughts": true},
                "responseMimeType": "application/json",
                "responseJsonSchema": {"type": "object"}
            }
        })
    );
}

#[tokio::test]
async fn an_image_at_an_address_cannot_be_sent() {
    let server = Server::start([]).await;
    let request = ChatRequest {
        messages: vec![Message {
            content: Content::Parts(vec![Part::image("https://example.org/a.png")]),
            ..Message::default()
        }],
        ..ask("")
    };
    let error = reply(&server.model(KIND), request).await.unwrap_err();
    assert!(matches!(error, ModelError::Unsendable { .. }), "{error:?}");
    assert!(server.got().is_empty());
}

#[tokio::test]
async fn a_blocked_prompt_and_a_full_answer_say_so() {
    let blocked = Prepared::events([json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
    assert_eq!(
        replied(KIND, blocked).await.unwrap().finish_reason,
        FinishReason::ContentFilter
    );
    let full = json!({"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "MAX_TOKENS"}]});
    assert_eq!(
        replied(KIND, Prepared::events([full]))
            .await
            .unwrap()
            .finish_reason,
        FinishReason::Length
    );
    let cut = json!({"candidates": [{"content": {"parts": [{"text": "A"}]}}]});
    assert!(matches!(
        replied(KIND, Prepared::events([cut])).await,
        Err(ModelError::Broken { .. })
    ));
    let later = json!({"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}});
    let error = replied(KIND, Prepared::events([later])).await.unwrap_err();
    assert!(matches!(error, ModelError::Failed { passing: true, .. }));
}
