//! What user code may use up.

use std::time::Duration;

/// Limits of user code. The defaults suit a sidecar that reshapes data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time of one call, loading its module included: 60 s. The worker is ended when a call takes longer.
    pub time: Duration,
    /// Memory of a worker beyond what it needs itself, in bytes: 256 MB.
    pub memory: u64,
    /// Text printed by one call that is kept, in bytes: 1 MB. The rest is dropped and counted.
    pub printed: usize,
    /// Size of a result as JSON, in bytes: 16 MB.
    pub result: usize,
    /// Processor time of a worker, that is of all calls of a run: 1 h.
    pub cpu: Duration,
    /// The largest file that CPython can write, in bytes: 64 MB. The built-in interpreter has no files.
    pub file: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(60),
            memory: 256 << 20,
            printed: 1 << 20,
            result: 16 << 20,
            cpu: Duration::from_secs(3_600),
            file: 64 << 20,
        }
    }
}
