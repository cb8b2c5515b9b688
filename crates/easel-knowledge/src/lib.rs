//! Embedded knowledge bases: documents, the passages they are cut into, and their search, in one file.
//!
//! ```
//! # use futures::executor::block_on;
//! use easel_knowledge::{HashedNgrams, Knowledge, NewBase, Source};
//! use easel_tools::retrieval::RetrievalRequest;
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! # block_on(async {
//! let knowledge = Knowledge::open(folder)?;
//! let handbook = NewBase {
//!     name: "handbook".into(),
//!     model: Some(HashedNgrams::MODEL.into()),
//!     ..NewBase::default()
//! };
//! knowledge.create(handbook).await?;
//! let leave = Source {
//!     name: "leave.md".into(),
//!     bytes: b"# Leave\n\nEvery employee has 28 days of leave a year.".to_vec(),
//!     metadata: None,
//! };
//! knowledge.add("handbook", vec![leave], |_| {}).await?;
//!
//! let question = RetrievalRequest {
//!     query: "How many days of leave do employees have?".into(),
//!     dataset_ids: vec!["handbook".into()],
//!     ..RetrievalRequest::default()
//! };
//! let found = knowledge.search(&question).await?;
//! assert_eq!(found[0].document, "leave.md");
//! assert_eq!(found[0].heading, "Leave");
//! # Ok::<(), easel_knowledge::KnowledgeError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`read`] makes Markdown of a document, [`chunks`] cuts it into passages.
//! - [`Knowledge`] keeps knowledge bases in a folder, adds documents to them and searches them. It is a
//!   [`Retriever`](easel_tools::retrieval::Retriever).
//! - [`Pipeline`] is the door through which an ingestion pipeline adds documents; [`Reader`] is the same without a knowledge base.
//! - [`Embedder`] and [`Reranker`] are the doors to models. Without an embedding model words alone are compared.
//!
//! How passages are scored stands in `search/score.rs`.

mod add;
mod blocks;
mod chunks;
mod cut;
mod embed;
mod error;
mod folder;
mod format;
mod knowledge;
mod likeness;
mod limits;
mod pipeline;
mod reader;
mod reading;
mod rerank;
mod retriever;
mod search;
mod store;
mod terms;
mod text;
pub mod tokens;
mod worker;

pub use add::{Outcome, Progress, Report, Source, Step};
pub use chunks::{Chunk, Chunking, chunks};
pub use embed::{Embedder, HashedNgrams, Purpose};
pub use error::{FILE, KnowledgeError};
pub use folder::Folder;
pub use format::Format;
pub use knowledge::Knowledge;
pub use likeness::likeness;
pub use limits::Limits;
pub use pipeline::{Begun, Pipeline, RunEnd};
pub use reader::Reader;
pub use reading::read;
pub use rerank::Reranker;
pub use search::Hit;
pub use store::{Base, Document, NewBase, State};
pub use text::Text;

/// A fingerprint of bytes, by which pipelines and requests are known: 32 bytes, the same on every machine.
pub fn fingerprint(bytes: &[u8]) -> Vec<u8> {
    <sha2::Sha256 as sha2::Digest>::digest(bytes).to_vec()
}
