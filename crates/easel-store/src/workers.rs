//! Who drives which run, and what becomes of the runs of those who are gone.
//!
//! In a folder there is one worker at a time. In PostgreSQL each holds an advisory lock as long as its process lives: when
//! that is killed, the database lets the lock go at once, and its runs can be taken over. A worker whose machine is cut off
//! keeps its lock for a while; that it was not heard of tells that it is gone.

use std::sync::Arc;
use std::time::Duration;

use crate::error::StoreError;
use crate::signals::Signal;
use crate::sql::Statement;
use crate::store::{Store, now};
use crate::values;

/// A worker of a shared database that was not heard of for so long is gone, whatever it holds.
pub const GONE_AFTER: Duration = Duration::from_secs(30);

/// Workers of a shared database that are there: heard of lately, and with their lock. An advisory lock is shown in two halves.
const THERE: &str = "SELECT workers.id FROM workers JOIN pg_locks ON pg_locks.locktype = 'advisory' \
                     AND pg_locks.granted AND pg_locks.objsubid = 1 \
                     AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                     AND ((pg_locks.classid::bigint << 32) | pg_locks.objid::bigint) = workers.lock_key \
                     WHERE workers.seen >= ";

/// The number of a worker's advisory lock.
fn lock_key(worker: &str) -> i64 {
    let digits = values::hash(worker.as_bytes());
    // Fifteen of them fit, and none of the numbers is negative.
    i64::from_str_radix(&digits[..15], 16).unwrap_or(0)
}

