//! How much of each kind of work an engine does at once, over all its runs.
//!
//! An attempt that wants to begin waits for a place of its kind. Places go to whoever has waited longest; a run has at most
//! its concurrency of attempts waiting, so a run of ten thousand items does not keep a run of one from its turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_catalog::{Catalog, Family};
use easel_core::draft::{EffectClass, NodeDraft};
use futures::channel::oneshot;

/// How many attempts of each kind are under way at once, over all runs of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Models and agents.
    pub models: usize,
    /// Tools: HTTP, searches, databases, mail.
    pub tools: usize,
    /// Scripts.
    pub code: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            models: 1_024,
            tools: 1_024,
            code: 64,
        }
    }
}

/// A kind of work that waits for something outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Model,
    Tool,
    Code,
}

impl Work {
    /// What kind of work a node is; `None` if it asks nothing of the outside.
    pub fn of(node: &NodeDraft, catalog: &Catalog) -> Option<Work> {
        let component = &*node.component;
        if matches!(component, "CodeExec" | "function" | "python") {
            return Some(Work::Code);
        }
        if node.effect == EffectClass::Pure {
            return None;
        }
        let family = catalog.get(component).map(|table| table.family);
        let model = family == Some(Family::Model)
            || matches!(component, "base" | "react" | "router" | "loop");
        Some(if model { Work::Model } else { Work::Tool })
    }
}

/// The places of an engine.
#[derive(Clone)]
pub(crate) struct Places {
    models: Arc<Queue>,
    tools: Arc<Queue>,
    code: Arc<Queue>,
}

impl Places {
    pub fn new(bounds: Bounds) -> Places {
        Places {
            models: Queue::new(bounds.models),
            tools: Queue::new(bounds.tools),
            code: Queue::new(bounds.code),
        }
    }

    /// Waits for a place; it is free again once what this gives is dropped.
    pub async fn take(&self, work: Work) -> Place {
        let queue = match work {
            Work::Model => &self.models,
            Work::Tool => &self.tools,
            Work::Code => &self.code,
        };
        queue.take().await
    }
}

/// Places of one kind, and who waits for one. A place that becomes free goes to the first who waits: whoever comes back at
/// once does not get ahead of them.
struct Queue(Mutex<Line>);

struct Line {
    free: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

/// A place that is taken.
pub(crate) struct Place(Arc<Queue>);

impl Queue {
    fn new(places: usize) -> Arc<Queue> {
        Arc::new(Queue(Mutex::new(Line {
            free: places.max(1),
            waiting: VecDeque::new(),
        })))
    }

    async fn take(self: &Arc<Queue>) -> Place {
        let turn = {
            let mut line = self.line();
            if line.free > 0 {
                line.free -= 1;
                return Place(self.clone());
            }
            let (place, turn) = oneshot::channel();
            line.waiting.push_back(place);
            turn
        };
        // The sender waits in the line until it is given a place.
        turn.await.unwrap_or_else(|_| Place(self.clone()))
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut line = self.0.line();
        // Those who gave up are passed over.
        while let Some(first) = line.waiting.pop_front() {
            if !first.is_canceled() {
                drop(line);
                // If they give up just now, the place comes back here.
                let _ = first.send(Place(self.0.clone()));
                return;
            }
        }
        line.free += 1;
    }
}
