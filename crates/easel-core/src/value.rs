//! The one value model of every dialect: JSON, with integers and floats kept apart and sharing instead of copying.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The members of an object, in the order in which they were written.
pub type Object = IndexMap<Arc<str>, Value>;

/// A JSON value. Cloning one costs a reference count, whatever its size.
///
/// `1` and `1.0` are different values, and so are `null`, `""`, `0` and `false`. A value that is
/// *missing* is no `Value` at all: see [`crate::bind::Resolved`].
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

impl fmt::Display for Number {
    /// As JSON writes it: `1.0` keeps its fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Number::Int(n) => n.fmt(f),
            Number::Big(n) => n.fmt(f),
            Number::Float(n) => match serde_json::Number::from_f64(n) {
                Some(n) => n.fmt(f),
                None => f.write_str("null"),
            },
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

    /// The same value as `serde_json` holds it.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Number(Number::Int(n)) => Json::from(*n),
            Value::Number(Number::Big(n)) => Json::from(*n),
            Value::Number(Number::Float(n)) => Json::from(*n),
            Value::String(s) => Json::String(s.to_string()),
            Value::Array(items) => Json::Array(items.iter().map(Value::to_json).collect()),
            Value::Object(members) => Json::Object(
                members
                    .iter()
                    .map(|(k, v)| (k.to_string(), v.to_json()))
                    .collect(),
            ),
        }
    }

    /// JSON text without blanks, non-ASCII kept as it is.
    pub fn to_json_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Value {
        use serde_json::Value as Json;
        match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(b),
            Json::Number(n) => Value::Number(match (n.as_i64(), n.as_u64()) {
                (Some(n), _) => Number::Int(n),
                (None, Some(n)) => Number::Big(n),
                _ => Number::Float(n.as_f64().unwrap_or(0.0)),
            }),
            Json::String(s) => Value::String(s.into()),
            Json::Array(items) => {
                Value::Array(Arc::new(items.into_iter().map(Value::from).collect()))
            }
            Json::Object(members) => Value::Object(Arc::new(
                members
                    .into_iter()
                    .map(|(k, v)| (Arc::from(k), Value::from(v)))
                    .collect(),
            )),
        }
    }
}

impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Value {
        Value::from(json.clone())
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

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Number(Number::Int(n))
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

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Number::Int(n) => serializer.serialize_i64(n),
            Number::Big(n) => serializer.serialize_u64(n),
            Number::Float(n) => serializer.serialize_f64(n),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(b) => serializer.serialize_bool(*b),
            Value::Number(n) => n.serialize(serializer),
            Value::String(s) => serializer.serialize_str(s),
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members.iter() {
                    map.serialize_entry(&**key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value::Number(Number::Int(n)))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(Value::Number(
            i64::try_from(n).map_or(Number::Big(n), Number::Int),
        ))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
        Ok(Value::from(n))
    }

    fn visit_str<E>(self, s: &str) -> Result<Value, E> {
        Ok(Value::from(s))
    }

    fn visit_string<E>(self, s: String) -> Result<Value, E> {
        Ok(Value::from(s))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::from(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Object::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            members.insert(Arc::from(key), value);
        }
        Ok(Value::from(members))
    }
}
