//! Comparisons, by Python's rules where it has an answer. A comparison that cannot be made does not hold.

use std::cmp::Ordering;

use super::evaluate::{Failure, Meter};
use super::number;
use super::tree::Comparison;
use crate::Value;

/// Whether a comparison holds.
pub(super) fn holds(
    comparison: Comparison,
    left: &Value,
    right: &Value,
    meter: &mut Meter,
) -> Result<bool, Failure> {
    let ordered = |meter: &mut Meter, holds: fn(Ordering) -> bool| {
        order(left, right, meter).map(|order| order.is_some_and(holds))
    };
    match comparison {
        Comparison::Equal => equal(left, right, meter),
        Comparison::NotEqual => equal(left, right, meter).map(|equal| !equal),
        Comparison::Less => ordered(meter, Ordering::is_lt),
        Comparison::LessOrEqual => ordered(meter, Ordering::is_le),
        Comparison::Greater => ordered(meter, Ordering::is_gt),
        Comparison::GreaterOrEqual => ordered(meter, Ordering::is_ge),
        Comparison::In => contains(right, left, meter).map(|found| found == Some(true)),
        Comparison::NotIn => contains(right, left, meter).map(|found| found == Some(false)),
        Comparison::Is => identical(left, right, meter),
        Comparison::IsNot => identical(left, right, meter).map(|same| !same),
    }
}

/// Python's `==`: numbers and truth values by what they count, lists and objects part by part.
pub(super) fn equal(left: &Value, right: &Value, meter: &mut Meter) -> Result<bool, Failure> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            meter.charge_text(left)?;
            Ok(left == right)
        }
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            meter.charge(left.len())?;
            for (left, right) in left.iter().zip(right.iter()) {
                if !equal(left, right, meter)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(left), Value::Object(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            meter.charge(left.len())?;
            for (name, left) in left.iter() {
                let same = match right.get(name) {
                    Some(right) => equal(left, right, meter)?,
                    None => false,
                };
                if !same {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Null, Value::Null) => Ok(true),
        _ => Ok(match (number::of(left), number::of(right)) {
            (Some(left), Some(right)) => left.order(right).is_eq(),
            _ => false,
        }),
    }
}

/// The same value of the same type, at every depth.
fn identical(left: &Value, right: &Value, meter: &mut Meter) -> Result<bool, Failure> {
    // What is alike is equal, so this also pays for the walk.
    Ok(equal(left, right, meter)? && left == right)
}

/// Which comes first; `None` if the two cannot be put in order.
pub(super) fn order(
    left: &Value,
    right: &Value,
    meter: &mut Meter,
) -> Result<Option<Ordering>, Failure> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            meter.charge_text(left)?;
            Ok(Some(left.cmp(right)))
        }
        (Value::Array(left), Value::Array(right)) => {
            for (left, right) in left.iter().zip(right.iter()) {
                meter.charge(1)?;
                if !equal(left, right, meter)? {
                    return order(left, right, meter);
                }
            }
            Ok(Some(left.len().cmp(&right.len())))
        }
        _ => Ok(match (number::of(left), number::of(right)) {
            (Some(left), Some(right)) => Some(left.order(right)),
            _ => None,
        }),
    }
}

/// Whether a value is an element of a list, a name in an object, or a part of a text; `None` if that cannot be said.
pub(super) fn contains(
    whole: &Value,
    part: &Value,
    meter: &mut Meter,
) -> Result<Option<bool>, Failure> {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => {
            meter.charge_text(whole)?;
            Ok(Some(whole.contains(&**part)))
        }
        (Value::Array(items), _) => {
            for item in items.iter() {
                meter.charge(1)?;
                if equal(item, part, meter)? {
                    return Ok(Some(true));
                }
            }
            Ok(Some(false))
        }
        (Value::Object(members), Value::String(name)) => Ok(Some(members.contains_key(name))),
        (Value::Object(_), Value::Array(_) | Value::Object(_)) => Ok(None),
        (Value::Object(_), _) => Ok(Some(false)),
        _ => Ok(None),
    }
}
