use std::time::Duration;

use easel_models::config::{ModelConfig, ProviderConfig, ProviderKind, ThinkingField};
use easel_models::{
    ChatModel, ChatReply, ChatRequest, Content, FinishReason, Message, ModelError, ModelEvent,
    Part, ResponseFormat, Role, Sampling, Thinking, ToolCall, ToolSpec, Usage,
};
use futures::StreamExt;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::server::{KEY, Prepared, Server, Step, ask, connect, events, replied, reply, sent};

const KIND: ProviderKind = ProviderKind::OpenAi;

fn text(delta: &str) -> Json {
    json!({"choices": [{"index": 0, "delta": {"content": delta}, "finish_reason": null}]})
}

fn call(delta: Json) -> Json {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]})
}

fn finish(reason: &str) -> Json {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn stream(chunks: impl IntoIterator<Item = Json>) -> Prepared {
    let done = "[DONE]".to_owned();
    Prepared::events(
        chunks
            .into_iter()
            .map(|chunk| chunk.to_string())
            .chain([done]),
    )
}

fn calls(reply: &ChatReply) -> Vec<(&str, &str, &str)> {
    reply
        .tool_calls
        .iter()
        .map(|c| (&*c.id, &*c.name, &*c.arguments))
        .collect()
}

#[tokio::test]
async fn an_answer_streams_in_and_ends_with_usage_and_finish() {
    let server = Server::start([stream([
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}),
        text("Bon"),
        text("jour"),
        finish("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 1}}}),
    ])])
    .await;
    let events = events(&server.model(KIND), ask("hi")).await;
    let usage = Usage {
        input_tokens: 9,
        output_tokens: 2,
        cached_tokens: 4,
        reasoning_tokens: 1,
    };
    assert_eq!(
        events,
        [
            Ok(ModelEvent::Text("Bon".into())),
            Ok(ModelEvent::Text("jour".into())),
            Ok(ModelEvent::Usage(usage)),
            Ok(ModelEvent::Finish(FinishReason::Stop)),
        ]
    );
}

#[tokio::test]
async fn the_request_is_what_the_api_expects() {
    let request = ChatRequest {
        tools: vec![ToolSpec {
            name: "search_0".into(),
            description: "Searches.".into(),
            parameters: json!({"type": "object"}).into(),
        }],
        sampling: Sampling {
            temperature: Some(0.1),
            max_tokens: Some(50),
            ..Sampling::default()
        },
        chat_template_kwargs: json!({"style": "short"}).as_object().map(|kwargs| {
            kwargs
                .iter()
                .map(|(key, value)| (key.as_str().into(), value.into()))
                .collect()
        }),
        thinking: Thinking::Disabled,
        response_format: Some(ResponseFormat {
            name: "answer".into(),
            schema: json!({"type": "object"}).into(),
        }),
        ..ask("hi")
    };
    let got = sent(|server| server.config(KIND), request).await;
    assert_eq!(got.path, "/base/chat/completions");
    assert_eq!(got.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(
        got.body,
        json!({
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {
                "name": "search_0", "description": "Searches.", "parameters": {"type": "object"}}}],
            "temperature": 0.1,
            "max_tokens": 50,
            "response_format": {"type": "json_schema", "json_schema": {
                "name": "answer", "schema": {"type": "object"}, "strict": true}},
            "chat_template_kwargs": {"style": "short", "enable_thinking": false},
            "stream": true,
            "stream_options": {"include_usage": true}
        })
    );
}

