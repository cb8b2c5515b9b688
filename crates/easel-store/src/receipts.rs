//! Receipts: what a run did with secrets, added up from what its batches say.

use easel_secrets::Receipt;

use crate::error::StoreError;
use crate::sql::Statement;
use crate::store::Store;
use crate::values;

impl Store {
    /// The receipt of a run; `None` if it has none, as it knew no secret.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn receipt(&self, run: &str) -> Result<Option<Receipt>, StoreError> {
        let select = "SELECT receipts.body FROM receipts JOIN runs ON runs.number = receipts.run \
                      WHERE runs.id = $1 ORDER BY receipts.number";
        let mut sum: Option<Receipt> = None;
        for row in self.rows(Statement::new(select).with(run)).await? {
            let part: Receipt =
                values::parse(&row.text("body")?, &format!("the receipt of run {run}"))?;
            match &mut sum {
                None => sum = Some(part),
                Some(sum) => add(sum, part),
            }
        }
        Ok(sum)
    }
}

/// Adds what happened later.
fn add(sum: &mut Receipt, part: Receipt) {
    sum.entries.extend(part.entries);
    sum.bytes_scanned = sum.bytes_scanned.saturating_add(part.bytes_scanned);
    sum.masked = sum.masked.saturating_add(part.masked);
    for name in part.unmasked {
        if !sum.unmasked.contains(&name) {
            sum.unmasked.push(name);
        }
    }
}
