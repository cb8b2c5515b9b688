//! The other servers on the same database: how they hear of each other, and what one does for another.
//!
//! What has to hold is in tables. What is said with it only makes it quick, so whoever waits for something also looks.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use easel_runtime::{JournalError, Standing, TurnError};
use easel_store::{Location, RunRecord, Signal, Signals, Told};
use tokio::sync::broadcast;
use tokio::time::Instant;

use super::{Busy, Held, Host, HostError, Live, Message, TurnEnd};

/// How often a worker says that it is alive, and looks for runs whose worker is not.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// How often a worker looks whether somebody asked to end what it drives.
const LOOK_FOR_CANCELS: Duration = Duration::from_secs(1);

/// How often one who waits for another server looks how far it is.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How often it looks whether that server is gone: once for so many times that it looks how far it is.
const LOOKS_FOR_ONE_THAT_IS_GONE: u32 = 10;

/// How long another server may take to end a run.
const PATIENCE: Duration = Duration::from_secs(30);

/// Parts of what a run told that are kept for one who follows it. Who is further behind reads the journal.
const HEARD: usize = 256;

/// By run and worker: until when that worker wants to hear of that run.
pub(super) type Leases = HashMap<(Arc<str>, Arc<str>), Instant>;

/// Who follows what.
#[derive(Default)]
pub(super) struct Others {
    /// Those here who follow a run that another server drives.
    followed: Mutex<HashMap<Arc<str>, broadcast::Sender<Arc<Told>>>>,
    /// The workers that follow a run which is driven here.
    pub following: Mutex<Leases>,
}

impl Others {
    /// What another server tells of a run from now on.
    pub fn hear(&self, run: &Arc<str>) -> broadcast::Receiver<Arc<Told>> {
        let mut followed = self.followed();
        followed.retain(|_, tell| tell.receiver_count() > 0);
        let tell = followed.entry(run.clone());
        tell.or_insert_with(|| broadcast::Sender::new(HEARD))
            .subscribe()
    }

    fn told(&self, told: Told) {
        if let Some(tell) = self.followed().get(&told.run) {
            // Whoever followed it may have gone.
            let _ = tell.send(Arc::new(told));
        }
    }

