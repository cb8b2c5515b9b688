//! Opening, locking and closing; how much it holds.

use easel_runtime::{Journal, JournalError};
use easel_store::{Location, RunFilter, Store, StoreError};
use sqlx::{AssertSqlSafe, Row};

use crate::bench::{Bench, both, completed, first, later};

#[test]
fn a_place_is_a_folder_or_the_url_of_a_database() {
    assert_eq!(Location::parse("data"), Location::Folder("data".into()));
    assert_eq!(
        Location::parse("sqlite:x"),
        Location::Folder("sqlite:x".into())
    );
    let url = "postgres://easel:secret@db:5432/easel?sslmode=require";
    assert_eq!(Location::parse(url), Location::Database(url.into()));
    assert_eq!(Location::parse(url).to_string(), "postgres://db:5432/easel");
    assert_eq!(
        Location::parse("postgresql://db/x").to_string(),
        "postgresql://db/x"
    );
    let tricky = Location::parse("postgres://u:p@ss@db/x?password=secret");
    assert_eq!(tricky.to_string(), "postgres://db/x");
}

#[test]
fn one_server_writes_in_a_folder_and_the_next_is_told_who() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a/b");
    let lock = Store::lock_folder(&data).unwrap();
    let error = Store::lock_folder(&data).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }));
    let text = error.to_string();
    assert!(
        text.contains(&format!("process {}", std::process::id())),
        "{text}"
    );
    drop(lock);
    Store::lock_folder(&data).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_stored_is_for_nobody_else_to_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let store = Store::open(&Location::Folder(data.clone())).await.unwrap();
    store.append(first("a", "me")).await.unwrap();
    assert_eq!(data.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    for file in std::fs::read_dir(&data).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", file.path());
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_used_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let error = Store::open(&Location::Folder(file.join("data")))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    std::fs::write(
        folder.path().join("easel.db"),
        "not a database, and long enough to be looked at",
    )
    .unwrap();
    let error = Store::open(&Location::Folder(folder.path().to_owned()))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("not a database"), "{error}");
    let error = Store::open(&Location::parse("postgres://u:secret@127.0.0.1:1/x"))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_database_of_a_later_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Folder(folder.path().to_owned());
    Store::open(&location).await.unwrap().close().await;
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("easel.db"));
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let later = "INSERT INTO _sqlx_migrations SELECT 99, description, installed_on, success, checksum, execution_time \
                 FROM _sqlx_migrations WHERE version = 1";
    sqlx::raw_sql(later).execute(&mut connection).await.unwrap();
    let error = Store::open(&location).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { version: 99, .. }),
        "{error}"
    );
}

both! {
    async fn what_was_sent_before_closing_is_written_and_what_comes_later_is_refused(bench) {
        let writing = (0..100).map(|n| {
            let store = bench.store.clone();
            tokio::spawn(async move { store.append(first(&format!("run {n}"), "me")).await })
        });
        let writing: Vec<_> = writing.collect();
        tokio::task::yield_now().await;
        bench.close().await;
        let mut written = Vec::new();
        for (n, done) in writing.into_iter().enumerate() {
            match done.await.unwrap() {
                Ok(()) => written.push(n),
                Err(error) => assert_eq!(error, JournalError::Store("the store is closed".into())),
            }
        }
        assert!(bench.append(first("late", "me")).await.is_err());
        assert!(matches!(bench.rename_session("x", "y").await, Err(StoreError::Closed)));
        let other = bench.other().await;
        for n in written {
            assert_eq!(other.read(&format!("run {n}")).await.unwrap().len(), 1);
        }
        assert_eq!(other.read("late").await.unwrap(), []);
    }

    async fn several_may_open_a_new_place_at_once(bench) {
        let folder = tempfile::tempdir().unwrap();
        let location = match bench.is_sqlite() {
            true => Location::Folder(folder.path().join("new")),
            false => Location::Database(postgres_for_tests::cluster().unwrap().database().await),
        };
        let opening = (0..4).map(|_| {
            let location = location.clone();
            tokio::spawn(async move { Store::open(&location).await })
        });
        for (n, opened) in futures::future::join_all(opening).await.into_iter().enumerate() {
            let store = opened.unwrap().unwrap();
            store.append(first(&format!("run {n}"), "me")).await.unwrap();
        }
    }

    async fn what_reads_does_not_wait_for_what_writes(bench) {
        bench.append(first("a", "me")).await.unwrap();
        let writer = tokio::spawn({
            let store = bench.store.clone();
            async move {
                let text = "text ".repeat(50_000);
                for n in 1..30 {
                    store.append(later("a", n, vec![completed(n, format!("{n} {text}"))])).await.unwrap();
                }
            }
        });
        let mut seen = 0;
        while !writer.is_finished() {
            let length = bench.read("a").await.unwrap().len();
            assert!(length >= seen, "what was there stays");
            seen = length;
            bench.ping().await.unwrap();
        }
        writer.await.unwrap();
        assert_eq!(bench.read("a").await.unwrap().len(), 30);
    }
}

