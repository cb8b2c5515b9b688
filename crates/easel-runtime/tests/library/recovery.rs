//! Runs whose process ends, taken up by another one.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::event::{Event, Fact};
use easel_runtime::{
    Batch, Conversation, Decision, Ending, Engine, EventId, EventKind, Input, Journal,
    JournalError, Logged, Note, Object, Origin, RunEvent, Said, Session, Standing, TurnError,
    Value, Workflow, log,
};
use futures::executor::block_on;
use futures::future::BoxFuture;
use serde_json::json;

use super::own::{Own, canvas, done};

/// A store in memory whose process ends at the batch with that number.
#[derive(Default)]
struct Disk {
    kept: Mutex<Kept>,
    ends_at: Option<usize>,
}

#[derive(Default, Clone)]
struct Kept {
    batches: usize,
    events: Vec<Event>,
    notes: Vec<Note>,
    standing: Standing,
    conversation: Conversation,
    said: Vec<Said>,
    origin: Option<Arc<Origin>>,
}

impl Disk {
    fn new(kept: Kept, ends_at: Option<usize>) -> Arc<Disk> {
        Arc::new(Disk {
            kept: Mutex::new(Kept { batches: 0, ..kept }),
            ends_at,
        })
    }

    fn kept(&self) -> Kept {
        self.kept.lock().unwrap().clone()
    }
}

impl Journal for Disk {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), JournalError>> {
        let mut kept = self.kept.lock().unwrap();
        let appended = match self.ends_at {
            Some(end) if kept.batches == end => Err(JournalError::Store("kill -9".into())),
            _ => {
                kept.batches += 1;
                if batch.from == 0 {
                    kept.events.clear();
                    kept.notes.clear();
                }
                assert_eq!(batch.from, kept.events.len() as u64);
                kept.events.extend(batch.events);
                kept.notes.extend(batch.notes);
                kept.standing = batch.standing;
                kept.origin = batch.origin.or(kept.origin.take());
                if let Some(change) = batch.conversation {
                    assert_eq!(change.from, kept.said.len() as u64);
                    kept.said.extend(change.said);
                    kept.conversation = change.after.unwrap_or(kept.conversation.clone());
                }
                Ok(())
            }
        };
        Box::pin(std::future::ready(appended))
    }

    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        let events = self.kept().events;
        Box::pin(std::future::ready(Ok(events)))
    }
}

/// The world that the canvas of these tests reaches.
struct World {
    engine: Arc<Engine>,
    workflow: Arc<Workflow>,
    disk: Arc<Disk>,
    asked: Arc<AtomicU32>,
    paid: Arc<AtomicU32>,
}

fn world(disk: Arc<Disk>, idempotent: bool) -> World {
    let (ask, asked) = Own::new("Ask", EffectClass::Reads, |_| done("seven"));
    let (pay, paid) = Own::new("Pay", EffectClass::Writes, |_| done("paid"));
    let engine = Engine::builder()
        .component(ask)
        .component(pay)
        .journal(disk.clone())
        .seed(7)
        .build()
        .unwrap();
    let text = canvas(&[
        ("Ask:A", "Ask", json!({})),
        ("Pay:P", "Pay", json!({"idempotent": idempotent})),
        ("Ask:B", "Ask", json!({})),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Ask:A@result}, {Pay:P@result}, {Ask:B@result}. {sys.history}"]}),
        ),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    World {
        engine,
        workflow,
        disk,
        asked,
        paid,
    }
}

impl World {
    /// The conversation as the disk has it.
    fn session(&self) -> Session {
        let kept = self.disk.kept();
        let (engine, workflow) = (self.engine.clone(), self.workflow.clone());
        Session::kept(engine, workflow, "s".into(), kept.conversation, kept.said)
            .with_origin(Origin {
                user: "ada".into(),
                ..Origin::default()
            })
            .naming_run("r".into())
    }

    fn say(&self, text: &str) -> Result<Ending, TurnError> {
        block_on(self.session().turn(Input::from(text), &mut |_| {}))
    }

    /// Takes the run up and drives it on; gives the numbers of what people saw meanwhile.
    fn take_up(&self, decision: Option<Decision>) -> (Ending, Vec<EventId>) {
        let mut session = self.session();
        session.take_up(self.disk.kept().events).unwrap();
        let mut ids = Vec::new();
        let mut observe = |event: RunEvent| ids.push(event.id);
        let mut ending = block_on(session.go_on(&mut observe, std::future::pending())).unwrap();
        if let (Ending::Uncertain(writes), Some(decision)) = (&ending, decision) {
            assert!(matches!(
                self.disk.kept().standing,
                Standing::Uncertain { .. }
            ));
            session.decide(writes[0].activation, decision).unwrap();
            ending = block_on(session.go_on(&mut observe, std::future::pending())).unwrap();
        }
        (ending, ids)
    }

