//! Attempts under way: polled in the order in which they began.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use easel_core::bind::Activation;
use easel_core::event::Fact;
use futures::future::BoxFuture;

use crate::timings::{Meter, Part};

/// What an attempt or a pause comes to: the fact to be reported.
pub(crate) type Pending = BoxFuture<'static, Fact>;

/// Attempts and pauses that will report back, at most one an activation.
///
/// Of several that are done at once the one that began first reports first, so that a run in a scripted world always goes
/// the same way. Polling costs in proportion to how many there are, which the run's concurrency bounds.
#[derive(Default)]
pub(crate) struct Attempts {
    pending: BTreeMap<u64, (Activation, Pending)>,
    next: u64,
}

impl Attempts {
    /// Adds one.
    pub fn add(&mut self, activation: Activation, pending: Pending) {
        self.pending.insert(self.next, (activation, pending));
        self.next += 1;
    }

    /// True if nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Drops one, which stops it.
    pub fn cancel(&mut self, activation: Activation) {
        self.pending.retain(|_, (of, _)| *of != activation);
    }

    /// Waits for the next one to report. Never resolves while there is none.
    pub async fn next(&mut self, meter: &mut Meter) -> Fact {
        poll_fn(|context| {
            let since = meter.now();
            let done = self.pending.iter_mut().find_map(|(&key, (_, pending))| {
                match Pin::new(pending).poll(context) {
                    Poll::Ready(fact) => Some((key, fact)),
                    Poll::Pending => None,
                }
            });
            meter.add(Part::Components, since);
            match done {
                Some((key, fact)) => {
                    self.pending.remove(&key);
                    Poll::Ready(fact)
                }
                None => Poll::Pending,
            }
        })
        .await
    }
}
