//! What is written, and when.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::event::{Event, Fact};
use easel_runtime::core::{Machine, effect::Outcome};
use easel_runtime::{
    Batch, Ending, Engine, Input, Journal, JournalError, MemoryJournal, RunEvent, TurnError,
};
use futures::executor::block_on;
use futures::future::BoxFuture;
use serde_json::json;

use super::own::{Own, canvas, done};

/// A journal whose store is gone after so many appends.
struct Failing {
    inner: MemoryJournal,
    left: std::sync::atomic::AtomicU32,
}

impl Journal for Failing {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), JournalError>> {
        let spend = |left: u32| left.checked_sub(1);
        match self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, spend)
        {
            Ok(_) => self.inner.append(batch),
            Err(_) => Box::pin(async { Err(JournalError::Store("the disk is full".into())) }),
        }
    }

    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        self.inner.read(run)
    }
}

#[test]
fn nothing_reaches_the_outside_that_the_journal_does_not_have() {
    let (pay, paid) = Own::new("Pay", EffectClass::Writes, |_| done("paid"));
    let journal = Failing {
        inner: MemoryJournal::new(),
        left: 0.into(),
    };
    let engine = Engine::builder().component(pay).journal(Arc::new(journal));
    let engine = engine.build().unwrap();
    let text = canvas(&[("Pay:P", "Pay", json!({}))]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let turn = block_on(
        engine
            .session(&workflow)
            .turn(Input::from("go"), &mut |_| {}),
    );
    assert!(matches!(turn, Err(TurnError::Journal(_))), "{turn:?}");
    assert_eq!(paid.load(Ordering::SeqCst), 0);
}

#[test]
fn the_journal_of_a_run_rebuilds_it() {
    let (ask, _) = Own::new("Ask", EffectClass::Reads, |_| done("an answer"));
    let journal = Arc::new(MemoryJournal::new());
    let engine = Engine::builder()
        .component(ask)
        .journal(journal.clone())
        .seed(7);
    let engine = engine.build().unwrap();
    let said = json!({"content": ["It said {Ask:A@result}."]});
    let text = canvas(&[("Ask:A", "Ask", json!({})), ("Message:M", "Message", said)]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let mut ids = Vec::new();
    let mut session = engine.session(&workflow);
    let mut observe = |event: RunEvent| ids.push(event.id);
    let ending = block_on(session.turn(Input::from("go"), &mut observe));
    assert_eq!(ending.unwrap(), Ending::Finished);
    assert!(ids.is_sorted() && !ids.is_empty());

    // Ids count up from the seed: the session has the first, its run the second.
    let events = block_on(journal.read("run-8")).unwrap();
    assert!(matches!(events[0].fact, Fact::Started(_)));
    let (machine, _) = Machine::replay(workflow.compiled().clone(), events).unwrap();
    assert_eq!(machine.outcome(), Some(&Outcome::Done));
    let nodes = workflow.compiled().nodes.iter();
    let message = nodes
        .clone()
        .position(|node| *node.draft.id == *"Message:M");
    let message = easel_runtime::core::workflow::NodeId(message.unwrap() as u32);
    let ports = machine.ports(message).unwrap();
    assert_eq!(
        ports.get("content").and_then(|v| v.as_str()),
        Some("It said an answer.")
    );
}
