//! Search: by words and by vectors at once.

mod filter;
mod score;

use easel_core::Object;
use easel_tools::retrieval::RetrievalRequest;
use rusqlite::Transaction;

use crate::embed::{Purpose, normalise};
use crate::error::KnowledgeError;
use crate::knowledge::Knowledge;
use crate::rerank::Reranker;
use crate::store::{BaseRow, Passage, Scope};
use crate::terms::{QueryTerm, query_terms};
use score::Candidate;

/// Characters of a query that are read.
const QUERY: usize = 8_000;

/// Passages that a search gives at most, whatever `top_n` says.
const MOST: usize = 1_000;

/// Passages that are given to a reranking model at most.
const RERANKED: usize = 64;

/// The field with the part of a passage by which it is found.
pub(crate) const PART: &str = "part";

/// A passage that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The passage's id; it stays as long as its text does.
    pub id: String,
    /// What it says.
    pub text: String,
    /// The headings above it: `Guide > Install`.
    pub heading: String,
    /// The page on which it begins.
    pub page: Option<usize>,
    /// The id of its document.
    pub document_id: String,
    /// The name of its document.
    pub document: String,
    /// What is known of its document.
    pub metadata: Object,
    /// What a pipeline found out about it: `summary`, `keywords`, `questions`, ... Empty for documents that went through none.
    pub fields: Object,
    /// The id of its knowledge base.
    pub base_id: String,
    /// How well it fits, from 0 to 1.
    pub similarity: f64,
    /// The share of words in that.
    pub term_similarity: f64,
    /// The share of vectors, or of the reranking model; `None` where there is neither.
    pub vector_similarity: Option<f64>,
}

impl Knowledge {
    /// The passages that fit a query best, best first. No passage is no error.
    pub async fn search(&self, request: &RetrievalRequest) -> Result<Vec<Hit>, KnowledgeError> {
        check(request)?;
        let query: String = request.query.chars().take(QUERY).collect();
        if query.trim().is_empty() || request.top_n == 0 {
            return Ok(Vec::new());
        }
        let reranker = match &request.rerank_id {
            Some(model) => Some(self.reranker(model)?),
            None => None,
        };
        let bases = self.bases_of(&request.dataset_ids).await?;
        let vector = self.query_vector(&bases, &query).await?;
        let asked = Asked {
            terms: query_terms(&query),
            vector,
            bases: bases.iter().map(|base| base.row).collect(),
            request: request.clone(),
            keep: match reranker {
                Some(_) => RERANKED,
                None => (request.top_n as usize).min(MOST),
            },
        };
        let mut found = self.store.read(move |at| asked.find(at)).await?;
        if let Some(reranker) = reranker {
            rerank(&*reranker, query, &mut found, request).await?;
        }
        found.retain(|hit| hit.similarity >= request.similarity_threshold);
        found.truncate((request.top_n as usize).min(MOST));
        Ok(found)
    }

    /// The knowledge bases of a request, each once. They can be compared with each other.
    async fn bases_of(&self, asked: &[String]) -> Result<Vec<BaseRow>, KnowledgeError> {
        let asked = asked.to_vec();
        let find = move |at: &Transaction<'_>| {
            let mut bases: Vec<BaseRow> = Vec::new();
            for id in &asked {
                let base = BaseRow::find(at, id)?;
                if bases.iter().all(|other| other.row != base.row) {
                    bases.push(base);
                }
            }
            Ok(bases)
        };
        let bases = self.store.read(find).await?;
        if bases
            .windows(2)
            .any(|pair| pair[0].base.model != pair[1].base.model)
        {
            let told = bases.iter().map(|base| {
                let model = base.base.model.as_deref().unwrap_or("none");
                format!("\"{}\" uses {model}", base.base.name)
            });
            return Err(KnowledgeError::DifferentModels(
                told.collect::<Vec<_>>().join(", "),
            ));
        }
        Ok(bases)
    }

    /// The query as a vector of length 1. `None` if nothing could be compared with it.
    async fn query_vector(
        &self,
        bases: &[BaseRow],
        query: &str,
    ) -> Result<Option<Vec<f32>>, KnowledgeError> {
        // One whose vectors say how long they are, if any does.
        let with_vectors = bases.iter().find(|base| base.base.dimensions.is_some());
        let Some(base) = with_vectors.or(bases.first()) else {
            return Ok(None);
        };
        let Some(embedder) = self.embedder(&base.base)? else {
            return Ok(None);
        };
        let failed = |cause: String| KnowledgeError::Model {
            model: embedder.model().to_owned(),
            cause,
        };
        let vectors = embedder.embed(Purpose::Query, vec![query.to_owned()]).await;
        let mut vectors = vectors.map_err(failed)?;
        let Some(mut vector) = vectors.pop().filter(|_| vectors.is_empty()) else {
            return Err(failed("it did not give one vector for one text".into()));
        };
        if let Some(dimensions) = base
            .base
            .dimensions
            .filter(|length| *length != vector.len())
        {
            let cause = format!(
                "it gave a vector of {} numbers, and those in \"{}\" have {dimensions}. Make the knowledge base anew",
                vector.len(),
                base.base.name
            );
            return Err(failed(cause));
        }
        normalise(&mut vector);
        Ok(Some(vector))
    }
}

