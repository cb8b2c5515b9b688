use easel_core::draft::{Gather, Kind as NodeKind};

use super::*;
use crate::source::Format;

fn lowered(text: &str) -> Lowered {
    let document = Document::read(text.as_bytes(), Format::Yaml).unwrap();
    lower(&document, &Surroundings::none())
}

fn node<'a>(lowered: &'a Lowered, id: &str) -> &'a NodeDraft {
    let mut nodes = lowered.draft.nodes.iter();
    nodes.find(|node| &*node.id == id).unwrap()
}

/// Edges as `a -> b`, error edges as `a ~> b`, the place in a body as `a in b`.
fn shape(lowered: &Lowered) -> Vec<String> {
    let mut lines = Vec::new();
    for node in &lowered.draft.nodes {
        let id = &node.id;
        lines.extend(node.downstream.iter().map(|to| format!("{id} -> {to}")));
        lines.extend(node.on_error.iter().map(|to| format!("{id} ~> {to}")));
        lines.extend(node.parent.iter().map(|around| format!("{id} in {around}")));
    }
    lines
}

fn reads(node: &NodeDraft) -> Vec<String> {
    node.reads.iter().map(ToString::to_string).collect()
}

#[test]
fn a_dependency_is_an_edge_and_a_handler_hangs_on_an_error_edge() {
    let lowered = lowered(
        "name: g
nodes:
  - {id: call, kind: function, callable: 'm:f', on_error: sorry}
  - {id: next, kind: function, callable: 'm:f', depends_on: [call]}
  - {id: sorry, kind: function, callable: 'm:f', depends_on: [call]}
",
    );
    assert_eq!(shape(&lowered), ["call -> next", "call ~> sorry"]);
    assert_eq!(node(&lowered, "call").policy.otherwise, Otherwise::Goto);
    assert_eq!(node(&lowered, "next").policy.otherwise, Otherwise::Fail);
    assert_eq!(lowered.draft.entry, Entry::Sources);
}

#[test]
fn a_handled_failure_fails_the_scope_only_for_a_graph_that_asks_for_it() {
    let text = "name: g
compat: neurosurfer-2.0
nodes:
  - {id: a, kind: function, callable: 'm:f', on_error: b, when: inputs.x}
  - {id: b, kind: function, callable: 'm:f', depends_on: [a]}
";
    let old = lowered(text);
    assert_eq!(node(&old, "a").policy.otherwise, Otherwise::GotoAndFail);
    assert!(matches!(node(&old, "a").guard, Guard::WhenSure(_)));
    let new = lowered(&text.replace("compat: neurosurfer-2.0\n", ""));
    assert_eq!(node(&new, "a").policy.otherwise, Otherwise::Goto);
    assert!(matches!(node(&new, "a").guard, Guard::When(_)));
}

#[test]
fn a_router_is_a_branch_over_its_targets() {
    let lowered = lowered(
        "name: g
inputs: {n: integer}
nodes:
  - {id: way, kind: router, cases: [{when: inputs.n > 1, to: many}, {default: true, to: one}]}
  - {id: many, kind: function, callable: 'm:f', depends_on: [way]}
  - {id: one, kind: function, callable: 'm:f', depends_on: [way]}
",
    );
    let NodeKind::Branch { targets } = &node(&lowered, "way").kind else {
        panic!("a router is a branch");
    };
    let targets: Vec<&str> = targets.iter().map(|target| &**target).collect();
    assert_eq!(targets, ["many", "one"]);
    assert_eq!(shape(&lowered), ["way -> many", "way -> one"]);
}

#[test]
fn ids_of_bodies_that_are_taken_are_given_others() {
    let lowered = lowered(
        "name: g
inputs: {xs: array}
nodes:
  - id: each
    kind: map
    over: inputs.xs
    body:
      - {id: work, kind: function, callable: 'm:f'}
  - {id: work, kind: function, callable: 'm:f', depends_on: [each]}
",
    );
    let [(theirs, written)] = &lowered.renamed[..] else {
        panic!("one is renamed: {:?}", lowered.renamed);
    };
    assert_eq!(&**written, "work");
    assert_eq!(
        shape(&lowered),
        ["each -> work".to_owned(), format!("{theirs} in each")]
    );
    let NodeKind::Each { collect, .. } = &node(&lowered, "each").kind else {
        panic!("a map runs over a list");
    };
    let [(_, Gather::One(given))] = &collect[..] else {
        panic!("one node, one value: {collect:?}");
    };
    assert!(given.text.contains(&**theirs), "{given}");
}