/// 100,000 runs, and each list is read along an index that has its order already.
#[tokio::test(flavor = "multi_thread")]
async fn lists_hold_at_a_hundred_thousand_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&Location::Folder(folder.path().to_owned()))
        .await
        .unwrap();
    store.close().await;
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("easel.db"));
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let many = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999) \
                INSERT INTO runs (id, document, agent, version, session, owner, user_name, key_id, started_by, traceparent, \
                state, standing, summary, prompt_tokens, completion_tokens, total_tokens, calls, created, updated) \
                SELECT 'run ' || i, '', 'agent ' || (i % 50), '', 'session ' || (i % 50), 'owner ' || (i % 5), '', '', '', '', \
                CASE WHEN i % 1000 = 0 THEN 'running' ELSE 'finished' END, '{}', '', 0, 0, 0, 0, 1000 + i, 1000 + i FROM n";
    sqlx::raw_sql(many).execute(&mut connection).await.unwrap();
    let store = Store::open(&Location::Folder(folder.path().to_owned()))
        .await
        .unwrap();
    let base = RunFilter::default;
    for (filter, index) in [
        (base(), "runs_created"),
        (
            RunFilter {
                owners: vec!["owner 1".into()],
                ..base()
            },
            "runs_owner",
        ),
        (
            RunFilter {
                agents: vec!["agent 1".into()],
                ..base()
            },
            "runs_agent",
        ),
        (
            RunFilter {
                session: Some("session 1".into()),
                ..base()
            },
            "runs_session",
        ),
        (
            RunFilter {
                states: vec!["running".into()],
                ..base()
            },
            "runs_state",
        ),
        (
            RunFilter {
                since: Some(5),
                until: Some(i64::MAX),
                ..base()
            },
            "runs_created",
        ),
        (
            RunFilter {
                owners: vec!["owner 1".into()],
                cursor: Some(format!("{}-9", i64::MAX)),
                ..base()
            },
            "runs_owner",
        ),
    ] {
        let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", filter.sql().unwrap()));
        let rows = sqlx::query(explain)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
        let plan = plan.join("\n");
        assert!(
            plan.contains(&format!("USING INDEX {index}")),
            "{filter:?}: {plan}"
        );
        assert!(
            !plan.contains("TEMP B-TREE"),
            "{filter:?} is sorted: {plan}"
        );
        let page = store.runs(&filter).await.unwrap();
        assert_eq!(page.items.len(), 30);
    }
    // What a start needs.
    let claimed = store.claim_running("worker", 1_000).await.unwrap();
    assert_eq!(claimed.len(), 100);
    assert_eq!(
        store
            .run_counts()
            .await
            .unwrap()
            .iter()
            .map(|count| count.runs)
            .sum::<u64>(),
        100_000
    );
}

#[tokio::test]
async fn stores_in_schemas_of_one_database_do_not_see_each_other() {
    let Some(cluster) = postgres_for_tests::cluster() else {
        return;
    };
    let database = Location::Database(cluster.database().await);
    let mut stores = Vec::new();
    for name in ["one", "two"] {
        let place = easel_store::make_schema(&database, name).await.unwrap();
        stores.push(Store::open(&place).await.unwrap());
    }
    stores[0].append(first("a", "me")).await.unwrap();
    assert_eq!(stores[0].read("a").await.unwrap().len(), 1);
    assert_eq!(stores[1].read("a").await.unwrap().len(), 0);
    for store in stores {
        store.close().await;
    }
    easel_store::drop_schema(&database, "one").await.unwrap();
    easel_store::make_schema(&database, "one").await.unwrap();
    let odd = easel_store::make_schema(&database, "x; DROP SCHEMA two").await;
    assert!(matches!(odd, Err(StoreError::Open { .. })));
    let folder = Location::Folder("data".into());
    assert!(easel_store::make_schema(&folder, "one").await.is_err());
}

#[test]
fn a_store_may_end_outside_of_the_runtime_it_was_used_in() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Folder(folder.path().to_owned());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store = runtime.block_on(Store::open(&location)).unwrap();
    runtime.block_on(store.append(first("a", "me"))).unwrap();
    drop(runtime);
    drop(store);
}