    /// What people saw of the last run, read back, and without what tells that it was taken up.
    fn log(&self) -> Vec<Logged> {
        let kept = self.disk.kept();
        let said = Vec::from_iter(kept.said.into_iter().map(|said| said.entry));
        log(&self.workflow, kept.events, kept.notes, &said)
    }

    fn told(&self) -> Vec<String> {
        let log = self.log();
        let told = log
            .iter()
            .filter(|logged| !logged.name().starts_with("run_"));
        told.map(|logged| {
            let data: serde_json::Value = serde_json::from_str(logged.data()).unwrap();
            let of = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
            format!("{} {} {}", logged.name(), of("component_id"), of("content"))
        })
        .collect()
    }
}

#[test]
fn a_run_that_is_killed_anywhere_ends_as_if_nothing_had_happened() {
    let undisturbed = world(Disk::new(Kept::default(), None), true);
    assert_eq!(undisturbed.say("how many?").unwrap(), Ending::Finished);
    let whole = undisturbed.disk.kept();
    assert_eq!(
        whole.batches, 4,
        "one for each step that reaches the outside, and the end"
    );
    for end in 1..whole.batches {
        let killed = world(Disk::new(Kept::default(), Some(end)), true);
        let turn = killed.say("how many?");
        assert!(matches!(turn, Err(TurnError::Journal(_))), "{turn:?}");
        let next = world(Disk::new(killed.disk.kept(), None), true);
        assert_eq!(next.take_up(None).0, Ending::Finished, "after batch {end}");
        let kept = next.disk.kept();
        assert_eq!(kept.standing, whole.standing, "after batch {end}");
        assert_eq!(kept.conversation, whole.conversation);
        let entries = |kept: &Kept| Vec::from_iter(kept.said.iter().map(|s| s.entry.clone()));
        assert_eq!(entries(&kept), entries(&whole));
        assert_eq!(next.told(), undisturbed.told());
        assert_eq!(kept.origin.unwrap().user, "ada".into());
        let calls = |count: fn(&World) -> &AtomicU32| {
            count(&killed).load(Ordering::SeqCst) + count(&next).load(Ordering::SeqCst)
        };
        // What was under way is made once more, and nothing else.
        assert_eq!(calls(|w| &w.asked) + calls(|w| &w.paid), 4);
    }
}

#[test]
fn a_write_of_which_nobody_knows_waits_for_a_decision() {
    let paying = || {
        let killed = world(Disk::new(Kept::default(), Some(2)), false);
        killed.say("pay").unwrap_err();
        assert_eq!(killed.paid.load(Ordering::SeqCst), 1);
        world(Disk::new(killed.disk.kept(), None), false)
    };
    let next = paying();
    let Ending::Uncertain(writes) = next.take_up(None).0 else {
        panic!("it went on");
    };
    assert_eq!(&*writes[0].key, "r/Pay:P/1");
    assert!(writes[0].question.contains("r/Pay:P/1"), "{:?}", writes[0]);
    assert_eq!(next.paid.load(Ordering::SeqCst), 0);
    // It stays so, however often it is taken up.
    assert!(matches!(next.take_up(None).0, Ending::Uncertain(_)));
    let happened = Object::from_iter([("result".into(), Value::from("paid by hand"))]);
    assert_eq!(
        next.take_up(Some(Decision::Happened(happened))).0,
        Ending::Finished
    );
    assert_eq!(next.paid.load(Ordering::SeqCst), 0);
    let told = next.told().join("\n");
    assert!(told.contains("seven, paid by hand, seven"), "{told}");

    let next = paying();
    assert_eq!(next.take_up(Some(Decision::Repeat)).0, Ending::Finished);
    assert_eq!(next.paid.load(Ordering::SeqCst), 1);

    let next = paying();
    let failed = next
        .take_up(Some(Decision::Failed("the bank says no".into())))
        .0;
    let Ending::Failed { node, fault } = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(
        (node.as_deref(), &*fault.code),
        (Some("Pay:P"), "uncertain")
    );
}

