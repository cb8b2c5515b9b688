//! Easel as a library: load a workflow, run it, see what happens.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # futures::executor::block_on(async {
//! use std::sync::Arc;
//! use easel_runtime::{Engine, Ending, Input};
//!
//! let canvas = br#"{"components": {
//!     "begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Message:Hi"], "upstream": []},
//!     "Message:Hi": {"obj": {"component_name": "Message", "params": {"content": ["Hello {sys.query}!"]}},
//!                    "downstream": [], "upstream": ["begin"]}
//! }}"#;
//! let engine = Engine::builder().build()?;
//! let workflow = Arc::new(engine.load(canvas)?);
//! let mut said = String::new();
//! let ending = engine
//!     .session(&workflow)
//!     .turn(Input::from("world"), &mut |event| said += event.text())
//!     .await?;
//! assert_eq!(ending, Ending::Finished);
//! assert_eq!(said, "Hello world!");
//! # Ok(()) }) }
//! ```
//!
//! The default features bring no server, database, HTTP client or TLS; `http` brings model providers and HTTP tools.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod attempts;
mod bounds;
mod breaker;
pub mod clock;
#[cfg(feature = "python")]
mod code;
mod driver;
mod engine;
mod event;
mod gated;
mod graph;
mod input;
mod journal;
mod log;
mod lookup;
mod masking;
mod projection;
mod python;
mod receipts;
mod recovery;
mod requirements;
mod script;
mod session;
mod speech;
mod steps;
mod timings;
mod wire;
mod workflow;

use std::sync::LazyLock;

pub use bounds::Bounds;
pub use breaker::{BreakerLimits, BreakerSettings, CIRCUIT_KINDS};
#[cfg(feature = "python")]
pub use code::SandboxedCode;
pub use driver::Observer;
pub use engine::{Builder, Engine, RunLimits};
pub use event::{BadEventId, EventId, EventKind, MessagePart, RunEvent, Subject};
pub use graph::{Code, GraphFile, is_canvas, is_graph};
pub use input::Input;
pub use journal::{
    Batch, Conversation, ConversationChange, Journal, JournalError, MemoryJournal, Note, Origin,
    Said, Standing, UncertainWrite,
};
pub use log::{Logged, log, state_at};
pub use lookup::{Looked, NoSuchReference, look_up};
pub use python::modules_of;
pub use recovery::{Decision, NoStart, NoSuchWrite};
pub use requirements::{
    NeededSecret, Requirement, Requirements, SecretState, Supply, secrets_needed,
};
pub use script::{ScriptUses, ScriptedWorld};
pub use session::{Ending, Session, TurnError};
pub use steps::{StepRecord, StepState, steps};
pub use timings::Timings;
pub use workflow::{LoadError, Workflow};

pub use easel_catalog::Rejected;
pub use easel_core::effect::Step;
pub use easel_core::event::Timestamp;
pub use easel_core::{Object, Value};

// The crates whose words one needs to bring one's own components, tools, models and secrets.
pub use {
    easel_canvas as canvas, easel_catalog as catalog, easel_check as check,
    easel_components as components, easel_core as core, easel_graph as graphs,
    easel_models as models, easel_sandbox as sandbox, easel_secrets as secrets,
    easel_tools as tools,
};

/// The components that come with Easel.
pub fn builtin() -> easel_components::Registry {
    static BUILTIN: LazyLock<easel_components::Registry> = LazyLock::new(easel_components::builtin);
    BUILTIN.clone()
}
