//! Runs that somebody wants to end while another worker drives them: written down, and then said.

use std::sync::Arc;

use crate::error::StoreError;
use crate::signals::Signal;
use crate::sql::Statement;
use crate::store::{Store, now};

impl Store {
    /// Asks whoever drives a run to end it, now or as soon as somebody drives it again. A run that is over stays as it is.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written down. That the word does not reach the worker is none: it looks, too.
    pub async fn ask_to_cancel(&self, run: &Arc<str>) -> Result<(), StoreError> {
        let id = run.clone();
        self.write(move |connection| {
            let id = id.clone();
            Box::pin(async move {
                let insert = "INSERT INTO cancels (run, asked) SELECT number, $1 FROM runs WHERE id = $2 \
                              AND state IN ('running', 'waiting', 'uncertain') ON CONFLICT (run) DO NOTHING";
                let insert = Statement::new(insert).with(now()).with(&id);
                connection.execute(insert).await.map(drop)
            })
        })
        .await?;
        let _ = self
            .signal(None, &Signal::Cancel { run: run.clone() })
            .await;
        Ok(())
    }

    /// Runs that a worker drives and that somebody asked to end.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn cancels(&self, worker: &str) -> Result<Vec<Arc<str>>, StoreError> {
        let select = "SELECT runs.id FROM cancels JOIN runs ON runs.number = cancels.run \
                      WHERE runs.state = 'running' AND runs.worker = $1";
        let rows = self.rows(Statement::new(select).with(worker)).await?;
        rows.iter().map(|row| row.shared("id")).collect()
    }

    /// Whether somebody asked to end a run that is not over.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn is_to_end(&self, run: &str) -> Result<bool, StoreError> {
        let select = "SELECT cancels.asked FROM cancels JOIN runs ON runs.number = cancels.run WHERE runs.id = $1";
        let row = self.row(Statement::new(select).with(run)).await?;
        Ok(row.is_some())
    }
}
