//! The modules of one run, and calls into them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use easel_core::{Object, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::launch::{self, Bubblewrap};
use super::process::{Broken, Worker};
use super::{Sandbox, Shared};
use crate::entry::Entry;
use crate::error::{Raised, SandboxError};
use crate::limits::Limits;
use crate::package::Package;
use crate::protocol::{Call, Failure, FailureKind, OUT_OF_MEMORY, Opening, Reply, Verdict};
use crate::runtime::{Plan, Runtime};

/// What a reply may need beside the result and the printed text.
const AROUND: usize = 1 << 20;

/// The modules of one run. A module is loaded at its first call and keeps its globals from call to call; calls of one
/// interpreter take turns. Dropping a session, or a call that is under way, ends the worker.
#[derive(Debug)]
pub struct Session {
    sandbox: Sandbox,
    package: Arc<Package>,
    /// How callables run; worked out at their first call.
    plans: std::sync::Mutex<HashMap<Entry, Plan>>,
    monty: Mutex<Option<Worker>>,
    cpython: Mutex<Option<Worker>>,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<T> {
    /// What it returned.
    pub value: T,
    /// The interpreter that it ran in.
    pub runtime: Runtime,
    /// Why in this one.
    pub why: String,
    /// What it printed; behind its limit a note says how much was dropped.
    pub printed: String,
}

impl Session {
    pub(super) fn new(sandbox: Sandbox, package: Arc<Package>) -> Session {
        Session {
            sandbox,
            package,
            plans: std::sync::Mutex::default(),
            monty: Mutex::default(),
            cpython: Mutex::default(),
        }
    }

    /// The files.
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// Calls something with all these arguments by name, for at most `time` (`None`: the sandbox's limit). A coroutine
    /// is awaited.
    ///
    /// # Errors
    /// It cannot be called, or the call came to no result.
    pub async fn call(
        &self,
        entry: &Entry,
        arguments: &Object,
        time: Option<Duration>,
    ) -> Result<Outcome<Value>, SandboxError> {
        let (plan, reply) = self.ask(entry, arguments, false, time).await?;
        Ok(outcome(plan, reply.value, reply.printed, reply.dropped))
    }

    /// Asks a function of the sidecar whether a loop is to stop. `iteration` has the members of a `LoopIteration`:
    /// `index`, `iteration`, `output`, `result`, `history`, `feedback`, `max_iterations`, `vars`, `is_last`.
    ///
    /// # Errors
    /// As for [`call`](Session::call).
    pub async fn until(
        &self,
        entry: &Entry,
        iteration: &Object,
        time: Option<Duration>,
    ) -> Result<Outcome<Verdict>, SandboxError> {
        let (plan, reply) = self.ask(entry, iteration, true, time).await?;
        let verdict = reply.verdict.unwrap_or_default();
        Ok(outcome(plan, verdict, reply.printed, reply.dropped))
    }

    async fn ask(
        &self,
        entry: &Entry,
        arguments: &Object,
        verdict: bool,
        time: Option<Duration>,
    ) -> Result<(Plan, Reply), SandboxError> {
        let settings = &self.shared().settings;
        let limits = &settings.limits;
        let plan = self.plan(entry)?;
        let time = time.unwrap_or(limits.time);
        let source = plan.file.as_deref().map(|file| self.package.source(file));
        let call = Call {
            file: plan.file.clone(),
            module: entry.module().map(Arc::from),
            attribute: entry.attribute().into(),
            arguments: arguments.clone(),
            verdict,
            result_by_attribute: source
                .is_some_and(|s| s.is_ok_and(|s| s.reads_result_by_attribute())),
            time: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            printed: limits.printed,
            result: limits.result,
        };
        let slot = match plan.runtime {
            Runtime::CPython => &self.cpython,
            _ => &self.monty,
        };
        let mut slot = slot.lock().await;
        // Out of its slot while it works: if the caller gives up here, the worker is dropped and so ended.
        let worker = slot.take();
        let most = most(limits);
        let exchange = async {
            let mut worker = match worker {
                Some(worker) => worker,
                None => self.start(plan.runtime, entry).await?,
            };
            let reply = worker
                .ask(&call, most)
                .await
                .map_err(|why| broken(limits, entry, why))?;
            Ok::<_, SandboxError>((worker, reply))
        };
        // The built-in interpreter keeps the limit itself and stays alive; this is for what it doesn't notice.
        let patience = match plan.runtime {
            Runtime::CPython => time,
            _ => patience(time),
        };
        let late = |_| SandboxError::Time {
            entry: entry.clone(),
            limit: time,
        };
        let (worker, mut reply) = timeout(patience, exchange).await.map_err(late)??;
        *slot = Some(worker);
        match reply.failure.take() {
            None => Ok((plan, reply)),
            Some(failure) => Err(failed(limits, entry, failure, reply, time)),
        }
    }

    fn shared(&self) -> &Shared {
        &self.sandbox.shared
    }

    fn plan(&self, entry: &Entry) -> Result<Plan, SandboxError> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(entry) {
            return Ok(plan.clone());
        }
        let shared = self.shared();
        let mut plan = self.package.plan(entry, &shared.settings.allowed)?;
        if plan.runtime == Runtime::CPython {
            plan.why.push_str(match shared.bubblewrap {
                Some(_) => "; inside bubblewrap",
                None => "; without bubblewrap",
            });
        }
        plans.insert(entry.clone(), plan.clone());
        Ok(plan)
    }

