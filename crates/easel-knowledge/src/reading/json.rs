//! JSON as lines of `path: value`, a block for each item of the outermost list.

use serde_json::Value;

use super::plain;
use crate::error::ReadError;
use crate::text::{Full, Writer};

pub(super) fn read(bytes: &[u8], out: &mut Writer) -> Result<(), ReadError> {
    let text = plain::decode(bytes)?;
    let text = text.trim_start_matches('\u{feff}');
    let items = match serde_json::from_str(text) {
        Ok(Value::Array(items)) => items,
        Ok(value) => vec![value],
        Err(cause) => lines(text).ok_or_else(|| ReadError::damaged("json", cause))?,
    };
    for item in &items {
        out.separate()?;
        value(item, &mut String::new(), &mut true, out)?;
    }
    Ok(())
}

/// A value in each line, if that is what it is.
fn lines(text: &str) -> Option<Vec<Value>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let values: Result<Vec<_>, _> = lines.map(serde_json::from_str).collect();
    values.ok().filter(|values| values.len() > 1)
}

/// Writes each scalar of a value in a line of its own. The depth is bounded by serde_json's.
fn value(
    value_: &Value,
    path: &mut String,
    first: &mut bool,
    out: &mut Writer,
) -> Result<(), Full> {
    let above = path.len();
    match value_ {
        Value::Object(members) => {
            for (name, member) in members {
                if above > 0 {
                    path.push('.');
                }
                path.push_str(name);
                value(member, path, first, out)?;
                path.truncate(above);
            }
            Ok(())
        }
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| value(item, path, first, out)),
        Value::Null => Ok(()),
        Value::String(text) => line(path, text, first, out),
        scalar => line(path, &scalar.to_string(), first, out),
    }
}

fn line(path: &str, text: &str, first: &mut bool, out: &mut Writer) -> Result<(), Full> {
    if !std::mem::take(first) {
        out.push("\n")?;
    }
    if !path.is_empty() {
        out.push(path)?;
        out.push(": ")?;
    }
    out.push(text)
}
