//! What a plain word of YAML is: a boolean, a number, null or text, by the rules of YAML 1.1 as the old engine's loader
//! applied them (spec/graph-engine §2.1).
//!
//! YAML 1.2 libraries read `yes`, `010` and `1e3` differently, so a file would change its meaning by changing engines.

use easel_core::Number;

use crate::marked::Data;

/// What a plain scalar stands for. Dates stay the text that they are written as.
pub(crate) fn plain(text: &str) -> Data {
    let Some(first) = text.chars().next() else {
        return Data::Null;
    };
    // Words and numbers can be told apart by their first sign, which spares prose the rest.
    match first {
        '~' | 'n' | 'N' if is_null(text) => Data::Null,
        'y' | 'Y' | 'n' | 'N' | 't' | 'T' | 'f' | 'F' | 'o' | 'O' => match boolean(text) {
            Some(value) => Data::Bool(value),
            None => Data::Text(text.into()),
        },
        '0'..='9' | '+' | '-' | '.' => match number(text) {
            Some(number) => Data::Number(number),
            None => Data::Text(text.into()),
        },
        _ => Data::Text(text.into()),
    }
}

/// Whether the word stands for null.
pub(crate) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// The boolean that the word stands for: three spellings of each of six words.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// The number that the word stands for.
pub(crate) fn number(text: &str) -> Option<Number> {
    integer(text).or_else(|| float(text).map(Number::Float))
}

/// A whole number: decimal, `0b11`, `0x1F`, octal as `017`, or base 60 as `1:30`. `_` separates digits. One beyond 64
/// bits becomes a float.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let signed = |magnitude: f64, whole: Option<u64>| match (negative, whole) {
        (false, Some(n)) => i64::try_from(n).map_or(Number::Big(n), Number::Int),
        (true, Some(n)) if n <= i64::MIN.unsigned_abs() => {
            Number::Int(i64::try_from(-i128::from(n)).unwrap_or_default())
        }
        _ => Number::Float(if negative { -magnitude } else { magnitude }),
    };
    let in_base = |digits: &str, base: u32| {
        let digits: String = digits.chars().filter(|&c| c != '_').collect();
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
            return None;
        }
        let magnitude = match base {
            10 => digits.parse().ok()?,
            _ => digits.chars().fold(0.0, |sum, c| {
                sum * f64::from(base) + f64::from(c.to_digit(base).unwrap_or_default())
            }),
        };
        Some(signed(magnitude, u64::from_str_radix(&digits, base).ok()))
    };
    if let Some(binary) = digits.strip_prefix("0b") {
        return in_base(binary, 2);
    }
    if let Some(hexadecimal) = digits.strip_prefix("0x") {
        return in_base(hexadecimal, 16);
    }
    if digits == "0" {
        return in_base(digits, 10);
    }
    if let Some(octal) = digits.strip_prefix('0') {
        return in_base(octal, 8);
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if digits.contains(':') {
        let total = base_60(digits)?;
        // Exact up to 2^53, far beyond any time of day that this notation is for.
        return Some(signed(total, (total < 9e15).then_some(total as u64)));
    }
    in_base(digits, 10)
}

/// A number with a point, `.inf` or `.nan`. An exponent needs its sign and the number its point: `1e3` is text.
fn float(text: &str) -> Option<f64> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let signed = |value: f64| if negative { -value } else { value };
    match rest {
        ".inf" | ".Inf" | ".INF" => return Some(signed(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if rest.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    let (whole, fraction) = rest.split_once('.')?;
    if whole.contains(':') {
        let seconds = base_60(whole)?;
        let fraction = format!("0.{}", digits_of(fraction)?);
        return Some(signed(seconds + fraction.parse::<f64>().ok()?));
    }
    let (fraction, exponent) = match fraction.find(['e', 'E']) {
        None => (fraction, ""),
        Some(at) => fraction.split_at(at),
    };
    let starts_right = match whole {
        // `-.5` is text to the old loader, `.5` a number.
        "" => rest.len() == text.len() && fraction.starts_with(|c: char| c.is_ascii_digit()),
        whole => whole.starts_with(|c: char| c.is_ascii_digit()),
    };
    let power = exponent.get(1..).unwrap_or_default();
    let exponent_is_right = exponent.is_empty()
        || power
            .strip_prefix(['+', '-'])
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    if !starts_right || !exponent_is_right {
        return None;
    }
    let text = format!("0{}.{}0{exponent}", digits_of(whole)?, digits_of(fraction)?);
    text.parse::<f64>().ok().map(signed)
}

/// The digits without the `_` between them; `None` if there is anything else.
fn digits_of(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits)
}

/// `1:30` is 90: every part but the first has one or two digits below 60.
fn base_60(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let first = digits_of(parts.next()?)?;
    let mut total: f64 = first.parse().ok()?;
    for part in parts {
        let right = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        let part: f64 = part.parse().ok().filter(|&n: &f64| right && n < 60.0)?;
        total = total * 60.0 + part;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match plain(text) {
            Data::Null => "null".to_owned(),
            Data::Bool(value) => format!("bool {value}"),
            Data::Number(Number::Float(n)) => format!("float {n}"),
            Data::Number(Number::Int(n)) => format!("int {n}"),
            Data::Number(Number::Big(n)) => format!("big {n}"),
            Data::Text(text) => format!("text {text}"),
            Data::List(_) | Data::Map(_) => "no scalar".to_owned(),
        }
    }

    /// Each row was read with the old engine's loader (PyYAML 6, `safe_load`).
    #[test]
    fn plain_words_mean_what_they_meant_to_the_old_loader() {
        let rows = [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("nULL", "text nULL"),
            ("yes", "bool true"),
            ("No", "bool false"),
            ("ON", "bool true"),
            ("off", "bool false"),
            ("y", "text y"),
            ("tRue", "text tRue"),
            ("yes.", "text yes."),
            ("0", "int 0"),
            ("-0", "int 0"),
            ("+12", "int 12"),
            ("1_000", "int 1000"),
            ("010", "int 8"),
            ("09", "text 09"),
            ("0o10", "text 0o10"),
            ("0x1F", "int 31"),
            ("-0b101", "int -5"),
            ("1:30", "int 90"),
            ("12:30:45", "int 45045"),
            ("1:60", "text 1:60"),
            ("0:30", "text 0:30"),
            ("18446744073709551615", "big 18446744073709551615"),
            ("-9223372036854775808", "int -9223372036854775808"),
            ("99999999999999999999999", "float 100000000000000000000000"),
            ("1.0", "float 1"),
            ("1.", "float 1"),
            (".5", "float 0.5"),
            ("-.5", "text -.5"),
            ("1e3", "text 1e3"),
            ("1.5e3", "text 1.5e3"),
            ("1.5e+3", "float 1500"),
            ("1.10", "float 1.1"),
            ("1:30.5", "float 90.5"),
            (".inf", "float inf"),
            ("-.INF", "float -inf"),
            (".nan", "float NaN"),
            ("-.nan", "text -.nan"),
            ("1.2.3", "text 1.2.3"),
            ("2024-05-01", "text 2024-05-01"),
            ("-", "text -"),
            ("--", "text --"),
            ("+", "text +"),
            (".", "text ."),
            ("...", "text ..."),
            ("1 apple", "text 1 apple"),
            ("0x", "text 0x"),
            ("0b2", "text 0b2"),
        ];
        for (text, expected) in rows {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }
}
