//! CPython as a reference: a script reads a JSON value and answers one.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::Value;

/// What the script prints when the value is its input; `None`, loudly, where there is no `python3`.
pub(crate) fn answer(script: &str, input: &Value) -> Option<Value> {
    let child = Command::new("python3")
        .args(["-c", script])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            eprintln!(
                "SKIPPED, nothing was compared with CPython: python3 does not start: {error}"
            );
            return None;
        }
    };
    // The script reads all of its input before it writes.
    let written = child
        .stdin
        .take()
        .unwrap()
        .write_all(input.to_json_text().as_bytes());
    let output = child.wait_with_output().unwrap();
    assert!(
        written.is_ok() && output.status.success(),
        "the reference script failed"
    );
    let answer = String::from_utf8(output.stdout).unwrap();
    Some(serde_json::from_str(&answer).unwrap())
}

/// So many values of a strategy.
pub(crate) fn samples<S: Strategy>(count: usize, strategy: &S) -> Vec<S::Value> {
    let mut runner = TestRunner::default();
    let mut sample = || strategy.new_tree(&mut runner).unwrap().current();
    (0..count).map(|_| sample()).collect()
}
