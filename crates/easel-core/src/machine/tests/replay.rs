//! Journals: the same events give the same run, and strangers change nothing.

use proptest::prelude::*;

use crate::bind::Activation;
use crate::event::{Completion, Event, Fact, Fault, Timestamp, Usage};
use crate::machine::Machine;
use crate::testing::{Deed, Order, Run, World, draw};

/// A run with a branch, a list, a loop's worth of turns, a stream, retries and a question.
fn busy(order: Order) -> Run {
    let drawing = draw(
        "begin -> switch -> model, skipped; model -> say; model, skipped -> each -> form -> end",
    )
    .branch("switch")
    .streams("model")
    .drains("say")
    .reads("say", "model@out")
    .variable("env.items", vec![1.into(), 2.5.into(), crate::Value::Null])
    .each("each", "env.items", 2)
    .inside("each", "item -> a -> b")
    .item("item")
    .reads("a", "item@item")
    .reads("b", "a@out")
    .collect("each", "all", "b@out")
    .attempts("a", 3, 5)
    .form("form", "x")
    .reads("end", "each@all form@x");
    let mut run = World::new(&drawing)
        .order(order)
        .chooses("switch", "model")
        .does("model", |_| Deed::gives("text").streaming())
        .fails_first("a", 1)
        .run();
    run.answer(&[("x", "1")]);
    assert!(run.is_done());
    run
}

#[test]
fn every_prefix_of_a_journal_rebuilds_the_run_as_it_was() {
    let run = busy(Order::Shuffled(7));
    let workflow = run.machine.workflow().clone();
    let Fact::Started(start) = run.journal[0].fact.clone() else {
        panic!("a journal begins with the start");
    };
    let (mut live, _) = Machine::start(workflow.clone(), start, run.journal[0].at);
    for length in 1..=run.journal.len() {
        if length > 1 {
            live.apply(run.journal[length - 1].clone());
        }
        let prefix = run.journal[..length].to_vec();
        let (replayed, _) = Machine::replay(workflow.clone(), prefix).unwrap();
        assert_eq!(
            format!("{replayed:?}"),
            format!("{live:?}"),
            "after {length} events"
        );
    }
    assert_eq!(live.outcome(), run.machine.outcome());
}

#[test]
fn a_journal_survives_being_written_down() {
    let run = busy(Order::Shuffled(3));
    for event in &run.journal {
        let text = serde_json::to_string(event).unwrap();
        let back: Event = serde_json::from_str(&text).unwrap();
        assert_eq!(&back, event);
    }
}

#[test]
fn a_journal_that_does_not_begin_with_the_start_is_none() {
    let run = busy(Order::Shuffled(1));
    let workflow = run.machine.workflow().clone();
    assert!(Machine::replay(workflow.clone(), run.journal[1..].to_vec()).is_none());
    assert!(Machine::replay(workflow, Vec::new()).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_order_in_which_nodes_are_done_does_not_change_the_result(seed in any::<u64>()) {
        let (one, other) = (busy(Order::Shuffled(0)), busy(Order::Shuffled(seed)));
        prop_assert_eq!(one.out("end"), other.out("end"));
        prop_assert_eq!(one.port("each", "all"), other.port("each", "all"));
    }

    #[test]
    fn duplicates_and_strangers_change_nothing(seed in any::<u64>(), activation in 0_u64..40, attempt in 1_u32..4) {
        let run = busy(Order::Shuffled(seed));
        let Some((mut machine, _)) = Machine::replay(run.machine.workflow().clone(), run.journal.clone()) else {
            return Err(TestCaseError::fail("no journal"));
        };
        let before = format!("{machine:?}");
        let at = run.journal.last().map_or(Timestamp(0), |e| e.at);
        let activation = Activation(activation);
        let strangers = [
            Fact::Completed { activation, attempt, completion: Completion::default() },
            Fact::Failed { activation, attempt, fault: Fault::new("late", "late"), usage: Usage::default() },
            Fact::Opened { activation, attempt },
            Fact::Woke { activation, attempt },
        ];
        for fact in strangers {
            let reaction = machine.apply(Event::new(at, fact));
            prop_assert!(reaction.effects.is_empty() && reaction.observations.is_empty());
        }
        prop_assert_eq!(format!("{machine:?}"), before);
    }
}
