//! The DevTools protocol through a pipe: JSON texts, each with a NUL behind it.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use easel_tools::ToolError;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The longest message that is read, in bytes.
const LONGEST: usize = 32 << 20;

/// How long the browser may take to answer one call.
const ANSWER: Duration = Duration::from_secs(30);

/// A connection to a browser. It ends with the last of its clones.
#[derive(Clone)]
pub(crate) struct Pipe(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    next: AtomicU64,
    reading: JoinHandle<()>,
}

/// What the task that reads shares with those who call.
struct Shared {
    writer: tokio::sync::Mutex<Sender>,
    /// Who waits for the answer to which call; `None` once the browser is gone.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Json>>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// The browser is gone.
pub(crate) fn gone() -> ToolError {
    ToolError::Interrupted {
        host: "the browser".to_owned(),
        cause: "it has ended".to_owned(),
    }
}

impl Pipe {
    /// Speaks through these ends of two pipes.
    pub(crate) fn new(write: OwnedFd, read: OwnedFd) -> std::io::Result<Pipe> {
        let shared = Arc::new(Shared {
            writer: tokio::sync::Mutex::new(Sender::from_owned_fd(write)?),
            waiting: Mutex::new(Some(HashMap::new())),
        });
        let reader = Receiver::from_owned_fd(read)?;
        let reading = tokio::spawn(read_on(reader, shared.clone()));
        Ok(Pipe(Arc::new(Inner {
            shared,
            next: AtomicU64::new(1),
            reading,
        })))
    }

    /// Calls a method of the browser, or of a page by its session.
    pub(crate) async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Json,
    ) -> Result<Json, ToolError> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        match &mut *self.0.shared.waiting() {
            Some(waiting) => drop(waiting.insert(id, answer)),
            None => return Err(gone()),
        }
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.0.shared.write(&message).await?;
        let answered = tokio::time::timeout(ANSWER, answered).await;
        if answered.is_err()
            && let Some(waiting) = &mut *self.0.shared.waiting()
        {
            waiting.remove(&id);
        }
        let mut answer = answered
            .map_err(|_| ToolError::Timeout {
                what: "the browser".to_owned(),
                after: ANSWER,
            })?
            .map_err(|_| gone())?;
        match answer["error"]["message"].as_str() {
            Some(message) => Err(ToolError::Failed {
                what: "the browser".to_owned(),
                message: message.to_owned(),
            }),
            None => Ok(answer["result"].take()),
        }
    }
}

impl Shared {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Json>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, message: &Json) -> Result<(), ToolError> {
        let mut text = message.to_string().into_bytes();
        text.push(0);
        let mut writer = self.writer.lock().await;
        writer.write_all(&text).await.map_err(|_| gone())
    }

    /// Hands an answer to whoever waits for it. What a page asks people is answered at once, or the page would stand still.
    async fn heard(&self, message: Json) {
        if let Some(id) = message["id"].as_u64() {
            let waiting = self.waiting().as_mut().and_then(|all| all.remove(&id));
            if let Some(waiting) = waiting {
                // Who gave up waiting does not need it.
                let _ = waiting.send(message);
            }
        } else if message["method"] == "Page.javascriptDialogOpening" {
            let leaving = message["params"]["type"] == "beforeunload";
            let asks = message["params"]["type"] == "prompt";
            let answer = json!({
                // Its answer is heard by nobody.
                "id": 0,
                "method": "Page.handleJavaScriptDialog",
                "params": {"accept": leaving || !asks},
                "sessionId": message["sessionId"],
            });
            // If it cannot be written, reading ends too.
            let _ = self.write(&answer).await;
        }
    }
}

async fn read_on(mut reader: Receiver, shared: Arc<Shared>) {
    let mut held = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = reader.read(&mut chunk).await.unwrap_or(0);
        let Some(new) = chunk.get(..read).filter(|new| !new.is_empty()) else {
            break;
        };
        let mut parts = new.split(|byte| *byte == 0).peekable();
        while let Some(part) = parts.next() {
            held.extend_from_slice(part);
            if parts.peek().is_some() {
                if let Ok(message) = serde_json::from_slice(&held) {
                    shared.heard(message).await;
                }
                held.clear();
            }
        }
        if held.len() > LONGEST {
            break;
        }
    }
    // Whoever waits hears that nothing comes any more.
    *shared.waiting() = None;
}
