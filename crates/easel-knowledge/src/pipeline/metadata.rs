//! What is to be known of a document because of its pieces.

use std::sync::Arc;

use easel_core::{Object, Value};
use easel_tools::ingestion::Passage;
use indexmap::IndexMap;

/// Fields of a document that come from its pieces at most.
const FIELDS: usize = 100;

/// Values of a field at most.
const VALUES: usize = 100;

/// Characters of a value that are kept.
const LONGEST: usize = 200;

/// The metadata of all pieces together: of a field with one value that value, of one with several a list of them.
pub(super) fn merged(passages: &[Passage]) -> Object {
    let mut fields: IndexMap<Arc<str>, Vec<Value>> = IndexMap::new();
    for passage in passages {
        for (name, value) in &passage.metadata {
            if fields.len() < FIELDS || fields.contains_key(name) {
                add(fields.entry(name.clone()).or_default(), value);
            }
        }
    }
    let fields = fields.into_iter().filter_map(|(name, mut values)| {
        let value = match values.len() {
            0 => return None,
            1 => values.swap_remove(0),
            _ => Value::from(values),
        };
        Some((name, value))
    });
    fields.collect()
}

/// Adds a value to those of a field; of a list its items. Searches compare no objects, so none is kept.
fn add(values: &mut Vec<Value>, value: &Value) {
    match value {
        Value::Null | Value::Object(_) => {}
        Value::Array(items) => items.iter().for_each(|item| add(values, item)),
        Value::String(text) => {
            let text: String = text.trim().chars().take(LONGEST).collect();
            if !text.is_empty() {
                add_once(values, Value::from(text));
            }
        }
        other => add_once(values, other.clone()),
    }
}

fn add_once(values: &mut Vec<Value>, value: Value) {
    if values.len() < VALUES && !values.contains(&value) {
        values.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_of_several_pieces_become_a_list() {
        let passage = |metadata| Passage {
            metadata: serde_json::from_value(metadata).unwrap(),
            ..Passage::default()
        };
        let merged = merged(&[
            passage(
                json!({"author": "Ada", "year": 1843, "places": ["London", "Turin"], "more": {"a": 1}}),
            ),
            passage(json!({"author": "Ada", "places": "Paris", "none": null, "blank": " "})),
        ]);
        assert_eq!(
            Value::from(merged).to_json(),
            json!({"author": "Ada", "year": 1843, "places": ["London", "Turin", "Paris"]})
        );
    }
}