    async fn start(&self, runtime: Runtime, entry: &Entry) -> Result<Worker, SandboxError> {
        let settings = &self.shared().settings;
        let mut worker = match runtime {
            Runtime::CPython => self.start_cpython().await?,
            _ => {
                let line = launch::built_in(&settings.worker, "python");
                Worker::start(&self.shared().starter, &line, None, None)
                    .await
                    .map_err(|error| cannot_start(&line.program, &error))?
            }
        };
        let files = self.package.files();
        let opening = Opening {
            files: files
                .filter_map(|path| Some((path.into(), self.package.text(path)?.clone())))
                .collect(),
            root: self.package.root().map(Into::into),
            memory: settings.limits.memory,
            cpu: settings.limits.cpu.as_secs(),
        };
        let told = worker.tell(&opening).await;
        told.map_err(|why| broken(&settings.limits, entry, why))?;
        Ok(worker)
    }

    async fn start_cpython(&self) -> Result<Worker, SandboxError> {
        let shared = self.shared();
        let settings = &shared.settings;
        let bubblewrap = shared.bubblewrap.as_deref();
        if bubblewrap.is_none() && settings.confinement.bubblewrap == Bubblewrap::Required {
            return Err(SandboxError::Start {
                program: "bwrap".into(),
                problem: "it is required and not on the PATH: install bubblewrap".into(),
            });
        }
        let program = bubblewrap.unwrap_or(&settings.worker.program);
        let failed = |error| cannot_start(program, &error);
        // Inside bubblewrap there is a /tmp of its own.
        let folder = match bubblewrap {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(failed)?),
        };
        let root = self.package.root();
        let line = launch::cpython(&launch::CPython {
            worker: &settings.worker,
            interpreter: self.sandbox.interpreter().await?,
            bubblewrap,
            confinement: settings.confinement,
            limits: &settings.limits,
            root,
            folder: folder.as_ref().map(|folder| folder.path()),
        });
        let start_in = folder
            .as_ref()
            .map(|folder| root.unwrap_or(folder.path()).to_owned());
        Worker::start(&shared.starter, &line, folder, start_in.as_deref())
            .await
            .map_err(failed)
    }
}

/// Why an exchange with a worker came to nothing.
pub(super) fn broken(limits: &Limits, entry: &Entry, broken: Broken) -> SandboxError {
    let entry = entry.clone();
    match broken {
        Broken::Ended { last_words, .. } if last_words.contains(OUT_OF_MEMORY) => {
            SandboxError::Memory {
                entry,
                limit: limits.memory,
            }
        }
        Broken::Ended { how, last_words } => SandboxError::Ended {
            entry,
            how,
            last_words,
        },
        Broken::Garbled(problem) => SandboxError::Garbled { entry, problem },
    }
}

/// Why a call gave no result, by what the worker says.
pub(super) fn failed(
    limits: &Limits,
    entry: &Entry,
    failure: Failure,
    reply: Reply,
    time: Duration,
) -> SandboxError {
    let entry = entry.clone();
    match failure.kind {
        FailureKind::Raised => SandboxError::Raised {
            entry,
            raised: Box::new(Raised {
                exception: failure.exception,
                message: failure.message,
                frames: failure.frames,
                traceback: failure.traceback,
                printed: with_note(reply.printed, reply.dropped),
            }),
        },
        FailureKind::Time => SandboxError::Time { entry, limit: time },
        FailureKind::Memory => SandboxError::Memory {
            entry,
            limit: limits.memory,
        },
        FailureKind::Result => SandboxError::Result {
            entry,
            what: failure.message,
        },
        FailureKind::TooLarge => SandboxError::TooLarge {
            entry,
            size: failure.message.parse().unwrap_or(0),
            limit: limits.result,
        },
    }
}

/// How long a built-in interpreter is waited for, which keeps its limit of time itself.
pub(super) fn patience(time: Duration) -> Duration {
    time.saturating_add(time / 10 + Duration::from_millis(100))
}

/// Bytes that a reply may have.
pub(super) fn most(limits: &Limits) -> usize {
    // A printed character can take six in JSON.
    (limits.printed.saturating_mul(6))
        .saturating_add(limits.result)
        .saturating_add(AROUND)
}

pub(super) fn cannot_start(program: &Path, error: &std::io::Error) -> SandboxError {
    SandboxError::Start {
        program: program.display().to_string(),
        problem: error.to_string(),
    }
}

fn outcome<T>(plan: Plan, value: T, printed: String, dropped: u64) -> Outcome<T> {
    Outcome {
        value,
        runtime: plan.runtime,
        why: plan.why,
        printed: with_note(printed, dropped),
    }
}

pub(super) fn with_note(mut printed: String, dropped: u64) -> String {
    if dropped > 0 {
        if !printed.ends_with('\n') {
            printed.push('\n');
        }
        printed.push_str(&format!(
            "[{dropped} more bytes were printed and dropped]\n"
        ));
    }
    printed
}
