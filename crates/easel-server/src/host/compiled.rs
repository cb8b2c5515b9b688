//! Compiled workflows by the hash of their document: each is compiled once, however many runs it has.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_runtime::graphs::package::Package;
use easel_runtime::{Engine, Workflow};
use easel_store::{Dialect, Store};
use tokio::sync::OnceCell;

use super::HostError;

/// Compiled workflows; those that were used last are kept.
pub struct Compiled {
    kept: usize,
    entries: Mutex<Entries>,
    compiles: AtomicU64,
}

#[derive(Default)]
struct Entries {
    by_hash: HashMap<Arc<str>, Entry>,
    clock: u64,
}

struct Entry {
    workflow: Arc<OnceCell<Arc<Workflow>>>,
    used: u64,
}

impl Compiled {
    /// Nothing yet; that many will be kept.
    pub fn new(kept: usize) -> Compiled {
        Compiled {
            kept: kept.max(1),
            entries: Mutex::default(),
            compiles: AtomicU64::new(0),
        }
    }

    /// How often a workflow was compiled.
    pub fn compiles(&self) -> u64 {
        self.compiles.load(Ordering::Relaxed)
    }

    pub(super) async fn get(
        &self,
        hash: &str,
        store: &Store,
        engine: &Arc<Engine>,
    ) -> Result<Arc<Workflow>, HostError> {
        let cell = self.cell(hash);
        let workflow = cell.get_or_try_init(|| async {
            let document = store.document(hash).await?;
            let document = document.ok_or_else(|| HostError::NoDocument(hash.to_owned()))?;
            self.compiles.fetch_add(1, Ordering::Relaxed);
            let engine = engine.clone();
            let load = move || compile(&engine, document.dialect, &document.bytes);
            match tokio::task::spawn_blocking(load).await {
                Ok(loaded) => loaded.map(Arc::new),
                Err(_) => Err(HostError::Stopping),
            }
        });
        workflow.await.cloned()
    }

    fn cell(&self, hash: &str) -> Arc<OnceCell<Arc<Workflow>>> {
        let mut entries = self.lock();
        entries.clock += 1;
        let clock = entries.clock;
        if let Some(entry) = entries.by_hash.get_mut(hash) {
            entry.used = clock;
            return entry.workflow.clone();
        }
        if entries.by_hash.len() >= self.kept {
            let oldest = entries.by_hash.iter().min_by_key(|(_, entry)| entry.used);
            if let Some(oldest) = oldest.map(|(hash, _)| hash.clone()) {
                entries.by_hash.remove(&oldest);
            }
        }
        let workflow = Arc::<OnceCell<_>>::default();
        let entry = Entry {
            workflow: workflow.clone(),
            used: clock,
        };
        entries.by_hash.insert(hash.into(), entry);
        workflow
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A document as a workflow: a canvas, or a graph by itself or as an archive with its Python.
pub(crate) fn compile(
    engine: &Engine,
    dialect: Dialect,
    bytes: &[u8],
) -> Result<Workflow, HostError> {
    const ARCHIVE: &[u8] = b"PK\x03\x04";
    if dialect == Dialect::Graph && bytes.starts_with(ARCHIVE) {
        let package = Package::from_archive(bytes).map_err(easel_runtime::LoadError::from)?;
        return Ok(engine.package(&package));
    }
    Ok(engine.load(bytes)?)
}