/// A request that can be answered by the database.
struct Asked {
    terms: Vec<QueryTerm>,
    vector: Option<Vec<f32>>,
    bases: Vec<i64>,
    request: RetrievalRequest,
    /// How many passages are read in the end.
    keep: usize,
}

impl Asked {
    fn find(&self, at: &Transaction<'_>) -> Result<Vec<Hit>, KnowledgeError> {
        let mut scope = Scope {
            bases: self.bases.clone(),
            documents: None,
        };
        scope.documents = filter::documents(&scope, at, &self.request)?;
        let weight = self.request.keywords_similarity_weight;
        let candidates = score::candidates(
            &scope,
            at,
            &self.terms,
            self.vector.as_deref(),
            self.request.top_k.max(1) as usize,
        )?;
        let mut scored: Vec<_> = candidates
            .into_iter()
            .map(|candidate| (together(weight, &candidate), candidate))
            .collect();
        scored.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.row.cmp(&other.row)));
        let mut found: Vec<Hit> = Vec::new();
        for (similarity, candidate) in scored {
            if found.len() >= self.keep {
                break;
            }
            let hit = hit(Passage::read(at, candidate.row)?, similarity, &candidate);
            if !found.iter().any(|other| is_same_whole(other, &hit)) {
                found.push(hit);
            }
        }
        Ok(found)
    }
}

/// Whether both stand for one passage, of which parts were searched: then the better one is enough.
fn is_same_whole(a: &Hit, b: &Hit) -> bool {
    let is_part = |hit: &Hit| hit.fields.contains_key(PART);
    is_part(a) && is_part(b) && a.document_id == b.document_id && a.text == b.text
}

/// The similarity: words and vectors by their weights, or words alone where there are no vectors.
fn together(weight: f64, candidate: &Candidate) -> f64 {
    match candidate.vector {
        Some(vector) => weight * candidate.terms + (1.0 - weight) * vector,
        None => candidate.terms,
    }
}

fn hit(passage: Passage, similarity: f64, candidate: &Candidate) -> Hit {
    Hit {
        id: passage.id,
        text: passage.text,
        heading: passage.heading,
        page: passage.page,
        document_id: passage.document_id,
        document: passage.document,
        metadata: passage.metadata,
        fields: passage.fields,
        base_id: passage.base_id,
        similarity,
        term_similarity: candidate.terms,
        vector_similarity: candidate.vector,
    }
}

/// Puts the judgement of a reranking model in the place of the vectors'.
async fn rerank(
    reranker: &dyn Reranker,
    query: String,
    found: &mut [Hit],
    request: &RetrievalRequest,
) -> Result<(), KnowledgeError> {
    if found.is_empty() {
        return Ok(());
    }
    let failed = |cause| KnowledgeError::Model {
        model: reranker.model().to_owned(),
        cause,
    };
    let texts = found.iter().map(|hit| hit.text.clone()).collect();
    let scores = reranker.rerank(query, texts).await.map_err(failed)?;
    if scores.len() != found.len() {
        let cause = format!("it judged {} of {} passages", scores.len(), found.len());
        return Err(failed(cause));
    }
    let weight = request.keywords_similarity_weight;
    for (hit, score) in found.iter_mut().zip(scores) {
        let score = if score.is_finite() {
            score.clamp(0.0, 1.0)
        } else {
            0.0
        };
        hit.vector_similarity = Some(score);
        hit.similarity = weight * hit.term_similarity + (1.0 - weight) * score;
    }
    found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    Ok(())
}

/// Says what of a request cannot be.
fn check(request: &RetrievalRequest) -> Result<(), KnowledgeError> {
    let shares = [
        ("similarity_threshold", request.similarity_threshold),
        (
            "keywords_similarity_weight",
            request.keywords_similarity_weight,
        ),
    ];
    for (what, share) in shares {
        if !(0.0..=1.0).contains(&share) {
            return Err(KnowledgeError::Invalid {
                what: what.into(),
                problem: format!("{share} is not from 0 to 1"),
            });
        }
    }
    if request.use_kg {
        return Err(KnowledgeError::Invalid {
            what: "use_kg".into(),
            problem: "embedded knowledge bases have no knowledge graph. Turn it off".into(),
        });
    }
    Ok(())
}
