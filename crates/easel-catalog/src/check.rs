//! Reading parameters: turning what a file has into what a type means, and saying what does not fit.

use std::fmt;

use easel_core::value::Number;
use easel_core::{Object, Value};
use serde::Serialize;

use crate::component::Component;
use crate::param::{Param, Shape, Split, Type};

/// One thing that is wrong with a node's parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where: names and indexes joined by dots (`conditions.0.to`); empty for the value itself.
    pub path: String,
    /// What kind of thing.
    pub problem: Problem,
    /// What stands there, to be read after "is" (`the text "abc"`). Never the value of a credential.
    pub found: String,
    /// What belongs there, to be read after "expected" (`a whole number of at least 1`).
    pub expected: String,
    /// What to do, as one sentence.
    pub fix: String,
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A value of another type.
    Type,
    /// A number out of its range.
    Range,
    /// A text that is none of the allowed ones.
    Choice,
    /// A required value that is not set.
    Missing,
    /// A name that nothing reads. The value is kept; everything else works.
    Unknown,
}

impl Finding {
    /// True if the node works all the same.
    pub fn is_harmless(&self) -> bool {
        self.problem == Problem::Unknown
    }
}

impl fmt::Display for Finding {
    /// One or two sentences: `top_n is the text "abc"; expected a whole number of at least 1. Write …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() {
            "The value"
        } else {
            &self.path
        };
        write!(
            f,
            "{place} is {}; expected {}. {}",
            self.found, self.expected, self.fix
        )
    }
}

/// A node's parameters, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The parameters under their present names, each as its type means it, defaults filled in. What does not fit
    /// stays as it was. Those of the file come first, in its order.
    pub params: Object,
    /// What is wrong, in the order of the file; what is missing comes last.
    pub findings: Vec<Finding>,
}

impl Component {
    /// Reads a node's parameters. Anything that is no object is read as an empty one, with a finding.
    pub fn read(&self, params: impl Into<Value>) -> Read {
        let params = params.into();
        let mut reader = Reader::default();
        let given = match &params {
            Value::Object(members) => members.as_ref().clone(),
            Value::Null => Object::new(),
            other => {
                reader.wrong(
                    Problem::Type,
                    described(other),
                    "an object".to_owned(),
                    "Write the parameters as an object.".to_owned(),
                );
                Object::new()
            }
        };
        let params = reader.members(&Known::Component(self), &given);
        Read {
            params,
            findings: reader.findings,
        }
    }
}

impl Type {
    /// What is wrong with a value; nothing if it fits, `null` included.
    pub fn check(&self, value: &Value) -> Vec<Finding> {
        let mut reader = Reader::default();
        reader.value(self, value);
        reader.findings
    }

    /// The value as the type means it (`"10"` as 10, one id as a list of one), or what is wrong with it.
    pub fn coerce(&self, value: &Value) -> Result<Value, Vec<Finding>> {
        let mut reader = Reader::default();
        let coerced = reader.value(self, value);
        if reader.findings.iter().all(Finding::is_harmless) {
            Ok(coerced)
        } else {
            Err(reader.findings)
        }
    }
}

/// True for what counts as not set: `null`, blank text, `[]` and `{}`.
pub(crate) fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whose members are being read.
enum Known<'a> {
    Component(&'a Component),
    Shape(&'a Shape),
}

impl<'a> Known<'a> {
    fn find(&self, key: &str) -> Option<&'a Param> {
        match *self {
            Known::Component(component) => component.find_param(key),
            Known::Shape(shape) => shape.fields.iter().find(|field| field.answers_to(key)),
        }
    }

    fn all(&self) -> Vec<&'a Param> {
        match *self {
            Known::Component(component) => component.all_params().collect(),
            Known::Shape(shape) => shape.fields.iter().collect(),
        }
    }

    fn accepts_unknown(&self, key: &str) -> bool {
        match *self {
            Known::Component(component) => component.ignores(key),
            Known::Shape(shape) => shape.open,
        }
    }
}

#[derive(Default)]
struct Reader {
    path: String,
    /// True inside a value that may be secret: its content is not quoted.
    private: bool,
    findings: Vec<Finding>,
}

impl Reader {
    fn wrong(&mut self, problem: Problem, found: String, expected: String, fix: String) {
        self.findings.push(Finding {
            path: self.path.clone(),
            problem,
            found,
            expected,
            fix,
        });
    }

