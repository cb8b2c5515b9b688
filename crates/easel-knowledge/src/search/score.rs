//! How well passages fit, by words and by vectors, each from 0 to 1.
//!
//! **Words.** A term of the query weighs the more the fewer passages have it: `ln(1 + (N − n + 0.5) / (n + 0.5))`, with N
//! passages of which n have the term. A passage gets of each weight `f / (f + 0.3)`, where f says how often the term stands
//! in it; what it gets of all, divided by the weights of all terms of the query, is its score. So 1 would be a passage with
//! every word of the query many times, and the score of a passage does not depend on what else was found.
//!
//! **Vectors.** The cosine of passage and query; below 0 it counts as 0.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use rusqlite::Transaction;

use crate::error::KnowledgeError;
use crate::store::{Scope, terms_of, vector_of};
use crate::terms::QueryTerm;

/// How soon a term that is repeated stops to count more.
const SATURATION: f64 = 0.3;

/// A passage that may be an answer.
pub(super) struct Candidate {
    pub(super) row: i64,
    pub(super) terms: f64,
    /// `None`: there are no vectors.
    pub(super) vector: Option<f64>,
}

/// The `top_k` nearest by vector and the `top_k` best by words, with both scores.
pub(super) fn candidates(
    scope: &Scope,
    at: &Transaction<'_>,
    terms: &[QueryTerm],
    vector: Option<&[f32]>,
    top_k: usize,
) -> Result<Vec<Candidate>, KnowledgeError> {
    let weighed = weigh(scope, at, terms)?;
    let total: f64 = weighed.iter().map(|term| term.weight).sum();
    let mut vectors: HashMap<i64, f64> = match vector {
        Some(query) => nearest(scope, at, query, top_k)?.into_iter().collect(),
        None => HashMap::new(),
    };
    let mut rows: Vec<i64> = vectors.keys().copied().collect();
    let known: HashSet<i64> = rows.iter().copied().collect();
    let by_words = with_most_weight(&weighed, scope.allowed(at)?, top_k);
    rows.extend(by_words.into_iter().filter(|row| !known.contains(row)));
    let mut candidates = Vec::with_capacity(rows.len());
    for row in rows {
        if let Some(query) = vector.filter(|_| !known.contains(&row)) {
            vectors.insert(row, cosine(query, &vector_of(at, row)?));
        }
        let got = got(&weighed, at, row)?;
        candidates.push(Candidate {
            row,
            terms: if total > 0.0 { got / total } else { 0.0 },
            vector: vector.map(|_| vectors.get(&row).copied().unwrap_or(0.0)),
        });
    }
    Ok(candidates)
}

/// A term with what it weighs and where it stands.
struct Weighed<'t> {
    term: &'t QueryTerm,
    weight: f64,
    rows: HashSet<i64>,
}

fn weigh<'t>(
    scope: &Scope,
    at: &Transaction<'_>,
    terms: &'t [QueryTerm],
) -> Result<Vec<Weighed<'t>>, KnowledgeError> {
    let size = scope.size(at)? as f64;
    let weigh = |term| {
        let rows: HashSet<i64> = scope.with_term(at, term)?.into_iter().collect();
        let having = rows.len() as f64;
        Ok(Weighed {
            term,
            weight: (1.0 + (size - having + 0.5).max(0.0) / (having + 0.5)).ln(),
            rows,
        })
    };
    terms.iter().map(weigh).collect()
}

/// The passages whose terms weigh most, whatever their number there.
fn with_most_weight(
    weighed: &[Weighed<'_>],
    allowed: Option<HashSet<i64>>,
    top_k: usize,
) -> Vec<i64> {
    let mut weights: HashMap<i64, f64> = HashMap::new();
    for term in weighed {
        for row in &term.rows {
            *weights.entry(*row).or_default() += term.weight;
        }
    }
    if let Some(allowed) = allowed {
        weights.retain(|row, _| allowed.contains(row));
    }
    let mut rows: Vec<_> = weights.into_iter().collect();
    rows.sort_unstable_by(|(row, a), (other, b)| b.total_cmp(a).then(row.cmp(other)));
    rows.truncate(top_k);
    rows.into_iter().map(|(row, _)| row).collect()
}

/// What a passage gets of the weights.
fn got(weighed: &[Weighed<'_>], at: &Transaction<'_>, row: i64) -> Result<f64, KnowledgeError> {
    let there: Vec<_> = weighed
        .iter()
        .filter(|term| term.rows.contains(&row))
        .collect();
    if there.is_empty() {
        return Ok(0.0);
    }
    let text = terms_of(at, row)?;
    let mut counts = vec![0_usize; there.len()];
    for word in text.split(' ') {
        for (count, term) in counts.iter_mut().zip(&there) {
            *count += usize::from(term.term.is(word));
        }
    }
    let share = |(count, term): (&usize, &&Weighed<'_>)| {
        let count = *count as f64;
        term.weight * count / (count + SATURATION)
    };
    Ok(counts.iter().zip(&there).map(share).sum())
}

/// The rows with the greatest cosines, in no order.
fn nearest(
    scope: &Scope,
    at: &Transaction<'_>,
    query: &[f32],
    top_k: usize,
) -> Result<Vec<(i64, f64)>, KnowledgeError> {
    // The least of those that are kept lies on top; of equal ones the later row.
    let mut kept: BinaryHeap<(Reverse<u64>, i64)> = BinaryHeap::new();
    scope.each_vector(at, |row, vector| {
        // Not negative, so the bits are in the order of the numbers.
        let entry = (Reverse(cosine(query, vector).to_bits()), row);
        if kept.len() < top_k {
            kept.push(entry);
        } else if let Some(mut least) = kept.peek_mut()
            && entry < *least
        {
            *least = entry;
        }
    })?;
    let kept = kept.into_iter();
    Ok(kept
        .map(|(Reverse(bits), row)| (row, f64::from_bits(bits)))
        .collect())
}

/// The cosine of two vectors of length 1, the second as it lies in the database; from 0 to 1.
fn cosine(query: &[f32], stored: &[u8]) -> f64 {
    let stored = stored.as_chunks::<4>().0;
    if stored.len() != query.len() {
        return 0.0;
    }
    let products = query.iter().zip(stored);
    let dot: f32 = products.map(|(a, b)| a * f32::from_le_bytes(*b)).sum();
    f64::from(dot).clamp(0.0, 1.0)
}
