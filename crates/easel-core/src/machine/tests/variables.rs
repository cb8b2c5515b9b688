//! Variables that nodes write and read.

use serde_json::json;

use crate::compile::Finding;
use crate::testing::{Order, World, draw};

const ORDERS: [Order; 4] = [
    Order::Issue,
    Order::Reverse,
    Order::Shuffled(1),
    Order::Shuffled(2),
];

#[test]
fn a_reader_waits_for_every_writer_that_is_not_behind_it() {
    let drawing = draw("begin -> reader, w1, x; x -> w2; reader -> w3")
        .variable("env.v", "none")
        .writes("w1", "env.v")
        .writes("w2", "env.v")
        .writes("w3", "env.v")
        .reads("reader", "env.v");
    assert!(drawing.findings().is_empty(), "{:?}", drawing.findings());
    for order in ORDERS {
        let run = World::new(&drawing).order(order).run();
        assert_eq!(run.out("reader"), "reader(w2)");
        assert_eq!(run.variable("env.v"), "w3".into());
    }
}

#[test]
fn writers_go_in_the_order_of_the_file() {
    let drawing = draw("begin -> a, b, c -> end")
        .variable("env.v", "")
        .reads("end", "env.v");
    let drawing = ["a", "b", "c"].iter().fold(drawing, |drawing, node| {
        drawing.reads(node, "env.v").writes(node, "env.v")
    });
    for order in ORDERS {
        let run = World::new(&drawing).order(order).run();
        assert_eq!(run.out("end"), "end(c(b(a())))");
    }
}

#[test]
fn a_reader_waits_for_a_slow_writer_even_if_a_later_writer_is_dead() {
    let drawing = draw("begin -> slow, switch, reader; switch -> dead, other")
        .branch("switch")
        .variable("env.v", "none")
        .writes("slow", "env.v")
        .writes("dead", "env.v")
        .reads("reader", "env.v");
    let mut run = World::new(&drawing)
        .chooses("switch", "other")
        .holds("slow")
        .run();
    assert_eq!(run.count("reader"), 0);
    run.release("slow");
    assert_eq!(run.out("reader"), "reader(slow)");
}

#[test]
fn writers_that_edges_put_the_other_way_round_follow_the_edges() {
    let drawing = draw("begin -> x; late; x -> early -> late")
        .variable("env.v", "")
        .writes("late", "env.v")
        .writes("early", "env.v");
    assert!(drawing.findings().is_empty(), "{:?}", drawing.findings());
    let run = World::new(&drawing).run();
    assert_eq!(run.variable("env.v"), "late".into());
}

#[test]
fn a_dead_writer_holds_nothing_up() {
    let drawing = draw("begin -> switch -> w, x; x -> reader")
        .branch("switch")
        .variable("env.v", "first")
        .writes("w", "env.v")
        .reads("reader", "env.v");
    let run = World::new(&drawing).chooses("switch", "x").run();
    assert_eq!(run.out("reader"), "reader(first)");
}

#[test]
fn a_node_that_reads_and_writes_does_not_wait_for_itself() {
    let drawing = draw("begin -> a")
        .variable("env.v", 1)
        .reads("a", "env.v")
        .writes("a", "env.v");
    let run = World::new(&drawing).run();
    assert_eq!(run.variable("env.v"), "a(1)".into());
}

#[test]
fn a_container_reads_and_writes_what_its_body_does() {
    let drawing = draw("begin -> reader, box, w")
        .variable("env.a", "a")
        .variable("env.b", "b")
        .repeat("box", 1)
        .inside("box", "i -> inner")
        .item("i")
        .writes("inner", "env.a")
        .reads("inner", "env.b")
        .reads("reader", "env.a")
        .writes("w", "env.b");
    for order in ORDERS {
        let run = World::new(&drawing).order(order).run();
        assert_eq!(run.out("reader"), "reader(inner(w))");
    }
}

#[test]
fn inside_a_body_writers_and_readers_are_ordered_too() {
    let drawing = draw("begin -> each")
        .variable("env.v", "none")
        .each("each", "begin@out", 1)
        .collect("each", "lines", "r@out")
        .inside("each", "i -> r, w")
        .item("i")
        .reads("r", "env.v")
        .reads("w", "i@item")
        .writes("w", "env.v");
    let run = World::new(&drawing).gives("begin", json!([1, 2])).run();
    assert_eq!(
        run.port("each", "lines"),
        Some(json!(["r(w(1))", "r(w(2))"]).into())
    );
}

