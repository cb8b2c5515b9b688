//! Code nodes in the sandbox: Python and JavaScript away from the host (spec/canvas-components §6.2).

use std::sync::Arc;

use easel_core::Value;
use easel_sandbox::{Entry, Outcome, Package, PackageError, Sandbox, SandboxError};
use easel_tools::ToolError;
use easel_tools::code::{CodeOutcome, CodeRequest, CodeResult, CodeRunner, Language};
use futures::FutureExt as _;
use futures::future::BoxFuture;

/// What a script of Python is called in what it says of itself.
const FILE: &str = "script.py";

/// Runs the scripts of code nodes in a sandbox, each in a worker of its own. Needs a tokio runtime around each call.
#[derive(Clone, Debug)]
pub struct SandboxedCode(Sandbox);

impl SandboxedCode {
    /// Scripts in this sandbox, by its limits.
    pub fn new(sandbox: Sandbox) -> SandboxedCode {
        SandboxedCode(sandbox)
    }

    async fn call(&self, request: &CodeRequest) -> Result<Outcome<Value>, SandboxError> {
        let (script, arguments) = (&request.script, &request.arguments);
        match request.language {
            Language::Python => {
                let session = self.0.session(Arc::new(package(script)?));
                let time = Some(request.timeout);
                session.call(&Entry::main(), arguments, time).await
            }
            Language::JavaScript => {
                let time = Some(request.timeout);
                self.0.javascript(script, arguments, time).await
            }
        }
    }
}

impl CodeRunner for SandboxedCode {
    fn run(&self, request: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>> {
        async move {
            let done = self.call(&request).await;
            outcome(done)
        }
        .boxed()
    }
}

fn package(script: &str) -> Result<Package, PackageError> {
    Package::new([(FILE, script)])?.with_sidecar(FILE)
}

/// What became of a script. That it failed is an outcome; that it could not be run, or not to its end, is an error.
fn outcome(done: Result<Outcome<Value>, SandboxError>) -> Result<CodeOutcome, ToolError> {
    match done {
        Ok(done) => Ok(CodeOutcome {
            result: Some(CodeResult {
                value: done.value,
                type_name: String::new(),
            }),
            stdout: done.printed,
            ..CodeOutcome::default()
        }),
        // What it printed before is no result: it tells how it came to fail.
        Err(SandboxError::Raised { raised, .. }) => Ok(failed(match raised.printed.trim_end() {
            "" => raised.traceback,
            printed => format!("{printed}\n{}", raised.traceback),
        })),
        Err(SandboxError::Time { limit, .. }) => Err(ToolError::Timeout {
            what: "the script".to_owned(),
            after: limit,
        }),
        Err(error @ (SandboxError::Start { .. } | SandboxError::Garbled { .. })) => {
            Err(ToolError::Failed {
                what: "the sandbox".to_owned(),
                message: error.to_string(),
            })
        }
        Err(error) => Ok(failed(error.to_string())),
    }
}

fn failed(why: String) -> CodeOutcome {
    CodeOutcome {
        stderr: why,
        exit_code: 1,
        ..CodeOutcome::default()
    }
}
