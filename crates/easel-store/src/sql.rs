//! One way to speak to both databases: statements with values, and rows.

use std::borrow::Cow;
use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgPool, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Postgres, Row as _, SqlSafeStr};

use crate::error::StoreError;
use crate::sqlite;

/// Connections to one of the databases.
#[derive(Clone, Debug)]
pub(crate) enum Pool {
    Sqlite(sqlite::Pool),
    Postgres(PgPool),
}

/// One connection.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(sqlite::Lease),
    Postgres(PoolConnection<Postgres>),
}

/// A value that goes into a statement.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Vec<u8>),
}

/// A statement: SQL that both databases read alike, with `$1`, `$2`, … for its values.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    sql: Cow<'static, str>,
    values: Vec<Bound>,
    scans: bool,
}

/// A row of what a statement gave.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(sqlite::Row),
    Postgres(PgRow),
}

/// PostgreSQL has no place for a NUL in a text. What comes from outside may have one, and no statement is to fail of it.
fn storable(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}"),
        false => text,
    }
}

impl From<i64> for Bound {
    fn from(n: i64) -> Bound {
        Bound::Int(Some(n))
    }
}

impl From<u64> for Bound {
    fn from(n: u64) -> Bound {
        Bound::Int(Some(i64::try_from(n).unwrap_or(i64::MAX)))
    }
}

impl From<bool> for Bound {
    fn from(b: bool) -> Bound {
        Bound::Int(Some(i64::from(b)))
    }
}

impl From<Option<i64>> for Bound {
    fn from(n: Option<i64>) -> Bound {
        Bound::Int(n)
    }
}

impl From<String> for Bound {
    fn from(text: String) -> Bound {
        Bound::Text(Some(storable(text)))
    }
}

impl From<&str> for Bound {
    fn from(text: &str) -> Bound {
        Bound::from(text.to_owned())
    }
}

impl From<&String> for Bound {
    fn from(text: &String) -> Bound {
        Bound::from(text.clone())
    }
}

impl From<&Arc<str>> for Bound {
    fn from(text: &Arc<str>) -> Bound {
        Bound::from(&**text)
    }
}

impl From<Option<&str>> for Bound {
    fn from(text: Option<&str>) -> Bound {
        Bound::Text(text.map(|text| storable(text.to_owned())))
    }
}

impl From<Option<String>> for Bound {
    fn from(text: Option<String>) -> Bound {
        Bound::Text(text.map(storable))
    }
}

impl From<Vec<u8>> for Bound {
    fn from(bytes: Vec<u8>) -> Bound {
        Bound::Bytes(bytes)
    }
}

impl Statement {
    pub(crate) fn new(sql: &'static str) -> Statement {
        Statement {
            sql: Cow::Borrowed(sql),
            values: Vec::new(),
            scans: false,
        }
    }

    /// It goes through many rows and may take a while.
    pub(crate) fn scanning(mut self) -> Statement {
        self.scans = true;
        self
    }

    /// The value of the next `$n` that stands in the text.
    pub(crate) fn with(mut self, value: impl Into<Bound>) -> Statement {
        self.values.push(value.into());
        self
    }

    pub(crate) fn into_sql(self) -> String {
        self.sql.into_owned()
    }

    /// More text.
    pub(crate) fn push(&mut self, sql: &str) -> &mut Statement {
        self.sql.to_mut().push_str(sql);
        self
    }

    /// A value, and the `$n` for it.
    pub(crate) fn value(&mut self, value: impl Into<Bound>) -> &mut Statement {
        self.values.push(value.into());
        let n = self.values.len();
        self.push(&format!("${n}"))
    }

    /// Values in parentheses, with the `$n` for each: what stands behind `IN`, or a row of `VALUES`.
    pub(crate) fn values<V: Into<Bound>>(
        &mut self,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Statement {
        let sql = self.sql.to_mut();
        sql.push('(');
        for (n, value) in values.into_iter().enumerate() {
            if n > 0 {
                sql.push_str(", ");
            }
            self.values.push(value.into());
            sql.push('$');
            sql.push_str(&self.values.len().to_string());
        }
        sql.push(')');
        self
    }
}

/// How many rows go into one statement. Few sizes, so that each database keeps few prepared statements.
const SIZES: [usize; 4] = [256, 32, 4, 1];

/// Statements that together hold all the rows: `before`, the rows, `behind`.
pub(crate) fn in_rows<const N: usize>(
    before: &'static str,
    behind: &'static str,
    rows: Vec<[Bound; N]>,
) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut left = rows.len();
    let mut rows = rows.into_iter();
    for size in SIZES {
        while left >= size {
            left -= size;
            let mut statement = Statement::new("");
            statement.sql.to_mut().reserve(size * N * 6);
            statement.values.reserve(size * N);
            statement.push(before);
            for (n, row) in rows.by_ref().take(size).enumerate() {
                if n > 0 {
                    statement.push(", ");
                }
                statement.values(row);
            }
            statement.push(behind);
            statements.push(statement);
        }
    }
    statements
}

