//! The workbench of the tests: a new store in either database, and what goes into it.

use std::ops::Deref;
use std::sync::Arc;

use easel_runtime::core::bind::Activation;
use easel_runtime::core::event::{Completion, Event, Fact, Ports, Start, Timestamp};
use easel_runtime::{Batch, Origin, Standing, Value};
use easel_store::{Location, Store};
use tempfile::TempDir;

use postgres_for_tests as postgres;

/// A store of its own for one test.
pub struct Bench {
    pub store: Store,
    pub location: Location,
    _folder: Option<TempDir>,
}

impl Deref for Bench {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Bench {
    pub async fn sqlite() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::Folder(folder.path().to_owned());
        Bench {
            store: Store::open(&location).await.unwrap(),
            location,
            _folder: Some(folder),
        }
    }

    /// `None` where there is no PostgreSQL.
    pub async fn postgres() -> Option<Bench> {
        let location = Location::Database(postgres::cluster()?.database().await);
        Some(Bench {
            store: Store::open(&location).await.unwrap(),
            location,
            _folder: None,
        })
    }

    /// The same store, opened once more as another process would.
    pub async fn other(&self) -> Store {
        Store::open(&self.location).await.unwrap()
    }

    pub fn is_sqlite(&self) -> bool {
        matches!(self.location, Location::Folder(_))
    }
}

/// A test that both databases must pass.
macro_rules! both {
    ($($(#[$attribute:meta])* async fn $name:ident($bench:ident) $body:block)*) => { $(
        $(#[$attribute])*
        mod $name {
            use super::*;

            async fn test($bench: Bench) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                test(crate::bench::Bench::sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                if let Some(bench) = crate::bench::Bench::postgres().await {
                    test(bench).await;
                }
            }
        }
    )* };
}
pub(crate) use both;

/// An event that carries a value.
pub fn completed(activation: u64, value: impl Into<Value>) -> Event {
    let completion = Completion {
        ports: Ports::one("content", value),
        ..Completion::default()
    };
    let fact = Fact::Completed {
        activation: Activation(activation),
        attempt: 1,
        completion,
    };
    Event::new(Timestamp(activation as i64), fact)
}

/// How a run begins.
pub fn started(run: &str) -> Event {
    let start = Start {
        run: run.into(),
        concurrency: 1,
        node_runs: 100,
        ..Start::default()
    };
    Event::new(Timestamp(0), Fact::Started(start))
}

/// The first batch of a run of that owner.
pub fn first(run: &str, owner: &str) -> Batch {
    let mut batch = Batch::new(run, 0, vec![started(run)]);
    batch.origin = Some(Arc::new(Origin {
        owner: owner.into(),
        ..Origin::default()
    }));
    batch
}

/// A later batch of a run.
pub fn later(run: &str, from: u64, events: Vec<Event>) -> Batch {
    Batch::new(run, from, events)
}

/// The last batch of a run, without events.
pub fn last(run: &str, from: u64, content: &str) -> Batch {
    let mut batch = Batch::new(run, from, Vec::new());
    batch.standing = Standing::Finished {
        outputs: [("content".into(), Value::from(content))]
            .into_iter()
            .collect(),
    };
    batch
}

/// How many rows a table has.
pub async fn count(store: &Store, table: &str) -> u64 {
    use sqlx::Row;
    let select = sqlx::AssertSqlSafe(format!("SELECT count(*) AS n FROM {table}"));
    let count: i64 = match store.location() {
        Location::Folder(folder) => {
            let options =
                sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join("easel.db"));
            let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
            sqlx::query(select)
                .fetch_one(&mut connection)
                .await
                .unwrap()
                .get("n")
        }
        Location::Database(url) => {
            let mut connection = <sqlx::PgConnection as sqlx::Connection>::connect(url)
                .await
                .unwrap();
            sqlx::query(select)
                .fetch_one(&mut connection)
                .await
                .unwrap()
                .get("n")
        }
    };
    count as u64
}
