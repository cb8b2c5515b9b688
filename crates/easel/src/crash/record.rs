//! What the scripted world remembers: a file that survives every kill.
//!
//! Each line is one thing that the world saw. It is written before the run hears of it, so what is in the file happened,
//! and what is not in it did not.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_runtime::ScriptUses;
use easel_runtime::core::event::Ports;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// One attempt of one node, as the world knows it again: by the run's place, the passes around the node, the node and its
/// visit, then by the number of the attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AttemptKey {
    /// The idempotency key, with the run's place (from 1) instead of its id.
    pub key: String,
    /// From 1.
    pub attempt: u32,
}

/// One line of the record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Which process saw it, from 1.
    pub life: u32,
    /// What it saw.
    #[serde(flatten)]
    pub seen: Seen,
}

/// What the world saw.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// A run began to reach outside.
    Run {
        /// Its id.
        id: String,
    },
    /// An attempt began.
    Begin(Begin),
    /// An attempt called a model or a tool.
    Call(Call),
    /// An attempt is done.
    End(End),
}

/// An attempt began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begin {
    /// Whose.
    pub of: AttemptKey,
    /// The node's name.
    pub name: String,
    /// It changes something outside.
    pub writes: bool,
    /// What it changes knows the idempotency key again.
    pub honours: bool,
}

/// A call of a model or a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    /// By which attempt.
    pub of: AttemptKey,
    /// Which of its calls, from 0.
    pub number: u32,
    /// What was called, and with what.
    pub what: Json,
    /// The attempt changes something outside.
    pub writes: bool,
    /// What it changes knows the idempotency key again.
    pub honours: bool,
    /// How often each rule of the script had answered before, and then.
    pub before: ScriptUses,
    /// See above.
    pub after: ScriptUses,
}

/// An attempt is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct End {
    /// Whose.
    pub of: AttemptKey,
    /// What it put out; `None` if it failed.
    pub ports: Option<Ports>,
    /// Why it failed.
    pub fault: Option<String>,
}

/// The record of one world.
pub struct Record {
    life: u32,
    kept: Mutex<Kept>,
}

struct Kept {
    file: File,
    entries: Vec<Entry>,
    /// The places of runs, from 1, in the order in which they first reached outside.
    runs: HashMap<String, usize>,
}

impl Record {
    /// Opens a record; what was seen before is in it.
    pub fn open(path: &Path, life: u32) -> std::io::Result<Record> {
        let entries = read(path)?;
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let mut runs = HashMap::new();
        for entry in &entries {
            if let Seen::Run { id } = &entry.seen {
                let place = runs.len() + 1;
                runs.insert(id.clone(), place);
            }
        }
        let kept = Kept {
            file,
            entries,
            runs,
        };
        Ok(Record {
            life,
            kept: Mutex::new(kept),
        })
    }

    /// Everything that was seen.
    pub fn entries(&self) -> Vec<Entry> {
        self.kept().entries.clone()
    }

    /// The idempotency key of an attempt with the run's place in it instead of its id.
    pub fn key(&self, run: &str, key: &str) -> String {
        let mut kept = self.kept();
        let place = match kept.runs.get(run) {
            Some(place) => *place,
            None => {
                let place = kept.runs.len() + 1;
                kept.runs.insert(run.to_owned(), place);
                kept.write(Entry {
                    life: self.life,
                    seen: Seen::Run { id: run.to_owned() },
                });
                place
            }
        };
        let rest = key.split_once('/').map_or(key, |(_, rest)| rest);
        format!("{place}/{rest}")
    }

    /// Writes down what was seen.
    pub fn saw(&self, seen: Seen) {
        let life = self.life;
        self.kept().write(Entry { life, seen });
    }

    /// The same call in an earlier life.
    pub fn earlier(&self, of: &AttemptKey, number: u32) -> Option<Call> {
        let kept = self.kept();
        kept.entries.iter().find_map(|entry| match &entry.seen {
            Seen::Call(call) if call.of == *of && call.number == number => Some(call.clone()),
            _ => None,
        })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn write(&mut self, entry: Entry) {
        let mut line = serde_json::to_vec(&entry).unwrap_or_default();
        line.push(b'\n');
        // One write, so that a line is there as a whole or not at all.
        if let Err(error) = self.file.write_all(&line) {
            crate::out::tell(&format!(
                "easel: the world's record cannot be written: {error}"
            ));
        }
        self.entries.push(entry);
    }
}

/// Reads a record; one that is not there is empty.
pub fn read(path: &Path) -> std::io::Result<Vec<Entry>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let entries = text.lines().map(serde_json::from_str);
    entries
        .collect::<Result<_, _>>()
        .map_err(std::io::Error::other)
}

/// What one undisturbed run or a killed one did outside.
#[derive(Clone, Debug, Default)]
pub struct History(Arc<Vec<Entry>>);

impl History {
    /// What these entries tell.
    pub fn new(entries: Vec<Entry>) -> History {
        History(Arc::new(entries))
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.0.iter().filter_map(|entry| match &entry.seen {
            Seen::Call(call) => Some(call),
            _ => None,
        })
    }

    /// How an attempt ended, if it did.
    pub fn end(&self, of: &AttemptKey) -> Option<&End> {
        self.0.iter().rev().find_map(|entry| match &entry.seen {
            Seen::End(end) if end.of == *of => Some(end),
            _ => None,
        })
    }

    /// How many calls an attempt made.
    pub fn calls_of(&self, of: &AttemptKey) -> usize {
        let mut numbers: Vec<u32> = self
            .calls()
            .filter(|call| call.of == *of)
            .map(|call| call.number)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len()
    }

    /// What changed outside, a line each, in order of their text. A target that honours keys counts one key once.
    pub fn effects(&self) -> Vec<String> {
        let mut effects = Vec::new();
        let mut honoured = std::collections::HashSet::new();
        let mut called = std::collections::HashSet::new();
        for call in self.calls().filter(|call| call.writes) {
            called.insert(call.of.clone());
            let first = honoured.insert((call.of.clone(), call.number));
            if first || !call.honours {
                let AttemptKey { key, attempt } = &call.of;
                effects.push(format!(
                    "{key} attempt {attempt}.{}: {}",
                    call.number,
                    self.named(&call.what)
                ));
            }
        }
        // What changes something without the script's help, such as a Python function, changed it with its attempt.
        for entry in self.0.iter() {
            let Seen::Begin(begin) = &entry.seen else {
                continue;
            };
            if !begin.writes || called.contains(&begin.of) {
                continue;
            }
            let first = honoured.insert((begin.of.clone(), 0));
            if first || !begin.honours {
                let AttemptKey { key, attempt } = &begin.of;
                effects.push(format!("{key} attempt {attempt}"));
            }
        }
        effects.sort();
        effects
    }

    /// What was called, with the places of runs instead of their ids.
    fn named(&self, what: &Json) -> String {
        let mut text = what.to_string();
        let mut place = 0;
        for entry in self.0.iter() {
            if let Seen::Run { id } = &entry.seen {
                place += 1;
                text = text.replace(id, &format!("run {place}"));
            }
        }
        text
    }

    /// The names of nodes whose attempts a later process made anew, in order.
    pub fn made_again(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (at, entry) in self.0.iter().enumerate() {
            let Seen::Begin(begin) = &entry.seen else {
                continue;
            };
            let before = self.0.iter().take(at);
            let again = before
                .filter(|other| other.life < entry.life)
                .any(|other| matches!(&other.seen, Seen::Begin(other) if other.of == begin.of));
            if again && !names.contains(&begin.name) {
                names.push(begin.name.clone());
            }
        }
        names
    }
}
