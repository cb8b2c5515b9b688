//! What can go wrong in a store.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use easel_runtime::JournalError;

/// Why a store could not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be used.
    #[error("the data folder {folder} cannot be used: {cause}; give another with --data")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// Another server writes in the folder.
    #[error(
        "another server writes in {folder}: {holder}; stop it, or give another folder with --data"
    )]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// Who holds it, as they wrote it down.
        holder: String,
    },
    /// The database cannot be opened.
    #[error("the database {place} cannot be opened: {cause}")]
    Open {
        /// Where it is, without the password.
        place: String,
        /// Why not.
        cause: String,
    },
    /// The database was written by a later Easel.
    #[error(
        "the database has schema version {version}, and this Easel knows versions up to {known}; use the Easel that wrote it, or a later one"
    )]
    Newer {
        /// The version it has.
        version: i64,
        /// The last version that is known here.
        known: i64,
    },
    /// The owner has an agent of that title in that category.
    #[error("there is an agent with the title {0:?} already; choose another title")]
    TitleTaken(String),
    /// The owner has an agent of that name.
    #[error(
        "there is a workflow with the name {0:?} already; choose another name, or update that one"
    )]
    NameTaken(String),
    /// A record that another refers to does not exist.
    #[error("there is no {kind} {id}")]
    Unknown {
        /// What was asked for: `agent`, `version`, `session`, `document`.
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// A file is larger than it may be.
    #[error("the file {name} has {size} bytes, and {limit} are allowed; send a smaller one")]
    TooLarge {
        /// The file's name.
        name: String,
        /// Its size in bytes.
        size: u64,
        /// The most it may have.
        limit: u64,
    },
    /// What is stored cannot be read.
    #[error("{what} cannot be read back: {cause}; restore it from a backup")]
    Corrupt {
        /// What it is.
        what: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A cursor was not made by this store.
    #[error("{0:?} is no cursor; take the one that the last page gave")]
    Cursor(String),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
    /// No connection to the database can be had.
    #[error("the database cannot be reached; see that it runs and takes connections")]
    Unreachable,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(DatabaseError),
}

/// What a database says that failed.
#[derive(Clone, Debug)]
pub struct DatabaseError(Cause);

#[derive(Clone, Debug)]
enum Cause {
    Sqlite(Arc<rusqlite::Error>),
    Postgres(Arc<sqlx::Error>),
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Sqlite(error) => error.fmt(f),
            Cause::Postgres(error) => error.fmt(f),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Database(DatabaseError(Cause::Sqlite(Arc::new(error))))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        match error {
            sqlx::Error::PoolClosed => StoreError::Closed,
            error => StoreError::Database(DatabaseError(Cause::Postgres(Arc::new(error)))),
        }
    }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> JournalError {
        JournalError::Store(error.to_string())
    }
}

/// A code of SQLite with its subject: `SQLITE_CONSTRAINT_UNIQUE` and the like.
fn sqlite_code(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Some(failure.extended_code),
        _ => None,
    }
}

impl DatabaseError {
    fn is_duplicate(&self) -> bool {
        use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
        match &self.0 {
            Cause::Sqlite(error) => matches!(
                sqlite_code(error),
                Some(SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY)
            ),
            Cause::Postgres(error) => error
                .as_database_error()
                .is_some_and(|error| error.is_unique_violation()),
        }
    }

    fn names_nothing(&self) -> bool {
        match &self.0 {
            Cause::Sqlite(error) => {
                sqlite_code(error) == Some(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY)
            }
            Cause::Postgres(error) => error
                .as_database_error()
                .is_some_and(|error| error.is_foreign_key_violation()),
        }
    }

    fn is_transient(&self) -> bool {
        use rusqlite::ffi::{SQLITE_BUSY, SQLITE_BUSY_RECOVERY, SQLITE_BUSY_SNAPSHOT};
        match &self.0 {
            Cause::Sqlite(error) => matches!(
                sqlite_code(error),
                Some(SQLITE_BUSY | SQLITE_BUSY_RECOVERY | SQLITE_BUSY_SNAPSHOT)
            ),
            Cause::Postgres(error) => {
                let Some(error) = error.as_database_error() else {
                    return false;
                };
                // Somebody let a big value go, and somebody else began to hold it at the same moment.
                let of_values = matches!(
                    error.constraint(),
                    Some("uses_hash_fkey" | "files_hash_fkey")
                );
                // Serialization failure, deadlock.
                let code = error.code();
                of_values || code.is_some_and(|code| matches!(&*code, "40001" | "40P01"))
            }
        }
    }
}

impl StoreError {
    fn database(&self) -> Option<&DatabaseError> {
        match self {
            StoreError::Database(error) => Some(error),
            _ => None,
        }
    }

    /// True if a row that must be the only one of its kind exists already.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.database().is_some_and(DatabaseError::is_duplicate)
    }

    /// True if the statements contradict what is stored, so that they fail again however often they are tried.
    pub(crate) fn is_conflict(&self) -> bool {
        self.database()
            .is_some_and(|error| error.is_duplicate() || error.names_nothing())
    }

    /// True if others were in the way, so that it may go well the next time.
    pub(crate) fn is_transient(&self) -> bool {
        self.database().is_some_and(DatabaseError::is_transient)
    }
}
