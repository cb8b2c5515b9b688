//! What a host and a worker say to each other: frames of JSON, each behind its length.
//!
//! The first frame of a host is an [`Opening`], every further one a [`Call`]; a worker answers each call with one
//! [`Reply`]. `cpython/shim.py` speaks the same.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use easel_core::{Object, Value};
use serde::{Deserialize, Serialize};

/// Bytes in front of a frame: its length, least significant byte first.
pub(crate) const HEADER: usize = 4;

/// How the last words of a worker begin that the system, or its own watch, gives no more memory. Rust's own say so too.
pub(crate) const OUT_OF_MEMORY: &str = "memory allocation of";

/// What a worker is given before anything else.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Opening {
    /// Texts of the package's files by path.
    pub(crate) files: BTreeMap<Arc<str>, Arc<str>>,
    /// The folder of the package's data files.
    pub(crate) root: Option<PathBuf>,
    /// Memory, in bytes, beyond what the worker needs itself.
    pub(crate) memory: u64,
    /// Processor time in seconds.
    pub(crate) cpu: u64,
}

/// A call of something in a module.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    /// The file of the package that defines it.
    pub(crate) file: Option<Arc<str>>,
    /// The dotted module, where it is no file of the package.
    pub(crate) module: Option<Arc<str>>,
    /// The name in the module; may have dots.
    pub(crate) attribute: Arc<str>,
    /// Keyword arguments, or the members of a loop's iteration.
    pub(crate) arguments: Object,
    /// True to call it with one `LoopIteration` and to answer with a verdict.
    pub(crate) verdict: bool,
    /// True if `result` of the iteration is read by attributes.
    pub(crate) result_by_attribute: bool,
    /// Milliseconds that the call may take.
    pub(crate) time: u64,
    /// Bytes of printed text that are kept.
    pub(crate) printed: usize,
    /// Bytes that the result may have as JSON.
    pub(crate) result: usize,
}

/// How a call ended.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reply {
    /// What was returned, if it ended well and no verdict was asked for.
    pub(crate) value: Value,
    /// The verdict that was asked for.
    pub(crate) verdict: Option<Verdict>,
    /// Why it didn't end well.
    pub(crate) failure: Option<Failure>,
    /// What was printed, cut to its limit.
    pub(crate) printed: String,
    /// Bytes that were printed beyond the limit.
    pub(crate) dropped: u64,
}

/// What a loop's `until` function says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// True to end the loop.
    pub stop: bool,
    /// Feedback for the next iteration; may be empty.
    pub reason: String,
}

/// Why a call didn't end well.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The kind.
    pub(crate) kind: FailureKind,
    /// The class of the exception, where there is one.
    #[serde(default)]
    pub(crate) exception: String,
    /// What is wrong.
    pub(crate) message: String,
    /// Where in the user's code, innermost last.
    #[serde(default)]
    pub(crate) frames: Vec<Frame>,
    /// The traceback as Python prints it, of the user's code alone.
    #[serde(default)]
    pub(crate) traceback: String,
}

/// A place in the user's code that an exception passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The file, relative to the package.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// The function, or `<module>`.
    pub function: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureKind {
    /// The code raised an exception.
    Raised,
    /// It used up its time.
    Time,
    /// It used up its memory.
    Memory,
    /// It returned what is no JSON.
    Result,
    /// It returned too much.
    TooLarge,
}

/// A frame around a message.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; HEADER];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - HEADER).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, "more than 4 GB in one message")
    })?;
    for (place, byte) in bytes.iter_mut().zip(length.to_le_bytes()) {
        *place = byte;
    }
    Ok(bytes)
}
