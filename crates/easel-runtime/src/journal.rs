//! Journals: append-only lists of events, one a run.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_components::HistoryEntry;
use easel_core::event::{Event, Fault, Timestamp, Usage};
use easel_core::{Object, Value};
use easel_secrets::Receipt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::event::{EventId, RunEvent};

/// Where the events of runs are kept.
pub trait Journal: Send + Sync {
    /// Commits all of a batch or nothing of it. It is safe once the future is done.
    ///
    /// # Errors
    /// [`JournalError`]; then nothing of it is kept.
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), JournalError>>;

    /// All events of a run, in order; none for a run it does not know.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be read.
    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>>;
}

/// What is committed together: events, and what follows from them for those who look at the run from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The run.
    pub run: Arc<str>,
    /// How many events it had before.
    pub from: u64,
    /// The events behind those; may be empty.
    pub events: Vec<Event>,
    /// With the first batch of a run: where it came from.
    pub origin: Option<Arc<Origin>>,
    /// Where the run stands after this batch.
    pub standing: Standing,
    /// Tokens of the run so far.
    pub usage: Usage,
    /// What people saw since the last batch that cannot be computed from the events.
    pub notes: Vec<Note>,
    /// What the run did with secrets since the last batch; its counters are to be added up.
    pub receipt: Option<Receipt>,
    /// What changed in the conversation that the run belongs to.
    pub conversation: Option<ConversationChange>,
}

impl Batch {
    /// Events of a run and nothing else.
    pub fn new(run: impl Into<Arc<str>>, from: u64, events: Vec<Event>) -> Batch {
        Batch {
            run: run.into(),
            from,
            events,
            origin: None,
            standing: Standing::Running,
            usage: Usage::default(),
            notes: Vec::new(),
            receipt: None,
            conversation: None,
        }
    }
}

/// Where a run came from: fixed at its start, in the record, and never in the workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The hash of the text that the workflow was compiled from.
    pub document: Arc<str>,
    /// The agent or the graph it is a run of; the path of a file that is run at the command line.
    pub agent: Arc<str>,
    /// The version of the agent; blank for a draft or a file.
    pub version: Arc<str>,
    /// The conversation; `None` if the run belongs to none.
    pub session: Option<Arc<str>>,
    /// Who owns the run: the owner of the key it was started with.
    pub owner: Arc<str>,
    /// The user on whose behalf it runs, as the client names them.
    pub user: Arc<str>,
    /// The id of the API key; blank without one.
    pub key: Arc<str>,
    /// What started it: `chat`, `api`, `webhook`, `mcp`, `openai`, `debug`, `cli`.
    pub trigger: Arc<str>,
    /// The W3C trace context that the request came with; blank if none.
    pub traceparent: Arc<str>,
}

/// Where a run stands, as people ask for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// Something is under way, or was when its process ended.
    #[default]
    Running,
    /// It waits for answers.
    Waiting {
        /// The open fields by key.
        fields: Object,
        /// The text that goes with them.
        tips: Arc<str>,
    },
    /// Nobody knows whether a write reached the outside: somebody must decide.
    Uncertain {
        /// The writes.
        writes: Vec<UncertainWrite>,
    },
    /// Everything that could run did.
    Finished {
        /// What it gave out.
        outputs: Object,
    },
    /// A failure nobody handled.
    Failed {
        /// The id of the node that failed first.
        node: Option<Arc<str>>,
        /// Why.
        fault: Fault,
    },
    /// Somebody ended it.
    Cancelled,
}

impl Standing {
    /// The word for it: `running`, `waiting`, `uncertain`, `finished`, `failed`, `cancelled`.
    pub fn name(&self) -> &'static str {
        match self {
            Standing::Running => "running",
            Standing::Waiting { .. } => "waiting",
            Standing::Uncertain { .. } => "uncertain",
            Standing::Finished { .. } => "finished",
            Standing::Failed { .. } => "failed",
            Standing::Cancelled => "cancelled",
        }
    }

    /// True if nothing will happen any more.
    pub fn is_over(&self) -> bool {
        matches!(
            self,
            Standing::Finished { .. } | Standing::Failed { .. } | Standing::Cancelled
        )
    }
}

