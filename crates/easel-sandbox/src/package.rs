//! The Python files of a workflow, and which of them a name means.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::entry::{Entry, is_identifier};
use crate::source::{Import, Source, SourceError};

/// The Python files that belong to a workflow: its sidecar and the modules beside it. Held as text; nothing is read
/// from disk when they run.
#[derive(Debug, Default)]
pub struct Package {
    files: BTreeMap<Arc<str>, File>,
    root: Option<PathBuf>,
    sidecar: Option<Arc<str>>,
    /// Why the sidecar that there is cannot be used.
    unusable: Option<PackageError>,
}

#[derive(Debug)]
struct File {
    text: Arc<str>,
    source: OnceLock<Result<Source, SourceError>>,
}

impl Package {
    /// A package of files, given as relative paths with `/` between their parts and texts.
    ///
    /// # Errors
    /// A path is absolute, leaves the package, or is no `.py` file.
    pub fn new<P, T>(files: impl IntoIterator<Item = (P, T)>) -> Result<Package, PackageError>
    where
        P: Into<Arc<str>>,
        T: Into<Arc<str>>,
    {
        let mut package = Package::default();
        for (path, text) in files {
            let path = path.into();
            let inside = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
            if !inside || !path.ends_with(".py") || path.contains(['\\', '\0', '\n', '"']) {
                return Err(PackageError::Path { path });
            }
            let file = File {
                text: text.into(),
                source: OnceLock::new(),
            };
            package.files.insert(path, file);
        }
        Ok(package)
    }

    /// The folder with the package's data files. CPython starts in it and can read it, and nothing else of the kind.
    /// A relative path counts from the current folder.
    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Package {
        let root = Path::new(".").join(root.into());
        // Shown to CPython under its name: `.` would be put in place of everything else it needs.
        self.root = Some(std::path::absolute(&root).unwrap_or(root));
        self
    }

    /// Makes one of the files the sidecar: bare names are looked for in it.
    ///
    /// # Errors
    /// The package has no such file, or the file imports relatively.
    pub fn with_sidecar(mut self, path: &str) -> Result<Package, PackageError> {
        let path = path.strip_prefix("./").unwrap_or(path);
        let source = self.source(path)?;
        if let Some(import) = source.relative_imports().next() {
            return Err(PackageError::RelativeImport {
                file: path.into(),
                line: import.place.line,
                import: import.to_string(),
            });
        }
        self.sidecar = Some(path.into());
        Ok(self)
    }

    /// The package with a sidecar that cannot be used: whoever looks for a bare name in it is told why.
    pub fn with_unusable_sidecar(mut self, why: PackageError) -> Package {
        self.unusable = Some(why);
        self
    }

    /// Paths of the files, sorted.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(|path| &**path)
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&Arc<str>> {
        self.files.get(path).map(|file| &file.text)
    }

    /// The folder with the package's data files.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The path of the sidecar.
    pub fn sidecar(&self) -> Option<&str> {
        self.sidecar.as_deref()
    }

    /// What a file defines and needs; read once.
    ///
    /// # Errors
    /// There is no such file, or it is no Python.
    pub fn source(&self, path: &str) -> Result<&Source, PackageError> {
        let file = self.files.get(path).ok_or_else(|| PackageError::NoFile {
            path: path.into(),
            files: self.files.keys().cloned().collect(),
        })?;
        let read = || Source::read(path, &file.text);
        let source = file.source.get_or_init(read).as_ref();
        source.map_err(|error| PackageError::Source(error.clone()))
    }

    /// The file of a dotted module: `a/b.py` or `a/b/__init__.py`.
    pub fn module(&self, module: &str) -> Option<&Arc<str>> {
        let path = module.replace('.', "/");
        [format!("{path}.py"), format!("{path}/__init__.py")]
            .iter()
            .find_map(|path| self.files.get_key_value(path.as_str()))
            .map(|(path, _)| path)
    }

