//! Text that spells a value: JSON, else a literal of Python (spec/canvas-components §4.2).

use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use easel_core::value::MAX_DEPTH;
use easel_core::{Number, Object, Value};

/// The value with every text in it that spells one replaced by that value, at any depth. All other texts stay.
pub(crate) fn evaluated(value: &Value) -> Value {
    match value {
        Value::String(text) => spelled(text).unwrap_or_else(|| value.clone()),
        Value::Array(items) => items.iter().map(evaluated).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| (key.clone(), evaluated(value)));
            members.collect::<Object>().into()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The value that a text spells: a list, an object, a quoted text, a tuple or a set (as a list), a truth value, nothing,
/// or a number without an exponent whose digits are all kept.
fn spelled(text: &str) -> Option<Value> {
    let text = text.trim();
    let first = text.chars().next()?;
    match first {
        '{' | '[' | '"' => serde_json::from_str(text).ok().or_else(|| literal(text)),
        '(' | '\'' => literal(text),
        '0'..='9' | '-' => number(text),
        _ => word(text),
    }
}

fn word(text: &str) -> Option<Value> {
    Some(match text {
        "true" | "True" => Value::from(true),
        "false" | "False" => Value::from(false),
        "null" | "None" => Value::Null,
        _ => return None,
    })
}

/// Digits with at most one dot: what has leading zeros or too many digits is a name of something, not a number.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !plain || (digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.")) {
        return None;
    }
    match Number::parse(text)? {
        Number::Float(_) if !digits.contains('.') => None,
        number => Some(Value::Number(number)),
    }
}

fn literal(text: &str) -> Option<Value> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
    };
    let value = reader.value(MAX_DEPTH)?;
    reader.blanks();
    reader.rest.next().is_none().then_some(value)
}

/// Reads Python literals. `None` anywhere: the text is none.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn next_is(&mut self, wanted: char) -> bool {
        self.blanks();
        self.rest.next_if_eq(&wanted).is_some()
    }

    fn value(&mut self, levels: usize) -> Option<Value> {
        let levels = levels.checked_sub(1)?;
        self.blanks();
        match *self.rest.peek()? {
            '\'' | '"' => self.quoted().map(Value::from),
            '[' => {
                self.rest.next();
                Some(self.items(']', levels)?.0.into())
            }
            '(' => {
                self.rest.next();
                let (mut items, comma) = self.items(')', levels)?;
                // Without a comma the parentheses only group.
                match (items.len(), comma) {
                    (1, false) => items.pop(),
                    _ => Some(items.into()),
                }
            }
            '{' => {
                self.rest.next();
                self.braces(levels)
            }
            _ => self.bare(),
        }
    }

    /// Items up to the closing mark, and whether a comma stood between or behind them.
    fn items(&mut self, close: char, levels: usize) -> Option<(Vec<Value>, bool)> {
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            if self.next_is(close) {
                return Some((items, comma));
            }
            items.push(self.value(levels)?);
            if self.next_is(',') {
                comma = true;
            } else {
                return self.next_is(close).then_some((items, comma));
            }
        }
    }

    /// An object, or a set.
    fn braces(&mut self, levels: usize) -> Option<Value> {
        if self.next_is('}') {
            return Some(Value::empty_object());
        }
        let first = self.value(levels)?;
        if !self.next_is(':') {
            let mut items = vec![first];
            if self.next_is(',') {
                items.extend(self.items('}', levels)?.0);
            } else if !self.next_is('}') {
                return None;
            }
            return Some(items.into());
        }
        let mut members = Object::new();
        members.insert(key(first)?, self.value(levels)?);
        loop {
            let comma = self.next_is(',');
            if self.next_is('}') {
                return Some(members.into());
            }
            if !comma {
                return None;
            }
            let name = key(self.value(levels)?)?;
            if !self.next_is(':') {
                return None;
            }
            members.insert(name, self.value(levels)?);
        }
    }

    /// A word or a number.
    fn bare(&mut self) -> Option<Value> {
        let mut text = String::new();
        while let Some(c) = self
            .rest
            .next_if(|c| c.is_alphanumeric() || "+-._".contains(*c))
        {
            text.push(c);
        }
        let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        match is_number {
            true => Number::parse(&text).map(Value::Number),
            false => word(&text),
        }
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.rest.next()?;
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                c if c == quote => return Some(text),
                '\\' => self.escaped(&mut text)?,
                '\n' => return None,
                c => text.push(c),
            }
        }
    }

    fn escaped(&mut self, text: &mut String) -> Option<()> {
        let c = match self.rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'a' => '\u{7}',
            '0' => '\0',
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            'U' => self.code(8)?,
            '\n' => return Some(()),
            c @ ('\\' | '\'' | '"') => c,
            c => {
                text.push('\\');
                c
            }
        };
        text.push(c);
        Some(())
    }

    /// A character by that many hexadecimal digits.
    fn code(&mut self, digits: u32) -> Option<char> {
        let mut code = 0;
        for _ in 0..digits {
            code = code * 16 + self.rest.next()?.to_digit(16)?;
        }
        char::from_u32(code)
    }
}

