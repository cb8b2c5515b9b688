//! JSON Schemas from Python classes: what `output_schema: "schemas:Answer"` names, read from the text of the package's
//! file. Nothing is imported and nothing runs.
//!
//! A class is read as pydantic reads it: annotated names are fields, one without a default is required, `Field(…)` adds
//! descriptions and bounds, an `Enum` is its values. What can't be told without running the file is an error that names
//! its line.
//!
//! ```
//! use easel_graph::class::schema_of_class;
//!
//! let file = "class Answer(BaseModel):\n    text: str\n    score: int | None = None\n";
//! let schema = schema_of_class(file, "Answer")?;
//! assert_eq!(schema["required"], serde_json::json!(["text"]));
//! assert_eq!(schema["properties"]["score"]["type"], serde_json::json!(["integer", "null"]));
//! # Ok::<(), easel_graph::class::ClassError>(())
//! ```

mod annotation;
mod literal;

use std::collections::HashMap;

use ruff_python_ast::{Expr, Stmt, StmtClassDef};
use ruff_python_parser::{Mode, ParseOptions};
use ruff_text_size::{Ranged, TextRange};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::package::Package;
use crate::place::Position;
use crate::source::position;

/// Bytes of a file of schemas, at most.
pub const MAX_BYTES: usize = 200_000;

/// Classes and types inside one another, at most.
const MAX_DEPTH: usize = 24;

/// Types in a schema, at most: a class that stands in several places counts each time.
const MAX_TYPES: usize = 5_000;

/// Expressions inside one another, at most.
const MAX_NESTING: u16 = 100;

/// Room for dropping what the parser makes of the longest chain of operators that a file of [`MAX_BYTES`] can hold.
const STACK_BYTES: usize = 256 << 20;

/// Why a class gives no schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClassError {
    /// The path is none.
    #[error("`{path}` names no class: write it as module:Class")]
    Path {
        /// The path.
        path: String,
    },
    /// The package has no such module.
    #[error("the package has no file for the module `{module}`: add {}.py, or write a JSON Schema", module.replace('.', "/"))]
    NoModule {
        /// The module.
        module: String,
    },
    /// The file is too long.
    #[error(
        "the file has {bytes} bytes, at most {MAX_BYTES} are read: put the classes into a file of their own"
    )]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// The file is no Python.
    #[error("line {}, column {}: {message}", at.line, at.column)]
    Syntax {
        /// Where.
        at: Position,
        /// What the parser says.
        message: String,
    },
    /// The file has no such class.
    #[error("there is no class `{name}`{}", meant.as_ref().map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default())]
    NoClass {
        /// The name.
        name: String,
        /// The class that is probably meant.
        meant: Option<String>,
    },
    /// Something can't be told from the text.
    #[error("line {}: {what}: {fix}", at.line)]
    Unclear {
        /// Where.
        at: Position,
        /// What it is.
        what: String,
        /// What to do.
        fix: &'static str,
    },
}

impl Package {
    /// The JSON Schema of a class that the package has: `schemas:Answer` or `schemas.Answer`.
    ///
    /// # Errors
    ///
    /// If there is no such file or class, or it can't be read without running it.
    pub fn schema_of(&self, path: &str) -> Result<Value, ClassError> {
        let path = path.trim();
        let parts = path.split_once(':').or_else(|| path.rsplit_once('.'));
        let Some((module, class)) =
            parts.filter(|(module, class)| !module.is_empty() && !class.is_empty())
        else {
            let path = path.to_owned();
            return Err(ClassError::Path { path });
        };
        let Some((_, text)) = self.module(module) else {
            let module = module.to_owned();
            return Err(ClassError::NoModule { module });
        };
        schema_of_class(text, class)
    }
}

/// The JSON Schema (draft 2020-12) of a class in a Python file. Classes of the same file that it names are written out
/// where they are named.
///
/// # Errors
///
/// See [`ClassError`].
pub fn schema_of_class(source: &str, name: &str) -> Result<Value, ClassError> {
    if source.len() > MAX_BYTES {
        let bytes = source.len();
        return Err(ClassError::TooLarge { bytes });
    }
    // A chain of a hundred thousand operators is a tree that deep, and taking it down needs a frame for each.
    let read = || {
        std::thread::scope(|scope| {
            let work = || read(source, name);
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            thread.spawn_scoped(scope, work).ok()?.join().ok()
        })
    };
    read().unwrap_or_else(|| {
        Err(ClassError::Syntax {
            at: position(source, 0),
            message: "the file can't be read".to_owned(),
        })
    })
}

