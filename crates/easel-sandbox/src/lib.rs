//! The one door to user code.
//!
//! A workflow brings Python: a sidecar beside it, modules in its package. This crate does two things with it, and
//! nothing else does either:
//!
//! - It **reads** it without running it: a [`Source`] knows its functions with their parameters, what it imports, and
//!   what in it is beyond the built-in interpreter. A check needs no more.
//! - It **runs** it away from the host (feature `process`): a `Sandbox` starts workers, a `Session` holds the
//!   modules of one run, a call is keyword arguments in and a JSON value out. A worker that loops, eats memory or dies
//!   takes nothing along.
//!
//! Two interpreters run Python. The built-in one, monty, is a part of the language without files, network or processes,
//! inside a worker that the kernel limits. CPython is the whole language, where the operator allows it. Which of them
//! runs a file is decided from its text alone, and every outcome says which did and why. `docs/design/0004-user-code.md`
//! says what holds them.
//!
//! | limit ([`Limits`]) | default |
//! |---|---|
//! | time of a call | 60 s |
//! | memory of a worker | 256 MB |
//! | printed text of a call | 1 MB, the rest is dropped with a note |
//! | a result, as JSON | 16 MB |
//! | processor time of a run | 1 h |
//! | a file that CPython writes | 64 MB |
//! | a source file | 1 MB |
//!
//! The program on the other end of the pipes (feature `worker`) is `worker::main`, behind a hidden verb of whatever
//! program hosts the sandbox.

mod entry;
#[cfg(feature = "process")]
mod error;
#[cfg(feature = "process")]
mod host;
mod limits;
mod package;
#[cfg(any(feature = "process", feature = "worker"))]
mod protocol;
mod runtime;
mod source;
mod standard;
#[cfg(feature = "worker")]
pub mod worker;

pub use entry::{Entry, EntryError};
#[cfg(feature = "process")]
pub use error::{Raised, SandboxError};
#[cfg(feature = "process")]
pub use host::{Bubblewrap, Confinement, Outcome, Sandbox, Session, Settings, WorkerProgram};
pub use limits::Limits;
pub use package::{Package, PackageError};
#[cfg(feature = "process")]
pub use protocol::{Frame, Verdict};
pub use runtime::{Allowed, Plan, PlanError, Runtime};
pub use source::{
    Assigned, Class, Function, Import, MAX_SOURCE, Need, Parameter, ParameterKind, Place, Source,
    SourceError,
};
pub use standard::is_standard;