#[tokio::test]
async fn a_deployment_adds_headers_and_fields_and_names_models_its_own_way() {
    let configure = |server: &Server| ProviderConfig {
        headers: [("x-title".to_owned(), "Easel".to_owned())]
            .into_iter()
            .collect(),
        body: [("user".into(), "easel".into())].into_iter().collect(),
        stream_usage: false,
        thinking: Some(ThinkingField::Thinking),
        models: [(
            "m".to_owned(),
            ModelConfig {
                name: Some("vendor/m-2".to_owned()),
                max_output_tokens: Some(7),
                body: [("seed".into(), 1_i64.into())].into_iter().collect(),
                ..ModelConfig::default()
            },
        )]
        .into_iter()
        .collect(),
        ..server.config(KIND)
    };
    let request = ChatRequest {
        messages: vec![Message::user("hi")],
        thinking: Thinking::Enabled,
        ..ask("")
    };
    let got = sent(configure, request).await;
    assert_eq!(got.headers["x-title"], "Easel");
    assert_eq!(
        got.body,
        json!({
            "model": "vendor/m-2",
            "messages": [{"role": "user", "content": "hi"}],
            "max_tokens": 7,
            "thinking": {"type": "enabled"},
            "stream": true,
            "user": "easel",
            "seed": 1
        })
    );
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let configure = |server: &Server| ProviderConfig {
        key: None,
        ..server.config(KIND)
    };
    let got = sent(configure, ask("hi")).await;
    assert!(!got.headers.contains_key("authorization"));
}

