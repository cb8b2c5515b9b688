//! Tokenizer: pieces are kept, to be found by their words and their meaning.

use std::sync::Arc;

use easel_core::event::{Fault, Usage};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};

use super::handed::Handed;
use super::stage::{Index, Step, put};
use crate::behaviour::{Behaviour, Call, Failure, Prepared};
use crate::site::Site;

/// Hands on what it is handed; keeping it is the step's place to do.
struct Tokenizer;

/// Reads the parameters.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let usual = Index::default();
    let methods = site.texts("search_method");
    let by =
        |method: &str| methods.is_empty() || methods.iter().any(|m| m.eq_ignore_ascii_case(method));
    let fields = site.texts("fields");
    let index = Index {
        by_words: by("full_text"),
        by_vectors: by("embedding"),
        name_weight: site
            .number("filename_embd_weight")?
            .unwrap_or(usual.name_weight),
        fields: if fields.is_empty() {
            usual.fields
        } else {
            fields
        },
    };
    put(node, Tokenizer, Some(index))
}

impl Step for Tokenizer {
    fn take<'a>(
        &'a self,
        handed: Handed,
        _: &'a Call,
    ) -> BoxFuture<'a, Result<(Handed, Usage), Failure>> {
        let chunks = super::handed::Content::Chunks(handed.chunks());
        ready(Ok((handed.with(chunks), Usage::default()))).boxed()
    }
}
