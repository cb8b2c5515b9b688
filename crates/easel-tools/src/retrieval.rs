//! Search in datasets.

use easel_core::{Object, Value};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Searches datasets for passages that answer a query.
pub trait Retriever: Send + Sync {
    /// The passages that fit best, best first. No passage is no error.
    fn retrieve(&self, request: RetrievalRequest) -> BoxFuture<'_, Result<Retrieved, ToolError>>;
}

/// A query and how to search for it (`spec/canvas-components §6.1`). All references are resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetrievalRequest {
    /// What to look for.
    pub query: String,
    /// Ids or names of the datasets to search.
    pub dataset_ids: Vec<String>,
    /// Passages returned at most.
    pub top_n: u32,
    /// Candidates compared by vector at most.
    pub top_k: u32,
    /// Passages below this similarity (0 to 1) are left out.
    pub similarity_threshold: f64,
    /// Weight of matching words, 0 to 1; vectors weigh the rest.
    pub keywords_similarity_weight: f64,
    /// The model that puts the passages into their final order, if one does.
    pub rerank_id: Option<String>,
    /// Conditions on the metadata of documents; none: all documents.
    pub filters: Vec<MetadataCondition>,
    /// How the conditions combine.
    pub filter_logic: FilterLogic,
    /// Languages the query is translated to beforehand.
    pub cross_languages: Vec<String>,
    /// Also ask the datasets' knowledge graph.
    pub use_kg: bool,
    /// Choose passages anew by the documents' tables of contents.
    pub toc_enhance: bool,
}

impl Default for RetrievalRequest {
    /// The defaults of the Retrieval component, with an empty query and no dataset.
    fn default() -> Self {
        RetrievalRequest {
            query: String::new(),
            dataset_ids: Vec::new(),
            top_n: 8,
            top_k: 1024,
            similarity_threshold: 0.2,
            keywords_similarity_weight: 0.5,
            rerank_id: None,
            filters: Vec::new(),
            filter_logic: FilterLogic::And,
            cross_languages: Vec::new(),
            use_kg: false,
            toc_enhance: false,
        }
    }
}

/// One condition on a document's metadata, e.g. `region = north`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetadataCondition {
    /// The metadata field.
    pub key: String,
    /// The comparison, as written in the canvas: `=`, `≠`, `contains`, ...
    pub op: String,
    /// What the field is compared with.
    #[serde(default)]
    pub value: Value,
}

/// Whether all conditions must hold or one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FilterLogic {
    /// All must hold.
    #[default]
    And,
    /// One is enough.
    Or,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retrieved {
    /// The passages as the retriever gave them, without vectors. [`crate::references`] knows their keys.
    pub chunks: Vec<Object>,
    /// The documents they are from: `doc_name`, `doc_id`, `count`.
    pub doc_aggs: Vec<Object>,
}
