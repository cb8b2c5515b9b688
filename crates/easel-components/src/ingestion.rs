//! Ingestion pipelines (spec/canvas-components §9): steps that hand on what became of a document, until the last of them
//! keeps it in a knowledge base.

mod compiler;
mod extractor;
mod file;
mod handed;
mod parser;
mod pieces;
mod render;
mod setup;
mod stage;
mod title_chunker;
mod toc;
mod token_chunker;
mod tokenizer;

use crate::builtin::Prepare;

/// The components of pipelines.
pub(crate) const COMPONENTS: [(&str, Prepare); 7] = [
    ("File", file::prepare),
    ("Parser", parser::prepare),
    ("TokenChunker", token_chunker::prepare),
    ("TitleChunker", title_chunker::prepare),
    ("Extractor", extractor::prepare),
    ("Tokenizer", tokenizer::prepare),
    ("Compiler", compiler::prepare),
];
