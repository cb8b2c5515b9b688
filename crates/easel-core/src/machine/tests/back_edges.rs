//! Circles of edges.

use crate::compile::Finding;
use crate::testing::{World, draw};

#[test]
fn a_circle_through_a_switch_turns_until_the_switch_leaves_it() {
    let drawing = draw("begin -> a -> switch -> a, end").branch("switch");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a", "a", "end"])
        .run();
    assert!(run.is_done());
    assert_eq!(
        (run.count("a"), run.count("switch"), run.count("end")),
        (3, 3, 1)
    );
}

#[test]
fn what_leaves_a_circle_runs_once_it_is_over() {
    let drawing = draw("begin -> a -> switch -> a, end; a -> after").branch("switch");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a", "end"])
        .run();
    assert_eq!((run.count("a"), run.count("after")), (2, 1));
    assert!(run.after("after", "switch"));
}

#[test]
fn a_value_from_the_turn_before_can_be_read() {
    let drawing = draw("begin -> a -> switch -> a, end")
        .branch("switch")
        .reads("a", "switch@out");
    let run = World::new(&drawing)
        .chooses_in_turn("switch", &["a", "end"])
        .run();
    assert_eq!(run.outs("a").len(), 2);
    assert_eq!(run.outs("a")[0], "a(-)".into());
}

#[test]
fn a_circle_that_nothing_can_leave_is_refused_with_its_nodes() {
    let findings = draw("begin -> a -> b -> c -> a").findings();
    let circle = findings.iter().find_map(|finding| match finding {
        Finding::EndlessCircle { nodes } => Some(nodes.clone()),
        _ => None,
    });
    let names: Vec<&str> = circle
        .as_deref()
        .unwrap_or_default()
        .iter()
        .map(|n| &**n)
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn an_edge_to_its_own_node_is_left_out() {
    let drawing = draw("begin -> a -> a; a -> b");
    let left_out = |f: &Finding| matches!(f, Finding::SelfEdge { .. }) && !f.refuses();
    assert!(drawing.findings().iter().any(left_out));
    assert!(World::new(&drawing).run().is_done());
}
