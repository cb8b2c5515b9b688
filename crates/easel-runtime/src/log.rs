//! The whole of what people saw of a run, read back from its journal.

use std::sync::Arc;

use easel_components::HistoryEntry;
use easel_core::Machine;
use easel_core::event::Event;

use crate::event::{EventId, RunEvent};
use crate::journal::Note;
use crate::projection::{Projection, Seen};
use crate::recovery::restore_history;
use crate::workflow::Workflow;

/// One event of a run as it is written: for logs, streams and files.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// Its number.
    pub id: EventId,
    /// The event as one line of JSON: `{"event", "data"}`.
    pub json: Arc<str>,
}

impl Logged {
    /// An event as it is written.
    pub fn of(event: &RunEvent) -> Logged {
        Note::of(event).into()
    }

    /// The name of the event.
    pub fn name(&self) -> &str {
        let rest = self.json.strip_prefix(NAME).unwrap_or_default();
        rest.split_once('"').map_or("", |(name, _)| name)
    }

    /// The `data` of the event, as JSON.
    pub fn data(&self) -> &str {
        let rest = self.json.get(NAME.len() + self.name().len()..);
        let data = rest.and_then(|rest| rest.strip_prefix(DATA));
        data.and_then(|data| data.strip_suffix('}')).unwrap_or("{}")
    }
}

/// How every event begins, and what stands between its name and its data.
const NAME: &str = "{\"event\":\"";
const DATA: &str = "\",\"data\":";

impl From<Note> for Logged {
    fn from(note: Note) -> Logged {
        let Note { id, json } = note;
        Logged { id, json }
    }
}

/// Rebuilds what people saw of a run. Each message stands as a whole where it ended; `said` is the conversation that the
/// run belongs to, as far as it is kept.
pub fn log(
    workflow: &Arc<Workflow>,
    mut journal: Vec<Event>,
    notes: Vec<Note>,
    said: &[HistoryEntry],
) -> Vec<Logged> {
    restore_history(&mut journal, said);
    let mut log = Vec::new();
    Projection::replay(workflow, &journal, &notes, &mut |seen| {
        log.push(match seen {
            Seen::Event(event) => Logged::of(&event),
            Seen::Note(note) => note.clone().into(),
        });
    });
    log
}

/// A run as it was when its journal had that many entries, and no more; `None` if it had not begun.
pub fn state_at(
    workflow: &Arc<Workflow>,
    mut journal: Vec<Event>,
    said: &[HistoryEntry],
    entries: usize,
) -> Option<Machine> {
    journal.truncate(entries);
    restore_history(&mut journal, said);
    Projection::replay(workflow, &journal, &[], &mut |_| {}).map(|(machine, _)| machine)
}
