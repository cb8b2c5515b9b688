//! Runs that nobody drives: those that wait, and those whose process ended.
//!
//! Whoever drives a run claims it first, which makes it a running one in the store. So whatever goes wrong between the claim
//! and the first batch has to give it back, or a later start has to find out that there was nothing to drive.

use std::sync::Arc;
use std::time::Duration;

use easel_runtime::{Conversation, Said, Session, Standing};
use easel_store::{Location, RunRecord};
use tokio::sync::Semaphore;

use super::{Busy, Held, Host, HostError, Live, Work};

/// How long the host waits before it takes up a run whose store failed, at first and at most.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How many runs are claimed in one transaction.
const CLAIMED_AT_ONCE: usize = 1_000;

/// How many runs are taken up at once at the start.
const TAKEN_UP_AT_ONCE: usize = 64;

/// A conversation as it is kept.
pub(super) type Kept = Option<(Conversation, Vec<Said>)>;

impl Host {
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
        self.beat(true);
        Ok(count)
    }

    /// Runs that are under way and that nobody drives any more. They are this worker's from now on.
    pub(super) async fn claim(&self) -> Result<Vec<Arc<str>>, HostError> {
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

    pub(super) fn take_up_all(self: &Arc<Self>, runs: Vec<Arc<str>>) {
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
                    match host.resume(&run).await {
                        Ok(_) => {}
                        // It is this worker's by now, so nobody else will.
                        Err(HostError::Store(_) | HostError::Full(_)) => {
                            host.take_up_later(run, FIRST_PAUSE);
                        }
                        Err(error) => error.tell(&run),
                    }
                    drop(permit);
                });
            }
        });
    }

    /// Takes up a run that could not be driven, once the store answers again or there is room.
    pub(super) fn take_up_later(self: &Arc<Self>, run: Arc<str>, pause: Duration) {
        let host = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            if let Err(HostError::Store(_) | HostError::Full(_)) = host.resume(&run).await {
                host.take_up_later(run, (pause * 2).min(LONGEST_PAUSE));
            }
        });
    }

    /// A run that nobody drives, taken up in its turn, if it stands as it should: `suits` says why not.
    pub(super) async fn reopened(
        self: &Arc<Self>,
        run: &str,
        suits: impl Fn(&RunRecord) -> Result<(), HostError>,
    ) -> Result<Work, HostError> {
        let place = self.place()?;
        let record = self.record(run).await?;
        let lane = match &record.origin.session {
            Some(session) => self.lanes.enter(session, Busy::Queue).await?,
            None => self.lanes.enter(run, Busy::Queue).await?,
        };
        // Somebody may have driven it while this waited.
        let record = self.record(run).await?;
        if record.standing.is_over() {
            return Err(HostError::NothingToDrive {
                run: run.to_owned(),
                state: record.standing.name(),
            });
        }
        suits(&record)?;
        if self.live(run).is_some() {
            return Err(HostError::Elsewhere(run.to_owned()));
        }
        let kept = match &record.origin.session {
            Some(session) => self.store.conversation(session).await?,
            None => None,
        };
        let held = Held::new(place, Some(lane));
        self.taken_up(&record, kept, held).await
    }

    pub(super) async fn taken_up(
        self: &Arc<Self>,
        record: &RunRecord,
        kept: Kept,
        held: Arc<Held>,
    ) -> Result<Work, HostError> {
        let (worker, state) = (self.store.worker(), record.standing.name());
        let driven = record.standing == Standing::Running;
        let mine = record.worker.as_ref().is_none_or(|by| by == worker);
        let free = !driven || mine || matches!(self.store.location(), Location::Folder(_));
        let free = free || self.take_over(record).await?;
        if !free || !self.store.claim_run(&record.id, worker, state).await? {
            return Err(HostError::Elsewhere(record.id.to_string()));
        }
        let session = match self.rebuilt(record, kept).await {
            Ok(session) => session,
            Err(error) => {
                if !driven {
                    self.store.release(&record.id).await?;
                }
                return Err(error);
            }
        };
        let live = Live::new(record.id.clone(), record.origin.session.clone());
        if self.is_shared() && self.store.is_to_end(&record.id).await? {
            // Whoever drove it before has not come to it.
            live.stop();
        }
        Ok(Work {
            session,
            origin: record.origin.clone(),
            live,
            held,
        })
    }

    /// The conversation with the run in it, from the journal.
    async fn rebuilt(&self, record: &RunRecord, kept: Kept) -> Result<Session, HostError> {
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
        Ok(session)
    }

    /// The run that is open in a conversation. A turn that did not come to its end has left its message and nothing else,
    /// so the last message names its run.
    pub(super) async fn open_run(
        &self,
        conversation: &Conversation,
        said: &[Said],
    ) -> Result<Option<RunRecord>, HostError> {
        let unanswered = said.last().filter(|last| &*last.entry.role == "user");
        let unanswered = unanswered.map(|last| &last.run);
        let Some(run) = unanswered.or(conversation.run.as_ref()) else {
            return Ok(None);
        };
        let record = self.store.run(run).await?;
        Ok(record.filter(|record| !record.standing.is_over()))
    }

    /// Ends a run that was taken up, and gives back what it held.
    pub(super) async fn abandon(&self, mut work: Work) -> Result<Arc<Held>, HostError> {
        let stopped = std::future::ready(());
        work.session.go_on(&mut |_| {}, stopped).await?;
        Ok(work.held)
    }

    /// Drives a run that was taken up to the end of its turn, and gives back what it held. What came before is answered
    /// before what comes after.
    pub(super) async fn finish(self: &Arc<Self>, mut work: Work) -> Result<Arc<Held>, HostError> {
        let live = work.live.clone();
        self.lives().insert(live.run().clone(), live.clone());
        let driven = tokio::select! {
            driven = self.drive(&mut work, None) => Some(driven),
            () = self.left.cancelled() => None,
        };
        self.lives().remove(live.run());
        self.idle.notify_waiters();
        let Some((end, retry)) = driven else {
            return Err(HostError::Stopping);
        };
        let failed = end.ending.is_err();
        live.over(end);
        if retry {
            self.take_up_later(live.run().clone(), FIRST_PAUSE);
        }
        match failed {
            false => Ok(work.held),
            true => Err(HostError::Elsewhere(live.run().to_string())),
        }
    }
}
