//! A turn that is under way: what it has told so far, for any number of readers, and the way to stop it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_runtime::{Ending, EventId, Logged, Origin, RunEvent, Session, Standing, TurnError};
use easel_store::RunRecord;
use tokio::sync::watch;

use super::following::{Following, News};
use super::{Host, HostError};

/// Bytes of events that a turn keeps in memory. A reader that is further behind gets them from the journal.
const KEPT_BYTES: usize = 4 << 20;

/// A turn under way.
pub struct Live {
    run: Arc<str>,
    session: Option<Arc<str>>,
    told: Mutex<Told>,
    /// How many events were told; changes once more at the end.
    changed: watch::Sender<u64>,
    stop: watch::Sender<bool>,
}

/// What was told.
#[derive(Default)]
struct Told {
    /// How many events were dropped before the first that is kept, and where the turn began.
    dropped: usize,
    first: Option<EventId>,
    events: VecDeque<Logged>,
    bytes: usize,
    /// How many events may be dropped: those up to the last one that was told while no message was open. The pieces of an
    /// open message are nowhere else.
    safe: usize,
    end: Option<Arc<TurnEnd>>,
}

/// What a turn told behind a place.
pub(super) struct Behind {
    pub events: Vec<Logged>,
    /// The event behind which they come.
    pub before: Option<EventId>,
    /// Whether the turn is over, and these are the last.
    pub over: bool,
}

/// How a turn ended.
#[derive(Debug)]
pub struct TurnEnd {
    /// How, or why it could not be made.
    pub ending: Result<Ending, TurnError>,
    /// Where the run stands.
    pub standing: Standing,
    /// Tokens of the run so far.
    pub usage: easel_runtime::core::event::Usage,
    /// The record of the run as the turn left it, if this turn began it and the store has it.
    pub record: Option<RunRecord>,
}

impl TurnEnd {
    /// `began` is the origin of a run that the turn began.
    pub(super) fn of(
        session: &Session,
        began: Option<&Origin>,
        ending: Result<Ending, TurnError>,
    ) -> TurnEnd {
        let (standing, usage) = (session.standing(), session.usage());
        let record = match (&ending, began, session.extent(), session.run()) {
            (Ok(_), Some(origin), Some((entries, created, updated)), Some(run)) => {
                Some(RunRecord {
                    id: run.clone(),
                    origin: origin.clone(),
                    standing: standing.clone(),
                    usage,
                    entries,
                    created: created.0,
                    updated: updated.0,
                    worker: None,
                })
            }
            _ => None,
        };
        TurnEnd {
            ending,
            standing,
            usage,
            record,
        }
    }
}

impl Live {
    pub(super) fn new(run: Arc<str>, session: Option<Arc<str>>) -> Arc<Live> {
        Arc::new(Live {
            run,
            session,
            told: Mutex::default(),
            changed: watch::Sender::new(0),
            stop: watch::Sender::new(false),
        })
    }

    /// The run's id.
    pub fn run(&self) -> &Arc<str> {
        &self.run
    }

    /// The conversation, if it belongs to one.
    pub fn session(&self) -> Option<&Arc<str>> {
        self.session.as_ref()
    }

    pub(super) fn tell(&self, event: &RunEvent) {
        let logged = Logged::of(event);
        {
            let mut told = self.told();
            told.first.get_or_insert(logged.id);
            told.bytes += logged.json.len();
            let closed = logged.id.shown == 0;
            told.events.push_back(logged);
            if closed {
                told.safe = told.dropped + told.events.len();
            }
            while told.bytes > KEPT_BYTES && told.dropped < told.safe {
                let oldest = told.events.pop_front();
                told.bytes -= oldest.map_or(0, |oldest| oldest.json.len());
                told.dropped += 1;
            }
        }
        self.changed.send_modify(|count| *count += 1);
    }

    pub(super) fn over(&self, end: TurnEnd) {
        self.told().end = Some(Arc::new(end));
        self.changed.send_modify(|count| *count += 1);
    }

