//! `easel convert`: the same workflow in the other dialect.

use serde_json::{Value, json};

use crate::easel::{Desk, canvas};

/// What models say, by what they are asked.
const WORLD: &str = r#"{"rules": [
    {"match": {"last_contains": "Sort"}, "reply": "This is URGENT."},
    {"match": {"last_contains": "At once"}, "reply": "We come."},
    {"match": {"last_contains": "Later"}, "reply": "We write."},
    {"match": {"last_contains": "Which"}, "reply": "complaint"},
    {"match": {"last_contains": "Number 0"}, "reply": "first"},
    {"match": {"last_contains": "Number 1"}, "reply": "second"}
], "default_reply": "Both it is."}"#;

/// What a run did: the nodes in the order in which they ended, each with what it gave.
fn trace(desk: &Desk, workflow: &str, inputs: &Value) -> Vec<(String, Value)> {
    desk.write("world.json", WORLD);
    desk.json("inputs.json", inputs);
    let arguments = [
        "run",
        workflow,
        "--json",
        "--world",
        "world.json",
        "--inputs",
        "inputs.json",
        "--concurrency",
        "1",
    ];
    let ran = desk.easel(&arguments);
    assert_eq!(ran.code, 0, "{workflow}: {}", ran.err);
    let own = |id: &str| id.rsplit(':').next().unwrap().to_owned();
    let whole = ran.json();
    let steps = whole["history"].as_array().unwrap().iter();
    steps
        .filter_map(|step| {
            let id = own(step["node_id"].as_str().unwrap());
            let outputs = &step["outputs"];
            let value = match () {
                () if id == "begin"
                    || step["node_id"]
                        .as_str()
                        .unwrap()
                        .starts_with("IterationItem") =>
                {
                    return None;
                }
                () if outputs["_next"].is_array() => {
                    json!(own(outputs["_next"][0].as_str().unwrap()))
                }
                () if outputs["content"].is_string() => outputs["content"].clone(),
                // An output of a graph gives what it depends on along with its text.
                () if outputs["value"][&id].is_string() => outputs["value"][&id].clone(),
                () => outputs["value"].clone(),
            };
            Some((id, value))
        })
        .collect()
}

