use super::*;

fn read(text: &str) -> Document {
    Document::read(text.as_bytes()).unwrap()
}

#[test]
fn a_document_gives_its_file_back_to_the_byte() {
    let file =
        "{ \"title\": {\"en\": \"\\u00e9\"},\n\t\"dsl\" : {\"components\":{}, \"x\": 1e2}}\n";
    assert_eq!(read(file).to_text(), file);
}

#[test]
fn the_state_of_a_session_goes_where_ragflow_keeps_it() {
    let document = read(
        r#"{"id":1,"dsl":{"components":{
            "a":{"obj":{"component_name":"LLM","params":{"outputs":{"content":{"type":"string","value":"old"},"s":{"type":"x"},"left":{"value":1}}}}},
            "b":{"name":"Message","params":{}},
            "c":{"obj":{"component_name":"LLM","params":{"outputs":{"content":{"value":"kept"}}}}},
            "d":null},"history":[],"path":[],"memory":[1]},"z":0}"#,
    );
    let outputs = |name: &str, value: &str| Object::from_iter([(name.into(), Value::from(value))]);
    let state = SessionState {
        globals: Some(outputs("sys.query", "q")),
        history: Some(vec![HistoryEntry {
            role: "user".into(),
            payload: "q".into(),
        }]),
        path: Some(vec!["begin".into()]),
        retrieval: Some(vec![Value::empty_object()]),
        memory: None,
        outputs: IndexMap::from_iter([
            ("a".into(), outputs("content", "new")),
            ("b".into(), outputs("content", "said")),
            ("d".into(), outputs("x", "y")),
            ("unknown".into(), outputs("x", "y")),
        ]),
    };
    assert_eq!(
        document.with_session(state).to_value().to_json_text(),
        concat!(
            r#"{"id":1,"dsl":{"components":{"#,
            r#""a":{"obj":{"component_name":"LLM","params":{"outputs":{"content":{"type":"string","value":"new"},"s":{"type":"x"},"left":{"value":null}}}}},"#,
            r#""b":{"name":"Message","params":{"outputs":{"content":{"value":"said","type":"string"}}}},"#,
            r#""c":{"obj":{"component_name":"LLM","params":{"outputs":{"content":{"value":"kept"}}}}},"#,
            r#""d":null},"history":[["user","q"]],"path":["begin"],"memory":[1],"globals":{"sys.query":"q"},"retrieval":[{}]},"z":0}"#,
        )
    );
    assert!(
        document.to_text().contains("\"old\""),
        "the document itself stays"
    );
}

#[test]
fn a_canvas_kept_as_text_is_written_as_text_again() {
    let document = read(r#"{"dsl":"{\"components\":{}}","t":1}"#);
    let state = SessionState {
        path: Some(vec![]),
        ..SessionState::default()
    };
    assert_eq!(
        document.with_session(state).to_value().to_json_text(),
        r#"{"dsl":"{\"components\":{},\"path\":[]}","t":1}"#
    );
}
