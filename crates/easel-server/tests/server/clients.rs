//! Judges of others, which have to be installed: they run where `EASEL_CLIENTS=1` says so.

use std::path::Path;
use std::process::Command;

use super::support::TestServer;

/// Whether the judges are asked for.
fn asked_for(what: &str) -> bool {
    let asked = std::env::var("EASEL_CLIENTS").is_ok_and(|value| value == "1");
    if !asked {
        eprintln!("SKIPPED: {what}; EASEL_CLIENTS=1 runs it");
    }
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_no_5xx_and_no_answer_that_is_not_described() {
    if !asked_for("schemathesis") {
        return;
    }
    let server = TestServer::start().await;
    let key = server
        .key("local", &["read", "run", "write", "admin"])
        .await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let url = server.url("");
    let judged = tokio::task::spawn_blocking(move || {
        let script = root.join("tests/clients/schemathesis.sh");
        Command::new(script).args([url, key]).output().unwrap()
    });
    let judged = judged.await.unwrap();
    let said = String::from_utf8_lossy(&judged.stdout);
    assert!(judged.status.success(), "{said}");
}
