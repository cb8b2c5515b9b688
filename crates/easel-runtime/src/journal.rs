//! Journals: append-only lists of events, one a run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

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
        events: &'a [Event],
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

/// A journal that lives as long as its process.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    runs: Mutex<HashMap<String, Vec<Event>>>,
}

impl MemoryJournal {
    /// An empty journal.
    pub fn new() -> MemoryJournal {
        MemoryJournal::default()
    }

    /// Forgets a run.
    pub fn forget(&self, run: &str) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.remove(run);
    }
}

impl Journal for MemoryJournal {
    fn append<'a>(
        &'a self,
        run: &'a str,
        from: u64,
        events: &'a [Event],
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match runs.get_mut(run) {
            Some(known) => known,
            None => runs.entry(run.to_owned()).or_default(),
        };
        let there = known.len() as u64;
        let appended = if there == from {
            known.extend_from_slice(events);
            Ok(())
        } else {
            Err(JournalError::Taken {
                run: run.to_owned(),
                from,
                there,
            })
        };
        Box::pin(std::future::ready(appended))
    }

    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let events = runs.get(run).cloned().unwrap_or_default();
        Box::pin(std::future::ready(Ok(events)))
    }
}
