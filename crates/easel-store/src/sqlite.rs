//! SQLite inline: a statement runs on the thread that asks for it.
//!
//! A statement of ours takes some microseconds, less than waking a thread that would run it and being woken by it again. So
//! reads run where they are asked for, and writes on the one thread that writes. What goes through many rows says so
//! ([`Statement::scanning`]), and other tasks are moved out of its way.
//!
//! [`Statement::scanning`]: crate::sql::Statement::scanning

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{CachedStatement, OpenFlags, ToSql};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::StoreError;
use crate::sql::Bound;

/// How long a statement waits for another process that writes in the same folder.
pub(crate) const BUSY: Duration = Duration::from_secs(30);
/// How many prepared statements a connection keeps.
const PREPARED: usize = 64;

/// What each connection is told. A checkpoint costs two more fsyncs and writes pages again that the next group changes
/// anyway, so it is not done often.
const WRITES: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                      PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -16000;";
const READS: &str = "PRAGMA query_only = ON;";

/// Connections to the database in a file.
#[derive(Clone, Debug)]
pub(crate) struct Pool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: PathBuf,
    pragmas: &'static str,
    /// One permit for each connection that there may be.
    places: Arc<Semaphore>,
    idle: Mutex<Vec<rusqlite::Connection>>,
}

/// A connection; it goes back to its pool in the end.
#[derive(Debug)]
pub(crate) struct Lease {
    /// There until it is dropped.
    connection: Option<rusqlite::Connection>,
    pool: Arc<Inner>,
    _place: OwnedSemaphorePermit,
}

/// A row.
#[derive(Debug)]
pub(crate) struct Row {
    names: Arc<[Box<str>]>,
    values: Vec<Value>,
}

impl Pool {
    /// Connections that write, at most one at a time.
    pub(crate) fn writing(file: &Path) -> Pool {
        Pool::new(file, WRITES, 1)
    }

    /// Connections that read, so many at a time.
    pub(crate) fn reading(file: &Path, count: usize) -> Pool {
        Pool::new(file, READS, count)
    }

    fn new(file: &Path, pragmas: &'static str, count: usize) -> Pool {
        Pool(Arc::new(Inner {
            file: file.to_owned(),
            pragmas,
            places: Arc::new(Semaphore::new(count)),
            idle: Mutex::default(),
        }))
    }

    /// A connection, once one is free.
    pub(crate) async fn acquire(&self) -> Result<Lease, StoreError> {
        let place = self.0.places.clone().acquire_owned().await;
        let place = place.map_err(|_| StoreError::Closed)?;
        let idle = self.0.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.0.open()?,
        };
        Ok(Lease {
            connection: Some(connection),
            pool: self.0.clone(),
            _place: place,
        })
    }

    /// Closes what is idle, and what is used as soon as it is given back.
    pub(crate) fn close(&self) {
        self.0.places.close();
        self.0.lock().clear();
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<rusqlite::Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Result<rusqlite::Connection, StoreError> {
        // Each connection is used by one task at a time, and the file is there: it was made with its tables.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = rusqlite::Connection::open_with_flags(&self.file, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.execute_batch(self.pragmas)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        Ok(connection)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        // One with a transaction open is closed, which takes the transaction back.
        if connection.is_autocommit() && !self.pool.places.is_closed() {
            self.pool.lock().push(connection);
        }
    }
}

impl Lease {
    fn connection(&self) -> Result<&rusqlite::Connection, StoreError> {
        self.connection.as_ref().ok_or(StoreError::Closed)
    }

    /// Does it; how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Bound]) -> Result<u64, StoreError> {
        let connection = self.connection()?;
        let mut statement = bind(connection, sql, values)?;
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
        Ok(connection.changes())
    }

    /// The rows of what it gives, at most so many.
    pub(crate) fn rows(
        &self,
        sql: &str,
        values: &[Bound],
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let mut statement = bind(self.connection()?, sql, values)?;
        let names = statement.column_names();
        let names: Arc<[Box<str>]> = names.into_iter().map(Box::from).collect();
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(row) = rows.next()?
        {
            let values = (0..names.len()).map(|column| row.get(column));
            found.push(Row {
                names: names.clone(),
                values: values.collect::<Result<_, _>>()?,
            });
        }
        Ok(found)
    }

    /// Gives the connection up, with whatever is open in it.
    pub(crate) fn discard(mut self) {
        drop(self.connection.take());
    }
}

/// Does something that takes a while, with other tasks out of the way where there is another thread for them.
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// The statement with its values. What other databases write as `$1` is `?1` here: `$1` would be a name, which SQLite looks
/// up among all names of the statement.
fn bind<'c>(
    connection: &'c rusqlite::Connection,
    sql: &str,
    values: &[Bound],
) -> Result<CachedStatement<'c>, StoreError> {
    let mut statement = connection.prepare_cached(&sql.replace('$', "?"))?;
    for (value, place) in values.iter().zip(1..) {
        statement.raw_bind_parameter(place, value)?;
    }
    Ok(statement)
}

impl ToSql for Bound {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Bound::Int(n) => n.map_or(ValueRef::Null, ValueRef::Integer),
            Bound::Text(text) => match text {
                Some(text) => ValueRef::Text(text.as_bytes()),
                None => ValueRef::Null,
            },
            Bound::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl Row {
    fn value(&self, column: &str) -> Result<&Value, StoreError> {
        let place = self.names.iter().position(|name| **name == *column);
        let value = place.and_then(|place| self.values.get(place));
        value.ok_or_else(|| rusqlite::Error::InvalidColumnName(column.to_owned()).into())
    }

    fn wrong(column: &str, value: &Value) -> StoreError {
        rusqlite::Error::InvalidColumnType(0, column.to_owned(), value.data_type()).into()
    }

    pub(crate) fn int(&self, column: &str) -> Result<Option<i64>, StoreError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Integer(n) => Ok(Some(*n)),
            other => Err(Row::wrong(column, other)),
        }
    }

    pub(crate) fn text(&self, column: &str) -> Result<Option<&str>, StoreError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            other => Err(Row::wrong(column, other)),
        }
    }

    pub(crate) fn bytes(&self, column: &str) -> Result<&[u8], StoreError> {
        match self.value(column)? {
            Value::Blob(bytes) => Ok(bytes),
            other => Err(Row::wrong(column, other)),
        }
    }

    /// That this column is never empty was promised.
    pub(crate) fn missing(column: &str) -> StoreError {
        Row::wrong(column, &Value::Null)
    }
}
