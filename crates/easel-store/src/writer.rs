//! The one who writes: takes all that waits, writes it in one transaction, and answers when that is safe.
//!
//! One fsync a transaction is what durability costs, so its price is shared by all who wait for it. A batch that must be
//! refused does no harm to the others of its group: the group is written again in halves until it stands alone.
//!
//! Whoever comes while nobody writes or waits writes by himself: a run alone is not to pay for waking somebody else. With
//! SQLite its thread then waits for the disk once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use easel_runtime::JournalError;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::entry::{Entry, Known};
use crate::error::StoreError;
use crate::journal::{self, Cache, Refused};
use crate::sql::{Connection, Pool, Statement};
use crate::store::Commits;

/// The most that goes into one transaction.
const GROUP: usize = 2_048;
/// How often something is tried again when others were in the way.
const TRIES: usize = 8;

/// Where what is to be written goes.
pub(crate) struct Writer {
    pool: Pool,
    desks: Vec<Desk>,
    /// Batches of one run always go the same way, so that they stay in order.
    hasher: RandomState,
    counters: Arc<Counters>,
}

/// Where one writes at a time, and where the others queue.
struct Desk {
    queue: mpsc::UnboundedSender<Job>,
    /// Belongs to who serves the queue: a connection to PostgreSQL must end inside of the runtime, and a store may not.
    scribe: Weak<Mutex<Scribe>>,
}

#[derive(Default)]
struct Counters {
    transactions: AtomicU64,
    batches: AtomicU64,
    /// Whose turn it is to do work that may go any way.
    turn: AtomicU64,
}

type Batched = oneshot::Sender<Result<(), JournalError>>;

/// Told how the commit went, if there was something to commit.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Something to do inside of a transaction.
type Work = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Outcome> + Send>;

struct Outcome {
    /// False if what was done is to be taken back.
    keep: bool,
    answer: Answer,
}

enum Job {
    Batch(Box<Entry>, Batched),
    Work(Work),
    Close(oneshot::Sender<()>),
}

impl Writer {
    /// Starts those who write, each with a connection of its own.
    pub(crate) fn start(pool: &Pool, count: u32, worker: &Arc<str>) -> Writer {
        let counters = Arc::new(Counters::default());
        let desks = (0..count.max(1)).map(|_| {
            let (queue, jobs) = mpsc::unbounded_channel();
            let scribe = Arc::new(Mutex::new(Scribe {
                pool: pool.clone(),
                connection: None,
                worker: worker.clone(),
                cache: Cache::default(),
                counters: counters.clone(),
                lonely: true,
            }));
            let desk = Desk {
                queue,
                scribe: Arc::downgrade(&scribe),
            };
            match pool.is_sqlite() {
                // There a commit takes its thread until the disk has it: a thread of its own, and nobody else waits.
                true => {
                    let serving = thread::Builder::new().name("easel-store".to_owned());
                    // Without it the desk is closed, which everybody who comes is told.
                    let _ = serving.spawn(move || futures::executor::block_on(serve(scribe, jobs)));
                }
                false => drop(tokio::spawn(serve(scribe, jobs))),
            }
            desk
        });
        Writer {
            pool: pool.clone(),
            desks: desks.collect(),
            hasher: RandomState::new(),
            counters,
        }
    }

    fn is_closed(&self) -> bool {
        self.desks.iter().all(|desk| desk.queue.is_closed())
    }

    pub(crate) fn commits(&self) -> Commits {
        Commits {
            transactions: self.counters.transactions.load(Ordering::Relaxed),
            batches: self.counters.batches.load(Ordering::Relaxed),
        }
    }

    fn desk(&self, place: usize) -> Result<&Desk, StoreError> {
        let desk = self.desks.get(place % self.desks.len().max(1));
        desk.ok_or(StoreError::Closed)
    }

