//! Reranking: a model that reads query and passage together.

use futures::future::BoxFuture;

/// A model that says how well passages answer a query. A provider's API implements it.
pub trait Reranker: Send + Sync {
    /// The model's name, as `rerank_id` names it.
    fn model(&self) -> &str;

    /// How well each text answers the query, from 0 to 1, in their order. The error is what the provider said.
    fn rerank(&self, query: String, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<f64>, String>>;
}
