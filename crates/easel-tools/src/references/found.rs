//! Results of search providers as passages.

use std::sync::Arc;

use easel_core::{Object, Value};

use super::{IDS, sha1_modulo};
use crate::retrieval::Retrieved;

/// Characters of a result that are kept.
const CONTENT_CAP: usize = 10_000;

/// One result of a search, whatever the provider calls its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Its title.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// What it says.
    pub content: String,
    /// How well it fits; 1 if the provider gives no score.
    pub score: Option<Value>,
}

/// Search results in the shape of a retriever's (`spec/canvas-components §1.7`): each becomes a passage and a document
/// whose id is made from its content. Results without content are left out, embedded images too.
pub fn retrieved(results: impl IntoIterator<Item = Found>) -> Retrieved {
    let mut all = Retrieved::default();
    for found in results {
        let content: String = without_images(&found.content)
            .chars()
            .take(CONTENT_CAP)
            .collect();
        if content.is_empty() {
            continue;
        }
        let id = Value::from(sha1_modulo(&content, IDS).to_string());
        let title = Value::from(found.title);
        let url = Value::from(found.url);
        all.chunks.push(object([
            ("chunk_id", id.clone()),
            ("doc_id", id.clone()),
            ("content", Value::from(content)),
            ("docnm_kwd", title.clone()),
            ("similarity", found.score.unwrap_or(Value::from(1))),
            ("url", url.clone()),
        ]));
        all.doc_aggs.push(object([
            ("doc_name", title),
            ("doc_id", id),
            ("count", Value::from(1)),
            ("url", url),
        ]));
    }
    all
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Object {
    members
        .into_iter()
        .map(|(k, v)| (Arc::from(k), v))
        .collect()
}

/// Cuts out Markdown images whose bytes stand in the text: `![alt](data:image/...)`.
fn without_images(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](data:image/") {
        let (before, data) = rest.split_at(at);
        let start = before
            .rfind("![")
            .filter(|&open| !before[open..].contains(']'));
        match (start, data.find(')')) {
            (Some(start), Some(end)) => {
                kept.push_str(&before[..start]);
                rest = &data[end + 1..];
            }
            _ => {
                kept.push_str(before);
                kept.push_str("](");
                rest = &data[2..];
            }
        }
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn found(content: &str) -> Found {
        Found {
            title: "T".into(),
            url: "http://e.com".into(),
            content: content.into(),
            score: Some(Value::from(0.5)),
        }
    }

    #[test]
    fn a_result_becomes_a_passage_named_by_its_content() {
        let all = retrieved([found("found it"), found("")]);
        assert_eq!(
            serde_json::to_value(&all).unwrap(),
            json!({
                "chunks": [{"chunk_id": "22945531", "doc_id": "22945531", "content": "found it", "docnm_kwd": "T",
                            "similarity": 0.5, "url": "http://e.com"}],
                "doc_aggs": [{"doc_name": "T", "doc_id": "22945531", "count": 1, "url": "http://e.com"}],
            })
        );
    }

    #[test]
    fn embedded_images_are_cut_out_and_long_results_cut_off() {
        let image = "![chart](data:image/png;base64,iVBORw0KGgo=)";
        assert_eq!(without_images(&format!("a {image} b {image}")), "a  b ");
        for kept in [
            "[link](http://e.com) ![far](http://e.com/a.png)",
            "](data:image/",
            "![a] [b](data:image/png;base64,x)",
        ] {
            assert_eq!(without_images(kept), kept);
        }
        let all = retrieved([found(&"ä".repeat(12_000))]);
        let content = all.chunks[0]["content"].as_str().unwrap();
        assert_eq!(content.chars().count(), CONTENT_CAP);
    }

    proptest! {
        #[test]
        fn any_text_can_be_searched_for_images(text in r"[!\[\]a-c(]*(\]\(data:image/[a-c)]*)?[!\[\]a-cä)]*") {
            prop_assert!(without_images(&text).len() <= text.len());
        }
    }
}
