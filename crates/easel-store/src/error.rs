//! What can go wrong in a store.

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
    Database(Arc<sqlx::Error>),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        match error {
            sqlx::Error::PoolClosed => StoreError::Closed,
            error => StoreError::Database(Arc::new(error)),
        }
    }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> JournalError {
        JournalError::Store(error.to_string())
    }
}

impl StoreError {
    fn database(&self) -> Option<&dyn sqlx::error::DatabaseError> {
        match self {
            StoreError::Database(error) => error.as_database_error(),
            _ => None,
        }
    }

    /// True if a row that must be the only one of its kind exists already.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.database()
            .is_some_and(|error| error.is_unique_violation())
    }

    /// True if the statements contradict what is stored, so that they fail again however often they are tried.
    pub(crate) fn is_conflict(&self) -> bool {
        self.database()
            .is_some_and(|error| error.is_unique_violation() || error.is_foreign_key_violation())
    }

    /// True if others were in the way, so that it may go well the next time.
    pub(crate) fn is_transient(&self) -> bool {
        let Some(error) = self.database() else {
            return false;
        };
        // Somebody let a big value go, and somebody else began to hold it at the same moment.
        if matches!(
            error.constraint(),
            Some("uses_hash_fkey" | "files_hash_fkey")
        ) {
            return true;
        }
        let code = error.code();
        // PostgreSQL: serialization failure, deadlock. SQLite: busy.
        code.is_some_and(|code| matches!(&*code, "40001" | "40P01" | "5" | "261" | "517"))
    }
}
