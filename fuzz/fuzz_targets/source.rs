//! The walk over JSON text agrees with `serde_json`, and knows where everything stands.
#![no_main]

use easel_canvas::pointer::Pointer;
use easel_canvas::source::{Limits, Source};
use easel_runtime::Value;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let read = Source::read(bytes, Limits::default());
    let parsed = serde_json::from_slice::<Value>(text);
    let (source, value) = match (read, parsed) {
        (Ok(read), Ok(_)) => read,
        (Ok(_), Err(error)) => panic!("{error}"),
        (Err(error), Ok(value)) => {
            assert!(value.depth() > Limits::default().depth, "{error}");
            return;
        }
        (Err(error), Err(_)) => {
            let at = error.position().unwrap_or_default();
            assert!(at.offset + at.len <= bytes.len(), "{error}");
            return;
        }
    };
    everything_is_found(&source, &value, Pointer::root(), &mut 200);
    for twice in source.duplicate_keys() {
        assert!(twice.first.offset < twice.again.offset, "{twice:?}");
    }
});

/// Finds what is in a value, up to `budget` values: each look-up is a walk over the text.
fn everything_is_found(source: &Source, value: &Value, place: Pointer, budget: &mut u32) {
    let Some(rest) = budget.checked_sub(1) else {
        return;
    };
    *budget = rest;
    let at = source.locate(&place).expect("every value has a place");
    let there = &source.text()[at.offset..at.offset + at.len];
    let found: Value = serde_json::from_str(there).expect("a value stands there");
    assert_eq!(found.to_json_text(), value.to_json_text());
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                everything_is_found(source, item, place.clone().index(at), budget);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter() {
                everything_is_found(source, member, place.clone().key(name), budget);
            }
        }
        _ => {}
    }
}
