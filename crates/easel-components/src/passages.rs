//! What a search found: as text for a model, and as a store that answers may cite.

use std::sync::Arc;

use easel_core::Value;
use easel_tools::references::{PASSAGE_BUDGET, References, passages_text};
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
            store: References::of(&cited, &found.doc_aggs).to_value(),
        }
    }
}