/// A key as a member's name.
fn key(value: Value) -> Option<Arc<str>> {
    match value {
        Value::String(text) => Some(text),
        Value::Null => Some("None".into()),
        Value::Bool(_) | Value::Number(_) => Some(crate::text_test::python_text(&value).into()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> serde_json::Value {
        evaluated(&Value::from(text)).to_json()
    }

    #[test]
    fn json_text_becomes_its_value() {
        assert_eq!(
            of(r#" {"a": [1, 2.5, null, true]} "#),
            json!({"a": [1, 2.5, null, true]})
        );
        assert_eq!(of("[1, 2]"), json!([1, 2]));
        assert_eq!(of("\"q\\u00e9\""), json!("qé"));
        assert_eq!(of("true"), json!(true));
        assert_eq!(of("null"), json!(null));
    }

    #[test]
    fn python_literals_become_their_value() {
        assert_eq!(
            of("{'a': [1, -2.5, None, True], \"b\": ('x',), 3: {'y'}}"),
            json!({"a": [1, -2.5, null, true], "b": ["x"], "3": ["y"]})
        );
        assert_eq!(of("'it\\'s \\u00e9\\n\\q'"), json!("it's é\n\\q"));
        assert_eq!(of("(1)"), json!(1));
        assert_eq!(of("()"), json!([]));
        assert_eq!(of("[1, 2,]"), json!([1, 2]));
        assert_eq!(of("{'k': 1, }"), json!({"k": 1}));
        assert_eq!(of("{1, 2}"), json!([1, 2]));
        assert_eq!(of("True"), json!(true));
        assert_eq!(of("None"), json!(null));
    }

    #[test]
    fn digits_become_a_number_if_nothing_is_lost() {
        assert_eq!(of("12"), json!(12));
        assert_eq!(of("-1.50"), json!(-1.5));
        assert_eq!(of("0"), json!(0));
        assert_eq!(of("0.5"), json!(0.5));
        for name in [
            "007",
            "1.2.3",
            "1e5",
            "12 apples",
            "-",
            "123456789012345678901234567890",
            "1_000",
        ] {
            assert_eq!(of(name), json!(name));
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "",
            "word",
            "none",
            "[1,",
            "{'a': }",
            "{'a' 1}",
            "'open",
            "(1, 2",
            "[1] [2]",
            "{[1]: 2}",
            "{'a': 1 'b': 2}",
            "__import__('os')",
            "(lambda: 1)",
            "[x]",
        ] {
            assert_eq!(of(text), json!(text));
        }
        let deep = "(".repeat(100_000);
        assert_eq!(of(&deep), json!(deep));
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(of(&deep), json!(deep));
    }

    #[test]
    fn texts_inside_are_evaluated_and_what_comes_out_is_not() {
        let value = Value::from(json!({"n": "12", "inner": ["{'y': '1'}", "word"], "x": 5}));
        assert_eq!(
            evaluated(&value).to_json(),
            json!({"n": 12, "inner": [{"y": "1"}, "word"], "x": 5})
        );
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "[\\[\\](){}'\",:0-9a-zA-Z\\\\ .-]{0,40}") {
            evaluated(&Value::from(text));
        }
    }
}
