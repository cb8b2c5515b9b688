//! The host: it drives runs for whoever asks, keeps one conversation in order, and takes up what another process left.
//!
//! A turn is a task. What it tells is kept in a [`Live`] while it lasts, for any number of readers; afterwards, and for
//! readers that were away too long, the same events are read back from the journal. A run that waits is in the store and
//! nowhere else.

mod compiled;
mod error;
mod following;
mod lanes;
mod live;
mod others;
mod read;
mod taking_up;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use easel_runtime::{
    Conversation, Decision, Engine, Input, JournalError, Origin, RunEvent, Session, Standing,
    TurnError, Workflow,
};
use easel_store::{RunRecord, SessionRecord, Store};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

pub use compiled::Compiled;
pub use error::HostError;
pub use live::{Events, Live, TurnEnd};

use lanes::{Lane, Lanes};
use others::Others;
use taking_up::FIRST_PAUSE;

use crate::telemetry::Telemetry;

/// How long turns may take to stand still that are left to others.
const STANDSTILL: Duration = Duration::from_secs(1);

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
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    utoipa::ToSchema,
)]
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
    /// The conversation, if it was opened for this message: then nothing of it need be read.
    pub opened: Option<SessionRecord>,
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
    /// Cancelled when what is still under way is left to others.
    left: CancellationToken,
    others: Others,
    idle: tokio::sync::Notify,
    telemetry: Telemetry,
}

/// What a task drives: a conversation, or a run that belongs to none, with what it holds meanwhile.
struct Work {
    session: Session,
    origin: Origin,
    live: Arc<Live>,
    held: Arc<Held>,
}

/// What a turn holds while it lasts: a place, and the lane of its conversation. Both are free once nobody has it.
struct Held {
    _place: OwnedSemaphorePermit,
    _lane: Option<Lane>,
}

