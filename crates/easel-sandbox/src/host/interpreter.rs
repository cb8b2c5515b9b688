//! What a CPython is, asked of itself.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;
use tokio::time::timeout;

use crate::error::SandboxError;

/// The oldest CPython that user code runs in.
const OLDEST: (u32, u32) = (3, 9);

/// What the interpreter says of itself. The program that was named may be a script that looks for the real one.
const QUESTION: &str = "import json, sys; print(json.dumps(dict(program=sys.executable, folders=[sys.prefix, \
                        sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix], version=sys.version_info[:2])))";

/// A CPython on this machine.
#[derive(Debug, Deserialize)]
pub(super) struct Interpreter {
    /// The program itself.
    pub(super) program: PathBuf,
    /// Folders that it needs to read.
    pub(super) folders: Vec<PathBuf>,
    version: (u32, u32),
}

impl Interpreter {
    /// Asks the interpreter what it is.
    pub(super) async fn probe(python: &Path) -> Result<Interpreter, SandboxError> {
        let failed = |problem: String| SandboxError::Start {
            program: python.display().to_string(),
            problem,
        };
        let asked = Command::new(python)
            .args(["-I", "-c", QUESTION])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = timeout(Duration::from_secs(10), asked)
            .await
            .map_err(|_| failed("it does not answer within 10 s".into()))?
            .map_err(|error| failed(format!("{error}; name a Python 3 interpreter")))?;
        let interpreter: Interpreter = serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            failed(format!("it is no Python 3 interpreter: {}", said.trim()))
        })?;
        if interpreter.version < OLDEST {
            let (major, minor) = interpreter.version;
            return Err(failed(format!(
                "it is Python {major}.{minor}; use {}.{} or newer",
                OLDEST.0, OLDEST.1
            )));
        }
        Ok(interpreter)
    }
}
