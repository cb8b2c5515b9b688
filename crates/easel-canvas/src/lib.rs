//! RAGFlow canvases: text to workflow and back.
//!
//! A [`Document`](document::Document) is a canvas as data, with everything that its file has in it. Reading rewrites
//! nothing and keeps the text, so that whatever is said about a canvas can name its line; [`normalise`](normalise::normalise)
//! brings old shapes to today's form and says what it did.
//!
//! ```
//! use easel_canvas::{document::Document, normalise::normalise, pointer::Pointer};
//!
//! let file = br#"{"components": {"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["hi"]},
//!     "hi": {"obj": {"component_name": "Message", "params": {"messages": ["Hello."]}}, "upstream": ["begin"]}}}"#;
//! let normal = normalise(&Document::read(file)?);
//! assert_eq!(normal.notes[0].what, "`messages` is called `content` now");
//! let line = normal.document.locate(&Pointer::param("hi", "content")).map(|at| at.line);
//! assert_eq!(line, Some(2));
//! # Ok::<(), easel_canvas::error::ReadError>(())
//! ```
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
pub mod rewrite;
mod scan;
pub mod source;
pub mod state;
pub mod wiring;
