//! The store: where it is, how it is opened, and who may write in a folder.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::error::StoreError;
use crate::schema;
use crate::sql::{Connection, Pool, Row, Statement};
use crate::sqlite;
use crate::writer::Writer;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A folder with an SQLite database in it.
    Folder(PathBuf),
    /// The URL of a PostgreSQL database.
    Database(String),
}

impl Location {
    /// A URL that begins with `postgres://` or `postgresql://` is a database, anything else a folder.
    pub fn parse(text: &str) -> Location {
        match text.starts_with("postgres://") || text.starts_with("postgresql://") {
            true => Location::Database(text.to_owned()),
            false => Location::Folder(PathBuf::from(text)),
        }
    }
}

impl fmt::Display for Location {
    /// The place without its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Folder(folder) => folder.display().fmt(f),
            Location::Database(url) => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
                let rest = rest.split(['?', '#']).next().unwrap_or_default();
                let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
                write!(f, "{scheme}://{place}")
            }
        }
    }
}

/// Everything that Easel keeps. Cloning it is cheap, and all clones are one store.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    location: Location,
    /// What reads; it never waits for what writes.
    readers: Pool,
    writer: Writer,
    worker: Arc<str>,
    /// The connection to PostgreSQL that holds the lock of the worker, if it drives runs.
    presence: Mutex<Option<Connection>>,
    /// What speaks to other servers on the same database.
    signals: Option<PgPool>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.0.location)
    }
}

/// As long as it lives, no other server writes in the folder.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

/// The database in a folder.
const DATABASE: &str = "easel.db";
/// The file that a writing server locks.
const LOCK: &str = "easel.lock";
/// Connections that read. In PostgreSQL one of them holds the lock of the worker.
const READERS: u32 = 5;
/// Connections to PostgreSQL that write.
const WRITERS: u32 = 4;
/// How long those who listen to other servers may take to leave when a store is closed.
const LISTENERS_LEAVE: Duration = Duration::from_secs(1);
/// Connections to PostgreSQL for signals: one hears them, one says them.
const SIGNALS: u32 = 2;

impl Store {
    /// Opens the store, makes it if there is none, and brings an older one to this version. Needs a tokio runtime around it.
    ///
    /// # Errors
    /// [`StoreError::Folder`], [`StoreError::Open`], [`StoreError::Newer`].
    pub async fn open(location: &Location) -> Result<Store, StoreError> {
        let place = location.to_string();
        let (readers, writers, count, signals) = match location {
            Location::Folder(folder) => {
                make_folder(folder)?;
                let file = folder.join(DATABASE);
                keep_private(&file);
                schema::migrate_file(&file, &place).await?;
                let readers = Pool::Sqlite(sqlite::Pool::reading(&file, READERS as usize));
                (readers, Pool::Sqlite(sqlite::Pool::writing(&file)), 1, None)
            }
            Location::Database(url) => {
                let options: PgConnectOptions =
                    url.parse().map_err(|error: sqlx::Error| StoreError::Open {
                        place: place.clone(),
                        cause: error.to_string(),
                    })?;
                let options = options
                    .application_name("easel")
                    .disable_statement_logging();
                let writers = PgPoolOptions::new()
                    .max_connections(WRITERS)
                    .connect_lazy_with(options.clone());
                schema::migrate(&writers, &place).await?;
                let readers = PgPoolOptions::new()
                    .max_connections(READERS)
                    .connect_lazy_with(options.clone());
                let signals = Some(for_signals(options));
                let (readers, writers) = (Pool::Postgres(readers), Pool::Postgres(writers));
                (readers, writers, WRITERS, signals)
            }
        };
        let worker: Arc<str> = new_id().into();
        Ok(Store(Arc::new(Inner {
            location: location.clone(),
            readers,
            writer: Writer::start(&writers, count, &worker),
            worker,
            presence: Mutex::default(),
            signals,
        })))
    }

