//! The official clients.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use super::{remembers, with};
use crate::support::{canvas, form, model};

/// The official clients, as scripts that fail where a client would.
#[tokio::test(flavor = "multi_thread")]
async fn the_official_clients_can_use_it() {
    if std::env::var("EASEL_CLIENTS").as_deref() != Ok("1") {
        eprintln!(
            "SKIPPED: tests/clients/openai.sh installs the official OpenAI clients and runs them."
        );
        return;
    }
    let (server, agent, key) = with(&model()).await;
    let release = async |title: &str, canvas: &Json| {
        let agent = server.agent("ann", title, canvas).await;
        server.store.publish(&agent, "first").await.unwrap();
        agent
    };
    let asks = release("Asks", &form()).await;
    let remembers = release("Remembers", &remembers()).await;
    let broken = canvas(&[(
        "Message:Out",
        "Message",
        json!({"content": ["{Agent:Nowhere@content}"]}),
    )]);
    let broken = release("Broken", &broken).await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    for (program, script) in [
        ("EASEL_PYTHON", "openai_python.py"),
        ("EASEL_NODE", "openai_node.mjs"),
    ] {
        let usual = if program == "EASEL_NODE" {
            "node"
        } else {
            "python3"
        };
        let program = std::env::var(program).unwrap_or(usual.to_owned());
        let mut command = Command::new(program);
        command.arg(root.join(script)).current_dir(&root);
        command
            .env("EASEL_URL", server.url(""))
            .env("EASEL_KEY", &key);
        command.env("EASEL_AGENT", &agent).env("EASEL_ASKS", &asks);
        command
            .env("EASEL_REMEMBERS", &remembers)
            .env("EASEL_BROKEN", &broken);
        let output = tokio::task::spawn_blocking(move || command.output())
            .await
            .unwrap()
            .unwrap();
        let told =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {told}");
        print!("{told}");
    }
}
