use super::*;
use serde_json::json;

fn trace(events: Json, end: &str, state: Json) -> Json {
    json!({"turns": [{"events": events, "end": end, "final": state}]})
}

fn said(text: &str) -> Json {
    let pieces: Vec<Json> = text
        .split_inclusive(' ')
        .map(|piece| json!({"event": "message", "data": {"content": piece}}))
        .chain([json!({"event": "message_end", "data": {}})])
        .chain([json!({"event": "node_finished", "data": {"component_id": "M", "error": null}})])
        .collect();
    Json::from(pieces)
}

fn differences(wanted: &Json, got: &Json, level: u8) -> Vec<String> {
    let found = canvas(wanted, got, level, &json!({"components": {}}));
    found.iter().map(Difference::to_string).collect()
}

#[test]
fn how_a_message_is_cut_does_not_matter() {
    let wanted = trace(said("Hello big world"), "finished", json!({}));
    let got = trace(
        json!([
            {"event": "message", "data": {"content": "Hello big world"}},
            {"event": "message_end", "data": {}},
            {"event": "node_finished", "data": {"component_id": "M"}}
        ]),
        "finished",
        json!({}),
    );
    assert_eq!(differences(&wanted, &got, 3), Vec::<String>::new());
}

#[test]
fn a_difference_names_the_turn_the_place_and_both_values() {
    let wanted = trace(
        said("Hello Ada"),
        "finished",
        json!({"outputs": {"A": {"x": {"y": [1, 2]}}}}),
    );
    let got = trace(
        said("Hello Bob"),
        "error",
        json!({"outputs": {"A": {"x": {"y": [1, 3]}}}}),
    );
    insta::assert_snapshot!(differences(&wanted, &got, 2).join("\n"), @r#"
    turn 1, how it ended
        expected  "finished"
        got       "error"
    turn 1, messages
      at 0.text
        expected  "Hello Ada"
        got       "Hello Bob"
    turn 1, outputs of A
      at x.y.1
        expected  2
        got       3
    "#);
}

#[test]
fn outputs_count_from_level_two_and_calls_from_level_three() {
    let mut wanted = trace(said("x"), "finished", json!({"outputs": {"A": {"x": 1}}}));
    let mut got = trace(said("x"), "finished", json!({"outputs": {"A": {"x": 2}}}));
    wanted["turns"][0]["llm_calls"] = json!({"A": [{"messages": ["a"]}]});
    got["turns"][0]["llm_calls"] = json!({"A": [{"messages": ["b"]}]});
    let count = |level| differences(&wanted, &got, level).len();
    assert_eq!([count(1), count(2), count(3)], [0, 1, 2]);
}

#[test]
fn how_often_nodes_finished_counts_unless_the_turn_failed() {
    let events = |times: usize| {
        let event = json!({"event": "node_finished", "data": {"component_id": "A", "error": null}});
        Json::from(vec![event; times])
    };
    let of = |times, end| trace(events(times), end, json!({}));
    assert_eq!(
        differences(&of(2, "finished"), &of(1, "finished"), 1).len(),
        1
    );
    assert_eq!(differences(&of(2, "error"), &of(1, "error"), 1).len(), 0);
    assert_eq!(differences(&of(1, "error"), &of(0, "error"), 1).len(), 1);
    assert_eq!(
        differences(&of(0, "finished"), &of(1, "finished"), 1).len(),
        1
    );
}

#[test]
fn loading_is_all_that_some_cases_ask_for() {
    let loads = json!({"loads": true});
    assert_eq!(
        differences(&loads, &json!({"turns": [{"end": "error"}]}), 2).len(),
        0
    );
    assert_eq!(
        differences(&loads, &json!({"load_error": {"message": "no"}}), 2).len(),
        1
    );
    let refused = json!({"turns": [], "load_error": {"message": "another wording"}});
    assert_eq!(
        differences(&refused, &json!({"load_error": {"message": "no"}}), 2).len(),
        0
    );
}

#[test]
fn a_description_is_no_trace() {
    assert!(is_trace(&trace(said("x"), "finished", json!({}))));
    assert!(is_trace(&json!({"turns": [], "load_error": {}})));
    assert!(!is_trace(&json!({"turns": [{"messages": ["x"]}]})));
    assert!(!is_trace(&json!({"diagnostic_names": []})));
}

#[test]
fn what_a_graphs_model_is_told_is_compared_whatever_its_constant_wording() {
    let request = |system: &str, task: &str| {
        let content = json!([{"type": "text", "text": task}]);
        json!({
            "run": {"nodes": {}, "final": {}, "succeeded": true}, "valid": true,
            "llm_calls": [{"system": system, "messages": [{"role": "user", "content": content}], "tools": []}],
        })
    };
    let words = easel_runtime::components::graph::WORDING;
    let told = words
        .iter()
        .find(|(name, _)| *name == "<NODE_SYSTEM>")
        .unwrap()
        .1;
    let got = request(told, "Your task:\nWrite.");
    let differences = |wanted: &Json| graph(wanted, &got, 3).len();
    let named = "<NODE_SYSTEM>\n\n\n<ENVIRONMENT>";
    assert_eq!(differences(&request(named, "Your task:\nWrite.")), 0);
    assert_eq!(differences(&request(named, "Your task:\nRead.")), 1);
    assert_eq!(
        differences(&request("<JUDGE_SYSTEM>", "Your task:\nWrite.")),
        1
    );
}
