//! neurosurfer graphs and their packages: text to workflow and back.
//!
//! A [`Document`](document::Document) is a graph as typed data, read from YAML or JSON; whatever is wrong with it is a
//! [`Finding`](finding::Finding) with its line, and nothing in its text is lost.
//!
//! ```
//! use easel_graph::{document::Document, source::Format};
//!
//! let file = b"name: note\ninputs: {topic: string}\nnodes:\n  - id: write\n    instructions: {topic}\n";
//! let document = Document::read(file, Format::Yaml)?;
//! let wrong = document.errors().next().unwrap();
//! assert_eq!(wrong.place.to_string(), "nodes[0].instructions");
//! assert_eq!(wrong.at.line, 5);
//! assert_eq!(wrong.fix, "Put it in quotes: \"{topic}\".");
//! # Ok::<(), easel_graph::error::ReadError>(())
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod admit;
pub mod builder;
pub mod class;
pub mod document;
pub mod error;
pub mod field;
pub mod finding;
mod json;
pub mod kind;
pub mod lower;
pub mod marked;
pub mod package;
pub mod page;
pub mod place;
mod scalar;
pub mod schema;
pub mod source;
mod structure;
mod typed;
pub mod write;
mod yaml;
