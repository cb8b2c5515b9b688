//! The Python of a graph's package: read when the graph is loaded, run in the sandbox while it runs.

use std::path::Path;
use std::sync::Arc;

use easel_check::graph::{Callable, CodeProblem, Signature};
use easel_components::{Functions, NoFunctions};
use easel_core::Value;
use easel_graph::package::Package;
#[cfg(feature = "python")]
use easel_sandbox::Sandbox;
use easel_sandbox::{
    Allowed, Entry, EntryError, Package as Modules, PackageError, Parameter, ParameterKind,
    PlanError, Source,
};

use crate::graph::Code;

/// What a package brings beside its graph.
pub(crate) struct PackageCode {
    package: Package,
    modules: Arc<Modules>,
    sidecar: Option<Vec<(Arc<str>, bool)>>,
    #[cfg(feature = "python")]
    sandbox: Option<Sandbox>,
}

impl PackageCode {
    /// Reads the Python files of a package.
    pub fn read(
        package: &Package,
        #[cfg(feature = "python")] sandbox: Option<Sandbox>,
    ) -> PackageCode {
        let sidecar = package.sidecar();
        PackageCode {
            package: package.clone(),
            modules: Arc::new(modules_of(package)),
            sidecar: sidecar.map(|(name, text)| names(&name, text)),
            #[cfg(feature = "python")]
            sandbox,
        }
    }
}

impl PackageCode {
    /// What user code may run in.
    fn allowed(&self) -> Allowed {
        #[cfg(feature = "python")]
        if let Some(sandbox) = &self.sandbox {
            return sandbox.settings().allowed.clone();
        }
        Allowed::MontyOnly
    }

    /// A module that is no file of the package: Python's own, or one that is installed beside the allowed CPython.
    fn foreign(&self, module: &str) -> Callable {
        let installed = match &self.allowed() {
            Allowed::CPython { python } => is_installed(python, module),
            Allowed::MontyOnly => false,
        };
        if easel_sandbox::is_standard(module) || installed {
            return Callable::Unread;
        }
        Callable::Missing {
            why: format!(
                "the package has no module {module}, and neither has Python's own library"
            ),
            known: Vec::new(),
        }
    }

    /// How a function is called, as far as its text tells.
    fn found(&self, entry: &Entry, file: Option<&str>, problem: Option<CodeProblem>) -> Callable {
        let module = entry
            .module()
            .and_then(|module| self.modules.module(module));
        let own = module
            .map(|file| &**file)
            .or_else(|| self.modules.sidecar());
        let Some(source) = own.or(file).and_then(|file| self.modules.source(file).ok()) else {
            return Callable::Unread;
        };
        let mut problems: Vec<CodeProblem> = problem.into_iter().collect();
        problems.extend(source.relative_imports().map(|import| CodeProblem {
            file: source.file().into(),
            line: import.place.line,
            cause: format!("`{import}` is a relative import, and a file of a package stands alone"),
            fix: "Import the module by its name from the package's folder.".to_owned(),
        }));
        let function = source.function(entry.attribute());
        let named = |parameter: &&Parameter| {
            matches!(
                parameter.kind,
                ParameterKind::Either | ParameterKind::KeywordOnly
            )
        };
        let parameters = function
            .filter(|function| !function.decorated)
            .map(|function| {
                let named = function.parameters.iter().filter(named);
                named
                    .map(|p| (p.name.clone(), p.default.is_some()))
                    .collect()
            });
        Callable::Found(Signature {
            parameters,
            takes_any_keyword: function.is_some_and(|function| function.takes_any_keyword()),
            problems,
        })
    }
}

/// Whether a package is installed beside an interpreter, as its folders tell.
fn is_installed(python: &Path, module: &str) -> bool {
    let top = module.split('.').next().unwrap_or(module);
    let Some(root) = python.parent().and_then(Path::parent) else {
        return false;
    };
    let libraries = std::fs::read_dir(root.join("lib")).into_iter().flatten();
    let mut versions = libraries.filter_map(|entry| Some(entry.ok()?.path().join("site-packages")));
    versions.any(|folder| folder.join(top).is_dir() || folder.join(format!("{top}.py")).is_file())
}

/// The Python files of a package, as the sandbox takes them. One that cannot be read as text is left out: who names it
/// hears of it.
pub fn modules_of(package: &Package) -> Modules {
    let python = package.files().filter(|(name, _)| name.ends_with(".py"));
    let texts = python.filter_map(|(name, bytes)| Some((name, std::str::from_utf8(bytes).ok()?)));
    let texts: Vec<(&str, &str)> = texts.collect();
    let modules = || {
        let modules = Modules::new(texts.iter().copied()).unwrap_or_default();
        match &package.folder {
            Some(folder) => modules.with_root(folder.clone()),
            None => modules,
        }
    };
    let Some((sidecar, _)) = package.sidecar() else {
        return modules();
    };
    let with_sidecar = modules().with_sidecar(&sidecar);
    with_sidecar.unwrap_or_else(|why| modules().with_unusable_sidecar(why))
}

/// What a sidecar defines, each with whether it can be called. A name that is assigned may be made
/// by an expression; plain data is not called.
fn names(file: &str, text: &str) -> Vec<(Arc<str>, bool)> {
    let Ok(source) = Source::read(file, text) else {
        return Vec::new();
    };
    let callable = source
        .callables()
        .into_iter()
        .map(|name| (Arc::from(name), true));
    let mut names: Vec<(Arc<str>, bool)> = callable.collect();
    for assigned in source.assigned() {
        if !names.iter().any(|(name, _)| *name == assigned.name) {
            names.push((assigned.name.clone(), !source.is_data(&assigned.name)));
        }
    }
    names
}

