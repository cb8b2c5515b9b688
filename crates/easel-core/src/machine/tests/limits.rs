//! What bounds a run.

use crate::testing::{World, draw};

#[test]
fn a_circle_that_does_not_end_is_stopped_at_the_limit() {
    let drawing = draw("begin -> a -> switch -> a, end").branch("switch");
    let run = World::new(&drawing)
        .chooses("switch", "a")
        .node_runs(50)
        .run();
    assert_eq!(&*run.failure().1.code, "too_many_node_runs");
    // The one over the limit starts and fails.
    assert_eq!(
        run.count("a") + run.count("switch") + run.count("begin"),
        51
    );
}

#[test]
fn a_chain_of_ten_thousand_nodes_needs_no_stack() {
    let names: Vec<String> = (0..10_000).map(|n| format!("n{n}")).collect();
    let run = World::new(&draw(&names.join(" -> ")))
        .node_runs(20_000)
        .run();
    assert!(run.is_done());
    assert_eq!(run.count("n9999"), 1);
}

#[test]
fn passes_over_a_long_list_keep_no_scope_each() {
    let items: Vec<crate::Value> = (0..2_000_i64).map(Into::into).collect();
    let drawing = draw("begin -> each -> end")
        .variable("env.items", items)
        .each("each", "env.items", 1)
        .inside("each", "item -> a")
        .item("item")
        .reads("a", "item@item");
    let run = World::new(&drawing).node_runs(10_000).run();
    assert!(run.is_done());
    assert!(run.machine.scopes() <= 2, "{}", run.machine.scopes());
}
