//! Comparing values: sameness with Python's view of numbers, and a total order for sorting.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Number, Value};

impl Number {
    /// Compares by what is counted, exactly: `1` equals `1.0`, and 2^53 + 1 is more than 2^53 as a float.
    pub fn order(self, other: Number) -> Ordering {
        match (self.whole(), other.whole()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            (Ok(a), Err(b)) => order_whole(a, b),
            (Err(a), Ok(b)) => order_whole(b, a).reverse(),
            (Err(a), Err(b)) => a.partial_cmp(&b).unwrap_or_else(|| a.total_cmp(&b)),
        }
    }

    /// The number as an integer that holds it exactly, or the float that it is.
    pub(crate) fn whole(self) -> Result<i128, f64> {
        match self {
            Number::Int(n) => Ok(n.into()),
            Number::Big(n) => Ok(n.into()),
            Number::Float(n) => Err(n),
        }
    }
}

/// Compares a whole number with a float without rounding either.
fn order_whole(whole: i128, float: f64) -> Ordering {
    if float.is_nan() {
        return 0.0_f64.total_cmp(&float);
    }
    let below = float.floor();
    // The cast saturates, far beyond any whole number there is.
    whole.cmp(&(below as i128)).then(if float > below {
        Ordering::Less
    } else {
        Ordering::Equal
    })
}

impl Value {
    /// True if both are the same thing to a person: numbers by what they count (`1` and `1.0`), all else strictly
    /// (`true` is not `1`, `"1"` is not `1`), at every depth. Members of objects may stand in any order.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => a.order(*b).is_eq(),
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, value)| b.get(key).is_some_and(|other| value.same(other)))
            }
            _ => self == other,
        }
    }

    /// An order over all values: `null`, `false`, `true`, numbers by size, texts by code point, lists item by item,
    /// objects member by member in the order of their keys. Equal exactly where [`Value::same`] holds.
    pub fn order(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Number(a), Value::Number(b)) => a.order(*b),
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Array(a), Value::Array(b)) => order_each(a.iter(), b.iter(), |a, b| a.order(b)),
            (Value::Object(_), Value::Object(_)) => order_each(
                self.sorted_members().into_iter(),
                other.sorted_members().into_iter(),
                |(key, value), (other_key, other)| {
                    key.cmp(other_key).then_with(|| value.order(other))
                },
            ),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn sorted_members(&self) -> Vec<(&Arc<str>, &Value)> {
        let mut members: Vec<_> = self.as_object().into_iter().flatten().collect();
        members.sort_unstable_by_key(|(key, _)| *key);
        members
    }

    /// Where values of this type stand among the types.
    fn rank(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Number(_) => 2,
            Value::String(_) => 3,
            Value::Array(_) => 4,
            Value::Object(_) => 5,
        }
    }
}

/// Item by item; of two that agree as far as the shorter goes, the shorter comes first.
fn order_each<T>(
    mut a: impl Iterator<Item = T>,
    mut b: impl Iterator<Item = T>,
    order: impl Fn(T, T) -> Ordering,
) -> Ordering {
    loop {
        match (a.next(), b.next()) {
            (Some(a), Some(b)) => match order(a, b) {
                Ordering::Equal => {}
                decided => return decided,
            },
            (a, b) => return a.is_some().cmp(&b.is_some()),
        }
    }
}
