//! Writing to a terminal or a pipe whose reader may have gone away: then nobody wants to know.

use std::io::Write;

/// Writes to standard output.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
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
