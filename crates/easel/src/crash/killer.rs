//! Where a process dies: a journal that counts its commits, and stops the process at one of them.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use easel_runtime::core::event::Event;
use easel_runtime::{Batch, Journal, JournalError};
use easel_store::Store;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// What the process says when it has stopped and is to be killed.
pub const HERE: &str = "here";

/// A moment at which a process can die.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Right after a commit.
    Committed {
        /// The run.
        run: Arc<str>,
        /// How many entries its journal had before, and then.
        from: u64,
        /// See above.
        to: u64,
    },
    /// Right before a commit: what happened is lost.
    Lost {
        /// The run.
        run: Arc<str>,
        /// How many entries its journal had before, and would have had then.
        from: u64,
        /// See above.
        to: u64,
    },
    /// In the midst of an attempt: the world was asked, and its answer is lost.
    Called {
        /// The name of the node.
        name: String,
    },
}

/// Counts the moments at which a process can die, and stops it at one.
pub struct Killer {
    every_event: bool,
    die_at: Option<u64>,
    count: AtomicU64,
    moments: Mutex<Vec<Moment>>,
}

impl Killer {
    /// Dies at that moment, counted from 1; `None`: never. Commits are moments; with `every_event` also what is lost before
    /// one, and each answer of the world.
    pub fn new(every_event: bool, die_at: Option<u64>) -> Arc<Killer> {
        Arc::new(Killer {
            every_event,
            die_at,
            count: AtomicU64::new(0),
            moments: Mutex::default(),
        })
    }

    /// The moments that came.
    pub fn moments(&self) -> Vec<Moment> {
        let moments = self.moments.lock();
        moments.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The world was asked by that node.
    pub fn called(&self, name: &str) {
        if self.every_event {
            self.at(Moment::Called {
                name: name.to_owned(),
            });
        }
    }

    fn at(&self, moment: Moment) {
        let number = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        self.moments
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(moment);
        if self.die_at == Some(number) {
            let mut out = std::io::stdout().lock();
            // If nobody listens, nobody kills: then there is nothing to wait for.
            if writeln!(out, "{HERE}").and_then(|()| out.flush()).is_err() {
                std::process::abort();
            }
            loop {
                // All that drives the run is on this thread, so nothing more of it happens.
                std::thread::park();
            }
        }
    }
}

/// A store's journal that dies where it is told to.
pub struct DyingJournal {
    /// The store.
    pub store: Store,
    /// Where it dies.
    pub killer: Arc<Killer>,
}

impl Journal for DyingJournal {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move {
            let (run, from) = (batch.run.clone(), batch.from);
            let to = from + batch.events.len() as u64;
            if self.killer.every_event {
                let run = run.clone();
                self.killer.at(Moment::Lost { run, from, to });
            }
            self.store.append(batch).await?;
            self.killer.at(Moment::Committed { run, from, to });
            Ok(())
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        self.store.read(run)
    }
}