#[test]
fn a_writer_that_reads_its_readers_value_goes_after_it_and_the_author_is_told() {
    // The reader would wait for the writer, but the writer waits for the reader's port.
    let drawing = draw("begin -> reader, writer")
        .variable("env.v", "none")
        .reads("reader", "env.v")
        .reads("writer", "reader@out")
        .writes("writer", "env.v");
    assert_eq!(
        drawing.findings(),
        [Finding::OrderingLeftOut {
            node: "reader".into(),
            source: "writer".into()
        }]
    );
    let run = World::new(&drawing).run();
    assert_eq!(run.variable("env.v"), "writer(reader(none))".into());
}

#[test]
fn a_body_scattered_over_the_file_counts_where_its_container_stands() {
    let drawing = draw("begin -> box, w")
        .variable("env.v", "")
        .repeat("box", 1)
        .inside("box", "i -> x")
        .item("i")
        .more("begin -> later")
        .inside("box", "x -> y")
        .writes("x", "env.v")
        .writes("w", "env.v")
        .writes("later", "env.v")
        .writes("y", "env.v");
    for order in ORDERS {
        let run = World::new(&drawing).order(order).run();
        assert!(run.after("w", "box"), "the file has box, w, later");
        assert_eq!(run.variable("env.v"), "later".into());
    }
}

#[test]
fn a_run_may_begin_with_other_values() {
    let drawing = draw("begin -> a").variable("env.v", 1).reads("a", "env.v");
    let run = World::new(&drawing)
        .given("env.v", 2)
        .given("env.w", 3)
        .run();
    assert_eq!(run.out("a"), "a(2)");
}

#[test]
fn a_part_of_a_variable_can_be_set_and_read() {
    let drawing = draw("begin -> a -> b")
        .variable("env.v", json!({"k": 1}))
        .writes("a", "env.v.deep.part")
        .reads("b", "env.v.deep.part env.v.k");
    let run = World::new(&drawing).run();
    assert_eq!(run.out("b"), "b(a,1)");
}

#[test]
fn a_reader_waits_for_writers_beside_it_rather_than_writers_for_their_order_in_the_file() {
    let drawing = draw("begin -> r -> w; begin -> w0")
        .variable("env.v", "none")
        .reads("r", "env.v")
        .writes("w", "env.v")
        .writes("w0", "env.v");
    for order in ORDERS {
        let run = World::new(&drawing).order(order).run();
        assert_eq!(run.out("r"), "r(w0)");
        assert_eq!(run.variable("env.v"), "w".into());
    }
    assert_eq!(
        drawing.findings(),
        [Finding::OrderingLeftOut {
            node: "w0".into(),
            source: "w".into()
        }]
    );
}

#[test]
fn in_a_loop_a_reader_waits_for_the_writers_before_it_only() {
    let drawing = draw("begin -> loop")
        .variable("env.v", "none")
        .repeat("loop", 2)
        .inside("loop", "i -> w0; i -> r -> w")
        .item("i")
        .writes("w0", "env.v")
        .reads("r", "env.v")
        .writes("w", "env.v");
    for order in ORDERS {
        let run = World::new(&drawing).order(order).run();
        let outs: Vec<String> = run.outs("r").iter().map(ToString::to_string).collect();
        assert_eq!(outs, ["r(w0)", "r(w0)"]);
    }
}

#[test]
fn a_message_waits_for_what_a_streaming_node_assigns_even_if_it_could_speak_already() {
    let drawing = draw("begin -> llm -> say")
        .variable("env.v", "none")
        .streams("llm")
        .drains("say")
        .writes("llm", "env.v")
        .reads("say", "llm@out env.v");
    let streaming = |e: &crate::effect::Execute| {
        let mut deed = crate::testing::Deed::gives("text").streaming();
        if let (Ok(done), 1) = (&mut deed.result, e.attempt) {
            let value = "assigned".into();
            done.writes = vec![crate::event::Write { target: 0, value }];
        }
        deed
    };
    for drawing in [drawing.clone(), drawing.more("begin -> other")] {
        let run = World::new(&drawing).does("llm", streaming).run();
        assert_eq!(run.out("say"), "say(text,assigned)");
    }
}
