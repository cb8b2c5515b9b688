//! Paths into data: the path in the first line, the value in the second, what is put there in the third.
#![no_main]

use easel_runtime::Value;
use easel_runtime::core::reference::Path;
use easel_runtime::core::value::MAX_DEPTH;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let path = Path::parse(line());
    let (mut root, value) = (value(line()), value(line()));
    assert_eq!(
        Path::parse(&path.to_string()),
        path,
        "a path reads as itself"
    );
    let _ = path.walk(&root);
    let before = root.clone();
    match path.set(&mut root, value.clone()) {
        Ok(()) => {
            assert_eq!(path.walk(&root), Some(value), "what was put there is there");
            assert!(root.depth() <= 2 * MAX_DEPTH);
        }
        Err(_) => assert_eq!(root, before, "a refusal changes nothing"),
    }
});

/// JSON, else the text.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
