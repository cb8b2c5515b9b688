//! Why a call into user code gave no result.

use std::time::Duration;

use crate::entry::Entry;
use crate::package::PackageError;
use crate::protocol::Frame;
use crate::runtime::PlanError;

/// Why a call into user code gave no result. Texts may quote what the code said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// It cannot be called at all: nothing has run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The code raised an exception.
    #[error("{entry} raised {}", .raised)]
    Raised {
        /// The callable.
        entry: Entry,
        /// The exception.
        raised: Box<Raised>,
    },
    /// It took longer than it may. Its worker was ended: modules start afresh at the next call.
    #[error("{entry} took longer than {} s; its time limit can be raised", limit.as_secs_f64())]
    Time {
        /// The callable.
        entry: Entry,
        /// The limit.
        limit: Duration,
    },
    /// It used more memory than it may. Its modules may start afresh at the next call.
    #[error("{entry} used more than {} MB of memory; pass less data, or raise the limit", limit >> 20)]
    Memory {
        /// The callable.
        entry: Entry,
        /// The limit in bytes.
        limit: u64,
    },
    /// It returned what JSON cannot hold.
    #[error(
        "{entry} returned {what}; return None, bool, int, float, str, and lists, tuples, sets and dicts of them"
    )]
    Result {
        /// The callable.
        entry: Entry,
        /// What it returned.
        what: String,
    },
    /// It returned more than it may.
    #[error(
        "{entry} returned {size} bytes of JSON; at most {limit} are taken: return a part, or raise the limit"
    )]
    TooLarge {
        /// The callable.
        entry: Entry,
        /// Bytes of the result.
        size: u64,
        /// The limit in bytes.
        limit: usize,
    },
    /// The worker ended during the call. Modules start afresh at the next one.
    #[error("the worker of {entry} ended: {how}{}", quoted(last_words))]
    Ended {
        /// The callable.
        entry: Entry,
        /// How: an exit code or a signal.
        how: String,
        /// The end of what it wrote as errors.
        last_words: String,
    },
    /// The worker answered with what is no answer. Its modules start afresh at the next call.
    #[error(
        "the worker of {entry} gave no readable answer ({problem}): does the code write to descriptors itself?"
    )]
    Garbled {
        /// The callable.
        entry: Entry,
        /// What is wrong with it.
        problem: String,
    },
    /// The worker cannot be started.
    #[error("the worker cannot be started: {program}: {problem}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        problem: String,
    },
}

impl From<PackageError> for SandboxError {
    fn from(error: PackageError) -> SandboxError {
        SandboxError::Plan(error.into())
    }
}

fn quoted(words: &str) -> String {
    match words.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    }
}

/// An exception of the user's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    /// The class, e.g. `ValueError`.
    pub exception: String,
    /// Its text.
    pub message: String,
    /// The places in the package's files that it passed, innermost last; empty if the call itself failed.
    pub frames: Vec<Frame>,
    /// The traceback as Python prints it, of the user's code alone.
    pub traceback: String,
    /// What the code printed before.
    pub printed: String,
}

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.exception)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        match self.frames.last() {
            Some(frame) => write!(f, " ({}, line {})", frame.file, frame.line),
            None => Ok(()),
        }
    }
}