    fn followed(&self) -> MutexGuard<'_, HashMap<Arc<str>, broadcast::Sender<Arc<Told>>>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host {
    /// Whether other servers may share the database.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.store.location(), Location::Database(_))
    }

    /// Says to other servers that this one is there, hears what they say, and ends what they ask to end. To be done before the
    /// first turn; what those drove who are gone is left to them.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn attend(self: &Arc<Self>) -> Result<(), HostError> {
        self.store.heartbeat(self.store.worker()).await?;
        self.beat(false);
        Ok(())
    }

    /// Goes on saying that this worker is there, and takes up what others left, if it is to.
    pub(super) fn beat(self: &Arc<Self>, takes_up: bool) {
        if let Some(signals) = self.store.signals() {
            self.listen(signals, takes_up);
            self.look_for_cancels();
        }
        let (host, left) = (Arc::downgrade(self), self.left.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(HEARTBEAT) => {}
                    () = left.cancelled() => return,
                }
                let Some(host) = host.upgrade() else { return };
                // What fails is tried again with the next beat.
                let _ = host.store.heartbeat(host.store.worker()).await;
                if takes_up {
                    host.take_up_what_is_left().await;
                }
            }
        });
    }

    fn look_for_cancels(self: &Arc<Self>) {
        let (host, left) = (Arc::downgrade(self), self.left.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(LOOK_FOR_CANCELS) => {}
                    () = left.cancelled() => return,
                }
                let Some(host) = host.upgrade() else { return };
                host.end_what_is_to_end().await;
            }
        });
    }

    /// Ends the runs here that somebody asked to end.
    async fn end_what_is_to_end(&self) {
        if self.turns_under_way() == 0 {
            return;
        }
        // What cannot be read now is looked for again.
        let runs = self.store.cancels(self.store.worker()).await;
        for run in runs.unwrap_or_default() {
            if let Some(live) = self.live(&run) {
                live.stop();
            }
        }
    }

    fn listen(self: &Arc<Self>, mut signals: Signals, takes_up: bool) {
        let (host, left) = (Arc::downgrade(self), self.left.clone());
        tokio::spawn(async move {
            loop {
                let signal = tokio::select! {
                    signal = signals.next() => signal,
                    () = left.cancelled() => return,
                };
                let (Some(host), Some(signal)) = (host.upgrade(), signal) else {
                    return;
                };
                host.heard(signal, takes_up).await;
            }
        });
    }

    async fn heard(self: &Arc<Self>, signal: Signal, takes_up: bool) {
        match signal {
            Signal::Cancel { run } => {
                if let Some(live) = self.live(&run) {
                    live.stop();
                }
            }
            Signal::Follow { run, worker, after } => self.follower(run, worker, after),
            Signal::Told(told) => self.others.told(told),
            Signal::Retired if takes_up => self.take_up_what_is_left().await,
            Signal::Retired => {}
            Signal::Missed => self.end_what_is_to_end().await,
        }
    }

    async fn take_up_what_is_left(self: &Arc<Self>) {
        if self.draining.load(Ordering::SeqCst) {
            return;
        }
        if let Ok(runs) = self.claim().await {
            self.take_up_all(runs);
        }
    }

    /// Whether another server drives the run, as far as is known.
    pub(super) fn is_elsewhere(&self, record: &RunRecord) -> bool {
        self.is_shared()
            && record.standing == Standing::Running
            && record.worker.as_ref() != Some(self.store.worker())
    }

    /// Takes a run to drive it, if it is under way and the server that drove it is gone.
    pub(super) async fn take_over(&self, record: &RunRecord) -> Result<bool, HostError> {
        let worker = self.store.worker();
        Ok(self.store.claim_left(&record.id, worker).await?)
    }

    /// Asks the server that drives a run to end it, and waits until it has. True if it ended it; false if the run goes on
    /// or ended otherwise, and it is to be looked at again.
    pub(super) async fn cancel_elsewhere(&self, run: &Arc<str>) -> Result<bool, HostError> {
        self.store.ask_to_cancel(run).await?;
        let deadline = Instant::now() + PATIENCE;
        for looks in 0.. {
            let record = self.record(run).await?;
            if record.standing == Standing::Cancelled {
                return Ok(true);
            }
            if !self.is_elsewhere(&record) || self.take_over_now_and_then(&record, looks).await? {
                return Ok(false);
            }
            if Instant::now() > deadline {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Err(HostError::Elsewhere(run.to_string()))
    }

    async fn take_over_now_and_then(
        &self,
        record: &RunRecord,
        looks: u32,
    ) -> Result<bool, HostError> {
        match looks % LOOKS_FOR_ONE_THAT_IS_GONE {
            0 => self.take_over(record).await,
            _ => Ok(false),
        }
    }

    /// Gives a message its turn where other servers may have one in the same conversation.
    pub(super) async fn say_among_others(
        self: &Arc<Self>,
        message: Message,
        held: Arc<Held>,
    ) -> Result<Arc<Live>, HostError> {
        loop {
            match self.turn_of(&message, held.clone()).await {
                Ok(work) => {
                    let live = self.spawn_turn(work, message.input.clone());
                    // Until its first batch is written, somebody else may be faster.
                    if live.accepted().await || !was_overtaken(&*live.end().await) {
                        return Ok(live);
                    }
                }
                Err(HostError::Elsewhere(_)) => {}
                Err(error) => return Err(error),
            }
            if message.busy == Busy::Refuse {
                return Err(HostError::Busy(message.session.to_string()));
            }
            tokio::time::sleep(LOOK_EVERY).await;
            self.others_are_done(&message.session).await?;
        }
    }

    /// Waits until no other server drives a run in a conversation.
    async fn others_are_done(&self, session: &str) -> Result<(), HostError> {
        loop {
            if self.draining.load(Ordering::SeqCst) {
                return Err(HostError::Stopping);
            }
            let kept = self.store.conversation(session).await?;
            let (conversation, said) =
                kept.ok_or_else(|| HostError::NoSession(session.to_owned()))?;
            let open = self.open_run(&conversation, &said).await?;
            let Some(mut open) = open.filter(|open| self.is_elsewhere(open)) else {
                return Ok(());
            };
            for looks in 0.. {
                if !self.is_elsewhere(&open) || self.draining.load(Ordering::SeqCst) {
                    break;
                }
                if self.take_over_now_and_then(&open, looks).await? {
                    return Ok(());
                }
                tokio::time::sleep(LOOK_EVERY).await;
                open = self.record(&open.id).await?;
            }
        }
    }
}

/// Whether a turn was not begun because somebody else spoke in the conversation, or took the run.
fn was_overtaken(end: &TurnEnd) -> bool {
    matches!(
        end.ending,
        Err(TurnError::Journal(
            JournalError::Overtaken { .. } | JournalError::Taken { .. }
        ))
    )
}