    pub(crate) async fn append(&self, entry: Entry) -> Result<(), JournalError> {
        let desk = self.desk(self.hasher.hash_one(&entry.run) as usize)?;
        let scribe = desk.scribe.upgrade();
        if let Some(scribe) = &scribe
            && let Ok(mut scribe) = scribe.try_lock()
            && scribe.lonely
            && scribe.alone(&entry).await
        {
            return Ok(());
        }
        drop(scribe);
        let (batched, done) = oneshot::channel();
        desk.send(Job::Batch(Box::new(entry), batched))?;
        done.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Clone
            + Send
            + 'static,
    {
        let mut tries = 0;
        loop {
            let (given, done) = oneshot::channel();
            let work = work.clone();
            let job: Work = Box::new(move |connection| {
                Box::pin(async move {
                    let done = work(connection).await;
                    Outcome {
                        keep: done.is_ok(),
                        answer: Box::new(move |committed| {
                            // Whoever asked may have gone.
                            let _ = given.send(committed.and(done));
                        }),
                    }
                })
            });
            let place = self.counters.turn.fetch_add(1, Ordering::Relaxed);
            self.desk(place as usize)?.send(Job::Work(job))?;
            tries += 1;
            match done.await {
                Ok(Err(error)) if error.is_transient() && tries < TRIES => {}
                Ok(done) => return done,
                // It was not begun, as there was no connection.
                Err(_) if tries < TRIES && !self.is_closed() => {
                    tokio::time::sleep(Duration::from_millis(50 * tries as u64)).await;
                }
                Err(_) if self.is_closed() => return Err(StoreError::Closed),
                Err(_) => return Err(StoreError::Unreachable),
            }
        }
    }

    /// Writes what was sent before this, then ends.
    pub(crate) async fn close(&self) {
        for desk in &self.desks {
            let (closed, done) = oneshot::channel();
            if desk.send(Job::Close(closed)).is_ok() {
                let _ = done.await;
            }
        }
        self.pool.close().await;
    }
}

impl Desk {
    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.queue.send(job).map_err(|_| StoreError::Closed)
    }
}

/// One who writes.
struct Scribe {
    pool: Pool,
    /// Kept from one transaction to the next.
    connection: Option<Connection>,
    worker: Arc<str>,
    cache: Cache,
    counters: Arc<Counters>,
    /// Whether nobody else had anything to write the last time. With others about, to write by oneself takes the desk from
    /// a whole group.
    lonely: bool,
}

/// A batch and who waits for it.
type Waiting = (Box<Entry>, Batched);

/// Batches that are in the transaction, what is known of their runs then, and what ended all of it.
type Written = (Vec<Waiting>, HashMap<Arc<str>, Known>, Option<StoreError>);

/// The batches such that no run has two of them in a round; at least one round if there is other work.
fn rounds(batches: Vec<Waiting>, other: bool) -> Vec<Vec<Waiting>> {
    let mut rounds: Vec<Vec<Waiting>> = Vec::new();
    let mut seen: HashMap<Arc<str>, usize> = HashMap::new();
    for waiting in batches {
        let round = seen.entry(waiting.0.run.clone()).or_default();
        match rounds.get_mut(*round) {
            Some(others) => others.push(waiting),
            None => rounds.push(vec![waiting]),
        }
        *round += 1;
    }
    if rounds.is_empty() && other {
        rounds.push(Vec::new());
    }
    rounds
}

/// Writes what queues, until somebody closes.
async fn serve(scribe: Arc<Mutex<Scribe>>, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let mut waiting = Vec::new();
    while jobs.recv_many(&mut waiting, GROUP).await > 0 {
        let mut scribe = scribe.lock().await;
        // Who came meanwhile belongs to the group.
        while waiting.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            waiting.push(job);
        }
        scribe.lonely = waiting.len() == 1;
        for closed in scribe.write(&mut waiting).await {
            jobs.close();
            scribe.connection = None;
            let _ = closed.send(());
        }
    }
}

impl Scribe {
    /// Does what waits; gives those who wait for the end.
    async fn write(&mut self, waiting: &mut Vec<Job>) -> Vec<oneshot::Sender<()>> {
        let (mut batches, mut works, mut closing) = (Vec::new(), Vec::new(), Vec::new());
        for job in waiting.drain(..) {
            match job {
                Job::Batch(entry, batched) => batches.push((entry, batched)),
                Job::Work(work) => works.push(work),
                Job::Close(closed) => closing.push(closed),
            }
        }
        // Several batches of one run: each but the first waits for what the one before makes of it.
        let mut works = Some(works);
        for round in rounds(
            batches,
            works.as_ref().is_some_and(|works| !works.is_empty()),
        ) {
            let works = works.take().unwrap_or_default();
            self.commit(round, works).await;
        }
        closing
    }

