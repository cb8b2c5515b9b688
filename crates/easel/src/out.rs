//! Writing to a terminal or a pipe whose reader may have gone away: then nobody wants to know. That a disk is full
//! somebody does.

use std::io::{ErrorKind, Write};
use std::sync::OnceLock;

/// Why something that was written to standard output is lost.
static LOST: OnceLock<String> = OnceLock::new();

/// Writes to standard output.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            LOST.get_or_init(|| error.to_string());
        }
        _ => {}
    }
}

/// Why standard output is not whole, although somebody waits for it.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Writes a line to standard output.
pub fn line(text: &str) {
    print(&format!("{text}\n"));
}

/// Writes a line to standard error.
pub fn tell(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes a piece of text to standard error.
pub fn show(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
