//! A code runner behind HTTP.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_core::Value;
use easel_tools::ToolError;
use easel_tools::code::{CodeOutcome, CodeRequest, CodeRunner, Language};
use easel_tools::live::RemoteSandbox;
use serde_json::json;

use crate::server::{Server, respond};

async fn ask(server: &Server) -> Result<CodeOutcome, ToolError> {
    let arguments = Value::from(json!({"n": 2}));
    let request = CodeRequest {
        language: Language::JavaScript,
        script: "function main({ n }) { return n * 21 }".to_owned(),
        arguments: arguments.as_object().cloned().unwrap(),
        timeout: Duration::from_secs(5),
    };
    let sandbox = RemoteSandbox::at(&server.url("/")).unwrap();
    sandbox.run(request).await
}

async fn answering(status: u16, body: serde_json::Value) -> Server {
    let body = body.to_string();
    Server::start(move |_| respond(status, ("content-type", "application/json"), body.clone()))
        .await
}

#[tokio::test]
async fn a_script_is_sent_and_its_result_comes_back() {
    let server = answering(
        200,
        json!({
            "status": "success", "stdout": "hi\n", "stderr": "", "exit_code": 0, "detail": null, "time_used_ms": 3.2,
            "result": {"present": true, "value": 42, "type": "number"},
            "artifacts": [
                {"name": "a.csv", "mime_type": "text/csv", "size": 3, "content_b64": "YSxi"},
                {"name": "../b.csv", "mime_type": "text/csv", "size": 3, "content_b64": "YSxi"},
                {"name": "c.pdf", "mime_type": "application/pdf", "size": 99_000_000, "content_b64": ""},
            ],
        }),
    )
    .await;
    let outcome = ask(&server).await.unwrap();
    assert_eq!(outcome.result.unwrap().value, Value::from(42));
    assert_eq!((&*outcome.stdout, outcome.exit_code), ("hi\n", 0));
    let names: Vec<_> = outcome.artifacts.iter().map(|file| &*file.name).collect();
    assert_eq!(names, ["a.csv"]);
    let seen = &server.seen()[0];
    assert_eq!(
        (&seen["method"], &seen["uri"]),
        (&json!("POST"), &json!("/run"))
    );
    let body: serde_json::Value = serde_json::from_str(seen["body"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&body["language"], &body["arguments"]),
        (&json!("nodejs"), &json!({"n": 2}))
    );
    let script = STANDARD.decode(body["code_b64"].as_str().unwrap()).unwrap();
    assert_eq!(script, b"function main({ n }) { return n * 21 }");
}

#[tokio::test]
async fn a_script_that_failed_there_is_an_outcome() {
    let server = answering(
        200,
        json!({"status": "error", "stdout": "", "stderr": "Traceback: boom", "exit_code": 1, "detail": "runtime",
               "result": {"present": false, "value": null, "type": null}}),
    )
    .await;
    let outcome = ask(&server).await.unwrap();
    assert_eq!(outcome.result, None);
    assert_eq!(
        (&*outcome.stderr, outcome.exit_code),
        ("Traceback: boom", 1)
    );
}

#[tokio::test]
async fn a_sandbox_that_cannot_run_scripts_is_at_fault_itself() {
    let full = answering(
        200,
        json!({"status": "resource_limit_exceeded", "detail": "no container is free"}),
    )
    .await;
    let error = ask(&full).await.unwrap_err();
    assert!(matches!(error, ToolError::Failed { .. }), "{error:?}");
    assert!(
        error.to_string().contains("no container is free"),
        "{error}"
    );
    let down = answering(503, json!({"detail": "starting"})).await;
    let error = ask(&down).await.unwrap_err();
    assert!(
        matches!(error, ToolError::Status { status: 503, .. }),
        "{error:?}"
    );
    let other = answering(200, json!([1, 2])).await;
    let error = ask(&other).await.unwrap_err();
    assert!(matches!(error, ToolError::Malformed { .. }), "{error:?}");
}

#[test]
fn an_address_that_is_none_is_refused() {
    for url in ["sandbox", "", "http://"] {
        assert!(RemoteSandbox::at(url).is_err(), "{url}");
    }
}
