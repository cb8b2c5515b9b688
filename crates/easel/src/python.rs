//! Where the Python of graphs runs.

use std::path::PathBuf;

use easel_sandbox::{Allowed, Bubblewrap, Sandbox, Settings, WorkerProgram};
use serde::Deserialize;

use crate::WORKER;
use crate::problem::Problem;

/// `[python]` of `easel.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PythonSettings {
    /// The CPython that files may run in which the built-in interpreter cannot run. Not set: they do not run.
    pub cpython: Option<PathBuf>,
    /// Whether CPython has to run inside bubblewrap.
    pub require_bubblewrap: bool,
    /// Whether CPython may use the network.
    pub network: bool,
    /// Whether CPython may start processes.
    pub processes: bool,
    /// Megabytes of memory that a worker may use.
    pub memory_mb: Option<u64>,
}

impl PythonSettings {
    /// What Python may run in.
    pub fn allowed(&self) -> Allowed {
        match &self.cpython {
            Some(python) => Allowed::CPython {
                python: python.clone(),
            },
            None => Allowed::MontyOnly,
        }
    }

    /// The sandbox that these settings ask for.
    pub fn sandbox(&self) -> Result<Sandbox, Problem> {
        let worker = WorkerProgram::this(WORKER).map_err(|error| {
            Problem::usage(
                "This program cannot tell where it is, so it cannot start a worker for Python.",
            )
            .because(error.to_string())
        })?;
        let mut settings = Settings::new(worker);
        settings.allowed = self.allowed();
        if self.require_bubblewrap {
            settings.confinement.bubblewrap = Bubblewrap::Required;
        }
        settings.confinement.network = self.network;
        settings.confinement.processes = self.processes;
        if let Some(memory_mb) = self.memory_mb {
            settings.limits.memory = memory_mb.saturating_mul(1 << 20);
        }
        Ok(Sandbox::new(settings))
    }
}