impl Code for PackageCode {
    fn sidecar(&self) -> Option<&[(Arc<str>, bool)]> {
        self.sidecar.as_deref()
    }

    fn schema(&self, class: &str) -> Result<Value, String> {
        let schema = self.package.schema_of(class);
        schema.map(Value::from).map_err(|error| error.to_string())
    }

    fn callable(&self, name: &str) -> Callable {
        let entry: Entry = match name.parse() {
            Ok(entry) => entry,
            Err(error) => {
                let error: EntryError = error;
                let (why, known) = (error.to_string(), Vec::new());
                return Callable::Missing { why, known };
            }
        };
        if let Some(module) = entry.module()
            && self.modules.module(module).is_none()
        {
            return self.foreign(module);
        }
        match self.modules.plan(&entry, &self.allowed()) {
            Ok(plan) => self.found(&entry, plan.file.as_deref(), None),
            Err(PlanError::NeedsCPython {
                file, place, what, ..
            }) => {
                let problem = CodeProblem {
                    file: file.clone().unwrap_or_else(|| "the package".into()),
                    line: place.map_or(0, |place| place.line),
                    cause: format!("{what} is beyond the built-in interpreter"),
                    fix: "Write it without, or name a CPython in easel.toml: `[python] cpython = \"/usr/bin/python3\"`."
                        .to_owned(),
                };
                self.found(&entry, file.as_deref(), Some(problem))
            }
            Err(PlanError::Package(error)) => {
                let known = match &error {
                    PackageError::NoCallable { callables, .. } => match entry.module() {
                        Some(module) => {
                            let known = callables.iter();
                            known
                                .map(|name| format!("{module}:{name}").into())
                                .collect()
                        }
                        None => callables.clone(),
                    },
                    _ => Vec::new(),
                };
                let why = error.to_string();
                Callable::Missing { why, known }
            }
        }
    }

    fn begin(&self) -> Arc<dyn Functions> {
        #[cfg(feature = "python")]
        if let Some(sandbox) = &self.sandbox {
            let session = sandbox.session(self.modules.clone());
            return Arc::new(running::Running::new(session));
        }
        let _ = &self.modules;
        Arc::new(NoFunctions)
    }
}

#[cfg(feature = "python")]
mod running {
    use std::sync::Arc;
    use std::time::Duration;

    use easel_components::{Called, Functions, Verdict};
    use easel_core::Object;
    use easel_core::event::Fault;
    use easel_sandbox::{Entry, SandboxError, Session};
    use futures::FutureExt;
    use futures::future::BoxFuture;

    /// The modules of one run.
    pub struct Running {
        session: Session,
    }

    impl Running {
        pub fn new(session: Session) -> Running {
            Running { session }
        }
    }

    impl Functions for Running {
        fn call<'a>(
            &'a self,
            callable: &'a str,
            arguments: Object,
            limit_s: Option<f64>,
        ) -> BoxFuture<'a, Result<Called, Fault>> {
            async move {
                let entry: Entry = callable.parse().map_err(no_entry)?;
                let outcome = self.session.call(&entry, &arguments, time(limit_s)).await;
                let outcome = outcome.map_err(|error| fault(&error))?;
                Ok(Called {
                    value: outcome.value,
                    runtime: outcome.runtime.name().into(),
                    why: outcome.why.into(),
                    printed: outcome.printed.into(),
                })
            }
            .boxed()
        }

        fn until<'a>(
            &'a self,
            function: &'a str,
            iteration: Object,
            limit_s: Option<f64>,
        ) -> BoxFuture<'a, Result<Verdict, Fault>> {
            async move {
                let entry = Entry::in_sidecar(function).map_err(no_entry)?;
                let outcome = self.session.until(&entry, &iteration, time(limit_s)).await;
                let outcome = outcome.map_err(|error| fault(&error))?;
                Ok(Verdict {
                    stop: outcome.value.stop,
                    reason: outcome.value.reason.into(),
                })
            }
            .boxed()
        }
    }

    fn time(seconds: Option<f64>) -> Option<Duration> {
        seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }

    fn no_entry(error: easel_sandbox::EntryError) -> Fault {
        Fault::new("no_function", error.to_string()).without_trace()
    }

    /// What went wrong, with the user's own traceback where there is one.
    fn fault(error: &SandboxError) -> Fault {
        let code = match error {
            SandboxError::Plan(_) => "no_function",
            SandboxError::Raised { .. } => "python",
            SandboxError::Time { .. } => "timeout",
            SandboxError::Memory { .. } => "memory",
            SandboxError::Result { .. } | SandboxError::TooLarge { .. } => "bad_result",
            _ => "worker",
        };
        let message: Arc<str> = match error {
            SandboxError::Raised { raised, .. } if !raised.traceback.trim().is_empty() => {
                format!("{error}\n{}", raised.traceback.trim_end()).into()
            }
            _ => format!("{error}").into(),
        };
        let fault = Fault::new(code, message);
        match error {
            SandboxError::Plan(_) => fault.without_trace(),
            _ => fault,
        }
    }
}
