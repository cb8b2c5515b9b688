//! `easel test`.

use std::io::Write;
use std::net::TcpStream;

use serde_json::json;

use crate::easel::{Desk, asks_a_form, asks_a_model, canvas};
use crate::model::Server;

/// A case that is recorded from a scripted world.
fn recorded(desk: &Desk) {
    desk.json("a.json", &asks_a_model());
    desk.json(
        "w.json",
        &json!({"rules": [{"match": {"turn": 1}, "reply": "Bye!"}, {"reply": "Hello!"}]}),
    );
    let arguments = [
        "test", "case", "--record", "--from", "a.json", "--query", "Hi", "--query", "Ciao",
        "--world", "w.json",
    ];
    let made = desk.easel(&arguments);
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(
        made.out,
        "Recorded case: turns 2, answers of models 2, answers of tools 0.\nRead expected.json, then: easel test case\n"
    );
}

#[test]
fn a_recorded_case_holds_without_the_world() {
    let desk = Desk::new();
    recorded(&desk);
    std::fs::remove_file(desk.path("w.json")).unwrap();
    let ran = desk.easel(&["test", "case", "--level", "3"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "✓ case\n"));
}

#[test]
fn a_difference_is_shown_where_it_is() {
    let desk = Desk::new();
    recorded(&desk);
    desk.write(
        "case/llm.json",
        &desk.read("case/llm.json").replace("Bye!", "Good-bye!"),
    );
    let ran = desk.easel(&["test", "case"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.out);
    let both = desk.easel(&["test", "case", "case", "--level", "1"]);
    assert!(
        both.out.ends_with("2 cases, 2 not as expected\n"),
        "{}",
        both.out
    );
}

#[test]
fn what_happens_can_be_written_down() {
    let desk = Desk::new();
    recorded(&desk);
    std::fs::remove_file(desk.path("case/expected.json")).unwrap();
    let ran = desk.easel(&["test", "case", "--trace", "case/expected.json"]);
    assert_eq!(ran.code, 1, "there was nothing to compare with");
    assert_eq!(desk.easel(&["test", "case", "--level", "3"]).code, 0);
}

#[test]
fn a_case_that_cannot_be_read_is_wrong_use() {
    let desk = Desk::new();
    assert_eq!(desk.easel(&["test", "nowhere"]).code, 2);
    recorded(&desk);
    desk.write("case/turns.json", "{\"turns\": 3}");
    assert_eq!(desk.easel(&["test", "case"]).code, 2);
}

#[test]
fn recording_overwrites_no_canvas_and_no_turns() {
    let desk = Desk::new();
    recorded(&desk);
    let again = desk.easel(&[
        "test", "case", "--record", "--query", "Other", "--world", "w.json",
    ]);
    assert_eq!(again.code, 2);
    assert!(
        again.err.contains("turns.json is there already"),
        "{}",
        again.err
    );
    assert_eq!(
        desk.easel(&["test", "case", "--record", "--world", "w.json"])
            .code,
        0,
        "what the folder holds is recorded anew"
    );
}

#[test]
fn a_key_that_is_used_is_not_written_down() {
    let desk = Desk::new();
    let mut document = asks_a_model();
    document["components"]["TavilySearch:T"] = json!({
        "obj": {"component_name": "TavilySearch", "params": {"query": "{sys.query}", "api_key": "${SEARCH_KEY}"}},
        "downstream": []
    });
    document["components"]["begin"]["downstream"] = json!(["LLM:A", "TavilySearch:T"]);
    desk.json("a.json", &document);
    desk.json("w.json", &json!({
        "rules": [{"reply": "The key is secret-0123456789."}],
        "search": [{"results": [{"title": "secret-0123456789", "url": "http://x", "content": "c", "score": 1}]}]
    }));
    let mut command = desk.command(&[
        "test", "case", "--record", "--from", "a.json", "--query", "Hi", "--world", "w.json",
    ]);
    let made = command
        .env("SEARCH_KEY", "secret-0123456789")
        .status()
        .unwrap();
    assert!(made.success());
    for file in ["case/llm.json", "case/expected.json"] {
        assert!(!desk.read(file).contains("secret-0123456789"), "{file}");
    }
}

#[test]
fn a_case_that_cannot_be_read_keeps_no_other_from_running() {
    let desk = Desk::new();
    recorded(&desk);
    let ran = desk.easel(&["test", "nowhere", "case"]);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.out,
        "✓ case\n2 cases, 0 not as expected, 1 not readable\n"
    );
}

