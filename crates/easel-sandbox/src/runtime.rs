//! Which interpreter runs a file, chosen from its text alone.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::entry::Entry;
use crate::package::{Package, PackageError};
use crate::source::{Need, Place, Source};

/// An interpreter of user code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Runtime {
    /// The built-in Python interpreter, monty: no files, no network, no processes, a part of the language.
    Monty,
    /// A CPython of the operator's, in a process of its own.
    CPython,
    /// The built-in JavaScript interpreter, QuickJS: no files, no network, no packages.
    QuickJs,
}

impl Runtime {
    /// The name that records use: `monty`, `cpython` or `quickjs`.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Monty => "monty",
            Runtime::CPython => "cpython",
            Runtime::QuickJs => "quickjs",
        }
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the operator lets user code run in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Allowed {
    /// The built-in interpreter alone.
    #[default]
    MontyOnly,
    /// Also this CPython, for files that need it.
    CPython {
        /// The interpreter, e.g. `/usr/bin/python3` or that of a virtual environment.
        python: PathBuf,
    },
}

/// How a callable will run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The interpreter.
    pub runtime: Runtime,
    /// Why this one, in one sentence.
    pub why: String,
    /// The file that defines it, relative to the package; `None` for a module of the interpreter's own.
    pub file: Option<Arc<str>>,
}

/// Why a callable cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The package or one of its files is not what the entry needs.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// It needs CPython, which the operator doesn't allow.
    #[error(
        "{entry} needs CPython: {}{what} is beyond the built-in interpreter; write it without, or name a CPython \
         in easel.toml (`[python] cpython = \"/usr/bin/python3\"`)",
        at(file.as_deref(), *place)
    )]
    NeedsCPython {
        /// The callable.
        entry: Entry,
        /// The file with the cause, if it is one of the package.
        file: Option<Arc<str>>,
        /// Where the cause stands.
        place: Option<Place>,
        /// The cause.
        what: String,
    },
}

fn at(file: Option<&str>, place: Option<Place>) -> String {
    match (file, place) {
        (Some(file), Some(place)) => format!("{file}:{}:{}: ", place.line, place.column),
        (Some(file), None) => format!("{file}: "),
        (None, _) => String::new(),
    }
}

/// Why a file needs CPython.
struct Cause {
    file: Option<Arc<str>>,
    place: Option<Place>,
    what: String,
}

impl Cause {
    fn of_need(source: &Source, need: &Need) -> Cause {
        Cause {
            file: Some(source.file().into()),
            place: Some(need.place),
            what: need.what.clone(),
        }
    }
}

impl Package {
    /// Says which interpreter would run a callable, or why none can. Reads files, runs nothing.
    ///
    /// All files of the package that import each other run in one interpreter, so that a module is loaded once.
    ///
    /// # Errors
    /// The callable is not there, its file is no Python, or it needs what is not allowed.
    pub fn plan(&self, entry: &Entry, allowed: &Allowed) -> Result<Plan, PlanError> {
        let file = match self.file_of(entry)? {
            Some(file) => file,
            None => {
                let module = entry.module().unwrap_or_default();
                let what = format!("the module \"{module}\", which is no file of the package,");
                let (file, place) = (None, None);
                return cpython(entry, Cause { file, place, what }, None, allowed);
            }
        };
        let source = self.source(&file)?;
        let attribute = entry.attribute();
        let first = attribute.split('.').next().unwrap_or(attribute);
        let takes_all = source
            .imports()
            .iter()
            .any(|i| i.at_top && i.binds.is_none());
        let is_data = attribute == first && source.is_data(first);
        if is_data || (!source.defines(first) && !takes_all) {
            return Err(PackageError::NoCallable {
                file,
                name: attribute.into(),
                callables: source
                    .callables()
                    .iter()
                    .map(|name| (*name).into())
                    .collect(),
            }
            .into());
        }
        match self.cause(&file, source, allowed) {
            Some(cause) => cpython(entry, cause, Some(file), allowed),
            None => Ok(Plan {
                runtime: Runtime::Monty,
                why: format!("{file} uses nothing beyond the built-in interpreter"),
                file: Some(file),
            }),
        }
    }

