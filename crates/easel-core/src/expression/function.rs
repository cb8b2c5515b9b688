//! The functions that expressions can call.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::ops::{Range, RangeInclusive};

use super::compare::{contains, order};
use super::evaluate::{Failure, Meter, described, fits_list, fits_text, join};
use super::tree::Operation;
use super::{ErrorKind, MAX_TEXT, SyntaxError, number};
use crate::{Number, Value};

/// A function, named as in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Len,
    Bool,
    Int,
    Float,
    Str,
    Abs,
    Min,
    Max,
    Sum,
    Any,
    All,
    Sorted,
    Round,
    Lower,
    Upper,
    StartsWith,
    EndsWith,
    Contains,
}

/// The functions, their names and how many arguments they take.
const FUNCTIONS: [(Function, &str, RangeInclusive<usize>); 18] = [
    (Function::Len, "len", 1..=1),
    (Function::Bool, "bool", 0..=1),
    (Function::Int, "int", 0..=1),
    (Function::Float, "float", 0..=1),
    (Function::Str, "str", 0..=1),
    (Function::Abs, "abs", 1..=1),
    (Function::Min, "min", 1..=usize::MAX),
    (Function::Max, "max", 1..=usize::MAX),
    (Function::Sum, "sum", 1..=2),
    (Function::Any, "any", 1..=1),
    (Function::All, "all", 1..=1),
    (Function::Sorted, "sorted", 1..=1),
    (Function::Round, "round", 1..=2),
    (Function::Lower, "lower", 1..=1),
    (Function::Upper, "upper", 1..=1),
    (Function::StartsWith, "startswith", 2..=2),
    (Function::EndsWith, "endswith", 2..=2),
    (Function::Contains, "contains", 2..=2),
];