    /// Writes a batch that needs one statement alone, if it is such a batch and nothing is unusual; whether it did.
    async fn alone(&mut self, entry: &Entry) -> bool {
        let Some((insert, known)) = journal::alone(&self.cache, entry) else {
            return false;
        };
        // Neither is here any more if this is dropped half way: then nobody knows whether it was written.
        let Some(mut connection) = self.connection.take() else {
            return false;
        };
        self.cache.forget(&entry.run);
        let written = connection.execute(insert).await.is_ok();
        if written {
            self.count(1);
            self.cache
                .learn(HashMap::from([(entry.run.clone(), known)]));
        }
        self.connection = Some(connection);
        written
    }

    /// Writes all of it, and keeps the connection if it can be used again.
    async fn commit(&mut self, batches: Vec<Waiting>, works: Vec<Work>) {
        if let ([(entry, _)], []) = (batches.as_slice(), works.as_slice())
            // Anything unusual goes the usual way, which knows what to say of it.
            && self.alone(entry).await
        {
            return answer(batches);
        }
        let mut kept = self.connection.take();
        let mut tries = 0;
        let mut connection = loop {
            tries += 1;
            let fresh = kept.is_none();
            let mut connection = match kept.take() {
                Some(connection) => connection,
                None => match self.pool.acquire().await {
                    Ok(connection) => connection,
                    Err(error) => {
                        // Each work is dropped, and with it the sender that its caller waits for: it tries again.
                        return refuse(batches, &error);
                    }
                },
            };
            match connection.begin().await {
                Ok(()) => break connection,
                Err(error) => {
                    connection.discard();
                    // One that was kept may have been cut off while nobody used it.
                    if fresh || tries > TRIES {
                        return refuse(batches, &error);
                    }
                }
            }
        };
        match self.transact(&mut connection, batches, works).await {
            true => self.connection = Some(connection),
            false => connection.discard(),
        }
    }

    /// Writes all of it into the open transaction, commits, and answers; whether the connection can be used again.
    async fn transact(
        &mut self,
        connection: &mut Connection,
        batches: Vec<Waiting>,
        works: Vec<Work>,
    ) -> bool {
        let mut refused = Vec::new();
        let (written, learnt, mut failure) =
            self.write_group(connection, batches, &mut refused).await;
        let mut answers = Vec::new();
        for work in works {
            if failure.is_some() {
                break;
            }
            match within(connection, work).await {
                Ok(answer) => answers.extend(answer),
                Err(error) => failure = Some(error),
            }
        }
        if failure.is_none() {
            failure = connection.execute(Statement::new("COMMIT")).await.err();
        }
        tell(refused);
        match failure {
            None => {
                self.count(written.len() as u64);
                self.cache.learn(learnt);
                answer(written);
                for answer in answers {
                    answer(Ok(()));
                }
                true
            }
            Some(error) => {
                refuse(written, &error);
                for answer in answers {
                    answer(Err(error.clone()));
                }
                false
            }
        }
    }

    fn count(&self, batches: u64) {
        self.counters.transactions.fetch_add(1, Ordering::Relaxed);
        self.counters.batches.fetch_add(batches, Ordering::Relaxed);
    }

    /// Writes the batches into the open transaction; those that are refused go to `refused`. A failure ends all of them.
    async fn write_group(
        &mut self,
        connection: &mut Connection,
        batches: Vec<Waiting>,
        refused: &mut Vec<(Waiting, JournalError)>,
    ) -> Written {
        let mut tries = 0;
        while !batches.is_empty() {
            let group: Vec<&Entry> = batches.iter().map(|(entry, _)| &**entry).collect();
            let done = journal::write(connection, &self.cache, &self.worker, &group).await;
            tries += 1;
            let refusal = match done {
                Ok(learnt) => return (batches, learnt, None),
                Err(refusal) => refusal,
            };
            let again = match connection.execute(Statement::new("ROLLBACK")).await {
                Ok(_) => connection.begin().await,
                Err(error) => Err(error),
            };
            if let Err(error) = again {
                return (batches, HashMap::new(), Some(error));
            }
            match refusal {
                Refused::Failed(error) if error.is_transient() && tries < TRIES => {}
                _ => return self.write_parts(connection, batches, refused).await,
            }
        }
        (batches, HashMap::new(), None)
    }