fn for_postgres<'q>(statement: Statement) -> Query<'q, Postgres, PgArguments> {
    let mut query = match statement.sql {
        Cow::Borrowed(sql) => sqlx::query(sql.into_sql_str()),
        Cow::Owned(sql) => sqlx::query(AssertSqlSafe(sql).into_sql_str()),
    };
    for value in statement.values {
        query = match value {
            Bound::Int(n) => query.bind(n),
            Bound::Text(text) => query.bind(text),
            Bound::Bytes(bytes) => query.bind(bytes),
        };
    }
    query
}

fn from_sqlite(
    connection: &sqlite::Lease,
    statement: &Statement,
    limit: usize,
) -> Result<Vec<sqlite::Row>, StoreError> {
    let read = || connection.rows(&statement.sql, &statement.values, limit);
    match statement.scans {
        true => sqlite::aside(read),
        false => read(),
    }
}

impl Pool {
    pub(crate) async fn acquire(&self) -> Result<Connection, StoreError> {
        Ok(match self {
            Pool::Sqlite(pool) => Connection::Sqlite(pool.acquire().await?),
            Pool::Postgres(pool) => Connection::Postgres(pool.acquire().await?),
        })
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self, Pool::Sqlite(_))
    }

    pub(crate) async fn close(&self) {
        match self {
            Pool::Sqlite(pool) => pool.close(),
            Pool::Postgres(pool) => pool.close().await,
        }
    }
}

impl Connection {
    /// Does it; how many rows it changed.
    pub(crate) async fn execute(&mut self, statement: Statement) -> Result<u64, StoreError> {
        Ok(match self {
            Connection::Sqlite(connection) => {
                connection.execute(&statement.sql, &statement.values)?
            }
            Connection::Postgres(connection) => {
                let done = for_postgres(statement).execute(&mut **connection).await?;
                done.rows_affected()
            }
        })
    }

    /// All rows of what it gives.
    pub(crate) async fn rows(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        Ok(match self {
            Connection::Sqlite(connection) => {
                let rows = from_sqlite(connection, &statement, usize::MAX)?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Connection::Postgres(connection) => {
                let rows = for_postgres(statement).fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// The first row of what it gives.
    pub(crate) async fn row(&mut self, statement: Statement) -> Result<Option<Row>, StoreError> {
        Ok(match self {
            Connection::Sqlite(connection) => {
                let mut rows = from_sqlite(connection, &statement, 1)?;
                rows.pop().map(Row::Sqlite)
            }
            Connection::Postgres(connection) => {
                let row = for_postgres(statement).fetch_optional(&mut **connection);
                row.await?.map(Row::Postgres)
            }
        })
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self, Connection::Sqlite(_))
    }

    /// Opens a transaction. SQLite takes the lock of the one who writes at once, so that it waits for others here and nowhere later.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        let sql = match self {
            Connection::Sqlite(_) => "BEGIN IMMEDIATE",
            Connection::Postgres(_) => "BEGIN",
        };
        self.execute(Statement::new(sql)).await.map(drop)
    }

    /// Gives the connection up, with whatever is open in it.
    pub(crate) fn discard(self) {
        match self {
            Connection::Sqlite(connection) => connection.discard(),
            Connection::Postgres(connection) => drop(connection.detach()),
        }
    }
}

impl Row {
    pub(crate) fn int(&self, column: &str) -> Result<i64, StoreError> {
        match self {
            Row::Sqlite(row) => row.int(column)?.ok_or_else(|| sqlite::Row::missing(column)),
            Row::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    /// A number that is never negative.
    pub(crate) fn count(&self, column: &str) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.int(column)?).unwrap_or(0))
    }

    pub(crate) fn flag(&self, column: &str) -> Result<bool, StoreError> {
        Ok(self.int(column)? != 0)
    }

    pub(crate) fn optional_int(&self, column: &str) -> Result<Option<i64>, StoreError> {
        match self {
            Row::Sqlite(row) => row.int(column),
            Row::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    fn str(&self, column: &str) -> Result<&str, StoreError> {
        match self {
            Row::Sqlite(row) => row
                .text(column)?
                .ok_or_else(|| sqlite::Row::missing(column)),
            Row::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    pub(crate) fn text(&self, column: &str) -> Result<String, StoreError> {
        Ok(self.str(column)?.to_owned())
    }

    pub(crate) fn shared(&self, column: &str) -> Result<Arc<str>, StoreError> {
        Ok(self.str(column)?.into())
    }

    pub(crate) fn optional_text(&self, column: &str) -> Result<Option<String>, StoreError> {
        Ok(match self {
            Row::Sqlite(row) => row.text(column)?.map(str::to_owned),
            Row::Postgres(row) => row.try_get(column)?,
        })
    }

    pub(crate) fn bytes(&self, column: &str) -> Result<Vec<u8>, StoreError> {
        Ok(match self {
            Row::Sqlite(row) => row.bytes(column)?.to_owned(),
            Row::Postgres(row) => row.try_get(column)?,
        })
    }
}

/// A pattern of `LIKE` with `ESCAPE '!'` that finds the text anywhere, whatever is in it.
pub(crate) fn anywhere(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
