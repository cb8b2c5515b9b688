//! The machine that runs a workflow.
//!
//! This crate holds no I/O, clock, randomness, async or threads: a [`Machine`] is driven by two calls and
//! everything it cannot compute from its [`Event`](event::Event)s comes in as one. **Same events in, same effects out,
//! on every machine, for ever**; that is what lets a run survive a crash, be replayed and be explained.
//! A clock read or a random number taken inside would make a replay take another path than the run did.
//!
//! ```text
//! let (mut machine, mut todo) = Machine::start(workflow, input);
//! while let Some(effect) = todo.pop_front() {
//!     let event = world.perform(effect);   // the driver's part: journal first, then act
//!     todo.extend(machine.apply(&event));
//! }
//! ```
//!
//! A dialect describes its document as a [`Draft`](draft::Draft); [`compile`](compile::compile) turns that into an
//! immutable [`Workflow`](workflow::Workflow) in which references are slots and templates are lists of pieces.
//!
//! What people write inside a document is compiled with it: a canvas has [`template`]s and [`condition`]s, a graph
//! [`format`](mod@format) strings and [`expression`]s.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod argument;
pub mod bind;
mod chance;
pub mod compile;
pub mod condition;
pub mod draft;
pub mod effect;
pub mod event;
pub mod expression;
pub mod format;
pub mod machine;
pub mod reference;
pub mod template;
#[cfg(test)]
mod testing;
pub mod value;
pub mod workflow;

pub use machine::Machine;
pub use value::{Number, Object, Value};
