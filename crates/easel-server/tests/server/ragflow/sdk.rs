//! RAGFlow's own client for Python as the judge.

use std::process::Command;

use serde_json::{Value as Json, json};

use crate::support::TestServer;

/// Runs when `EASEL_CLIENTS=1`: it needs Python with `ragflow-sdk`.
#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_makes_and_asks_an_agent_of_each_template() {
    if std::env::var("EASEL_CLIENTS").is_ok_and(|on| on == "1") {
        let rule = |component: &str, reply: Json| json!({"match": {"component": component}, "reply": reply.to_string()});
        let read = json!({"urgency": "normal", "topic": "Shop", "summary": "A question."});
        let data = json!({"vendor": "Lamps Ltd", "number": "17", "date": "2026-11-02", "currency": "EUR", "total": 99.5, "lines": []});
        let rules = [
            rule("Agent:Read", read),
            rule("Agent:Judge", json!({"verdict": "good", "feedback": ""})),
            rule("Agent:Extract", data),
        ];
        let world = json!({"rules": rules, "default_reply": "A scripted answer."});
        let server = TestServer::with_world(world).await;
        let key = server.key("ada", &["read", "run", "write"]).await;
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let python = std::env::var("EASEL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut client = Command::new(python);
        client.arg(format!("{root}/tests/clients/ragflow_sdk_client.py"));
        client.args([server.url(""), key]);
        let output = tokio::task::spawn_blocking(move || client.output().unwrap())
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let wrong = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}\n{wrong}");
        assert!(said.contains("all agents answered"), "{said}");
    } else {
        eprintln!(
            "SKIPPED: RAGFlow's Python client; set EASEL_CLIENTS=1 and have ragflow-sdk installed"
        );
    }
}