/// Why a name that is bound to nothing is likely to have been written.
pub(super) fn misnamed(name: &str) -> Option<String> {
    match name {
        "true" => Some("\"true\" is no name here; write True".into()),
        "false" => Some("\"false\" is no name here; write False".into()),
        "null" | "none" => Some(format!("\"{name}\" is no name here; write None")),
        _ => Function::named(name).map(|function| {
            format!("\"{function}\" is a function; call it with what it is for: {function}(…)")
        }),
    }
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Function> {
        let mut functions = FUNCTIONS.iter();
        functions
            .find(|(_, known, _)| *known == name)
            .map(|(function, _, _)| *function)
    }

    /// The names of all functions.
    pub(super) fn list() -> String {
        FUNCTIONS.map(|(_, name, _)| name).join(", ")
    }

    /// Refuses a call with too few or too many arguments.
    pub(super) fn check_arity(self, given: usize, span: Range<usize>) -> Result<(), SyntaxError> {
        let arity = FUNCTIONS
            .iter()
            .find(|(function, _, _)| *function == self)
            .map(|(_, _, arity)| arity);
        let Some(arity) = arity.filter(|arity| !arity.contains(&given)) else {
            return Ok(());
        };
        let takes = match (*arity.start(), *arity.end()) {
            (1, 1) => "one argument".to_owned(),
            (least, usize::MAX) => format!("at least {least}"),
            (least, most) if least == most => format!("{most} arguments"),
            (least, most) => format!("{least} or {most} arguments"),
        };
        Err(SyntaxError::new(
            format!("{self}() takes {takes}, {given} are given"),
            span,
            format!("write {self}(…) with {takes}"),
        ))
    }

    /// True if it may make a value that is larger than what it was given.
    pub(super) fn builds(self) -> bool {
        matches!(self, Function::Str | Function::Sum | Function::Sorted)
    }

    pub(super) fn call(
        self,
        arguments: &[Cow<'_, Value>],
        meter: &mut Meter,
    ) -> Result<Value, Failure> {
        let Some(first) = arguments.first().map(|argument| &**argument) else {
            return Ok(self.of_nothing());
        };
        let second = arguments.get(1).map(|argument| &**argument);
        match self {
            Function::Len => self.len(first, meter),
            Function::Bool => Ok(first.is_truthy().into()),
            Function::Int => self.int(first, meter),
            Function::Float => self.float(first, meter),
            Function::Str => Ok(text(first, meter)?.as_ref().into()),
            Function::Abs => number::absolute(self.number(first)?).map(Value::Number),
            Function::Min => self.extreme(arguments, Ordering::Less, meter),
            Function::Max => self.extreme(arguments, Ordering::Greater, meter),
            Function::Sum => self.sum(first, second, meter),
            Function::Any => Ok(self
                .items(first, meter)?
                .iter()
                .any(Value::is_truthy)
                .into()),
            Function::All => Ok(self
                .items(first, meter)?
                .iter()
                .all(Value::is_truthy)
                .into()),
            Function::Sorted => Ok(self
                .sorted(self.items(first, meter)?.into_owned(), meter)?
                .into()),
            Function::Round => self.round(first, second),
            Function::Lower => Ok(fitting(text(first, meter)?.to_lowercase())?.into()),
            Function::Upper => Ok(fitting(text(first, meter)?.to_uppercase())?.into()),
            Function::StartsWith => {
                self.texts(first, second, meter, |whole, part| whole.starts_with(part))
            }
            Function::EndsWith => {
                self.texts(first, second, meter, |whole, part| whole.ends_with(part))
            }
            Function::Contains => match contains(first, second.unwrap_or(&Value::Null), meter)? {
                Some(found) => Ok(found.into()),
                None => self.texts(first, second, meter, |whole, part| whole.contains(part)),
            },
        }
    }

    /// What a conversion makes of nothing.
    fn of_nothing(self) -> Value {
        match self {
            Function::Bool => Value::from(false),
            Function::Int => Value::from(0_i64),
            Function::Float => Value::from(0.0),
            Function::Str => Value::from(""),
            _ => Value::Null,
        }
    }

    fn len(self, value: &Value, meter: &mut Meter) -> Result<Value, Failure> {
        let length = match value {
            Value::String(text) => {
                meter.charge_text(text)?;
                text.chars().count()
            }
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) => return Err(self.not_for(value)),
        };
        Ok(Value::from(length as u64))
    }

    fn int(self, value: &Value, meter: &mut Meter) -> Result<Value, Failure> {
        if let Value::String(text) = value {
            meter.charge_text(text)?;
            return self.parsed(text, number::parse_whole(text));
        }
        number::truncate(self.number(value)?).map(Value::Number)
    }

    fn float(self, value: &Value, meter: &mut Meter) -> Result<Value, Failure> {
        if let Value::String(text) = value {
            meter.charge_text(text)?;
            return self.parsed(text, number::parse_float(text));
        }
        Ok(Value::Number(Number::Float(self.number(value)?.as_f64())))
    }

    fn parsed(self, text: &str, parsed: Option<Result<Number, Failure>>) -> Result<Value, Failure> {
        match parsed {
            Some(number) => number.map(Value::Number),
            None => {
                let shown: String = text.chars().take(40).collect();
                Err(Failure::new(
                    ErrorKind::Value,
                    format!("{self}() reads no number in \"{shown}\"; test the text first"),
                ))
            }
        }
    }

    fn number(self, value: &Value) -> Result<Number, Failure> {
        number::of(value).ok_or_else(|| self.not_for(value))
    }

    fn round(self, value: &Value, places: Option<&Value>) -> Result<Value, Failure> {
        let number = self.number(value)?;
        let places = match places {
            None | Some(Value::Null) => None,
            Some(places) => {
                let whole = number::of(places).and_then(|places| places.whole().ok());
                Some(whole.ok_or_else(|| {
                    Failure::new(
                        ErrorKind::Type,
                        "round() takes a whole number of decimal places",
                    )
                })?)
            }
        };
        number::round(number, places).map(Value::Number)
    }

    fn sum(
        self,
        items: &Value,
        start: Option<&Value>,
        meter: &mut Meter,
    ) -> Result<Value, Failure> {
        let mut sum = start.cloned().unwrap_or_else(|| Value::from(0_i64));
        if matches!(sum, Value::String(_)) {
            return Err(self.not_for(&sum));
        }
        for item in self.items(items, meter)?.iter() {
            sum = match (number::of(&sum), number::of(item)) {
                (Some(left), Some(right)) => {
                    Value::Number(number::operate(Operation::Add, left, right)?)
                }
                _ => join(&sum, item, meter)?,
            };
        }
        Ok(sum)
    }

    /// The first of the least or of the greatest.
    fn extreme(
        self,
        arguments: &[Cow<'_, Value>],
        wanted: Ordering,
        meter: &mut Meter,
    ) -> Result<Value, Failure> {
        if let [list] = arguments {
            let items = self.items(list, meter)?;
            return self.best(items.iter(), wanted, meter);
        }
        self.best(arguments.iter().map(|argument| &**argument), wanted, meter)
    }

    fn best<'v>(
        self,
        mut items: impl Iterator<Item = &'v Value>,
        wanted: Ordering,
        meter: &mut Meter,
    ) -> Result<Value, Failure> {
        let Some(mut best) = items.next() else {
            return Err(Failure::new(
                ErrorKind::Value,
                format!("{self}() of nothing is nothing; test len(…) first"),
            ));
        };
        for item in items {
            if self.order(item, best, meter)? == wanted {
                best = item;
            }
        }
        Ok(best.clone())
    }

    fn order(self, left: &Value, right: &Value, meter: &mut Meter) -> Result<Ordering, Failure> {
        meter.charge(1)?;
        order(left, right, meter)?.ok_or_else(|| {
            Failure::new(
                ErrorKind::Type,
                format!(
                    "{self}() cannot put {} and {} in order",
                    described(left),
                    described(right)
                ),
            )
        })
    }

    /// A stable merge sort: unlike that of the standard library it may give up in the middle.
    fn sorted(self, mut items: Vec<Value>, meter: &mut Meter) -> Result<Vec<Value>, Failure> {
        if items.len() < 2 {
            return Ok(items);
        }
        let right = items.split_off(items.len() / 2);
        let left = self.sorted(items, meter)?;
        let right = self.sorted(right, meter)?;
        let mut merged = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let next = match self.order(b, a, meter)? {
                Ordering::Less => right.next(),
                _ => left.next(),
            };
            merged.extend(next);
        }
        merged.extend(left);
        merged.extend(right);
        Ok(merged)
    }

    /// What a loop over the value would go through: elements, names of members, characters.
    fn items<'v>(self, value: &'v Value, meter: &mut Meter) -> Result<Cow<'v, [Value]>, Failure> {
        let items: Vec<Value> = match value {
            Value::Array(items) => {
                meter.charge(items.len())?;
                return Ok(Cow::Borrowed(items));
            }
            Value::Object(members) => {
                meter.charge(members.len())?;
                members.keys().cloned().map(Value::String).collect()
            }
            Value::String(text) => {
                meter.charge(fits_list(Some(text.chars().count()))?)?;
                text.chars()
                    .map(|c| Value::from(&*c.encode_utf8(&mut [0; 4])))
                    .collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => return Err(self.not_for(value)),
        };
        Ok(Cow::Owned(items))
    }

    fn texts(
        self,
        whole: &Value,
        part: Option<&Value>,
        meter: &mut Meter,
        test: fn(&str, &str) -> bool,
    ) -> Result<Value, Failure> {
        let part = text(part.unwrap_or(&Value::Null), meter)?;
        Ok(test(&text(whole, meter)?, &part).into())
    }

    fn not_for(self, value: &Value) -> Failure {
        Failure::new(
            ErrorKind::Type,
            format!(
                "{self}() is not for {}; check what is read there",
                described(value)
            ),
        )
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FUNCTIONS
            .iter()
            .find(|(function, _, _)| function == self)
            .map(|(_, name, _)| *name);
        f.write_str(name.unwrap_or_default())
    }
}

/// Python's `str()` of a value.
fn text<'v>(value: &'v Value, meter: &mut Meter) -> Result<Cow<'v, str>, Failure> {
    let text = match value {
        Value::String(text) => Cow::Borrowed(&**text),
        other => {
            let mut written = Limited(String::new());
            match write!(written, "{}", other.python()) {
                Ok(()) => Cow::Owned(written.0),
                Err(_) => fits_text(None).map(|_| Cow::default())?,
            }
        }
    };
    meter.charge_text(&text)?;
    Ok(text)
}

fn fitting(text: String) -> Result<String, Failure> {
    fits_text(Some(text.len()))?;
    Ok(text)
}

/// A text that does not grow beyond what an expression may build.
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if self.0.len() + more.len() > MAX_TEXT {
            return Err(fmt::Error);
        }
        self.0.push_str(more);
        Ok(())
    }
}
