//! Notes the commit that is built, where that is known.

use std::process::Command;

fn main() {
    // Grows with each commit, and with each change of branch.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=9", "HEAD"]);
    let commit = commit.as_deref().unwrap_or("unknown");
    println!("cargo:rustc-env=EASEL_COMMIT={commit}");
}

/// What git answers, if there is one and it knows.
fn git(words: &[&str]) -> Option<String> {
    let asked = Command::new("git").args(words).output().ok()?;
    let answer = String::from_utf8(asked.stdout).ok()?;
    (asked.status.success() && !answer.trim().is_empty()).then(|| answer.trim().to_owned())
}
