//! Journals: what was committed is read back, and nobody writes over another.

use std::sync::Arc;

use easel_runtime::core::event::{Event, Usage};
use easel_runtime::secrets::{Receipt, ReceiptEntry, SinkKind};
use easel_runtime::{Batch, EventId, Journal, JournalError, Note, Object, Standing, Value};
use easel_store::Store;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::bench::{Bench, both, completed, first, last, later};

fn taken(run: &str, from: u64, there: u64) -> Result<(), JournalError> {
    Err(JournalError::Taken {
        run: run.into(),
        from,
        there,
    })
}

both! {
    async fn what_was_committed_is_read_back_in_order(bench) {
        bench.append(first("a", "me")).await.unwrap();
        bench.append(later("a", 1, vec![completed(0, 1), completed(1, "two")])).await.unwrap();
        bench.append(later("a", 3, vec![completed(2, Value::Null)])).await.unwrap();
        bench.append(first("b", "me")).await.unwrap();
        let events = bench.read("a").await.unwrap();
        assert_eq!(events[1..], [completed(0, 1), completed(1, "two"), completed(2, Value::Null)]);
        assert_eq!(bench.read("b").await.unwrap().len(), 1);
        assert_eq!(bench.read("nobody").await.unwrap(), []);
        // Another process sees the same.
        assert_eq!(bench.other().await.read("a").await.unwrap(), events);
    }

    async fn two_that_drive_one_run_are_told_apart(bench) {
        let other = bench.other().await;
        bench.append(first("a", "me")).await.unwrap();
        assert_eq!(other.append(first("a", "me")).await, taken("a", 0, 1));
        bench.append(later("a", 1, vec![completed(0, 1)])).await.unwrap();
        // The other one has read the journal in between, and they go on side by side.
        other.append(later("a", 2, vec![completed(1, 1)])).await.unwrap();
        assert_eq!(bench.append(later("a", 2, vec![completed(1, 2)])).await, taken("a", 2, 3));
        assert_eq!(bench.append(later("a", 7, vec![completed(1, 2)])).await, taken("a", 7, 3));
        assert_eq!(bench.append(later("a", 1, vec![completed(1, 2)])).await, taken("a", 1, 3));
        assert_eq!(bench.append(last("a", 2, "done")).await, taken("a", 2, 3));
        assert_eq!(bench.append(later("never begun", 3, vec![completed(1, 2)])).await, taken("never begun", 3, 0));
        assert_eq!(bench.read("a").await.unwrap()[2..], [completed(1, 1)]);
    }

    async fn one_batch_that_is_refused_does_no_harm_to_the_others(bench) {
        bench.append(first("old", "me")).await.unwrap();
        let other = bench.other().await;
        other.append(later("old", 1, vec![completed(0, "theirs")])).await.unwrap();
        // All of these go into one or two transactions.
        let mut appending = Vec::new();
        for n in 0..200 {
            let store = bench.store.clone();
            appending.push(tokio::spawn(async move {
                match n {
                    77 => store.append(later("old", 1, vec![completed(0, "ours")])).await,
                    99 => store.append(later("gone", 5, vec![completed(0, "ours")])).await,
                    _ => store.append(first(&format!("run {n}"), "me")).await,
                }
            }));
        }
        for (n, appended) in appending.into_iter().enumerate() {
            let expected = match n {
                77 => taken("old", 1, 2),
                99 => taken("gone", 5, 0),
                _ => Ok(()),
            };
            assert_eq!(appended.await.unwrap(), expected, "{n}");
        }
        for n in (0..200).filter(|n| ![77, 99].contains(n)) {
            assert_eq!(bench.read(&format!("run {n}")).await.unwrap().len(), 1);
        }
        assert_eq!(bench.read("old").await.unwrap()[1..], [completed(0, "theirs")]);
        assert_eq!(bench.read("gone").await.unwrap(), []);
    }

    async fn batches_of_one_run_that_wait_together_keep_their_order(bench) {
        let appending = (0..50).map(|n| match n {
            0 => bench.append(first("a", "me")),
            n => bench.append(later("a", n, vec![completed(n, n as i64)])),
        });
        let done = futures::future::join_all(appending).await;
        assert!(done.iter().all(Result::is_ok), "{done:?}");
        assert_eq!(bench.read("a").await.unwrap().len(), 50);
    }

    async fn a_write_that_is_given_up_half_way_leaves_a_journal_that_goes_on(bench) {
        bench.append(first("a", "me")).await.unwrap();
        for _ in 0..50 {
            let there = bench.read("a").await.unwrap().len() as u64;
            // It begins and is dropped: whether it is written is anybody's guess.
            let given_up = bench.append(later("a", there, vec![completed(there, 1)]));
            let _ = futures::FutureExt::now_or_never(given_up);
            loop {
                let there = bench.read("a").await.unwrap().len() as u64;
                match bench.append(later("a", there, vec![completed(there, 2)])).await {
                    Err(JournalError::Taken { .. }) => {}
                    written => break written.unwrap(),
                }
            }
        }
        let events = bench.read("a").await.unwrap();
        let places = events.iter().zip(0..).skip(1);
        for (event, place) in places {
            assert!([completed(place, 1), completed(place, 2)].contains(event), "{place}");
        }
        assert!(events.len() > 50);
    }

    async fn many_runs_share_a_commit(bench) {
        let begun = (0..1_000).map(|n| {
            let store = bench.store.clone();
            tokio::spawn(async move { store.append(first(&format!("run {n}"), "me")).await })
        });
        for begun in begun.collect::<Vec<_>>() {
            begun.await.unwrap().unwrap();
        }
        let before = bench.commits();
        let running = (0..1_000).map(|n| {
            let store = bench.store.clone();
            tokio::spawn(async move {
                let run: Arc<str> = format!("run {n}").into();
                for place in 1..=10 {
                    store.append(Batch::new(run.clone(), place, vec![completed(place, 1)])).await?;
                }
                Ok::<_, JournalError>(())
            })
        });
        for run in running.collect::<Vec<_>>() {
            run.await.unwrap().unwrap();
        }
        let after = bench.commits();
        assert_eq!(after.batches - before.batches, 10_000);
        let transactions = after.transactions - before.transactions;
        assert!(transactions < 2_000, "{transactions} transactions for 10,000 batches");
    }

    async fn a_big_value_is_stored_once_and_comes_back(bench) {
        let text: String = "all work and no play ".repeat(10_000);
        let list = Value::from((0..20_000).map(Value::from).collect::<Vec<Value>>());
        let nested = Value::from(vec![list.clone(), Value::from(text.as_str()), Value::from(text.as_str())]);
        let events = vec![completed(0, text.as_str()), completed(1, nested.clone()), completed(2, text.as_str())];
        bench.append(first("a", "me")).await.unwrap();
        bench.append(later("a", 1, events.clone())).await.unwrap();
        bench.append(later("a", 4, events.clone())).await.unwrap();
        bench.append(first("b", "me")).await.unwrap();
        bench.append(later("b", 1, events.clone())).await.unwrap();
        for (run, from) in [("a", 1), ("a", 4), ("b", 1)] {
            assert_eq!(bench.read(run).await.unwrap()[from..from + 3], events);
        }
        // What a run holds is there as long as the run is.
        assert!(bench.delete_run("a").await.unwrap());
        assert_eq!(bench.read("a").await.unwrap(), []);
        assert_eq!(bench.read("b").await.unwrap()[1..], events);
        assert_eq!(held(&bench).await, 2, "the text and the list; what holds both is short by then");
        assert!(bench.delete_run("b").await.unwrap());
        assert_eq!(held(&bench).await, 0);
        assert!(!bench.delete_run("b").await.unwrap());
    }

    async fn a_big_value_that_two_runs_write_at_once_stays_for_the_one_that_is_left(bench) {
        let text = "x".repeat(100_000);
        let other = bench.other().await;
        for round in 0..20 {
            let (left, right) = (format!("left {round}"), format!("right {round}"));
            bench.append(first(&left, "me")).await.unwrap();
            bench.append(later(&left, 1, vec![completed(0, text.as_str())])).await.unwrap();
            other.append(first(&right, "me")).await.unwrap();
            let write = other.append(later(&right, 1, vec![completed(0, text.as_str())]));
            let (deleted, written) = futures::future::join(bench.delete_run(&left), write).await;
            assert!(deleted.unwrap());
            written.unwrap();
            assert_eq!(bench.read(&right).await.unwrap()[1..], [completed(0, text.as_str())]);
            assert!(other.delete_run(&right).await.unwrap());
        }
        assert_eq!(held(&bench).await, 0);
    }

    async fn notes_come_back_in_order_and_the_first_of_a_number_stays(bench) {
        let note = |entry, counter, json: &str| Note {
            id: EventId { entry, counter, shown: 3 },
            json: json.into(),
        };
        let long = format!(r#"{{"event":"warning","data":{{"message":"{}","n":1e2}}}}"#, "w".repeat(50_000));
        let mut batch = first("a", "me");
        batch.notes = vec![note(0, 2, "{\"b\":1}"), note(0, 1, &long)];
        bench.append(batch).await.unwrap();
        let mut batch = later("a", 1, vec![completed(0, 1)]);
        batch.notes = vec![note(0, 2, "{\"b\":2}"), note(1, 1, "{\"c\":1}")];
        bench.append(batch).await.unwrap();
        let notes = bench.notes("a").await.unwrap();
        assert_eq!(notes, [note(0, 1, &long), note(0, 2, "{\"b\":1}"), note(1, 1, "{\"c\":1}")]);
        assert_eq!(bench.notes("nobody").await.unwrap(), []);
    }

    async fn the_receipts_of_the_batches_add_up(bench) {
        let receipt = |secret: &str, bytes, unmasked: &[&str]| Receipt {
            version: Receipt::VERSION,
            run: "a".into(),
            entries: vec![ReceiptEntry {
                secret: secret.into(),
                provider: "vault".into(),
                kind: SinkKind::Tool,
                sink: "http".into(),
                node: "fetch".into(),
                scope: "".into(),
                time: 5,
            }],
            bytes_scanned: bytes,
            masked: 1,
            unmasked: unmasked.iter().map(|name| (*name).to_owned()).collect(),
        };
        bench.append(first("a", "me")).await.unwrap();
        assert_eq!(bench.receipt("a").await.unwrap(), None);
        for (place, part) in [(1, receipt("A", 10, &["N"])), (2, receipt("B", 5, &["N", "M"]))] {
            let mut batch = later("a", place, vec![completed(place, 1)]);
            batch.receipt = Some(part);
            bench.append(batch).await.unwrap();
        }
        let sum = bench.receipt("a").await.unwrap().unwrap();
        let secrets: Vec<_> = sum.entries.iter().map(|entry| entry.secret.as_str()).collect();
        assert_eq!(secrets, ["A", "B"]);
        assert_eq!((sum.bytes_scanned, sum.masked), (15, 2));
        assert_eq!(sum.unmasked, ["N", "M"]);
    }

    async fn a_run_that_was_deleted_cannot_be_written_on(bench) {
        bench.append(first("a", "me")).await.unwrap();
        assert!(bench.delete_run("a").await.unwrap());
        assert_eq!(bench.append(later("a", 1, vec![completed(0, 1)])).await, taken("a", 1, 0));
        // The same id may begin again.
        bench.append(first("a", "me")).await.unwrap();
        assert_eq!(bench.read("a").await.unwrap().len(), 1);
    }

    async fn a_standing_of_a_batch_is_that_of_the_run(bench) {
        let usage = Usage { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, calls: 1 };
        bench.append(first("a", "me")).await.unwrap();
        let mut batch = later("a", 1, vec![completed(0, 1)]);
        batch.usage = usage;
        bench.append(batch).await.unwrap();
        let run = bench.run("a").await.unwrap().unwrap();
        assert_eq!((run.entries, run.usage, run.standing), (2, usage, Standing::Running));
        assert_eq!(run.worker.as_ref(), Some(bench.worker()));
        let fields: Object = [("name".into(), Value::from("y".repeat(40_000)))].into_iter().collect();
        let waiting = Standing::Waiting { fields, tips: "Who?".into() };
        let mut batch = later("a", 2, vec![completed(1, 1)]);
        batch.usage = usage;
        batch.standing = waiting.clone();
        bench.append(batch).await.unwrap();
        let run = bench.run("a").await.unwrap().unwrap();
        assert_eq!((run.entries, run.standing, run.worker), (3, waiting, None));
        bench.append(last("a", 3, "bye")).await.unwrap();
        assert_eq!(bench.run("a").await.unwrap().unwrap().standing.name(), "finished");
    }

    async fn stored_bytes_grow_with_the_work_and_not_with_its_square(bench) {
        if !bench.is_sqlite() {
            return;
        }
        let text = |n: u64| -> String { (0..20_000_u64).map(|i| ((i * 2_654_435_761 + n * 40_503) % 97).to_string()).collect() };
        bench.append(first("a", "me")).await.unwrap();
        for n in 0..50 {
            // A turn passes its text on through four nodes.
            let events = (0..4).map(|_| completed(n, text(n))).collect();
            bench.append(later("a", 1 + 4 * n, events)).await.unwrap();
        }
        bench.close().await;
        let size: u64 = std::fs::read_dir(bench.location.to_string()).unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        let said: u64 = (0..50).map(|n| text(n).len() as u64).sum();
        assert!(size < 2 * said, "{size} bytes for {said}");
    }
}

/// How many big values are stored.
async fn held(store: &Store) -> u64 {
    crate::bench::count(store, "held").await
}

/// Names and texts that are markers of the store, or nearly.
fn tricky() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,30}",
        "[$]{0,3}held",
        Just(format!("{{\"$held\":\"{}\"}}", "0".repeat(64))),
        (0usize..40_000).prop_map(|length| "ab\u{0}\n\"".repeat(length / 5)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        tricky().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((tricky(), inner), 0..5).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(name, value)| (name.into(), value));
                Value::from(members.collect::<Object>())
            }),
        ]
    })
}

both! {
    async fn whatever_a_node_gives_comes_back(bench) {
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(64));
        for n in 0..64 {
            let value = value().new_tree(&mut runner).unwrap().current();
            let run = format!("run {n}");
            let events: Vec<Event> = vec![completed(0, value.clone()), completed(1, vec![value])];
            bench.append(first(&run, "me")).await.unwrap();
            bench.append(later(&run, 1, events.clone())).await.unwrap();
            assert_eq!(bench.read(&run).await.unwrap()[1..], events);
        }
    }
}
