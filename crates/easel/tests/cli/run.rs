//! `easel run`.

use serde_json::{Value, json};

use crate::easel::{Desk, asks_a_form, asks_a_model, canvas, says};

#[test]
fn a_new_canvas_runs() {
    let desk = Desk::new();
    let made = desk.easel(&["new"]);
    assert_eq!(
        (made.code, made.out.as_str()),
        (0, "Wrote hello.json. Try: easel run hello.json \"Ada\"\n")
    );
    let ran = desk.easel(&["run", "hello.json", "Ada"]);
    assert_eq!(ran.code, 0);
    assert_eq!(
        ran.out,
        "Hello, Ada! This canvas ran without a model, a key or a service.\n"
    );
    assert_eq!(ran.err, "", "nothing but the answer in a pipe");
    assert_eq!(
        desk.easel(&["check", "hello.json"]).out,
        "1 file: no errors, no warnings.\n"
    );
}

#[test]
fn new_overwrites_nothing() {
    let desk = Desk::new();
    desk.write("hello.json", "mine");
    assert_eq!(desk.easel(&["new"]).code, 2);
    assert_eq!(desk.read("hello.json"), "mine");
}

#[test]
fn a_template_is_listed_written_and_checked() {
    let desk = Desk::new();
    let listed = desk.easel(&["new", "--list"]).out;
    assert!(listed.contains("running-list         A list that stays tidy  (Consumer App)\n"));
    let made = desk.easel(&["new", "--template", "running-list"]);
    let wrote = "Wrote running-list.json: A list that stays tidy. What it needs: easel requirements running-list.json\n";
    assert_eq!((made.code, made.out.as_str()), (0, wrote));
    let checked = desk.easel(&["check", "running-list.json"]);
    assert_eq!(checked.out, "1 file: no errors, no warnings.\n");
    let ran = desk.easel(&["run", "running-list.json", "milk, eggs"]);
    assert_eq!(ran.out, "Your list:\n\n- eggs\n- milk\n");
    let again = desk.easel(&["new", "running-list.json", "--template", "first-answer"]);
    assert_eq!(again.code, 2, "nothing is overwritten");
}

#[test]
fn a_template_that_is_not_there_is_named_with_the_nearest_one() {
    let desk = Desk::new();
    let made = desk.easel(&["new", "--template", "first-anwser"]);
    assert_eq!(made.code, 2);
    assert!(made.err.contains("`first-answer`"), "{}", made.err);
    let graph = desk.easel(&["new", "a.yaml", "--template", "first-answer"]);
    assert_eq!(graph.code, 2);
    assert!(!desk.path("a.yaml").exists());
}

#[test]
fn a_query_may_come_from_standard_input() {
    let desk = Desk::new();
    desk.json("a.json", &says("You said {sys.query}"));
    assert_eq!(
        desk.typed(&["run", "a.json", "-"], "hi there\n").out,
        "You said hi there\n"
    );
    let ran = desk.typed(&["run", "-", "hi"], desk.read("a.json"));
    assert_eq!(ran.out, "You said hi\n");
}

#[test]
fn inputs_come_by_name_from_flags_and_files() {
    let desk = Desk::new();
    let inputs =
        json!({"inputs": {"a": {"type": "line"}, "b": {"type": "line"}, "c": {"type": "line"}}});
    let mut document = says("{begin@a} {begin@b} {begin@c}");
    document["components"]["begin"]["obj"]["params"] = inputs;
    desk.json("a.json", &document);
    desk.json("in.json", &json!({"a": 1, "b": "from a file"}));
    desk.write("c.txt", "a text");
    let ran = desk.easel(&[
        "run", "a.json", "--inputs", "in.json", "--input", "c=@c.txt", "--input", "a=2",
    ]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "2 from a file a text\n"));
}

