//! Values of databases, from the texts in which they send them.
//!
//! Numbers, truth and JSON become what they are; everything else (dates, times, UUIDs, arrays, addresses) is the text that
//! the database writes, so no type is unknown. A decimal is a number; one that is none (`NaN`) is null.

use easel_core::Value;

/// What a type's texts stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Truth,
    Number,
    Json,
    Bytes,
    Text,
}

/// The value that a text stands for.
pub(crate) fn value(meaning: Meaning, text: &str) -> Value {
    let as_text = || Value::from(text);
    match meaning {
        Meaning::Truth => Value::from(matches!(text, "t" | "true" | "1")),
        Meaning::Number => number(text),
        Meaning::Json => serde_json::from_str(text).unwrap_or_else(|_| as_text()),
        Meaning::Bytes | Meaning::Text => as_text(),
    }
}

fn number(text: &str) -> Value {
    if let Ok(whole) = text.parse::<i64>() {
        return Value::from(whole);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Value::from(number),
        // Infinity and what is no number have no place in JSON.
        Ok(_) => Value::Null,
        Err(_) => Value::from(text),
    }
}

/// Bytes that are no text, in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("\\x");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers_and_what_is_none_is_null() {
        assert_eq!(value(Meaning::Number, "42"), Value::from(42));
        assert_eq!(value(Meaning::Number, "-1.50"), Value::from(-1.5));
        assert_eq!(value(Meaning::Number, "NaN"), Value::Null);
        assert_eq!(value(Meaning::Number, "-Infinity"), Value::Null);
        assert_eq!(
            value(Meaning::Number, "18446744073709551615"),
            Value::from(18_446_744_073_709_551_615_f64)
        );
    }

    #[test]
    fn json_is_read_and_anything_else_stays_as_it_was_written() {
        assert_eq!(
            value(Meaning::Json, r#"{"a": [1]}"#).to_json_text(),
            r#"{"a":[1]}"#
        );
        assert_eq!(
            value(Meaning::Text, "2026-12-01"),
            Value::from("2026-12-01")
        );
        assert_eq!(value(Meaning::Truth, "f"), Value::from(false));
        assert_eq!(hexadecimal(&[0, 255]), "\\x00ff");
    }
}
