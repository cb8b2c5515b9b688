//! Runs that are rebuilt from their journals. That every part of every journal rebuilds its run is in
//! [`super::properties`].

use crate::bind::Resolved;
use crate::effect::{Effect, Observation};
use crate::event::{Event, Fact, Timestamp};
use crate::machine::Machine;
use crate::testing::{Deed, Run, World, draw};

fn rebuilt(run: &Run) -> Machine {
    let workflow = run.machine.workflow().clone();
    let (machine, _) = Machine::replay(workflow, run.journal.clone()).unwrap();
    machine
}

#[test]
fn a_journal_that_does_not_begin_with_the_start_is_no_run() {
    let run = World::new(&draw("begin -> a")).run();
    let workflow = run.machine.workflow().clone();
    assert!(Machine::replay(workflow.clone(), run.journal[1..].to_vec()).is_none());
    assert!(Machine::replay(workflow, Vec::new()).is_none());
}

#[test]
fn a_second_start_changes_nothing() {
    let mut run = World::new(&draw("begin -> a")).begin();
    let before = run.digest();
    let again: Event = run.journal[0].clone();
    run.happens(again.fact);
    assert_eq!(run.digest(), before);
}

#[test]
fn after_a_crash_what_was_under_way_is_asked_for_again() {
    let drawing = draw("begin -> a, b, c").attempts("b", 2, 100);
    let mut run = World::new(&drawing).holds("a").holds("b").run();
    let b = run.executions("b")[0].activation;
    run.happens(Fact::Failed {
        activation: b,
        attempt: 1,
        fault: crate::event::Fault::new("broke", "broke"),
        usage: Default::default(),
    });
    let asked = rebuilt(&run).in_flight();
    let before: Vec<&Effect> = run.effects.iter().collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(matches!(&asked[0], Effect::Execute(e) if e.attempt == 1));
    assert!(matches!(&asked[1], Effect::Sleep { activation, attempt: 1, .. } if *activation == b));
    assert!(
        asked.iter().all(|effect| before.contains(&effect)),
        "as it was asked before"
    );
}

#[test]
fn after_a_crash_a_message_gets_the_text_of_a_stream_that_is_over() {
    let drawing = draw("begin -> llm -> say")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out");
    let mut run = World::new(&drawing)
        .does("llm", |_| Deed::gives("text").streaming())
        .begin();
    for _ in 0..2 {
        run.step();
    }
    let streams = |effect: &Effect| match effect {
        Effect::Execute(e) => e.inputs.0.iter().any(|r| matches!(r, Resolved::Stream(_))),
        _ => false,
    };
    let asked = rebuilt(&run).in_flight();
    assert_eq!(
        asked.iter().filter(|e| streams(e)).count(),
        1,
        "both go on together"
    );
    run.step();
    let asked = rebuilt(&run).in_flight();
    let [Effect::Execute(say)] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!(say.inputs.0[..], [Resolved::Value("text".into())]);
}

#[test]
fn who_takes_a_run_up_sleeps_through_what_is_left_of_a_pause() {
    let drawing = draw("begin -> a").attempts("a", 2, 10_000);
    let mut run = World::new(&drawing).holds("a").run();
    let a = run.executions("a")[0].activation;
    run.happens(Fact::Failed {
        activation: a,
        attempt: 1,
        fault: crate::event::Fault::new("broke", "broke"),
        usage: Default::default(),
    });
    let pause = |machine: &Machine| match machine.in_flight()[..] {
        [Effect::Sleep { milliseconds, .. }] => milliseconds,
        ref other => panic!("{other:?}"),
    };
    let mut machine = rebuilt(&run);
    let whole = pause(&machine);
    assert!(whole >= 5_000, "{whole}");
    let failed = run.journal.last().unwrap().at;
    let later = |milliseconds: i64| Event::new(Timestamp(failed.0 + milliseconds), Fact::Recovered);
    machine.apply(&later(1_000));
    assert_eq!(pause(&machine), whole - 1_000);
    machine.apply(&later(60_000));
    assert_eq!(pause(&machine), 0);
}

#[test]
fn what_a_message_had_shown_is_taken_back_when_a_run_is_taken_up() {
    let drawing = draw("begin -> llm -> say")
        .streams("llm")
        .drains("say")
        .reads("say", "llm@out");
    let mut run = World::new(&drawing)
        .does("llm", |_| Deed::gives("text").streaming())
        .begin();
    let speaks = |run: &Run| {
        let mut machine = rebuilt(run);
        let at = run.journal.last().unwrap().at;
        let reaction = machine.apply(&Event::new(at, Fact::Recovered));
        assert!(reaction.effects.is_empty());
        match &reaction.observations[..] {
            [Observation::Recovered { speaking, .. }] => {
                speaking.map(|(node, _)| machine.workflow().node(node).draft.id.clone())
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(speaks(&run), None);
    for _ in 0..2 {
        run.step();
    }
    assert_eq!(speaks(&run).as_deref(), Some("say"));
}
