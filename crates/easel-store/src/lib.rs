//! Journals and records in SQLite and PostgreSQL: everything that a server keeps.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
//! use easel_runtime::core::event::{Event, Fact, Timestamp};
//! use easel_runtime::{Batch, Journal};
//! use easel_store::{Location, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().to_str().unwrap_or_default();
//! let store = Store::open(&Location::parse(folder)).await?;
//! let cancelled = Event::new(Timestamp(0), Fact::Cancelled);
//! store.append(Batch::new("a-run", 0, vec![cancelled.clone()])).await?;
//! assert_eq!(store.read("a-run").await?, [cancelled]);
//! # Ok(()) }) }
//! ```
//!
//! [`Store`] is a [`Journal`](easel_runtime::Journal), and has a method for each thing one asks of the records. What is
//! written is safe once the future is done: in SQLite one writer commits for all who wait, with one fsync; in PostgreSQL a
//! few do. What reads never waits for what writes.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agents;
mod cancels;
mod entry;
mod error;
mod files;
mod gc;
mod journal;
mod keys;
mod memories;
mod notes;
mod receipts;
mod runs;
mod schema;
mod schemas;
mod sessions;
mod signals;
mod sql;
mod sqlite;
mod store;
mod teams;
mod values;
mod versions;
mod workers;
mod writer;

pub use agents::{
    AgentFilter, AgentOrder, AgentPatch, AgentRecord, NewAgent, Permission, TagCount,
};
pub use error::{DatabaseError, StoreError};
pub use files::{Dialect, Document, FileRecord, NewFile};
pub use gc::{GcCounts, GcPlan};
pub use keys::{KeyRecord, KeySecret, NewKey};
pub use memories::{Exchange, MEMORY_EXCHANGES, MEMORY_TEXT, MemoryFilter, MemoryOf, NewExchange};
pub use runs::{RunCount, RunFilter, RunRecord, RunSummary};
pub use schemas::{drop_schema, make_schema};
pub use sessions::{NewSession, SessionFilter, SessionOrder, SessionRecord};
pub use signals::{Signal, Signals, Told};
pub use store::{Commits, FolderLock, Listed, Location, Page, PageNumber, Store};
pub use versions::VersionRecord;
pub use workers::GONE_AFTER;