    /// Reports a value of another type and hands it back as it is.
    fn mismatch(&mut self, kind: &Type, value: &Value) -> Value {
        let found = if self.private {
            article(value).to_owned()
        } else {
            described(value)
        };
        self.wrong(Problem::Type, found, kind.to_string(), advice(kind));
        value.clone()
    }

    fn at<T>(&mut self, key: &str, read: impl FnOnce(&mut Reader) -> T) -> T {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    fn members(&mut self, known: &Known<'_>, given: &Object) -> Object {
        let mut read = Object::with_capacity(given.len());
        for (key, value) in given {
            let Some(param) = known.find(key) else {
                if !known.accepts_unknown(key) {
                    self.unknown(known, key);
                }
                read.insert(key.clone(), value.clone());
                continue;
            };
            let is_alias = param.name != *key;
            let present = given.get(&param.name).is_some_and(|v| !is_unset(v));
            if is_alias && (present || read.get(&param.name).is_some_and(|v| !is_unset(v))) {
                continue;
            }
            let outer = self.private;
            self.private |= param.secrets;
            let mut value = self.at(key, |reader| reader.value(&param.kind, value));
            self.private = outer;
            if value.is_null() {
                value = param.default.clone();
            }
            if is_unset(&value) && read.contains_key(&param.name) {
                continue;
            }
            read.insert(param.name.clone(), value);
        }
        for param in known.all() {
            if !read.contains_key(&param.name) && !param.default.is_null() {
                read.insert(param.name.clone(), param.default.clone());
            }
            let reported = || {
                self.findings
                    .iter()
                    .any(|f| !f.is_harmless() && is_at(&f.path, &self.path, &param.name))
            };
            if param.required && read.get(&param.name).is_none_or(is_unset) && !reported() {
                self.at(&param.name, |reader| {
                    reader.wrong(
                        Problem::Missing,
                        "not set".to_owned(),
                        param.kind.to_string(),
                        format!("Set `{}`: {}", param.name, param.doc),
                    );
                });
            }
        }
        read
    }

    fn unknown(&mut self, known: &Known<'_>, key: &str) {
        let all = known.all();
        let nearest = nearest(key, all.iter().map(|param| &*param.name));
        self.at(key, |reader| {
            reader.wrong(
                Problem::Unknown,
                "a name that nothing reads".to_owned(),
                "a known parameter".to_owned(),
                match nearest {
                    Some(name) => format!("Did you mean `{name}`?"),
                    None => "Remove it; it is kept and has no effect.".to_owned(),
                },
            );
        });
    }

    /// The value as the type means it; where it doesn't fit, the value itself and a finding.
    fn value(&mut self, kind: &Type, value: &Value) -> Value {
        if value.is_null() {
            return Value::Null;
        }
        match kind {
            Type::Any | Type::Rendered => value.clone(),
            Type::Text | Type::Template { .. } | Type::Credential | Type::Model | Type::NodeId => {
                match value {
                    Value::String(_) => value.clone(),
                    Value::Number(n) => Value::from(n.to_string()),
                    _ => self.mismatch(kind, value),
                }
            }
            Type::Reference | Type::Target => match value {
                Value::String(_) => value.clone(),
                _ => self.mismatch(kind, value),
            },
            Type::Binding(of) => match value.as_str() {
                Some(text) if may_refer(text) => value.clone(),
                _ => self.value(of, value),
            },
            Type::Boolean => self.boolean(value),
            Type::Integer { min, max } => self.integer(kind, value, *min, *max),
            Type::Number { min, max } => self.number(kind, value, *min, *max),
            Type::Choice(choice) => match value.as_str() {
                Some(text) => match choice.find(text.trim()) {
                    Some(option) => Value::String(option.clone()),
                    None if text.trim().is_empty() => Value::Null,
                    None => {
                        let fix = match nearest(text, choice.options.iter().map(|o| &**o)) {
                            Some(option) => format!("Did you mean `{option}`?"),
                            None => advice(kind),
                        };
                        self.wrong(Problem::Choice, described(value), kind.to_string(), fix);
                        value.clone()
                    }
                },
                None => self.mismatch(kind, value),
            },
            Type::List { of, split } => self.list(kind, of, *split, value),
            Type::NodeIds => self.list(kind, &Type::NodeId, Split::Whole, value),
            Type::Map(of) => match value {
                Value::Object(members) => {
                    let read = |(key, member): (&std::sync::Arc<str>, &Value)| {
                        (key.clone(), self.at(key, |reader| reader.value(of, member)))
                    };
                    Value::from(members.iter().map(read).collect::<Object>())
                }
                other if is_unset(other) => Value::empty_object(),
                _ => self.mismatch(kind, value),
            },
            Type::Object(shape) => match (value, &shape.shorthand) {
                (Value::Object(members), _) => {
                    Value::from(self.members(&Known::Shape(shape), members))
                }
                (Value::String(_), Some(member)) => {
                    let long = Object::from([(member.clone(), value.clone())]);
                    Value::from(self.members(&Known::Shape(shape), &long))
                }
                (Value::String(text), None) if text.trim().is_empty() => Value::Null,
                (Value::Array(items), _) if items.is_empty() => Value::Null,
                _ => self.mismatch(kind, value),
            },
            Type::Json(of) => match value {
                Value::String(text) if text.trim().is_empty() => Value::Null,
                Value::String(text) => match serde_json::from_str::<Value>(text) {
                    Ok(parsed) => self.value(of, &parsed),
                    Err(_) => self.mismatch(kind, value),
                },
                _ => self.value(of, value),
            },
            Type::Params => match value {
                Value::Object(_) => value.clone(),
                other if is_unset(other) => Value::empty_object(),
                _ => self.mismatch(kind, value),
            },
        }
    }

    fn list(&mut self, kind: &Type, of: &Type, split: Split, value: &Value) -> Value {
        let items: Vec<Value> = match value {
            Value::Array(items) => items.as_ref().clone(),
            Value::String(text) => match split {
                _ if text.is_empty() => Vec::new(),
                Split::Whole => vec![value.clone()],
                Split::Never if text.trim().is_empty() => Vec::new(),
                Split::Never => return self.mismatch(kind, value),
                Split::Lines => pieces(text.lines()),
                Split::Commas => pieces(text.split(',')),
            },
            Value::Object(members) if members.is_empty() => Vec::new(),
            _ => return self.mismatch(kind, value),
        };
        let mut read = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            read.push(self.at(&i.to_string(), |reader| reader.value(of, item)));
        }
        Value::from(read)
    }