    /// The file of an entry; `None` for a module that is no file of the package.
    pub(crate) fn file_of(&self, entry: &Entry) -> Result<Option<Arc<str>>, PackageError> {
        match entry.module() {
            Some(module) => match self.module(module) {
                Some(file) => Ok(Some(file.clone())),
                // A part of the package that is not there is a slip, no module of the interpreter's.
                None if self.has_folder(module.split('.').next().unwrap_or(module)) => {
                    Err(PackageError::NoFile {
                        path: format!("{}.py", module.replace('.', "/")).into(),
                        files: self.files.keys().cloned().collect(),
                    })
                }
                None => Ok(None),
            },
            None => match &self.sidecar {
                Some(sidecar) => Ok(Some(sidecar.clone())),
                None => Err(self.unusable.clone().unwrap_or(PackageError::NoSidecar {
                    name: entry.attribute().into(),
                })),
            },
        }
    }

    fn has_folder(&self, name: &str) -> bool {
        let prefix = format!("{name}/");
        self.files.keys().any(|path| path.starts_with(&prefix))
    }

    /// The files of the package that an import loads.
    pub(crate) fn imported<'p>(
        &'p self,
        source: &Source,
        import: &'p Import,
    ) -> impl Iterator<Item = Arc<str>> + use<'p> {
        let base = match import.level {
            0 => Some(String::new()),
            level => folder_above(source.file(), level),
        };
        let dotted = base.map(|base| {
            let parts = [base.as_str(), &*import.module].map(str::to_owned);
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            parts.join(".")
        });
        let member = dotted
            .as_ref()
            .zip(import.name.as_ref())
            .map(|(module, name)| {
                if module.is_empty() {
                    name.to_string()
                } else {
                    format!("{module}.{name}")
                }
            });
        [dotted, member]
            .into_iter()
            .flatten()
            .filter(|module| module.split('.').all(is_identifier))
            .filter_map(|module| self.module(&module).cloned())
    }

    /// The `__init__.py` files that CPython runs before a module, outermost first.
    pub(crate) fn packages_around<'p>(
        &'p self,
        file: &'p str,
    ) -> impl Iterator<Item = Arc<str>> + 'p {
        file.match_indices('/')
            .map(|(at, _)| format!("{}/__init__.py", &file[..at]))
            .filter(move |init| init != file)
            .filter_map(|init| self.files.get_key_value(init.as_str()))
            .map(|(path, _)| path.clone())
    }
}

/// The dotted folder that a relative import of that many dots starts from.
fn folder_above(file: &str, level: u32) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    for _ in 0..level {
        parts.pop()?;
    }
    Some(parts.join("."))
}

/// Why a package does not have what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackageError {
    /// A path leads out of the package or names no Python file.
    #[error(
        "\"{path}\" is no Python file inside the package: use a relative path that ends in .py"
    )]
    Path {
        /// The path.
        path: Arc<str>,
    },
    /// There is no such file.
    #[error("the package has no file {path}; it has {}", list(files))]
    NoFile {
        /// The path.
        path: Arc<str>,
        /// What there is.
        files: Vec<Arc<str>>,
    },
    /// A bare name without a sidecar to look in.
    #[error(
        "\"{name}\" names something in the sidecar, and the workflow has none: write module:{name}, or set functions"
    )]
    NoSidecar {
        /// The bare name.
        name: Arc<str>,
    },
    /// The file doesn't define the name, or as plain data.
    #[error("{file} has no {name} to call; it has {}", list(callables))]
    NoCallable {
        /// The file.
        file: Arc<str>,
        /// The name.
        name: Arc<str>,
        /// What could be called instead.
        callables: Vec<Arc<str>>,
    },
    /// A sidecar that imports relatively.
    #[error(
        "{file}:{line}: \"{import}\" is relative, and a sidecar stands alone: import the module by its full name"
    )]
    RelativeImport {
        /// The sidecar.
        file: Arc<str>,
        /// The line.
        line: usize,
        /// The import.
        import: String,
    },
    /// A file is no Python.
    #[error(transparent)]
    Source(#[from] SourceError),
}

fn list(names: &[Arc<str>]) -> String {
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}
