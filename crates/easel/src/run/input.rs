//! What the user brings with the command: flags and files.

use std::path::Path;
use std::sync::Arc;

use easel_runtime::graphs::document::Document;
use easel_runtime::{Input, Object, Value};
use serde_json::Value as Json;

use super::files::LocalFiles;
use crate::cli::RunArguments;
use crate::problem::Problem;
use crate::read;

/// The first turn's input.
pub fn first(arguments: &RunArguments, files: &LocalFiles) -> Result<Input, Problem> {
    let mut inputs = match &arguments.inputs {
        Some(path) => object(&path.display().to_string(), read::json(path)?)?,
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
        Some(given) => Some(object(
            "--webhook",
            read::parsed("--webhook", &text_of(given)?)?,
        )?),
        None => None,
    };
    let hand_in = |path: &std::path::PathBuf| {
        files
            .hand_in(path)
            .map_err(|error| Problem::file(path, "read", &error))
    };
    Ok(Input {
        query: query(arguments.query.as_deref())?,
        inputs,
        files: arguments
            .files
            .iter()
            .map(hand_in)
            .collect::<Result<_, _>>()?,
        user: arguments.user.as_deref().map(Arc::from),
        webhook,
        custom_header,
        ..Input::default()
    })
}

/// Gives what the user says to the only input that a graph declares, or the only one that it needs: a graph with declared
/// inputs takes them by name alone.
pub fn name_the_message(graph: &Document, input: &mut Input) {
    if input.query.is_null() || !input.inputs.is_empty() {
        return;
    }
    let needed = graph.inputs.iter().filter(|declared| *declared.required);
    let needed: Vec<_> = needed.collect();
    let only = match (graph.inputs.as_slice(), needed.as_slice()) {
        ([only], _) => only,
        (_, [only]) => *only,
        _ => return,
    };
    let said = std::mem::take(&mut input.query);
    input.inputs.insert((*only.name).clone(), said);
}

/// What the user says; `-` is all of standard input.
fn query(given: Option<&str>) -> Result<Value, Problem> {
    let text = match given {
        None => return Ok(Value::Null),
        Some("-") => {
            let bytes = read::standard_input()?;
            String::from_utf8_lossy(&bytes).trim_end().to_owned()
        }
        Some(text) => text.to_owned(),
    };
    Ok(Value::from(text))
}

fn object(place: &str, json: Json) -> Result<Object, Problem> {
    match Value::from(json) {
        Value::Object(members) => Ok(Arc::unwrap_or_clone(members)),
        other => Err(Problem::usage(format!(
            "{place} holds {}, and not an object.",
            other.type_name()
        ))
        .fix("Write a JSON object with a value for each name.")),
    }
}

/// `NAME=VALUE`, taken apart.
pub fn named<'a>(flag: &str, given: &'a str) -> Result<(Arc<str>, &'a str), Problem> {
    match given.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().into(), value)),
        _ => Err(
            Problem::usage(format!("--{flag} {given} does not say which."))
                .fix(format!("Write --{flag} NAME=VALUE.")),
        ),
    }
}

/// `@FILE` as the file's text, anything else as it is.
fn text_of(given: &str) -> Result<String, Problem> {
    match given.strip_prefix('@') {
        Some("") => Err(Problem::usage(
            "@ stands before the name of a file, and no name follows.",
        )),
        Some(path) => read::text(Path::new(path)),
        None => Ok(given.to_owned()),
    }
}

/// JSON as what it says, anything else as text.
pub fn value_of(given: &str) -> Result<Value, Problem> {
    let text = text_of(given)?;
    Ok(match serde_json::from_str::<Json>(&text) {
        Ok(json) if !json.is_string() => Value::from(json),
        _ => Value::from(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_json_or_text() {
        let read = |given: &str| value_of(given).unwrap().to_json();
        assert_eq!(read("3"), 3);
        assert_eq!(read("[1, \"a\"]"), serde_json::json!([1, "a"]));
        assert_eq!(read("owls and bats"), "owls and bats");
        assert_eq!(
            read("\"quoted\""),
            "\"quoted\"",
            "a text stays as it is typed"
        );
    }

    #[test]
    fn an_input_has_a_name() {
        assert_eq!(named("input", "a=b=c").unwrap(), ("a".into(), "b=c"));
        assert!(named("input", "=b").is_err());
        assert!(named("input", "b").is_err());
    }
}
