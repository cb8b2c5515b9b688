//! Runs a graph case and writes down what happened.

mod battery;
mod files;
mod model;
mod tool;
mod trace;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use easel_runtime::clock::StandingClock;
use easel_runtime::graphs::lower::FindingKind;
use easel_runtime::graphs::package::{Package, PackageError};
use easel_runtime::secrets::Secret;
use easel_runtime::{Engine, Input, Object, RunEvent, TurnError, Value, Workflow};
use easel_sandbox::{Allowed, Sandbox, Settings, WorkerProgram};
use serde_json::{Value as Json, json};

pub use files::Case;

use super::NOW;
use crate::WORKER;

/// Set to 1, it lets the Python of cases run in CPython where the built-in interpreter is not enough.
const CPYTHON: &str = "EASEL_TEST_CPYTHON";

/// Runs a case. The result has the form of `expected.json`.
pub fn run(case: &Case) -> Json {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(run_case(case)),
        Err(error) => refused("the system", &error.to_string()),
    }
}

fn refused(kind: &str, message: &str) -> Json {
    json!({"load": {"ok": false, "error": {"type": kind, "message": message}}})
}

async fn run_case(case: &Case) -> Json {
    if let Some(results) = battery::run(case) {
        return json!({"load": {"ok": true}, "results": results});
    }
    let package = match case.package() {
        Ok(package) => package,
        Err(error @ PackageError::Graph { .. }) => return refused("graph", &error.to_string()),
        Err(error) => return refused("package", &error.to_string()),
    };
    if let Some(error) = package.document.load_errors().next() {
        return refused("graph", &error.to_string());
    }
    let log = tool::Log::default();
    let script = serde_json::from_value(case.llm.clone()).unwrap_or_default();
    let model = model::Scripted::new(
        script,
        case.inputs.profiles.clone(),
        case.inputs.no_provider,
    );
    let model = Arc::new(model);
    let mut builder = Engine::builder()
        .model(model.clone())
        .secrets(secrets(case))
        .clock(Arc::new(StandingClock::at(NOW)))
        .seed(1);
    for script in &case.inputs.tools {
        builder = builder.tool(Arc::new(tool::Scripted::new(script.clone(), log.clone())));
    }
    if let Some(sandbox) = sandbox() {
        builder = builder.sandbox(sandbox);
    }
    let engine = match builder.build() {
        Ok(engine) => engine,
        Err(error) => return refused("tools", &error.to_string()),
    };
    let workflow = Arc::new(engine.package(&package));
    if let Some(error) = unreadable(&workflow) {
        return refused("graph", &error);
    }
    let mut trace = json!({"load": {"ok": true}});
    trace["diagnostics"] = trace::diagnostics(&engine.check(&workflow));
    let valid = workflow.refusals().next().is_none();
    trace["valid"] = json!(valid);
    trace["requirements"] = trace::requirements(&engine, &workflow);
    let runs = matches!(&*case.inputs.mode, "manager" | "executor");
    if runs && (valid || !case.inputs.validate) {
        let ran = run_graph(case, &engine, &workflow).await;
        let calls = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        trace::add_run(&mut trace, case, &workflow, &ran, &calls, &model.calls());
    } else {
        if runs {
            trace["raised"] = json!({"type": "refused by the check"});
        }
        trace::add_nothing_seen(&mut trace, case);
    }
    trace
}

/// Why the old engine would not have loaded a graph: an expression of its top level cannot be read.
fn unreadable(workflow: &Workflow) -> Option<String> {
    let findings = workflow.graph()?.findings().iter();
    let mut errors = findings.filter_map(|finding| match &finding.kind {
        FindingKind::Syntax(error) => Some((finding.place.to_string(), error.to_string())),
        _ => None,
    });
    let (place, error) = errors.find(|(place, _)| !place.contains(".body["))?;
    Some(format!("{place}: {error}"))
}

/// What a run left.
pub struct Ran {
    /// How it ended, or why it could not begin.
    pub ending: Result<easel_runtime::Ending, TurnError>,
    /// What people saw.
    pub events: Vec<Json>,
    /// Where each node stands, and its ports.
    pub nodes: Vec<(
        Arc<str>,
        Option<easel_runtime::core::machine::NodeLife>,
        Object,
    )>,
    /// What the run gave out.
    pub outputs: Object,
}

async fn run_graph(case: &Case, engine: &Arc<Engine>, workflow: &Arc<Workflow>) -> Ran {
    let mut session = engine.session(workflow).despite_refusals();
    let given = Value::from(&case.inputs.inputs);
    let input = match given {
        Value::Object(inputs) => Input {
            inputs: (*inputs).clone(),
            ..Input::default()
        },
        query => Input {
            query,
            ..Input::default()
        },
    };
    let events = Mutex::new(Vec::new());
    let mut observe = |event: RunEvent| {
        let event = serde_json::to_value(&event).unwrap_or_default();
        events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(event);
    };
    let ending = session.turn(input, &mut observe).await;
    let lives: HashMap<Arc<str>, _> = session
        .lives()
        .map(|(id, life)| (id.clone(), life))
        .collect();
    let nodes = session.outputs().map(|(id, ports)| {
        let life = lives.get(id).copied().flatten();
        (id.clone(), life, ports)
    });
    Ran {
        nodes: nodes.collect(),
        outputs: session.results(),
        ending,
        events: events.into_inner().unwrap_or_else(PoisonError::into_inner),
    }
}

/// The stored values of the case; then its environment, which the case alone sets.
fn secrets(case: &Case) -> HashMap<String, Secret> {
    let all = case.inputs.env.iter().chain(&case.inputs.secrets);
    let texts = all.filter_map(|(name, value)| Some((name, value.as_str()?)));
    texts
        .map(|(name, value)| (name.clone(), Secret::new(value)))
        .collect()
}

/// Where the case's Python runs.
fn sandbox() -> Option<Sandbox> {
    let mut settings = Settings::new(WorkerProgram::this(WORKER).ok()?);
    if std::env::var(CPYTHON).is_ok_and(|allowed| allowed == "1") {
        let python = std::env::var_os("PATH").and_then(|path| {
            let mut folders = std::env::split_paths(&path).map(|folder| folder.join("python3"));
            folders.find(|python| python.is_file())
        });
        if let Some(python) = python {
            settings.allowed = Allowed::CPython { python };
        }
    }
    Some(Sandbox::new(settings))
}

impl Case {
    /// The case's files as a package.
    fn package(&self) -> Result<Package, PackageError> {
        let mut package = Package::from_files(self.files.clone())?;
        package.folder = Some(self.folder.clone());
        Ok(package)
    }
}
