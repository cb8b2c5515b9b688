//! Journals: append-only lists of events, one a run.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_core::event::Event;
use futures::future::BoxFuture;

/// Where the events of runs are kept.
pub trait Journal: Send + Sync {
    /// Adds events behind the first `from` ones of a run. They are safe once the future is done.
    ///
    /// # Errors
    /// [`JournalError`]; then none of them is kept.
    fn append<'a>(
        &'a self,
        run: &'a str,
        from: u64,
        events: Vec<Event>,
    ) -> BoxFuture<'a, Result<(), JournalError>>;

    /// All events of a run, in order; none for a run it does not know.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be read.
    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>>;
}

/// Why a journal failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Somebody else has written behind the same place.
    #[error(
        "the journal of run {run} has {there} events, not {from}: somebody else drives this run"
    )]
    Taken {
        /// The run.
        run: String,
        /// Where the events were to go.
        from: u64,
        /// How many there are.
        there: u64,
    },
    /// The store failed.
    #[error("the journal cannot be reached: {0}")]
    Store(String),
}

/// A journal that lives as long as its process, and keeps the runs that began last.
#[derive(Debug)]
pub struct MemoryJournal {
    kept: usize,
    runs: Mutex<Runs>,
}

/// Runs by id, and the ids in the order in which the runs began.
#[derive(Debug, Default)]
struct Runs {
    events: HashMap<Arc<str>, Vec<Event>>,
    order: VecDeque<Arc<str>>,
}

impl MemoryJournal {
    /// How many runs a journal keeps unless told.
    pub const KEPT: usize = 1_000;

    /// An empty journal that keeps the last [`KEPT`](MemoryJournal::KEPT) runs.
    pub fn new() -> MemoryJournal {
        MemoryJournal::keeping(MemoryJournal::KEPT)
    }

    /// An empty journal that keeps that many runs, at least one. When one more begins, the one that began first is
    /// forgotten; if it is still under way it goes on, and nothing of it is kept.
    pub fn keeping(runs: usize) -> MemoryJournal {
        MemoryJournal {
            kept: runs.max(1),
            runs: Mutex::default(),
        }
    }

    /// Forgets a run.
    pub fn forget(&self, run: &str) {
        let mut runs = self.runs();
        runs.events.remove(run);
        runs.order.retain(|known| **known != *run);
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryJournal {
    fn default() -> MemoryJournal {
        MemoryJournal::new()
    }
}

impl Runs {
    /// Takes in a run that begins, in the place of the oldest one if there are too many.
    fn begin(&mut self, run: &str, events: Vec<Event>, kept: usize) {
        let run: Arc<str> = run.into();
        self.events.insert(run.clone(), events);
        self.order.push_back(run);
        if self.order.len() > kept {
            let oldest = self.order.pop_front();
            oldest.and_then(|oldest| self.events.remove(&oldest));
        }
    }
}

impl Journal for MemoryJournal {
    fn append<'a>(
        &'a self,
        run: &'a str,
        from: u64,
        events: Vec<Event>,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        let mut runs = self.runs();
        let appended = match runs.events.get_mut(run) {
            Some(known) if known.len() as u64 == from => {
                known.extend(events);
                Ok(())
            }
            Some(known) => Err(JournalError::Taken {
                run: run.to_owned(),
                from,
                there: known.len() as u64,
            }),
            None if from == 0 => {
                runs.begin(run, events, self.kept);
                Ok(())
            }
            // It was forgotten.
            None => Ok(()),
        };
        Box::pin(std::future::ready(appended))
    }

    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        let events = self.runs().events.get(run).cloned().unwrap_or_default();
        Box::pin(std::future::ready(Ok(events)))
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;
    use easel_core::event::{Fact, Timestamp};

    fn cancelled() -> Vec<Event> {
        vec![Event::new(Timestamp(0), Fact::Cancelled)]
    }

    #[test]
    fn the_runs_that_began_last_are_kept() {
        let journal = MemoryJournal::keeping(2);
        for run in ["a", "b", "c"] {
            block_on(journal.append(run, 0, cancelled())).unwrap();
        }
        let length = |run| block_on(journal.read(run)).unwrap().len();
        assert_eq!((length("a"), length("b"), length("c")), (0, 1, 1));
        // A run that was forgotten goes on.
        block_on(journal.append("a", 1, cancelled())).unwrap();
        assert_eq!(length("a"), 0);
    }

    #[test]
    fn two_that_drive_one_run_are_told_apart() {
        let journal = MemoryJournal::new();
        block_on(journal.append("a", 0, cancelled())).unwrap();
        block_on(journal.append("a", 1, cancelled())).unwrap();
        let again = block_on(journal.append("a", 1, cancelled()));
        let taken = JournalError::Taken {
            run: "a".into(),
            from: 1,
            there: 2,
        };
        assert_eq!(again, Err(taken));
    }
}