#[test]
fn files_are_handed_in() {
    let desk = Desk::new();
    desk.json("a.json", &says("{sys.files}"));
    desk.write("notes.txt", "buy paint");
    let ran = desk.easel(&["run", "a.json", "--file", "notes.txt"]);
    assert!(
        ran.out.contains("notes.txt") && ran.out.contains("buy paint"),
        "{}",
        ran.out
    );
    assert_eq!(desk.easel(&["run", "a.json", "--file", "none.txt"]).code, 2);
    std::fs::write(desk.path("notes.txt"), b"PK\xff\x00").unwrap();
    let ran = desk.easel(&["run", "a.json", "--file", "notes.txt"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "it is no text");
    assert!(ran.err.contains("notes.txt"), "{}", ran.err);
}

#[test]
fn one_object_tells_the_whole_run() {
    let desk = Desk::new();
    let mut document = asks_a_model();
    document["components"]["LLM:A"]["obj"]["params"]["max_retries"] = json!(1);
    document["components"]["LLM:A"]["obj"]["params"]["delay_after_error"] = json!(0);
    desk.json("a.json", &document);
    desk.json(
        "w.json",
        &json!({"rules": [{"times": 1, "error": "busy"}, {"reply": "Fine."}]}),
    );
    let ran = desk.easel(&[
        "run",
        "a.json",
        "How are you?",
        "--world",
        "w.json",
        "--json",
    ]);
    assert_eq!(ran.code, 0);
    let mut whole = ran.json();
    for step in whole["history"].as_array_mut().unwrap() {
        assert!(
            step["timestamp"].as_i64().unwrap() > 0 && step["duration_ms"].as_i64().unwrap() >= 0
        );
        step["timestamp"] = json!("(time)");
        step["duration_ms"] = json!("(ms)");
    }
    whole["usage"] = json!(
        whole["usage"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>()
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(&whole).unwrap());
}

#[test]
fn events_come_a_line_each() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    let ran = desk.easel(&["run", "a.json", "--events"]);
    let events: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "workflow_started",
            "node_started",
            "node_finished",
            "node_started",
            "message",
            "message_end",
            "node_finished",
            "workflow_finished"
        ]
    );
}

#[test]
fn a_run_that_fails_says_where_and_why() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    desk.json(
        "w.json",
        &json!({"rules": [{"error": "the model is tired"}]}),
    );
    let ran = desk.easel(&["run", "a.json", "Hi", "--world", "w.json"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.seen());
    let ran = desk.easel(&["run", "a.json", "Hi", "--world", "w.json", "--json"]);
    assert_eq!(
        (ran.code, ran.json()["ending"].as_str()),
        (1, Some("failed"))
    );
    assert_eq!(ran.json()["error"]["node_id"], "LLM:A");
}

#[test]
fn without_a_model_it_says_how_to_set_one() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    let ran = desk.easel(&["run", "a.json", "Hi"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.seen());
}

#[test]
fn what_the_check_refuses_is_not_run() {
    let desk = Desk::new();
    let mut document = says("Hello");
    document["components"]["begin"]["downstream"] = json!(["Message:M", "Message:Gone"]);
    desk.json("a.json", &document);
    let ran = desk.easel(&["run", "a.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    insta::assert_snapshot!(ran.err);
    desk.write("cut.json", "{\"components\": {");
    assert_eq!(desk.easel(&["run", "cut.json"]).code, 3);
}

#[test]
fn a_run_that_waits_says_for_what() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_form());
    let ran = desk.easel(&["run", "a.json", "Ada"]);
    assert_eq!((ran.code, ran.out.as_str()), (4, ""));
    assert_eq!(
        ran.err,
        "One more thing, Ada:\nWaiting for: age, colour (may stay empty). With --chat, lines of standard input answer.\n"
    );
    let whole = desk.easel(&["run", "a.json", "Ada", "--json"]);
    assert_eq!(whole.code, 4);
    assert_eq!(whole.json()["ending"], "waiting");
    assert_eq!(whole.json()["question"]["fields"]["age"]["type"], "integer");
}

