//! A sandbox with this crate's own worker, and packages written in place.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use easel_core::{Object, Value};
use easel_sandbox::{
    Allowed, Bubblewrap, Confinement, Entry, Package, Sandbox, SandboxError, Session, Settings,
    WorkerProgram,
};

/// Settings with the built-in interpreter alone.
pub fn settings() -> Settings {
    let mut settings = Settings::new(WorkerProgram {
        program: env!("CARGO_BIN_EXE_easel-sandbox-worker").into(),
        arguments: Vec::new(),
    });
    settings.limits.time = Duration::from_secs(20);
    settings
}

/// Settings that allow the machine's `python3`, without bubblewrap.
pub fn with_cpython() -> Settings {
    Settings {
        allowed: Allowed::CPython {
            python: PathBuf::from("python3"),
        },
        confinement: Confinement {
            bubblewrap: Bubblewrap::Off,
            ..Confinement::default()
        },
        ..settings()
    }
}

/// A session over files, the first of which is the sidecar.
pub fn session(settings: Settings, files: &[(&str, &str)]) -> Session {
    let package = Package::new(files.iter().copied()).unwrap();
    let package = package.with_sidecar(files[0].0).unwrap();
    Sandbox::new(settings).session(Arc::new(package))
}

/// A session over a sidecar `helpers.py` in the built-in interpreter.
pub fn sidecar(text: &str) -> Session {
    session(settings(), &[("helpers.py", text)])
}

/// A session over a sidecar `helpers.py` that is made to need CPython.
pub fn sidecar_in_cpython(text: &str) -> Session {
    // At the end, so that lines stay where they are.
    let text = format!("{text}\nimport sys as _needs_cpython; _needs_cpython.path\n");
    session(with_cpython(), &[("helpers.py", &text)])
}

/// The object that a JSON text is.
pub fn object(json: &str) -> Object {
    let value: Value = serde_json::from_str(json).unwrap();
    value.as_object().unwrap().clone()
}

/// Calls an entry with arguments in JSON; the value as JSON.
pub async fn call(session: &Session, entry: &str, arguments: &str) -> Result<String, SandboxError> {
    let entry: Entry = entry.parse().unwrap();
    let outcome = session.call(&entry, &object(arguments), None).await?;
    Ok(outcome.value.to_json_text())
}

/// The exception that a call raised.
pub async fn raised(session: &Session, entry: &str, arguments: &str) -> easel_sandbox::Raised {
    match call(session, entry, arguments).await {
        Err(SandboxError::Raised { raised, .. }) => *raised,
        other => panic!("{other:?}"),
    }
}
