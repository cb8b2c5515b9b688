//! Values from and to JSON, through serde and through `serde_json`'s own type.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

use super::{MAX_DEPTH, Number, Object, Value};

impl Value {
    /// The same value as `serde_json` holds it.
    pub fn to_json(&self) -> Json {
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
                    .map(|(key, value)| (key.to_string(), value.to_json()))
                    .collect(),
            ),
        }
    }

    /// JSON text without blanks, non-ASCII kept as it is. For people there is [`Display`](fmt::Display).
    pub fn to_json_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(b),
            Json::Number(n) => match (n.as_i64(), n.as_u64()) {
                (Some(n), _) => Value::from(n),
                (None, Some(n)) => Value::from(n),
                (None, None) => n.as_f64().map_or(Value::Null, Value::from),
            },
            Json::String(s) => Value::from(s),
            Json::Array(items) => items
                .into_iter()
                .map(Value::from)
                .collect::<Vec<_>>()
                .into(),
            Json::Object(members) => members
                .into_iter()
                .map(|(key, value)| (Arc::from(key), Value::from(value)))
                .collect::<Object>()
                .into(),
        }
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Value {
        Value::from(json.clone())
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

/// Fails on a value nested deeper than [`MAX_DEPTH`].
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        Levels(MAX_DEPTH).deserialize(deserializer)
    }
}

/// Reads a value that may be nested that many levels deep.
#[derive(Clone, Copy)]
struct Levels(usize);

impl Levels {
    /// What the items and members of a list or object may be nested.
    fn inside<E: Error>(self) -> Result<Levels, E> {
        match self.0.checked_sub(1) {
            Some(levels) => Ok(Levels(levels)),
            None => Err(E::custom(format_args!(
                "a value is nested deeper than {MAX_DEPTH} levels; flatten it, or keep the inner part as text"
            ))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Levels {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Levels {
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
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::from(b))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value::from(n))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(Value::from(n))
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
        let inside = self.inside()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(Value::from(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut members = Object::new();
        while let Some(key) = map.next_key::<String>()? {
            members.insert(Arc::from(key), map.next_value_seed(inside)?);
        }
        Ok(Value::from(members))
    }
}