#[test]
fn wrong_use_is_told_apart_from_failure() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    let cases: [&[&str]; 7] = [
        &["run", "none.json"],
        &["run", "a.json", "--input", "nameless"],
        &["run", "a.json", "--inputs", "a.txt"],
        &["run", "a.json", "--webhook", "[1]"],
        &["run", "a.json", "--config", "none.toml"],
        &["run", "a.json", "--concurrency", "0"],
        &["run", "a.json", "--world", "a.txt"],
    ];
    desk.write("a.txt", "no JSON");
    for arguments in cases {
        let ran = desk.easel(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
        assert!(!ran.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn settings_that_are_wrong_are_shown_with_their_line() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    desk.write("easel.toml", "[models]\ndefault = \"m@p\"\n\n[providers.p]\nkind = \"openai\"\nurl = \"http://localhost\"\n");
    let ran = desk.easel(&["run", "a.json"]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!(ran.err);
}

#[test]
fn time_is_accounted_for_when_asked() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    let ran = desk.easel(&["run", "a.json", "--timings"]);
    for share in ["waiting", "components", "references", "engine", "showing"] {
        assert!(ran.err.contains(share), "{}", ran.err);
    }
    assert_eq!(ran.out, "Hello\n");
}

#[test]
fn a_webhook_brings_its_body() {
    let desk = Desk::new();
    let mut document = says("{begin@body.n}");
    document["components"]["begin"]["obj"]["params"] = json!({
        "mode": "Webhook",
        "schema": {"body": {"properties": {"n": {"type": "number"}}}},
        "security": {"auth_type": "none", "allow_anonymous": true}
    });
    desk.json("a.json", &document);
    desk.json("hook.json", &json!({"body": {"n": 3}}));
    let ran = desk.easel(&["run", "a.json", "--webhook", "@hook.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "3\n"), "{}", ran.err);
}

#[test]
fn files_may_begin_with_a_byte_order_mark() {
    let desk = Desk::new();
    desk.write("a.json", &format!("\u{feff}{}", asks_a_model()));
    desk.write("in.json", "\u{feff}{\"a\": 1}");
    desk.write("w.json", "\u{feff}{\"default_reply\": \"Fine.\"}");
    desk.write("e.toml", "\u{feff}[models]\n");
    let arguments = [
        "run", "a.json", "Hi", "--inputs", "in.json", "--world", "w.json", "--config", "e.toml",
    ];
    let ran = desk.easel(&arguments);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Fine.\n"), "{}", ran.err);
}

#[test]
fn a_file_that_is_no_text_says_so() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    std::fs::write(desk.path("in.json"), b"{\"a\": \"\xff\"}").unwrap();
    let ran = desk.easel(&["run", "a.json", "--inputs", "in.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("not UTF-8 text; byte 8"), "{}", ran.err);
    let ran = desk.easel(&["run", "a.json", "--input", "a=@"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no name follows"), "{}", ran.err);
}

#[test]
fn inputs_that_are_missing_or_unknown_are_told() {
    let desk = Desk::new();
    let fields = json!({"inputs": {
        "name": {"type": "line", "name": "Name"},
        "age": {"type": "line", "name": "Age"},
        "town": {"type": "line", "name": "Town", "optional": true},
    }});
    let said = json!({"content": ["{begin@name}, {begin@age}"]});
    desk.json(
        "a.json",
        &canvas(&[
            ("begin", "Begin", fields, &["Message:M"]),
            ("Message:M", "Message", said, &[]),
        ]),
    );
    let ran = desk.easel(&[
        "run", "a.json", "Hi", "--input", "name=Ada", "--input", "nmae=x",
    ]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Ada, \n"), "{}", ran.err);
    assert!(
        ran.err.contains("Not an input of this canvas: nmae"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("nobody gave it: age."), "{}", ran.err);
    let ran = desk.easel(&["run", "a.json", "Hi"]);
    assert!(
        ran.err.contains("nobody gave it: name, age."),
        "{}",
        ran.err
    );
    let ran = desk.easel(&["run", "a.json", "--input", "name=Ada", "--input", "age=36"]);
    assert_eq!(ran.err, "");
}

#[test]
fn a_path_that_leads_nowhere_says_what_to_name() {
    let desk = Desk::new();
    let ran = desk.easel(&["run", "nowhere.json"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("Name a path that exists"), "{}", ran.err);
    let ran = desk.easel(&["run", "."]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("Name a file in it."), "{}", ran.err);
}
