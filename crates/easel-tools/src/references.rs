//! What answers may cite: passages under short keys, and the documents they are from.
//!
//! A model cites a passage as `[ID:417]`; stored conversations and front ends quote that number. It is the SHA-1 of
//! the passage's id modulo 500 (`spec/canvas-components §1.7`), so it must come out the same here. Where two
//! passages share it, the second takes the next free number, and nothing is lost (D5).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use easel_core::{Object, Value};
use indexmap::IndexMap;
use sha1::{Digest, Sha1};

use crate::retrieval::Retrieved;

mod found;
mod prompt;

pub use found::{Found, retrieved};
pub use prompt::{PASSAGE_BUDGET, passages_text};

/// Keys are below this number until all are taken.
const KEYS: u32 = 500;

/// Ids made from a passage's text are below this number.
const IDS: u32 = 100_000_000;

/// A store of passages and documents that answers may cite; in JSON `{chunks: {key: passage}, doc_aggs: {name: document}}`.
///
/// Order is that of adding. What was added first stays: a passage or document that comes again changes nothing.
///
/// A component starts from what the turn has gathered, so that its keys are free there, and hands on what it added:
///
/// ```
/// use easel_tools::references::{PASSAGE_BUDGET, References, passages_text};
/// use easel_tools::retrieval::Retrieved;
///
/// let gathered = [serde_json::from_str(r#"{"chunks": {"417": {"id": "c1", "content": "Paris"}}, "doc_aggs": {}}"#)?];
/// let found: Retrieved = serde_json::from_str(r#"{"chunks": [{"chunk_id": "c7", "content": "Rome"}]}"#)?;
///
/// let cited = References::gather(&gathered).add(&found);
/// let shown = passages_text(&cited, PASSAGE_BUDGET, |text| text.len() / 4);
/// assert_eq!(shown, "\nID: 418\n└── Content:\nRome");
///
/// let handed_on = References::of(&cited, &found.doc_aggs).to_value();
/// assert!(handed_on.get("chunks").and_then(|chunks| chunks.get("418")).is_some());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct References {
    chunks: IndexMap<u32, Object>,
    /// The key of each passage, by its identity.
    keys: HashMap<String, u32>,
    doc_aggs: IndexMap<Arc<str>, Object>,
}

/// A passage and the key it is cited by.
#[derive(Clone, Debug, PartialEq)]
pub struct Cited {
    /// The key.
    pub key: u32,
    /// The passage, with the member names of [`References`].
    pub chunk: Object,
}

