use super::*;

fn read(text: &str) -> Document {
    Document::read(text.as_bytes()).unwrap()
}

fn json(object: Object) -> String {
    Value::from(object).to_json_text()
}

#[test]
fn variables_start_with_their_value_or_the_empty_one_of_their_type() {
    let document = read(
        r#"{"components":{},"variables":{
            "s":{"name":"s","type":"string","value":"x","description":"what"},"n":{"type":"number","value":null},
            "b":{"type":"boolean"},"o":{"type":"object"},"l":{"type":"array<number>"},"u":{}}}"#,
    );
    let values: Object = document
        .variables()
        .into_iter()
        .map(|(name, variable)| (name, variable.value))
        .collect();
    assert_eq!(
        json(values),
        r#"{"s":"x","n":0,"b":false,"o":{},"l":[],"u":""}"#
    );
    assert_eq!(
        document.variables()["s"].description.as_deref(),
        Some("what")
    );
    assert!(
        read(r#"{"components":{},"variables":[]}"#)
            .variables()
            .is_empty()
    );
}

#[test]
fn globals_are_what_is_stored_then_what_is_declared_then_what_every_run_has() {
    let document = read(
        r#"{"components":{},"globals":{"sys.query":"q","env.a":7,"other":1},"variables":{"a":{"value":1},"b":{"value":2}}}"#,
    );
    assert_eq!(
        json(document.globals()),
        r#"{"sys.query":"q","env.a":7,"other":1,"env.b":2,"sys.user_id":"","sys.conversation_turns":0,"sys.files":[],"sys.history":[],"sys.date":""}"#
    );
}

#[test]
fn a_new_session_starts_with_empty_system_values_and_declared_variables() {
    let document = read(
        r#"{"components":{},"globals":{"sys.query":"q","sys.conversation_turns":3,"sys.x":{"k":1},"sys.t":true,
            "sys.n":null,"env.a":7,"env.gone":8,"other":1},"variables":{"a":{"value":1},"b":{"type":"number"}}}"#,
    );
    assert_eq!(
        json(document.fresh_globals()),
        r#"{"sys.query":"","sys.conversation_turns":0,"sys.x":{},"sys.t":false,"sys.n":null,"env.a":1,"env.gone":"","other":1,"env.b":0,"sys.user_id":"","sys.files":[],"sys.history":[],"sys.date":""}"#
    );
}

#[test]
fn history_and_memory_are_read_in_each_of_their_shapes() {
    let document = read(
        r#"{"components":{},"history":[["user","hi"],{"role":"assistant","content":{"a":1}},{"role":"user","payload":2},
            ["",1],["user"],7],"memory":[["u","a","s"],{"user":"x","summary":"y"},["short"]],"path":["a",1,"b"]}"#,
    );
    let history: Vec<String> = document
        .history()
        .iter()
        .map(|turn| format!("{} {}", turn.role, turn.payload.to_json_text()))
        .collect();
    assert_eq!(history, ["user \"hi\"", "assistant {\"a\":1}", "user 2"]);
    let memory: Vec<String> = document
        .memory()
        .iter()
        .map(|one| Value::from(one.to_vec()).to_json_text())
        .collect();
    assert_eq!(memory, [r#"["u","a","s"]"#, r#"["x",null,"y"]"#]);
    assert_eq!(document.path().len(), 2);
}

#[test]
fn a_retrieval_object_is_one_bucket_and_an_empty_one_none() {
    let buckets = |text: &str| Value::from(read(text).retrieval()).to_json_text();
    assert_eq!(
        buckets(r#"{"components":{},"retrieval":{"chunks":[],"doc_aggs":[]}}"#),
        "[]"
    );
    assert_eq!(
        buckets(r#"{"components":{},"retrieval":{"chunks":[1]}}"#),
        r#"[{"chunks":[1]}]"#
    );
    assert_eq!(buckets(r#"{"components":{},"retrieval":[1,2]}"#), "[1,2]");
    assert_eq!(buckets(r#"{"components":{}}"#), "[]");
}
