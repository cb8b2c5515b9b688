//! Arithmetic by Python's rules: whole numbers stay whole and exact, `/` makes a float, `//` and `%` round down.

use super::evaluate::Failure;
use super::tree::Operation;
use super::{ErrorKind, MAX_EXPONENT};
use crate::{Number, Value};

type Arithmetic = Result<Number, Failure>;

/// The number that a value counts as: truth values are 0 and 1.
pub(super) fn of(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Bool(held) => Some(Number::Int((*held).into())),
        _ => None,
    }
}

pub(super) fn operate(operation: Operation, left: Number, right: Number) -> Arithmetic {
    match (left.whole(), right.whole()) {
        (Ok(left), Ok(right)) => operate_whole(operation, left, right),
        _ => operate_float(operation, left.as_f64(), right.as_f64()),
    }
}

fn operate_whole(operation: Operation, left: i128, right: i128) -> Arithmetic {
    match operation {
        Operation::Add => whole(left.checked_add(right)),
        Operation::Subtract => whole(left.checked_sub(right)),
        Operation::Multiply => whole(left.checked_mul(right)),
        _ if right == 0 => Err(by_zero(operation)),
        Operation::Divide => Ok(Number::Float(quotient(left, right))),
        Operation::FloorDivide => {
            let inexact = left % right != 0 && (left < 0) != (right < 0);
            whole((left / right).checked_sub(inexact.into()))
        }
        Operation::Remainder => {
            let rest = left % right;
            let other_side = rest != 0 && (rest < 0) != (right < 0);
            whole(Some(if other_side { rest + right } else { rest }))
        }
    }
}

/// The float nearest to the exact quotient.
fn quotient(left: i128, right: i128) -> f64 {
    const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;
    let (a, b) = (left.unsigned_abs(), right.unsigned_abs());
    if a <= EXACT && b <= EXACT {
        return left as f64 / right as f64;
    }
    if a == 0 {
        return if right < 0 { -0.0 } else { 0.0 };
    }
    // Divide with more digits than a float has, and let the last one tell whether any were cut off.
    let shift = a.leading_zeros();
    let widened = a << shift;
    let digits = (widened / b) | u128::from(widened % b != 0);
    let size = digits as f64 / 2_f64.powi(shift.min(1_000) as i32);
    if (left < 0) == (right < 0) {
        size
    } else {
        -size
    }
}

fn operate_float(operation: Operation, left: f64, right: f64) -> Arithmetic {
    match operation {
        Operation::Add => float(left + right),
        Operation::Subtract => float(left - right),
        Operation::Multiply => float(left * right),
        _ if right == 0.0 => Err(by_zero(operation)),
        Operation::Divide => float(left / right),
        Operation::FloorDivide => float(floor_division(left, right).0),
        Operation::Remainder => float(floor_division(left, right).1),
    }
}

/// Quotient and remainder, the remainder having the sign of the divisor and the quotient being a whole number.
fn floor_division(left: f64, right: f64) -> (f64, f64) {
    let mut rest = left % right;
    let mut quotient = (left - rest) / right;
    if rest == 0.0 {
        rest = 0.0_f64.copysign(right);
    } else if (right < 0.0) != (rest < 0.0) {
        rest += right;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0_f64.copysign(left / right), rest);
    }
    let floor = quotient.floor();
    let nearest = if quotient - floor > 0.5 {
        floor + 1.0
    } else {
        floor
    };
    (nearest, rest)
}

pub(super) fn power(base: Number, exponent: Number) -> Arithmetic {
    let (Ok(whole_base), Ok(whole_exponent)) = (base.whole(), exponent.whole()) else {
        return float_power(base.as_f64(), exponent.as_f64());
    };
    if whole_exponent > i128::from(MAX_EXPONENT) {
        return Err(Failure::new(
            ErrorKind::Limit,
            format!("the exponent {whole_exponent} is too large; {MAX_EXPONENT} is the most"),
        ));
    }
    match u32::try_from(whole_exponent) {
        Ok(exponent) => whole(whole_base.checked_pow(exponent)),
        Err(_) => float_power(base.as_f64(), exponent.as_f64()),
    }
}

fn float_power(base: f64, exponent: f64) -> Arithmetic {
    if base == 0.0 && exponent < 0.0 {
        return Err(Failure::new(
            ErrorKind::Arithmetic,
            "zero has no power with a negative exponent; test for zero first",
        ));
    }
    if base < 0.0 && exponent.fract() != 0.0 {
        return Err(Failure::new(
            ErrorKind::Arithmetic,
            "a negative number has no power with a fraction in the exponent; take abs(…) of it",
        ));
    }
    float(base.powf(exponent))
}

pub(super) fn negate(number: Number) -> Arithmetic {
    match number.whole() {
        Ok(n) => whole(n.checked_neg()),
        Err(n) => Ok(Number::Float(-n)),
    }
}

pub(super) fn absolute(number: Number) -> Arithmetic {
    match number.whole() {
        Ok(n) => whole(n.checked_abs()),
        Err(n) => Ok(Number::Float(n.abs())),
    }
}

