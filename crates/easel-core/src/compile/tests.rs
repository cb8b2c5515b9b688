//! What authors are told about their workflows, and that large ones compile in reasonable time.

use super::Finding;
use crate::testing::{Drawing, draw};
use crate::workflow::Workflow;

fn refused(drawing: &Drawing) -> Vec<Finding> {
    let findings = drawing.findings().into_iter();
    findings.filter(Finding::refuses).collect()
}

#[test]
fn a_sound_workflow_has_no_findings() {
    let drawing = draw("begin -> a, b -> c")
        .variable("env.v", 1)
        .reads("c", "a@out env.v");
    assert_eq!(drawing.findings(), []);
}

#[test]
fn a_workflow_without_an_entry_is_refused() {
    assert!(refused(&draw("a -> b").entry(None)).contains(&Finding::NoEntry));
}

#[test]
fn a_node_in_a_body_is_no_entry() {
    let drawing = draw("begin -> box")
        .repeat("box", 1)
        .inside("box", "item -> a")
        .item("item")
        .entry(Some("item"));
    assert!(refused(&drawing).contains(&Finding::NoEntry));
}

#[test]
fn of_two_nodes_with_one_id_the_second_is_left_out() {
    let drawing = draw("begin -> a").again("a");
    assert_eq!(
        refused(&drawing),
        [Finding::DuplicateId { node: "a".into() }]
    );
}

#[test]
fn an_edge_to_nothing_is_refused() {
    let drawing = draw("begin -> a").on_error("a", "nobody");
    assert_eq!(
        refused(&drawing),
        [Finding::DanglingEdge {
            node: "a".into(),
            target: "nobody".into()
        }]
    );
}

#[test]
fn an_edge_out_of_a_body_or_into_one_is_refused() {
    let drawing = draw("begin -> box -> end; begin -> a")
        .repeat("box", 1)
        .inside("box", "item -> a1 -> end")
        .item("item")
        .more("a -> a1");
    let across = |node: &str, target: &str| Finding::EdgeAcrossScopes {
        node: node.into(),
        target: target.into(),
    };
    assert_eq!(refused(&drawing), [across("a", "a1"), across("a1", "end")]);
}

#[test]
fn edges_between_a_container_and_its_own_body_mean_nothing_of_their_own() {
    let drawing = draw("begin -> box")
        .repeat("box", 1)
        .inside("box", "item -> a -> box")
        .item("item")
        .more("box -> item");
    assert_eq!(refused(&drawing), []);
}

#[test]
fn a_parent_that_is_no_container_is_refused() {
    let drawing = draw("begin -> a").inside("a", "b").inside("nobody", "c");
    let lost = |node: &str, parent: &str| Finding::NoSuchContainer {
        node: node.into(),
        parent: parent.into(),
    };
    assert_eq!(refused(&drawing), [lost("b", "a"), lost("c", "nobody")]);
}

#[test]
fn containers_inside_each_other_are_refused() {
    let ring = draw("begin")
        .inside("y", "x")
        .inside("x", "y")
        .repeat("x", 1)
        .repeat("y", 1);
    let refused = refused(&ring);
    assert!(
        matches!(refused[..], [Finding::NoSuchContainer { .. }]),
        "{refused:?}"
    );
}

#[test]
fn a_node_that_no_edge_leads_to_is_pointed_out() {
    let drawing = draw("begin -> a; lonely -> behind");
    let lost = |node: &str| Finding::Unreachable { node: node.into() };
    assert_eq!(drawing.findings(), [lost("lonely"), lost("behind")]);
}

#[test]
fn a_circle_that_no_edge_leads_to_is_pointed_out_node_by_node() {
    let drawing = draw("begin; x -> y -> x").branch("y");
    let lost = |node: &str| Finding::Unreachable { node: node.into() };
    let findings = drawing.findings();
    assert!(findings.contains(&lost("x")) && findings.contains(&lost("y")));
}

#[test]
fn loops_that_make_no_pass_or_have_no_end_of_their_own_are_pointed_out() {
    let zero = draw("begin -> box").repeat("box", 0).inside("box", "a");
    assert!(
        zero.findings()
            .contains(&Finding::NoPasses { node: "box".into() })
    );
    let endless = draw("begin -> box").repeat("box", 5).inside("box", "a");
    let no_end = Finding::NoEnd { node: "box".into() };
    assert!(endless.findings().contains(&no_end));
    let left = endless.inside("box", "leave").exit("leave");
    assert!(!left.findings().contains(&no_end));
}

#[test]
fn an_exit_without_a_loop_and_a_container_without_a_body_are_pointed_out() {
    let drawing = draw("begin -> leave, box").exit("leave").repeat("box", 1);
    let findings = drawing.findings();
    assert!(findings.contains(&Finding::ExitOutsideLoop {
        node: "leave".into()
    }));
    assert!(findings.contains(&Finding::EmptyBody { node: "box".into() }));
}

