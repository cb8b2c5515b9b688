//! Notes the commit that is built, where that is known.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    let asked = Command::new("git")
        .args(["rev-parse", "--short=9", "HEAD"])
        .output();
    let commit = asked.ok().filter(|output| output.status.success());
    let commit = commit.and_then(|output| String::from_utf8(output.stdout).ok());
    let commit = commit.map_or("unknown".to_owned(), |commit| commit.trim().to_owned());
    println!("cargo:rustc-env=EASEL_COMMIT={commit}");
}
