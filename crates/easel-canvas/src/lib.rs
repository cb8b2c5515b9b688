//! RAGFlow canvases: text to workflow and back.
//!
//! A [`Document`](document::Document) is a canvas as data, with everything its file has in it. It is read by
//! [`Document::read`](document::Document::read), which rewrites nothing and keeps the text, so that anything in it can be found by line and column.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod component;
pub mod document;
pub mod drawing;
mod edit;
pub mod error;
pub mod export;
pub mod graph;
pub mod lower;
pub mod normalise;
pub mod pointer;
mod scan;
pub mod source;
pub mod state;
pub mod wiring;
