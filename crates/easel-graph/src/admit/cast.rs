//! A value as another type, by Python's rules, which the old engine took over.

use easel_core::{Number, Value};

use crate::document::InputType;

/// The value as that type; `None` if it can't be. `compat` keeps what the old engine did with null and with 1 and 0.
pub(super) fn cast(kind: &InputType, value: &Value, compat: bool) -> Option<Value> {
    match kind {
        InputType::String => match value {
            Value::Null if !compat => None,
            Value::String(_) => Some(value.clone()),
            other => Some(other.python().to_string().into()),
        },
        InputType::Integer => integer(value).map(Value::Number),
        InputType::Float => float(value).map(|n| Value::Number(Number::Float(n))),
        InputType::Boolean => boolean(value, compat).map(Value::Bool),
        InputType::Object => value.as_object().map(|_| value.clone()),
        InputType::Array => value.as_array().map(|_| value.clone()),
        InputType::File | InputType::Image | InputType::Other(_) => Some(value.clone()),
    }
}

/// What the type takes, in words.
pub(super) fn expected(kind: &InputType) -> &'static str {
    match kind {
        InputType::String => "a text",
        InputType::Integer => "a whole number",
        InputType::Float => "a number",
        InputType::Boolean => "true or false",
        InputType::Object => "a mapping",
        InputType::Array => "a list",
        InputType::File => "a file",
        InputType::Image => "a picture",
        InputType::Other(_) => "a value",
    }
}

/// Fractions are cut off; the text of a fraction is none. A boolean is no number.
fn integer(value: &Value) -> Option<Number> {
    match value {
        Value::Number(Number::Float(n)) => {
            let whole = n.is_finite().then(|| n.trunc())?;
            // Beyond this a float is whole anyway, and 64 bits end.
            let fits = whole.abs() < 9.2e18;
            Some(if fits {
                Number::Int(whole as i64)
            } else {
                Number::Float(whole)
            })
        }
        Value::Number(n) => Some(*n),
        Value::String(text) => {
            let digits = digits(text)?;
            let whole = digits.strip_prefix(['+', '-']).unwrap_or(&digits);
            if whole.is_empty() || !whole.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let digits = digits.strip_prefix('+').unwrap_or(&digits);
            let int = digits.parse().map(Number::Int);
            int.or_else(|_| digits.parse().map(Number::Big)).ok()
        }
        _ => None,
    }
}

/// Also the words for infinity and for what is no number.
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => Some(n.as_f64()),
        Value::String(text) => digits(text)?.parse().ok(),
        _ => None,
    }
}

/// The text of a number without blanks around and `_` between digits.
fn digits(text: &str) -> Option<String> {
    let text = text.trim();
    let around = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '_' && !(around(before) && around(letters.peek().copied())) {
            return None;
        }
        before = Some(letter);
    }
    Some(text.replace('_', ""))
}

fn boolean(value: &Value, compat: bool) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(Number::Int(1)) if !compat => Some(true),
        Value::Number(Number::Int(0)) if !compat => Some(false),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "1" | "yes" | "y" => Some(true),
            "false" | "0" | "no" | "n" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