    /// The first reason for CPython: in the file, in what it imports, or in who imports it.
    fn cause(&self, file: &Arc<str>, source: &Source, allowed: &Allowed) -> Option<Cause> {
        let beyond = |need: &&Need| !self.is_own_module(source, need);
        if let Some(need) = source.needs().iter().find(beyond) {
            return Some(Cause::of_need(source, need));
        }
        let own = source.imports().iter().find_map(|import| {
            let imported = self.imported(source, import).next()?;
            Some((import, imported))
        });
        if let Some((import, imported)) = own {
            return Some(Cause {
                file: Some(file.clone()),
                place: Some(import.place),
                what: format!("\"{import}\", which is the package's own {imported},"),
            });
        }
        if let Some(init) = self
            .packages_around(file)
            .find(|init| self.source(init).is_ok_and(Source::runs_something))
        {
            return Some(Cause {
                what: "code that runs before its neighbours".into(),
                file: Some(init),
                place: None,
            });
        }
        // Where only the built-in interpreter is allowed, an importer can never run, so it is no reason.
        if *allowed == Allowed::MontyOnly {
            return None;
        }
        let importers: BTreeSet<&str> = self
            .files()
            .filter(|other| *other != &**file)
            .filter(|other| {
                self.source(other).is_ok_and(|source| {
                    let mut imported = source.imports().iter();
                    imported.any(|i| self.imported(source, i).any(|f| f == *file))
                })
            })
            .collect();
        importers.first().map(|importer| Cause {
            file: Some(file.clone()),
            place: None,
            what: format!("being imported by {importer}, which must share it,"),
        })
    }

    /// True if the need is an import that the package itself satisfies.
    fn is_own_module(&self, source: &Source, need: &Need) -> bool {
        source.imports().iter().any(|import| {
            import.place == need.place && self.imported(source, import).next().is_some()
        })
    }
}