impl Held {
    fn new(place: OwnedSemaphorePermit, lane: Option<Lane>) -> Arc<Held> {
        Arc::new(Held {
            _place: place,
            _lane: lane,
        })
    }
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
            left: CancellationToken::new(),
            others: Others::default(),
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
        let held = Held::new(place, Some(lane));
        if self.is_shared() {
            return self.say_among_others(message, held).await;
        }
        let work = self.turn_of(&message, held).await?;
        Ok(self.spawn_turn(work, message.input))
    }

    /// The conversation with the run that the message goes to.
    async fn turn_of(
        self: &Arc<Self>,
        message: &Message,
        held: Arc<Held>,
    ) -> Result<Work, HostError> {
        let id = &message.session;
        let (document, conversation, said) = match &message.opened {
            Some(opened) => (opened.document.clone(), Conversation::default(), Vec::new()),
            None => {
                let missing = || HostError::NoSession(id.to_string());
                let record = self.store.session(id).await?.ok_or_else(missing)?;
                let kept = self.store.conversation(id).await?;
                let (conversation, said) = kept.ok_or_else(missing)?;
                (record.document, conversation, said)
            }
        };
        if let Some(open) = self.open_run(&conversation, &said).await? {
            if let (Standing::Uncertain { writes }, false) = (&open.standing, message.abandon) {
                return Err(HostError::Undecided {
                    run: open.id.to_string(),
                    questions: writes.iter().map(|w| w.question.to_string()).collect(),
                });
            }
            let kept = Some((conversation, said));
            let work = self.taken_up(&open, kept, held).await?;
            let held = match (message.abandon, work.session.is_waiting()) {
                (true, _) => self.abandon(work).await?,
                (false, true) => return Ok(work),
                // It was under way when its process ended, and nobody has come to it yet.
                (false, false) => self.finish(work).await?,
            };
            let again = Message {
                abandon: false,
                opened: None,
                ..message.clone()
            };
            return Box::pin(self.turn_of(&again, held)).await;
        }
        let workflow = self.runnable(&document).await?;
        let origin = Origin {
            document,
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
            held,
        })
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
            held: Held::new(place, None),
        };
        Ok(self.spawn_turn(work, input))
    }

    /// Answers a run that waits.
    ///
    /// # Errors
    /// There is no such run, or it does not wait.
    pub async fn answer(self: &Arc<Self>, run: &str, input: Input) -> Result<Arc<Live>, HostError> {
        self.answer_to(run, None, input).await
    }

    /// Answers a run that waits, if it waits with this question: the length that its journal had when it asked. So what is
    /// sent twice is not taken for an answer to the next question.
    ///
    /// # Errors
    /// As [`Host::answer`]; it waits with another question.
    pub async fn answer_to(
        self: &Arc<Self>,
        run: &str,
        question: Option<u64>,
        input: Input,
    ) -> Result<Arc<Live>, HostError> {
        let record = self.record(run).await?;
        self.owns_files(&input, &record.origin.owner).await?;
        if self.is_elsewhere(&record) && self.take_over(&record).await? {
            // Whoever was about to answer it is gone, or it was under way there: this finds out.
            let _ = self.resume(run).await;
        }
        let open = |record: &RunRecord| question.is_none_or(|number| number == record.entries);
        let waits = |record: &RunRecord| match &record.standing {
            Standing::Waiting { .. } if open(record) => Ok(()),
            other => Err(HostError::NotWaiting {
                run: run.to_owned(),
                state: other.name(),
            }),
        };
        let work = self.reopened(run, waits).await?;
        Ok(self.spawn_turn(work, input))
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
        let uncertain = |record: &RunRecord| match &record.standing {
            Standing::Uncertain { .. } => Ok(()),
            other => Err(HostError::NotUncertain {
                run: run.to_owned(),
                state: other.name(),
            }),
        };
        let mut work = self.reopened(run, uncertain).await?;
        if let Err(missing) = work.session.decide(activation, decision) {
            self.store.release(run).await?;
            return Err(missing.into());
        }
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
        let nothing = |state| HostError::NothingToDrive {
            run: run.to_owned(),
            state,
        };
        let runs = |record: &RunRecord| match &record.standing {
            Standing::Running => Ok(()),
            other => Err(nothing(other.name())),
        };
        let work = self.reopened(run, runs).await?;
        if work.session.is_waiting() {
            // Its process ended between the claim and the answer: nobody has answered.
            self.store.release(run).await?;
            return Err(nothing("waiting"));
        }
        Ok(self.spawn_going_on(work))
    }

    /// Ends a run as cancelled, whoever drives it; requests in flight are dropped. True once it is, false if it was over
    /// before.
    ///
    /// # Errors
    /// There is no such run, or the server that drives it does not end it.
    pub async fn cancel(self: &Arc<Self>, run: &str) -> Result<bool, HostError> {
        loop {
            let live = match self.live(run) {
                Some(live) => live,
                None => {
                    let record = self.record(run).await?;
                    if record.standing.is_over() {
                        return Ok(false);
                    }
                    let elsewhere = self.is_elsewhere(&record);
                    if elsewhere && self.cancel_elsewhere(&record.id).await? {
                        return Ok(true);
                    }
                    let work = match self.reopened(run, |_| Ok(())).await {
                        // Another server was faster, and is asked in its turn.
                        Err(HostError::Elsewhere(_)) if self.is_shared() => continue,
                        work => work?,
                    };
                    work.live.stop();
                    self.spawn_going_on(work)
                }
            };
            live.stop();
            let end = live.end().await;
            return Ok(matches!(end.standing, Standing::Cancelled));
        }
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

    /// Lets no new turn begin and waits for those under way, at most that long. Gives how many are left: they stand still,
    /// and other servers take them up at once, or else the next process does.
    pub async fn drain(&self, patience: Duration) -> usize {
        self.draining.store(true, Ordering::SeqCst);
        let _ = tokio::time::timeout(patience, self.empty()).await;
        let left = self.turns_under_way();
        self.left.cancel();
        // What goes on here must not go on elsewhere at the same time.
        let _ = tokio::time::timeout(STANDSTILL, self.empty()).await;
        if self.is_shared() {
            // If the database does not take it, the others see before long that this worker is gone.
            let _ = self.store.retire(self.store.worker()).await;
        }
        left
    }

    /// Waits until no turn is under way.
    async fn empty(&self) {
        loop {
            let idle = self.idle.notified();
            tokio::pin!(idle);
            idle.as_mut().enable();
            if self.lives().is_empty() {
                return;
            }
            idle.await;
        }
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
            let driven = tokio::select! {
                driven = host.drive(&mut work, input) => Some(driven),
                () = host.left.cancelled() => None,
            };
            host.lives().remove(live.run());
            let Some((end, retry)) = driven else {
                drop(work);
                host.idle.notify_waiters();
                return;
            };
            // The place and the lane are free before anybody hears that the turn is over.
            drop(work);
            live.over(end);
            host.idle.notify_waiters();
            if retry {
                host.take_up_later(live.run().clone(), FIRST_PAUSE);
            }
        });
        live
    }

    /// Drives a turn to its end. True if it is to be taken up again later, because the store failed.
    async fn drive(&self, work: &mut Work, input: Option<Input>) -> (TurnEnd, bool) {
        let live = work.live.clone();
        let begins = input.is_some() && work.session.run().is_none();
        let turn = self.telemetry.turn(live.run(), &work.origin);
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
        let retry = match &ending {
            Err(TurnError::Journal(JournalError::Store(_))) => true,
            Ok(_) => false,
            // What the worker before had sent was written after this one took over: it goes on behind that.
            Err(TurnError::Journal(_)) => self.is_mine(live.run()).await,
            // Nothing has begun, so a run that was claimed for it stands as before.
            Err(_) => !live.is_accepted() && self.store.release(live.run()).await.is_err(),
        };
        let end = TurnEnd::of(&work.session, begins.then_some(&work.origin), ending);
        turn.over(&end.standing);
        (end, retry)
    }

    /// Whether a run is this worker's to drive, where there are others.
    async fn is_mine(&self, run: &str) -> bool {
        let record = match self.is_shared() {
            true => self.store.run(run).await,
            false => Ok(None),
        };
        let mine = |record: RunRecord| {
            record.standing == Standing::Running
                && record.worker.as_ref() == Some(self.store.worker())
        };
        record.ok().flatten().is_some_and(mine)
    }

    fn lives(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An id as clients know them: 32 hexadecimal digits, ascending with time.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
