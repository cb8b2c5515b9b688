//! What is kept of a request: the fields that Begin declares, cast to their types (spec/canvas-engine §7.5).

use std::sync::Arc;

use easel_runtime::core::value::from_text;
use easel_runtime::{Object, Value};

use super::{Refusal, Request};

/// The fields that are kept of each section of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    query: Section,
    headers: Section,
    body: Section,
}

/// What is kept of one section.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    name: &'static str,
    fields: Vec<(Arc<str>, Kind)>,
    required: Vec<Arc<str>>,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `file`: a list with the content of each file.
    File,
    /// `string`.
    Text,
    /// `number`.
    Number,
    /// `boolean`.
    Boolean,
    /// `object`.
    Object,
    /// `array`, or `array<…>` with the type of its items.
    Array(Option<Box<Kind>>),
    /// Any other word, or none: whatever comes is kept.
    Any,
}

/// What was kept of a request: the ports of Begin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cleaned {
    /// Of the query.
    pub query: Object,
    /// Of the headers, under the names that the schema has.
    pub headers: Object,
    /// Of the body.
    pub body: Object,
}

impl Schema {
    /// What Begin's `schema` says. What it does not declare is not kept.
    pub fn read(schema: Option<&Value>) -> Schema {
        let section =
            |name: &'static str| Section::read(name, schema.and_then(|schema| schema.get(name)));
        Schema {
            query: section("query"),
            headers: section("headers"),
            body: section("body"),
        }
    }

    /// Keeps what it declares of a request.
    ///
    /// # Errors
    /// A field is missing or has another type.
    pub fn project(&self, request: &Request) -> Result<Cleaned, Refusal> {
        // Names of headers have no case.
        let header = |name: &str| {
            let mut headers = request.headers.iter();
            let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value)
        };
        Ok(Cleaned {
            query: self.query.project(|name| request.query.get(name))?,
            headers: self.headers.project(header)?,
            body: self.body.project(|name| request.body.get(name))?,
        })
    }
}

impl Section {
    fn read(name: &'static str, section: Option<&Value>) -> Section {
        let member = |member: &str| section.and_then(|section| section.get(member));
        let fields = member("properties").and_then(Value::as_object);
        let fields = fields.into_iter().flatten().map(|(field, declared)| {
            let kind = declared.get("type").and_then(Value::as_str);
            (
                field.clone(),
                kind.map_or(Kind::Any, |kind| Kind::read(kind, 0)),
            )
        });
        let required = member("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        Section {
            name,
            fields: fields.collect(),
            required: required.map(Arc::from).collect(),
        }
    }

    fn project<'v>(&self, find: impl Fn(&str) -> Option<&'v Value>) -> Result<Object, Refusal> {
        let section = self.name;
        if let Some(field) = self.required.iter().find(|field| find(field).is_none()) {
            return Err(Refusal::new(format!(
                "{section} missing required field: {field}"
            )));
        }
        let kept = self.fields.iter().map(|(field, kind)| {
            let value = match find(field) {
                Some(value) => kind.take(section, field, value)?,
                None => kind.blank(),
            };
            Ok((field.clone(), value))
        });
        kept.collect()
    }
}

/// How deep `array<…>` may be nested in a type; what is deeper takes anything.
const DEPTH: usize = 8;

impl Kind {
    fn read(kind: &str, depth: usize) -> Kind {
        let kind = kind.trim();
        match kind.to_ascii_lowercase().as_str() {
            "file" => Kind::File,
            "string" => Kind::Text,
            "number" => Kind::Number,
            "boolean" => Kind::Boolean,
            "object" => Kind::Object,
            "array" => Kind::Array(None),
            other => {
                let inner = other.strip_prefix("array<");
                match inner.and_then(|inner| inner.strip_suffix('>')) {
                    Some(inner) if depth < DEPTH => {
                        Kind::Array(Some(Box::new(Kind::read(inner, depth + 1))))
                    }
                    _ => Kind::Any,
                }
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Kind::File => "file".into(),
            Kind::Text => "string".into(),
            Kind::Number => "number".into(),
            Kind::Boolean => "boolean".into(),
            Kind::Object => "object".into(),
            Kind::Array(None) => "array".into(),
            Kind::Array(Some(item)) => format!("array<{}>", item.name()),
            Kind::Any => "any".into(),
        }
    }

    /// What an optional field is that did not come.
    fn blank(&self) -> Value {
        match self {
            Kind::File | Kind::Array(_) => Value::empty_array(),
            Kind::Object => Value::empty_object(),
            Kind::Boolean => Value::from(false),
            Kind::Number => Value::from(0_i64),
            Kind::Text => Value::from(""),
            Kind::Any => Value::Null,
        }
    }

    /// The value of a field, cast if it came as text.
    fn take(&self, section: &str, field: &str, value: &Value) -> Result<Value, Refusal> {
        let value = match value.as_str() {
            Some(text) => self.cast(text).map_err(|problem| {
                Refusal::new(format!("{section}.{field} auto-cast failed: {problem}"))
            })?,
            None => value.clone(),
        };
        match self.mismatch(&value) {
            None => Ok(value),
            Some(found) => Err(Refusal::new(format!(
                "{section}.{field} type mismatch: expected {}, got {found}",
                self.name()
            ))),
        }
    }

    /// What a text stands for where another type is wanted.
    fn cast(&self, text: &str) -> Result<Value, String> {
        let as_json = || {
            let parsed = from_text(text).ok();
            parsed.ok_or_else(|| format!("'{}' is no JSON", shortened(text)))
        };
        match self {
            Kind::File | Kind::Text | Kind::Any => Ok(Value::from(text)),
            Kind::Boolean => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" => Ok(Value::from(true)),
                "false" | "0" => Ok(Value::from(false)),
                _ => Err(format!("'{}' is neither true nor false", shortened(text))),
            },
            Kind::Number => {
                number(text).ok_or_else(|| format!("'{}' is no number", shortened(text)))
            }
            Kind::Object | Kind::Array(_) => as_json(),
        }
    }

    /// What a value is, if it is not this. Clients of the old server know the names of Python's types.
    fn mismatch(&self, value: &Value) -> Option<String> {
        let fits = match (self, value) {
            (Kind::Any, _)
            | (Kind::Text, Value::String(_))
            | (Kind::Number, Value::Number(_) | Value::Bool(_))
            | (Kind::Boolean, Value::Bool(_))
            | (Kind::Object, Value::Object(_))
            | (Kind::File | Kind::Array(None), Value::Array(_)) => true,
            (Kind::Array(Some(kind)), Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                return items.find_map(|(at, item)| {
                    let found = kind.mismatch(item)?;
                    Some(format!("{found} at item {at}"))
                });
            }
            _ => false,
        };
        (!fits).then(|| python_type(value).to_owned())
    }
}

/// A whole number, else a float that is finite.
fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let whole = text.parse::<i64>().map(Value::from);
        let whole = whole.or_else(|_| text.parse::<u64>().map(Value::from));
        if let Ok(whole) = whole {
            return Some(whole);
        }
    }
    let float = text.parse::<f64>().ok().filter(|float| float.is_finite());
    float.map(Value::from)
}

fn python_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.as_i64().is_some() => "int",
        Value::Number(easel_runtime::core::Number::Big(_)) => "int",
        Value::Number(_) => "float",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// The beginning of a text, for an error.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 80;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
