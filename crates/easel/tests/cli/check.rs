//! `easel check`, `easel explain`, `easel components`, `easel export`.

use serde_json::json;

use crate::easel::{Desk, asks_a_model, says};

fn faulty(desk: &Desk) {
    let mut document = asks_a_model();
    document["components"]["begin"]["downstream"] = json!(["LLM:A", "Message:Gone"]);
    document["components"]["Message:M"]["obj"]["params"] = json!({"messages": ["{LLM:A@contnet}"]});
    desk.json("a.json", &document);
}

#[test]
fn people_see_the_line_the_reason_and_the_fix() {
    let desk = Desk::new();
    faulty(&desk);
    let checked = desk.easel(&["check", "a.json"]);
    assert_eq!(checked.code, 3);
    insta::assert_snapshot!(checked.seen());
}

#[test]
fn programs_get_json() {
    let desk = Desk::new();
    faulty(&desk);
    desk.json("b.json", &says("Hello"));
    let checked = desk.easel(&["check", "--format", "json", "a.json", "b.json"]);
    assert_eq!(checked.code, 3);
    let reports = checked.json();
    assert_eq!(
        (&reports["errors"], &reports["warnings"], &reports["infos"]),
        (&json!(1), &json!(2), &json!(1))
    );
    let first = &reports["files"][0];
    assert_eq!(first["file"], "a.json");
    let error = first["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .find(|d| d["severity"] == "error")
        .unwrap();
    assert_eq!(error["code"], "edge-to-nothing");
    assert_eq!(error["node"], "begin");
    assert!(error["place"]["line"].as_u64().unwrap() > 1);
    assert_eq!(reports["files"][1]["diagnostics"], json!([]));
}

#[test]
fn code_hosts_get_sarif() {
    let desk = Desk::new();
    faulty(&desk);
    let checked = desk.easel(&["check", "--format", "sarif", "a.json"]);
    let log = checked.json();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a.json");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
    }
}

#[test]
fn warnings_do_not_fail_a_check() {
    let desk = Desk::new();
    desk.json("a.json", &asks_a_model());
    let checked = desk.easel(&["check", "a.json"]);
    assert_eq!(checked.code, 0);
    assert!(checked.out.contains("no-model"), "{}", checked.out);
    desk.write(
        "easel.toml",
        "[models]\ndefault = \"m@p\"\n[providers.p]\nkind = \"ollama\"\n",
    );
    assert_eq!(
        desk.easel(&["check", "a.json"]).out,
        "1 file: no errors, no warnings.\n"
    );
}

#[test]
fn a_file_that_is_no_canvas_is_an_error_and_one_that_is_not_there_is_wrong_use() {
    let desk = Desk::new();
    desk.write("cut.json", "{\"components\": {\n  \"begin\"");
    let checked = desk.easel(&["check", "cut.json"]);
    assert_eq!(checked.code, 3);
    assert!(
        checked.out.contains("not-readable") && checked.out.contains("cut.json:2:10"),
        "{}",
        checked.out
    );
    assert_eq!(desk.easel(&["check", "none.json"]).code, 2);
}

#[test]
fn a_code_is_explained() {
    let desk = Desk::new();
    let explained = desk.easel(&["explain", "maybe-missing"]);
    assert_eq!(explained.code, 0);
    insta::assert_snapshot!(explained.out);
    let unknown = desk.easel(&["explain", "maybe-mising"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.err.contains("Did you mean `maybe-missing`?"),
        "{}",
        unknown.err
    );
    assert!(desk.easel(&["explain"]).out.contains("edge-to-nothing"));
}

#[test]
fn a_component_is_shown_in_any_case() {
    let desk = Desk::new();
    let shown = desk.easel(&["components", "switch"]);
    assert_eq!(shown.code, 0);
    insta::assert_snapshot!(shown.out);
    assert!(
        desk.easel(&["components", "Swich"])
            .err
            .contains("Did you mean `Switch`?")
    );
    assert!(
        desk.easel(&["components"])
            .out
            .contains("VariableAggregator")
    );
    assert!(
        desk.easel(&["components", "--markdown"])
            .out
            .starts_with("# Components")
    );
    let schema = desk.easel(&["components", "Switch", "--schema"]).json();
    assert_eq!(schema["title"], "Switch");
}

#[test]
fn an_export_is_in_todays_form_and_says_what_changed() {
    let desk = Desk::new();
    let mut document = says("x");
    document["components"]["Message:M"]["obj"]["params"] = json!({"messages": ["Hello"]});
    desk.json("a.json", &document);
    let exported = desk.easel(&["export", "a.json"]);
    assert_eq!(exported.code, 0);
    assert_eq!(
        exported.json()["components"]["Message:M"]["obj"]["params"]["content"],
        json!(["Hello"])
    );
    assert_eq!(
        exported.err,
        "rewritten: `messages` is called `content` now\n"
    );
    desk.write("b.json", &exported.out);
    assert_eq!(
        desk.easel(&["export", "b.json"]).err,
        "",
        "what is in today's form stays as it is"
    );
}

#[test]
fn a_file_that_cannot_be_read_keeps_nothing_from_the_others() {
    let desk = Desk::new();
    desk.json("a.json", &says("Hello"));
    let done = desk.easel(&["check", "gone.json", "a.json", "."]);
    assert_eq!(done.code, 2);
    assert_eq!(done.out, "1 file: no errors, no warnings.\n");
    assert!(
        done.err.contains("gone.json cannot be read"),
        "{}",
        done.err
    );
}

#[test]
fn the_place_is_right_behind_a_byte_order_mark() {
    let desk = Desk::new();
    desk.write("a.json", "\u{feff}{\"components\": ~}");
    let done = desk.easel(&["check", "a.json"]);
    let mut lines = done.out.lines().skip_while(|line| !line.contains("~}"));
    let mut column =
        |found: fn(char) -> bool| lines.next().and_then(|line| line.chars().position(found));
    let fault = column(|c| c == '~');
    assert!(fault.is_some(), "{}", done.out);
    assert_eq!(column(|c| !matches!(c, ' ' | '·')), fault, "{}", done.out);
}

#[test]
fn an_export_of_what_nothing_rewrote_is_the_file() {
    let desk = Desk::new();
    let canvas = says("Hello").to_string();
    for text in [canvas.clone() + "\n", canvas.clone() + "\r\n\n"] {
        desk.write("a.json", &text);
        assert_eq!(desk.easel(&["export", "a.json"]).out, text);
    }
    desk.write("a.json", &canvas);
    assert_eq!(desk.easel(&["export", "a.json"]).out, canvas + "\n");
}

#[test]
fn a_code_is_explained_as_the_check_prints_it() {
    let desk = Desk::new();
    let explained = desk.easel(&["explain", "no-model"]).out;
    for printed in ["warning[no-model]", "[no-model]", "NO-MODEL"] {
        assert_eq!(desk.easel(&["explain", printed]).out, explained);
    }
}
