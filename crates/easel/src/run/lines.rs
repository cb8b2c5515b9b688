//! Lines of standard input, read beside the run: waiting for one can be given up.

use std::io::BufRead;
use std::sync::{OnceLock, mpsc};

use tokio::sync::oneshot;

/// Reads lines when asked for them.
#[derive(Default)]
pub struct Lines {
    reader: OnceLock<mpsc::Sender<Request>>,
}

/// Where the next line is to go; `None` at the end of input.
type Request = oneshot::Sender<Option<String>>;

impl Lines {
    /// The next line of standard input without its end; `None` at the end of input, or if somebody presses Ctrl-C.
    pub async fn next(&self) -> Option<String> {
        let (reply, line) = oneshot::channel();
        self.reader.get_or_init(read_lines).send(reply).ok()?;
        tokio::select! {
            line = line => line.ok().flatten(),
            _ = tokio::signal::ctrl_c() => None,
        }
    }
}

/// Starts the thread that reads. It ends with the program.
fn read_lines() -> mpsc::Sender<Request> {
    let (wanted, requests) = mpsc::channel::<Request>();
    std::thread::spawn(move || {
        for reply in requests {
            // Whoever asked may be gone.
            let _ = reply.send(read_line());
        }
    });
    wanted
}

/// A line without its end. Bytes that are no text are shown as such and end nothing.
fn read_line() -> Option<String> {
    let mut line = Vec::new();
    let length = std::io::stdin().lock().read_until(b'\n', &mut line).ok()?;
    let text = String::from_utf8_lossy(&line);
    (length > 0).then(|| text.trim_end_matches(['\n', '\r']).to_owned())
}
