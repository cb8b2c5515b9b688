//! What the user brings: flags, files, and lines from the terminal.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use easel_runtime::{Input, Object, Value};
use serde_json::Value as Json;

use crate::cli::RunArguments;

/// Why an argument cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// An argument has no `=`.
    #[error("--{flag} {given} has no \"=\". Write --{flag} NAME=VALUE.")]
    NoName {
        /// The flag.
        flag: &'static str,
        /// What was given.
        given: String,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Text that must be JSON is not.
    #[error("{place} is not JSON: {error}")]
    Json {
        /// Where it stands.
        place: String,
        /// Why.
        error: serde_json::Error,
    },
    /// JSON that must be an object is not.
    #[error("{0} must hold a JSON object with a value for each name.")]
    NoObject(String),
}

/// The first turn's input.
pub fn first(arguments: &RunArguments) -> Result<Input, InputError> {
    let mut inputs = match &arguments.inputs {
        Some(path) => object(&path.display().to_string(), json_file(path)?)?,
        None => Object::new(),
    };
    for given in &arguments.input {
        let (name, value) = named("input", given)?;
        inputs.insert(name, value_of(value)?);
    }
    let mut custom_header = Object::new();
    for given in &arguments.header {
        let (name, value) = named("header", given)?;
        custom_header.insert(name, Value::from(value));
    }
    let webhook = match &arguments.webhook {
        Some(given) => {
            let text = text_of(given)?;
            let json = serde_json::from_str(&text).map_err(|error| InputError::Json {
                place: "--webhook".to_owned(),
                error,
            })?;
            Some(object("--webhook", json)?)
        }
        None => None,
    };
    Ok(Input {
        query: arguments.query.as_deref().map(Value::from).unwrap_or_default(),
        inputs,
        user: arguments.user.as_deref().map(Arc::from),
        webhook,
        custom_header,
        ..Input::default()
    })
}

/// A JSON file.
pub fn json_file(path: &Path) -> Result<Json, InputError> {
    let text = read(path)?;
    serde_json::from_str(&text).map_err(|error| InputError::Json {
        place: path.display().to_string(),
        error,
    })
}

fn read(path: &Path) -> Result<String, InputError> {
    std::fs::read_to_string(path).map_err(|error| InputError::File {
        path: path.to_owned(),
        error,
    })
}

fn object(place: &str, json: Json) -> Result<Object, InputError> {
    match Value::from(json) {
        Value::Object(members) => Ok(Arc::unwrap_or_clone(members)),
        _ => Err(InputError::NoObject(place.to_owned())),
    }
}

fn named<'a>(flag: &'static str, given: &'a str) -> Result<(Arc<str>, &'a str), InputError> {
    match given.split_once('=') {
        Some((name, value)) => Ok((name.trim().into(), value)),
        None => Err(InputError::NoName {
            flag,
            given: given.to_owned(),
        }),
    }
}

/// `@FILE` as the file's text, anything else as it is.
fn text_of(given: &str) -> Result<String, InputError> {
    match given.strip_prefix('@') {
        Some(path) => read(Path::new(path)),
        None => Ok(given.to_owned()),
    }
}

/// JSON as what it says, anything else as text.
fn value_of(given: &str) -> Result<Value, InputError> {
    let text = text_of(given)?;
    let json = serde_json::from_str::<Json>(&text);
    Ok(match json {
        Ok(json) if !json.is_string() => Value::from(json),
        _ => Value::from(text),
    })
}

/// One line; `None` at the end of input.
pub fn line(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Option<Input> {
    prompt("> ");
    let line = lines.next()?.ok()?;
    Some(Input::from(line.trim_end()))
}

/// Asks for every open field, one line each.
pub fn answers(
    question: Option<&Object>,
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
) -> Option<Input> {
    let mut inputs = Object::new();
    for (key, field) in question? {
        let name = field.get("name").and_then(Value::as_str).unwrap_or(key);
        prompt(&format!("{name}: "));
        let line = lines.next()?.ok()?;
        inputs.insert(key.clone(), Value::from(line.trim_end()));
    }
    Some(Input {
        inputs,
        ..Input::default()
    })
}

fn prompt(text: &str) {
    let mut out = std::io::stderr();
    // A terminal that is gone needs no prompt.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
