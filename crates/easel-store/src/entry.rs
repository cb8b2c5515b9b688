//! Batches, ready to be written: as rows, with their big values taken out.

use std::sync::Arc;

use easel_core::Value;
use easel_core::event::{Event, Fact, Usage};
use easel_runtime::{Batch, EventId, JournalError, Origin, Standing};

use crate::runs::summary;
use crate::sql::Bound;
use crate::store::now;
use crate::values::{Keeper, Packed, to_json};

/// Above this size a batch is made ready where it keeps nobody else from working.
const HEAVY: usize = 256 * 1024;

/// Whether making it ready takes long: an estimate from the texts that are easy to reach.
pub(crate) fn is_heavy(batch: &Batch) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.len() * 64,
        Value::Object(members) => members.len() * 64,
        _ => 0,
    };
    let event = |event: &Event| match &event.fact {
        Fact::Completed { completion, .. } => completion.ports.iter().map(|(_, v)| text(v)).sum(),
        Fact::Started(start) => {
            start.variables.values().map(text).sum::<usize>() + text(&start.context)
        }
        _ => 0,
    };
    batch.events.iter().map(event).sum::<usize>() > HEAVY
}

/// A batch, ready to be written.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) run: Arc<str>,
    pub(crate) from: u64,
    pub(crate) count: u64,
    pub(crate) body: String,
    pub(crate) origin: Option<Arc<Origin>>,
    pub(crate) state: &'static str,
    standing: String,
    summary: String,
    pub(crate) usage: Usage,
    pub(crate) notes: Vec<(EventId, String)>,
    pub(crate) receipt: Option<String>,
    pub(crate) change: Option<Change>,
    pub(crate) held: Vec<Packed>,
    /// When the first and the last of its events happened; now, if there are none.
    began: i64,
    at: i64,
}

/// What changes in a conversation, ready to be written.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) session: Arc<str>,
    pub(crate) from: u64,
    pub(crate) said: Vec<String>,
    pub(crate) said_held: Vec<Packed>,
    pub(crate) after: Option<(String, u32)>,
    pub(crate) after_held: Vec<Packed>,
    /// What the session's last error is now, if that is known.
    pub(crate) errors: Option<String>,
}

/// What is known of a run that is under way, so that its next batch need not ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) number: i64,
    pub(crate) length: u64,
    pub(crate) state: &'static str,
    pub(crate) usage: Usage,
}

impl Entry {
    pub(crate) fn new(batch: Batch) -> Entry {
        let mut keeper = Keeper::default();
        let mut body = String::new();
        let time = |event: Option<&Event>| event.map_or_else(now, |event| event.at.0);
        let (began, at) = (time(batch.events.first()), time(batch.events.last()));
        for event in &batch.events {
            if !body.is_empty() {
                body.push('\n');
            }
            body.push_str(&keeper.shorten(to_json(event)));
        }
        let notes = batch.notes.iter();
        let notes = notes.map(|note| (note.id, keeper.shorten(note.json.to_string())));
        let notes = notes.collect();
        let standing = keeper.shorten(to_json(&batch.standing));
        let errors = match &batch.standing {
            Standing::Failed { fault, .. } => Some(fault.message.to_string()),
            Standing::Finished { .. } => Some(String::new()),
            _ => None,
        };
        let change = batch.conversation.map(|change| {
            let (mut for_said, mut for_after) = (Keeper::default(), Keeper::default());
            let said = change
                .said
                .iter()
                .map(|said| for_said.shorten(to_json(said)));
            let after = change.after.as_ref();
            Change {
                session: change.session.clone(),
                from: change.from,
                said: said.collect(),
                said_held: for_said.into_held(),
                after: after.map(|after| (for_after.shorten(to_json(after)), after.turns)),
                after_held: for_after.into_held(),
                errors,
            }
        });
        Entry {
            run: batch.run,
            from: batch.from,
            count: batch.events.len() as u64,
            body,
            origin: batch.origin,
            state: batch.standing.name(),
            standing,
            summary: summary(&batch.standing),
            usage: batch.usage,
            notes,
            receipt: batch.receipt.as_ref().map(to_json),
            change,
            held: keeper.into_held(),
            began,
            at,
        }
    }

    /// What is known of the run once this is written.
    pub(crate) fn known(&self, number: i64) -> Known {
        Known {
            number,
            length: self.from + self.count,
            state: self.state,
            usage: self.usage,
        }
    }

    pub(crate) fn taken(&self, there: u64) -> JournalError {
        JournalError::Taken {
            run: self.run.to_string(),
            from: self.from,
            there,
        }
    }

    /// The row of a run that begins, up to `worker`.
    pub(crate) fn run_row(&self, worker: &str) -> [Bound; 20] {
        let origin = self.origin.clone().unwrap_or_default();
        [
            Bound::from(&self.run),
            Bound::from(&origin.document),
            Bound::from(&origin.agent),
            Bound::from(&origin.version),
            Bound::from(origin.session.as_deref()),
            Bound::from(&origin.owner),
            Bound::from(&origin.user),
            Bound::from(&origin.key),
            Bound::from(&origin.trigger),
            Bound::from(&origin.traceparent),
            Bound::from(self.state),
            Bound::from(&self.standing),
            Bound::from(&self.summary),
            Bound::from(self.usage.prompt_tokens),
            Bound::from(self.usage.completion_tokens),
            Bound::from(self.usage.total_tokens),
            Bound::from(self.usage.calls),
            Bound::from(self.began),
            Bound::from(self.at),
            Bound::from(self.driven_by(worker)),
        ]
    }

    /// What of the run's row changes with a batch, behind its number.
    pub(crate) fn standing_row(&self, number: i64, worker: &str) -> [Bound; 10] {
        [
            Bound::from(number),
            Bound::from(self.state),
            Bound::from(&self.standing),
            Bound::from(&self.summary),
            Bound::from(self.usage.prompt_tokens),
            Bound::from(self.usage.completion_tokens),
            Bound::from(self.usage.total_tokens),
            Bound::from(self.usage.calls),
            Bound::from(self.at),
            Bound::from(self.driven_by(worker)),
        ]
    }

    /// A run belongs to a worker as long as something is under way.
    fn driven_by(&self, worker: &str) -> Option<String> {
        (self.state == "running").then(|| worker.to_owned())
    }
}
