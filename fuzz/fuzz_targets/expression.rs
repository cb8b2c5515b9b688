//! Expressions of graphs: the expression in the first line, what its names stand for in the second.
#![no_main]

use easel_runtime::Value;
use easel_runtime::core::bind::{Inputs, ReadId, Resolved};
use easel_runtime::core::expression::{MAX_ELEMENTS, MAX_TEXT, parse};
use easel_runtime::core::reference::graph::Binding;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (text, value) = text.split_once('\n').unwrap_or((text, ""));
    let parsed = match parse(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(text.get(error.span).is_some(), "an error has its place");
            return;
        }
    };
    for chain in parsed.chains() {
        assert!(text.get(chain.span.clone()).is_some(), "a name has its place");
    }
    let expression = parsed.bind(|_| Binding::Read {
        read: ReadId(0),
        used: 0,
    });
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    let inputs = Inputs([Resolved::Value(value)].into());
    let truth = expression.truth(&inputs);
    match expression.evaluate(&inputs) {
        Ok(value) => {
            assert_eq!(truth, Ok(value.is_truthy()), "a value has one truth");
            let written = value.to_json_text();
            assert!(written.len() <= 8 * (MAX_TEXT + 32 * MAX_ELEMENTS));
            assert!(serde_json::from_str::<Value>(&written).is_ok(), "what is written can be read again");
        }
        Err(error) => assert!(text.get(error.span).is_some(), "an error has its place"),
    }
});
