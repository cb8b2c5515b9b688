//! What a statement gives, as far as the limits let it.

use easel_core::Value;
use easel_tools::ToolError;
use easel_tools::sql::{SqlRequest, SqlRows};
use futures::TryStreamExt as _;
use futures::stream::BoxStream;
use sqlx::{Column as _, Row};

use crate::{MOST_BYTES, failed, too_large};

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

/// Takes the rows of a statement from a server, until there are enough. `values` gives those of a row, and as how many bytes
/// they came.
pub(crate) async fn taken<R: Row>(
    mut found: BoxStream<'_, Result<R, sqlx::Error>>,
    request: &SqlRequest,
    values: impl Fn(&R) -> Result<(Vec<Value>, usize), sqlx::Error>,
) -> Result<SqlRows, ToolError> {
    let mut rows = Rows::new(request);
    while !rows.are_enough() {
        let row = found.try_next().await;
        let Some(row) = row.map_err(|error| failed(error, request))? else {
            break;
        };
        rows.name(row.columns().iter().map(|column| column.name()));
        let (values, bytes) = values(&row).map_err(|error| failed(error, request))?;
        rows.push(values, bytes).map_err(|_| too_large(request))?;
    }
    Ok(rows.into_rows())
}
