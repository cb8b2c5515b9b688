//! Values as Python writes them, for the places in which canvases rely on it.

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
            c if c.is_control() => write!(f, "\\x{:02x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
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
    }
}
