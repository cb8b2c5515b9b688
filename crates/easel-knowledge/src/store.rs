//! The database: knowledge bases, documents, passages, vectors and the index of terms in one file.

mod answers;
mod bases;
mod documents;
mod passages;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{FILE, KnowledgeError};
use crate::worker;

pub(crate) use bases::BaseRow;
pub use bases::{Base, NewBase};
pub(crate) use documents::{Content, Known, NewDocument, NewPassage, searched_text, title_of};
pub use documents::{Document, State};
pub(crate) use passages::{Passage, Scope, terms_of, vector_of};

/// What leads from each layout of the database to the next, the first from an empty file.
const LAYOUTS: [&str; 2] = [
    include_str!("store/schema.sql"),
    include_str!("store/schema-2.sql"),
];

/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(30);

/// Connections that are kept for the next reader.
const IDLE: usize = 4;

/// A database file that is open.
#[derive(Clone)]
pub(crate) struct Store(Arc<Inner>);

struct Inner {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Store {
    /// Opens the database in a folder; makes both if they are not there.
    pub(crate) fn open(folder: &Path) -> Result<Store, KnowledgeError> {
        std::fs::create_dir_all(folder).map_err(|cause| KnowledgeError::File {
            path: folder.to_owned(),
            cause,
        })?;
        let store = Store(Arc::new(Inner {
            file: folder.join(FILE),
            idle: Mutex::default(),
        }));
        let mut connection = store.connect()?;
        migrate(&mut connection)?;
        store.give_back(connection);
        Ok(store)
    }

    /// Reads in one transaction, on another thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, KnowledgeError> + Send + 'static,
    ) -> Result<T, KnowledgeError> {
        self.with(TransactionBehavior::Deferred, read).await
    }

    /// Writes in one transaction, on another thread: all of it happens, or nothing.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, KnowledgeError> + Send + 'static,
    ) -> Result<T, KnowledgeError> {
        self.with(TransactionBehavior::Immediate, write).await
    }

    async fn with<T: Send + 'static>(
        &self,
        behaviour: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, KnowledgeError> + Send + 'static,
    ) -> Result<T, KnowledgeError> {
        let store = self.clone();
        worker::run(move || {
            let idle = store.idle().pop();
            let mut connection = match idle {
                Some(connection) => connection,
                None => store.connect()?,
            };
            let transaction = connection.transaction_with_behavior(behaviour)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            store.give_back(connection);
            Ok(result)
        })
        .await
    }

    fn connect(&self) -> Result<Connection, KnowledgeError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.0.file, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16000;",
        )?;
        Ok(connection)
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < IDLE {
            idle.push(connection);
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the tables in a new file, and brings those of an older version up to date.
fn migrate(connection: &mut Connection) -> Result<(), KnowledgeError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let known = LAYOUTS.len() as i64;
    let missing = usize::try_from(found)
        .ok()
        .and_then(|found| LAYOUTS.get(found..));
    let Some(missing) = missing else {
        return Err(KnowledgeError::Later { found, known });
    };
    for step in missing {
        transaction.execute_batch(step)?;
    }
    if !missing.is_empty() {
        transaction.pragma_update(None, "user_version", known)?;
    }
    Ok(transaction.commit()?)
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// Hexadecimal digits of bytes.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
