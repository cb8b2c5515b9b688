//! The one value model of every dialect: JSON, with integers and floats kept apart and sharing instead of copying.

mod json;
mod order;
mod python;
#[cfg(test)]
pub(crate) mod tests;
mod text;

use std::sync::Arc;

use indexmap::IndexMap;

pub use json::from_text;
pub(crate) use python::escape;
pub(crate) use text::shortest;

/// The members of an object, in the order in which they were written.
pub type Object = IndexMap<Arc<str>, Value>;

/// Levels of lists and objects in a value that is read from outside or built along a path. Deeper ones are refused, so
/// that no value can exhaust the stack of whoever walks it, and all that is written can be read again.
pub const MAX_DEPTH: usize = 100;

/// A JSON value. Cloning one costs a reference count, whatever its size.
///
/// `null`, `""`, `0` and `false` are different values. A value that is *missing* is no `Value` at all:
/// see [`crate::bind::Resolved`].
///
/// Three comparisons:
/// - `==` asks whether two values would be written alike: `1` and `1.0` differ; the order of an object's members is
///   no difference.
/// - [`Value::same`] compares numbers by what they count: `1` and `1.0` are the same, `true` and `1` are not.
/// - [`Value::order`] puts any two values in an order, for sorting.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// JSON `null`.
    #[default]
    Null,
    /// JSON `true` or `false`.
    Bool(bool),
    /// A whole number or a float.
    Number(Number),
    /// A text.
    String(Arc<str>),
    /// A list.
    Array(Arc<Vec<Value>>),
    /// A map from texts to values that keeps its order.
    Object(Arc<Object>),
}

/// A number as it was written: a whole number stays whole.
///
/// Whole numbers reach from `i64::MIN` to `u64::MAX`; beyond that JSON text is read as a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number that fits `i64`.
    Int(i64),
    /// A whole number above `i64::MAX`.
    Big(u64),
    /// A number with a fraction or an exponent. Finite in anything read from JSON.
    Float(f64),
}

impl Number {
    /// The number as a float; whole numbers above 2^53 lose digits.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Big(n) => n as f64,
            Number::Float(n) => n,
        }
    }

    /// The number as `i64` where it is whole and fits.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Number::Int(n) => Some(n),
            _ => None,
        }
    }
}

impl Value {
    /// A shared empty list.
    pub fn empty_array() -> Value {
        Value::Array(Arc::default())
    }

    /// A shared empty object.
    pub fn empty_object() -> Value {
        Value::Object(Arc::default())
    }

    /// The text, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(s) => Some(s),
            _ => None,
        }
    }

    /// The items, if the value is a list.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members, if the value is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The whole number, if the value is one that fits `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Number(n) => n.as_i64(),
            _ => None,
        }
    }

    /// The number as a float, if the value is a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(n) => Some(n.as_f64()),
            _ => None,
        }
    }

    /// The truth value, if the value is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// True for JSON `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The member of that name, if the value is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// False for `null`, `false`, zero, and an empty text, list or object (Python's truth).
    pub fn is_truthy(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(b) => *b,
            Value::Number(n) => n.as_f64() != 0.0,
            Value::String(s) => !s.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
        }
    }

    /// The JSON name of the value's type: `null`, `boolean`, `number`, `string`, `array` or `object`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// How deep lists and objects are nested in it: 0 for a text, 1 for `[]`.
    pub fn depth(&self) -> usize {
        let inner = match self {
            Value::Array(items) => items.iter().map(Value::depth).max(),
            Value::Object(members) => members.values().map(Value::depth).max(),
            _ => return 0,
        };
        inner.unwrap_or(0) + 1
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Value {
        Value::String(s.into())
    }
}

impl From<String> for Value {
    fn from(s: String) -> Value {
        Value::String(s.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(s: Arc<str>) -> Value {
        Value::String(s)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i32> for Value {
    fn from(n: i32) -> Value {
        Value::from(i64::from(n))
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Number(Number::Int(n))
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Value {
        Value::Number(i64::try_from(n).map_or(Number::Big(n), Number::Int))
    }
}

impl From<f64> for Value {
    /// A float that JSON cannot write (NaN, infinity) becomes `null`.
    fn from(n: f64) -> Value {
        if n.is_finite() {
            Value::Number(Number::Float(n))
        } else {
            Value::Null
        }
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::Array(Arc::new(items))
    }
}

impl From<Object> for Value {
    fn from(members: Object) -> Value {
        Value::Object(Arc::new(members))
    }
}