    /// Ends the run as cancelled.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    pub(super) fn stopped(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stop = self.stop.subscribe();
        async move {
            if stop.wait_for(|stop| *stop).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// True once the journal has the turn's beginning.
    pub fn is_accepted(&self) -> bool {
        self.told().first.is_some()
    }

    /// Waits until the journal has what began the turn, so that it will be answered whatever happens. False if the turn
    /// ended before that: [`Live::end`] says why.
    pub async fn accepted(&self) -> bool {
        let mut changed = self.changed.subscribe();
        loop {
            {
                let told = self.told();
                if told.first.is_some() || told.end.is_some() {
                    return told.first.is_some();
                }
            }
            if changed.changed().await.is_err() {
                return false;
            }
        }
    }

    /// Waits for the end of the turn.
    pub async fn end(&self) -> Arc<TurnEnd> {
        let mut changed = self.changed.subscribe();
        loop {
            if let Some(end) = self.told().end.clone() {
                return end;
            }
            // The sender lives as long as this.
            let _ = changed.changed().await;
        }
    }

    /// Changes with each event, and once more at the end.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The place behind an event that somebody knows, and that event; if it is not known here that nothing is between,
    /// the place behind all that was told, and the last event of it.
    pub(super) fn place_behind(&self, after: Option<EventId>) -> (usize, Option<EventId>) {
        let told = self.told();
        let known = |event: &Logged| after.is_some_and(|after| event.id <= after);
        let seen = told.events.iter().take_while(|event| known(event)).count();
        if seen > 0 || (after.is_none() && told.dropped == 0) {
            return (told.dropped + seen, after);
        }
        let last = told.events.back().map(|last| last.id);
        (told.dropped + told.events.len(), last)
    }

    /// What was told behind a place, which then is the end. `last` is the event before that place.
    pub(super) fn behind(&self, at: &mut usize, last: Option<EventId>) -> Behind {
        let told = self.told();
        let first = told.events.front().map(|first| first.id);
        // What was dropped is in the journal, so there is a gap before the first that is kept.
        let before = if *at < told.dropped { first } else { last };
        let events = told.events.range(at.saturating_sub(told.dropped)..);
        let events = events.cloned().collect();
        *at = told.dropped + told.events.len();
        Behind {
            events,
            before,
            over: told.end.is_some(),
        }
    }

    /// The number of the turn's first event.
    pub(super) fn began_at(&self) -> Option<EventId> {
        self.told().first
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events of a run, one after the other: those that are past, then those of the turn under way until it ends.
pub struct Events {
    host: Arc<Host>,
    run: Arc<str>,
    past: VecDeque<Logged>,
    live: Option<(Arc<Live>, usize, watch::Receiver<u64>)>,
    /// If another server drives the run.
    following: Option<Following>,
    /// The last event that was given.
    last: Option<EventId>,
}

impl Events {
    pub(super) fn new(
        host: Arc<Host>,
        run: Arc<str>,
        past: Vec<Logged>,
        live: Option<Arc<Live>>,
        last: Option<EventId>,
    ) -> Events {
        let live = live.map(|live| {
            let changed = live.changed.subscribe();
            (live, 0, changed)
        });
        Events {
            host,
            run,
            past: past.into(),
            live,
            following: None,
            last,
        }
    }

    /// The same of a run that another server drives.
    pub(super) fn following(self, following: Option<Following>) -> Events {
        Events { following, ..self }
    }

    /// The events of a turn from its beginning.
    pub fn of(host: Arc<Host>, live: Arc<Live>) -> Events {
        Events::new(host, live.run.clone(), Vec::new(), Some(live), None)
    }

    /// How the turn under way ended, once [`Events::next`] has given its last event.
    pub async fn end(&self) -> Option<Arc<TurnEnd>> {
        match &self.live {
            Some((live, ..)) => Some(live.end().await),
            None => None,
        }
    }

    /// The next event; `None` once the turn is over.
    ///
    /// # Errors
    /// What the reader missed cannot be read from the store.
    pub async fn next(&mut self) -> Result<Option<Logged>, HostError> {
        loop {
            if let Some(past) = self.past.pop_front() {
                self.last = Some(past.id);
                return Ok(Some(past));
            }
            let Some((live, at, changed)) = &mut self.live else {
                match self.follow().await? {
                    true => continue,
                    false => return Ok(None),
                }
            };
            changed.borrow_and_update();
            let missed = {
                let told = live.told();
                if *at < told.dropped {
                    // Too slow: what was dropped is in the journal.
                    *at = told.dropped;
                    true
                } else if let Some(event) = told.events.get(*at - told.dropped) {
                    *at += 1;
                    let seen = self.last.is_some_and(|last| event.id <= last);
                    if !seen {
                        self.last = Some(event.id);
                        return Ok(Some(event.clone()));
                    }
                    continue;
                } else if told.end.is_some() {
                    return Ok(None);
                } else {
                    false
                }
            };
            if missed {
                let first = live.told().events.front().map(|event| event.id);
                let past = self.host.log(&self.run, self.last).await?;
                let before = |logged: &Logged| first.is_none_or(|first| logged.id < first);
                self.past.extend(past.into_iter().filter(before));
                continue;
            }
            if changed.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// Waits for what another server tells; false if there is no more.
    async fn follow(&mut self) -> Result<bool, HostError> {
        let Some(following) = &mut self.following else {
            return Ok(false);
        };
        let last = self.last;
        match following.next(&self.host, last).await? {
            News::Events(events) => self.past.extend(events),
            News::Journal => {
                let told = self.host.told_elsewhere(&self.run, last).await?;
                self.past.extend(told);
            }
            News::Over => {
                self.following = None;
                // How it stands now is how it stays, as far as that turn goes.
                self.past.extend(self.host.log(&self.run, last).await?);
            }
        }
        Ok(true)
    }
}
