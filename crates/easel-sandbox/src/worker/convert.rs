//! Values of the built-in interpreter from and to JSON values.

use std::sync::Arc;

use easel_core::value::MAX_DEPTH;
use easel_core::{Number, Object, Value};
use monty_types::MontyObject;
use num_bigint::BigInt;

use crate::protocol::Verdict;

/// A JSON value as Python data.
pub(super) fn to_python(value: &Value) -> MontyObject {
    match value {
        Value::Null => MontyObject::None,
        Value::Bool(b) => MontyObject::Bool(*b),
        Value::Number(Number::Int(n)) => MontyObject::Int(*n),
        Value::Number(Number::Big(n)) => MontyObject::BigInt(BigInt::from(*n)),
        Value::Number(Number::Float(n)) => MontyObject::Float(*n),
        Value::String(text) => MontyObject::String(text.to_string()),
        Value::Array(items) => MontyObject::List(items.iter().map(to_python).collect()),
        Value::Object(members) => dictionary(members),
    }
}

/// An object as a dictionary.
pub(super) fn dictionary(members: &Object) -> MontyObject {
    let pairs: Vec<_> = members
        .iter()
        .map(|(key, value)| (MontyObject::String(key.to_string()), to_python(value)))
        .collect();
    MontyObject::dict(pairs)
}

/// Python data as a JSON value: tuples become lists, sets sorted lists.
///
/// # Errors
/// What in it is no JSON, in words.
pub(super) fn to_json(object: &MontyObject) -> Result<Value, String> {
    at_depth(object, 0)
}

fn at_depth(object: &MontyObject, depth: usize) -> Result<Value, String> {
    let items = |items: &[MontyObject]| -> Result<Vec<Value>, String> {
        if depth >= MAX_DEPTH {
            return Err(format!("data nested deeper than {MAX_DEPTH} levels"));
        }
        items.iter().map(|item| at_depth(item, depth + 1)).collect()
    };
    Ok(match object {
        MontyObject::None => Value::Null,
        MontyObject::Bool(b) => Value::Bool(*b),
        MontyObject::Int(n) => Value::from(*n),
        MontyObject::BigInt(n) => u64::try_from(n)
            .map(Value::from)
            .map_err(|_| "an int beyond 64 bits".to_owned())?,
        MontyObject::Float(n) if n.is_finite() => Value::from(*n),
        MontyObject::Float(n) => return Err(format!("the float {n}").to_lowercase()),
        MontyObject::String(text) => Value::from(text.as_str()),
        MontyObject::List(list) | MontyObject::Tuple(list) => items(list)?.into(),
        MontyObject::NamedTuple { values, .. } => items(values)?.into(),
        MontyObject::Set(set) | MontyObject::FrozenSet(set) => {
            let mut sorted = items(set)?;
            sorted.sort_by(Value::order);
            sorted.into()
        }
        MontyObject::Dict(pairs) => {
            if depth >= MAX_DEPTH {
                return Err(format!("data nested deeper than {MAX_DEPTH} levels"));
            }
            let mut members = Object::with_capacity(pairs.len());
            for (key, value) in pairs {
                members.insert(key_text(key)?, at_depth(value, depth + 1)?);
            }
            members.into()
        }
        MontyObject::Cycle(..) => return Err("data that contains itself".into()),
        other => return Err(of_type(other)),
    })
}

/// Keys as `json.dumps` writes them.
fn key_text(key: &MontyObject) -> Result<Arc<str>, String> {
    Ok(match key {
        MontyObject::String(text) => text.as_str().into(),
        MontyObject::Bool(b) => b.to_string().into(),
        MontyObject::None => "null".into(),
        MontyObject::Int(_) | MontyObject::BigInt(_) => key.py_repr().into(),
        MontyObject::Float(n) if n.is_finite() => key.py_repr().into(),
        other => return Err(format!("a dictionary with a key {}", of_type(other))),
    })
}

fn of_type(object: &MontyObject) -> String {
    let name = match object {
        MontyObject::ClassInstance(instance) => instance.class_type.name.clone(),
        MontyObject::Repr(repr) if repr.starts_with("<function") => "function".into(),
        MontyObject::Repr(repr) => format!("object ({repr})"),
        other => other.type_name().to_owned(),
    };
    format!("of type {name}")
}

/// What a loop's `until` function says by returning this: a tuple is stop and reason, all else whether it is true.
///
/// # Errors
/// The tuple is empty.
pub(super) fn verdict(object: &MontyObject) -> Result<Verdict, String> {
    let (MontyObject::Tuple(parts) | MontyObject::NamedTuple { values: parts, .. }) = object else {
        return Ok(Verdict {
            stop: is_true(object),
            reason: String::new(),
        });
    };
    let stop = parts
        .first()
        .ok_or("an empty tuple, which says neither stop nor go on")?;
    let reason = parts.get(1).filter(|reason| is_true(reason));
    Ok(Verdict {
        stop: is_true(stop),
        reason: reason.map(MontyObject::to_string).unwrap_or_default(),
    })
}

fn is_true(object: &MontyObject) -> bool {
    match object {
        MontyObject::None => false,
        MontyObject::Bool(b) => *b,
        MontyObject::Int(n) => *n != 0,
        MontyObject::BigInt(n) => *n != BigInt::ZERO,
        MontyObject::Float(n) => *n != 0.0,
        MontyObject::String(text) => !text.is_empty(),
        MontyObject::Bytes(bytes) => !bytes.is_empty(),
        MontyObject::List(items)
        | MontyObject::Tuple(items)
        | MontyObject::Set(items)
        | MontyObject::FrozenSet(items)
        | MontyObject::NamedTuple { values: items, .. } => !items.is_empty(),
        MontyObject::Dict(pairs) => !pairs.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>()
                .prop_filter("JSON has finite numbers", |n| n.is_finite())
                .prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((".{0,4}", inner), 0..4).prop_map(|members| {
                    let named = members.into_iter().map(|(key, value)| (key.into(), value));
                    Value::from(named.collect::<Object>())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn data_that_a_function_returns_as_it_got_it_is_the_same(value in json()) {
            prop_assert_eq!(to_json(&to_python(&value)), Ok(value));
        }
    }

    #[test]
    fn what_json_cannot_hold_is_named() {
        for (object, words) in [
            (MontyObject::Float(f64::NAN), "the float nan"),
            (MontyObject::Float(f64::INFINITY), "the float inf"),
            (MontyObject::Bytes(vec![1]), "of type bytes"),
            (
                MontyObject::BigInt(BigInt::from(u64::MAX) + 1),
                "an int beyond 64 bits",
            ),
            (
                MontyObject::Cycle(1, "[...]".into()),
                "data that contains itself",
            ),
        ] {
            assert_eq!(
                to_json(&MontyObject::List(vec![object])).unwrap_err(),
                words
            );
        }
    }

    #[test]
    fn a_tuple_is_a_verdict_with_a_reason_and_a_list_is_just_true() {
        let text = |t: &str| MontyObject::String(t.into());
        let tuple = MontyObject::Tuple(vec![MontyObject::Int(0), text("shorter"), text("ignored")]);
        let verdict_of = |object| verdict(&object).unwrap();
        assert_eq!(verdict_of(tuple).reason, "shorter");
        assert!(verdict_of(MontyObject::List(vec![MontyObject::Bool(false)])).stop);
        assert!(!verdict_of(MontyObject::Tuple(vec![MontyObject::None])).stop);
        assert!(verdict(&MontyObject::Tuple(Vec::new())).is_err());
    }
}
