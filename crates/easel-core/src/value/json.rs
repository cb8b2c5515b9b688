//! Values from and to JSON, through serde and through `serde_json`'s own type.

use std::cell::RefCell;
use std::collections::HashSet;
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
        let reader = Reader {
            levels: MAX_DEPTH,
            names: None,
        };
        reader.deserialize(deserializer)
    }
}

/// Reads JSON text in which the same names come again and again, such as a whole file: members of one name share it.
///
/// # Errors
/// As reading a [`Value`] with `serde_json`.
///
/// ```
/// let list = easel_core::value::from_text(r#"[{"name": 1}, {"name": 2}]"#).unwrap();
/// assert_eq!(list.to_json_text(), r#"[{"name":1},{"name":2}]"#);
/// ```
pub fn from_text(text: &str) -> serde_json::Result<Value> {
    let names = Names::default();
    let reader = Reader {
        levels: MAX_DEPTH,
        names: Some(&names),
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = reader.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Names of members that were read before.
type Names = RefCell<HashSet<Arc<str>>>;

/// The longest name that is looked for among those read before, in bytes.
const SHARED: usize = 32;

/// How many names are kept: what comes again and again comes early, and looking for the rest should stay cheap.
const MOST_NAMES: usize = 256;

/// Reads a value that may be nested that many levels deep.
#[derive(Clone, Copy)]
struct Reader<'n> {
    levels: usize,
    names: Option<&'n Names>,
}

impl Reader<'_> {
    /// What reads the items and members of a list or object.
    fn inside<E: Error>(self) -> Result<Self, E> {
        match self.levels.checked_sub(1) {
            Some(levels) => Ok(Reader { levels, ..self }),
            None => Err(E::custom(format_args!(
                "a value is nested deeper than {MAX_DEPTH} levels; flatten it, or keep the inner part as text"
            ))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
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
        while let Some(name) = map.next_key_seed(Name(self.names))? {
            members.insert(name, map.next_value_seed(inside)?);
        }
        Ok(Value::from(members))
    }
}

/// Reads the name of a member.
struct Name<'n>(Option<&'n Names>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Arc<str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Arc<str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Arc<str>, E> {
        let Some(names) = self.0.filter(|_| name.len() <= SHARED) else {
            return Ok(name.into());
        };
        let mut names = names.borrow_mut();
        if let Some(known) = names.get(name) {
            return Ok(known.clone());
        }
        let name: Arc<str> = name.into();
        if names.len() < MOST_NAMES {
            names.insert(name.clone());
        }
        Ok(name)
    }
}
