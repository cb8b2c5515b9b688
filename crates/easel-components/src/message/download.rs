//! Files named in a message: descriptors with `doc_id`, `filename` and `mime_type` (spec/canvas-components §2.3).

use std::sync::Arc;

use easel_core::{Object, Value};

/// What makes an object a descriptor.
const MEMBERS: [&str; 3] = ["doc_id", "filename", "mime_type"];

/// The member of a descriptor that asks for it to be shown in the text as well. It is no part of the download.
const SHOWN: &str = "include_download_info_in_content";

/// Files that a value names.
pub(super) struct Found {
    /// Their descriptors.
    pub files: Vec<Value>,
    /// What stands in the text for them.
    pub text: String,
}

/// The files a value names: a descriptor, a list of nothing else, or JSON text of either. `None`: it names none.
pub(super) fn found_in(value: &Value) -> Option<Found> {
    match value {
        Value::Object(members) => {
            let (file, shown) = descriptor(members)?;
            let text = match shown {
                true => file.to_string(),
                false => String::new(),
            };
            Some(Found {
                files: vec![file],
                text,
            })
        }
        Value::Array(items) if !items.is_empty() => {
            let described = items.iter().map(|item| match item {
                Value::Object(members) => descriptor(members),
                _ => None,
            });
            let described: Vec<(Value, bool)> = described.collect::<Option<_>>()?;
            let shown = described.iter().filter(|(_, shown)| *shown);
            let shown: Vec<Value> = shown.map(|(file, _)| file.clone()).collect();
            let text = match shown.is_empty() {
                true => String::new(),
                false => Value::from(shown).to_string(),
            };
            Some(Found {
                files: described.into_iter().map(|(file, _)| file).collect(),
                text,
            })
        }
        Value::String(text) => {
            let json = text.trim_start().starts_with(['{', '['])
                && MEMBERS.iter().all(|name| text.contains(name));
            let parsed: Value = json.then(|| serde_json::from_str(text).ok())??;
            match parsed {
                Value::String(_) => None,
                parsed => found_in(&parsed),
            }
        }
        _ => None,
    }
}

/// The descriptor without its flag, and the flag.
fn descriptor(members: &Arc<Object>) -> Option<(Value, bool)> {
    let whole = MEMBERS
        .iter()
        .all(|name| members.get(*name).is_some_and(Value::is_truthy));
    if !whole {
        return None;
    }
    let shown = members.get(SHOWN).is_some_and(Value::is_truthy);
    if !members.contains_key(SHOWN) {
        return Some((Value::Object(members.clone()), false));
    }
    let mut file = members.as_ref().clone();
    file.shift_remove(SHOWN);
    Some((Value::from(file), shown))
}
