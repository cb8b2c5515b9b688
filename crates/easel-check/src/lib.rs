//! Everything that can be known about a workflow before it runs.
//!
//! [`check`] reads a loaded canvas, [`graph::check`] a loaded graph, and says what is wrong, doubtful or worth knowing, each
//! as a [`Diagnostic`] with a stable [`Code`], the place in the file, one plain sentence and the fix. [`refusals`] and
//! [`graph::refusals`] find the errors alone: a workflow that has one must not run. Every code is explained by its [`Rule`].
//! [`json`] and [`sarif`] write reports for programs; writing them for people is the terminal's business.
//!
//! The check takes time in proportion to the size of the document, and no document makes it panic.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod canvas;
mod code;
mod diagnostic;
mod explain;
mod findings;
pub mod graph;
pub mod json;
mod rules;
pub mod sarif;
mod shape;
mod sites;
mod spots;

pub use canvas::{Canvas, Surroundings, check, refusals, unreadable};
pub use code::{Code, Dialect, Rule};
pub use diagnostic::{Diagnostic, Place, Report, Severity};
pub use rules::secrets::{SecretUse, SecretUses, WrittenOut, secret_uses};
