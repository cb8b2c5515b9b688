//! Python source, read without running it.

mod chain;
mod facts;
mod guarded;
mod monty;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The largest source file that is read, in bytes.
pub const MAX_SOURCE: usize = 1 << 20;

/// What a Python file defines and needs, as far as its text tells. Nothing in it has run.
#[derive(Clone, Debug)]
pub struct Source {
    file: Arc<str>,
    functions: Vec<Function>,
    classes: Vec<Class>,
    imports: Vec<Import>,
    assigned: Vec<Assigned>,
    needs: Vec<Need>,
    runs_something: bool,
    reads_result_by_attribute: bool,
}

impl Source {
    /// Reads a file of at most [`MAX_SOURCE`] bytes. `file` is the name under which findings and errors show it.
    ///
    /// # Errors
    /// It is too large, or no Python.
    ///
    /// ```
    /// use easel_sandbox::Source;
    /// let source = Source::read("helpers.py", "def trim(text, limit=80, **rest): return text[:limit]").unwrap();
    /// let trim = source.function("trim").unwrap();
    /// assert!(trim.takes("text") && trim.takes_any_keyword());
    /// assert!(source.needs().is_empty());
    /// ```
    pub fn read(file: &str, text: &str) -> Result<Source, SourceError> {
        read::read(file, text)
    }

    /// The name that the file was read under.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Functions of the module, in file order; the last definition of a name counts.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function that a name stands for when the module has run.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().rev().find(|f| &*f.name == name)
    }

    /// Classes of the module, in file order.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Everything it imports, at any depth, in file order.
    pub fn imports(&self) -> &[Import] {
        &self.imports
    }

    /// Names that the module assigns at its top level: constants, and callables made by an expression.
    pub fn assigned(&self) -> &[Assigned] {
        &self.assigned
    }

    /// Imports that start with a dot. A sidecar stands alone, so it can have none.
    pub fn relative_imports(&self) -> impl Iterator<Item = &Import> {
        self.imports.iter().filter(|import| import.level > 0)
    }

    /// What the built-in interpreter cannot do, in file order: the file needs CPython if there is any.
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// True if loading it does more than define nothing: any statement beside a docstring.
    pub fn runs_something(&self) -> bool {
        self.runs_something
    }

    /// True if it reads members of some `result` as attributes, such as `it.result.score`, and never by key.
    pub fn reads_result_by_attribute(&self) -> bool {
        self.reads_result_by_attribute
    }

    /// True if the module has the name when it has run, as far as its text tells.
    pub fn defines(&self, name: &str) -> bool {
        self.functions.iter().any(|f| &*f.name == name)
            || self.classes.iter().any(|c| &*c.name == name)
            || self.assigned.iter().any(|a| &*a.name == name)
            || self
                .imports
                .iter()
                .any(|i| i.at_top && i.binds.as_deref() == Some(name))
    }

    /// True if the module has the name and it cannot be called, as far as its text tells.
    pub fn is_data(&self, name: &str) -> bool {
        let data = self.assigned.iter().any(|a| &*a.name == name && a.is_data);
        let function = self.function(name).is_some();
        let class = self.classes.iter().any(|c| &*c.name == name);
        data && !function && !class
    }

    /// Public names that can probably be called: functions, classes and imported names, sorted.
    pub fn callables(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self
            .functions
            .iter()
            .map(|f| &*f.name)
            .chain(self.classes.iter().map(|c| &*c.name))
            .chain(
                self.imports
                    .iter()
                    .filter(|i| i.at_top && i.name.is_some() && &*i.module != "__future__")
                    .filter_map(|i| i.binds.as_deref()),
            )
            .filter(|name| !name.starts_with('_'))
            .collect();
        names.into_iter().collect()
    }
}

/// A function at the top level of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Arc<str>,
    /// Its parameters that have names, in order; `*args` and `**kwargs` are not among them.
    pub parameters: Vec<Parameter>,
    /// The name after `*`, if it takes further positional arguments.
    pub rest: Option<Arc<str>>,
    /// The name after `**`, if it takes any keyword.
    pub keywords: Option<Arc<str>>,
    /// True for `async def`.
    pub is_async: bool,
    /// True if decorators may have replaced it: then its signature may be another.
    pub decorated: bool,
    /// Where its name stands.
    pub place: Place,
}

impl Function {
    /// True if it has `**kwargs`: no input of a graph can be one too many.
    pub fn takes_any_keyword(&self) -> bool {
        self.keywords.is_some()
    }

    /// True if it can be called with this keyword.
    pub fn takes(&self, keyword: &str) -> bool {
        self.takes_any_keyword()
            || self
                .parameters
                .iter()
                .any(|p| &*p.name == keyword && p.kind != ParameterKind::PositionalOnly)
    }
}

/// A named parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// The text of its default value, if it has one.
    pub default: Option<Arc<str>>,
    /// How it can be given.
    pub kind: ParameterKind,
}

/// How a parameter can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// By position alone, so never by a workflow: it names all arguments.
    PositionalOnly,
    /// By position or name.
    Either,
    /// By name alone.
    KeywordOnly,
}

/// A class at the top level of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: Arc<str>,
    /// Where its name stands.
    pub place: Place,
}

/// A name that a module assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// The name.
    pub name: Arc<str>,
    /// True if it is only ever given a number, a text, a list or other plain data: then it cannot be called.
    pub is_data: bool,
    /// Where it stands first.
    pub place: Place,
}

/// One imported thing: `import module`, or `name` of `from module import name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The dotted module, without leading dots; empty for `from . import name`.
    pub module: Arc<str>,
    /// The imported name; `None` for a plain `import`, `*` for all.
    pub name: Option<Arc<str>>,
    /// The name it gets here; `None` for `*`.
    pub binds: Option<Arc<str>>,
    /// Leading dots: 0 for an absolute import.
    pub level: u32,
    /// True if the file goes on without it: inside `try` with a handler for it, or `if TYPE_CHECKING`.
    pub optional: bool,
    /// True at the top level of the module, also inside its `if` and `try`.
    pub at_top: bool,
    /// Where it stands.
    pub place: Place,
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dots = ".".repeat(self.level as usize);
        match &self.name {
            Some(name) => write!(f, "from {dots}{} import {name}", self.module),
            None => write!(f, "import {}", self.module),
        }
    }
}

/// A construct or module that the built-in interpreter does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Where it stands.
    pub place: Place,
    /// What it is, for people: `a class that inherits`, `the module "requests"`.
    pub what: String,
}

/// A place in a file, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Why a file cannot be read as Python.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It is no Python.
    #[error("{file}:{}:{}: this is no Python: {problem}", place.line, place.column)]
    Syntax {
        /// The file.
        file: Arc<str>,
        /// Where the parser stopped.
        place: Place,
        /// What the parser says.
        problem: String,
    },
    /// It is nested, or one expression of it chained, deeper than is read.
    #[error(
        "{file}:{}:{}: this is nested too deeply to be read: name a part of it and use the name",
        place.line,
        place.column
    )]
    TooDeep {
        /// The file.
        file: Arc<str>,
        /// Where it becomes too deep.
        place: Place,
    },
    /// It is larger than [`MAX_SOURCE`].
    #[error("{file} has {size} bytes; at most {MAX_SOURCE} are read: move data out of the code")]
    TooLarge {
        /// The file.
        file: Arc<str>,
        /// Its size in bytes.
        size: usize,
    },
}
