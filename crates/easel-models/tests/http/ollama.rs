use easel_models::config::{ModelConfig, ProviderConfig, ProviderKind};
use easel_models::{
    ChatRequest, Content, FinishReason, Message, ModelError, Part, ResponseFormat, Role, Sampling,
    Thinking, ToolCall,
};
use serde_json::{Value as Json, json};

use super::server::{Prepared, Server, Step, ask, replied, sent};

const KIND: ProviderKind = ProviderKind::Ollama;

fn said(message: Json) -> Json {
    json!({"model": "m", "message": message, "done": false})
}

fn done(reason: &str) -> Json {
    json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
        "prompt_eval_count": 11, "eval_count": 4})
}

#[tokio::test]
async fn text_reasoning_calls_and_usage_come_in() {
    let reply = replied(
        KIND,
        Prepared::lines([
            said(json!({"role": "assistant", "content": "", "thinking": "let me see"})),
            said(json!({"content": "I'll "})),
            said(json!({"content": "look.", "tool_calls": [
                {"function": {"name": "search", "arguments": {"q": 1}}},
                {"id": "x", "function": {"name": "now"}}]})),
            done("stop"),
        ]),
    )
    .await
    .unwrap();
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
        [("call_0", "search", "{\"q\":1}"), ("x", "now", "{}")]
    );
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (11, 4));
    assert_eq!(reply.finish_reason, FinishReason::ToolCalls);
}

#[tokio::test]
async fn lines_may_be_cut_anywhere() {
    let whole = Prepared::lines([said(json!({"content": "Grüße 🎨"})), done("length")]);
    let Step::Send(body) = &whole.steps[0] else {
        unreachable!()
    };
    let pieces = body.chunks(7).map(|piece| Step::Send(piece.to_vec()));
    let cut = Prepared {
        steps: pieces.collect(),
        ..whole.clone()
    };
    let reply = replied(KIND, cut).await.unwrap();
    assert_eq!(
        (&*reply.text, reply.finish_reason),
        ("Grüße 🎨", FinishReason::Length)
    );
}

#[tokio::test]
async fn the_request_is_what_the_api_expects() {
    let configure = |server: &Server| ProviderConfig {
        key: None,
        models: [(
            "m".to_owned(),
            ModelConfig {
                context_window: 32_768,
                body: serde_json::from_value(json!({"keep_alive": "1h", "options": {"seed": 1}}))
                    .unwrap(),
                ..ModelConfig::default()
            },
        )]
        .into_iter()
        .collect(),
        ..server.config(KIND)
    };
    let request = ChatRequest {
        messages: vec![
            Message::system("Be brief."),
            Message {
                content: Content::Parts(vec![
                    Part::text("what?"),
                    Part::image("data:image/png;base64,AA=="),
                ]),
                ..Message::default()
            },
            Message {
                role: Role::Assistant,
                tool_calls: vec![ToolCall {
                    id: "call_0".into(),
                    name: "search".into(),
                    arguments: "{\"q\": 1}".into(),
                }],
                ..Message::default()
            },
            Message::tool("call_0", "found"),
        ],
        sampling: Sampling {
            temperature: Some(0.5),
            max_tokens: Some(9),
            ..Sampling::default()
        },
        thinking: Thinking::Disabled,
        response_format: Some(ResponseFormat {
            name: "answer".into(),
            schema: json!({"type": "object"}).into(),
        }),
        ..ask("")
    };
    let got = sent(configure, request).await;
    assert_eq!(got.path, "/base/chat");
    assert_eq!(
        got.body,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "what?", "images": ["AA=="]},
                {"role": "assistant", "content": "", "tool_calls": [
                    {"id": "call_0", "function": {"name": "search", "arguments": {"q": 1}}}]},
                {"role": "tool", "content": "found", "tool_name": "search", "tool_call_id": "call_0"}
            ],
            "options": {"num_ctx": 32_768, "temperature": 0.5, "num_predict": 9, "seed": 1},
            "think": false,
            "format": {"type": "object"},
            "stream": true,
            "keep_alive": "1h"
        })
    );
}

#[tokio::test]
async fn a_model_that_is_not_pulled_is_told() {
    let missing = Prepared::json(404, json!({"error": "model 'm' not found"}));
    let error = replied(KIND, missing).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Test refused the request (HTTP 404): model 'm' not found"
    );
    let midway = Prepared::lines([
        said(json!({"content": "half"})),
        json!({"error": "out of memory"}),
    ]);
    assert!(matches!(
        replied(KIND, midway).await,
        Err(ModelError::Failed { .. })
    ));
    let cut = Prepared::lines([said(json!({"content": "half"}))]);
    assert!(matches!(
        replied(KIND, cut).await,
        Err(ModelError::Broken { .. })
    ));
    let other = Prepared::lines([json!({"hello": "world"})]);
    assert!(matches!(
        replied(KIND, other).await,
        Err(ModelError::Garbage { .. })
    ));
}
