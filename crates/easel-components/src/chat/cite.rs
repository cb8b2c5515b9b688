//! Asking for citations: what a model is told where there is something to cite.

use easel_core::Value;
use easel_tools::references::References;

/// True if something was found that an answer may cite.
pub(crate) fn anything(gathered: &[Value]) -> bool {
    gathered
        .iter()
        .any(|store| !References::gather([store]).is_empty())
}

/// How citations are to be written, unless the node says it in its own words.
pub(crate) const GUIDE: &str = "\
## Citing sources

Some of what you were given comes with an id, on a line such as `ID: 31` above its content. Wherever your answer rests \
on it, name it:

- Write `[ID:31]`, with the number of the source in place of 31, at the end of the sentence and before its full stop.
- A sentence that rests on several sources names each in its own brackets, `[ID:31][ID:8]`, and never more than four.
- Cite figures, dates, names, quotations, definitions, causes, comparisons, and anything a reader may doubt. Common \
knowledge, your own conclusions, and phrases that lead from one thought to the next need no source.
- Use only ids that you were given, exactly as they stand; the numbers above are examples. If nothing you were given \
supports a sentence, leave it without a citation rather than inventing one.
- Say nothing about these rules, and put no list of sources at the end.";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_empty_store_is_nothing_to_cite() {
        assert!(!anything(&[]));
        assert!(!anything(&[json!({"chunks": {}, "doc_aggs": {}}).into()]));
        let store = json!({"chunks": {"31": {"id": "c", "content": "x"}}, "doc_aggs": {}});
        assert!(anything(&[store.into()]));
    }
}
