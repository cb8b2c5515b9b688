//! wrk, which asks as fast as it is answered.

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

/// What one measurement came to.
pub struct Load {
    /// Answers a second.
    pub rate: f64,
    /// What 99 of 100 answers took at most, in milliseconds.
    pub p99_ms: f64,
}

/// Whether this machine has it.
pub fn is_there() -> bool {
    // Its `--version` ends with 1.
    let mut command = Command::new("wrk");
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok()
}

/// Writes down what it is to ask.
pub fn script(
    folder: &Path,
    name: &str,
    path: &str,
    body: &Json,
) -> Result<PathBuf, Box<dyn Error>> {
    let body = body.to_string();
    let text = format!(
        "wrk.method = \"POST\"\nwrk.path = \"{path}\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\n\
         wrk.body = [[{body}]]\n"
    );
    let file = folder.join(name).with_extension("lua");
    fs::write(&file, text)?;
    Ok(file)
}

/// Asks for five seconds over 64 connections.
pub fn load(server: SocketAddr, script: &Path) -> Result<Load, Box<dyn Error>> {
    let output = Command::new("wrk")
        .args(["-t1", "-c64", "-d5s", "--latency", "-s"])
        .arg(script)
        .arg(format!("http://{server}"))
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if said.contains("Non-2xx") || said.contains("Socket errors") || !output.status.success() {
        return Err(format!("wrk was not answered well: {said}").into());
    }
    let after = |word: &str| {
        let line = said.lines().find_map(|line| line.trim().strip_prefix(word));
        line.map(str::trim)
            .ok_or_else(|| format!("wrk does not say {word}: {said}"))
    };
    Ok(Load {
        rate: after("Requests/sec:")?.parse()?,
        p99_ms: milliseconds(after("99%")?)?,
    })
}

/// A time as wrk writes it: `1.23ms`, `850.00us`, `1.02s`.
fn milliseconds(text: &str) -> Result<f64, Box<dyn Error>> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let number: f64 = digits.parse()?;
    match &text[digits.len()..] {
        "us" => Ok(number / 1000.0),
        "ms" => Ok(number),
        "s" => Ok(number * 1000.0),
        unit => Err(format!("wrk counts in {unit}").into()),
    }
}
