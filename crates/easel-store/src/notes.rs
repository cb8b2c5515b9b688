//! Notes: what people saw of a run that does not follow from its journal.

use easel_runtime::{EventId, Note};

use crate::error::StoreError;
use crate::sql::Statement;
use crate::store::Store;
use crate::values::Restorer;

impl Store {
    /// What people saw of a run that cannot be computed from its events, in order.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn notes(&self, run: &str) -> Result<Vec<Note>, StoreError> {
        let mut connection = self.reader().await?;
        let select = "SELECT notes.entry, notes.counter, notes.shown, notes.body FROM notes JOIN runs ON runs.number = notes.run \
                      WHERE runs.id = $1 ORDER BY notes.entry, notes.counter";
        let rows = connection.rows(Statement::new(select).with(run)).await?;
        let bodies = rows.iter().map(|row| row.text("body"));
        let bodies: Vec<String> = bodies.collect::<Result<_, _>>()?;
        let restorer = Restorer::fetch(&mut connection, bodies.iter().map(String::as_str)).await?;
        let notes = rows.iter().zip(bodies).map(|(row, body)| {
            Ok(Note {
                id: EventId {
                    entry: row.count("entry")?,
                    counter: u32::try_from(row.int("counter")?).unwrap_or(u32::MAX),
                    shown: row.count("shown")?,
                },
                json: restorer.restore(body)?.into(),
            })
        });
        notes.collect()
    }
}
