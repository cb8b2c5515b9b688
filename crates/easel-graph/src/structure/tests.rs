use super::*;
use crate::finding::Severity;
use crate::source::Format;

fn read(text: &str) -> Document {
    Document::read(text.as_bytes(), Format::Yaml).unwrap()
}

/// What is wrong with nodes, as `code place line`.
fn errors(nodes: &str) -> Vec<String> {
    let document = read(&format!("name: g\noutputs: [a]\nnodes:\n{nodes}"));
    let errors = document.errors();
    errors
        .map(|found| format!("{} {} {}", found.code, found.place, found.at.line))
        .collect()
}

/// The only thing wrong with nodes.
fn only(nodes: &str) -> Finding {
    let document = read(&format!("name: g\noutputs: [a]\nnodes:\n{nodes}"));
    let errors: Vec<_> = document.errors().cloned().collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.into_iter().next().unwrap()
}

#[test]
fn two_nodes_of_one_id_are_told_apart_by_their_lines() {
    let found = only("  - {id: a}\n  - {id: ' a '}\n");
    assert_eq!(
        (found.code, found.at.line, found.at.column),
        (Code::DuplicateId, 5, 10)
    );
    assert_eq!(found.cause, "The node of line 4 has the id `a` already.");
    assert_eq!(found.stage, Stage::Load);
}

#[test]
fn a_misspelt_dependency_comes_with_the_id_that_is_meant() {
    let found = only("  - {id: a}\n  - {id: fetch}\n  - {id: b, depends_on: [a, fetsh]}\n");
    assert_eq!(found.code, Code::Dag);
    assert_eq!(found.place.to_string(), "nodes[2].depends_on[1]");
    assert_eq!(found.fix, "Did you mean `fetch`?");
}

#[test]
fn a_circle_is_named_whole() {
    let found = only(
        "  - {id: a, depends_on: [b]}\n  - {id: b, depends_on: [c]}\n  - {id: c, depends_on: [a]}\n",
    );
    assert_eq!(found.code, Code::Dag);
    assert_eq!(
        found.cause,
        "Dependencies go in a circle: `a` needs `b` needs `c` needs `a`."
    );
    let twice = errors(
        "  - {id: a, depends_on: [b]}\n  - {id: b, depends_on: [a]}\n  - {id: c, depends_on: [d]}\n  - {id: d, depends_on: [c]}\n",
    );
    assert_eq!(twice.len(), 2, "each knot is reported once");
}

#[test]
fn a_node_that_needs_itself_is_no_circle_but_an_error() {
    let found = only("  - {id: a, depends_on: [a]}\n");
    assert_eq!(found.cause, "`a` depends on itself.");
}

#[test]
fn an_output_that_names_nothing_is_an_error() {
    let document = read("name: g\noutputs: [writr]\nnodes: [{id: write}]");
    let found = document.errors().next().unwrap();
    assert_eq!(
        (found.code, found.at.line, found.at.column),
        (Code::Dag, 2, 11)
    );
    assert_eq!(found.fix, "Did you mean `write`?");
}

#[test]
fn nothing_depends_on_an_output_or_is_handled_by_one() {
    let nodes = "  - {id: a, on_error: o}\n  - {id: o, kind: output, depends_on: [a]}\n  - {id: b, depends_on: [o]}\n";
    assert_eq!(
        errors(nodes),
        [
            "output.as_handler nodes[0].on_error 4",
            "output.depended_on nodes[2].depends_on[0] 6"
        ]
    );
}

#[test]
fn a_handler_has_to_stand_behind_what_it_handles() {
    let found = only("  - {id: a, on_error: h}\n  - {id: h}\n");
    assert_eq!(found.code, Code::HandlerNotDownstream);
    assert_eq!(found.fix, "Add `a` to the `depends_on` of `h`.");
    assert_eq!(
        errors("  - {id: a, on_error: hh}\n  - {id: h}\n"),
        ["dag nodes[0].on_error 4"]
    );
    assert!(errors("  - {id: a, on_error: h}\n  - {id: h, depends_on: [a]}\n").is_empty());
}

