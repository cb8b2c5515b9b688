use super::super::tests::{compact, normal};
use crate::document::Document;
use crate::normalise::{Rewrite, normalise};
use crate::pointer::Pointer;

use super::*;

/// The components derived from drawn nodes and lines.
fn derived(nodes: &str, edges: &str) -> String {
    let text = format!(r#"{{"graph":{{"nodes":[{nodes}],"edges":[{edges}]}}}}"#);
    normal(&text);
    let document = normalise(&Document::read(text.as_bytes()).unwrap()).document;
    document
        .get("components")
        .cloned()
        .unwrap_or_default()
        .to_json_text()
}

fn node(id: &str, label: &str, form: &str) -> String {
    format!(r#"{{"id":"{id}","data":{{"label":"{label}","name":"N {id}","form":{form}}}}}"#)
}

fn edge(source: &str, handle: &str, target: &str, target_handle: &str) -> String {
    format!(
        r#"{{"source":"{source}","sourceHandle":"{handle}","target":"{target}","targetHandle":"{target_handle}"}}"#
    )
}

#[test]
fn a_drawing_alone_becomes_components() {
    let nodes = [
        node("begin", "Begin", "null"),
        node("Note:1", "Note", "{}"),
        r#"{"id":"m","parentId":"it","data":{"label":"Message","form":{"content":["x"]}}}"#
            .to_owned(),
        node("Placeholder:1", "Placeholder", "{}"),
        node("begin", "Message", "{}"),
    ];
    let edges = [
        edge("begin", "start", "m", "end"),
        edge("begin", "start", "m", "end"),
        edge("begin", "start", "Placeholder:1", "end"),
        edge("begin", "start", "gone", "end"),
        edge("gone", "start", "m", "end"),
    ];
    assert_eq!(
        derived(&nodes.join(","), &edges.join(",")),
        compact(
            r#"{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["m","gone"],"upstream":[]},
                "m":{"obj":{"component_name":"Message","params":{"content":["x"]}},"downstream":[],"upstream":["begin"],"parent_id":"it"}}"#
        )
    );
}

#[test]
fn nodes_at_the_top_are_a_drawing_too_and_what_engines_expect_is_added() {
    let (canvas, notes) = normal(
        r#"{"nodes":[{"id":"begin","data":{"label":"Begin"}}],"x":1,"edges":[],
            "globals":{"sys.query":"q","env.a":1},"variables":{"a":{"value":2},"b":{"value":3}}}"#,
    );
    assert_eq!(
        canvas,
        compact(
            r#"{"graph":{"nodes":[{"id":"begin","data":{"label":"Begin"}}],"edges":[]},"x":1,
            "globals":{"sys.query":"q","env.a":1,"env.b":3},"variables":{"a":{"value":2},"b":{"value":3}},
            "components":{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":[],"upstream":[]}},
            "path":[],"history":[],"retrieval":[]}"#
        )
    );
    assert_eq!(notes, ["drawing-lifted ", "components-derived /graph"]);
}

#[test]
fn components_that_are_there_are_not_derived() {
    let (_, notes) = normal(
        r#"{"components":{"a":{}},"graph":{"nodes":[{"id":"begin","data":{"label":"Begin"}}]}}"#,
    );
    assert!(notes.is_empty());
    assert_eq!(
        normal(r#"{"components":{},"graph":{"nodes":[]}}"#).1,
        Vec::<String>::new()
    );
}

#[test]
fn agents_below_an_agent_are_its_tools_at_every_depth() {
    let nodes = [
        node(
            "Agent:A",
            "Agent",
            r#"{"tools":[{"component_name":"X","id":"X:1"}],"exception_goto":["old"]}"#,
        ),
        node("Agent:B", "Agent", r#"{"p":1}"#),
        node("Agent:C", "Agent", "{}"),
        node("Tool:T", "Tool", "{}"),
        node("m", "Message", "{}"),
    ];
    let edges = [
        edge("Agent:A", "agentBottom", "Agent:B", "agentTop"),
        edge("Agent:B", "agentBottom", "Agent:C", "agentTop"),
        edge("Agent:B", "tool", "Tool:T", "end"),
        edge("Agent:A", "agentException", "m", "end"),
        edge("Agent:A", "start", "m", "end"),
    ];
    assert_eq!(
        derived(&nodes.join(","), &edges.join(",")),
        compact(
            r#"{"Agent:A":{"obj":{"component_name":"Agent","params":{
                "tools":[{"component_name":"X","id":"X:1"},{"component_name":"Agent","id":"Agent:B","name":"N Agent:B","params":{"p":1,
                    "tools":[{"component_name":"Agent","id":"Agent:C","name":"N Agent:C","params":{}}]}}],
                "exception_goto":["m"]}},"downstream":["m"],"upstream":[]},
                "m":{"obj":{"component_name":"Message","params":{}},"downstream":[],"upstream":["Agent:A"]}}"#
        )
    );
}