fn read(source: &str, name: &str) -> Result<Value, ClassError> {
    let options = ParseOptions::from(Mode::Module).with_max_recursion_depth(MAX_NESTING);
    let parsed =
        ruff_python_parser::parse(source, options).map_err(|error| ClassError::Syntax {
            at: position(source, error.location.start().to_usize()),
            message: error.error.to_string(),
        })?;
    let module = parsed.try_into_module();
    let body = module.as_ref().map(|module| &*module.syntax().body);
    let mut classes = HashMap::new();
    for statement in body.unwrap_or_default() {
        if let Stmt::ClassDef(class) = statement {
            classes.insert(class.name.as_str(), class);
        }
    }
    let mut reader = Reader {
        source,
        classes,
        open: Vec::new(),
        types: 0,
    };
    let Some(class) = reader.classes.get(name).copied() else {
        let known = reader.classes.keys().copied();
        let meant = easel_catalog::nearest(name, known).map(str::to_owned);
        let name = name.to_owned();
        return Err(ClassError::NoClass { name, meant });
    };
    reader.class(class)
}

/// A file that is being read.
struct Reader<'a> {
    source: &'a str,
    /// The classes of its top level; of two with one name the last.
    classes: HashMap<&'a str, &'a StmtClassDef>,
    /// The classes that are being written out, the innermost last.
    open: Vec<&'a str>,
    types: usize,
}

/// The fields of a class.
#[derive(Default)]
struct Fields {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl<'a> Reader<'a> {
    fn unclear(&self, at: TextRange, what: impl Into<String>, fix: &'static str) -> ClassError {
        ClassError::Unclear {
            at: position(self.source, at.start().to_usize()),
            what: what.into(),
            fix,
        }
    }

    /// The schema of a class.
    fn class(&mut self, class: &'a StmtClassDef) -> Result<Value, ClassError> {
        let name = class.name.as_str();
        if self.open.contains(&name) {
            let what = format!("the class `{name}` holds itself");
            return Err(self.unclear(
                class.name.range(),
                what,
                "write a JSON Schema, or end it at some depth",
            ));
        }
        if self.open.len() >= MAX_DEPTH {
            let what = "classes are nested too deep here";
            return Err(self.unclear(class.name.range(), what, "make it flatter"));
        }
        self.open.push(name);
        let schema = match self.is_enum(class) {
            true => self.enumeration(class),
            false => self.model(class),
        };
        self.open.pop();
        schema
    }

    /// Whether one of its bases is an enumeration's.
    fn is_enum(&self, class: &StmtClassDef) -> bool {
        let names = bases(class).filter_map(last_name);
        let mut names = names.filter(|base| !self.classes.contains_key(base));
        names.any(|base| matches!(base, "Enum" | "StrEnum" | "IntEnum"))
    }

    fn enumeration(&self, class: &StmtClassDef) -> Result<Value, ClassError> {
        let mut values = Vec::new();
        for statement in &class.body {
            if let Stmt::Assign(assign) = statement
                && let [Expr::Name(name)] = assign.targets.as_slice()
                && !name.id.as_str().starts_with('_')
            {
                let is_auto = matches!(&*assign.value, Expr::Call(call) if last_name(&call.func) == Some("auto"));
                values.push(match literal::value(&assign.value) {
                    Some(value) => value,
                    None if is_auto => json!(name.id.as_str().to_lowercase()),
                    None => {
                        let what = format!("the value of `{}` is no constant", name.id);
                        return Err(self.unclear(assign.range, what, "write a text or a number"));
                    }
                });
            }
        }
        if values.is_empty() {
            let what = format!("the enumeration `{}` has no values", class.name);
            return Err(self.unclear(class.name.range(), what, "add one"));
        }
        let mut schema = json!({"enum": values});
        describe(&mut schema, class);
        Ok(schema)
    }

    fn model(&mut self, class: &'a StmtClassDef) -> Result<Value, ClassError> {
        let mut fields = Fields::default();
        self.fields(class, &mut fields, 0)?;
        if fields.properties.is_empty() {
            let what = format!("the class `{}` has no fields", class.name);
            return Err(self.unclear(
                class.name.range(),
                what,
                "add annotated names, such as `text: str`",
            ));
        }
        let mut schema = json!({
            "type": "object",
            "title": class.name.as_str(),
            "properties": fields.properties,
            "required": fields.required,
        });
        describe(&mut schema, class);
        Ok(schema)
    }