/// Without its fraction.
pub(super) fn truncate(number: Number) -> Arithmetic {
    match number.whole() {
        Ok(_) => Ok(number),
        Err(n) => whole_float(n.trunc()),
    }
}

/// To the nearest number with that many decimal places, ties to the even one; without places to a whole number.
pub(super) fn round(number: Number, places: Option<i128>) -> Arithmetic {
    match (number.whole(), places) {
        (Ok(_), None | Some(0..)) => Ok(number),
        (Ok(n), Some(places)) => whole(round_whole(n, places.unsigned_abs())),
        (Err(n), None) => whole_float(n.round_ties_even()),
        (Err(n), Some(places)) => float(round_float(n, places)),
    }
}

fn round_whole(number: i128, zeros: u128) -> Option<i128> {
    // No number here has more than 20 digits.
    let unit = match u32::try_from(zeros) {
        Ok(zeros @ ..=20) => 10_i128.pow(zeros),
        _ => return Some(0),
    };
    let below = number.div_euclid(unit);
    let twice = number.rem_euclid(unit) * 2;
    let up = twice > unit || (twice == unit && below % 2 != 0);
    (below + i128::from(up)).checked_mul(unit)
}

/// Decimal places beyond which no float changes.
const MOST_PLACES: i128 = 330;

fn round_float(number: f64, places: i128) -> f64 {
    if places > MOST_PLACES {
        return number;
    }
    if places < -MOST_PLACES {
        return 0.0_f64.copysign(number);
    }
    // The digits of a float are written exactly, and rounded by Python's rule.
    let rounded = match usize::try_from(places) {
        Ok(places) => format!("{number:.places$}"),
        Err(_) => tens(number, places.unsigned_abs() as usize),
    };
    rounded.parse().unwrap_or(number)
}

/// The number rounded to a multiple of a power of ten, as text.
fn tens(number: f64, zeros: usize) -> String {
    let digits = format!("{:0>width$}", number.abs().trunc(), width = zeros + 1);
    let (head, tail) = digits.split_at(digits.len() - zeros);
    let half = format!("5{}", "0".repeat(zeros - 1));
    let odd = head.bytes().last().is_some_and(|digit| digit % 2 == 1);
    let up = match tail.cmp(&half) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => odd || number.fract() != 0.0,
        std::cmp::Ordering::Less => false,
    };
    let mut head = head.as_bytes().to_vec();
    let mut carry = up;
    for digit in head.iter_mut().rev() {
        match (carry, *digit) {
            (false, _) => break,
            (true, b'9') => *digit = b'0',
            (true, _) => {
                *digit += 1;
                carry = false;
            }
        }
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let carried = if carry { "1" } else { "" };
    format!("{sign}{carried}{}e{zeros}", String::from_utf8_lossy(&head))
}

/// The number that a text spells, by the rules of Python's `int()`.
pub(super) fn parse_whole(text: &str) -> Option<Arithmetic> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = without_underscores(digits)?;
    if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    Some(whole(format!("{sign}{plain}").parse().ok()))
}

/// The number that a text spells, by the rules of Python's `float()`; no infinities.
pub(super) fn parse_float(text: &str) -> Option<Arithmetic> {
    let plain = without_underscores(text.trim())?;
    let spelled = plain.bytes().any(|b| b.is_ascii_digit());
    let number: f64 = plain.parse().ok().filter(|_| spelled)?;
    Some(float(number))
}

/// The text without underscores; `None` if one does not stand between two digits.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_digit)
    };
    let mut underscores = bytes.iter().enumerate().filter(|(_, b)| **b == b'_');
    underscores
        .all(|(at, _)| digit(at.checked_sub(1)) && digit(Some(at + 1)))
        .then(|| text.replace('_', ""))
}

fn whole_float(number: f64) -> Arithmetic {
    // Floats between these bounds are held exactly; the cast of any other saturates far outside.
    whole(Some(number as i128))
}

/// A whole number, if it is within the range of [`Number`].
fn whole(number: Option<i128>) -> Arithmetic {
    let small = number.and_then(|n| i64::try_from(n).ok()).map(Number::Int);
    let large = || number.and_then(|n| u64::try_from(n).ok()).map(Number::Big);
    small.or_else(large).ok_or_else(|| {
        Failure::new(
            ErrorKind::Arithmetic,
            format!(
                "a whole number would be outside {} to {}; make one of the numbers a float",
                i64::MIN,
                u64::MAX
            ),
        )
    })
}

/// A float, if it is finite.
pub(super) fn float(number: f64) -> Arithmetic {
    match number.is_finite() {
        true => Ok(Number::Float(number)),
        false => Err(Failure::new(
            ErrorKind::Arithmetic,
            "a number would be too large for a float; test the numbers it is made of first",
        )),
    }
}

fn by_zero(operation: Operation) -> Failure {
    Failure::new(
        ErrorKind::Arithmetic,
        format!(
            "{} divides by zero; test for zero first",
            operation.symbol()
        ),
    )
}