#[test]
fn a_router_leads_to_nodes_behind_it_and_only_there() {
    let found = only("  - {id: a, kind: router, routes: {x: b}}\n  - {id: b}\n");
    assert_eq!(found.code, Code::RouterTargetNotDownstream);
    assert_eq!(found.place.to_string(), "nodes[0].routes.x");
    let unknown = errors(
        "  - {id: a, kind: router, cases: [{when: 'True', to: bb}], default: cc}\n  - {id: b, depends_on: [a]}\n",
    );
    assert_eq!(
        unknown,
        [
            "router.unknown_target nodes[0].cases[0].to 4",
            "router.unknown_target nodes[0].default 4"
        ]
    );
}

#[test]
fn a_router_has_routes_or_cases() {
    let behind = "\n  - {id: b, depends_on: [a]}\n";
    let both = format!("  - {{id: a, kind: router, routes: {{x: b}}, cases: [{{to: b}}]}}{behind}");
    assert_eq!(errors(&both), ["router.routes_and_cases nodes[0].cases 4"]);
    let neither = format!("  - {{id: a, kind: router, default: b}}{behind}");
    assert_eq!(errors(&neither), ["router.no_targets nodes[0].routes 4"]);
    let blank = format!("  - {{id: a, kind: router, routes: {{' ': b}}}}{behind}");
    assert_eq!(errors(&blank), ["router.blank_label nodes[0].routes 4"]);
}

#[test]
fn unquoted_yes_and_no_are_no_labels() {
    let nodes =
        "  - {id: a, kind: router, routes: {yes: b, no: b}}\n  - {id: b, depends_on: [a]}\n";
    let document = read(&format!("name: g\noutputs: [a]\nnodes:\n{nodes}"));
    let found = document.load_errors().next().unwrap();
    assert_eq!(found.code, Code::KeyNotText);
    assert_eq!(
        found.cause,
        "A key of `routes` is a boolean to YAML, where text belongs."
    );
    assert_eq!(found.fix, "Put the key in quotes.");
}

#[test]
fn router_keys_are_refused_on_other_nodes_and_ignored_on_containers_and_in_bodies() {
    assert_eq!(
        errors("  - {id: a, default: b}\n  - {id: b}\n"),
        ["router.key_elsewhere nodes[0].default 4"]
    );
    let document = read(
        "name: g\noutputs: [s]\nnodes: [{id: s, kind: subgraph, routes: {x: p}, body: [{id: p, default: p}]}]",
    );
    assert_eq!(document.errors().count(), 0);
    let inert: Vec<_> = document
        .findings()
        .iter()
        .map(|found| found.place.to_string())
        .collect();
    assert_eq!(inert, ["nodes[0].routes", "nodes[0].body[0].default"]);
}

#[test]
fn a_router_inside_a_body_is_held_to_the_nodes_of_its_body() {
    let right = "  - {id: a, kind: subgraph, body: [{id: r, kind: router, routes: {x: p}}, {id: p, depends_on: [r]}]}\n";
    assert!(errors(right).is_empty());
    let wrong =
        only("  - {id: a, kind: subgraph, body: [{id: r, kind: router, routes: {x: a}}]}\n");
    assert_eq!(
        (wrong.code, wrong.stage),
        (Code::RouterUnknownTarget, Stage::Check)
    );
}

#[test]
fn containers_say_what_they_lack() {
    let nodes = "  - {id: a, kind: subgraph}\n  - {id: l, kind: loop, until: ' ', body: [{id: x}]}\n  - {id: m, kind: map, body: [{id: x}]}\n";
    let found = errors(nodes);
    let expected = [
        "structure nodes[0].body 4",
        "structure nodes[1].max_iterations 5",
        "loop.blank_until nodes[1].until 5",
        "structure nodes[2].over 6",
    ];
    assert_eq!(found, expected);
    assert_eq!(
        errors("  - {id: a, kind: loop, max_iterations: 0, body: [{id: x}]}\n"),
        ["type nodes[0].max_iterations 4"]
    );
    assert_eq!(
        errors("  - {id: a, kind: subgraph, body: []}\n"),
        ["structure nodes[0].body 4"]
    );
}