#[test]
fn one_trace_is_not_written_over_by_the_next() {
    let desk = Desk::new();
    recorded(&desk);
    let ran = desk.easel(&["test", "case", "case", "--trace", "out.json"]);
    assert_eq!(ran.code, 2);
    assert!(!desk.path("out.json").exists());
}

#[test]
fn recording_without_a_canvas_leaves_nothing_behind() {
    let desk = Desk::new();
    for from in [None, Some("gone.json")] {
        let mut arguments = vec!["test", "case", "--record", "--query", "Hi"];
        arguments.extend(from.into_iter().flat_map(|from| ["--from", from]));
        assert_eq!(desk.easel(&arguments).code, 2);
        assert!(!desk.path("case").exists());
    }
}

#[test]
fn a_report_on_a_company_is_recorded() {
    let desk = Desk::new();
    let report = json!({"stock_code": "ACME"});
    desk.json(
        "a.json",
        &canvas(&[
            ("begin", "Begin", json!({}), &["YahooFinance:Y"]),
            ("YahooFinance:Y", "YahooFinance", report, &["Message:M"]),
            (
                "Message:M",
                "Message",
                json!({"content": ["{YahooFinance:Y@report}"]}),
                &[],
            ),
        ]),
    );
    let sections = json!([{"title": "Info", "content": "Makes anvils."}]);
    desk.json("w.json", &json!({"finance": [{"sections": sections}]}));
    let arguments = [
        "test", "case", "--record", "--from", "a.json", "--query", "Hi", "--world", "w.json",
    ];
    let made = desk.easel(&arguments);
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(desk.read("case/expected.json").contains("Makes anvils."));
    assert_eq!(desk.easel(&["test", "case", "--level", "3"]).code, 0);
}

/// Thinks, says two words and is cut off.
fn cut_short(mut stream: TcpStream) {
    let delta = |delta, reason| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let pieces = [
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
            .to_owned(),
        delta(json!({"reasoning_content": "They greet."}), json!(null)),
        delta(json!({"content": "Good "}), json!(null)),
        delta(json!({"content": "day"}), json!("length")),
        "data: [DONE]\n\n".to_owned(),
    ];
    stream.write_all(pieces.concat().as_bytes()).unwrap();
}

#[test]
fn a_case_recorded_from_a_provider_holds_without_it() {
    let desk = Desk::new();
    let mut document = asks_a_model();
    let form = asks_a_form()["components"]["UserFillUp:F"].clone();
    document["components"]["UserFillUp:F"] = form;
    document["components"]["LLM:A"]["downstream"] = json!(["UserFillUp:F"]);
    desk.json("a.json", &document);
    let turns = json!({"turns": [{"query": "Hi"}, {"inputs": {"age": 42}}]});
    desk.json("case/turns.json", &turns);
    let server = Server::start(cut_short);
    let url = server.url();
    let arguments = [
        "test",
        "case",
        "--record",
        "--from",
        "a.json",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    let made = desk.easel(&arguments);
    assert_eq!(made.code, 0, "{}", made.err);
    drop(server);
    let ran = desk.easel(&["test", "case", "--level", "3"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "✓ case\n"));
    let world = desk.read("case/llm.json");
    for part in ["They greet.", "Good day", "\"length\""] {
        assert!(world.contains(part), "{part} is not in {world}");
    }
}

#[test]
fn recording_a_graph_says_how_to_make_its_case() {
    let desk = Desk::new();
    desk.easel(&["new", "g.yaml"]);
    let refused = desk.easel(&["test", "case", "--record", "--from", "g.yaml"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("case/expected.json"),
        "{}",
        refused.err
    );
    assert!(!desk.path("case").exists());
}
