//! One door to tools that touch the world.
//!
//! A component that needs something from outside (a search, a database, a script's result) asks a [`World`]: one
//! narrow trait a capability, plain requests and answers. Nothing here decides what a workflow does with them.
//!
//! - [`World::none`] answers everything with an error that says what to configure.
//! - [`scripted`] answers from a file: conformance cases and `easel test` run on it.
//! - `live` (feature `http`) goes out, through [`guard`].
//!
//! Beside the doors stands what belongs to tools and touches nothing: [`references`] keeps what answers may cite,
//! [`contract`] says what models are told of tools and checks what they send, [`html`] reads pages.

pub mod browser;
pub mod code;
pub mod contract;
pub mod documents;
pub mod error;
pub mod files;
pub mod guard;
pub mod html;
pub mod http;
pub mod ingestion;
#[cfg(feature = "http")]
pub mod live;
pub mod mail;
pub mod mcp;
pub mod memory;
pub mod references;
pub mod retrieval;
pub mod scripted;
pub mod search;
pub mod sql;
pub mod world;

pub use error::{Capability, ToolError};
pub use references::References;
pub use scripted::{Script, ScriptedWorld};
pub use world::World;
