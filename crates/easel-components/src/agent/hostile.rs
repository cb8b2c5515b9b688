//! Models that ask for too much, too often or in a wrong way: every call is bounded and recorded, and the agent ends.

use easel_tools::ScriptedWorld;
use serde_json::{Value as Json, json};

use crate::testing::{Trial, Tried};

const TOOL: &str = "search_my_dateset_0";

/// An agent with one tool and two rounds, whose model first says what is given and then "done".
fn agent(first: Json) -> Tried {
    let kb = json!({"component_name": "Retrieval", "params": {"dataset_ids": ["d"]}});
    let params =
        json!({"llm_id": "m", "sys_prompt": "", "cite": false, "tools": [kb], "max_rounds": 2});
    let script = json!({
        "rules": [first, {"reply": "done"}],
        "retrieval": [{"chunks": [{"chunk_id": "c", "content": "Found.", "doc_id": "d"}]}],
    });
    let world = ScriptedWorld::new(serde_json::from_value(script.clone()).unwrap());
    Trial::new("Agent", params)
        .given("sys.query", json!("hello"))
        .world(world.world())
        .model(script)
        .run()
}

fn calls(count: usize, arguments: impl Fn(usize) -> Json) -> Json {
    let call = |at| json!({"id": format!("c{at}"), "name": TOOL, "arguments": arguments(at)});
    let calls: Vec<Json> = (0..count).map(call).collect();
    json!({"times": 1, "tool_calls": calls})
}

/// What the model was told of its calls.
fn told(tried: &Tried) -> Vec<String> {
    let last = tried.messages("X").pop().unwrap();
    last.into_iter()
        .filter(|message| message.starts_with("tool: "))
        .collect()
}

#[test]
fn ten_tools_at_once_are_all_called_and_answered_in_their_order() {
    let tried = agent(calls(10, |at| json!({"query": format!("q{at}")})));
    assert_eq!(tried.ports(), json!({"content": "done"}));
    assert_eq!(told(&tried).len(), 10);
    let asked: Vec<bool> = (0..10)
        .map(|at| tried.tool_calls[at].contains(&format!("\"q{at}\"")))
        .collect();
    assert_eq!(asked, [true; 10]);
}

#[test]
fn the_same_call_twice_is_made_twice() {
    let tried = agent(calls(2, |_| json!({"query": "q"})));
    assert_eq!(tried.tool_calls.len(), 2);
    assert_eq!(tried.tool_calls[0], tried.tool_calls[1]);
    // What was found twice is cited once.
    assert_eq!(tried.ports(), json!({"content": "done"}));
}

#[test]
fn a_hundred_calls_at_once_are_cut_short_and_each_is_answered() {
    let tried = agent(calls(100, |at| json!({"query": format!("q{at}")})));
    let told = told(&tried);
    assert_eq!(told.len(), 100);
    let refused = "tool: This call was not made: 32 at a time are the most.";
    assert_eq!(told.iter().filter(|answer| *answer == refused).count(), 68);
    assert_eq!(tried.tool_calls.len(), 32);
}

#[test]
fn calls_without_end_end_after_the_rounds_with_one_request_that_offers_none() {
    let for_ever = json!({"tool_calls": [{"name": TOOL, "arguments": {"query": "q"}}]});
    let tried = agent(for_ever);
    let offered: Vec<usize> = tried.requests["X"]
        .iter()
        .map(|request| request.tools.len())
        .collect();
    assert_eq!(offered, [1, 1, 1, 0]);
    assert_eq!(tried.tool_calls.len(), 3);
}

#[test]
fn broken_json_is_told_to_the_model_and_stands_in_the_record_as_it_came() {
    let tried = agent(calls(1, |_| json!("search for owls")));
    assert!(
        told(&tried)[0].contains("are not JSON"),
        "{:?}",
        told(&tried)
    );
    assert!(
        tried.tool_calls[0].starts_with("X search_my_dateset_0 search for owls"),
        "{}",
        tried.tool_calls[0]
    );
}

#[test]
fn a_megabyte_of_arguments_is_refused_and_kept_nowhere() {
    let tried = agent(calls(1, |_| json!({"query": "q".repeat(1 << 20)})));
    let told = told(&tried);
    assert!(
        told[0].contains("are the most. Call it again with less."),
        "{}",
        told[0]
    );
    assert!(
        tried.tool_calls[0].len() < 3000,
        "{}",
        tried.tool_calls[0].len()
    );
    let sent: usize = tried.messages("X").iter().flatten().map(String::len).sum();
    assert!(sent < 5000, "{sent}");
}
