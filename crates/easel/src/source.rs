//! A workflow's file: read, loaded, refused.

use std::io::IsTerminal;
use std::path::Path;

use easel_runtime::check::Diagnostic;
use easel_runtime::graphs::finding::Severity;
use easel_runtime::graphs::package::{Package, PackageError};
use easel_runtime::{Engine, Workflow};

use crate::exit::Exit;
use crate::out;
use crate::problem::{self, Problem};
use crate::read;

/// The file name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// What some editors put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The file of a workflow.
#[derive(Debug)]
pub struct Source {
    /// The file as the user named it; of a package, its graph.
    pub name: String,
    /// What is in it, without a byte order mark.
    pub bytes: Vec<u8>,
    /// The package it is of, or why there is none.
    package: Option<Result<Box<Package>, PackageError>>,
}

impl Source {
    /// Reads a file, standard input for `-`, or a package: a folder, an archive, or a graph with what lies beside it.
    pub fn read(path: &Path) -> Result<Source, Problem> {
        let standard_input = path.as_os_str() == STANDARD_INPUT;
        let is_yaml = !standard_input && has_suffix(path, &["yaml", "yml"]);
        let is_other = path.is_dir() || has_suffix(path, &["zip"]);
        if !standard_input && (is_other || is_yaml && !path.is_file()) {
            return Source::of_package(path);
        }
        let (name, mut bytes) = match standard_input {
            true => ("(standard input)".to_owned(), read::standard_input()?),
            false => (path.display().to_string(), read::bytes(path)?),
        };
        // Places are counted without it.
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        // A canvas that somebody called .yaml is one all the same.
        if is_yaml && !easel_runtime::is_canvas(&bytes) {
            return Source::of_package(path);
        }
        let graph = !standard_input && easel_runtime::is_graph(&bytes);
        Ok(Source {
            name,
            package: graph.then(|| Package::open(path).map(Box::new)),
            bytes,
        })
    }

    fn of_package(path: &Path) -> Result<Source, Problem> {
        match Package::open(path) {
            Ok(package) => {
                let file = &package.manifest.entrypoint;
                let name = match path.is_dir() {
                    true => path.join(file).display().to_string(),
                    false => path.display().to_string(),
                };
                let bytes = package.file(file).unwrap_or_default().to_vec();
                let package = Some(Ok(Box::new(package)));
                Ok(Source {
                    name,
                    bytes,
                    package,
                })
            }
            Err(PackageError::Io { path, error }) => Err(Problem::file(&path, "read", &error)),
            // Nothing of it can be shown: there is no file yet.
            Err(PackageError::NoManifest) if path.is_dir() => Err(Problem::usage(format!(
                "{} is a folder without workflow.yaml, so it is no package.",
                path.display()
            ))
            .fix("Name a file in it. A folder with workflow.yaml is a package: write name: and a word into it.")),
            Err(error) => Ok(Source {
                name: path.display().to_string(),
                bytes: std::fs::read(path).unwrap_or_default(),
                package: Some(Err(error)),
            }),
        }
    }

    /// The package, if it is a graph's.
    pub fn package(&self) -> Option<&Package> {
        self.package
            .as_ref()?
            .as_ref()
            .ok()
            .map(|package| &**package)
    }

    /// Loads the workflow.
    ///
    /// Errors: what is wrong, as the check reports it.
    pub fn open(&self, engine: &Engine) -> Result<Workflow, Diagnostic> {
        match &self.package {
            Some(Ok(package)) => Ok(engine.package(package)),
            Some(Err(error)) => Err(easel_runtime::check::graph::no_package(error)),
            None => engine.load(&self.bytes).map_err(|error| error.diagnostic()),
        }
    }

    /// The text, as far as it is one.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Loads the workflow. A file that is none is refused.
    pub fn load(&self, engine: &Engine) -> Result<Workflow, Problem> {
        self.open(engine).map_err(|found| {
            Problem::new(Exit::Refused, found.message.clone())
                .at(&self.name, &self.text(), found.place)
                .fix(found.fix)
        })
    }

    /// Says why a workflow must not run, if so.
    pub fn refuse(&self, workflow: &Workflow) -> Result<(), Problem> {
        self.refuse_for(&workflow.refusals().collect::<Vec<_>>(), "run")
    }

    /// Says what of a graph cannot be read, if so: what it means, nobody knows.
    pub fn refuse_unreadable(&self, workflow: &Workflow, done: &str) -> Result<(), Problem> {
        let findings = workflow.graph().map(|graph| graph.document().findings());
        let errors = findings
            .into_iter()
            .flatten()
            .filter(|found| found.severity == Severity::Error);
        let codes: Vec<String> = errors.map(|found| found.code.to_string()).collect();
        let unreadable =
            |refusal: &&Diagnostic| codes.iter().any(|code| code == refusal.code.name());
        let refusals: Vec<_> = workflow.refusals().filter(unreadable).collect();
        self.refuse_for(&refusals, done)
    }

    fn refuse_for(&self, refusals: &[&Diagnostic], done: &str) -> Result<(), Problem> {
        let text = self.text();
        let terminal = std::io::stderr().is_terminal();
        for refusal in refusals {
            out::tell(&problem::diagnostic(refusal, &self.name, &text, terminal));
        }
        match refusals.len() {
            0 => Ok(()),
            count => {
                let errors = if count == 1 { "error" } else { "errors" };
                let message = format!("{} has {count} {errors} and is not {done}.", self.name);
                Err(Problem::new(Exit::Refused, message)
                    .fix("Mend what is named above; `easel explain CODE` says more about a code."))
            }
        }
    }
}

fn has_suffix(path: &Path, suffixes: &[&str]) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str());
    suffix.is_some_and(|suffix| suffixes.iter().any(|s| suffix.eq_ignore_ascii_case(s)))
}
