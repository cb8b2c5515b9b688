//! Packages: a graph with its manifest, its Python and its schemas, as a folder, as one archive, or as a graph alone.
//!
//! | file | is |
//! |---|---|
//! | `workflow.yaml` | the [`Manifest`] |
//! | `graph.yaml` | the graph, or whatever the manifest's `entrypoint` names |
//! | `agents/*.yaml` | keys that replace those of one node of the top level |
//! | the sidecar, `nodes/*.py`, `schemas.py`, … | Python, which nothing here runs |
//!
//! Opening reads and never runs anything, follows no link out of the package, and keeps to [`Limits`]: a package may come
//! from a stranger.

mod archive;
mod folder;
mod manifest;
pub mod name;
mod overrides;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::document::Document;
use crate::error::ReadError;
use crate::finding::{Code, Finding, Stage};
use crate::place::Place;
use crate::source::Format;

pub use manifest::Manifest;

/// The file of the manifest.
pub const MANIFEST: &str = "workflow.yaml";

/// The file of the graph, unless the manifest names another.
pub const GRAPH: &str = "graph.yaml";

/// What is read of a package before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of an archive, at most.
    pub archive_bytes: u64,
    /// Bytes of one file, at most.
    pub file_bytes: u64,
    /// Bytes of all files together, at most: unpacked, whatever an archive says of itself.
    pub total_bytes: u64,
    /// Files, at most.
    pub files: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            archive_bytes: 32_000_000,
            file_bytes: 8_000_000,
            total_bytes: 64_000_000,
            files: 1_000,
        }
    }
}

/// A graph with everything that belongs to it.
#[derive(Clone, Debug)]
pub struct Package {
    /// What it is called; made up from the graph where a graph stands alone.
    pub manifest: Manifest,
    /// The graph, with the overrides of `agents/` in it. Its [`source`](Document::source) is the text of its own file.
    pub document: Document,
    /// Where it lies; `None` for an archive.
    pub folder: Option<PathBuf>,
    /// The contents of its files by name, in order; a name has `/` between its parts.
    files: Files,
}

/// Files by name.
pub(crate) type Files = BTreeMap<String, Arc<[u8]>>;