#[tokio::test]
async fn an_image_and_an_earlier_call_go_along() {
    let request = ChatRequest {
        messages: vec![
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
                    id: "c1".into(),
                    name: "t".into(),
                    arguments: "{}".into(),
                }],
                provider_state: Some(json!({"gemini": ["another's"]}).into()),
                ..Message::default()
            },
            Message::tool("c1", "done"),
        ],
        ..ask("")
    };
    let got = sent(|server| server.config(KIND), request).await;
    assert_eq!(
        got.body["messages"],
        json!([
            {"role": "user", "content": [
                {"type": "text", "text": "what?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}]},
            {"role": "tool", "content": "done", "tool_call_id": "c1"}
        ])
    );
}

#[tokio::test]
async fn reasoning_comes_under_either_name_and_goes_back_beside_tool_calls() {
    for field in ["reasoning_content", "reasoning"] {
        let server = Server::start([
            stream([
                json!({"choices": [{"delta": {field: "let me "}}]}),
                json!({"choices": [{"delta": {field: "see", "content": null}}]}),
                call(json!({"index": 0, "id": "c1", "function": {"name": "t", "arguments": "{}"}})),
                finish("tool_calls"),
            ]),
            stream([text("done"), finish("stop")]),
        ])
        .await;
        let model = server.model(KIND);
        let first = reply(&model, ask("hi")).await.unwrap();
        assert_eq!(first.reasoning, "let me see");
        assert_eq!(first.finish_reason, FinishReason::ToolCalls);
        let again = ChatRequest {
            messages: vec![
                Message::user("hi"),
                first.into_message(),
                Message::tool("c1", "ok"),
            ],
            ..ask("")
        };
        assert_eq!(reply(&model, again).await.unwrap().provider_state, None);
        let message = &server.got()[1].body["messages"][1];
        assert_eq!(message[field], "let me see");
        assert!(message.get("provider_state").is_none());
    }
}

#[tokio::test]
async fn reasoning_sent_under_both_names_counts_once() {
    let both = json!({"choices": [{"delta": {"reasoning": "hm", "reasoning_content": "hm"}}]});
    let reply = replied(KIND, stream([both, text("A"), finish("stop")]))
        .await
        .unwrap();
    assert_eq!((&*reply.reasoning, &*reply.text), ("hm", "A"));
}

#[tokio::test]
async fn content_may_be_a_list_of_parts() {
    let parts = json!({"choices": [{"delta": {"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "A"}
    ]}}]});
    let reply = replied(KIND, stream([parts, finish("stop")]))
        .await
        .unwrap();
    assert_eq!((&*reply.reasoning, &*reply.text), ("hm", "A"));
}

#[tokio::test]
async fn tool_calls_are_put_together_by_index() {
    let reply = replied(
        KIND,
        stream([
            call(json!({"index": 0, "id": "a", "type": "function", "function": {"name": "one", "arguments": ""}})),
            call(json!({"index": 0, "function": {"arguments": "{\"q\""}})),
            call(json!({"index": 1, "id": "b", "function": {"name": "two"}})),
            call(json!({"index": 0, "id": "", "function": {"name": "one", "arguments": ":1}"}})),
            finish("tool_calls"),
        ]),
    )
    .await
    .unwrap();
    assert_eq!(
        calls(&reply),
        [("a", "one", "{\"q\":1}"), ("b", "two", "{}")]
    );
}

#[tokio::test]
async fn tool_calls_that_are_all_counted_zero_are_told_apart_by_id() {
    let whole = |id: &str, name: &str| {
        call(json!({"index": 0, "id": id, "function": {"name": name, "arguments": "{}"}}))
    };
    let reply = replied(
        KIND,
        stream([whole("a", "one"), whole("b", "two"), finish("stop")]),
    )
    .await
    .unwrap();
    assert_eq!(calls(&reply), [("a", "one", "{}"), ("b", "two", "{}")]);
}

#[tokio::test]
async fn tool_calls_without_index_or_id_are_told_apart_by_name() {
    let reply = replied(
        KIND,
        stream([
            call(json!({"function": {"name": "one", "arguments": {"q": 1}}})),
            call(json!({"function": {"name": "two", "arguments": "{\"a\""}})),
            call(json!({"function": {"arguments": ":2}"}})),
            finish("function_call"),
        ]),
    )
    .await
    .unwrap();
    assert_eq!(
        calls(&reply),
        [
            ("call_0", "one", "{\"q\":1}"),
            ("call_1", "two", "{\"a\":2}")
        ]
    );
    assert_eq!(reply.finish_reason, FinishReason::ToolCalls);
}

#[tokio::test]
async fn a_caller_that_does_not_stream_gets_the_answer_whole() {
    let server = Server::start([Prepared::json(
        200,
        json!({"choices": [{"message": {"role": "assistant", "content": "A", "reasoning_content": "hm", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{\"a\": 1}"}}]},
            "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
    )])
    .await;
    let request = ChatRequest {
        stream: false,
        ..ask("hi")
    };
    let reply = reply(&server.model(KIND), request).await.unwrap();
    assert_eq!((&*reply.text, &*reply.reasoning), ("A", "hm"));
    assert_eq!(calls(&reply), [("c", "t", "{\"a\": 1}")]);
    assert_eq!(reply.usage.unwrap().output_tokens, 4);
    let body = &server.got()[0].body;
    assert_eq!(body["stream"], false);
    assert!(body.get("stream_options").is_none());
}

#[tokio::test]
async fn a_server_that_cannot_stream_may_answer_whole() {
    let whole = json!({"choices": [{"message": {"content": "A"}, "finish_reason": "length"}]});
    let reply = replied(KIND, Prepared::json(200, whole)).await.unwrap();
    assert_eq!(
        (&*reply.text, reply.finish_reason),
        ("A", FinishReason::Length)
    );
}

#[tokio::test]
async fn a_refusal_is_what_the_model_says() {
    let refusal = json!({"choices": [{"delta": {"refusal": "I cannot."}, "finish_reason": "content_filter"}]});
    let reply = replied(KIND, stream([refusal])).await.unwrap();
    assert_eq!(
        (&*reply.text, reply.finish_reason),
        ("I cannot.", FinishReason::ContentFilter)
    );
}

#[tokio::test]
async fn some_servers_end_without_a_reason_and_some_without_saying_done() {
    let no_reason = replied(KIND, stream([text("A")])).await.unwrap();
    assert_eq!(
        (&*no_reason.text, no_reason.finish_reason),
        ("A", FinishReason::Stop)
    );
    let not_done = replied(KIND, Prepared::events([text("A"), finish("stop")]))
        .await
        .unwrap();
    assert_eq!(not_done.text, "A");
}

#[tokio::test]
async fn an_answer_is_complete_with_done_though_the_connection_stays_open() {
    let prepared = stream([text("A"), finish("stop")]).then(Step::Hang);
    assert_eq!(replied(KIND, prepared).await.unwrap().text, "A");
}

#[tokio::test]
async fn dropping_the_stream_aborts_the_request() {
    let server = Server::start([stream([text("A")]).then(Step::Hang)]).await;
    let prepared = Prepared::events([text("A")]).then(Step::Hang);
    let hanging = Server::start([prepared]).await;
    let mut stream = hanging.model(KIND).chat(ask("hi"));
    assert_eq!(
        stream.next().await.unwrap().unwrap(),
        ModelEvent::Text("A".into())
    );
    assert!(!hanging.was_dropped());
    drop(stream);
    for _ in 0..500 {
        if hanging.was_dropped() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(hanging.was_dropped());
    // A stream that is never polled sends nothing.
    drop(server.model(KIND).chat(ask("hi")));
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert!(server.got().is_empty());
}

#[tokio::test]
async fn connections_are_used_again() {
    let answer = || stream([text("A"), finish("stop")]);
    let server = Server::start([answer(), answer()]).await;
    let model = server.model(KIND);
    for _ in 0..2 {
        assert_eq!(reply(&model, ask("hi")).await.unwrap().text, "A");
    }
    assert_eq!(server.got().len(), 2);
}

#[test]
fn what_is_known_of_a_model_comes_from_the_configuration() {
    let config = ProviderConfig {
        models: [(
            "big".to_owned(),
            ModelConfig {
                context_window: 100_000,
                vision: true,
                json_schema: Some(true),
                ..ModelConfig::default()
            },
        )]
        .into_iter()
        .collect(),
        ..ProviderConfig::new(KIND)
    };
    let model = connect(config);
    let big = model.describe("big").unwrap();
    assert_eq!(
        (big.context_window, big.vision, big.tools, big.json_schema),
        (100_000, true, true, true)
    );
    let other = model.describe("other").unwrap();
    assert_eq!((other.context_window, other.vision), (8192, false));
}

#[tokio::test]
async fn an_error_inside_the_stream_ends_it_after_what_was_said() {
    let server = Server::start([stream([
        text("half"),
        json!({"error": {"message": "the server had an error", "type": "server_error"}}),
    ])])
    .await;
    let events = events(&server.model(KIND), ask("hi")).await;
    assert_eq!(events[0], Ok(ModelEvent::Text("half".into())));
    let error = events[1].clone().unwrap_err();
    assert_eq!(error.to_string(), "Test failed: the server had an error");
    assert!(error.retryable());
    assert!(matches!(error, ModelError::Failed { .. }));
    assert_eq!(events.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn borders_between_pieces_change_nothing(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let chunks = [
            json!({"choices": [{"delta": {"reasoning_content": "hé世🎨"}}]}),
            text("«Grüße» "),
            text("世界 🎨"),
            call(json!({"index": 0, "id": "a", "function": {"name": "malen", "arguments": "{\"farbe\":"}})),
            call(json!({"index": 0, "function": {"arguments": "\"grün\"}"}})),
            finish("tool_calls"),
        ];
        let whole = stream(chunks);
        let Step::Send(body) = &whole.steps[0] else { unreachable!() };
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).chain([0, body.len()]).collect();
        at.sort_unstable();
        let steps = at.windows(2).filter(|w| w[0] < w[1]).map(|w| Step::Send(body[w[0]..w[1]].to_vec()));
        let prepared = Prepared { steps: steps.collect(), ..whole.clone() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reply = runtime.block_on(replied(KIND, prepared)).unwrap();
        prop_assert_eq!(&*reply.text, "«Grüße» 世界 🎨");
        prop_assert_eq!(&*reply.reasoning, "hé世🎨");
        prop_assert_eq!(calls(&reply), [("a", "malen", "{\"farbe\":\"grün\"}")]);
    }
}