#[test]
fn what_a_nested_container_lacks_is_found_though_the_old_engine_loaded_it() {
    let nodes = "  - {id: a, kind: subgraph, body: [{id: m, kind: map, body: [{id: x}]}, {id: l, kind: loop, depends_on: [m], body: [{id: y}]}, {id: e, kind: subgraph, depends_on: [l]}]}\n";
    let document = read(&format!("name: g\noutputs: [a]\nnodes:\n{nodes}"));
    assert_eq!(document.load_errors().count(), 0);
    let found: Vec<_> = document
        .errors()
        .map(|found| {
            (
                found.code.name(),
                found.node.as_deref().unwrap(),
                found.subject.as_deref().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("structure", "m", "over"),
            ("structure", "l", "max_iterations"),
            ("structure", "e", "body")
        ]
    );
}

#[test]
fn a_body_depends_on_itself_alone() {
    let found = only(
        "  - {id: a}\n  - {id: s, kind: subgraph, depends_on: [a], body: [{id: p, depends_on: [a]}]}\n",
    );
    assert_eq!(
        (found.code, found.stage),
        (Code::BodyDependencyOutside, Stage::Load)
    );
    assert_eq!(found.place.to_string(), "nodes[1].body[0].depends_on[0]");
    let circle = only(
        "  - {id: a, kind: subgraph, body: [{id: p, depends_on: [q]}, {id: q, depends_on: [p]}]}\n",
    );
    assert_eq!(circle.code, Code::Dag);
    let outputs = only("  - {id: a, kind: subgraph, body_outputs: [q], body: [{id: p}]}\n");
    assert_eq!(outputs.code, Code::BodyOutputs);
}

#[test]
fn a_blank_guard_is_an_error() {
    let found = only("  - {id: a, when: '  '}\n");
    assert_eq!((found.code, found.at.line), (Code::BlankWhen, 4));
}

#[test]
fn an_old_loop_that_breaks_by_break_when_is_refused() {
    let found =
        only("  - {id: a, kind: loop, max_iterations: 9, break_when: 'True', body: [{id: x}]}\n");
    assert_eq!(found.code, Code::BreakWhen);
}

#[test]
fn a_function_node_names_its_function() {
    let found = only("  - {id: a, kind: python}\n");
    assert_eq!((found.code.name(), found.stage), ("callable", Stage::Check));
}

#[test]
fn a_tool_node_calls_its_first_tool_and_says_so() {
    let document = read("name: g\noutputs: [t]\nnodes: [{id: t, kind: tool, tools: [probe, db]}]");
    let found = document.findings().first().unwrap();
    assert_eq!(
        (found.code.name(), found.severity),
        ("tool.only_first", Severity::Warning)
    );
}

#[test]
fn a_graph_without_a_result_is_warned_about() {
    let document = read("name: g\nnodes: [{id: a}]");
    let codes: Vec<_> = document
        .findings()
        .iter()
        .map(|found| found.code.name())
        .collect();
    assert_eq!(codes, ["workflow.no_result"]);
    let with_output = read("name: g\nnodes: [{id: a}, {id: o, kind: output, depends_on: [a]}]");
    assert!(with_output.findings().is_empty());
}

#[test]
fn many_wrong_edges_are_found_in_time_that_grows_with_the_file() {
    let many: Vec<String> = (0..1_500).map(|n| format!("n{n}")).collect();
    let nodes: String = many
        .iter()
        .map(|id| format!("  - {{id: {id}, depends_on: [x{id}, y{id}]}}\n"))
        .collect();
    let routes: Vec<String> = many.iter().map(|id| format!("{id}: n1")).collect();
    let document = read(&format!(
        "name: g\noutputs: [n1]\nnodes:\n{nodes}  - {{id: r, kind: router, routes: {{{}}}}}\n",
        routes.join(", ")
    ));
    assert_eq!(document.errors().count(), 3_001);
}