    /// The fields of a class: those of its bases in this file first.
    fn fields(
        &mut self,
        class: &'a StmtClassDef,
        fields: &mut Fields,
        depth: usize,
    ) -> Result<(), ClassError> {
        if depth > MAX_DEPTH {
            let what = "a class inherits from itself, or from too many others";
            return Err(self.unclear(class.name.range(), what, "write the fields out"));
        }
        for base in bases(class) {
            let Some(name) = last_name(base) else {
                continue;
            };
            match self.classes.get(name).copied() {
                Some(base) => self.fields(base, fields, depth + 1)?,
                None if is_known_base(name) => {}
                None => {
                    let what = format!("`{name}` is no class of this file");
                    return Err(self.unclear(
                        base.range(),
                        what,
                        "define it here, or write its fields out",
                    ));
                }
            }
        }
        for statement in &class.body {
            let Stmt::AnnAssign(assign) = statement else {
                continue;
            };
            let Expr::Name(name) = &*assign.target else {
                continue;
            };
            let name = name.id.as_str();
            if name.starts_with('_')
                || name == "model_config"
                || annotation::is_class_variable(&assign.annotation)
            {
                continue;
            }
            self.field(name, assign, fields)?;
        }
        Ok(())
    }

    fn field(
        &mut self,
        name: &str,
        assign: &'a ruff_python_ast::StmtAnnAssign,
        fields: &mut Fields,
    ) -> Result<(), ClassError> {
        let mut schema = self.annotation(&assign.annotation, 0)?;
        let mut key = name.to_owned();
        let mut required = true;
        match assign.value.as_deref() {
            None | Some(Expr::EllipsisLiteral(_)) => {}
            Some(Expr::Call(call)) if last_name(&call.func) == Some("Field") => {
                let field = literal::field(&call.arguments);
                required = !field.has_default;
                key = field.alias.unwrap_or(key);
                literal::add(&mut schema, field.keywords);
            }
            Some(default) => {
                required = false;
                let default = literal::value(default).or_else(|| self.member(default));
                literal::add(&mut schema, default.map(|value| ("default", value)));
            }
        }
        fields.required.retain(|there| *there != key);
        if required {
            fields.required.push(key.clone());
        }
        fields.properties.insert(key, schema);
        Ok(())
    }

    /// The value of a member of an enumeration of this file: `Colour.RED`.
    fn member(&self, expression: &Expr) -> Option<Value> {
        let Expr::Attribute(attribute) = expression else {
            return None;
        };
        let class = self.classes.get(last_name(&attribute.value)?)?;
        class.body.iter().find_map(|statement| match statement {
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Name(name)] if name.id == attribute.attr.id => literal::value(&assign.value),
                _ => None,
            },
            _ => None,
        })
    }
}

/// What a class inherits from.
fn bases(class: &StmtClassDef) -> impl Iterator<Item = &Expr> {
    let arguments = class.arguments.iter();
    arguments.flat_map(|arguments| &arguments.args)
}

/// Classes of libraries that add no fields.
fn is_known_base(name: &str) -> bool {
    matches!(
        name,
        "BaseModel"
            | "RootModel"
            | "TypedDict"
            | "NamedTuple"
            | "Generic"
            | "ABC"
            | "object"
            | "Protocol"
            | "SQLModel"
    )
}

/// The last part of a dotted name; of `Generic[T]` that of `Generic`.
fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        Expr::Subscript(subscript) => match &*subscript.value {
            Expr::Name(name) => Some(name.id.as_str()),
            Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
            _ => None,
        },
        _ => None,
    }
}

/// Adds the first text of a class as its description.
fn describe(schema: &mut Value, class: &StmtClassDef) {
    if let Some(Stmt::Expr(first)) = class.body.first()
        && let Expr::StringLiteral(text) = &*first.value
    {
        let lines: Vec<&str> = text.value.to_str().lines().map(str::trim).collect();
        let text = lines.join("\n").trim().to_owned();
        literal::add(schema, [("description", json!(text))]);
    }
}

#[cfg(test)]
mod tests;
