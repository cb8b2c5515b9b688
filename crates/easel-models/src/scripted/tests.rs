use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::chat::{Content, Part, ToolCall, ToolSpec};
use crate::reply::{ChatReply, collect};

fn model(script: serde_json::Value) -> Scripted {
    Scripted::new(serde_json::from_value(script).unwrap())
}

fn ask(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("You are a test."), Message::user(text)],
        caller: Caller {
            component: "LLM:A".into(),
            turn: 0,
        },
        ..ChatRequest::default()
    }
}

fn streamed(request: ChatRequest) -> ChatRequest {
    ChatRequest {
        stream: true,
        ..request
    }
}

async fn reply(model: &Scripted, request: ChatRequest) -> Result<ChatReply, ModelError> {
    collect(model.chat(request)).await
}

async fn text(model: &Scripted, request: ChatRequest) -> String {
    reply(model, request).await.unwrap().text
}

async fn events(model: &Scripted, request: ChatRequest) -> Vec<Result<ModelEvent, ModelError>> {
    model.chat(request).collect().await
}

fn texts(events: &[Result<ModelEvent, ModelError>]) -> Vec<&str> {
    let text = |event| match event {
        &Ok(ModelEvent::Text(ref text)) => Some(text.as_str()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[tokio::test]
async fn the_first_rule_that_matches_answers() {
    let model = model(json!({"rules": [
        {"match": {"last_contains": "capital"}, "reply": "Paris"},
        {"match": {}, "reply": "other"},
        {"reply": "never"}
    ]}));
    assert_eq!(text(&model, ask("the capital?")).await, "Paris");
    assert_eq!(text(&model, ask("the river?")).await, "other");
}

#[tokio::test]
async fn every_key_of_a_match_must_hold() {
    let rule = |key: &str, value: serde_json::Value| {
        model(json!({"rules": [{"match": {key: value}, "reply": "yes"}], "default_reply": "no"}))
    };
    let request = ChatRequest {
        model: "m@p".into(),
        messages: vec![
            Message::system("rules of the house"),
            Message::user("first"),
            Message::assistant("second"),
            Message::user("third"),
        ],
        caller: Caller {
            component: "Agent:X-->Web_Search".into(),
            turn: 1,
        },
        ..ChatRequest::default()
    };
    for (key, yes, no) in [
        ("component", json!("Agent:X-->Web_Search"), json!("Agent:X")),
        ("model", json!("m@p"), json!("m")),
        ("turn", json!(1), json!(0)),
        ("prompt_contains", json!("second"), json!("fourth")),
        ("system_contains", json!("house"), json!("first")),
        ("last_contains", json!("hir"), json!("second")),
        ("last_role", json!("user"), json!("tool")),
    ] {
        assert_eq!(text(&rule(key, yes), request.clone()).await, "yes", "{key}");
        assert_eq!(text(&rule(key, no), request.clone()).await, "no", "{key}");
    }
    let both = model(json!({
        "rules": [{"match": {"turn": 1, "last_contains": "second"}, "reply": "yes"}],
        "default_reply": "no"
    }));
    assert_eq!(text(&both, request).await, "no");
}

#[tokio::test]
async fn text_beside_an_image_is_matched() {
    let model = model(json!({"rules": [{"match": {"last_contains": "see"}, "reply": "a cat"}]}));
    let request = ChatRequest {
        messages: vec![Message {
            content: Content::Parts(vec![
                Part::image("data:image/png;base64,AA=="),
                Part::text("what do you see?"),
            ]),
            ..Message::default()
        }],
        ..ChatRequest::default()
    };
    assert_eq!(text(&model, request).await, "a cat");
}

#[tokio::test]
async fn a_rule_stops_after_its_times_counted_over_all_clones() {
    let model = model(json!({"rules": [{"times": 2, "reply": "a"}, {"reply": "b"}]}));
    assert_eq!(text(&model, ask("1")).await, "a");
    assert_eq!(text(&model.clone(), ask("2")).await, "a");
    assert_eq!(text(&model, ask("3")).await, "b");
}

#[tokio::test]
async fn a_streamed_reply_comes_in_thirds() {
    let model = model(json!({"default_reply": "cut off"}));
    let events = events(&model, streamed(ask("x"))).await;
    assert_eq!(texts(&events), ["cu", "t ", "off"]);
    assert_eq!(
        events.last(),
        Some(&Ok(ModelEvent::Finish(FinishReason::Stop)))
    );
}

#[tokio::test]
async fn empty_pieces_are_left_out() {
    let model = model(json!({"rules": [
        {"match": {"last_contains": "one"}, "reply": "A"},
        {"match": {"last_contains": "zero"}, "reply": ""},
        {"match": {"last_contains": "space"}, "reply": "a b"}
    ]}));
    assert_eq!(texts(&events(&model, streamed(ask("one"))).await), ["A"]);
    assert_eq!(texts(&events(&model, streamed(ask("zero"))).await), [""; 0]);
    assert_eq!(
        texts(&events(&model, streamed(ask("space"))).await),
        ["a", " ", "b"]
    );
}

#[tokio::test]
async fn a_caller_that_does_not_stream_gets_one_piece() {
    let model = model(json!({"default_reply": "whole answer"}));
    assert_eq!(texts(&events(&model, ask("x")).await), ["whole answer"]);
}

#[tokio::test]
async fn chunks_stream_as_they_are_and_others_get_the_reply() {
    let model = model(json!({"rules": [
        {"match": {"last_contains": "both"}, "chunks": ["<think>", "", "hm"], "reply": "plain"},
        {"chunks": ["1", "10"]}
    ]}));
    assert_eq!(
        texts(&events(&model, streamed(ask("both"))).await),
        ["<think>", "hm"]
    );
    assert_eq!(text(&model, ask("both")).await, "plain");
    assert_eq!(text(&model, ask("x")).await, "");
}

#[tokio::test]
async fn a_stream_breaks_off_after_so_many_chunks() {
    let model = model(json!({"rules": [
        {"chunks": ["one ", "two ", "three"], "fail_after": {"chunks": 2, "error": "cut"}}
    ]}));
    let events = events(&model, streamed(ask("x"))).await;
    assert_eq!(texts(&events), ["one ", "two "]);
    assert_eq!(events.last(), Some(&Err(scripted_error("cut"))));
    assert_eq!(text(&model, ask("x")).await, "");
}

#[tokio::test]
async fn a_break_beyond_the_last_chunk_comes_at_the_end() {
    let model =
        model(json!({"rules": [{"reply": "ab", "fail_after": {"chunks": 9, "error": "cut"}}]}));
    let events = events(&model, streamed(ask("x"))).await;
    assert_eq!(texts(&events).concat(), "ab");
    assert_eq!(events.last(), Some(&Err(scripted_error("cut"))));
}

#[tokio::test]
async fn tool_calls_get_ids_by_position_and_arguments_as_text() {
    let model = model(json!({"rules": [{"tool_calls": [
        {"name": "search_0", "arguments": {"query": "x", "tags": [1, 2.0]}},
        {"id": "mine", "name": "search_1", "arguments": "{broken"},
        {"name": "now_2"}
    ]}]}));
    let reply = reply(&model, ask("x")).await.unwrap();
    let calls: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|c| (&*c.id, &*c.name, &*c.arguments))
        .collect();
    assert_eq!(
        calls,
        [
            ("call_0", "search_0", r#"{"query": "x", "tags": [1, 2.0]}"#),
            ("mine", "search_1", "{broken"),
            ("call_2", "now_2", "{}"),
        ]
    );
    assert_eq!(reply.finish_reason, FinishReason::Stop);
    assert_eq!(reply.text, "");
}

#[tokio::test]
async fn an_error_of_a_rule_is_the_error_of_the_request() {
    let model = model(json!({"rules": [{"times": 1, "error": "boom"}, {"reply": "fine"}]}));
    let error = reply(&model, ask("x")).await.unwrap_err();
    assert_eq!(error.to_string(), "boom");
    assert!(error.retryable());
    assert_eq!(text(&model, ask("x")).await, "fine");
}

#[tokio::test]
async fn reasoning_goes_before_the_answer_in_thirds() {
    let model =
        model(json!({"rules": [{"reasoning": "abc", "reply": "d", "finish_reason": "length"}]}));
    let events = events(&model, streamed(ask("x"))).await;
    let reasoning = |text: &str| Ok(ModelEvent::Reasoning(text.to_owned()));
    assert_eq!(
        events[..3],
        [reasoning("a"), reasoning("b"), reasoning("c")]
    );
    assert_eq!(events[3], Ok(ModelEvent::Text("d".to_owned())));
    assert_eq!(
        events.last(),
        Some(&Ok(ModelEvent::Finish(FinishReason::Length)))
    );
}

#[tokio::test]
async fn cancel_calls_the_hook_and_the_answer_still_comes() {
    let cancelled = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&cancelled);
    let model = model(json!({"rules": [{"match": {"last_contains": "stop"}, "cancel": true, "reply": "A"}, {"reply": "B"}]}))
        .on_cancel(Arc::new(move |caller| {
            assert_eq!(&*caller.component, "LLM:A");
            seen.fetch_add(1, Ordering::SeqCst);
        }));
    assert_eq!(text(&model, ask("go")).await, "B");
    assert_eq!(cancelled.load(Ordering::SeqCst), 0);
    assert_eq!(text(&model, ask("stop")).await, "A");
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn without_a_rule_the_error_names_who_asked_and_what() {
    let error = reply(&model(json!({})), ask("hello")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no scripted rule matches the request of \"LLM:A\" in turn 0; its last message: \"hello\""
    );
    assert!(!error.retryable());
}

#[tokio::test]
async fn usage_counts_words_of_all_messages_and_of_the_reply() {
    let model = model(json!({"default_reply": "Hello, you  "}));
    let whole = reply(&model, ask("who am I?"))
        .await
        .unwrap()
        .usage
        .unwrap();
    assert_eq!((whole.input_tokens, whole.output_tokens), (5 + 4, 3));
    let streamed = reply(&model, streamed(ask("who am I?")))
        .await
        .unwrap()
        .usage
        .unwrap();
    assert_eq!((streamed.input_tokens, streamed.output_tokens), (5 + 4, 4));
}

#[test]
fn models_are_described_and_may_be_missing() {
    let model = model(json!({"models": {
        "small": {"max_tokens": 60, "is_tools": false, "types": ["chat", "image2text"]},
        "gone": {"missing": true}
    }}));
    let small = model.describe("small").unwrap();
    assert_eq!(
        (small.context_window, small.vision, small.tools),
        (60, true, false)
    );
    assert_eq!(model.describe("any").unwrap(), ModelInfo::default());
    let error = model.describe("gone").unwrap_err();
    assert!(
        matches!(&error, ModelError::UnknownModel { configured, .. } if configured == &["small"])
    );
}

#[tokio::test]
async fn a_missing_model_does_not_answer() {
    let model = model(json!({"models": {"gone": {"missing": true}}, "default_reply": "A"}));
    let request = ChatRequest {
        model: "gone".into(),
        ..ask("x")
    };
    assert!(matches!(
        reply(&model, request).await,
        Err(ModelError::UnknownModel { .. })
    ));
    assert!(model.take_log().is_empty());
}

#[tokio::test]
async fn the_log_holds_requests_by_component_until_it_is_taken() {
    let model = model(json!({"default_reply": "A"}));
    let mut second = streamed(ask("again"));
    second.caller.component = "Agent:B".into();
    second.messages.push(Message {
        role: Role::Assistant,
        tool_calls: vec![ToolCall {
            id: "call_0".into(),
            name: "t_0".into(),
            arguments: "{}".into(),
        }],
        provider_state: Some(Value::from("secret of the provider")),
        ..Message::default()
    });
    second.messages.push(Message::tool("call_0", "done"));
    second.tools.push(ToolSpec {
        name: "t_0".into(),
        description: "d".into(),
        parameters: Value::empty_object(),
    });
    text(&model, ask("one")).await;
    text(&model, second).await;
    text(&model, ask("two")).await;

    let system = json!({"role": "system", "content": "You are a test."});
    assert_eq!(
        serde_json::to_value(model.take_log()).unwrap(),
        json!({
            "LLM:A": [
                {"stream": false, "messages": [system, {"role": "user", "content": "one"}]},
                {"stream": false, "messages": [system, {"role": "user", "content": "two"}]}
            ],
            "Agent:B": [{"stream": true, "messages": [
                system,
                {"role": "user", "content": "again"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"index": 0, "id": "call_0", "type": "function", "function": {"name": "t_0", "arguments": "{}"}}]},
                {"role": "tool", "content": "done", "tool_call_id": "call_0"}
            ], "tools": ["t_0"]}]
        })
    );
    assert!(model.take_log().is_empty());
}

#[test]
fn a_misspelt_key_of_a_rule_is_refused() {
    let misspelt = json!({"rules": [{"match": {"last_contain": "x"}, "reply": "A"}]});
    let error = serde_json::from_value::<Script>(misspelt).unwrap_err();
    assert!(error.to_string().contains("last_contain"), "{error}");
}

#[test]
fn other_sections_of_the_world_are_not_its_business() {
    let world = json!({"rules": [], "retrieval": [{"match": {}, "chunks": []}]});
    assert!(serde_json::from_value::<Script>(world).is_ok());
}

proptest! {
    #[test]
    fn three_pieces_make_up_the_text_and_differ_by_one_character(text in "\\PC{0,30}") {
        let cut: Vec<String> = pieces(&text, true).collect();
        prop_assert_eq!(cut.concat(), text.clone());
        let lengths = cut.iter().map(|piece| piece.chars().count());
        let shortest = lengths.clone().min().unwrap_or_default();
        prop_assert!(lengths.max().unwrap_or_default() - shortest <= 1 || text.is_empty());
    }
}
