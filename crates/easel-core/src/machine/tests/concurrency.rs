//! How much happens at once.

use crate::testing::{World, draw};

#[test]
fn only_so_many_attempts_are_under_way_at_once() {
    let drawing = draw("begin -> a, b, c, d");
    let mut run = World::new(&drawing)
        .concurrency(2)
        .holds("a")
        .holds("b")
        .holds("c")
        .holds("d")
        .run();
    assert_eq!(run.started(), ["begin", "a", "b"]);
    run.release("a");
    assert_eq!(run.started(), ["begin", "a", "b", "c"]);
}

#[test]
fn with_one_place_nodes_start_in_the_order_of_the_file() {
    let drawing = draw("begin -> a, b; a -> c; b -> d; c, d -> e");
    let run = World::new(&drawing).concurrency(1).run();
    assert_eq!(run.started(), ["begin", "a", "b", "c", "d", "e"]);
}
