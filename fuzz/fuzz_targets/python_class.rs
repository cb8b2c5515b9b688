//! A Python file from anywhere: the class `A` in it gives a schema or a reason.
#![no_main]

use easel_graph::class::schema_of_class;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(schema) = schema_of_class(text, "A") {
        assert!(schema.is_object());
    }
});