    fn boolean(&mut self, value: &Value) -> Value {
        match value {
            Value::Bool(_) => value.clone(),
            Value::Number(n) if n.as_f64() == 0.0 => Value::from(false),
            Value::Number(n) if n.as_f64() == 1.0 => Value::from(true),
            Value::String(text) => match text.trim().to_lowercase().as_str() {
                "" => Value::Null,
                "true" | "1" | "yes" | "on" => Value::from(true),
                "false" | "0" | "no" | "off" => Value::from(false),
                _ => self.mismatch(&Type::Boolean, value),
            },
            _ => self.mismatch(&Type::Boolean, value),
        }
    }

    fn integer(&mut self, kind: &Type, value: &Value, min: Option<i64>, max: Option<i64>) -> Value {
        let whole = match value {
            Value::Number(n) => whole(*n),
            Value::String(text) if text.trim().is_empty() => return Value::Null,
            Value::String(text) => parsed(text).and_then(whole),
            _ => None,
        };
        match whole {
            None => self.mismatch(kind, value),
            Some(n) if min.is_some_and(|min| n < min) || max.is_some_and(|max| n > max) => {
                self.out_of_range(kind, value)
            }
            Some(n) => Value::from(n),
        }
    }

    fn number(&mut self, kind: &Type, value: &Value, min: Option<f64>, max: Option<f64>) -> Value {
        let number = match value {
            Value::Number(n) => Some(*n),
            Value::String(text) if text.trim().is_empty() => return Value::Null,
            Value::String(text) => parsed(text),
            _ => None,
        };
        match number {
            None => self.mismatch(kind, value),
            Some(n) => {
                let float = n.as_f64();
                if min.is_some_and(|min| float < min) || max.is_some_and(|max| float > max) {
                    self.out_of_range(kind, value)
                } else {
                    Value::Number(n)
                }
            }
        }
    }

