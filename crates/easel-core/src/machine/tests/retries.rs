//! Trying again.

use crate::draft::EffectClass;
use crate::effect::{Effect, Observation};
use crate::event::Fault;
use crate::testing::{Deed, World, draw};

fn pauses(effects: &[Effect]) -> Vec<u64> {
    let pause = |effect: &Effect| match effect {
        Effect::Sleep { milliseconds, .. } => Some(*milliseconds),
        _ => None,
    };
    effects.iter().filter_map(pause).collect()
}

#[test]
fn a_node_without_a_policy_is_tried_once() {
    let run = World::new(&draw("begin -> a")).fails_first("a", 1).run();
    assert_eq!(run.executions("a").len(), 1);
    assert_eq!(run.failure().0, "a");
}

#[test]
fn a_node_is_tried_again_until_it_succeeds() {
    let drawing = draw("begin -> a -> b")
        .attempts("a", 4, 100)
        .reads("b", "a@out");
    let run = World::new(&drawing).fails_first("a", 2).run();
    assert!(run.is_done());
    assert_eq!(run.out("b"), "b(a)");
    let attempts: Vec<u32> = run.executions("a").iter().map(|e| e.attempt).collect();
    assert_eq!(attempts, [1, 2, 3]);
    assert_eq!(run.count("a"), 1, "it starts once");
    let failed: Vec<u32> = run
        .seen
        .iter()
        .filter_map(|s| match s {
            Observation::AttemptFailed(step) => Some(step.attempt),
            _ => None,
        })
        .collect();
    assert_eq!(failed, [1, 2], "every attempt leaves a step");
    assert_eq!(run.steps("a")[0].attempt, 3);
}

#[test]
fn retries_come_before_the_error_edges_and_before_a_default() {
    let handled = draw("begin -> a -> b; h")
        .attempts("a", 3, 0)
        .on_error("a", "h");
    let run = World::new(&handled).fails("a").run();
    assert_eq!(
        (run.executions("a").len(), run.count("h"), run.count("b")),
        (3, 1, 0)
    );

    let spare = draw("begin -> a -> b").attempts("a", 3, 0).default("a", 1);
    let run = World::new(&spare).fails("a").run();
    assert_eq!((run.executions("a").len(), run.count("b")), (3, 1));
}

#[test]
fn pauses_double_up_to_a_minute_and_vary_by_chance() {
    let drawing = draw("begin -> a").attempts("a", 12, 1_000);
    let paused = pauses(&World::new(&drawing).fails("a").run().effects);
    assert_eq!(paused.len(), 11);
    for (at, &pause) in paused.iter().enumerate() {
        let whole = (1_000 << at).min(60_000);
        assert!(
            (whole / 2..=whole).contains(&pause),
            "{at}: {pause} of {whole}"
        );
    }
    let again = pauses(&World::new(&drawing).fails("a").run().effects);
    assert_eq!(paused, again, "the same seed gives the same pauses");
    let other = pauses(&World::new(&drawing).seed(2).fails("a").run().effects);
    assert_ne!(paused, other, "another seed gives others");
}

#[test]
fn a_node_without_a_delay_is_tried_again_at_once() {
    let drawing = draw("begin -> a").attempts("a", 3, 0);
    assert_eq!(
        pauses(&World::new(&drawing).fails("a").run().effects),
        [0, 0]
    );
}

#[test]
fn the_chance_of_an_attempt_follows_from_the_seed_and_the_place_not_from_the_moment() {
    let drawing = draw("begin -> a, b").attempts("a", 3, 5);
    let run = World::new(&drawing).fails_first("a", 1).run();
    let all: Vec<u64> = run.executions("a").iter().map(|e| e.random).collect();
    assert_eq!(all[0], all[1], "the same for every attempt");
    assert_ne!(all[0], run.executions("b")[0].random);
    let late = World::new(&drawing)
        .fails_first("a", 2)
        .concurrency(1)
        .run();
    assert_eq!(
        late.executions("b")[0].random,
        run.executions("b")[0].random
    );
}

#[test]
fn a_write_is_not_repeated() {
    let drawing = draw("begin -> mail")
        .effect("mail", EffectClass::Writes)
        .attempts("mail", 3, 0);
    let run = World::new(&drawing).fails_first("mail", 1).run();
    assert_eq!(run.executions("mail").len(), 1);
    assert_eq!(run.failure().0, "mail");
}

#[test]
fn a_write_is_repeated_if_its_target_honours_the_key() {
    let drawing = draw("begin -> post")
        .effect("post", EffectClass::Writes)
        .idempotent("post")
        .attempts("post", 3, 0);
    assert!(World::new(&drawing).fails_first("post", 2).run().is_done());
}

#[test]
fn a_write_is_repeated_if_nothing_was_sent() {
    let drawing = draw("begin -> post")
        .effect("post", EffectClass::Writes)
        .attempts("post", 3, 0);
    let refused = |attempt: u32| Deed {
        opens: false,
        result: Err(match attempt {
            1 => Fault::new("refused", "connection refused").without_trace(),
            _ => Fault::new("timeout", "no answer"),
        }),
    };
    let run = World::new(&drawing)
        .does("post", move |e| refused(e.attempt))
        .run();
    assert_eq!(
        run.executions("post").len(),
        2,
        "the second attempt may have been seen"
    );
}

#[test]
fn a_container_is_tried_again_with_a_fresh_body() {
    let drawing = draw("begin -> loop -> end")
        .repeat("loop", 2)
        .first("loop", "n", 0)
        .attempts("loop", 2, 0)
        .inside("loop", "item -> a")
        .item("item")
        .reads("a", "a@out");
    let run = World::new(&drawing)
        .does("a", |e| match e.activation.0 {
            0..=4 => Deed::fails("too early"),
            _ => Deed::gives(1),
        })
        .run();
    assert!(run.is_done(), "{:?}", run.outcome());
    assert_eq!(run.count("a"), 3, "one that failed, two passes after");
    assert_eq!(run.count("loop"), 1);
    assert_eq!(run.steps("loop")[0].attempt, 2);
}

#[test]
fn a_bad_choice_is_tried_again_like_any_failure() {
    let drawing = draw("begin -> switch -> a; b")
        .branch("switch")
        .attempts("switch", 2, 0);
    let run = World::new(&drawing).chooses("switch", "b").run();
    assert_eq!(run.executions("switch").len(), 2);
    assert_eq!(&*run.failure().1.code, "no_such_target");
}

#[test]
fn a_pause_gives_its_place_to_others() {
    let drawing = draw("begin -> a, b; b -> c").attempts("a", 2, 500);
    let run = World::new(&drawing)
        .concurrency(1)
        .fails_first("a", 1)
        .run();
    assert!(run.is_done());
    assert_eq!(run.started(), ["begin", "a", "b", "c"]);
}

#[test]
fn every_attempt_reads_what_the_first_one_read() {
    let drawing = draw("begin -> a -> writer")
        .variable("env.v", "first")
        .reads("a", "env.v")
        .streams("a")
        .drains("writer")
        .writes("writer", "env.v")
        .attempts("a", 2, 0);
    let run = World::new(&drawing)
        .does("a", |e| match e.attempt {
            1 => Deed::fails("cut off").streaming(),
            _ => Deed::gives(e.inputs.0[0].or_null()),
        })
        .run();
    assert_eq!(run.variable("env.v"), "writer".into());
    assert_eq!(run.out("a"), "first");
}
