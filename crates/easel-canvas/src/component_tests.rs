use super::*;

fn read(text: &str) -> Document {
    Document::read(text.as_bytes()).unwrap()
}

fn names(ids: &[Arc<str>]) -> Vec<&str> {
    ids.iter().map(|id| &**id).collect()
}

#[test]
fn components_keep_the_order_of_the_file_and_any_id() {
    let document = read(
        r#"{"components":{"z:1":{"obj":{"component_name":"LLM","params":{"n":1}},"downstream":["ä b"],"upstream":[]},
            "ä b":{"obj":{"component_name":"Message"}}}}"#,
    );
    let components = document.components();
    assert_eq!(
        names(&components.keys().cloned().collect::<Vec<_>>()),
        ["z:1", "ä b"]
    );
    let first = &components["z:1"];
    assert_eq!(
        (&*first.class, names(&first.downstream)),
        ("LLM", vec!["ä b"])
    );
    assert_eq!(first.params.get("n"), Some(&Value::from(1_i64)));
    assert_eq!(first.upstream.as_deref(), Some(&[][..]));
    assert_eq!(components["ä b"].upstream, None);
    assert!(components["ä b"].params.is_empty());
    assert!(components["ä b"].is("message"));
}

#[test]
fn a_flat_component_is_a_component() {
    let document = read(
        r#"{"components":{"a":{"id":"a","name":"Agent","params":{"x":true},"downstream":"b"}}}"#,
    );
    let a = &document.components()["a"];
    assert_eq!((&*a.class, names(&a.downstream)), ("Agent", vec!["b"]));
    assert_eq!(a.params.get("x"), Some(&Value::from(true)));
}

#[test]
fn a_list_doubled_under_obj_counts_and_comes_first() {
    let document = read(
        r#"{"components":{"a":{"obj":{"component_name":"LLM","downstream":["c","b"]},"downstream":["b","d"]}}}"#,
    );
    assert_eq!(
        names(&document.components()["a"].downstream),
        ["c", "b", "d"]
    );
}

#[test]
fn the_parent_is_the_components_own_or_else_the_drawings() {
    let document = read(
        r#"{"components":{"it":{},"own":{"parent_id":"it"},"drawn":{},"grouped":{},"blank":{"parent_id":""}},
            "graph":{"nodes":[{"id":"drawn","parentId":"it","data":{"name":"D"}},{"id":"grouped","parentId":"Group:1"}]}}"#,
    );
    let components = document.components();
    let parent = |id: &str| components[id].parent.as_deref();
    assert_eq!((parent("own"), parent("drawn")), (Some("it"), Some("it")));
    assert_eq!(
        (parent("grouped"), parent("blank"), parent("it")),
        (None, None, None)
    );
    assert_eq!(components["drawn"].name.as_deref(), Some("D"));
}

#[test]
fn stored_values_are_seen_as_initial_outputs() {
    let document = read(
        r#"{"components":{"f":{"obj":{"component_name":"UserFillUp","params":{"outputs":
            {"a":{"type":"line","value":"x"},"b":{"value":null},"c":{"type":"line"},"d":7}}}}}}"#,
    );
    let outputs = document.components()["f"].initial_outputs();
    assert_eq!(Value::from(outputs).to_json_text(), r#"{"a":"x"}"#);
}

#[test]
fn impossible_entries_are_components_without_a_class() {
    let document = read(
        r#"{"components":{"n":null,"t":"x","o":{"obj":[]},"p":{"obj":{"params":3},"downstream":[1,null,"q"]}}}"#,
    );
    let components = document.components();
    assert_eq!(components.len(), 4);
    assert!(
        components
            .values()
            .all(|component| component.class.is_empty() && component.params.is_empty())
    );
    assert_eq!(names(&components["p"].downstream), ["q"]);
    assert!(read(r#"{"components":[]}"#).components().is_empty());
}
