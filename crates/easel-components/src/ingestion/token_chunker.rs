//! TokenChunker: a document is cut by size.

use std::sync::Arc;

use easel_core::event::{Fault, Usage};
use easel_tools::ingestion::{Cut, CutRequest, SizeCut};
use futures::FutureExt;
use futures::future::BoxFuture;

use super::handed::{Content, Handed};
use super::pieces;
use super::stage::{Step, put, unable};
use crate::behaviour::{Behaviour, Call, Failure, Prepared};
use crate::site::Site;

/// How much of a piece the next one may repeat, in percent.
const MOST_REPEATED: f64 = 50.0;

/// A step that cuts.
pub(super) struct Chunker {
    /// How it cuts.
    pub cut: Cut,
    /// Where pieces are cut once more.
    pub children: Vec<String>,
}

/// Reads the parameters.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let cut = match site.text("delimiter_mode") {
        "one" => Cut::Whole,
        _ => Cut::Size(size(&site)?),
    };
    let chunker = Chunker {
        cut,
        children: unescaped(site.texts("children_delimiters")),
    };
    put(node, chunker, None)
}

fn size(site: &Site<'_>) -> Result<SizeCut, Fault> {
    let repeated = site.number("overlapped_percent")?.unwrap_or(0.0);
    // A number below 1 is a share.
    let repeated = if repeated < 1.0 {
        repeated * 100.0
    } else {
        repeated
    };
    let (always, delimiters) = parted(unescaped(site.texts("delimiters")));
    Ok(SizeCut {
        tokens: site.count("chunk_token_size")?.unwrap_or(512) as usize,
        overlap_percent: repeated.clamp(0.0, MOST_REPEATED) as usize,
        delimiters,
        always,
        table_context: match site.count("table_context_size")? {
            None | Some(0) => site.count("image_table_context_window")?.unwrap_or(0) as usize,
            Some(tokens) => tokens as usize,
        },
    })
}

/// Delimiters that always cut, which stand between backticks, and the others.
fn parted(delimiters: Vec<String>) -> (Vec<String>, Vec<String>) {
    let (mut always, mut others) = (Vec::new(), Vec::new());
    for delimiter in delimiters {
        let mut parts = delimiter.split('`').enumerate().peekable();
        while let Some((at, part)) = parts.next() {
            let closed = at % 2 == 1 && parts.peek().is_some();
            let list = if closed { &mut always } else { &mut others };
            if !part.is_empty() {
                list.push(part.to_owned());
            }
        }
    }
    (always, others)
}

/// Delimiters with the line breaks and tabs that are written as `\n` and `\t` in the editor.
fn unescaped(delimiters: Vec<String>) -> Vec<String> {
    let plain = |d: String| {
        d.replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace("\\r", "\r")
    };
    delimiters.into_iter().map(plain).collect()
}

impl Step for Chunker {
    fn take<'a>(
        &'a self,
        handed: Handed,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<(Handed, Usage), Failure>> {
        async move {
            let request = CutRequest {
                blocks: handed.blocks(call).await?,
                cut: self.cut.clone(),
                children: self.children.clone(),
            };
            let cut = call.run.services.world.ingestion.cut(request).await;
            let cut = cut.map_err(|error| unable(call, &error))?;
            let chunks = cut.into_iter().map(pieces::of_piece).collect();
            Ok((handed.with(Content::Chunks(chunks)), Usage::default()))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delimiter_between_backticks_always_cuts() {
        let given = ["`##`", "\\n", "a`b`c", "`open"];
        let given = given.iter().map(|d| (*d).to_owned()).collect();
        let (always, others) = parted(unescaped(given));
        assert_eq!(always, ["##", "b"]);
        assert_eq!(others, ["\n", "a", "c", "open"]);
    }
}
