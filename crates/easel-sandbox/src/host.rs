//! The host's side: starts workers and calls functions in them.

mod interpreter;
mod launch;
mod process;
mod script;
mod session;
mod starter;

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::OnceCell;

use self::interpreter::Interpreter;
pub use self::launch::{Bubblewrap, Confinement, WorkerProgram};
pub use self::session::{Outcome, Session};
use self::starter::Starter;
use crate::error::SandboxError;
use crate::limits::Limits;
use crate::package::Package;
use crate::runtime::Allowed;

/// How a sandbox runs user code.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program that becomes a worker.
    pub worker: WorkerProgram,
    /// What user code may run in.
    pub allowed: Allowed,
    /// How CPython is held.
    pub confinement: Confinement,
    /// What user code may use up.
    pub limits: Limits,
}

impl Settings {
    /// The built-in interpreter alone, with the limits that [`Limits`] states.
    pub fn new(worker: WorkerProgram) -> Settings {
        Settings {
            worker,
            allowed: Allowed::default(),
            confinement: Confinement::default(),
            limits: Limits::default(),
        }
    }
}

/// The one door to user code, shared by all runs.
#[derive(Clone, Debug)]
pub struct Sandbox {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    /// What was found out about the allowed CPython, once.
    interpreter: OnceCell<Interpreter>,
    starter: Starter,
    /// Where `bwrap` is, if it is on the PATH.
    bubblewrap: Option<PathBuf>,
}

impl Sandbox {
    /// A sandbox; nothing is started yet.
    pub fn new(settings: Settings) -> Sandbox {
        let bubblewrap = launch::find_bubblewrap(settings.confinement.bubblewrap);
        Sandbox {
            shared: Arc::new(Shared {
                settings,
                interpreter: OnceCell::new(),
                starter: Starter::default(),
                bubblewrap,
            }),
        }
    }

    /// How it runs user code.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The modules of one run: each is loaded at its first call and keeps its globals until the session is dropped.
    pub fn session(&self, package: Arc<Package>) -> Session {
        Session::new(self.clone(), package)
    }

    async fn interpreter(&self) -> Result<&Interpreter, SandboxError> {
        let Allowed::CPython { python } = &self.shared.settings.allowed else {
            return Err(SandboxError::Start {
                program: "python".into(),
                problem: "CPython is not allowed".into(),
            });
        };
        let probe = || Interpreter::probe(python);
        self.shared.interpreter.get_or_try_init(probe).await
    }
}
