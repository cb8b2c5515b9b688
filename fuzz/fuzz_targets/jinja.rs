//! A Message with any text in it: Jinja is rendered within its limits, or the node says why not.
#![no_main]

use std::sync::{Arc, LazyLock};

use easel_runtime::{Ending, Engine, Input};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// Steps a rendering may take, and bytes of output that are one.
const MOST: usize = 100_000 * 64;

static ENGINE: LazyLock<Arc<Engine>> =
    LazyLock::new(|| easel_fuzz::scripted(json!({})).expect("an empty script is one"));

fuzz_target!(|text: &str| {
    let mut canvas = easel_fuzz::row(&[
        ("begin", "Begin", json!({})),
        ("Message:M", "Message", json!({"content": [text]})),
    ]);
    canvas["globals"] = json!({"env.data": {"z": [1, 2.5, null, {"a": "b"}], "é": "<x>"}});
    let workflow = easel_fuzz::load(&ENGINE, &canvas);
    let turn = easel_fuzz::Turn::first(&ENGINE, &workflow, Input::from("{{ 1 }} {% raw %}"));
    // A reference may insert what was said once more for each of its bytes.
    assert!(turn.said.len() <= MOST + 128 * text.len());
    match turn.ending {
        Ok(Ending::Finished) | Err(_) => {}
        Ok(Ending::Failed { fault, .. }) => assert!(!fault.message.is_empty()),
        other => panic!("{other:?}"),
    }
});
