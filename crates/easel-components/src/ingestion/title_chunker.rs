//! TitleChunker: a document is cut at its headings.

use std::sync::Arc;

use easel_core::Value;
use easel_core::event::Fault;
use easel_tools::ingestion::{Cut, HeadingCut};

use super::stage::put;
use super::token_chunker::Chunker;
use crate::behaviour::{Behaviour, Prepared};
use crate::site::Site;

/// Reads the parameters.
///
/// Errors: no pattern tells what a heading is.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let texts = |family: &Value| -> Vec<String> {
        let patterns = family.as_array().unwrap_or_default().iter();
        patterns
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let levels: Vec<Vec<String>> = site.items("levels").iter().map(texts).collect();
    if levels.iter().flatten().all(String::is_empty) {
        let problem = "has no pattern that tells what a heading is";
        let fix = "Add one for each level, such as `^#[^#]` and `^##[^#]`";
        return Err(site.wrong("levels", problem, fix));
    }
    let cut = HeadingCut {
        levels,
        depth: site.count("hierarchy")?.unwrap_or(0) as usize,
        grouped: site.text("method") == "group",
        own_text_apart: site.flag("include_heading_content"),
        root_heads: site.flag("root_chunk_as_heading"),
        tokens: site.count("chunk_token_cap")?.unwrap_or(512) as usize,
    };
    let chunker = Chunker {
        cut: Cut::Headings(cut),
        children: Vec::new(),
    };
    put(node, chunker, None)
}
