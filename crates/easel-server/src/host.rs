//! The host: it drives runs for whoever asks, keeps one conversation in order, and takes up what another process left.
//!
//! A turn is a task. What it tells is kept in a [`Live`] while it lasts, for any number of readers; afterwards, and for
//! readers that were away too long, the same events are read back from the journal. A run that waits is in the store and
//! nowhere else.

mod compiled;
mod error;
mod lanes;
mod live;
mod read;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use easel_runtime::{
    Conversation, Decision, Engine, Input, JournalError, Origin, RunEvent, Said, Session, Standing,
    TurnError, Workflow,
};
use easel_store::{Location, RunRecord, Store};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use compiled::Compiled;
pub use error::HostError;
pub use live::{Events, Live, TurnEnd};

use lanes::{Lane, Lanes};

use crate::telemetry::Telemetry;

/// How long the host waits before it takes up a run whose store failed, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often a worker says that it is alive, and looks for runs whose worker is not.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// How many runs are claimed in one transaction.
const CLAIMED_AT_ONCE: usize = 1_000;

/// How many runs are taken up at once at the start.
const TAKEN_UP_AT_ONCE: usize = 64;

/// What bounds a host.
#[derive(Clone, Copy, Debug)]
pub struct HostLimits {
    /// Turns under way at once; a further one is refused.
    pub turns: usize,
    /// Compiled workflows kept in memory.
    pub compiled: usize,
}

impl Default for HostLimits {
    fn default() -> HostLimits {
        HostLimits {
            turns: 4_096,
            compiled: 256,
        }
    }
}

/// What to do with a message to a conversation that is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Busy {
    /// It waits for its turn; messages are answered in the order in which they came.
    #[default]
    Queue,
    /// It is refused.
    Refuse,
}

/// A message to a conversation.
#[derive(Clone, Debug)]
pub struct Message {
    /// The conversation.
    pub session: Arc<str>,
    /// What the user brings.
    pub input: Input,
    /// Where it comes from; the document and the session are filled in.
    pub origin: Origin,
    /// What to do if the conversation is busy.
    pub busy: Busy,
    /// End a run that waits for an answer, and begin a new one.
    pub abandon: bool,
}

/// Drives runs.
pub struct Host {
    store: Store,
    engine: Arc<Engine>,
    compiled: Compiled,
    lanes: Lanes,
    places: Arc<Semaphore>,
    limits: HostLimits,
    live: Mutex<HashMap<Arc<str>, Arc<Live>>>,
    draining: AtomicBool,
    idle: tokio::sync::Notify,
    telemetry: Telemetry,
}

/// What a task drives: a conversation, or a run that belongs to none, with what it holds meanwhile.
struct Work {
    session: Session,
    origin: Origin,
    live: Arc<Live>,
    place: OwnedSemaphorePermit,
    lane: Option<Lane>,
}

impl Host {
    /// A host over a store, with an engine whose journal is that store.
    pub fn new(store: Store, engine: Arc<Engine>, limits: HostLimits) -> Arc<Host> {
        Host::watched(store, engine, limits, Telemetry::default())
    }