impl Store {
    /// Says that a worker is there; to be said before it drives the first run, and again well before [`GONE_AFTER`] is over,
    /// until it retires. The runs of one that never says so are for others.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn heartbeat(&self, worker: &str) -> Result<(), StoreError> {
        self.hold_lock(worker).await?;
        let worker = worker.to_owned();
        self.write(move |connection| {
            let worker = worker.clone();
            Box::pin(async move {
                let upsert = "INSERT INTO workers (id, seen, lock_key) VALUES ($1, $2, $3) \
                              ON CONFLICT (id) DO UPDATE SET seen = excluded.seen";
                let key = lock_key(&worker);
                let upsert = Statement::new(upsert).with(worker).with(now()).with(key);
                connection.execute(upsert).await?;
                // Those who are long gone have no runs any more, and nobody looks for them.
                let old = now() - 100 * i64::try_from(GONE_AFTER.as_millis()).unwrap_or(0);
                let delete = "DELETE FROM workers WHERE seen < $1";
                connection.execute(Statement::new(delete).with(old)).await?;
                // Nor is anything left to end of runs that are over.
                let delete = "DELETE FROM cancels WHERE run IN (SELECT cancels.run FROM cancels \
                              JOIN runs ON runs.number = cancels.run \
                              WHERE runs.state NOT IN ('running', 'waiting', 'uncertain'))";
                connection.execute(Statement::new(delete)).await.map(drop)
            })
        })
        .await
    }

    /// Takes the lock that says that this process lives, and takes it again if its connection was lost.
    async fn hold_lock(&self, worker: &str) -> Result<(), StoreError> {
        if self.is_folder() {
            return Ok(());
        }
        let mut presence = self.presence().lock().await;
        if let Some(mut connection) = presence.take()
            && connection
                .row(Statement::new("SELECT 1 AS one"))
                .await
                .is_ok()
        {
            *presence = Some(connection);
            return Ok(());
        }
        let mut connection = self.reader().await?;
        let lock = Statement::new("SELECT CAST(pg_try_advisory_lock($1) AS int)::bigint AS locked");
        connection.row(lock.with(lock_key(worker))).await?;
        *presence = Some(connection);
        Ok(())
    }

    /// Says that a worker goes: what it still drives is for others, who are told so.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn retire(&self, worker: &str) -> Result<(), StoreError> {
        if let Some(connection) = self.presence().lock().await.take() {
            connection.discard();
        }
        let worker = worker.to_owned();
        self.write(move |connection| {
            let worker = worker.clone();
            Box::pin(async move {
                let delete = Statement::new("DELETE FROM workers WHERE id = $1");
                connection.execute(delete.with(&worker)).await?;
                let update =
                    "UPDATE runs SET worker = NULL WHERE state = 'running' AND worker = $1";
                connection
                    .execute(Statement::new(update).with(&worker))
                    .await
                    .map(drop)
            })
        })
        .await?;
        // Who does not hear it looks before long.
        let _ = self.signal(None, &Signal::Retired).await;
        Ok(())
    }

    /// Takes over a run that is under way, if its worker is gone, and says whether it is this worker's now. In a folder all
    /// other workers are gone.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be taken over.
    pub async fn claim_left(&self, run: &str, worker: &str) -> Result<bool, StoreError> {
        let (run, worker) = (run.to_owned(), worker.to_owned());
        self.write(move |connection| {
            let (run, worker) = (run.clone(), worker.clone());
            Box::pin(async move {
                let mut update = Statement::new("UPDATE runs SET worker = ");
                update.value(&worker).push(" WHERE id = ").value(&run);
                update.push(" AND state = 'running'");
                if !connection.is_sqlite() {
                    let since = now() - i64::try_from(GONE_AFTER.as_millis()).unwrap_or(0);
                    update.push(" AND (worker IS NULL OR worker = ");
                    update.value(&worker).push(" OR worker NOT IN (");
                    update.push(THERE).value(since).push("))");
                }
                Ok(connection.execute(update).await? > 0)
            })
        })
        .await
    }

    /// Takes over runs that are under way and whose worker is gone; their ids, the oldest first, at most `limit`. In a
    /// folder all other workers are gone, as the one who asks holds its lock.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be taken over.
    pub async fn claim_running(
        &self,
        worker: &str,
        limit: usize,
    ) -> Result<Vec<Arc<str>>, StoreError> {
        let worker = worker.to_owned();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut ids: Vec<(i64, Arc<str>)> = self
            .write(move |connection| {
                let worker = worker.clone();
                Box::pin(async move {
                    let mut update = Statement::new("UPDATE runs SET worker = ");
                    update.value(&worker).push(
                        " WHERE number IN (SELECT number FROM runs WHERE state = 'running' \
                         AND (worker IS NULL OR (worker <> ",
                    );
                    update.value(&worker);
                    if !connection.is_sqlite() {
                        let since = now() - i64::try_from(GONE_AFTER.as_millis()).unwrap_or(0);
                        update
                            .push(" AND worker NOT IN (")
                            .push(THERE)
                            .value(since)
                            .push(")");
                    }
                    update
                        .push(")) ORDER BY created, number LIMIT ")
                        .value(limit);
                    if !connection.is_sqlite() {
                        // Others may be taking over at the same time: each takes what nobody else takes.
                        update.push(" FOR UPDATE SKIP LOCKED");
                    }
                    update.push(") RETURNING number, id");
                    let rows = connection.rows(update).await?;
                    let ids = rows
                        .iter()
                        .map(|row| Ok((row.int("number")?, row.shared("id")?)));
                    ids.collect()
                })
            })
            .await?;
        ids.sort();
        Ok(ids.into_iter().map(|(_, id)| id).collect())
    }

    /// Takes a run in order to drive it on, if it stands as `from` (a name that [`Standing::name`] gives); false if it does
    /// not, as somebody else was faster. It counts as running from then on.
    ///
    /// [`Standing::name`]: easel_runtime::Standing::name
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn claim_run(&self, run: &str, worker: &str, from: &str) -> Result<bool, StoreError> {
        let (run, worker, from) = (run.to_owned(), worker.to_owned(), from.to_owned());
        self.write(move |connection| {
            let (run, worker, from) = (run.clone(), worker.clone(), from.clone());
            Box::pin(async move {
                let update = "UPDATE runs SET state = 'running', worker = $1, updated = $2 WHERE id = $3 AND state = $4";
                let update = Statement::new(update).with(worker).with(now()).with(run).with(from);
                Ok(connection.execute(update).await? > 0)
            })
        })
        .await
    }

    /// Gives a run back that was claimed and not driven on: it stands again as its last batch says.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written.
    pub async fn release(&self, run: &str) -> Result<(), StoreError> {
        let run = run.to_owned();
        self.write(move |connection| {
            let run = run.clone();
            Box::pin(async move {
                let select = Statement::new("SELECT standing FROM runs WHERE id = $1");
                let Some(row) = connection.row(select.with(&run)).await? else {
                    return Ok(());
                };
                let what = format!("where run {run} stands");
                let standing: serde_json::Value = values::parse(&row.text("standing")?, &what)?;
                let state = standing.get("state").and_then(serde_json::Value::as_str);
                let update = "UPDATE runs SET state = $1, worker = NULL WHERE id = $2";
                let update = Statement::new(update)
                    .with(state.unwrap_or("running"))
                    .with(run);
                connection.execute(update).await.map(drop)
            })
        })
        .await
    }
}
