//! Runs: lists, who drives them, and what goes.

use std::sync::Arc;

use easel_runtime::core::event::Fault;
use easel_runtime::{Batch, Journal, Origin, Standing, Value};
use easel_store::{Dialect, GcCounts, GcPlan, RunFilter, Store, StoreError};

use crate::bench::{Bench, both, completed, count, first, last, later, started};

/// A run that is over, with where it came from.
async fn over(store: &Store, run: &str, agent: &str, owner: &str, content: &str) {
    let mut batch = first(run, owner);
    batch.origin = Some(Arc::new(Origin {
        owner: owner.into(),
        agent: agent.into(),
        trigger: "chat".into(),
        ..Origin::default()
    }));
    store.append(batch).await.unwrap();
    store.append(last(run, 1, content)).await.unwrap();
}

async fn ids(store: &Store, filter: RunFilter) -> Vec<String> {
    let page = store.runs(&filter).await.unwrap();
    page.items.iter().map(|run| run.id.to_string()).collect()
}

both! {
    async fn a_run_keeps_where_it_came_from(bench) {
        let origin = Origin {
            document: "d".into(),
            agent: "agent".into(),
            version: "v".into(),
            session: Some("s".into()),
            owner: "me".into(),
            user: "a\0b".into(),
            key: "k".into(),
            trigger: "webhook".into(),
            traceparent: "00-1".into(),
        };
        let mut batch = first("a", "me");
        batch.origin = Some(Arc::new(origin.clone()));
        bench.append(batch).await.unwrap();
        bench.append(later("a", 1, vec![completed(7, "x"), completed(9, "y")])).await.unwrap();
        let mut waits = later("a", 3, vec![completed(11, "z")]);
        waits.standing = Standing::Cancelled;
        bench.append(waits).await.unwrap();
        let run = bench.run("a").await.unwrap().unwrap();
        // No database keeps a NUL in a text; what has one is kept without.
        assert_eq!(run.origin, Origin { user: "a\u{fffd}b".into(), ..origin });
        // Its times are those of what happened, so that whoever drove it knows them without asking.
        assert_eq!((run.created, run.updated), (started("a").at.0, 11));
        assert!(bench.run("b").await.unwrap().is_none());
        assert!(bench.run("a\0").await.unwrap().is_none());
    }

    async fn the_newest_runs_come_first_page_by_page(bench) {
        for n in 0..25 {
            over(&bench, &format!("run {n:02}"), "agent", "me", "hi").await;
        }
        let mut seen = Vec::new();
        let mut filter = RunFilter { limit: 10, ..RunFilter::default() };
        loop {
            let page = bench.runs(&filter).await.unwrap();
            seen.extend(page.items.iter().map(|run| run.id.to_string()));
            // One that begins meanwhile does not shift the pages.
            bench.append(first(&format!("new {}", seen.len()), "me")).await.unwrap();
            match page.next {
                Some(next) => filter.cursor = Some(next),
                None => break,
            }
        }
        let expected: Vec<_> = (0..25).rev().map(|n| format!("run {n:02}")).collect();
        assert_eq!(seen, expected);
        filter.cursor = Some("what".into());
        assert!(matches!(bench.runs(&filter).await, Err(StoreError::Cursor(_))));
        let all = RunFilter { limit: 1_000_000, ..RunFilter::default() };
        assert_eq!(ids(&bench, all).await.len(), 28);
    }

    async fn runs_are_found_by_what_one_knows_of_them(bench) {
        over(&bench, "one", "A", "me", "The Weather is 100% fine").await;
        over(&bench, "two", "B", "me", "other").await;
        over(&bench, "three", "A", "you", "other").await;
        let mut failed = first("four", "me");
        failed.standing = Standing::Failed { node: Some("n".into()), fault: Fault::new("x", "it broke") };
        bench.append(failed).await.unwrap();
        let base = RunFilter::default;
        assert_eq!(ids(&bench, RunFilter { agents: vec!["A".into()], ..base() }).await, ["three", "one"]);
        assert_eq!(ids(&bench, RunFilter { owners: vec!["me".into()], ..base() }).await, ["four", "two", "one"]);
        assert_eq!(ids(&bench, RunFilter { states: vec!["failed".into()], ..base() }).await, ["four"]);
        assert_eq!(ids(&bench, RunFilter { states: vec!["failed".into(), "finished".into()], ..base() }).await.len(), 4);
        assert_eq!(ids(&bench, RunFilter { trigger: Some("chat".into()), ..base() }).await.len(), 3);
        assert_eq!(ids(&bench, RunFilter { text: Some("weather".into()), ..base() }).await, ["one"]);
        assert_eq!(ids(&bench, RunFilter { text: Some("100%".into()), ..base() }).await, ["one"]);
        assert!(ids(&bench, RunFilter { text: Some("1%0".into()), ..base() }).await.is_empty());
        assert!(ids(&bench, RunFilter { text: Some("1_0".into()), ..base() }).await.is_empty());
        assert_eq!(ids(&bench, RunFilter { text: Some("two".into()), ..base() }).await, ["two"]);
        assert_eq!(ids(&bench, RunFilter { text: Some("BROKE".into()), ..base() }).await, ["four"]);
        let began = started("one").at.0;
        assert!(ids(&bench, RunFilter { until: Some(began - 1), ..base() }).await.is_empty());
        assert_eq!(ids(&bench, RunFilter { since: Some(began), until: Some(began), ..base() }).await.len(), 4);
        assert!(ids(&bench, RunFilter { session: Some("s".into()), ..base() }).await.is_empty());
        assert!(ids(&bench, RunFilter { user: Some("' OR 1=1 --".into()), ..base() }).await.is_empty());
        let counts = bench.run_counts().await.unwrap();
        let counts: Vec<_> = counts.iter().map(|count| (&*count.state, count.runs)).collect();
        assert_eq!(counts, [("failed", 1), ("finished", 3)]);
    }

    async fn a_list_shows_a_line_of_each_run_and_the_run_all_of_it(bench) {
        let long = "word ".repeat(100_000);
        over(&bench, "a", "", "me", &long).await;
        let page = bench.runs(&RunFilter::default()).await.unwrap();
        assert_eq!(page.items[0].summary.chars().count(), 200);
        assert_eq!(&*page.items[0].state, "finished");
        let Standing::Finished { outputs } = bench.run("a").await.unwrap().unwrap().standing else {
            panic!("it is over");
        };
        assert_eq!(outputs["content"], Value::from(long));
    }

    async fn what_a_worker_left_under_way_is_taken_over_once(bench) {
        for run in ["a", "b", "c"] {
            bench.append(first(run, "me")).await.unwrap();
        }
        bench.append(last("c", 1, "done")).await.unwrap();
        let other = bench.other().await;
        let ids = |runs: Vec<Arc<str>>| runs.iter().map(|run| run.to_string()).collect::<Vec<_>>();
        if !bench.is_sqlite() {
            // As long as the first is heard of, its runs are its own.
            bench.heartbeat(bench.worker()).await.unwrap();
            assert!(other.claim_running(other.worker(), 10).await.unwrap().is_empty());
            // It ends without a word, as a process does that is killed.
            bench.close().await;
        }
        other.heartbeat(other.worker()).await.unwrap();
        let claimed = ids(other.claim_running(other.worker(), 1).await.unwrap());
        assert_eq!(claimed, ["a"]);
        let claimed = ids(other.claim_running(other.worker(), 10).await.unwrap());
        assert_eq!(claimed, ["b"]);
        assert!(other.claim_running(other.worker(), 10).await.unwrap().is_empty());
        other.append(later("a", 1, vec![completed(0, 1)])).await.unwrap();
        assert_eq!(other.run("a").await.unwrap().unwrap().worker.as_ref(), Some(other.worker()));
        // One that goes in order leaves its runs at once.
        other.retire(other.worker()).await.unwrap();
        let third = bench.other().await;
        assert_eq!(third.claim_running(third.worker(), 10).await.unwrap().len(), 2);
    }

    async fn many_workers_take_over_and_each_run_goes_to_one(bench) {
        for n in 0..60 {
            bench.append(first(&format!("run {n}"), "me")).await.unwrap();
        }
        bench.retire(bench.worker()).await.unwrap();
        let mut others = Vec::new();
        for _ in 0..3 {
            let other = bench.other().await;
            other.heartbeat(other.worker()).await.unwrap();
            others.push(other);
        }
        if bench.is_sqlite() {
            // In a folder there is one at a time.
            others.truncate(1);
        }
        let claims = others.iter().map(|other| other.claim_running(other.worker(), 40));
        let mut claimed: Vec<Arc<str>> = Vec::new();
        for runs in futures::future::join_all(claims).await {
            claimed.extend(runs.unwrap());
        }
        for other in &others {
            claimed.extend(other.claim_running(other.worker(), 100).await.unwrap());
        }
        let taken = claimed.len();
        claimed.sort();
        claimed.dedup();
        assert_eq!((taken, claimed.len()), (60, 60));
    }

    async fn of_two_answers_one_drives_the_run_on(bench) {
        let waiting = Standing::Waiting { fields: [("name".into(), Value::from("text"))].into_iter().collect(), tips: "".into() };
        let mut batch = first("a", "me");
        batch.standing = waiting.clone();
        bench.append(batch).await.unwrap();
        let other = bench.other().await;
        let (one, two) = futures::future::join(
            bench.claim_run("a", bench.worker(), "waiting"),
            other.claim_run("a", other.worker(), "waiting"),
        )
        .await;
        assert_eq!([one.unwrap(), two.unwrap()].iter().filter(|won| **won).count(), 1);
        assert_eq!(bench.run("a").await.unwrap().unwrap().standing, Standing::Running);
        // The answer was no good: the run waits as before.
        bench.release("a").await.unwrap();
        let run = bench.run("a").await.unwrap().unwrap();
        assert_eq!((run.standing, run.worker), (waiting, None));
        assert!(bench.claim_run("a", bench.worker(), "waiting").await.unwrap());
        assert!(!bench.claim_run("nobody", bench.worker(), "waiting").await.unwrap());
        bench.append(later("a", 1, vec![completed(0, 1)])).await.unwrap();
        assert_eq!(bench.run("a").await.unwrap().unwrap().standing, Standing::Running);
    }

    async fn old_runs_go_and_what_is_under_way_stays(bench) {
        let used = bench.put_document(Dialect::Canvas, b"{}".to_vec()).await.unwrap();
        let unused = bench.put_document(Dialect::Canvas, b"[]".to_vec()).await.unwrap();
        for n in 0..120 {
            over(&bench, &format!("run {n}"), if n % 2 == 0 { "A" } else { "B" }, "me", &"x".repeat(20_000 + n)).await;
        }
        let mut running = Batch::new("running", 0, Vec::new());
        running.origin = Some(Arc::new(Origin { document: used.clone(), ..Origin::default() }));
        bench.append(running).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        let plan = GcPlan { before: i64::MAX, keep: 10, dry: true, ..GcPlan::default() };
        assert_eq!(bench.gc(&plan).await.unwrap(), GcCounts { runs: 100, values: 0, documents: 1 });
        let plan = GcPlan { dry: false, ..plan };
        assert_eq!(bench.gc(&plan).await.unwrap(), GcCounts { runs: 100, values: 100, documents: 1 });
        assert_eq!(count(&bench, "runs").await, 21);
        assert_eq!(count(&bench, "held").await, 20);
        assert!(bench.document(&used).await.unwrap().is_some());
        assert!(bench.document(&unused).await.unwrap().is_none());
        let plan = GcPlan { before: 1, ..GcPlan::default() };
        assert_eq!(bench.gc(&plan).await.unwrap(), GcCounts::default());
        let plan = GcPlan { before: i64::MAX, states: vec!["running".into()], ..GcPlan::default() };
        assert_eq!(bench.gc(&plan).await.unwrap().runs, 0);
        let plan = GcPlan { before: i64::MAX, ..GcPlan::default() };
        assert_eq!(bench.gc(&plan).await.unwrap().runs, 20);
        assert_eq!(bench.read("running").await.unwrap(), []);
        assert!(bench.run("running").await.unwrap().is_some());
        assert_eq!((count(&bench, "journal").await, count(&bench, "uses").await), (0, 0));
    }
}
