//! `kill -9` in the middle of writing: what was confirmed is there, and what is there can be read.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

use easel_runtime::{Batch, Journal};
use easel_store::{Location, Store};

use crate::bench::{completed, first};
use postgres_for_tests as postgres;

/// Where the child writes; nobody else has it set.
const PLACE: &str = "EASEL_TEST_STORE_PLACE";
/// Runs that the child writes at once.
const RUNS: u64 = 20;

/// Not a test by itself: what the killed process does. It says what was confirmed.
#[tokio::test(flavor = "multi_thread")]
async fn child_that_writes_until_it_is_killed() {
    let Ok(place) = std::env::var(PLACE) else {
        return;
    };
    let store = Store::open(&Location::parse(&place)).await.unwrap();
    let writing = (0..RUNS).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let run: Arc<str> = format!("run {n}").into();
            let length = store.read(&run).await.unwrap().len() as u64;
            if length == 0 {
                store.append(first(&run, "me")).await.unwrap();
            }
            for place in length.max(1).. {
                let text = match place % 10 {
                    0 => format!("{n} {place} ").repeat(5_000),
                    _ => format!("{n} {place}"),
                };
                store
                    .append(Batch::new(run.clone(), place, vec![completed(place, text)]))
                    .await
                    .unwrap();
                println!("confirmed {n} {place}");
            }
        })
    });
    futures::future::join_all(writing).await;
}

async fn is_killed_again_and_again(place: &str) {
    // How many events of each run; on a busy machine some run may not have begun.
    let mut confirmed = [0; RUNS as usize];
    for round in 0..5_usize {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "crashes::child_that_writes_until_it_is_killed",
                "--nocapture",
            ])
            .env(PLACE, place)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut written = 0;
        for line in lines.map_while(Result::ok) {
            let Some(line) = line.split("confirmed ").nth(1) else {
                continue;
            };
            let mut numbers = line.split(' ').map(|n| n.parse::<usize>());
            // The last line may be cut off.
            if let (Some(Ok(run)), Some(Ok(place))) = (numbers.next(), numbers.next()) {
                confirmed[run] = confirmed[run].max(place + 1);
            }
            written += 1;
            if written == 150 + 60 * round {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(written >= 150, "it was killed while it wrote");
        let store = Store::open(&Location::parse(place)).await.unwrap();
        for (n, confirmed) in confirmed.iter().enumerate() {
            let events = store.read(&format!("run {n}")).await.unwrap();
            assert!(
                events.len() >= *confirmed,
                "run {n}: {} events, {confirmed} confirmed",
                events.len()
            );
            let record = store.run(&format!("run {n}")).await.unwrap();
            let entries = record.map_or(0, |record| record.entries);
            assert_eq!(entries, events.len() as u64);
        }
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_confirmed_is_lost_and_all_is_readable_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    is_killed_again_and_again(folder.path().to_str().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_confirmed_is_lost_and_all_is_readable_postgres() {
    if let Some(cluster) = postgres::cluster() {
        is_killed_again_and_again(&cluster.database().await).await;
    }
}