#[test]
fn agents_in_a_circle_or_in_a_tower_are_cut_with_a_note() {
    let nodes: Vec<String> = (0..20)
        .map(|n| node(&format!("Agent:{n}"), "Agent", "{}"))
        .collect();
    let down = |from: usize, to: usize| {
        edge(
            &format!("Agent:{from}"),
            "agentBottom",
            &format!("Agent:{to}"),
            "agentTop",
        )
    };
    let mut edges: Vec<String> = (0..18).map(|n| down(n, n + 1)).collect();
    edges.push(down(2, 1));
    let text = format!(
        r#"{{"graph":{{"nodes":[{}],"edges":[{}]}}}}"#,
        nodes.join(","),
        edges.join(",")
    );
    let read = Document::read(text.as_bytes()).unwrap();
    let normalised = normalise(&read);
    let cut: Vec<_> = normalised
        .notes
        .iter()
        .filter(|note| note.rewrite == Rewrite::SubAgentLeftOut)
        .map(|note| note.place.to_string())
        .collect();
    assert_eq!(cut, ["/graph/nodes/9", "/graph/nodes/1"]);
    assert_eq!(
        normalised.document.components().len(),
        2,
        "the first of the tower, and the one beside it"
    );
}

#[test]
fn a_drawing_that_shares_agents_level_by_level_does_not_explode() {
    let id = |level: usize, at: usize| format!("Agent:{level}_{at}");
    let ids = (0..9).flat_map(|level| (0..9).map(move |at| (level, at)));
    let nodes: Vec<String> = ids
        .clone()
        .map(|(level, at)| node(&id(level, at), "Agent", "{}"))
        .collect();
    let edges = ids.filter(|(level, _)| *level < 8).flat_map(|(level, at)| {
        (0..9).map(move |to| {
            edge(
                &id(level, at),
                "agentBottom",
                &id(level + 1, to),
                "agentTop",
            )
        })
    });
    let edges: Vec<String> = edges.collect();
    let components = derived(&nodes.join(","), &edges.join(","));
    assert!(components.len() < 200_000, "{}", components.len());
}

#[test]
fn a_form_becomes_parameters() {
    let nodes = [
        node(
            "c",
            "Categorize",
            r#"{"items":[{"name":"one ","description":"d","examples":[{"value":"x\ny"},"z"],"uuid":"u1"},{"name":"two","uuid":"u2","to":["q"]}],"llm_id":"m"}"#,
        ),
        node(
            "s",
            "Switch",
            r#"{"conditions":[{"to":[]},{"to":["own"]},{}]}"#,
        ),
        node(
            "d",
            "DataOperations",
            r#"{"query":[{"input":"c@x"}],"select_keys":[{"name":"k"},"l"],"remove_keys":[]}"#,
        ),
        node("t", "TokenChunker", r#"{"delimiters":[{"value":"\n"}]}"#),
        node("a", "Message", "{}"),
        node("b", "Message", "{}"),
    ];
    let edges = [
        edge("c", "u1", "a", "end"),
        edge("c", "u1", "b", "end"),
        edge("s", "Case 1", "a", "end"),
        edge("s", "Case 2", "b", "end"),
        edge("s", "end_cpn_ids", "b", "end"),
    ];
    let text = format!(
        r#"{{"graph":{{"nodes":[{}],"edges":[{}]}}}}"#,
        nodes.join(","),
        edges.join(",")
    );
    let components = normalise(&Document::read(text.as_bytes()).unwrap())
        .document
        .components();
    let params = |id: &str| Value::Object(components[id].params.clone()).to_json_text();
    assert_eq!(
        params("c"),
        compact(
            r#"{"category_description":{"one ":{"description":"d","examples":["x\ny","z"],"uuid":"u1","to":["a","b"]},
                "two":{"uuid":"u2","to":["q"]}},"llm_id":"m"}"#
        )
    );
    assert_eq!(
        params("s"),
        r#"{"conditions":[{"to":["a"]},{"to":["own"]},{}],"end_cpn_ids":["b"]}"#
    );
    assert_eq!(
        params("d"),
        r#"{"query":["c@x"],"select_keys":["k","l"],"remove_keys":[]}"#
    );
    assert_eq!(params("t"), r#"{"delimiters":["\n"]}"#);
}

#[test]
fn a_webhooks_tables_become_schemas_and_lists() {
    let form = r#"{"mode":"Webhook","schema":{"query":[{"key":"a","type":"number","required":true},{"key":"b"}],"body":{"type":"object"}},
        "security":{"ip_whitelist":[{"value":"10.0.0.0/8"}],"jwt":{"required_claims":[{"value":"team"}]}}}"#;
    assert_eq!(
        derived(&node("begin", "Begin", form), ""),
        compact(
            r#"{"begin":{"obj":{"component_name":"Begin","params":{"mode":"Webhook","schema":{
                "query":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"string"}},"required":["a"]},"body":{"type":"object"}},
                "security":{"ip_whitelist":["10.0.0.0/8"],"jwt":{"required_claims":["team"]}}}},"downstream":[],"upstream":[]}}"#
        )
    );
}

#[test]
fn a_derived_component_has_the_line_of_its_drawn_node() {
    let text = "{\"graph\":{\"nodes\":[\n{\"id\":\"a\",\n\"data\":{\"label\":\"LLM\",\"form\":{\n\"n\":1}}}]}}";
    let document = normalise(&Document::read(text.as_bytes()).unwrap()).document;
    let line = |place: Pointer| document.locate(&place).map(|found| found.line);
    assert_eq!(line(Pointer::component("a")), Some(2));
    assert_eq!(line(Pointer::param("a", "n")), Some(4));
    assert_eq!(line(Pointer::param("a", "other")), Some(3));
}
