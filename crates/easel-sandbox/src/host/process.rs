//! One worker process and the exchange of messages with it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::launch::CommandLine;
use super::starter::Starter;
use crate::protocol::{HEADER, Reply, frame};

/// How much of the end of a worker's errors is kept, in bytes.
const LAST_WORDS: usize = 4_096;

/// A running worker. Dropping it ends its whole process group.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    last_words: Arc<Mutex<Vec<u8>>>,
    /// Where it may write, for as long as it lives.
    _folder: Option<TempDir>,
}

/// Why an exchange failed.
pub(super) enum Broken {
    /// The worker is gone.
    Ended { how: String, last_words: String },
    /// What it said is no reply.
    Garbled(String),
}

impl Worker {
    /// Starts a worker in a process group of its own, with nothing of this program's environment.
    pub(super) async fn start(
        starter: &Starter,
        line: &CommandLine,
        folder: Option<TempDir>,
        start_in: Option<&Path>,
    ) -> io::Result<Worker> {
        let mut command = Command::new(&line.program);
        command
            .args(&line.arguments)
            .env_clear()
            .env("LANG", "C.UTF-8")
            // Libraries for numbers start a thread for every processor otherwise, each with memory of its own.
            .env("OMP_NUM_THREADS", "1")
            .env("OPENBLAS_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let writable = folder.as_ref().map_or(Path::new("/tmp"), TempDir::path);
        command.env("HOME", writable).env("TMPDIR", writable);
        if let Some(start_in) = start_in {
            command.current_dir(start_in);
        }
        let mut child = starter.start(command).await?;
        let missing = || io::Error::other("a pipe to the worker is missing");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        let last_words = Arc::default();
        tokio::spawn(listen(errors, Arc::clone(&last_words)));
        Ok(Worker {
            child,
            input,
            output,
            last_words,
            _folder: folder,
        })
    }

    /// Sends a message that has no answer.
    pub(super) async fn tell(&mut self, message: &impl Serialize) -> Result<(), Broken> {
        let bytes = frame(message).map_err(|error| Broken::Garbled(error.to_string()))?;
        match self.input.write_all(&bytes).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.ended().await),
        }
    }

    /// Sends a call and waits for its reply of at most that many bytes.
    pub(super) async fn ask(
        &mut self,
        call: &impl Serialize,
        most: usize,
    ) -> Result<Reply, Broken> {
        self.tell(call).await?;
        let mut header = [0; HEADER];
        if self.output.read_exact(&mut header).await.is_err() {
            return Err(self.ended().await);
        }
        let length = u32::from_le_bytes(header) as usize;
        if length > most {
            return Err(Broken::Garbled(format!("a message of {length} bytes")));
        }
        let mut bytes = vec![0; length];
        if self.output.read_exact(&mut bytes).await.is_err() {
            return Err(self.ended().await);
        }
        serde_json::from_slice(&bytes).map_err(|error| Broken::Garbled(error.to_string()))
    }

    /// How the worker ended, when a pipe to it is closed.
    async fn ended(&mut self) -> Broken {
        let status = timeout(Duration::from_secs(1), self.child.wait()).await;
        let how = match status {
            Ok(Ok(status)) => in_words(status),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it closed its output".into(),
        };
        // What it said last may still be on its way.
        tokio::time::sleep(Duration::from_millis(10)).await;
        let words = self
            .last_words
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Broken::Ended {
            how,
            last_words: String::from_utf8_lossy(&words).into_owned(),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = pid.and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => match Signal::from_named_raw(signal) {
            Some(Signal::SEGV) => "signal SEGV, as after endless recursion".into(),
            Some(Signal::XCPU) => "its processor time is used up".into(),
            Some(Signal::XFSZ) => "it wrote a file larger than it may".into(),
            _ => format!("signal {signal}"),
        },
        (None, None) => status.to_string(),
    }
}

/// Keeps the end of what a worker writes as errors, and takes the rest from it so that it never waits.
async fn listen(mut errors: ChildStderr, last_words: Arc<Mutex<Vec<u8>>>) {
    let mut part = [0; 1_024];
    while let Ok(length @ 1..) = errors.read(&mut part).await {
        let mut words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(part.get(..length).unwrap_or_default());
        let surplus = words.len().saturating_sub(LAST_WORDS);
        words.drain(..surplus);
    }
}
