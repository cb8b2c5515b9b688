//! A Python file from anywhere, read without running it.
#![no_main]

use easel_sandbox::{Place, Source, SourceError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let inside = |place: Place| {
        let lines = text.split('\n').count();
        assert!(
            place.column > 0 && (1..=lines).contains(&place.line),
            "{place:?}"
        );
    };
    let source = match Source::read("helpers.py", text) {
        Ok(source) => source,
        Err(SourceError::Syntax { place, .. } | SourceError::TooDeep { place, .. }) => {
            return inside(place);
        }
        Err(SourceError::TooLarge { .. }) => return,
    };
    for need in source.needs() {
        inside(need.place);
        assert!(!need.what.is_empty());
    }
    for import in source.imports() {
        inside(import.place);
    }
    for name in source.callables() {
        assert!(source.defines(name) && !source.is_data(name), "{name}");
    }
});