#[test]
fn a_text_reads_what_it_names_and_nothing_else() {
    let lowered = lowered(
        "name: g
inputs: {topic: string, tone: string}
nodes:
  - {id: plan, kind: function, callable: 'm:f', writes: outline}
  - {id: other, kind: function, callable: 'm:f'}
  - {id: say, kind: base, instructions: 'On {topic}: {outline}', depends_on: [plan]}
",
    );
    let said = reads(node(&lowered, "say"));
    assert!(said.iter().any(|read| read.contains("topic")), "{said:?}");
    assert!(said.iter().any(|read| read.contains("outline")), "{said:?}");
    assert!(!said.iter().any(|read| read.contains("tone")), "{said:?}");
    assert!(!said.iter().any(|read| read.contains("other")), "{said:?}");
    assert_eq!(node(&lowered, "plan").publishes, Some(0));
    assert_eq!(&*node(&lowered, "plan").writes[0].text, "vars.outline");
}

#[test]
fn a_name_that_stands_for_nothing_is_found_where_it_stands() {
    let text = "name: g
inputs: {topic: string}
nodes:
  - {id: say, kind: base, instructions: 'About {topik}.'}
";
    let lowered = lowered(text);
    let [finding] = &lowered.findings[..] else {
        panic!("one finding: {:?}", lowered.findings);
    };
    let FindingKind::Missing { written, why, .. } = &finding.kind else {
        panic!("a name is missing: {finding:?}");
    };
    let like = names::Missing::Unknown {
        name: "topik".into(),
        like: Some("topic".into()),
    };
    assert_eq!((&**written, why), ("{topik}", &like));
    assert_eq!(finding.place.to_string(), "nodes[0].instructions");
    assert_eq!(&"About {topik}."[finding.span.clone()], "{topik}");
}

#[test]
fn an_expression_that_cannot_be_read_breaks_its_node_alone() {
    let lowered = lowered(
        "name: g
nodes:
  - {id: bad, kind: function, callable: 'm:f', when: 'inputs.x >'}
  - {id: good, kind: function, callable: 'm:f'}
",
    );
    let broken = node(&lowered, "bad").broken.as_ref().unwrap();
    assert_eq!(&*broken.code, "bad_expression");
    assert!(node(&lowered, "good").broken.is_none());
    assert!(matches!(lowered.findings[0].kind, FindingKind::Syntax(_)));
}

#[test]
fn what_a_run_gives_out_are_its_output_nodes_then_the_listed_then_the_last() {
    let lowered = lowered(
        "name: g
outputs: [b, ghost]
nodes:
  - {id: a, kind: function, callable: 'm:f'}
  - {id: b, kind: function, callable: 'm:f', depends_on: [a]}
  - {id: out, kind: output, depends_on: [a]}
",
    );
    let Results {
        outputs,
        listed,
        last,
    } = lowered.results;
    assert_eq!(outputs, ["out".into()]);
    assert_eq!(listed, ["b".into()]);
    assert!(last.is_some());
}

#[test]
fn a_time_limit_of_zero_is_none_as_in_canvases() {
    let lowered = lowered(
        "name: g
nodes:
  - {id: usual, kind: function, callable: 'm:f'}
  - {id: short, kind: function, callable: 'm:f', policy: {timeout_s: 0.5}}
  - {id: free, kind: function, callable: 'm:f', policy: {timeout_s: 0}}
",
    );
    let limits = ["usual", "short", "free"].map(|id| node(&lowered, id).timeout_s);
    assert_eq!(limits, [Some(CODE_S), Some(0.5), None]);
}
