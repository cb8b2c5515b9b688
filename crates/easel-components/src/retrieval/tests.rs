//! Retrieval nodes as users set them up.

use easel_core::Value;
use easel_tools::ScriptedWorld;
use serde_json::{Value as Json, json};

use crate::testing::Trial;

const FOUND: &str = "\nID: 417\n├── Title: geo.txt\n└── Content:\nParis is the capital.";

fn chunk() -> Json {
    json!({"chunk_id": "c1", "content": "Paris is the capital.", "doc_id": "d1", "docnm_kwd": "geo.txt"})
}

fn found() -> Json {
    json!({"retrieval": [{"chunks": [chunk()], "doc_aggs": [{"doc_name": "geo.txt", "doc_id": "d1", "count": 1}]}]})
}

/// A node with these parameters, and the calls its world got.
fn retrieve(params: Json, query: &str, script: Json) -> (crate::testing::Tried, Vec<Json>) {
    let mut all = json!({"query": "sys.query", "empty_response": "nothing"});
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    let world = ScriptedWorld::new(serde_json::from_value(script.clone()).unwrap());
    let tried = Trial::new("Retrieval", all)
        .given("sys.query", json!(query))
        .given("env.sets", json!(["ds2", "ds1"]))
        .given("env.region", json!("north"))
        .world(world.world())
        .model(script)
        .run();
    let calls = world.take_calls().iter().map(Value::to_json).collect();
    (tried, calls)
}

#[test]
fn passages_are_given_as_text_and_data_and_can_be_cited() {
    let (tried, calls) = retrieve(json!({"dataset_ids": ["ds1"]}), "user: capital", found());
    assert_eq!(
        tried.ports(),
        json!({"formalized_content": FOUND, "json": [chunk()]})
    );
    assert_eq!(
        calls,
        [json!({"retrieval": "capital", "datasets": ["ds1"]})]
    );
    let store = tried.completion().references[0].to_json();
    assert_eq!(store["chunks"]["417"]["document_name"], "geo.txt");
    assert_eq!(store["doc_aggs"]["geo.txt"]["count"], 1);
}

#[test]
fn where_nothing_is_asked_or_found_the_node_says_what_it_was_told_to() {
    let nothing = json!({"formalized_content": "nothing"});
    let (blank, calls) = retrieve(json!({"dataset_ids": ["ds1"]}), " ", found());
    assert_eq!((blank.ports(), calls.len()), (nothing.clone(), 0));
    let (none, calls) = retrieve(json!({"dataset_ids": ["ds1"]}), "q", json!({}));
    assert_eq!((none.ports(), calls.len()), (nothing.clone(), 1));
    assert!(none.completion().references.is_empty());
}

#[test]
fn datasets_may_come_from_references() {
    let (_, calls) = retrieve(
        json!({"dataset_ids": ["env.sets", "ds1", ""]}),
        "q",
        found(),
    );
    assert_eq!(calls[0]["datasets"], json!(["ds2", "ds1"]));
}

#[test]
fn without_a_dataset_nothing_is_found_and_that_is_said() {
    let (tried, calls) = retrieve(
        json!({"retrieval_from": "dataset", "kb_ids": []}),
        "q",
        found(),
    );
    assert_eq!(tried.port("formalized_content"), json!("nothing"));
    assert_eq!((tried.warnings.len(), calls.len()), (1, 0));
}

#[test]
fn a_search_that_fails_fails_the_node_by_name() {
    let (tried, _) = retrieve(
        json!({"dataset_ids": ["ds1"]}),
        "q",
        json!({"retrieval": [{"error": "index down"}]}),
    );
    assert_eq!(
        &*tried.fault().message,
        "\"X\" failed: retrieval failed: index down."
    );
}

#[test]
fn conditions_are_filled_in_at_each_call() {
    let filter = json!({"method": "manual", "logic": "or", "manual": [{"key": "region", "op": "=", "value": "{env.region}"}]});
    let (_, calls) = retrieve(
        json!({"dataset_ids": ["ds1"], "meta_data_filter": filter}),
        "q",
        found(),
    );
    assert_eq!(
        calls[0]["filters"],
        json!([{"key": "region", "op": "=", "value": "north"}])
    );
}

#[test]
fn a_model_makes_conditions_on_chosen_metadata() {
    let filter =
        json!({"method": "semi_auto", "semi_auto": ["year", {"key": "author", "op": "contains"}]});
    let mut script = found();
    script["rules"] = json!([{"reply": "[{\"key\": \"author\", \"value\": \"Ann\"}]"}]);
    let (tried, calls) = retrieve(
        json!({"dataset_ids": ["ds1"], "meta_data_filter": filter}),
        "what Ann wrote",
        script,
    );
    assert_eq!(
        calls[0]["filters"],
        json!([{"key": "author", "op": "contains", "value": "Ann"}])
    );
    assert_eq!(tried.usage.calls, 1);
}

#[test]
fn a_question_is_searched_for_in_other_languages_too() {
    let mut script = found();
    script["rules"] = json!([{"reply": "Hauptstadt\n===\ncapitale"}]);
    let (_, calls) = retrieve(
        json!({"dataset_ids": ["ds1"], "cross_languages": ["German", "French"]}),
        "capital",
        script,
    );
    assert_eq!(calls[0]["retrieval"], "capital\nHauptstadt\ncapitale");
}

#[test]
fn memories_are_searched_where_the_node_says_so() {
    let script =
        json!({"memory": [{"messages": [{"content": "likes tea"}, {"content": "has a cat"}]}]});
    let (tried, calls) = retrieve(
        json!({"retrieval_from": "memory", "memory_ids": ["m1"]}),
        "q",
        script,
    );
    assert_eq!(tried.port("formalized_content"), "likes tea\nhas a cat");
    assert_eq!(calls, [json!({"search_memory": ["m1"], "query": "q"})]);
    assert!(tried.completion().references.is_empty());
}
