//! What a statement gives, as far as the limits let it.

use easel_core::Value;
use easel_tools::sql::{SqlRequest, SqlRows};

use crate::MOST_BYTES;

/// Rows as they come in.
#[derive(Debug)]
pub(crate) struct Rows {
    rows: SqlRows,
    most: usize,
    bytes: usize,
}

/// The values of a row are more than an answer may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Rows {
    /// None yet; at most as many as the request asks for.
    pub(crate) fn new(request: &SqlRequest) -> Rows {
        Rows {
            rows: SqlRows::default(),
            most: request.max_records as usize,
            bytes: 0,
        }
    }

    /// True if no more are wanted.
    pub(crate) fn are_enough(&self) -> bool {
        self.rows.rows.len() >= self.most
    }

    /// The names of the columns; those of the first row count.
    pub(crate) fn name<'n>(&mut self, columns: impl Iterator<Item = &'n str>) {
        if self.rows.columns.is_empty() {
            self.rows.columns = columns.map(str::to_owned).collect();
        }
    }

    /// Takes in a row whose values came as so many bytes.
    pub(crate) fn push(&mut self, row: Vec<Value>, bytes: usize) -> Result<(), TooLarge> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MOST_BYTES {
            return Err(TooLarge);
        }
        self.rows.rows.push(row);
        Ok(())
    }

    pub(crate) fn into_rows(self) -> SqlRows {
        self.rows
    }
}
