//! Following a run that another server drives: it says what the run tells as it is told, and what did not arrive is read in
//! the journal. The numbers are the same on both ways.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use easel_runtime::{EventId, Logged};
use easel_store::{RunRecord, Signal, Told};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use super::live::Behind;
use super::others::Leases;
use super::{Host, HostError, Live};

/// How long a run is told to a worker that asked for it.
const LEASE: Duration = Duration::from_secs(10);

/// How often it asks again.
const RENEW: Duration = Duration::from_secs(2);

/// How often one who hears nothing looks in the store.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How often the journal is read at most, while what is said leaves a gap.
const GAP: Duration = Duration::from_millis(100);

/// How long events gather before they are said, so that a text in small pieces is not a signal for each.
const GATHER: Duration = Duration::from_millis(20);

/// What a run that another server drives told.
pub(super) struct Following {
    run: Arc<str>,
    heard: Receiver<Arc<Told>>,
    /// Who drives it, and when it was asked last.
    asked: Option<(Arc<str>, Instant)>,
    /// How many entries the journal had when it was read last, and when that was.
    entries: u64,
    looked: Instant,
}

/// What is new of a run.
pub(super) enum News {
    /// Events behind those that are known.
    Events(Vec<Logged>),
    /// Something that is to be read in the journal.
    Journal,
    /// The turn is over there.
    Over,
}

impl Following {
    /// Follows a run from now on; what came before is in the journal.
    pub fn new(host: &Host, record: &RunRecord) -> Following {
        Following {
            run: record.id.clone(),
            heard: host.others.hear(&record.id),
            asked: None,
            entries: record.entries,
            looked: Instant::now(),
        }
    }

    /// What is new behind the last event that is known.
    pub async fn next(&mut self, host: &Host, last: Option<EventId>) -> Result<News, HostError> {
        loop {
            if self
                .asked
                .as_ref()
                .is_none_or(|(_, at)| at.elapsed() > RENEW)
                && !self.ask(host, last).await?
            {
                return Ok(News::Over);
            }
            let heard = tokio::time::timeout(LOOK_EVERY, self.heard.recv()).await;
            let news = match heard {
                Ok(Ok(told)) => self.told(&told, last),
                Ok(Err(RecvError::Lagged(_))) => Some(News::Journal),
                Ok(Err(RecvError::Closed)) => Some(News::Over),
                Err(_) => self.look(host, last).await?,
            };
            match news {
                None => {}
                Some(News::Journal) if self.looked.elapsed() < GAP => {}
                Some(news) => {
                    if matches!(news, News::Journal) {
                        self.looked = Instant::now();
                    }
                    return Ok(news);
                }
            }
        }
    }

    /// Asks whoever drives the run to tell it; false if no other does.
    async fn ask(&mut self, host: &Host, after: Option<EventId>) -> Result<bool, HostError> {
        let record = host.record(&self.run).await?;
        let worker = record.worker.clone();
        let Some(worker) = worker.filter(|_| host.is_elsewhere(&record)) else {
            return Ok(false);
        };
        let follow = Signal::Follow {
            run: self.run.clone(),
            worker: host.store.worker().clone(),
            after,
        };
        // If it does not hear this, the journal says what there is.
        let _ = host.store.signal(Some(&worker), &follow).await;
        self.asked = Some((worker, Instant::now()));
        Ok(true)
    }

    /// What is new in what was heard.
    fn told(&self, told: &Told, last: Option<EventId>) -> Option<News> {
        if told.over {
            // The journal has all of it.
            return Some(News::Over);
        }
        let follows = told.after <= last;
        if !follows || told.events.is_empty() {
            return Some(News::Journal);
        }
        let new = told.events.iter();
        let new = new.filter(|(id, _)| last.is_none_or(|last| *id > last));
        let new = new.map(|(id, json)| Logged {
            id: *id,
            json: json.clone(),
        });
        let new: Vec<Logged> = new.collect();
        (!new.is_empty()).then_some(News::Events(new))
    }

    /// Looks in the store whether something was not heard.
    async fn look(
        &mut self,
        host: &Host,
        last: Option<EventId>,
    ) -> Result<Option<News>, HostError> {
        let record = host.record(&self.run).await?;
        if !host.is_elsewhere(&record) {
            return Ok(Some(News::Over));
        }
        let other = |(worker, _): &(Arc<str>, Instant)| Some(worker) != record.worker.as_ref();
        if self.asked.as_ref().is_some_and(other) {
            self.ask(host, last).await?;
        }
        let grown = record.entries != self.entries;
        self.entries = record.entries;
        Ok(grown.then_some(News::Journal))
    }
}

impl Host {
    /// A worker wants to hear what a run tells. Who drives it no more says nothing: the journal says how it stands.
    pub(super) fn follower(
        self: &Arc<Self>,
        run: Arc<str>,
        worker: Arc<str>,
        after: Option<EventId>,
    ) {
        let Some(live) = self.live(&run) else { return };
        let until = Instant::now() + LEASE;
        if self.leases().insert((run, worker.clone()), until).is_some() {
            // It is told already, and now for longer.
            return;
        }
        let host = self.clone();
        tokio::spawn(async move { host.tell_on(&live, &worker, after).await });
    }

    /// Tells a worker what a run tells, as long as it wants to hear it.
    async fn tell_on(&self, live: &Live, worker: &Arc<str>, after: Option<EventId>) {
        let run = live.run().clone();
        let mut changed = live.changes();
        let (mut at, mut last) = live.place_behind(after);
        if last != after {
            // What is between them is in the journal.
            let _ = self.store.tell(worker, &run, last, &[], false).await;
        }
        loop {
            changed.borrow_and_update();
            let Behind {
                events,
                before,
                over,
            } = live.behind(&mut at, last);
            let end = events.last().map(|event| event.id);
            if !events.is_empty() || over {
                let told = self.store.tell(worker, &run, before, &events, over);
                if told.await.is_err() || over {
                    break;
                }
            }
            last = end.or(last);
            let _ = tokio::time::timeout(LEASE, changed.changed()).await;
            tokio::time::sleep(GATHER).await;
            if !self.is_leased(&run, worker) {
                return;
            }
        }
        self.leases().remove(&(run, worker.clone()));
    }

    /// Whether a worker still wants to hear of a run; forgotten if it does not.
    fn is_leased(&self, run: &Arc<str>, worker: &Arc<str>) -> bool {
        let mut leases = self.leases();
        let key = (run.clone(), worker.clone());
        let leased = leases
            .get(&key)
            .is_some_and(|until| *until > Instant::now());
        if !leased {
            leases.remove(&key);
        }
        leased
    }

    fn leases(&self) -> MutexGuard<'_, Leases> {
        let leases = self.others.following.lock();
        leases.unwrap_or_else(PoisonError::into_inner)
    }
}
