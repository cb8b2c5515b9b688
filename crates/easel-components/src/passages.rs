//! What a search found: as text for a model, and as a store that answers may cite.

use std::sync::Arc;

use easel_core::{Object, Value};
use easel_tools::references::{Cited, PASSAGE_BUDGET, References, passages_text};
use easel_tools::retrieval::Retrieved;

use crate::behaviour::Call;
use crate::chat::fit;

/// What was found, under keys that nothing else found in this turn has.
pub(crate) struct Passages {
    /// The passages as a model reads them.
    pub text: Arc<str>,
    /// The store for [`Completion::references`](easel_core::event::Completion::references).
    pub store: Value,
}

impl Passages {
    pub(crate) fn new(found: &Retrieved, call: &Call) -> Passages {
        let mut known = References::gather(call.gathered.iter());
        let cited = known.add(found);
        Passages {
            text: passages_text(&cited, PASSAGE_BUDGET, fit::tokens).into(),
            store: store(&cited, found),
        }
    }
}

/// A store of these passages under the keys they got, and of their documents.
fn store(cited: &[Cited], found: &Retrieved) -> Value {
    let passages = cited.iter();
    let passages = passages.map(|c| (Arc::from(c.key.to_string()), Value::from(c.chunk.clone())));
    let passages = Value::from(passages.collect::<Object>());
    let mut store = References::default();
    store.merge(&Object::from_iter([(Arc::from("chunks"), passages)]).into());
    store.add(&Retrieved {
        chunks: Vec::new(),
        doc_aggs: found.doc_aggs.clone(),
    });
    store.to_value()
}
