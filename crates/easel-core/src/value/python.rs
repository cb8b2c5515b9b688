//! Values as Python writes them, for the places in which workflows rely on it.

use std::fmt::{self, Write};

use super::Value;

impl Value {
    /// As Python's `str()`: a text as it is, all else as Python source.
    ///
    /// ```
    /// use easel_core::Value;
    /// let value: Value = serde_json::from_str(r#"{"a": ["it's", true, null, 1.0]}"#)?;
    /// assert_eq!(value.python().to_string(), r#"{'a': ["it's", True, None, 1.0]}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn python(&self) -> impl fmt::Display {
        Python(self)
    }

    /// As Python's `repr()`: the same, but a text in quotes.
    pub fn python_source(&self) -> impl fmt::Display {
        Source(self)
    }
}

struct Source<'v>(&'v Value);

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        source(self.0, f)
    }
}

struct Python<'v>(&'v Value);

impl fmt::Display for Python<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::String(text) => f.write_str(text),
            other => source(other, f),
        }
    }
}

fn source(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Null => f.write_str("None"),
        Value::Bool(true) => f.write_str("True"),
        Value::Bool(false) => f.write_str("False"),
        Value::Number(n) => write!(f, "{n}"),
        Value::String(text) => quoted(text, f),
        Value::Array(items) => {
            f.write_char('[')?;
            for (i, item) in items.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                source(item, f)?;
            }
            f.write_char(']')
        }
        Value::Object(members) => {
            f.write_char('{')?;
            for (i, (key, value)) in members.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                quoted(key, f)?;
                f.write_str(": ")?;
                source(value, f)?;
            }
            f.write_char('}')
        }
    }
}

/// A text in single quotes, or in double ones if only single ones are in it. What cannot be seen is escaped.
fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let quote = match text.contains('\'') && !text.contains('"') {
        true => '"',
        false => '\'',
    };
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\\' => f.write_str("\\\\")?,
            c if c == quote => write!(f, "\\{c}")?,
            c if is_seen(c) => f.write_char(c)?,
            c => escape(c, f)?,
        }
    }
    f.write_char(quote)
}

/// The shortest of Python's escapes by number: `\x0b`, `\u200b`, `\U000e0001`.
pub(crate) fn escape(c: char, out: &mut impl Write) -> fmt::Result {
    match u32::from(c) {
        n @ ..=0xff => write!(out, "\\x{n:02x}"),
        n @ ..=0xffff => write!(out, "\\u{n:04x}"),
        n => write!(out, "\\U{n:08x}"),
    }
}

/// False for controls, invisible formatting, private characters, and blanks other than the space. Characters that no
/// version of Unicode had assigned yet are shown, where Python escapes them.
fn is_seen(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    let hidden = matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}'
        | '\u{f0000}'..);
    !(hidden || c.is_control() || c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(json: &str) -> String {
        let value: Value = serde_json::from_str(json).unwrap();
        value.python().to_string()
    }

    #[test]
    fn values_are_spelled_as_python_spells_them() {
        assert_eq!(python(r#""it's""#), "it's");
        assert_eq!(
            python(r#"[true, false, null, 1, 1.5, 1e16, "é"]"#),
            "[True, False, None, 1, 1.5, 1e+16, 'é']"
        );
        assert_eq!(python("{}"), "{}");
        assert_eq!(
            python(r#"{"a": {"b": [1]}, "c": ""}"#),
            "{'a': {'b': [1]}, 'c': ''}"
        );
    }

    #[test]
    fn quotes_and_what_cannot_be_seen_are_escaped() {
        assert_eq!(
            python(r#"["it's", "\"", "'\""]"#),
            r#"["it's", '"', '\'"']"#
        );
        assert_eq!(python(r#"["a\nb\\\t\u0001"]"#), r"['a\nb\\\t\x01']");
        assert_eq!(
            python("[\"1\u{a0}€\u{200b}\u{e0001}ä\"]"),
            r"['1\xa0€\u200b\U000e0001ä']"
        );
    }
}