/// Converts a graph without a loss and gives what both do.
fn same(yaml: &str, inputs: &Value) -> Vec<(String, Value)> {
    let desk = Desk::new();
    desk.write("g.yaml", yaml);
    let converted = desk.easel(&["convert", "g.yaml", "-o", "c.json", "--strict"]);
    assert_eq!(converted.code, 0, "{}", converted.err);
    let (graph, canvas) = (
        trace(&desk, "g.yaml", inputs),
        trace(&desk, "c.json", inputs),
    );
    assert_eq!(graph, canvas);
    let back = desk.easel(&["convert", "c.json", "-o", "back.yaml"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(trace(&desk, "back.yaml", inputs), graph);
    graph
}

#[test]
fn a_router_and_a_join_behind_it_do_the_same_in_both() {
    let graph = "\
name: g
fail_fast: true
inputs: {what: string}
nodes:
  - {id: sort, kind: base, instructions: 'Sort {what}', writes: sort}
  - {id: way, kind: router, depends_on: [sort], cases: [{when: \"contains(lower(nodes.sort), lower('urgent'))\", to: now}], default: later}
  - {id: now, kind: base, depends_on: [way], instructions: 'At once: {vars.sort}'}
  - {id: later, kind: base, depends_on: [way], instructions: 'Later: {vars.sort}'}
  - {id: end, kind: output, depends_on: [now, later], value: 'Sorted: {vars.sort}'}
";
    let trace = same(graph, &json!({"what": "a leak"}));
    let ids: Vec<&str> = trace.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["sort", "way", "now", "end"]);
    assert_eq!(trace[3].1, "Sorted: This is URGENT.");
}

#[test]
fn a_fork_and_its_join_do_the_same_in_both() {
    let graph = "\
name: g
fail_fast: true
inputs: {what: string}
nodes:
  - {id: sort, kind: base, instructions: 'Sort {what}'}
  - {id: now, kind: base, depends_on: [sort], instructions: 'At once: {sort}'}
  - {id: later, kind: base, depends_on: [sort], instructions: 'Later: {sort}'}
  - {id: both, kind: base, depends_on: [now, later], instructions: '{now} {later}'}
  - {id: end, kind: output, depends_on: [both], value: '{both}'}
";
    let trace = same(graph, &json!({"what": "a leak"}));
    assert_eq!(trace.last().unwrap().1, "Both it is.");
    assert_eq!(trace.len(), 5, "the join runs once");
}

#[test]
fn a_map_does_the_same_in_both() {
    let graph = "\
name: g
fail_fast: true
inputs: {items: array}
nodes:
  - {id: each, kind: map, over: inputs.items, body_outputs: [line], body: [{id: line, kind: base, instructions: 'Number {index}'}]}
  - {id: end, kind: output, depends_on: [each], value: done}
";
    let trace = same(graph, &json!({"items": ["a", "b"]}));
    let each = trace.iter().find(|(id, _)| id == "each").unwrap();
    assert_eq!(each.1, json!(["first", "second"]));
}

#[test]
fn a_canvas_with_categories_does_the_same_as_a_graph_and_the_rest_is_named() {
    let desk = Desk::new();
    let asks = |text: &str| json!({"prompts": [{"role": "user", "content": text}], "temperature": 0.5, "temperatureEnabled": true, "top_p": 0.3, "topPEnabled": true});
    let workflow = canvas(&[
        (
            "begin",
            "Begin",
            json!({"mode": "task", "inputs": {"text": {"name": "text", "type": "line", "optional": false}}}),
            &["Agent:a"],
        ),
        (
            "Agent:a",
            "Agent",
            asks("Sort {begin@text}"),
            &["CodeExec:c"],
        ),
        (
            "CodeExec:c",
            "CodeExec",
            json!({"lang": "python", "script": "def main():\n    return 1"}),
            &["Message:m"],
        ),
        (
            "Message:m",
            "Message",
            json!({"content": ["Is it? {Agent:a@content}"]}),
            &[],
        ),
    ]);
    desk.json("c.json", &workflow);
    let strict = desk.easel(&["convert", "c.json", "-o", "g.yaml", "--strict"]);
    assert_eq!(strict.code, 1);
    assert!(!desk.path("g.yaml").exists());
    let converted = desk.easel(&["convert", "c.json", "-o", "g.yaml"]);
    assert_eq!(converted.code, 0);
    for said in ["CodeExec:c: Left out", "Agent:a top_p: Left out"] {
        assert!(converted.err.contains(said), "{}", converted.err);
    }
    assert!(!converted.err.contains("temperature:"), "{}", converted.err);
    let trace = trace(&desk, "g.yaml", &json!({"text": "x"}));
    assert_eq!(trace.last().unwrap().1, "Is it? This is URGENT.");
    let again = desk.easel(&["convert", "c.json", "-o", "g.yaml"]);
    assert_eq!(again.code, 2, "nothing is overwritten");
}

#[test]
fn a_graph_that_cannot_be_read_is_not_converted() {
    let desk = Desk::new();
    desk.write("g.yaml", "name: g\nnodes:\n  - {id: a, kind: dance}\n");
    let done = desk.easel(&["convert", "g.yaml", "-o", "c.json"]);
    assert_eq!(done.code, 3, "{}", done.seen());
    assert!(
        done.err.contains("There is no kind `dance`."),
        "{}",
        done.err
    );
    assert!(
        done.err
            .contains("g.yaml has 1 error and is not converted."),
        "{}",
        done.err
    );
    assert!(!desk.path("c.json").exists());
}