    /// A host whose turns are watched. The engine's model and journal may be watched by the same, too.
    pub fn watched(
        store: Store,
        engine: Arc<Engine>,
        limits: HostLimits,
        telemetry: Telemetry,
    ) -> Arc<Host> {
        Arc::new(Host {
            compiled: Compiled::new(limits.compiled),
            lanes: Lanes::default(),
            places: Arc::new(Semaphore::new(limits.turns)),
            live: Mutex::default(),
            draining: AtomicBool::new(false),
            idle: tokio::sync::Notify::new(),
            telemetry,
            store,
            engine,
            limits,
        })
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Compiled workflows by the hash of their document.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// What watches the turns.
    pub fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// Turns under way.
    pub fn turns_under_way(&self) -> usize {
        self.lives().len()
    }

    /// The workflow with that document, compiled once.
    ///
    /// # Errors
    /// There is no such document, or it is no workflow.
    pub async fn workflow(&self, document: &str) -> Result<Arc<Workflow>, HostError> {
        self.compiled.get(document, &self.store, &self.engine).await
    }

    /// Says something in a conversation: begins a run, or answers the one that waits. Once this returns, the message has its
    /// turn; [`Live::accepted`] says when it is safe.
    ///
    /// # Errors
    /// There is no such conversation, it is busy and that is refused, it is stuck on an uncertain write, its workflow must
    /// not run, or the host is full or about to stop.
    pub async fn say(self: &Arc<Self>, message: Message) -> Result<Arc<Live>, HostError> {
        let place = self.place()?;
        self.owns_files(&message.input, &message.origin.owner)
            .await?;
        let lane = self.lanes.enter(&message.session, message.busy).await?;
        let work = self.turn_of(&message, place, lane).await?;
        Ok(self.spawn_turn(work, message.input))
    }

    /// The conversation with the run that the message goes to.
    async fn turn_of(
        self: &Arc<Self>,
        message: &Message,
        place: OwnedSemaphorePermit,
        lane: Lane,
    ) -> Result<Work, HostError> {
        let id = &message.session;
        let record = self.store.session(id).await?;
        let record = record.ok_or_else(|| HostError::NoSession(id.to_string()))?;
        let kept = self.store.conversation(id).await?;
        let (conversation, said) = kept.ok_or_else(|| HostError::NoSession(id.to_string()))?;
        let pending = match &conversation.run {
            Some(run) => self.store.run(run).await?.filter(|r| !r.standing.is_over()),
            None => None,
        };
        if let Some(pending) = pending {
            if message.abandon {
                let work = self.taken_up(&pending, Some((conversation, said)), place, Some(lane));
                let work = work.await?;
                let (place, lane) = self.abandon(work).await?;
                let again = Message {
                    abandon: false,
                    ..message.clone()
                };
                return Box::pin(self.turn_of(&again, place, lane)).await;
            }
            return match pending.standing {
                Standing::Waiting { .. } => {
                    let kept = Some((conversation, said));
                    self.taken_up(&pending, kept, place, Some(lane)).await
                }
                Standing::Uncertain { writes } => Err(HostError::Undecided {
                    run: pending.id.to_string(),
                    questions: writes.iter().map(|w| w.question.to_string()).collect(),
                }),
                _ => Err(HostError::Elsewhere(pending.id.to_string())),
            };
        }
        let workflow = self.runnable(&record.document).await?;
        let origin = Origin {
            document: record.document.clone(),
            session: Some(id.clone()),
            ..message.origin.clone()
        };
        let run: Arc<str> = new_id().into();
        let engine = self.engine.clone();
        let session = Session::kept(engine, workflow, id.clone(), conversation, said)
            .with_origin(origin.clone())
            .naming_run(run.clone());
        Ok(Work {
            session,
            origin,
            live: Live::new(run, Some(id.clone())),
            place,
            lane: Some(lane),
        })
    }

    /// Ends a run that was taken up, and gives back what it held.
    async fn abandon(&self, mut work: Work) -> Result<(OwnedSemaphorePermit, Lane), HostError> {
        let stopped = std::future::ready(());
        work.session.go_on(&mut |_| {}, stopped).await?;
        match work.lane {
            Some(lane) => Ok((work.place, lane)),
            None => Err(HostError::Stopping),
        }
    }

    /// Begins a run that belongs to no conversation.
    ///
    /// # Errors
    /// There is no such document, it must not run, or the host is full or about to stop.
    pub async fn run(
        self: &Arc<Self>,
        input: Input,
        origin: Origin,
    ) -> Result<Arc<Live>, HostError> {
        let place = self.place()?;
        self.owns_files(&input, &origin.owner).await?;
        let workflow = self.runnable(&origin.document).await?;
        let run: Arc<str> = new_id().into();
        let session = self.engine.session(&workflow);
        let session = session.with_origin(origin.clone());
        let work = Work {
            session: session.naming_run(run.clone()),
            origin,
            live: Live::new(run, None),
            place,
            lane: None,
        };
        Ok(self.spawn_turn(work, input))
    }

    /// Answers a run that waits.
    ///
    /// # Errors
    /// There is no such run, or it does not wait.
    pub async fn answer(self: &Arc<Self>, run: &str, input: Input) -> Result<Arc<Live>, HostError> {
        let owner = self.record(run).await?.origin.owner;
        self.owns_files(&input, &owner).await?;
        let (work, standing) = self.reopened(run).await?;
        match standing {
            Standing::Waiting { .. } => Ok(self.spawn_turn(work, input)),
            other => Err(HostError::NotWaiting {
                run: run.to_owned(),
                state: other.name(),
            }),
        }
    }

    /// Says what became of an uncertain write, and drives the run on.
    ///
    /// # Errors
    /// There is no such run, or it has no such write.
    pub async fn decide(
        self: &Arc<Self>,
        run: &str,
        activation: u64,
        decision: Decision,
    ) -> Result<Arc<Live>, HostError> {
        let (mut work, standing) = self.reopened(run).await?;
        if !matches!(standing, Standing::Uncertain { .. }) {
            return Err(HostError::NotUncertain {
                run: run.to_owned(),
                state: standing.name(),
            });
        }
        work.session.decide(activation, decision)?;
        Ok(self.spawn_going_on(work))
    }

    /// Takes up a run that nobody drives.
    ///
    /// # Errors
    /// There is no such run, or there is nothing to drive.
    pub async fn resume(self: &Arc<Self>, run: &str) -> Result<Arc<Live>, HostError> {
        if let Some(live) = self.live(run) {
            return Ok(live);
        }
        let (work, standing) = self.reopened(run).await?;
        match standing {
            Standing::Running => Ok(self.spawn_going_on(work)),
            other => Err(HostError::NothingToDrive {
                run: run.to_owned(),
                state: other.name(),
            }),
        }
    }

    /// Ends a run as cancelled; requests in flight are dropped. True once it is, false if it was over before.
    ///
    /// # Errors
    /// There is no such run, or another worker drives it.
    pub async fn cancel(self: &Arc<Self>, run: &str) -> Result<bool, HostError> {
        let live = match self.live(run) {
            Some(live) => live,
            None => {
                let record = self.record(run).await?;
                if record.standing.is_over() {
                    return Ok(false);
                }
                let (work, _) = self.reopened(run).await?;
                work.live.stop();
                self.spawn_going_on(work)
            }
        };
        live.stop();
        let end = live.end().await;
        Ok(matches!(end.standing, Standing::Cancelled))
    }

    /// A run that is under way here.
    pub fn live(&self, run: &str) -> Option<Arc<Live>> {
        self.lives().get(run).cloned()
    }

    /// The record of a run.
    ///
    /// # Errors
    /// There is no such run.
    pub async fn record(&self, run: &str) -> Result<RunRecord, HostError> {
        let record = self.store.run(run).await?;
        record.ok_or_else(|| HostError::NoRun(run.to_owned()))
    }

    /// Takes up every run that was under way when its process ended, and goes on doing so for workers that die. Returns how
    /// many there were.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn recover(self: &Arc<Self>) -> Result<usize, HostError> {
        self.store.heartbeat(self.store.worker()).await?;
        let runs = self.claim().await?;
        let count = runs.len();
        self.take_up_all(runs);
        let host = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(HEARTBEAT).await;
                let Some(host) = host.upgrade() else { return };
                // What fails is tried again with the next beat.
                let _ = host.store.heartbeat(host.store.worker()).await;
                if host.draining.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(runs) = host.claim().await {
                    host.take_up_all(runs);
                }
            }
        });
        Ok(count)
    }

    /// Runs that are under way and that nobody drives any more. They are this worker's from now on.
    async fn claim(&self) -> Result<Vec<Arc<str>>, HostError> {
        let mut runs = Vec::new();
        loop {
            let more = self
                .store
                .claim_running(self.store.worker(), CLAIMED_AT_ONCE);
            let more = more.await?;
            let last = more.len() < CLAIMED_AT_ONCE;
            runs.extend(more);
            if last {
                return Ok(runs);
            }
        }
    }

    fn take_up_all(self: &Arc<Self>, runs: Vec<Arc<str>>) {
        if runs.is_empty() {
            return;
        }
        let host = self.clone();
        tokio::spawn(async move {
            let at_once = Arc::new(Semaphore::new(TAKEN_UP_AT_ONCE));
            for run in runs {
                let Ok(permit) = at_once.clone().acquire_owned().await else {
                    return;
                };
                let host = host.clone();
                tokio::spawn(async move {
                    if let Err(error) = host.resume(&run).await {
                        error.tell(&run);
                    }
                    drop(permit);
                });
            }
        });
    }

    /// Lets no new turn begin and waits for those under way, at most that long. Gives how many are left: the next process
    /// takes them up.
    pub async fn drain(&self, patience: Duration) -> usize {
        self.draining.store(true, Ordering::SeqCst);
        let empty = async {
            loop {
                let idle = self.idle.notified();
                tokio::pin!(idle);
                idle.as_mut().enable();
                if self.lives().is_empty() {
                    return;
                }
                idle.await;
            }
        };
        let _ = tokio::time::timeout(patience, empty).await;
        self.turns_under_way()
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, HostError> {
        if self.draining.load(Ordering::SeqCst) {
            return Err(HostError::Stopping);
        }
        let place = self.places.clone().try_acquire_owned();
        place.map_err(|_| HostError::Full(self.limits.turns))
    }

    /// Refuses files of others.
    async fn owns_files(&self, input: &Input, owner: &str) -> Result<(), HostError> {
        match crate::files::foreign(input, owner, &self.store).await? {
            Some(id) => Err(HostError::ForeignFile(id)),
            None => Ok(()),
        }
    }

    /// A workflow that the check does not refuse.
    async fn runnable(&self, document: &str) -> Result<Arc<Workflow>, HostError> {
        let workflow = self.workflow(document).await?;
        let refusal = workflow.refusals().next().cloned();
        match refusal {
            Some(refusal) => Err(TurnError::Refused(Box::new(refusal)).into()),
            None => Ok(workflow),
        }
    }

    /// A run that nobody drives, taken up in its turn, and how it stands.
    async fn reopened(self: &Arc<Self>, run: &str) -> Result<(Work, Standing), HostError> {
        let place = self.place()?;
        let record = self.record(run).await?;
        let lane = match &record.origin.session {
            Some(session) => Some(self.lanes.enter(session, Busy::Queue).await?),
            None => Some(self.lanes.enter(run, Busy::Queue).await?),
        };
        // Somebody may have driven it while this waited.
        let record = self.record(run).await?;
        let standing = record.standing.clone();
        if standing.is_over() {
            return Err(HostError::NothingToDrive {
                run: run.to_owned(),
                state: standing.name(),
            });
        }
        if self.live(run).is_some() {
            return Err(HostError::Elsewhere(run.to_owned()));
        }
        let kept = match &record.origin.session {
            Some(session) => self.store.conversation(session).await?,
            None => None,
        };
        let work = self.taken_up(&record, kept, place, lane).await?;
        Ok((work, standing))
    }

    async fn taken_up(
        self: &Arc<Self>,
        record: &RunRecord,
        kept: Option<(Conversation, Vec<Said>)>,
        place: OwnedSemaphorePermit,
        lane: Option<Lane>,
    ) -> Result<Work, HostError> {
        let (worker, state) = (self.store.worker(), record.standing.name());
        let driven = record.standing == Standing::Running;
        let mine = record.worker.as_ref().is_none_or(|by| by == worker);
        let free = !driven || mine || matches!(self.store.location(), Location::Folder(_));
        if !free || !self.store.claim_run(&record.id, worker, state).await? {
            return Err(HostError::Elsewhere(record.id.to_string()));
        }
        let workflow = self.workflow(&record.origin.document).await?;
        let journal = self.read_journal(&record.id).await?;
        let engine = self.engine.clone();
        let mut session = match (&record.origin.session, kept) {
            (Some(id), Some((conversation, said))) => {
                Session::kept(engine, workflow, id.clone(), conversation, said)
            }
            _ => engine.session(&workflow),
        };
        session.take_up(journal)?;
        Ok(Work {
            session,
            origin: record.origin.clone(),
            live: Live::new(record.id.clone(), record.origin.session.clone()),
            place,
            lane,
        })
    }

    fn spawn_turn(self: &Arc<Self>, work: Work, input: Input) -> Arc<Live> {
        self.spawn(work, Some(input))
    }

    fn spawn_going_on(self: &Arc<Self>, work: Work) -> Arc<Live> {
        self.spawn(work, None)
    }

    fn spawn(self: &Arc<Self>, mut work: Work, input: Option<Input>) -> Arc<Live> {
        let live = work.live.clone();
        self.lives().insert(live.run().clone(), live.clone());
        let host = self.clone();
        tokio::spawn(async move {
            let live = work.live.clone();
            let turn = host.telemetry.turn(live.run(), &work.origin);
            let mut observe = |event: RunEvent| {
                turn.saw(&event);
                live.tell(&event);
            };
            let stopped = live.stopped();
            let session = &mut work.session;
            let ending = turn.within(async {
                match input {
                    Some(input) => session.turn_until(input, &mut observe, stopped).await,
                    None => session.go_on(&mut observe, stopped).await,
                }
            });
            let ending = ending.await;
            let retry = matches!(&ending, Err(TurnError::Journal(JournalError::Store(_))))
                && live.is_accepted();
            let end = TurnEnd::of(&work.session, ending);
            turn.over(&end.standing);
            let run = live.run().clone();
            host.lives().remove(&run);
            // The place and the lane are free before anybody hears that the turn is over.
            drop(work);
            live.over(end);
            host.idle.notify_waiters();
            if retry {
                host.take_up_later(run, FIRST_PAUSE);
            }
        });
        live
    }

    /// Takes up a run whose store failed, once it answers again.
    fn take_up_later(self: &Arc<Self>, run: Arc<str>, pause: Duration) {
        let host = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            if let Err(HostError::Store(_) | HostError::Full(_)) = host.resume(&run).await {
                host.take_up_later(run, (pause * 2).min(LONGEST_PAUSE));
            }
        });
    }

    fn lives(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An id as clients know them: 32 hexadecimal digits, ascending with time.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