#[test]
fn events_have_the_same_numbers_live_and_read_back() {
    let world = world(Disk::new(Kept::default(), None), true);
    let mut live = Vec::new();
    let mut observe = |event: RunEvent| live.push(event);
    block_on(world.session().turn(Input::from("hi"), &mut observe)).unwrap();
    let ids = Vec::from_iter(live.iter().map(|event| event.id));
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(ids, sorted, "numbers ascend");
    // Live, the message came in pieces.
    let last_pieces = |event: &&RunEvent| !matches!(event.kind, EventKind::Message { .. });
    let live = live.iter().filter(last_pieces).map(Logged::of);
    let log = world.log();
    let back = log.into_iter().filter(|logged| logged.name() != "message");
    let place = |logged: Logged| ((logged.id.entry, logged.id.counter), logged.json);
    assert_eq!(
        Vec::from_iter(live.map(place)),
        Vec::from_iter(back.map(place))
    );
}

#[test]
fn nobody_sees_what_the_journal_does_not_have() {
    let ends_at = 2;
    let world = world(Disk::new(Kept::default(), Some(ends_at)), true);
    let mut seen = Vec::new();
    let mut observe = |event: RunEvent| seen.push(event.id.entry);
    block_on(world.session().turn(Input::from("hi"), &mut observe)).unwrap_err();
    let events = world.disk.kept().events.len() as u64;
    assert!(
        !seen.is_empty() && seen.iter().all(|entry| *entry < events),
        "{seen:?} {events}"
    );
}

#[test]
fn the_journal_of_a_kept_conversation_does_not_repeat_it() {
    let world = world(Disk::new(Kept::default(), None), true);
    let sizes = Vec::from_iter((0..6).map(|_| {
        world.say(&"word ".repeat(1_000)).unwrap();
        serde_json::to_string(&world.disk.kept().events[0])
            .unwrap()
            .len()
    }));
    assert!(sizes[5] < sizes[0] + 10, "{sizes:?}");
    let started = &world.disk.kept().events[0].fact;
    let Fact::Started(start) = started else {
        panic!("{started:?}");
    };
    assert_eq!(start.context.get("entries"), Some(&Value::from(11)));
    // What was said is there all the same when the run is read back.
    let told = world.told().join("\n");
    assert!(
        told.contains("user: word") && told.contains("assistant: seven"),
        "{told}"
    );
}

#[test]
fn a_run_that_waits_is_taken_up_and_nothing_is_written() {
    let disk = Disk::new(Kept::default(), None);
    let engine = Engine::builder().journal(disk.clone()).build().unwrap();
    let text = canvas(&[
        (
            "UserFillUp:F",
            "UserFillUp",
            json!({"inputs": {"x": {"type": "line"}, "y": {"type": "line"}}}),
        ),
        (
            "UserFillUp:G",
            "UserFillUp",
            json!({"inputs": {"z": {"type": "line"}}}),
        ),
        ("Message:M", "Message", json!({"content": ["{UserFillUp:G@z}"]})),
    ]);
    let workflow = Arc::new(engine.load(&text).unwrap());
    let session = || {
        let kept = disk.kept();
        let (engine, workflow) = (engine.clone(), workflow.clone());
        Session::kept(engine, workflow, "s".into(), kept.conversation, kept.said)
    };
    let fields = |fields: &[&str]| Input {
        inputs: fields.iter().map(|f| ((*f).into(), Value::from("a"))).collect(),
        ..Input::default()
    };
    let begun = block_on(session().turn(fields(&["topic"]), &mut |_| {}));
    assert_eq!(begun.unwrap(), Ending::Waiting);
    let before = disk.kept();
    let mut again = session();
    again.take_up(before.events.clone()).unwrap();
    let ending = block_on(again.go_on(&mut |_| {}, std::future::pending())).unwrap();
    assert_eq!(ending, Ending::Waiting);
    assert_eq!(disk.kept().batches, before.batches, "nobody answered");
    // Each answer comes to a process that knows only the journal.
    for (answer, ending) in [(&["x", "y"][..], Ending::Waiting), (&["z"], Ending::Finished)] {
        let mut next = session();
        next.take_up(disk.kept().events).unwrap();
        let ended = block_on(next.turn(fields(answer), &mut |_| {})).unwrap();
        assert_eq!(ended, ending);
    }
    let kept = disk.kept().conversation.kept_inputs;
    assert_eq!(Vec::from_iter(kept.keys().map(|key| &**key)), ["topic"]);
    // To end it is something, though.
    let begun = block_on(session().turn(fields(&["topic"]), &mut |_| {}));
    assert_eq!(begun.unwrap(), Ending::Waiting);
    let mut last = session();
    last.take_up(disk.kept().events).unwrap();
    let ended = block_on(last.go_on(&mut |_| {}, std::future::ready(()))).unwrap();
    assert_eq!(ended, Ending::Cancelled);
    assert_eq!(disk.kept().standing, Standing::Cancelled);
}
