//! The behaviour of every kind of component.
//!
//! A [`Component`] has a table (from `easel-catalog`) and prepares a [`Behaviour`] for each node that uses it, once, when
//! the workflow loads. The driver hands a behaviour a [`Call`] for each attempt and gets a
//! [`Completion`](easel_core::event::Completion) or a [`Failure`] back. A behaviour keeps nothing between calls.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod behaviour;
mod registry;
mod stream;
mod tool;
mod turn;

pub use behaviour::{Behaviour, Call, Component, Failure, Later, Note, Prepared, Run, Services, Wire};
pub use registry::Registry;
pub use stream::{Piece, PieceKind, StreamItem, StreamReader, StreamWriter};
pub use tool::{Tool, ToolAnswer, ToolSite};
pub use turn::{HistoryEntry, Turn};
