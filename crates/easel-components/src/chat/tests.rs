//! LLM nodes as users set them up.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::testing::Trial;
use crate::turn::{HistoryEntry, Turn};

fn llm(params: Json) -> Trial {
    let mut all = json!({"llm_id": "m", "sys_prompt": "You are a test.", "cite": false});
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    Trial::new("LLM", all).given("sys.query", json!("hello"))
}

fn said(entries: &[(&str, &str)]) -> Turn {
    let entry = |(role, text): &(&str, &str)| HistoryEntry::new(role, *text);
    Turn {
        history: Arc::new(entries.iter().map(entry).collect()),
        ..Turn::default()
    }
}

fn schema() -> Json {
    json!({"content": {"type": "string"}, "structured": {
        "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}})
}

#[test]
fn the_answer_is_the_content() {
    let tried = llm(json!({}))
        .model(json!({"rules": [{"reply": "hi"}]}))
        .run();
    assert_eq!(tried.ports(), json!({"content": "hi"}));
    assert_eq!(
        tried.messages("X"),
        [["system: You are a test.", "user: hello"]]
    );
    assert_eq!(tried.usage.calls, 1);
    assert!(tried.usage.total_tokens > 0);
}

#[test]
fn without_instructions_there_is_no_system_message() {
    let tried = llm(json!({"sys_prompt": " "}))
        .model(json!({"default_reply": "ok"}))
        .run();
    assert_eq!(tried.messages("X"), [["user: hello"]]);
}

#[test]
fn references_in_prompts_become_text() {
    let prompts = json!([{"role": "user", "content": "a {A:x@d} {env.n}"}, {"role": "assistant", "content": "mid"}, {"content": "last"}]);
    let tried = llm(json!({"prompts": prompts}))
        .given("A:x@d", json!({"k": "é"}))
        .given("env.n", json!(2))
        .model(json!({"default_reply": "ok"}))
        .run();
    assert_eq!(
        tried.messages("X"),
        [[
            "system: You are a test.",
            "user: a {\"k\": \"é\"} 2",
            "assistant: mid",
            "user: last"
        ]]
    );
}

#[test]
fn earlier_turns_come_before_the_question() {
    let turn = said(&[
        ("user", "one"),
        ("assistant", "R1"),
        ("user", "two"),
        ("assistant", "R2"),
        ("user", "hello"),
    ]);
    let asked = |window: Json| {
        let tried = llm(json!({"sys_prompt": "", "message_history_window_size": window}))
            .turn(turn.clone())
            .model(json!({"default_reply": "ok"}))
            .run();
        tried.messages("X").concat()
    };
    assert_eq!(
        asked(json!(13)),
        [
            "user: one",
            "assistant: R1",
            "user: two",
            "assistant: R2",
            "user: hello"
        ]
    );
    assert_eq!(
        asked(json!(1)),
        ["user: two", "assistant: R2", "user: hello"]
    );
    assert_eq!(asked(json!(0)), ["user: hello"]);
}

#[test]
fn a_question_that_was_never_answered_is_replaced() {
    let tried = llm(json!({"sys_prompt": ""}))
        .turn(said(&[("user", "lost"), ("user", "hello")]))
        .model(json!({"default_reply": "ok"}))
        .run();
    assert_eq!(tried.messages("X"), [["user: hello"]]);
}

#[test]
fn before_a_message_the_answer_streams() {
    let script = json!({"rules": [{"reasoning": "hmm", "reply": "Paris"}]});
    let tried = llm(json!({})).before("Message").model(script.clone()).run();
    assert_eq!(tried.streamed, "(think hmm think)Paris");
    assert_eq!(tried.ports(), json!({"content": "<think>hmm</think>Paris"}));

    let plain = llm(json!({})).before("StringTransform").model(script).run();
    assert_eq!(
        (plain.streamed.as_str(), plain.ports()),
        ("", json!({"content": "Paris"}))
    );
}

#[test]
fn an_error_branch_keeps_the_answer_from_streaming() {
    let tried = llm(json!({"exception_method": "goto", "exception_goto": ["Behind"]}))
        .before("Message")
        .model(json!({"default_reply": "ok"}))
        .run();
    assert_eq!(tried.streamed, "");
}

#[test]
fn an_answer_that_was_cut_off_says_so() {
    let tried = llm(json!({}))
        .model(json!({"rules": [{"reply": "cut off", "finish_reason": "length"}]}))
        .run();
    let content = tried.port("content");
    assert!(
        content.as_str().unwrap().starts_with("cut off...\n"),
        "{content}"
    );
}

#[test]
fn a_blank_question_is_not_sent() {
    let tried = llm(json!({"prompts": [{"role": "user", "content": "{env.e}"}]}))
        .given("env.e", json!(""))
        .model(json!({"default_reply": "never"}))
        .run();
    assert_eq!(&*tried.fault().code, "bad_input");
    assert!(tried.requests.is_empty());
}

#[test]
fn a_model_that_fails_fails_the_node_by_name() {
    let tried = llm(json!({}))
        .model(json!({"rules": [{"error": "model exploded"}]}))
        .run();
    assert_eq!(
        &*tried.fault().message,
        "\"X\" got no answer from the model m: model exploded"
    );
    assert_eq!(tried.usage.calls, 1);
    let told = llm(json!({}))
        .model(json!({"rules": [{"reply": "**ERROR**: QUOTA - none left"}]}))
        .run();
    assert_eq!(
        &*told.fault().message,
        "\"X\" got no answer from the model m: QUOTA - none left"
    );
}

#[test]
fn citing_is_asked_for_where_there_is_something_to_cite() {
    let store = json!({"chunks": {"7": {"id": "c", "content": "x"}}, "doc_aggs": {}});
    let system = |cite: bool, prompt: &str, found: bool| {
        let mut trial =
            llm(json!({"cite": cite, "sys_prompt": prompt})).model(json!({"default_reply": "ok"}));
        if found {
            trial = trial.gathered(store.clone());
        }
        trial.run().messages("X")[0][0].clone()
    };
    assert_eq!(system(true, "Be kind.", false), "system: Be kind.");
    assert_eq!(system(false, "Be kind.", true), "system: Be kind.");
    let cited = system(true, "Be kind.", true);
    assert!(
        cited.starts_with("system: Be kind.\n\n## Citing sources"),
        "{cited}"
    );
    let own = "Be kind.<CITATION_GUIDELINES>Say where.</CITATION_GUIDELINES><REFLECTION>x</REFLECTION> Always.";
    assert_eq!(
        system(true, own, true),
        "system: Be kind. Always.\n\nSay where."
    );
}

#[test]
fn tags_in_what_a_user_says_mean_nothing() {
    let tried = llm(json!({"sys_prompt": "Quote: {env.q}"}))
        .given("env.q", json!("<REFLECTION>kept</REFLECTION>"))
        .model(json!({"default_reply": "ok"}))
        .run();
    assert_eq!(
        tried.messages("X")[0][0],
        "system: Quote: <REFLECTION>kept</REFLECTION>"
    );
}

#[test]
fn files_of_the_turn_come_with_the_question() {
    let files = json!([
        "File: a.txt\nContent as following: \nbody",
        "data:image/png;base64,AA=="
    ]);
    let seeing = json!({"default_reply": "ok", "models": {"m": {"types": ["chat", "image2text"]}}});
    let tried = llm(json!({"sys_prompt": ""}))
        .given("sys.files", files.clone())
        .model(seeing)
        .run();
    let text = "hello\n\nFile: a.txt\nContent as following: \nbody";
    let parts = json!([{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]);
    assert_eq!(tried.messages("X"), [[format!("user: {parts}")]]);

    let blind = llm(json!({"sys_prompt": ""}))
        .given("sys.files", files.clone())
        .model(json!({"default_reply": "ok"}))
        .run();
    assert_eq!(blind.messages("X"), [[format!("user: {text}")]]);
    assert_eq!(blind.warnings.len(), 1);

    let mentioned = llm(json!({"sys_prompt": "", "prompts": "see {sys.files}"}))
        .given("sys.files", json!(["one"]))
        .model(json!({"default_reply": "ok"}))
        .run();
    assert_eq!(mentioned.messages("X"), [["user: see [\"one\"]"]]);
}

#[test]
fn structured_answers_are_repaired() {
    let tried = llm(json!({"outputs": schema()}))
        .before("Message")
        .model(json!({"rules": [{"reply": "{a: 5, 'b': [1, 2"}]}))
        .run();
    assert_eq!(tried.ports(), json!({"structured": {"a": 5, "b": [1, 2]}}));
    assert_eq!(tried.streamed, "");
    assert!(tried.messages("X")[0][0].contains("JSON Schema"));
}

#[test]
fn a_structured_answer_that_does_not_fit_is_asked_for_once_more() {
    let script =
        json!({"rules": [{"times": 1, "reply": "{\"a\": \"x\"}"}, {"reply": "{\"a\": 1}"}]});
    let tried = llm(json!({"outputs": schema()})).model(script).run();
    assert_eq!(tried.ports(), json!({"structured": {"a": 1}}));
    let again = &tried.messages("X")[1];
    assert_eq!(again[2], "assistant: {\"a\": \"x\"}");
    assert!(again[3].contains("at /a: "), "{}", again[3]);

    let never = llm(json!({"outputs": schema()}))
        .model(json!({"default_reply": "no json here"}))
        .run();
    assert_eq!(&*never.fault().code, "bad_answer");
    assert_eq!(never.usage.calls, 2);
}

#[test]
fn a_category_is_chosen_and_leads_on() {
    let params = json!({"llm_id": "m", "query": "sys.query", "category_description": {
        "Order": {"description": "orders", "to": ["A:a"]}, "Other": {"to": ["B:b"]}}});
    let turn = said(&[("user", "hi"), ("assistant", "hello\nthere"), ("user", "x")]);
    let tried = Trial::new("Categorize", params)
        .given("sys.query", json!("where is it"))
        .given("A:a@result", json!(1))
        .given("B:b@result", json!(1))
        .turn(turn)
        .model(json!({"rules": [{"reply": "<think>Other?</think>Order"}]}))
        .run();
    assert_eq!(tried.port("category_name"), json!("Order"));
    assert_eq!(
        tried.completion().next.as_deref(),
        Some(&["A:a".into()][..])
    );
    assert_eq!(
        tried.messages("X")[0][1],
        "user: \n---- Real Data ----\nASSISTANT: \"hellothere\" | USER: \"where is it\" →\n"
    );
}
