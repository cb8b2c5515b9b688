//! Scripts of JavaScript, each run by itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use easel_core::{Object, Value};
use tokio::time::timeout;

use super::Sandbox;
use super::launch;
use super::process::Worker;
use super::session::{Outcome, broken, cannot_start, failed, most, patience, with_note};
use crate::entry::Entry;
use crate::error::SandboxError;
use crate::protocol::{Call, Opening, Reply};
use crate::runtime::Runtime;

/// What the script is called in what it says of itself.
const FILE: &str = "script.js";

impl Sandbox {
    /// Calls `main` of a script of JavaScript with one object, for at most `time` (`None`: the sandbox's limit). A promise is
    /// waited for. `main` is a function of the script, or exported: `module.exports = { main }`, `export function main`.
    ///
    /// # Errors
    /// There is no `main`, or the call came to no result.
    pub async fn javascript(
        &self,
        script: &str,
        arguments: &Object,
        time: Option<Duration>,
    ) -> Result<Outcome<Value>, SandboxError> {
        let limits = &self.settings().limits;
        let time = time.unwrap_or(limits.time);
        let entry = Entry::main();
        let late = |_| SandboxError::Time {
            entry: entry.clone(),
            limit: time,
        };
        let exchange = self.run(script, arguments, &entry, time);
        let mut reply = timeout(patience(time), exchange).await.map_err(late)??;
        if let Some(failure) = reply.failure.take() {
            return Err(failed(limits, &entry, failure, reply, time));
        }
        Ok(Outcome {
            value: reply.value,
            runtime: Runtime::QuickJs,
            why: "JavaScript runs in the built-in interpreter".to_owned(),
            printed: with_note(reply.printed, reply.dropped),
        })
    }
}

impl Sandbox {
    async fn run(
        &self,
        script: &str,
        arguments: &Object,
        entry: &Entry,
        time: Duration,
    ) -> Result<Reply, SandboxError> {
        let settings = self.settings();
        let limits = &settings.limits;
        let line = launch::built_in(&settings.worker, "javascript");
        let started = Worker::start(&self.shared.starter, &line, None, None).await;
        let mut worker = started.map_err(|error| cannot_start(&line.program, &error))?;
        let opening = Opening {
            files: BTreeMap::from([(Arc::from(FILE), Arc::from(script))]),
            root: None,
            memory: limits.memory,
            cpu: limits.cpu.as_secs(),
        };
        let told = worker.tell(&opening).await;
        told.map_err(|why| broken(limits, entry, why))?;
        let call = Call {
            file: Some(FILE.into()),
            module: None,
            attribute: entry.attribute().into(),
            arguments: arguments.clone(),
            verdict: false,
            result_by_attribute: false,
            time: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            printed: limits.printed,
            result: limits.result,
        };
        let reply = worker.ask(&call, most(limits)).await;
        reply.map_err(|why| broken(limits, entry, why))
    }
}
