//! Large workflows and long runs: cost is counted or bounded by the stack of a test's thread, never timed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use crate::Value;
use crate::testing::{Drawing, Order, World, draw};

/// Enough for any test of depth to overflow the stack if something recursed.
const LONG: usize = 8_000;

fn chain(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = std::iter::once("begin".to_owned()).chain(names).collect();
    names.join(" -> ")
}

#[test]
fn a_long_chain_runs_to_its_end() {
    let drawing = Drawing::wide(chain((0..LONG).map(|n| format!("n{n}"))));
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(run.started().len(), LONG + 1);
}

#[test]
fn a_long_dead_chain_dies_in_one_step() {
    let drawing = Drawing::wide(format!(
        "{}; begin -> end; n{} -> end",
        chain((0..LONG).map(|n| format!("n{n}"))),
        LONG - 1
    ));
    let run = World::new(&drawing.branch("begin"))
        .chooses("begin", "end")
        .run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "end"]);
}

#[test]
fn a_long_chain_of_references_unwinds_without_recursion() {
    // Each waits for the next; containers with an empty body are done as soon as they start.
    let count = 3_000;
    let names: Vec<String> = (0..count).map(|n| format!("n{n}")).collect();
    let mut drawing = Drawing::wide(format!("begin -> {}", names.join(", ")));
    drawing = drawing.change_all(|node| {
        if let Some(n) = node
            .id
            .strip_prefix('n')
            .and_then(|n| n.parse::<usize>().ok())
        {
            node.kind = crate::draft::Kind::While {
                variables: Vec::new(),
                until: None,
                maximum: 0,
            };
            if n + 1 < count {
                let next = crate::reference::canvas::bare(&format!("n{}@x", n + 1));
                node.reads.extend(next);
            }
        }
    });
    let run = World::new(&drawing).run();
    assert!(run.is_done());
    assert_eq!(run.started()[1], format!("n{}", count - 1));
}

#[test]
fn containers_nest_two_thousand_deep() {
    let depth = 2_000;
    let bottom = format!("c{depth}");
    let run = World::new(&nest(depth)).run();
    assert!(run.is_done());
    assert_eq!(run.count(&bottom), 1);
    assert_eq!(run.steps(&bottom)[0].scope.len(), depth);
}

#[test]
fn a_failure_and_a_cancel_reach_through_a_deep_nest() {
    let depth = 700;
    let drawing = nest(depth);
    let bottom = format!("c{depth}");
    let failed = World::new(&drawing).fails(&bottom).run();
    assert_eq!(failed.failure().0, bottom);
    let mut held = World::new(&drawing).holds(&bottom).run();
    held.cancel();
    assert_eq!(held.steps("c0").len(), 1);
}

fn nest(depth: usize) -> Drawing {
    (0..depth).fold(Drawing::wide("begin -> c0".to_owned()), |drawing, at| {
        drawing.nest(&format!("c{at}"), &format!("c{}", at + 1))
    })
}

#[test]
fn a_wide_fan_out_and_join() {
    let names: Vec<String> = (0..LONG).map(|n| format!("n{n}")).collect();
    let drawing = Drawing::wide(format!("begin -> {} -> end", names.join(", ")));
    let run = World::new(&drawing).order(Order::Reverse).run();
    assert!(run.is_done());
    assert_eq!(run.count("end"), 1);
}

fn passes(concurrency: u32) -> Drawing {
    draw("begin -> each")
        .each("each", "begin@out", concurrency)
        .collect("each", "all", "item@index")
        .inside("each", "item -> a")
        .item("item")
}

#[test]
fn scopes_do_not_grow_with_the_items_of_a_list() {
    let items = 3_000;
    let list = Value::from(vec![Value::Null; items]);
    for (concurrency, most) in [(1, 2), (7, 9)] {
        let mut run = World::new(&passes(concurrency))
            .gives("begin", list.clone())
            .begin();
        while run.step() {
            assert!(run.machine.scopes() <= most, "{}", run.machine.scopes());
        }
        assert!(run.is_done());
        let all = run.port("each", "all").unwrap();
        assert_eq!(all.as_array().unwrap().len(), items);
    }
}

#[test]
fn scopes_do_not_grow_with_the_passes_of_loops_and_circles() {
    let drawing = draw("begin -> loop")
        .repeat("loop", 500)
        .inside("loop", "item -> each -> a")
        .item("item")
        .each("each", "begin@out", 2)
        .inside("each", "i -> b -> s -> b, c")
        .item("i")
        .branch("s");
    let mut run = World::new(&drawing)
        .gives("begin", json!([1, 2]))
        .chooses_in_turn("s", &["b", "c"])
        .node_runs(u64::MAX)
        .begin();
    while run.step() {
        assert!(run.machine.scopes() <= 8, "{}", run.machine.scopes());
    }
    assert!(run.is_done());
    assert_eq!(run.count("b"), 2 * 2 * 500);
}

#[test]
fn what_is_collected_is_not_copied_for_every_item() {
    let list = Value::from(vec![Value::Null; 200]);
    let mut run = World::new(&passes(1)).gives("begin", list).begin();
    let each = run.machine.workflow().find("each").unwrap();
    let mut places = BTreeSet::new();
    while run.step() {
        let ports = run.machine.ports(each);
        if let Some(Value::Array(all)) = ports.and_then(|p| p.get("all")) {
            places.insert(Arc::as_ptr(all));
        }
    }
    assert_eq!(places.len(), 1, "it stays where it is");
}
