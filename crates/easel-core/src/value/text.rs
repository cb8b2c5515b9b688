//! Values as text that people and models read, and numbers from such text.

use std::fmt::{self, Write};

use super::{Number, Value};

impl Number {
    /// The number a text spells, blanks around it ignored: `12`, ` -3.5 `, `1e3`. `None` for anything else, infinities
    /// and `NaN` included.
    pub fn parse(text: &str) -> Option<Number> {
        let text = text.trim();
        if let Ok(n) = text.parse() {
            return Some(Number::Int(n));
        }
        if let Ok(n) = text.parse() {
            return Some(Number::Big(n));
        }
        text.parse()
            .ok()
            .filter(|n: &f64| n.is_finite())
            .map(Number::Float)
    }
}

/// As Python writes it, which is JSON too: `1.0` keeps its fraction, `1e+16` is where exponents begin. A float that
/// JSON cannot write is `null`.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Number::Int(n) => write!(f, "{n}"),
            Number::Big(n) => write!(f, "{n}"),
            Number::Float(n) if !n.is_finite() => f.write_str("null"),
            Number::Float(n) if n == 0.0 || (1e-4..1e16).contains(&n.abs()) => {
                f.write_str(&positional(n))
            }
            Number::Float(n) => {
                let text = shortest(n);
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, exponent) = match exponent.strip_prefix('-') {
                    Some(exponent) => ('-', exponent),
                    None => ('+', exponent),
                };
                write!(f, "{digits}e{sign}{exponent:0>2}")
            }
        }
    }
}

/// The fewest digits that are read back as this float, with a point and without an exponent: `6500.0`.
fn positional(n: f64) -> String {
    let text = format!("{n:?}");
    match text.split_once('.') {
        Some((_, places)) if may_be_halfway(&text) => format!("{n:.*}", places.len()),
        _ => text,
    }
}

/// The same with an exponent: `6.5e3`.
pub(crate) fn shortest(n: f64) -> String {
    let text = format!("{n:e}");
    let (digits, _) = text.split_once('e').unwrap_or((&text, ""));
    match digits.split_once('.') {
        Some((_, places)) if may_be_halfway(digits) => format!("{n:.*e}", places.len()),
        _ => text,
    }
}

/// Whether another number of as many digits may be as near to the float: `685408957411734.25` lies halfway between `….2`
/// and `….3`. Rust takes the greater one. Python takes the even one, and so does Rust if it is told the places. With fewer
/// digits than these, a float would be written exactly before that.
fn may_be_halfway(digits: &str) -> bool {
    let digits = digits.trim_start_matches(['-', '0', '.']);
    digits.bytes().filter(u8::is_ascii_digit).count() >= 15
}

/// As text that is shown or sent to a model: a text as it is, `null` as nothing, all else as JSON with a blank behind
/// each comma and colon and with non-ASCII characters kept.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => Ok(()),
            Value::String(text) => f.write_str(text),
            other => spaced(other, f),
        }
    }
}

/// JSON with a blank behind each comma and colon.
fn spaced(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Null => f.write_str("null"),
        Value::Bool(b) => write!(f, "{b}"),
        Value::Number(n) => write!(f, "{n}"),
        Value::String(text) => quoted(text, f),
        Value::Array(items) => {
            f.write_char('[')?;
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                spaced(item, f)?;
            }
            f.write_char(']')
        }
        Value::Object(members) => {
            f.write_char('{')?;
            for (i, (key, value)) in members.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                quoted(key, f)?;
                f.write_str(": ")?;
                spaced(value, f)?;
            }
            f.write_char('}')
        }
    }
}

/// A JSON string: only what JSON forbids is escaped.
fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    let mut plain = text;
    while let Some(at) = plain
        .bytes()
        .position(|b| matches!(b, b'"' | b'\\' | ..=0x1f))
    {
        let (before, rest) = plain.split_at(at);
        f.write_str(before)?;
        let mut rest = rest.chars();
        match rest.next() {
            Some('\n') => f.write_str("\\n")?,
            Some('\r') => f.write_str("\\r")?,
            Some('\t') => f.write_str("\\t")?,
            Some('\x08') => f.write_str("\\b")?,
            Some('\x0c') => f.write_str("\\f")?,
            Some(c @ ('"' | '\\')) => write!(f, "\\{c}")?,
            Some(c) => write!(f, "\\u{:04x}", u32::from(c))?,
            None => {}
        }
        plain = rest.as_str();
    }
    f.write_str(plain)?;
    f.write_char('"')
}
