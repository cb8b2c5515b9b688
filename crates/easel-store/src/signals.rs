//! What servers that share a PostgreSQL database say to each other: `NOTIFY`, heard with `LISTEN`.
//!
//! A signal saves time and nothing else. It may be lost, so whatever it says is also in a table, where those whom it
//! concerns look now and then.

use std::sync::Arc;
use std::time::Duration;

use easel_runtime::{EventId, Logged};
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgListener, PgNotification, PgPool};

use crate::error::StoreError;
use crate::store::Store;

/// What PostgreSQL takes at most is shorter than 8,000 bytes.
const PAYLOAD: usize = 7_900;

/// What goes into a payload besides events: names, ids, brackets.
const AROUND: usize = 400;

/// How long one who cannot listen waits before it tries again.
const PAUSE: Duration = Duration::from_secs(1);

/// The channel on which all servers listen. Each listens on one of its own, too.
const ALL: &str = "easel";

/// What one server says to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum Signal {
    /// Somebody asked to end this run.
    Cancel {
        /// The run.
        run: Arc<str>,
    },
    /// A worker wants to hear what a run tells, for a while.
    Follow {
        /// The run.
        run: Arc<str>,
        /// Who wants to hear it.
        worker: Arc<str>,
        /// The last event that it knows.
        after: Option<EventId>,
    },
    /// What a run told.
    Told(Told),
    /// A worker has gone: what it drove is for others.
    Retired,
    /// The connection was lost for a moment, and whatever was said meanwhile.
    #[serde(skip)]
    Missed,
}

/// What a run told. Without events: something that is too long for a signal, and is to be read in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The run.
    pub run: Arc<str>,
    /// The event behind which these come, without a gap.
    pub after: Option<EventId>,
    /// The events: their numbers, and what [`Logged::json`] says.
    pub events: Vec<(EventId, Arc<str>)>,
    /// Whether the turn is over.
    pub over: bool,
}

/// The ear of a server.
pub struct Signals {
    pool: PgPool,
    worker: Arc<str>,
    listener: Option<PgListener>,
}

/// The channel of a worker.
fn channel(worker: &str) -> String {
    format!("{ALL}_{worker}")
}

impl Store {
    /// What others say from now on; `None` in a folder, where there are no others.
    pub fn signals(&self) -> Option<Signals> {
        let pool = self.signal_pool()?.clone();
        Some(Signals {
            pool,
            worker: self.worker().clone(),
            listener: None,
        })
    }

    /// Says something to one worker or to all. In a folder nobody hears it.
    ///
    /// # Errors
    /// [`StoreError`] if the database does not take it.
    pub async fn signal(&self, to: Option<&str>, signal: &Signal) -> Result<(), StoreError> {
        let Some(pool) = self.signal_pool() else {
            return Ok(());
        };
        let channel = to.map_or_else(|| ALL.to_owned(), channel);
        let payload = serde_json::to_string(signal).unwrap_or_default();
        let notify = sqlx::query("SELECT pg_notify($1, $2)").bind(channel);
        notify.bind(payload).execute(pool).await?;
        Ok(())
    }

    /// Tells a worker what a run told behind an event, in as many signals as it takes.
    ///
    /// # Errors
    /// As [`Store::signal`].
    pub async fn tell(
        &self,
        to: &str,
        run: &Arc<str>,
        after: Option<EventId>,
        events: &[Logged],
        over: bool,
    ) -> Result<(), StoreError> {
        for told in parts(run, after, events, over) {
            self.signal(Some(to), &Signal::Told(told)).await?;
        }
        Ok(())
    }
}

/// Events in parts that each fit into a signal. One that is too long by itself leaves an empty part in its place.
fn parts(run: &Arc<str>, mut after: Option<EventId>, events: &[Logged], over: bool) -> Vec<Told> {
    let part = |after, events, over| Told {
        run: run.clone(),
        after,
        events,
        over,
    };
    let (mut parts, mut some, mut size) = (Vec::new(), Vec::new(), AROUND);
    let mut last = after;
    for event in events {
        // As text within JSON it gets longer.
        let json = serde_json::to_string(&event.json).map_or(0, |json| json.len());
        let length = json + event.id.to_string().len() + 8;
        if size + length > PAYLOAD && !some.is_empty() {
            parts.push(part(after, std::mem::take(&mut some), false));
            (after, size) = (last, AROUND);
        }
        last = Some(event.id);
        if AROUND + length > PAYLOAD {
            parts.push(part(after, Vec::new(), false));
            after = last;
            continue;
        }
        size += length;
        some.push((event.id, event.json.clone()));
    }
    if over || !some.is_empty() || parts.is_empty() {
        parts.push(part(after, some, over));
    }
    parts
}

impl Signals {
    /// The next signal; `None` once the store is closed. It connects again by itself, and says [`Signal::Missed`] each time
    /// that it did.
    pub async fn next(&mut self) -> Option<Signal> {
        loop {
            let heard = match &mut self.listener {
                Some(listener) => listener.try_recv().await,
                None => match self.listen().await {
                    Ok(listener) => {
                        self.listener = Some(listener);
                        return Some(Signal::Missed);
                    }
                    Err(error) => Err(error),
                },
            };
            match heard {
                Ok(Some(notification)) => {
                    // A later Easel may say what this one does not understand.
                    if let Some(signal) = read(&notification) {
                        return Some(signal);
                    }
                }
                Ok(None) => return Some(Signal::Missed),
                Err(sqlx::Error::PoolClosed) => return None,
                Err(_) => {
                    self.listener = None;
                    if self.pool.is_closed() {
                        return None;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn listen(&self) -> Result<PgListener, sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        let own = channel(&self.worker);
        listener.listen_all([ALL, &own]).await?;
        Ok(listener)
    }
}

fn read(notification: &PgNotification) -> Option<Signal> {
    serde_json::from_str(notification.payload()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(entry: u64, length: usize) -> Logged {
        Logged {
            id: EventId {
                entry,
                ..EventId::default()
            },
            json: "\"".repeat(length).into(),
        }
    }

    fn behind(told: &Told) -> (Option<u64>, Vec<u64>) {
        let events = told.events.iter().map(|(id, _)| id.entry);
        (told.after.map(|id| id.entry), events.collect())
    }

    #[test]
    fn what_was_told_fits_into_signals_and_leaves_no_gap() {
        let events = [
            event(1, 10),
            event(2, 3_500),
            event(3, 3_500),
            event(4, 9_000),
            event(5, 10),
        ];
        let parts = parts(&"run".into(), None, &events, true);
        for told in &parts {
            let payload = serde_json::to_string(&Signal::Told(told.clone())).unwrap();
            assert!(payload.len() < 8_000, "{}", payload.len());
        }
        let parts: Vec<_> = parts.iter().map(behind).collect();
        let expected = [
            (None, vec![1, 2]),
            (Some(2), vec![3]),
            (Some(3), vec![]),
            (Some(4), vec![5]),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn the_end_of_a_turn_is_said_also_without_events() {
        let parts = parts(&"run".into(), None, &[], true);
        assert!(parts.len() == 1 && parts[0].over);
    }

    #[test]
    fn a_signal_is_read_as_it_was_written() {
        let signal = Signal::Follow {
            run: "r".into(),
            worker: "w".into(),
            after: "12.3+57".parse().ok(),
        };
        let text = serde_json::to_string(&signal).unwrap();
        assert_eq!(serde_json::from_str::<Signal>(&text).unwrap(), signal);
        assert!(serde_json::from_str::<Signal>(r#"{"signal":"later"}"#).is_err());
    }
}