/// Why something is no package.
#[derive(Debug, Error)]
pub enum PackageError {
    /// A file or folder can't be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: std::io::Error,
    },
    /// The folder or archive has no manifest.
    #[error(
        "there is no `{MANIFEST}`: add one with at least `name:`, or open the graph's file itself"
    )]
    NoManifest,
    /// The manifest can't be read.
    #[error("{MANIFEST}: {0}")]
    Manifest(ReadError),
    /// The manifest lacks something or has something of a wrong type.
    #[error("{MANIFEST}: {0}")]
    ManifestKey(Box<Finding>),
    /// The manifest names a graph that is not there.
    #[error(
        "{MANIFEST} says that the graph is `{entrypoint}`, and the package has no such file: correct `entrypoint`, or add the file"
    )]
    NoEntrypoint {
        /// The name.
        entrypoint: String,
    },
    /// The graph can't be read.
    #[error("{file}: {error}")]
    Graph {
        /// The file.
        file: String,
        /// Why.
        #[source]
        error: ReadError,
    },
    /// A name leads out of the package or means different files on different systems.
    #[error("the name {name:?} {why}: rename the file")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A link leads out of the package.
    #[error("`{name}` is a link {why}: put the file itself there")]
    Link {
        /// The name of the link.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is more than is read.
    #[error("the package has more than {limit} {what}: leave out what the graph does not need")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is read.
        limit: u64,
    },
    /// A file is longer than what is read.
    #[error("the file {name} has more than {limit} bytes: leave out what the graph does not need")]
    FileTooLarge {
        /// The file's name.
        name: String,
        /// How many bytes are read.
        limit: u64,
    },
    /// The archive can't be read.
    #[error(
        "the archive can't be read: {0}; it has to be a zip file, stored or deflated, without a password"
    )]
    Archive(#[from] zip::result::ZipError),
    /// The folder to unpack into has something in it.
    #[error("{}: there is something here already: name a folder that is new or empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

impl Package {
    /// Opens a folder, an archive (`.zip`), or a graph that stands alone.
    ///
    /// Of a folder, names that begin with `.`, `__pycache__` and `.pyc` files are left out. Beside a graph that stands
    /// alone, the Python files that it names are read.
    ///
    /// # Errors
    ///
    /// See [`PackageError`]. What is wrong with the graph itself is in its findings.
    pub fn open(path: &Path) -> Result<Package, PackageError> {
        Package::open_within(path, Limits::default())
    }

    /// Like [`open`](Package::open), with other limits.
    ///
    /// # Errors
    ///
    /// As [`open`](Package::open).
    pub fn open_within(path: &Path, limits: Limits) -> Result<Package, PackageError> {
        if path.is_dir() {
            let files = folder::read(path, limits)?;
            return Package::of_files(files, Some(path.to_owned()));
        }
        if path
            .extension()
            .is_some_and(|suffix| suffix.eq_ignore_ascii_case("zip"))
        {
            let bytes = folder::read_file(path, limits.archive_bytes)?;
            return Package::from_archive_within(&bytes, limits);
        }
        Package::alone(path, limits)
    }

    /// Like [`open`](Package::open), of a folder that may lack a manifest: then it gets one with this name and nothing
    /// else.
    ///
    /// # Errors
    ///
    /// As [`open`](Package::open), but for a missing manifest.
    pub fn open_or_name(folder: &Path, name: &str) -> Result<Package, PackageError> {
        let mut files = folder::read(folder, Limits::default())?;
        let manifest = Manifest::of_name(name, GRAPH);
        let made_up = || manifest.to_yaml().into_bytes().into();
        files.entry(MANIFEST.to_owned()).or_insert_with(made_up);
        Package::of_files(files, Some(folder.to_owned()))
    }

    /// Reads an archive.
    ///
    /// # Errors
    ///
    /// As [`open`](Package::open).
    pub fn from_archive(bytes: &[u8]) -> Result<Package, PackageError> {
        Package::from_archive_within(bytes, Limits::default())
    }

    fn from_archive_within(bytes: &[u8], limits: Limits) -> Result<Package, PackageError> {
        Package::of_files(archive::read(bytes, limits)?, None)
    }

    /// A package from files that are in memory already.
    ///
    /// # Errors
    ///
    /// As [`open`](Package::open).
    pub fn from_files(
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<Package, PackageError> {
        let files: Files = files
            .into_iter()
            .map(|(name, bytes)| (name, bytes.into()))
            .collect();
        name::check_all(files.keys())?;
        Package::of_files(files, None)
    }

    fn of_files(files: Files, folder: Option<PathBuf>) -> Result<Package, PackageError> {
        let manifest = files.get(MANIFEST).ok_or(PackageError::NoManifest)?;
        let manifest = Manifest::read(manifest)?;
        let name = manifest.entrypoint.clone();
        if let Some(why) = name::fault(&name) {
            return Err(PackageError::Name { name, why });
        }
        let Some(text) = files.get(&name) else {
            return Err(PackageError::NoEntrypoint { entrypoint: name });
        };
        let document = document(&name, text)?;
        let mut package = Package {
            manifest,
            document,
            folder,
            files,
        };
        overrides::apply(&mut package.document, &package.files);
        package.check_sidecar();
        Ok(package)
    }

    /// A graph without a manifest.
    fn alone(path: &Path, limits: Limits) -> Result<Package, PackageError> {
        let text: Arc<[u8]> = folder::read_file(path, limits.file_bytes)?.into();
        let file = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(GRAPH);
        let document = document(file, &text)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let mut files = folder::read_named(&folder, &python_files(&document), limits)?;
        files.insert(file.to_owned(), text);
        let manifest = Manifest::of_graph(&document, file);
        files.insert(MANIFEST.to_owned(), manifest.to_yaml().into_bytes().into());
        let mut package = Package {
            manifest,
            document,
            folder: Some(folder),
            files,
        };
        package.check_sidecar();
        Ok(package)
    }

    /// Says where the sidecar is not.
    fn check_sidecar(&mut self) {
        let Some(path) = self.document.functions.clone() else {
            return;
        };
        let name = name::normal(&path);
        let (cause, fix) = match name {
            None => (
                format!(
                    "The sidecar `{}` would lie outside of the package.",
                    &*path.value
                ),
                "Put the file beside the graph and write its name.".to_owned(),
            ),
            Some(name) if !self.files.contains_key(&name) => (
                format!("There is no file `{}` beside the graph.", &*path.value),
                "Add the file, or correct its name.".to_owned(),
            ),
            Some(_) => return,
        };
        let code = Code::Functions;
        self.document.findings.push(Finding {
            code,
            severity: code.severity(),
            stage: Stage::Load,
            place: Place::top().key("functions"),
            at: path.at,
            node: None,
            subject: Some(path.value),
            cause,
            fix,
        });
        self.document.sort_findings();
    }

    /// Its files in the order of their names, each name with `/` between its parts.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(name, bytes)| (&**name, &**bytes))
    }

    /// The contents of one file.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|bytes| &**bytes)
    }

    /// The name and text of the sidecar, if the graph names one that is there.
    pub fn sidecar(&self) -> Option<(String, &str)> {
        let name = name::normal(self.document.functions.as_deref()?)?;
        let text = std::str::from_utf8(self.file(&name)?).ok()?;
        Some((name, text))
    }

    /// The name and text of a Python module (`nodes.fetch`), if the package has it as a file or a folder with
    /// `__init__.py`.
    pub fn module(&self, module: &str) -> Option<(String, &str)> {
        let path = module.replace('.', "/");
        let names = [format!("{path}.py"), format!("{path}/__init__.py")];
        let name = names
            .into_iter()
            .find(|name| self.files.contains_key(name))?;
        let text = std::str::from_utf8(self.file(&name)?).ok()?;
        Some((name, text))
    }

    /// The package as an archive. The same files give the same bytes.
    ///
    /// # Errors
    ///
    /// If a name can't stand in an archive.
    pub fn to_archive(&self) -> Result<Vec<u8>, PackageError> {
        archive::write(&self.files)
    }

    /// Writes the package's files into a folder, which is made if it isn't there and has to be empty if it is.
    ///
    /// # Errors
    ///
    /// If there is something in the folder, or the system refuses.
    pub fn unpack(&self, folder: &Path) -> Result<(), PackageError> {
        folder::write(folder, &self.files)
    }
}

fn document(file: &str, text: &[u8]) -> Result<Document, PackageError> {
    Document::read(text, Format::of_path(Path::new(file))).map_err(|error| PackageError::Graph {
        file: file.to_owned(),
        error,
    })
}

/// The names of the Python files that a graph names itself.
fn python_files(document: &Document) -> Vec<String> {
    let mut names = Vec::new();
    names.extend(
        document
            .functions
            .as_deref()
            .and_then(|path| name::normal(path)),
    );
    let mut module = |path: &str| {
        let module = path.split_once(':').or_else(|| path.rsplit_once('.'));
        let Some((module, _)) = module else {
            return;
        };
        let path = module.trim().replace('.', "/");
        let files = [format!("{path}.py"), format!("{path}/__init__.py")];
        names.extend(files.iter().filter_map(|path| name::normal(path)));
    };
    for node in document.all_nodes() {
        if let Some(callable) = &node.callable {
            module(callable);
        }
        if let Some(schema) = &node.output_schema
            && let crate::document::OutputSchema::Class(path) = &schema.value
        {
            module(path);
        }
    }
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests;
