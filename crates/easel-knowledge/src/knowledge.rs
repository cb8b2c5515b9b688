//! The knowledge bases of a folder.

use std::path::Path;
use std::sync::Arc;

use easel_core::Object;

use crate::embed::{Embedder, HashedNgrams};
use crate::error::KnowledgeError;
use crate::limits::Limits;
use crate::rerank::Reranker;
use crate::store::{Base, BaseRow, Document, NewBase, Store};

/// The knowledge bases in a folder. A clone is another handle to the same.
///
/// Several processes may have the same folder open. Its methods may be awaited on any executor.
#[derive(Clone)]
pub struct Knowledge {
    pub(crate) store: Store,
    embedders: Vec<Arc<dyn Embedder>>,
    rerankers: Vec<Arc<dyn Reranker>>,
    pub(crate) limits: Limits,
}

impl Knowledge {
    /// Opens the knowledge bases of a folder; makes the folder and `knowledge.db` in it if they are not there.
    ///
    /// It waits for the disk, so an async task should not call it. [`HashedNgrams`] is connected from the start.
    pub fn open(folder: &Path) -> Result<Knowledge, KnowledgeError> {
        Ok(Knowledge {
            store: Store::open(folder)?,
            embedders: vec![Arc::new(HashedNgrams)],
            rerankers: Vec::new(),
            limits: Limits::default(),
        })
    }

    /// Connects an embedding model, in place of one of the same name.
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Knowledge {
        self.embedders
            .retain(|other| other.model() != embedder.model());
        self.embedders.push(embedder);
        self
    }

    /// Connects a reranking model, in place of one of the same name.
    pub fn with_reranker(mut self, reranker: Arc<dyn Reranker>) -> Knowledge {
        self.rerankers
            .retain(|other| other.model() != reranker.model());
        self.rerankers.push(reranker);
        self
    }

    /// Sets what reading a document may cost.
    pub fn with_limits(mut self, limits: Limits) -> Knowledge {
        self.limits = limits;
        self
    }

    /// Makes a knowledge base. Its embedding model must be connected.
    pub async fn create(&self, new: NewBase) -> Result<Base, KnowledgeError> {
        if let Some(model) = &new.model
            && !self
                .embedders
                .iter()
                .any(|embedder| embedder.model() == model)
        {
            return Err(KnowledgeError::NoEmbedder {
                base: new.name,
                model: model.clone(),
            });
        }
        let made = self.store.write(move |at| BaseRow::create(at, &new));
        Ok(made.await?.base)
    }

    /// All knowledge bases, by name.
    pub async fn bases(&self) -> Result<Vec<Base>, KnowledgeError> {
        let all = self.store.read(BaseRow::all).await?;
        Ok(all.into_iter().map(|row| row.base).collect())
    }

    /// The knowledge base with an id or, if none has that id, with that name.
    pub async fn base(&self, base: &str) -> Result<Base, KnowledgeError> {
        Ok(self.row(base).await?.base)
    }

    /// Gives a knowledge base another name.
    pub async fn rename(&self, base: &str, name: &str) -> Result<(), KnowledgeError> {
        let (base, name) = (base.to_owned(), name.to_owned());
        let rename = self
            .store
            .write(move |at| BaseRow::find(at, &base)?.rename(at, &name));
        rename.await
    }

    /// Removes a knowledge base with all that it holds.
    pub async fn remove(&self, base: &str) -> Result<(), KnowledgeError> {
        let base = base.to_owned();
        let remove = self
            .store
            .write(move |at| BaseRow::find(at, &base)?.remove(at));
        remove.await
    }

    /// The documents of a knowledge base, by name, those that could not be read included.
    pub async fn documents(&self, base: &str) -> Result<Vec<Document>, KnowledgeError> {
        let base = base.to_owned();
        let read = self
            .store
            .read(move |at| BaseRow::find(at, &base)?.documents(at));
        read.await
    }

    /// One document.
    pub async fn document(&self, base: &str, name: &str) -> Result<Document, KnowledgeError> {
        let (base, name) = (base.to_owned(), name.to_owned());
        let read = self
            .store
            .read(move |at| BaseRow::find(at, &base)?.document(at, &name));
        read.await
    }

    /// Removes a document with its passages.
    pub async fn remove_document(&self, base: &str, name: &str) -> Result<(), KnowledgeError> {
        let (base, name) = (base.to_owned(), name.to_owned());
        let remove = move |at: &rusqlite::Transaction<'_>| {
            BaseRow::find(at, &base)?.remove_document(at, &name)
        };
        self.store.write(remove).await
    }

    /// Sets what is known of a document beside its text.
    pub async fn set_metadata(
        &self,
        base: &str,
        name: &str,
        metadata: Object,
    ) -> Result<(), KnowledgeError> {
        let (base, name) = (base.to_owned(), name.to_owned());
        let set = move |at: &rusqlite::Transaction<'_>| {
            BaseRow::find(at, &base)?.set_metadata(at, &name, &metadata)
        };
        self.store.write(set).await
    }

    pub(crate) async fn row(&self, base: &str) -> Result<BaseRow, KnowledgeError> {
        let base = base.to_owned();
        self.store.read(move |at| BaseRow::find(at, &base)).await
    }

    /// The model that makes the vectors of a knowledge base, if it has any.
    pub(crate) fn embedder(
        &self,
        base: &Base,
    ) -> Result<Option<Arc<dyn Embedder>>, KnowledgeError> {
        let Some(model) = &base.model else {
            return Ok(None);
        };
        let connected = self
            .embedders
            .iter()
            .find(|embedder| embedder.model() == model);
        match connected {
            Some(embedder) => Ok(Some(embedder.clone())),
            None => Err(KnowledgeError::NoEmbedder {
                base: base.name.clone(),
                model: model.clone(),
            }),
        }
    }

    pub(crate) fn reranker(&self, model: &str) -> Result<Arc<dyn Reranker>, KnowledgeError> {
        let connected = self
            .rerankers
            .iter()
            .find(|reranker| reranker.model() == model);
        connected
            .cloned()
            .ok_or_else(|| KnowledgeError::NoReranker(model.into()))
    }
}
