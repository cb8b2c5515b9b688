//! Servers that are programs.

use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use easel_tools::ToolError;
use easel_tools::mcp::McpVisit;
use rmcp::transport::TokioChildProcess;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};
use tokio::sync::Notify;

use crate::pool::locked;
use crate::trouble;

/// Variables that programs need to run at all. Everything else in the environment, keys above all, stays here.
#[cfg(unix)]
const NEEDED: &[&str] = &[
    "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER",
];
#[cfg(not(unix))]
const NEEDED: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

/// How much is kept of what a program writes to its standard error.
const KEPT: usize = 2048;

/// How long is waited for the last words of a program that did not answer.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The last that a program wrote to its standard error.
#[derive(Clone, Default)]
pub(crate) struct Murmur {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Told once the program will write no more.
    over: Arc<Notify>,
}

impl Murmur {
    /// The text of a program that is not wanted any more, if it wrote any.
    pub async fn last_words(&self) -> Option<String> {
        let _ = tokio::time::timeout(LAST_WORDS, self.over.notified()).await;
        let kept = locked(&self.kept);
        let text = String::from_utf8_lossy(&kept).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    async fn listen(self, mut from: ChildStderr) {
        let mut piece = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut piece).await {
            let mut kept = locked(&self.kept);
            kept.extend_from_slice(piece.get(..count).unwrap_or_default());
            let old = kept.len().saturating_sub(KEPT);
            kept.drain(..old);
        }
        self.over.notify_one();
    }
}

/// Starts the program of a visit's server.
///
/// Errors: it cannot be started.
pub(crate) fn start(
    visit: &McpVisit,
    command: &str,
    arguments: &[String],
    folder: Option<&Path>,
) -> Result<(TokioChildProcess, Murmur), ToolError> {
    let mut program = Command::new(command);
    program.args(arguments).env_clear();
    for name in NEEDED {
        if let Some(value) = std::env::var_os(name) {
            program.env(name, value);
        }
    }
    for (name, value) in &visit.values {
        program.env(&**name, value.expose());
    }
    if let Some(folder) = folder {
        program.current_dir(folder);
    }
    let started = TokioChildProcess::builder(program)
        .stderr(Stdio::piped())
        .spawn();
    let (process, errors) =
        started.map_err(|error| trouble::not_started(&visit.server, command, &error))?;
    let murmur = Murmur::default();
    if let Some(errors) = errors {
        tokio::spawn(murmur.clone().listen(errors));
    }
    Ok((process, murmur))
}