    /// Keeps other servers from writing in a folder, until what it gives is dropped or the process ends.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another does; [`StoreError::Folder`].
    pub fn lock_folder(folder: &Path) -> Result<FolderLock, StoreError> {
        make_folder(folder)?;
        let unusable = |error: std::io::Error| StoreError::Folder {
            folder: folder.to_owned(),
            cause: format!("{LOCK}: {error}"),
        };
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join(LOCK))
            .map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Best effort: who it is helps, and that there is somebody is known.
                let _ = (&file).take(200).read_to_string(&mut holder);
                let holder = match holder.trim() {
                    "" => "a process that did not say who it is",
                    said => said,
                };
                return Err(StoreError::Locked {
                    folder: folder.to_owned(),
                    holder: holder.to_owned(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        let holder = format!(
            "process {}, since {} s after 1970\n",
            std::process::id(),
            now() / 1000
        );
        file.set_len(0).map_err(unusable)?;
        file.rewind().map_err(unusable)?;
        file.write_all(holder.as_bytes()).map_err(unusable)?;
        Ok(FolderLock { _file: file })
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// The id under which this opening of the store drives runs; new with each.
    pub fn worker(&self) -> &Arc<str> {
        &self.0.worker
    }

    /// How many transactions were committed since it was opened, and how many batches of journals with them.
    pub fn commits(&self) -> Commits {
        self.0.writer.commits()
    }

    /// Fails if the database cannot be reached.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.row(Statement::new("SELECT 1")).await.map(drop)
    }

    /// Writes what waits, then closes. Whoever asks for more is told that the store is closed. A worker that still says that
    /// it is there retires.
    pub async fn close(&self) {
        if self.0.presence.lock().await.is_some() {
            // If the database does not take it, the others see that the lock is gone.
            let _ = self.retire(self.worker()).await;
        }
        self.0.writer.close().await;
        self.0.readers.close().await;
        if let Some(signals) = &self.0.signals {
            // Whoever listens gives the connection back when it hears of it, and may be busy.
            let _ = tokio::time::timeout(LISTENERS_LEAVE, signals.close()).await;
        }
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.0.readers.is_sqlite()
    }

    pub(crate) fn signal_pool(&self) -> Option<&PgPool> {
        self.0.signals.as_ref()
    }

    pub(crate) fn presence(&self) -> &Mutex<Option<Connection>> {
        &self.0.presence
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.0.writer
    }

    /// A connection that reads.
    pub(crate) async fn reader(&self) -> Result<Connection, StoreError> {
        self.0.readers.acquire().await
    }

    pub(crate) async fn rows(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        self.reader().await?.rows(statement).await
    }

    pub(crate) async fn row(&self, statement: Statement) -> Result<Option<Row>, StoreError> {
        self.reader().await?.row(statement).await
    }

    /// Writes, in a transaction that it may share with others. It may be done several times, as others can be in the way.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Clone
            + Send
            + 'static,
    {
        self.0.writer.write(work).await
    }
}

/// Connections for signals. Nothing is lost with one, so no commit of theirs waits for the disk.
fn for_signals(options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(SIGNALS)
        .after_connect(|connection, _| {
            Box::pin(async move {
                let relax = sqlx::query("SET synchronous_commit TO off");
                relax.execute(connection).await.map(drop)
            })
        })
        .connect_lazy_with(options)
}

/// How writing went since a store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commits {
    /// Transactions that were committed.
    pub transactions: u64,
    /// Batches of journals in them.
    pub batches: u64,
}

/// A page of something, and how to get the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last.
    pub next: Option<String>,
}

/// A numbered page of something.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// How many there are on all pages.
    pub total: u64,
}

/// Which page of a list: from 1, with so many on each (at most 1,000).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageNumber {
    /// From 1.
    pub page: u32,
    /// How many are on a page.
    pub size: u32,
}

impl Default for PageNumber {
    fn default() -> PageNumber {
        PageNumber { page: 1, size: 30 }
    }
}

impl PageNumber {
    pub(crate) fn limit(self) -> i64 {
        i64::from(self.size.min(1_000))
    }

    pub(crate) fn offset(self) -> i64 {
        i64::from(self.page.saturating_sub(1)).saturating_mul(self.limit())
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// An id that nobody has yet: 32 hexadecimal digits that ascend with time.
pub(crate) fn new_id() -> String {
    Uuid::now_v7().simple().to_string()
}

/// Makes the folder if there is none. What is in it is for nobody else to read.
fn make_folder(folder: &Path) -> Result<(), StoreError> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| StoreError::Folder {
        folder: folder.to_owned(),
        cause: error.to_string(),
    })
}

/// A folder that was there before may be open to others; the database is not, nor what SQLite puts beside it.
fn keep_private(_file: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        // Whatever fails here, opening the database says it better.
        let _ = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(_file);
        let _ = fs::set_permissions(_file, fs::Permissions::from_mode(0o600));
    }
}
