//! A code runner behind HTTP: the sandbox that RAGFlow installations have (spec/canvas-components §6.2).

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use easel_core::{Object, Value};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::Deserialize;

use super::{HttpConfig, LiveHttp};
use crate::code::{Artifact, CodeOutcome, CodeRequest, CodeResult, CodeRunner};
use crate::error::ToolError;
use crate::guard::Allow;
use crate::http::{HttpBody, HttpRequest, HttpSender};

/// The largest answer that is read, in bytes: a result, and 20 files of 10 MB in base64 at the very most.
const MOST: u64 = 300 << 20;

/// Files of an answer that are kept, and the largest of them in bytes.
const FILES: usize = 20;
const FILE: u64 = 10 << 20;

/// What the sandbox needs for itself beside the time of the script.
const AROUND: Duration = Duration::from_secs(10);

/// Runs scripts in a sandbox of the operator's.
#[derive(Clone)]
pub struct RemoteSandbox {
    http: Arc<dyn HttpSender>,
    url: String,
}

/// An answer of the sandbox.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    status: String,
    stdout: String,
    stderr: String,
    exit_code: i32,
    detail: Value,
    artifacts: Vec<Artifact>,
    result: Option<Returned>,
}

#[derive(Debug, Deserialize)]
struct Returned {
    #[serde(default)]
    present: bool,
    #[serde(default)]
    value: Value,
    #[serde(default, rename = "type")]
    type_name: Option<String>,
}

impl RemoteSandbox {
    /// A sandbox at that address, without a path. The operator names it, so it may be anywhere.
    ///
    /// # Errors
    /// The address is none.
    pub fn at(url: &str) -> Result<RemoteSandbox, ToolError> {
        let invalid = |problem: String| ToolError::InvalidRequest {
            what: format!("the address \"{url}\" of the sandbox"),
            problem,
        };
        let parsed = url::Url::parse(url).map_err(|error| invalid(error.to_string()))?;
        let host = parsed.host_str().unwrap_or_default();
        let allow = Allow::parse([host]).map_err(|error| invalid(error.to_string()))?;
        let http = LiveHttp::new(HttpConfig {
            allow,
            ..HttpConfig::default()
        })?;
        Ok(RemoteSandbox {
            http: Arc::new(http),
            url: url.trim_end_matches('/').to_owned(),
        })
    }

    async fn ask(&self, request: CodeRequest) -> Result<CodeOutcome, ToolError> {
        let code = STANDARD.encode(&request.script);
        let members = [
            ("code_b64", Value::from(code)),
            ("language", Value::from(request.language.name())),
            ("arguments", Value::from(request.arguments)),
        ];
        let members = members.map(|(name, value)| (Arc::from(name), value));
        let mut post = HttpRequest::new("POST", format!("{}/run", self.url));
        post.body = HttpBody::Json(Value::from(Object::from_iter(members)));
        post.timeout = request.timeout.saturating_add(AROUND);
        let answer = self.http.fetch(post, MOST).await?;
        let what = || "the sandbox".to_owned();
        if !(200..300).contains(&answer.status) {
            let said = String::from_utf8_lossy(&answer.bytes);
            return Err(ToolError::Status {
                what: what(),
                status: answer.status,
                message: said.trim().chars().take(300).collect(),
            });
        }
        let answer: Answer =
            serde_json::from_slice(&answer.bytes).map_err(|error| ToolError::Malformed {
                what: what(),
                cause: format!("it is no JSON of the kind that is expected ({error})"),
            })?;
        answer.outcome()
    }
}

impl CodeRunner for RemoteSandbox {
    fn run(&self, request: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>> {
        self.ask(request).boxed()
    }
}

impl Answer {
    fn outcome(mut self) -> Result<CodeOutcome, ToolError> {
        let result = self.result.filter(|result| result.present);
        let silent = self.stdout.is_empty() && self.stderr.is_empty();
        // A sandbox that could not run the script at all says so in place of what a script does.
        if result.is_none() && silent && self.artifacts.is_empty() && !self.detail.is_null() {
            return Err(ToolError::Failed {
                what: "the sandbox".to_owned(),
                message: format!("{} ({})", self.detail, self.status),
            });
        }
        self.artifacts
            .retain(|file| file.size <= FILE && !file.name.contains(['/', '\\', '\0']));
        self.artifacts.truncate(FILES);
        Ok(CodeOutcome {
            result: result.map(|result| CodeResult {
                value: result.value,
                type_name: result.type_name.unwrap_or_default(),
            }),
            stdout: self.stdout,
            stderr: self.stderr,
            exit_code: self.exit_code,
            artifacts: self.artifacts,
        })
    }
}
