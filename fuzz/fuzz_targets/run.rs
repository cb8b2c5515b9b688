//! A canvas that the check lets pass: run with models and tools that answer, it comes to an end.
#![no_main]

use std::sync::{Arc, LazyLock};

use easel_runtime::{Engine, Input};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::json;

static ENGINE: LazyLock<Arc<Engine>> = LazyLock::new(|| {
    let script = json!({"default_reply": "{\"a\": [1, \"two\"]}"});
    easel_fuzz::scripted(script).expect("the script is one")
});

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    match seed % 8 {
        0 => fuzzer_mutate(data, size, most),
        _ => easel_fuzz::tree::mutate(data, size, most, seed)
            .unwrap_or_else(|| fuzzer_mutate(data, size, most)),
    }
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(workflow) = ENGINE.load(bytes) else {
        return;
    };
    let refused = workflow.refusals().next().is_some();
    let turn = easel_fuzz::Turn::first(&ENGINE, &Arc::new(workflow), Input::from("Hi"));
    assert_eq!(turn.ending.is_err(), refused, "{:?}", turn.ending);
});