impl References {
    /// The stores of several calls as one, in their order. Values of another shape are passed over.
    pub fn gather<'a>(stores: impl IntoIterator<Item = &'a Value>) -> References {
        let mut all = References::default();
        for store in stores {
            all.merge(store);
        }
        all
    }

    /// A store of just these passages and documents: what one call found, for its completion.
    pub fn of(cited: &[Cited], doc_aggs: &[Object]) -> References {
        let mut store = References::default();
        for Cited { key, chunk } in cited {
            store.keep(chunk, *key);
        }
        doc_aggs
            .iter()
            .for_each(|document| store.add_document(document));
        store
    }

    /// Adds what a search found and tells the passages' keys, in the order of the passages.
    pub fn add(&mut self, found: &Retrieved) -> Vec<Cited> {
        found.doc_aggs.iter().for_each(|doc| self.add_document(doc));
        let cite = |raw| {
            let chunk = stored_shape(raw);
            let home = sha1_modulo(&identity(&chunk), KEYS);
            let key = self.keep(&chunk, home);
            Cited { key, chunk }
        };
        found.chunks.iter().map(cite).collect()
    }

    /// Adds another store, in its JSON form. Its keys are kept as far as they are free.
    pub fn merge(&mut self, store: &Value) {
        let members = |name| {
            store
                .get(name)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
        };
        for (key, chunk) in members("chunks") {
            if let Some(chunk) = chunk.as_object() {
                let home = || sha1_modulo(&identity(chunk), KEYS);
                self.keep(chunk, key.parse().unwrap_or_else(|_| home()));
            }
        }
        for (_, document) in members("doc_aggs") {
            if let Some(document) = document.as_object() {
                self.add_document(document);
            }
        }
    }

    /// True if there is nothing to cite.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.doc_aggs.is_empty()
    }

    /// The passages with their keys, in the order of adding.
    pub fn cited(&self) -> Vec<Cited> {
        let cited = |(key, chunk): (&u32, &Object)| Cited {
            key: *key,
            chunk: chunk.clone(),
        };
        self.chunks.iter().map(cited).collect()
    }

    /// The JSON form.
    pub fn to_value(&self) -> Value {
        let chunks = self.chunks.iter();
        let chunks = chunks.map(|(k, chunk)| (Arc::from(k.to_string()), chunk.clone().into()));
        let documents = self.doc_aggs.iter();
        let documents = documents.map(|(name, doc)| (name.clone(), doc.clone().into()));
        Value::from(Object::from_iter([
            (Arc::from("chunks"), Value::from(chunks.collect::<Object>())),
            (
                Arc::from("doc_aggs"),
                Value::from(documents.collect::<Object>()),
            ),
        ]))
    }

    /// Keeps the passage under the first free key from `wanted` on, unless it is there already; tells its key.
    fn keep(&mut self, chunk: &Object, wanted: u32) -> u32 {
        let identity = identity(chunk);
        if let Some(key) = self.keys.get(&*identity) {
            return *key;
        }
        let free = |key: &u32| !self.chunks.contains_key(key);
        let round = (wanted..KEYS).chain(0..wanted.min(KEYS)).find(free);
        // More passages than keys: go on above.
        let key = round
            .or_else(|| (wanted.max(KEYS)..=u32::MAX).find(free))
            .unwrap_or(wanted);
        self.keys.insert(identity.into_owned(), key);
        self.chunks.insert(key, chunk.clone());
        key
    }

    fn add_document(&mut self, document: &Object) {
        let name = document.get("doc_name").map(text_of).unwrap_or_default();
        self.doc_aggs
            .entry(Arc::from(&*name))
            .or_insert_with(|| document.clone());
    }
}

/// The members of a stored passage, each with the names it has in what retrievers give, the first preferred.
const MEMBERS: [(&str, [&str; 2]); 14] = [
    ("id", ["chunk_id", "id"]),
    ("content", ["content", "content_with_weight"]),
    ("document_id", ["doc_id", "document_id"]),
    ("document_name", ["docnm_kwd", "document_name"]),
    ("dataset_id", ["kb_id", "dataset_id"]),
    ("image_id", ["image_id", "img_id"]),
    ("positions", ["positions", "position_int"]),
    ("url", ["url", "url"]),
    ("similarity", ["similarity", "similarity"]),
    (
        "vector_similarity",
        ["vector_similarity", "vector_similarity"],
    ),
    ("term_similarity", ["term_similarity", "term_similarity"]),
    ("row_id", ["row_id", "row_id"]),
    ("doc_type", ["doc_type_kwd", "doc_type"]),
    (
        "document_metadata",
        ["document_metadata", "document_metadata"],
    ),
];

/// A retriever's passage with the members of a stored one; what it lacks is null, what else it has is left out.
fn stored_shape(raw: &Object) -> Object {
    let member = |(name, from): &(&str, [&str; 2])| {
        let value = from
            .iter()
            .filter_map(|n| raw.get(*n))
            .find(|v| !v.is_null());
        (Arc::from(*name), value.cloned().unwrap_or_default())
    };
    MEMBERS.iter().map(member).collect()
}

/// What makes a passage itself: its id; without one, its content.
fn identity(chunk: &Object) -> Cow<'_, str> {
    let id = chunk.get("id").filter(|id| !id.is_null());
    id.or_else(|| chunk.get("content"))
        .map(text_of)
        .unwrap_or_default()
}

/// The SHA-1 of a text, read as one big number, modulo `modulus`.
fn sha1_modulo(text: &str, modulus: u32) -> u32 {
    let digest = Sha1::digest(text.as_bytes());
    let modulus = u64::from(modulus);
    digest
        .iter()
        .fold(0, |rest, byte| (rest * 256 + u64::from(*byte)) % modulus) as u32
}

fn text_of(value: &Value) -> Cow<'_, str> {
    match value.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(value.to_json_text()),
    }
}

#[cfg(test)]
mod tests;
