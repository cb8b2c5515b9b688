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
pub enum Runtime {
    /// The built-in Python interpreter, monty: no files, no network, no processes, a part of the language.
    Monty,
    /// A CPython of the operator's, in a process of its own.
    CPython,
}

impl Runtime {
    /// The name that records use: `monty` or `cpython`.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Monty => "monty",
            Runtime::CPython => "cpython",
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
        "{entry} needs CPython: {}{what} is beyond the built-in interpreter; write it without, or have the operator \
         allow CPython",
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
        if !source.defines(first) && !takes_all {
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
