//! Queries on a user's database.

use std::time::Duration;

use easel_core::Value;
use easel_secrets::Opened;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Runs one statement on a database that the workflow names.
pub trait SqlRunner: Send + Sync {
    /// The rows of one statement, at most `max_records`, read in a session that cannot write.
    /// The database's refusal of a statement is [`ToolError::Failed`] in its own words.
    fn query(&self, request: SqlRequest) -> BoxFuture<'_, Result<SqlRows, ToolError>>;
}

/// One statement and where to run it (`spec/canvas-components §6.3`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SqlRequest {
    /// The database.
    pub connection: SqlConnection,
    /// One statement, without a closing `;`.
    pub statement: String,
    /// Rows read at most.
    pub max_records: u32,
    /// Time allowed.
    pub timeout: Duration,
}

/// How to reach a database. What the workflow leaves blank is blank here; who needs it says so.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SqlConnection {
    /// The kind as the canvas names it: `mysql`, `postgres`, `mariadb`, `mssql`, `trino`, ...
    pub db_type: String,
    /// Host name or address; the runner checks it with [`crate::guard`].
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Name of the database.
    pub database: String,
    /// Name of the user.
    pub username: String,
    /// The password. Never written with the rest.
    #[serde(skip)]
    pub password: Option<Opened>,
}

/// What a statement gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SqlRows {
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// The rows, each with one value a column.
    pub rows: Vec<Vec<Value>>,
}