#[test]
fn findings_come_in_the_order_of_the_file() {
    let drawing = draw("begin -> a; a -> a; b; c")
        .reads("a", "nobody@out")
        .reads("b", "nobody@out");
    let findings = drawing.findings();
    let nodes: Vec<&str> = findings
        .iter()
        .filter_map(|f| f.node())
        .map(|n| &**n)
        .collect();
    assert_eq!(nodes, ["a", "a", "b", "b", "c"]);
}

/// Everything there is to look at in a compiled workflow.
fn size(workflow: &Workflow) -> usize {
    let links = workflow.nodes.iter().map(|n| {
        n.after.len() + n.after_text.len() + n.watchers.len() + n.sources.len() + n.outgoing.len()
    });
    workflow.nodes.len() + links.sum::<usize>()
}

/// Compiles ten thousand nodes: what takes the square of that would be felt.
fn compiles(drawing: Drawing) -> usize {
    size(&drawing.workflow())
}

const MANY: usize = 10_000;

fn names(prefix: &str) -> Vec<String> {
    (0..MANY).map(|n| format!("{prefix}{n}")).collect()
}

fn number(node: &crate::draft::NodeDraft, prefix: char) -> Option<usize> {
    node.id.strip_prefix(prefix)?.parse().ok()
}

fn refer(node: &mut crate::draft::NodeDraft, what: &str) {
    node.reads.extend(crate::reference::canvas::bare(what));
}

#[test]
fn a_long_chain_in_which_each_node_reads_the_first_and_the_last_compiles() {
    let chain = format!("begin -> {}", names("a").join(" -> "));
    let drawing = Drawing::wide(chain).change_all(|node| {
        if number(node, 'a').is_some() {
            refer(node, "a0@out");
        }
    });
    assert!(compiles(drawing) < 6 * MANY);
}

#[test]
fn two_long_chains_that_read_each_other_compile() {
    let chains = format!(
        "begin -> {}; begin -> {}",
        names("a").join(" -> "),
        names("b").join(" -> ")
    );
    let drawing = Drawing::wide(chains).change_all(|node| {
        if let Some(n) = number(node, 'a') {
            refer(node, &format!("b{n}@out"));
        }
    });
    assert!(compiles(drawing) < 10 * MANY);
}

#[test]
fn a_wide_fan_that_reads_one_streaming_node_compiles() {
    let fan = format!("begin -> llm; begin -> {} -> end", names("a").join(", "));
    let drawing = Drawing::wide(fan).streams("llm").change_all(|node| {
        if number(node, 'a').is_some() {
            refer(node, "llm@out");
        }
    });
    assert!(compiles(drawing) < 10 * MANY);
}

#[test]
fn one_variable_with_many_writers_and_many_readers_compiles() {
    let fan = format!("begin -> {} -> end", names("a").join(", "));
    let drawing = Drawing::wide(fan).variable("env.v", 0).change_all(|node| {
        let variable = crate::reference::canvas::bare("env.v");
        match number(node, 'a') {
            Some(n) if n % 2 == 0 => node.writes.extend(variable),
            Some(_) => node.reads.extend(variable),
            None => {}
        }
    });
    assert!(compiles(drawing) < 10 * MANY);
}

#[test]
fn a_long_circle_compiles() {
    let circle = format!(
        "begin -> {} -> a0; a{} -> end",
        names("a").join(" -> "),
        MANY - 1
    );
    let drawing = Drawing::wide(circle).branch(&format!("a{}", MANY - 1));
    assert!(compiles(drawing) < 6 * MANY);
}

#[test]
fn many_small_circles_compile() {
    let circles: Vec<String> = (0..MANY / 2)
        .map(|n| format!("begin -> a{n} -> b{n} -> a{n}"))
        .collect();
    let drawing = Drawing::wide(circles.join(";")).change_all(|node| {
        if number(node, 'b').is_some() {
            node.kind = crate::draft::Kind::Branch {
                targets: node.downstream.clone(),
            };
        }
    });
    assert!(compiles(drawing) < 10 * MANY);
}

#[test]
fn a_long_body_whose_nodes_read_the_turn_before_compiles() {
    let chain = format!("begin -> {}", names("a").join(" -> "));
    let drawing = Drawing::wide(chain).repeat("begin", 2).change_all(|node| {
        if let Some(n) = number(node, 'a') {
            node.parent = Some("begin".into());
            refer(node, &format!("a{}@out", (n + 1) % MANY));
        }
    });
    assert!(compiles(drawing) < 8 * MANY);
}
