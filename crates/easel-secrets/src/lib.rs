//! Secrets that reach the tool and never the model.
//!
//! # The way of a value
//!
//! ```text
//! Provider ──▶ Resolver ──▶ Secret ──▶ Door ──▶ Opened      what a tool sends
//!                                       │
//!                                     Gate ──▶ Masker       what everybody else sees
//!                                       │
//!                                       └────▶ Receipt      who got what
//! ```
//!
//! A [`Secret`] cannot be read. It is what a [`Provider`] gives and what a [`Resolver`], which asks several of them in
//! order, finds. A [`Gate`] belongs to one run: it opens a [`Door`] for one call of one tool, and that alone turns a
//! secret into something [`Opened`]. From then on the gate's [`Masker`] takes the value out of every text on its way out,
//! also in the forms in which values travel, and the run's [`Receipt`] says where it went.
//!
//! Arguments with secrets in them are [`Argument`](easel_core::argument::Argument)s, which name them: what is
//! shown of one has `${NAME}` in it.
//!
//! # The invariant
//!
//! **What renders a prompt, a message or an expression has no door, and nothing without a door can read a secret.** So
//! that a value gets into a prompt is no mistake that somebody could make: it does not compile.
//!
//! ```compile_fail
//! let secret = easel_secrets::Secret::new("sk-1234567890");
//! let prompt = format!("Use the key {secret}.");
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod env_file;
mod error;
mod fill;
mod forms;
mod gate;
mod key;
mod mask;
mod mask_value;
mod name;
mod provider;
mod receipt;
mod resolver;
mod secret;
mod sieve;
mod stream;
mod vault;

pub use env_file::EnvFile;
pub use error::SecretError;
pub use gate::{Door, DoorError, Gate, MaskedStream, Sink, SinkKind, Unset};
pub use key::Key;
pub use mask::{MASK, Masker, SHORTEST, TooManySecrets};
pub use mask_value::Unmasked;
pub use name::{is_name, names, parts};
pub use provider::{Environment, Provider};
pub use receipt::{BadReceipt, Receipt, ReceiptEntry, ReceiptSignature, SignedReceipt};
pub use resolver::{Found, Resolver};
pub use secret::{Opened, OpenedValue, Secret};
pub use stream::MaskStream;
pub use vault::{Listed, Vault};
