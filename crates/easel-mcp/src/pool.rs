//! Connections that are kept, each for one conversation and one set of values.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use easel_tools::ToolError;
use easel_tools::mcp::{McpReach, McpVisit};
use tokio::time::Instant;

use crate::connection::Connection;
use crate::trouble;

/// Connections that are kept at once.
const MOST: usize = 256;

/// How long a connection is kept that nobody uses.
const IDLE: Duration = Duration::from_secs(120);

/// All connections.
#[derive(Default)]
pub(crate) struct Pool {
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    by_key: HashMap<Key, Arc<Slot>>,
    /// Whether somebody looks for connections that nobody uses.
    swept: bool,
}

/// What two visits must have in common to share a connection.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    server: Arc<str>,
    /// Where it is: a workflow calls its own servers as it likes.
    place: String,
    values: Vec<(Arc<str>, String)>,
    /// Blank for a server that conversations share.
    conversation: Arc<str>,
}

impl Key {
    fn of(visit: &McpVisit) -> Key {
        let values = visit.values.iter();
        Key {
            server: visit.server.name.clone(),
            place: place(&visit.server.reach),
            values: values
                .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                .collect(),
            conversation: match visit.server.shared {
                true => "".into(),
                false => visit.conversation.clone(),
            },
        }
    }
}

fn place(reach: &McpReach) -> String {
    match reach {
        McpReach::Program { command, .. } => format!("program {command}"),
        McpReach::Http { url, trusted, .. } => format!("trusted: {trusted} {url}"),
    }
}

/// A place for one connection.
pub(crate) struct Slot {
    connection: tokio::sync::Mutex<Option<Arc<Connection>>>,
    used: Mutex<Instant>,
}

impl Slot {
    fn new() -> Slot {
        Slot {
            connection: tokio::sync::Mutex::default(),
            used: Mutex::new(Instant::now()),
        }
    }

    /// The connection, and whether it was made just now.
    ///
    /// Errors: none comes about.
    pub async fn connection(
        &self,
        open: impl AsyncFnOnce() -> Result<Connection, ToolError>,
    ) -> Result<(Arc<Connection>, bool), ToolError> {
        let mut kept = self.connection.lock().await;
        if let Some(connection) = kept.as_ref().filter(|connection| !connection.is_over()) {
            return Ok((connection.clone(), false));
        }
        let made = Arc::new(open().await?);
        *kept = Some(made.clone());
        Ok((made, true))
    }

    /// Forgets a connection that is over.
    pub async fn let_go_of(&self, connection: &Arc<Connection>) {
        let mut kept = self.connection.lock().await;
        if kept
            .as_ref()
            .is_some_and(|kept| Arc::ptr_eq(kept, connection))
        {
            *kept = None;
        }
    }

    /// Whether nobody has it in hand, and since when.
    fn idle_since(self: &Arc<Slot>) -> Option<Instant> {
        let kept = self.connection.try_lock().ok()?;
        let in_hand = kept.as_ref().is_some_and(|c| Arc::strong_count(c) > 1);
        (Arc::strong_count(self) == 1 && !in_hand).then(|| *locked(&self.used))
    }
}

impl Pool {
    /// The place of a visit's connection.
    ///
    /// Errors: there are too many, all in use.
    pub fn slot(self: &Arc<Pool>, visit: &McpVisit) -> Result<Arc<Slot>, ToolError> {
        let key = Key::of(visit);
        let mut slots = locked(&self.slots);
        if !slots.by_key.contains_key(&key) && slots.by_key.len() >= MOST {
            let idle = slots.by_key.iter();
            let idle = idle.filter_map(|(key, slot)| Some((slot.idle_since()?, key)));
            let longest = idle.min_by_key(|(since, _)| *since);
            let longest = longest.map(|(_, key)| key.clone());
            let longest = longest.ok_or_else(|| trouble::too_many(&visit.server, MOST))?;
            slots.by_key.remove(&longest);
        }
        let slot = slots.by_key.entry(key);
        let slot = slot.or_insert_with(|| Arc::new(Slot::new())).clone();
        *locked(&slot.used) = Instant::now();
        if !std::mem::replace(&mut slots.swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        Ok(slot)
    }

    /// Takes out all connections.
    pub fn empty(&self) -> Vec<Arc<Connection>> {
        let slots = std::mem::take(&mut locked(&self.slots).by_key);
        let taken = slots.into_values().filter_map(|slot| {
            let mut kept = slot.connection.try_lock().ok()?;
            kept.take()
        });
        taken.collect()
    }
}

/// Lets go of what nobody uses, as long as there is something.
async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE / 4).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut slots = locked(&pool.slots);
        let idle = |slot: &Arc<Slot>| {
            slot.idle_since()
                .is_some_and(|since| since.elapsed() >= IDLE)
        };
        slots.by_key.retain(|_, slot| !idle(slot));
        if slots.by_key.is_empty() {
            slots.swept = false;
            return;
        }
    }
}

/// What is behind a lock. A panic of another holder left nothing half done here.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
