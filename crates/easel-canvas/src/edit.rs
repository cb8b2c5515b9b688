//! Changing a value in place. What other documents share is copied first.

use std::sync::Arc;

use easel_core::{Object, Value};

/// The members of an object.
pub(crate) fn members(value: &mut Value) -> Option<&mut Object> {
    match value {
        Value::Object(members) => Some(Arc::make_mut(members)),
        _ => None,
    }
}

/// The items of a list.
pub(crate) fn items(value: &mut Value) -> Option<&mut Vec<Value>> {
    match value {
        Value::Array(items) => Some(Arc::make_mut(items)),
        _ => None,
    }
}

/// Changes the object under that name; anything else that stands there makes way for an empty one.
pub(crate) fn object_at(members: &mut Object, name: &str, change: impl FnOnce(&mut Object)) {
    let value = members.entry(name.into()).or_default();
    let mut object = match std::mem::take(value) {
        Value::Object(object) => object,
        _ => Arc::default(),
    };
    change(Arc::make_mut(&mut object));
    *value = Value::Object(object);
}

/// Puts a value under a new name at the place of the old one; a value that the new name has is lost.
pub(crate) fn rename(members: &mut Object, old: &str, new: &str) {
    let Some((at, _, value)) = members.shift_remove_full(old) else {
        return;
    };
    members.shift_remove(new);
    members.shift_insert(at.min(members.len()), new.into(), value);
}
