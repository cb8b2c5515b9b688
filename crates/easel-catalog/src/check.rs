//! Reading parameters: turning what a file has into what a type means.

use easel_core::value::Number;
use easel_core::{Object, Value};

use crate::component::Component;
use crate::finding::{Finding, Problem, advice, article, described, in_sentence, nearest};
use crate::param::{Param, Shape, Split, Type};

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
        read_all(&Known::Node(self), params.into())
    }

    /// Reads the parameters of an agent's tool. As [`read`](Component::read), but what the model has to pass is neither
    /// required nor filled in.
    pub fn read_as_tool(&self, params: impl Into<Value>) -> Read {
        read_all(&Known::Tool(self), params.into())
    }
}

fn read_all(known: &Known<'_>, params: Value) -> Read {
    let mut reader = Reader::default();
    let params = match &params {
        Value::Object(members) => reader.members(known, members),
        Value::Null => reader.members(known, &Object::new()),
        other => {
            let fix = "Write the parameters as an object in braces.".to_owned();
            reader.wrong(Problem::Type, described(other), "an object".to_owned(), fix);
            reader.members(known, &Object::new())
        }
    };
    Read {
        params,
        findings: reader.findings,
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
    /// A node of this component.
    Node(&'a Component),
    /// An agent's tool that is this component.
    Tool(&'a Component),
    /// An object inside a parameter.
    Shape(&'a Shape),
}

impl<'a> Known<'a> {
    fn find(&self, key: &str) -> Option<&'a Param> {
        match *self {
            Known::Node(component) | Known::Tool(component) => component.find_param(key),
            Known::Shape(shape) => shape.fields.iter().find(|field| field.answers_to(key)),
        }
    }

    /// The members that are filled in and may be required.
    fn all(&self) -> Vec<&'a Param> {
        match *self {
            Known::Node(component) => component.all_params().collect(),
            Known::Tool(component) => {
                let from_model = |param: &&Param| !component.is_passed(&param.name);
                component.all_params().filter(from_model).collect()
            }
            Known::Shape(shape) => shape.fields.iter().collect(),
        }
    }

    fn accepts_unknown(&self, key: &str) -> bool {
        match *self {
            Known::Node(component) | Known::Tool(component) => component.ignores(key),
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
                value = self.read_default(param);
            }
            if is_unset(&value) && read.contains_key(&param.name) {
                continue;
            }
            read.insert(param.name.clone(), value);
        }
        for param in known.all() {
            if !read.contains_key(&param.name) && !param.default.is_null() {
                read.insert(param.name.clone(), self.read_default(param));
            }
        }
        for param in known.all() {
            let unset = read.get(&param.name).is_none_or(is_unset);
            let reported = || {
                let at = |f: &Finding| !f.is_harmless() && is_at(&f.path, &self.path, &param.name);
                self.findings.iter().any(at)
            };
            if unset && param.required.holds(&read) && !reported() {
                self.at(&param.name, |reader| {
                    reader.wrong(
                        Problem::Missing,
                        "not set".to_owned(),
                        param.kind.to_string(),
                        format!("Set it: {}", in_sentence(&param.doc)),
                    );
                });
            }
        }
        read
    }

    /// The default, read like a value of the file, so that reading twice changes nothing.
    fn read_default(&mut self, param: &Param) -> Value {
        self.at(&param.name, |reader| {
            reader.value(&param.kind, &param.default)
        })
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

#[cfg(test)]
mod tests;
