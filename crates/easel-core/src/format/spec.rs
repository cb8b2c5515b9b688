//! Formats behind the colon of a placeholder: Python's format specification for texts and numbers.

use super::MAX_WIDTH;
use crate::value::shortest;
use crate::{Number, Value};

/// `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormatSpec {
    fill: char,
    align: Option<Align>,
    sign: Option<Sign>,
    /// `z`: a zero has no sign.
    unsigned_zero: bool,
    /// `#`
    alternate: bool,
    /// A zero before the width: numbers are filled behind their sign.
    zero: bool,
    width: usize,
    /// `,` or `_`
    grouping: Option<char>,
    precision: Option<usize>,
    /// One of [`TYPES`].
    kind: Option<char>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
    Center,
    /// Between the sign and the digits.
    BehindSign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
    Blank,
}

const TYPES: &str = "bcdeEfFgGnosxX%";

impl Align {
    fn of(c: char) -> Option<Align> {
        match c {
            '<' => Some(Align::Left),
            '>' => Some(Align::Right),
            '^' => Some(Align::Center),
            '=' => Some(Align::BehindSign),
            _ => None,
        }
    }
}

impl FormatSpec {
    /// Reads a format; `None` if no value could be formatted so.
    pub(super) fn parse(text: &str) -> Option<FormatSpec> {
        let mut rest = text.chars();
        let mut next = text.chars();
        let fill = next.next();
        let (fill, align) = match (fill, next.next().and_then(Align::of)) {
            (Some(fill), Some(align)) => {
                rest = next;
                (Some(fill), Some(align))
            }
            (Some(first), None) => {
                let align = Align::of(first);
                if align.is_some() {
                    rest.next();
                }
                (None, align)
            }
            (None, _) => (None, None),
        };
        let mut rest = rest.as_str();
        let mut flag = |flag: char| {
            let behind = rest.strip_prefix(flag);
            rest = behind.unwrap_or(rest);
            behind.is_some()
        };
        let sign = [('+', Sign::Plus), ('-', Sign::Minus), (' ', Sign::Blank)];
        let sign = sign
            .into_iter()
            .find(|(c, _)| flag(*c))
            .map(|(_, sign)| sign);
        let unsigned_zero = flag('z');
        let alternate = flag('#');
        let zero = fill.is_none() && flag('0');
        let (width, rest) = integer(rest)?;
        let (grouping, rest) = match rest.strip_prefix([',', '_']) {
            Some(behind) if behind.starts_with([',', '_']) => return None,
            Some(behind) => (rest.chars().next(), behind),
            None => (None, rest),
        };
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(behind) => {
                let (precision, rest) = integer(behind)?;
                (Some(precision?), rest)
            }
            None => (None, rest),
        };
        let mut rest = rest.chars();
        let kind = rest.next();
        let by_three = kind.is_none_or(|kind| "deEfFgG%".contains(kind));
        let by_four = grouping == Some('_') && kind.is_some_and(|kind| "boxX".contains(kind));
        let grouped = grouping.is_none() || by_three || by_four;
        let known = kind.is_none_or(|kind| TYPES.contains(kind)) && rest.next().is_none();
        let width = width.unwrap_or(0);
        (known && grouped && width <= MAX_WIDTH).then_some(FormatSpec {
            fill: fill.unwrap_or(if zero { '0' } else { ' ' }),
            align,
            sign,
            unsigned_zero,
            alternate,
            zero,
            width,
            grouping,
            precision,
            kind,
        })
    }

    /// The value in this format; `None` if the format is not for such a value.
    pub(super) fn apply(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => self.text(text),
            Value::Bool(held) => self.whole(Number::Int((*held).into())),
            Value::Number(Number::Float(number)) => self.float(*number),
            Value::Number(number) => self.whole(*number),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn text(&self, text: &str) -> Option<String> {
        let numeric =
            self.sign.is_some() || self.unsigned_zero || self.alternate || self.grouping.is_some();
        if numeric
            || !matches!(self.kind, None | Some('s'))
            || self.align == Some(Align::BehindSign)
        {
            return None;
        }
        let cut = self
            .precision
            .and_then(|most| text.char_indices().nth(most));
        let text = cut.map_or(Some(text), |(end, _)| text.get(..end))?;
        let padding = self.width.saturating_sub(text.chars().count());
        let (left, right) = match self.align.unwrap_or(Align::Left) {
            Align::Right => (padding, 0),
            Align::Center => (padding / 2, padding - padding / 2),
            Align::Left | Align::BehindSign => (0, padding),
        };
        let mut out = String::new();
        out.extend(std::iter::repeat_n(self.fill, left));
        out.push_str(text);
        out.extend(std::iter::repeat_n(self.fill, right));
        Some(out)
    }

    fn whole(&self, number: Number) -> Option<String> {
        let whole = number.whole().ok()?;
        let kind = self.kind.unwrap_or('d');
        if "eEfFgG%".contains(kind) {
            return self.float(number.as_f64());
        }
        if self.precision.is_some() || self.unsigned_zero {
            return None;
        }
        let size = whole.unsigned_abs();
        let (prefix, digits) = match kind {
            'b' => ("0b", format!("{size:b}")),
            'o' => ("0o", format!("{size:o}")),
            'x' => ("0x", format!("{size:x}")),
            'X' => ("0X", format!("{size:X}")),
            'd' | 'n' => ("", size.to_string()),
            'c' if self.sign.is_none() && !self.alternate => {
                let character = u32::try_from(whole).ok().and_then(char::from_u32)?;
                return Some(self.number(false, "", "", &character.to_string()));
            }
            _ => return None,
        };
        let prefix = if self.alternate { prefix } else { "" };
        Some(self.number(whole < 0, prefix, &digits, ""))
    }

    fn float(&self, number: f64) -> Option<String> {
        let kind = self.kind.map(|kind| kind.to_ascii_lowercase());
        let percent = kind == Some('%');
        let number = if percent { number * 100.0 } else { number };
        let size = number.abs();
        if !size.is_finite()
            || self
                .precision
                .is_some_and(|precision| precision > MAX_WIDTH)
        {
            return None;
        }
        let places = self.precision.unwrap_or(6);
        let mut text = match kind {
            Some('f' | '%') => point(format!("{size:.places$}"), self.alternate),
            Some('e') => {
                let (digits, exponent) = scientific(&format!("{size:.places$e}"));
                mantissa(&digits, exponent, self.alternate)
            }
            Some('g' | 'n') => self.general(size, places.max(1), false),
            None => match self.precision {
                Some(precision) => self.general(size, precision.max(1), true),
                None => {
                    let (digits, exponent) = scientific(&shortest(size));
                    let large = !(-4..16).contains(&exponent);
                    self.place(&digits, exponent, large, true)
                }
            },
            Some(_) => return None,
        };
        if self.kind.is_some_and(|kind| kind.is_ascii_uppercase()) {
            text.make_ascii_uppercase();
        }
        if percent {
            text.push('%');
        }
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        let zero = !mantissa.bytes().any(|b| matches!(b, b'1'..=b'9'));
        let negative = number.is_sign_negative() && !(self.unsigned_zero && zero);
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        Some(self.number(negative, "", digits, rest))
    }

    /// So many significant digits, without zeros at the end and with an exponent where the number is long.
    fn general(&self, size: f64, digits: usize, keep_fraction: bool) -> String {
        let places = digits - 1;
        let (mut written, exponent) = scientific(&format!("{size:.places$e}"));
        let most = i64::try_from(digits).unwrap_or(i64::MAX) - i64::from(keep_fraction);
        let large = exponent < -4 || exponent + 1 > most;
        if !self.alternate {
            let kept = written.trim_end_matches('0').len().max(1);
            written.truncate(kept);
        }
        self.place(&written, exponent, large, keep_fraction)
    }

    /// Significant digits with the point where it belongs; `keep_fraction` shows a whole number as `1.0`.
    fn place(&self, digits: &str, exponent: i64, scientific: bool, keep_fraction: bool) -> String {
        if scientific {
            return mantissa(digits, exponent, self.alternate);
        }
        let Ok(before) = usize::try_from(exponent + 1) else {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            return format!("0.{zeros}{digits}");
        };
        if before == 0 {
            return format!("0.{digits}");
        }
        let filled = format!(
            "{digits:0<width$}",
            width = before + usize::from(keep_fraction)
        );
        let (whole, fraction) = filled.split_at(before);
        match fraction.is_empty() && !self.alternate {
            true => whole.to_owned(),
            false => format!("{whole}.{fraction}"),
        }
    }

    /// Sign, prefix, digits in groups, and what follows them, filled up to the width.
    fn number(&self, negative: bool, prefix: &str, digits: &str, rest: &str) -> String {
        let sign = match (negative, self.sign) {
            (true, _) => "-",
            (false, Some(Sign::Plus)) => "+",
            (false, Some(Sign::Blank)) => " ",
            (false, Some(Sign::Minus) | None) => "",
        };
        let default = if self.zero {
            Align::BehindSign
        } else {
            Align::Right
        };
        let align = self.align.unwrap_or(default);
        let other = sign.len() + prefix.len() + rest.chars().count();
        let least = match self.fill == '0' && align == Align::BehindSign {
            true => self.width.saturating_sub(other),
            false => 0,
        };
        let digits = match digits.is_empty() {
            true => String::new(),
            false => self.grouped(digits, least),
        };
        let padding = self.width.saturating_sub(other + digits.len());
        let (left, inner, right) = match align {
            Align::Left => (0, 0, padding),
            Align::Right => (padding, 0, 0),
            Align::Center => (padding / 2, 0, padding - padding / 2),
            Align::BehindSign => (0, padding, 0),
        };
        let fill = |count: usize| std::iter::repeat_n(self.fill, count);
        let mut out = String::new();
        out.extend(fill(left));
        out.push_str(sign);
        out.push_str(prefix);
        out.extend(fill(inner));
        out.push_str(&digits);
        out.push_str(rest);
        out.extend(fill(right));
        out
    }

    /// Digits with separators between their groups, and with zeros before them up to a width.
    fn grouped(&self, digits: &str, least: usize) -> String {
        let Some(separator) = self.grouping else {
            return format!("{digits:0>least$}");
        };
        let size = if matches!(self.kind, Some('b' | 'o' | 'x' | 'X')) {
            4
        } else {
            3
        };
        let mut reversed = String::new();
        let mut digits = digits.bytes().rev();
        let mut room = least;
        loop {
            let group = size.min(digits.len().max(room).max(1));
            let next = (0..group).map(|_| char::from(digits.next().unwrap_or(b'0')));
            reversed.extend(next);
            room = room.saturating_sub(group);
            if digits.len() == 0 && room == 0 {
                return reversed.chars().rev().collect();
            }
            reversed.push(separator);
            room = room.saturating_sub(1);
        }
    }
}

/// Digits at the start of a text as a number, if there are any, and what follows; `None` if there are too many.
fn integer(text: &str) -> Option<(Option<usize>, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    match digits {
        "" => Some((None, rest)),
        _ => Some((Some(digits.parse().ok()?), rest)),
    }
}

/// The significant digits and the exponent of a number in scientific notation.
fn scientific(text: &str) -> (String, i64) {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (digits.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// Scientific notation as Python writes it: the exponent with its sign and at least two digits.
fn mantissa(digits: &str, exponent: i64, keep_point: bool) -> String {
    let (first, fraction) = digits.split_at(digits.len().min(1));
    let point = if keep_point || !fraction.is_empty() {
        "."
    } else {
        ""
    };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{first}{point}{fraction}e{sign}{:02}",
        exponent.unsigned_abs()
    )
}

fn point(text: String, keep: bool) -> String {
    match keep && !text.contains('.') {
        true => text + ".",
        false => text,
    }
}