    fn out_of_range(&mut self, kind: &Type, value: &Value) -> Value {
        self.wrong(
            Problem::Range,
            described(value),
            kind.to_string(),
            advice(kind),
        );
        value.clone()
    }
}

/// True if a finding's path is `name` under `base`, or inside it.
fn is_at(path: &str, base: &str, name: &str) -> bool {
    let rest = if base.is_empty() {
        Some(path)
    } else {
        path.strip_prefix(base)
            .and_then(|rest| rest.strip_prefix('.'))
    };
    rest.and_then(|rest| rest.strip_prefix(name))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// True if the text might be a reference or hold one; what it names is not known here.
fn may_refer(text: &str) -> bool {
    let bare = text.trim();
    text.contains(['{', '@'])
        || bare.starts_with("sys.")
        || bare.starts_with("env.")
        || matches!(bare, "item" | "index" | "result")
}

fn pieces<'a>(parts: impl Iterator<Item = &'a str>) -> Vec<Value> {
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(Value::from)
        .collect()
}

/// The number as a whole one, if it has no fraction.
fn whole(n: Number) -> Option<i64> {
    /// 2^63: the first float beyond `i64`.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match n {
        Number::Float(n) if n.fract() == 0.0 && (-LIMIT..LIMIT).contains(&n) => Some(n as i64),
        Number::Float(_) => None,
        n => n.as_i64(),
    }
}

/// The number a text spells, as JSON would read it or with a leading `+`, zeros or dot.
fn parsed(text: &str) -> Option<Number> {
    let text = text.trim();
    if let Ok(n) = text.parse::<i64>() {
        return Some(Number::Int(n));
    }
    text.parse::<f64>()
        .ok()
        .filter(|n| n.is_finite())
        .map(Number::Float)
}

/// A value in words, its content where that is short.
fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => format!("the number {n}"),
        Value::String(text) if text.is_empty() => "an empty text".to_owned(),
        Value::String(text) => {
            let mut short: String = text.chars().take(40).collect();
            if short.len() < text.len() {
                short.push('…');
            }
            format!("the text {short:?}")
        }
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(items) if items.len() == 1 => "a list of 1 item".to_owned(),
        Value::Array(items) => format!("a list of {} items", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A value in words without its content.
fn article(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What to write instead, as a sentence.
fn advice(kind: &Type) -> String {
    match kind {
        Type::Text | Type::Template { .. } => "Write a text in quotes.".to_owned(),
        Type::Reference | Type::Target => {
            "Write the reference as a text, such as \"sys.query\" or \"Agent:X@content\"."
                .to_owned()
        }
        Type::Credential => {
            "Write the key as a text, best as \"${NAME}\" with the secret's name.".to_owned()
        }
        Type::Model => {
            "Write the model's name as a text, or leave it blank for the default model.".to_owned()
        }
        Type::Boolean => "Write true or false.".to_owned(),
        Type::Integer { min, .. } => format!("Write a whole number such as {}.", min.unwrap_or(1)),
        Type::Number { .. } => "Write a number within these bounds, or leave it out.".to_owned(),
        Type::Choice(_) => "Write one of these words.".to_owned(),
        Type::NodeId | Type::NodeIds => {
            "Write the ids of nodes of this canvas as texts.".to_owned()
        }
        Type::Json(_) => "Write valid JSON, or the value itself.".to_owned(),
        Type::Binding(of) => advice(of),
        Type::List { .. } => "Write a list in brackets.".to_owned(),
        Type::Map(_) | Type::Object(_) | Type::Params => "Write an object in braces.".to_owned(),
        Type::Any | Type::Rendered => "Write any value.".to_owned(),
    }
}

/// The candidate that `word` is most likely a misspelling of.
fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer words are no names, and the distance costs the product of the lengths.
    const LONGEST: usize = 64;
    let word = word.trim().to_lowercase();
    if word.chars().count() > LONGEST {
        return None;
    }
    let allowed = if word.chars().count() < 5 { 1 } else { 2 };
    candidates
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && !candidate.is_empty())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters have to be put in, left out or replaced to get from one word to the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row
            .iter_mut()
            .zip(std::iter::once(None).chain(b.iter().map(Some)))
        {
            let Some(y) = y else {
                *cell = left;
                continue;
            };
            let replaced = diagonal + usize::from(x != *y);
            diagonal = *cell;
            left = replaced.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}
