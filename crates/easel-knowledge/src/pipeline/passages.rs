//! Pieces of a pipeline as passages of a knowledge base.

use easel_core::{Object, Value};
use easel_tools::ingestion::{BlockKind, KeepRequest, Passage};

use crate::add::embedded;
use crate::embed::{Embedder, normalise};
use crate::error::KnowledgeError;
use crate::search::PART;
use crate::store::{NewPassage, title_of};

/// The passages that are kept of a document, each with its vector if the knowledge base has any.
pub(super) async fn new(
    name: &str,
    request: KeepRequest,
    embedder: Option<&dyn Embedder>,
) -> Result<Vec<NewPassage>, KnowledgeError> {
    let vectors = match embedder.filter(|_| request.by_vectors) {
        Some(embedder) => vectors(name, &request, embedder).await?,
        None => Vec::new(),
    };
    // Without vectors nothing else would find it.
    let by_words = request.by_words || vectors.is_empty();
    let mut vectors = vectors.into_iter();
    let mut place = 0;
    let passage = |passage: Passage| {
        let begun = place;
        place += passage.piece.text.len();
        NewPassage {
            searched: match by_words {
                true => searched(name, &passage),
                false => String::new(),
            },
            fields: fields(&passage),
            heading: passage.piece.heading,
            page: passage.piece.page,
            place: begun..place,
            text: passage.piece.whole.unwrap_or(passage.piece.text),
            vector: vectors.next(),
        }
    };
    Ok(request.passages.into_iter().map(passage).collect())
}

/// A vector for each passage: of its text, with that of the document's name mixed in by its weight.
async fn vectors(
    name: &str,
    request: &KeepRequest,
    embedder: &dyn Embedder,
) -> Result<Vec<Vec<f32>>, KnowledgeError> {
    let texts = request.passages.iter().map(meaning);
    let mut vectors = embedded(embedder, texts.collect(), &mut |_| {}).await?;
    let weight = request.name_weight.clamp(0.0, 1.0) as f32;
    if weight > 0.0 {
        let title = embedded(embedder, vec![title_of(name).to_owned()], &mut |_| {}).await?;
        let title = title.first().map(Vec::as_slice).unwrap_or_default();
        for vector in &mut vectors {
            for (value, title) in vector.iter_mut().zip(title) {
                *value = weight * title + (1.0 - weight) * *value;
            }
            normalise(vector);
        }
    }
    Ok(vectors)
}

/// The text whose meaning counts, below its headings.
fn meaning(passage: &Passage) -> String {
    let text = match passage.embedded.trim() {
        "" => &passage.piece.text,
        _ => &passage.embedded,
    };
    match passage.piece.heading.as_str() {
        "" => text.clone(),
        heading => format!("{heading}\n{text}"),
    }
}

/// The words by which it is found: its own, those above it, and those that a pipeline found for it.
fn searched(name: &str, passage: &Passage) -> String {
    let mut parts = vec![
        title_of(name),
        &passage.piece.heading,
        &passage.piece.text,
        &passage.summary,
    ];
    parts.extend(passage.keywords.iter().map(String::as_str));
    parts.extend(passage.questions.iter().map(String::as_str));
    parts.join("\n")
}

/// What was found out about it, as JSON; nothing if there is nothing.
fn fields(passage: &Passage) -> Option<String> {
    let list = |texts: &[String]| {
        Value::from(Vec::from_iter(
            texts.iter().map(|text| Value::from(text.as_str())),
        ))
    };
    let mut fields = Object::new();
    if !passage.summary.is_empty() {
        fields.insert("summary".into(), Value::from(passage.summary.as_str()));
    }
    for (name, texts) in [
        ("keywords", &passage.keywords),
        ("questions", &passage.questions),
    ] {
        if !texts.is_empty() {
            fields.insert(name.into(), list(texts));
        }
    }
    if !passage.metadata.is_empty() {
        fields.insert("metadata".into(), Value::from(passage.metadata.clone()));
    }
    if passage.piece.kind != BlockKind::Text {
        fields.insert("kind".into(), Value::from(passage.piece.kind.name()));
    }
    if passage.piece.whole.is_some() {
        fields.insert(PART.into(), Value::from(passage.piece.text.as_str()));
    }
    (!fields.is_empty()).then(|| Value::from(fields).to_json_text())
}
