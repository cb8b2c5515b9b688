//! What servers that share a database do for each other.

use std::sync::Arc;

use easel_runtime::{Journal, Logged};
use easel_store::{Signal, Signals, Store};

use crate::bench::{Bench, both, first, last};

both! {
    async fn a_run_that_is_to_end_is_found_by_whoever_drives_it(bench) {
        let run: Arc<str> = "asked".into();
        let worker = bench.worker().clone();
        bench.append(first(&run, "me")).await.unwrap();
        bench.append(first("another", "me")).await.unwrap();
        assert!(bench.cancels(&worker).await.unwrap().is_empty());
        for _ in 0..2 {
            bench.ask_to_cancel(&run).await.unwrap();
        }
        assert_eq!(*bench.cancels(&worker).await.unwrap()[0], *run);
        assert!(bench.cancels("somebody else").await.unwrap().is_empty());
        assert!(bench.is_to_end(&run).await.unwrap());
        assert!(!bench.is_to_end("another").await.unwrap());
        // Once it is over, nothing is left of it.
        bench.append(last(&run, 1, "done")).await.unwrap();
        assert!(bench.cancels(&worker).await.unwrap().is_empty());
        bench.heartbeat(&worker).await.unwrap();
        assert!(!bench.is_to_end(&run).await.unwrap());
        // Nor can it be asked for any more.
        bench.ask_to_cancel(&run).await.unwrap();
        bench.ask_to_cancel(&"nobody's".into()).await.unwrap();
        assert!(!bench.is_to_end(&run).await.unwrap());
    }

    async fn a_run_that_was_to_end_can_be_deleted(bench) {
        bench.append(first("asked", "me")).await.unwrap();
        bench.ask_to_cancel(&"asked".into()).await.unwrap();
        assert!(bench.delete_run("asked").await.unwrap());
        assert!(!bench.is_to_end("asked").await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_taken_over_from_a_worker_that_is_gone_and_from_no_other() {
    let Some(bench) = Bench::postgres().await else {
        return;
    };
    let other = bench.other().await;
    for store in [&bench.store, &other] {
        store.heartbeat(store.worker()).await.unwrap();
    }
    bench.append(first("run", "me")).await.unwrap();
    assert!(bench.claim_left("run", bench.worker()).await.unwrap());
    assert!(!other.claim_left("run", other.worker()).await.unwrap());
    bench.close().await;
    assert!(other.claim_left("run", other.worker()).await.unwrap());
    let record = other.run("run").await.unwrap().unwrap();
    assert_eq!(record.worker.as_ref(), Some(other.worker()));
    other.append(last("run", 1, "done")).await.unwrap();
    assert!(!other.claim_left("run", other.worker()).await.unwrap());
}

/// The ear of a store, once it listens.
async fn listening(store: &Store) -> Signals {
    let mut signals = store.signals().unwrap();
    assert_eq!(signals.next().await, Some(Signal::Missed));
    signals
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_to_one_is_not_heard_by_another() {
    let Some(bench) = Bench::postgres().await else {
        return;
    };
    let (b, c) = (bench.other().await, bench.other().await);
    let (mut of_b, mut of_c) = (listening(&b).await, listening(&c).await);
    let events = [Logged {
        id: "1.0+3".parse().unwrap(),
        json: r#"{"event":"message","data":{"content":"Grüße"}}"#.into(),
    }];
    let run: Arc<str> = "run".into();
    let after = "1.0".parse().ok();
    bench
        .tell(b.worker(), &run, after, &events, false)
        .await
        .unwrap();
    bench.ask_to_cancel(&run).await.unwrap();
    let Some(Signal::Told(told)) = of_b.next().await else {
        panic!("it was told");
    };
    assert_eq!(
        (told.run, told.after, told.over),
        (run.clone(), after, false)
    );
    assert_eq!(told.events, [(events[0].id, events[0].json.clone())]);
    for ear in [&mut of_b, &mut of_c] {
        assert_eq!(ear.next().await, Some(Signal::Cancel { run: run.clone() }));
    }
    bench.retire(bench.worker()).await.unwrap();
    assert_eq!(of_c.next().await, Some(Signal::Retired));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_connection_broke_hears_again_and_knows_that_it_missed_something() {
    let Some(bench) = Bench::postgres().await else {
        return;
    };
    let b = bench.other().await;
    let mut ear = listening(&b).await;
    let url = bench.location.clone();
    let easel_store::Location::Database(url) = url else {
        panic!("it is a database");
    };
    let mut connection = <sqlx::PgConnection as sqlx::Connection>::connect(&url)
        .await
        .unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    sqlx::query(end).execute(&mut connection).await.unwrap();
    assert_eq!(ear.next().await, Some(Signal::Missed));
    bench.signal(None, &Signal::Retired).await.unwrap();
    assert_eq!(ear.next().await, Some(Signal::Retired));
    b.close().await;
    assert_eq!(ear.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_folder_there_is_nobody_to_hear() {
    let bench = Bench::sqlite().await;
    assert!(bench.signals().is_none());
    bench.signal(None, &Signal::Retired).await.unwrap();
}