/// A write that was under way when its process ended, and whose target does not know it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UncertainWrite {
    /// Which of the run's firings; by it the decision names it.
    pub activation: u64,
    /// The id of the node.
    pub node: Arc<str>,
    /// The name that people read.
    pub name: Arc<str>,
    /// The idempotency key that it carried.
    pub key: Arc<str>,
    /// When the attempt began.
    pub since: Timestamp,
    /// What is to be decided, for people.
    pub question: Arc<str>,
}

/// An event that people saw and that does not follow from the journal: a warning, a call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its number.
    pub id: EventId,
    /// The event as JSON, as [`RunEvent::write_json`] gives it.
    pub json: Arc<str>,
}

impl Note {
    /// An event as a note of the record.
    pub fn of(event: &RunEvent) -> Note {
        let mut json = Vec::new();
        event.write_json(&mut json);
        Note {
            id: event.id,
            json: String::from_utf8_lossy(&json).into(),
        }
    }
}

/// What changes in a conversation with one batch.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationChange {
    /// The conversation.
    pub session: Arc<str>,
    /// How many entries it had before; if it has others by now, somebody else spoke in it, and the batch is refused.
    pub from: u64,
    /// What was said.
    pub said: Vec<Said>,
    /// What lasts of it from here on; `None` leaves it as it was.
    pub after: Option<Conversation>,
}

/// One entry of a conversation, with what a record of it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Who said what.
    pub entry: HistoryEntry,
    /// The run in which it was said.
    pub run: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// Uploaded files that came with it, as descriptors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Value>,
    /// What it can cite: `{chunks, doc_aggs}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Value>,
}

/// What lasts of a conversation from one turn to the next, beside what was said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conversation {
    /// The variables by name; `sys.history` is not among them, as it follows from what was said.
    pub variables: Object,
    /// Summaries of tool calls.
    pub memory: Vec<Value>,
    /// Begin's last inputs.
    pub kept_inputs: Object,
    /// Turns so far.
    pub turns: u32,
    /// The run that is under way or waits.
    pub run: Option<Arc<str>>,
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
    /// Somebody else has spoken in the conversation.
    #[error(
        "the conversation {session} has {there} entries, not {from}: somebody else speaks in it"
    )]
    Overtaken {
        /// The conversation.
        session: String,
        /// Where the entries were to go.
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
    fn begin(&mut self, run: Arc<str>, events: Vec<Event>, kept: usize) {
        self.events.insert(run.clone(), events);
        self.order.push_back(run);
        if self.order.len() > kept {
            let oldest = self.order.pop_front();
            oldest.and_then(|oldest| self.events.remove(&oldest));
        }
    }
}

impl Journal for MemoryJournal {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), JournalError>> {
        let Batch {
            run, from, events, ..
        } = batch;
        let mut runs = self.runs();
        let appended = match runs.events.get_mut(&run) {
            Some(known) if known.len() as u64 == from => {
                known.extend(events);
                Ok(())
            }
            Some(known) => Err(JournalError::Taken {
                run: run.to_string(),
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
            block_on(journal.append(Batch::new(run, 0, cancelled()))).unwrap();
        }
        let length = |run| block_on(journal.read(run)).unwrap().len();
        assert_eq!((length("a"), length("b"), length("c")), (0, 1, 1));
        // A run that was forgotten goes on.
        block_on(journal.append(Batch::new("a", 1, cancelled()))).unwrap();
        assert_eq!(length("a"), 0);
    }

    #[test]
    fn two_that_drive_one_run_are_told_apart() {
        let journal = MemoryJournal::new();
        block_on(journal.append(Batch::new("a", 0, cancelled()))).unwrap();
        block_on(journal.append(Batch::new("a", 1, cancelled()))).unwrap();
        let again = block_on(journal.append(Batch::new("a", 1, cancelled())));
        let taken = JournalError::Taken {
            run: "a".into(),
            from: 1,
            there: 2,
        };
        assert_eq!(again, Err(taken));
    }
}