    /// Writes the batches part by part and finds those that must be refused.
    async fn write_parts(
        &mut self,
        connection: &mut Connection,
        batches: Vec<Waiting>,
        refused: &mut Vec<(Waiting, JournalError)>,
    ) -> Written {
        let mut written: Vec<Waiting> = Vec::new();
        let mut learnt = HashMap::new();
        let (mut failure, mut tries) = (None, 0);
        let mut parts = vec![batches];
        while let Some(mut part) = parts.pop() {
            if failure.is_some() {
                written.append(&mut part);
                continue;
            }
            for (entry, _) in &part {
                // What is believed of the run may be why it was refused.
                self.cache.forget(&entry.run);
            }
            match self.try_part(connection, &part).await {
                Ok(Ok(known)) => {
                    learnt.extend(known);
                    written.append(&mut part);
                }
                Ok(Err(Refused::Failed(error))) if error.is_transient() && tries < TRIES => {
                    tries += 1;
                    parts.push(part);
                }
                Ok(Err(refusal)) if part.len() == 1 => {
                    for waiting in part {
                        let error = match &refusal {
                            Refused::Contradicted(error) => error.clone(),
                            Refused::Failed(error) => explain(connection, &waiting.0, error).await,
                        };
                        refused.push((waiting, error));
                    }
                }
                Ok(Err(_)) => {
                    let other = part.split_off(part.len() / 2);
                    parts.push(other);
                    parts.push(part);
                }
                Err(error) => {
                    written.append(&mut part);
                    failure = Some(error);
                }
            }
        }
        (written, learnt, failure)
    }

    /// Writes a group behind a savepoint, and takes it back if it is refused.
    async fn try_part(
        &mut self,
        connection: &mut Connection,
        group: &[Waiting],
    ) -> Result<Result<HashMap<Arc<str>, Known>, Refused>, StoreError> {
        connection.execute(Statement::new("SAVEPOINT part")).await?;
        let entries: Vec<&Entry> = group.iter().map(|(entry, _)| &**entry).collect();
        let done = journal::write(connection, &self.cache, &self.worker, &entries).await;
        if done.is_err() {
            connection
                .execute(Statement::new("ROLLBACK TO SAVEPOINT part"))
                .await?;
        }
        connection
            .execute(Statement::new("RELEASE SAVEPOINT part"))
            .await?;
        Ok(done)
    }
}

/// What a batch that the database refused stumbled over.
async fn explain(connection: &mut Connection, entry: &Entry, error: &StoreError) -> JournalError {
    if !error.is_conflict() {
        return error.clone().into();
    }
    match journal::length_of(connection, &entry.run).await {
        Ok(there) => JournalError::Taken {
            run: entry.run.to_string(),
            from: entry.from,
            there,
        },
        Err(error) => error.into(),
    }
}

/// Does something behind a savepoint; gives who is to be told after the commit.
async fn within(connection: &mut Connection, work: Work) -> Result<Option<Answer>, StoreError> {
    connection.execute(Statement::new("SAVEPOINT work")).await?;
    let outcome = work(connection).await;
    if outcome.keep {
        connection
            .execute(Statement::new("RELEASE SAVEPOINT work"))
            .await?;
        return Ok(Some(outcome.answer));
    }
    connection
        .execute(Statement::new("ROLLBACK TO SAVEPOINT work"))
        .await?;
    connection
        .execute(Statement::new("RELEASE SAVEPOINT work"))
        .await?;
    (outcome.answer)(Ok(()));
    Ok(None)
}

fn answer(written: Vec<Waiting>) {
    for (_, batched) in written {
        let _ = batched.send(Ok(()));
    }
}

fn tell(refused: Vec<(Waiting, JournalError)>) {
    for ((_, batched), error) in refused {
        let _ = batched.send(Err(error));
    }
}

fn refuse(waiting: Vec<Waiting>, error: &StoreError) {
    for (_, batched) in waiting {
        let _ = batched.send(Err(error.clone().into()));
    }
}