fn cpython(
    entry: &Entry,
    cause: Cause,
    file: Option<Arc<str>>,
    allowed: &Allowed,
) -> Result<Plan, PlanError> {
    match allowed {
        Allowed::CPython { .. } => Ok(Plan {
            runtime: Runtime::CPython,
            why: format!(
                "{}{} is beyond the built-in interpreter",
                at(cause.file.as_deref(), cause.place),
                cause.what
            ),
            file,
        }),
        Allowed::MontyOnly => Err(PlanError::NeedsCPython {
            entry: entry.clone(),
            file: cause.file,
            place: cause.place,
            what: cause.what,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(files: &[(&str, &str)]) -> Package {
        Package::new(files.iter().copied()).unwrap()
    }

    fn with_cpython() -> Allowed {
        Allowed::CPython {
            python: "python3".into(),
        }
    }

    fn plan(package: &Package, entry: &str, allowed: &Allowed) -> Result<Plan, String> {
        let entry = entry.parse().unwrap();
        let plan = package.plan(&entry, allowed);
        plan.map_err(|error| error.to_string())
    }

    #[test]
    fn a_plain_file_runs_in_the_built_in_interpreter_whatever_is_allowed() {
        let package = package(&[("nodes/a.py", "def run(): pass\n")]);
        for allowed in [Allowed::MontyOnly, with_cpython()] {
            let plan = plan(&package, "nodes.a:run", &allowed).unwrap();
            assert_eq!(plan.runtime, Runtime::Monty);
            assert_eq!(plan.file.as_deref(), Some("nodes/a.py"));
            assert_eq!(
                plan.why,
                "nodes/a.py uses nothing beyond the built-in interpreter"
            );
        }
    }

    #[test]
    fn files_that_import_each_other_share_cpython() {
        let package = package(&[
            ("a.py", "import b\ndef run(): pass\n"),
            ("b.py", "def run(): pass\n"),
            ("c.py", "def run(): pass\n"),
        ]);
        let allowed = with_cpython();
        let a = plan(&package, "a:run", &allowed).unwrap();
        assert_eq!(a.runtime, Runtime::CPython);
        assert_eq!(
            a.why,
            "a.py:1:8: \"import b\", which is the package's own b.py, is beyond the built-in interpreter"
        );
        let b = plan(&package, "b:run", &allowed).unwrap();
        assert_eq!(b.runtime, Runtime::CPython);
        assert_eq!(
            plan(&package, "c:run", &allowed).unwrap().runtime,
            Runtime::Monty
        );
        // Alone, b is as plain as c: a cannot run at all, and so shares nothing with it.
        let b = plan(&package, "b:run", &Allowed::MontyOnly).unwrap();
        assert_eq!(b.runtime, Runtime::Monty);
        assert!(plan(&package, "a:run", &Allowed::MontyOnly).is_err());
    }

    #[test]
    fn a_package_that_runs_code_of_its_own_needs_cpython_and_an_empty_one_does_not() {
        let run = "def run(): pass\n";
        let empty = package(&[("p/__init__.py", "\"\"\"Docs.\"\"\"\n"), ("p/a.py", run)]);
        assert_eq!(
            plan(&empty, "p.a:run", &with_cpython()).unwrap().runtime,
            Runtime::Monty
        );
        let busy = package(&[("p/__init__.py", "X = 1\n"), ("p/a.py", run)]);
        assert_eq!(
            plan(&busy, "p.a:run", &with_cpython()).unwrap().runtime,
            Runtime::CPython
        );
        assert_eq!(
            plan(&busy, "p.a:run", &Allowed::MontyOnly).unwrap_err(),
            "p.a:run needs CPython: p/__init__.py: code that runs before its neighbours is beyond the built-in \
             interpreter; write it without, or name a CPython in easel.toml (`[python] cpython = \"/usr/bin/python3\"`)"
        );
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let package = package(&[("nodes/a.py", "LIMIT = 3\ndef run(): pass\n")]);
        for (entry, words) in [
            ("nodes.a:walk", "nodes/a.py has no walk to call; it has run"),
            (
                "nodes.a:LIMIT",
                "nodes/a.py has no LIMIT to call; it has run",
            ),
            (
                "nodes.b:run",
                "the package has no file nodes/b.py; it has nodes/a.py",
            ),
            (
                "run",
                "\"run\" names something in the sidecar, and the workflow has none: write module:run, or set functions",
            ),
        ] {
            assert_eq!(plan(&package, entry, &with_cpython()).unwrap_err(), words);
        }
    }

    #[test]
    fn a_module_of_the_interpreters_own_needs_cpython() {
        let package = package(&[]);
        assert_eq!(
            plan(&package, "math:sqrt", &with_cpython())
                .unwrap()
                .runtime,
            Runtime::CPython
        );
        assert_eq!(
            plan(&package, "math:sqrt", &Allowed::MontyOnly).unwrap_err(),
            "math:sqrt needs CPython: the module \"math\", which is no file of the package, is beyond the built-in \
             interpreter; write it without, or name a CPython in easel.toml (`[python] cpython = \"/usr/bin/python3\"`)"
        );
    }

    #[test]
    fn a_sidecar_stands_alone() {
        let files = [("helpers.py", "from .x import y\n"), ("x.py", "y = 1\n")];
        let error = package(&files).with_sidecar("./helpers.py").unwrap_err();
        assert_eq!(
            error.to_string(),
            "helpers.py:1: \"from .x import y\" is relative, and a sidecar stands alone: import the module by its \
             full name"
        );
    }

    #[test]
    fn a_file_outside_the_package_is_refused() {
        for path in [
            "/a.py",
            "../a.py",
            "a/../b.py",
            "a//b.py",
            "a.txt",
            "./a.py",
            "a\\b.py",
        ] {
            let refused = Package::new([(path, "")]).unwrap_err();
            assert_eq!(refused, PackageError::Path { path: path.into() });
        }
    }

    #[test]
    fn a_syntax_error_is_told_before_anything_runs() {
        let package = package(&[("a.py", "def run(:\n")]);
        let error = plan(&package, "a:run", &with_cpython()).unwrap_err();
        assert!(
            error.starts_with("a.py:1:9: this is no Python: "),
            "{error}"
        );
    }
}
