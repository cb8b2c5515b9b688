use super::*;

fn read(text: &str) -> Document {
    Document::read(text.as_bytes()).unwrap()
}

fn shown(document: &Document) -> Vec<String> {
    let mark = |on: bool, mark: &'static str| if on { mark } else { "" };
    let shown = |edge: &Edge| {
        let marks = [
            mark(edge.downstream, "d"),
            mark(edge.upstream, "u"),
            mark(edge.drawn, "g"),
        ]
        .concat();
        format!("{}>{} {marks}", edge.from, edge.to)
    };
    document.edges().iter().map(shown).collect()
}

#[test]
fn edges_are_the_union_of_both_lists_and_the_drawing() {
    let document = read(
        r#"{"components":{
            "a":{"downstream":["c","b","c"],"upstream":[]},
            "b":{"downstream":[],"upstream":["a","gone"]},
            "c":{"downstream":["c","nowhere"],"upstream":["a","b"]}},
          "graph":{"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}],
            "edges":[{"source":"b","target":"a"},{"source":"a","target":"c","sourceHandle":"Case 1"},
                     {"source":"a","target":"Note:1"}]}}"#,
    );
    assert_eq!(
        shown(&document),
        [
            "a>c dug",
            "a>b du",
            "b>c u",
            "b>a g",
            "c>c d",
            "c>nowhere d",
            "gone>b u"
        ]
    );
}

#[test]
fn lines_to_tools_sub_agents_and_error_handlers_are_no_edges() {
    let document = read(
        r#"{"components":{"a":{},"b":{},"c":{},"d":{}},"graph":{"nodes":[{"id":"b","data":{"label":"Tool"}}],"edges":[
            {"source":"a","target":"b","sourceHandle":"start"},
            {"source":"a","target":"c","sourceHandle":"agentException"},
            {"source":"a","target":"c","sourceHandle":"agentBottom","targetHandle":"agentTop"},
            {"source":"a","target":"c","sourceHandle":"tool"},
            {"source":"a","target":"d","sourceHandle":"some-category-id","targetHandle":"end"}]}}"#,
    );
    assert_eq!(shown(&document), ["a>d g"]);
}

#[test]
fn an_edge_on_one_side_only_is_reported_with_the_side_that_has_it() {
    let document = read(
        r#"{"components":{
            "a":{"downstream":["b","c"]},
            "b":{"downstream":[],"upstream":[]},
            "c":{"downstream":[]},
            "d":{"downstream":[],"upstream":["c"]}},
          "graph":{"nodes":[{"id":"a"},{"id":"c"},{"id":"d"}],"edges":[
            {"source":"x","target":"y"},{"source":"a","target":"d","sourceHandle":"start","targetHandle":"end"}]}}"#,
    );
    let found: Vec<_> = document
        .asymmetries(&document.components())
        .into_iter()
        .map(|found| {
            (
                format!("{}>{}", found.edge.from, found.edge.to),
                found.kind,
                found.place.to_string(),
            )
        })
        .collect();
    let at = |edge: &str, kind, place: &str| (edge.to_owned(), kind, place.to_owned());
    assert_eq!(
        found,
        [
            at(
                "a>b",
                AsymmetryKind::NotInUpstream,
                "/components/a/downstream"
            ),
            at("a>c", AsymmetryKind::NotDrawn, "/components/a/downstream"),
            at("a>d", AsymmetryKind::NotWired, "/graph/edges/1"),
            at(
                "c>d",
                AsymmetryKind::NotInDownstream,
                "/components/d/upstream"
            ),
        ]
    );
}

#[test]
fn a_canvas_without_lines_has_no_drawing_to_differ_from() {
    let document = read(
        r#"{"components":{"a":{"downstream":["b"]},"b":{"upstream":["a"]}},
            "graph":{"nodes":[{"id":"a"},{"id":"b"}],"edges":[]}}"#,
    );
    assert_eq!(document.asymmetries(&document.components()), []);
}

#[test]
fn an_edge_back_to_the_start_of_a_pass_need_not_be_listed_there() {
    let document = read(
        r#"{"components":{
            "item":{"obj":{"component_name":"IterationItem"},"parent_id":"it","downstream":[],"upstream":[]},
            "body":{"parent_id":"it","downstream":["item"],"upstream":[]}}}"#,
    );
    assert_eq!(document.asymmetries(&document.components()), []);
    assert_eq!(shown(&document), ["body>item d"]);
}
