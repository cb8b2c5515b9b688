//! Knowledge bases as the retriever of workflows.

use std::collections::HashMap;
use std::sync::Arc;

use easel_core::{Object, Value};
use easel_tools::ToolError;
use easel_tools::retrieval::{RetrievalRequest, Retrieved, Retriever};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::search::Hit;

impl Retriever for Knowledge {
    fn retrieve(&self, request: RetrievalRequest) -> BoxFuture<'_, Result<Retrieved, ToolError>> {
        async move {
            let hits = self.search(&request).await.map_err(ToolError::from)?;
            Ok(Retrieved {
                doc_aggs: documents(&hits),
                chunks: hits.iter().map(chunk).collect(),
            })
        }
        .boxed()
    }
}

/// A passage under the keys that citations are made of.
fn chunk(hit: &Hit) -> Object {
    let text = |text: &str| Value::from(text);
    let mut members = vec![
        ("chunk_id", text(&hit.id)),
        ("content", Value::from(content(hit))),
        ("doc_id", text(&hit.document_id)),
        ("docnm_kwd", text(&hit.document)),
        ("kb_id", text(&hit.base_id)),
        ("similarity", Value::from(hit.similarity)),
        (
            "vector_similarity",
            Value::from(hit.vector_similarity.unwrap_or(0.0)),
        ),
        ("term_similarity", Value::from(hit.term_similarity)),
        ("positions", Value::empty_array()),
        ("document_metadata", Value::from(hit.metadata.clone())),
    ];
    if let Some(url) = hit.metadata.get("url").and_then(Value::as_str) {
        members.push(("url", text(url)));
    }
    if let Some(page) = hit.page {
        members.push(("page", Value::from(page as u64)));
    }
    object(members)
}

/// The passage with the headings above it, unless it begins with one.
fn content(hit: &Hit) -> String {
    match hit.heading.as_str() {
        heading if !heading.is_empty() && !hit.text.starts_with('#') => {
            format!("{heading}\n\n{}", hit.text)
        }
        _ => hit.text.clone(),
    }
}

/// The documents of the passages, those with most passages first.
fn documents(hits: &[Hit]) -> Vec<Object> {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    let mut documents: Vec<&Hit> = Vec::new();
    for hit in hits {
        let count = counts.entry(&hit.document_id).or_default();
        if *count == 0 {
            documents.push(hit);
        }
        *count += 1;
    }
    let count = |hit: &Hit| counts.get(&*hit.document_id).copied().unwrap_or(0);
    // Sorting keeps the order of documents with as many.
    documents.sort_by_key(|hit| -count(hit));
    let document = |hit: &&Hit| {
        object(vec![
            ("doc_name", Value::from(hit.document.as_str())),
            ("doc_id", Value::from(hit.document_id.as_str())),
            ("count", Value::from(count(hit))),
        ])
    };
    documents.iter().map(document).collect()
}

fn object(members: Vec<(&str, Value)>) -> Object {
    let members = members.into_iter();
    members
        .map(|(name, value)| (Arc::from(name), value))
        .collect()
}

impl From<KnowledgeError> for ToolError {
    fn from(error: KnowledgeError) -> ToolError {
        let invalid = |what: &str, problem: String| ToolError::InvalidRequest {
            what: what.into(),
            problem,
        };
        match error {
            KnowledgeError::Invalid { what, problem } => invalid(&what, problem),
            KnowledgeError::Document { name, cause, fix } => ToolError::Unreadable {
                name,
                problem: format!("{cause}. {fix}"),
            },
            KnowledgeError::NoBase(_)
            | KnowledgeError::DifferentModels(_)
            | KnowledgeError::NoEmbedder { .. } => invalid("dataset_ids", error.to_string()),
            KnowledgeError::NoReranker(_) => invalid("rerank_id", error.to_string()),
            error => ToolError::Failed {
                what: "retrieval".into(),
                message: error.to_string(),
            },
        }
    }
}
