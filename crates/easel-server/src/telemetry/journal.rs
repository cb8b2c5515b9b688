//! A journal whose commits are timed.

use std::sync::Arc;
use std::time::Instant;

use easel_runtime::core::event::Event;
use easel_runtime::{Batch, Journal, JournalError};
use futures::future::BoxFuture;

use super::Metrics;

struct Timed {
    journal: Arc<dyn Journal>,
    metrics: Arc<Metrics>,
}

/// Watches a journal.
pub(super) fn watched(journal: Arc<dyn Journal>, metrics: Arc<Metrics>) -> Arc<dyn Journal> {
    Arc::new(Timed { journal, metrics })
}

impl Journal for Timed {
    fn append(&self, batch: Batch) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move {
            let events = batch.events.len();
            let began = Instant::now();
            let done = self.journal.append(batch).await;
            self.metrics
                .committed(events, began.elapsed(), done.is_ok());
            done
        })
    }

    fn read<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Event>, JournalError>> {
        self.journal.read(run)
    }
}
