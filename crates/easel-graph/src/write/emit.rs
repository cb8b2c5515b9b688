//! Values as YAML text, by serde-saphyr: its quoting also keeps apart what YAML 1.1 and 1.2 read differently.

use easel_core::{Number, Value};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_saphyr::FlowSeq;

/// A value on lines of its own, with a line end behind it.
pub(crate) fn block(value: &Value) -> String {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: false,
    };
    // Writing to memory fails on what no value holds: anchors, unknown lengths.
    serde_saphyr::to_string_with_options(&Plain(value), options).unwrap_or_default()
}

/// A value on one line, fit to stand between brackets.
pub(super) fn flow(value: &Value) -> String {
    let text = serde_saphyr::to_string(&FlowSeq(vec![Plain(value)])).unwrap_or_default();
    let inner = text
        .trim()
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    inner.unwrap_or_default().to_owned()
}

/// The lines of a block behind the first, each indented; blank ones stay blank.
pub(super) fn indented(block: &str, by: usize) -> String {
    let indent = " ".repeat(by);
    let mut text = String::with_capacity(block.len());
    for (at, line) in block
        .strip_suffix('\n')
        .unwrap_or(block)
        .split('\n')
        .enumerate()
    {
        if at > 0 {
            text.push('\n');
            if !line.is_empty() {
                text.push_str(&indent);
            }
        }
        text.push_str(line);
    }
    text
}

/// A value with its numbers as they are: JSON has no word for infinity, YAML has.
struct Plain<'v>(&'v Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(Number::Int(n)) => serializer.serialize_i64(*n),
            Value::Number(Number::Big(n)) => serializer.serialize_u64(*n),
            Value::Number(Number::Float(n)) => serializer.serialize_f64(*n),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    list.serialize_element(&Plain(item))?;
                }
                list.end()
            }
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members.iter() {
                    map.serialize_entry(&**name, &Plain(value))?;
                }
                map.end()
            }
        }
    }
}
