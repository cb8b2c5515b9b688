//! Text that spells a value in Python or JSON, through DataOperations.
#![no_main]

use std::sync::{Arc, LazyLock};

use easel_runtime::{Ending, Engine, Input, Value, Workflow};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value as Json, json};

static ENGINE: LazyLock<Arc<Engine>> =
    LazyLock::new(|| easel_fuzz::scripted(json!({})).expect("an empty script is one"));

static WORKFLOW: LazyLock<Arc<Workflow>> = LazyLock::new(|| {
    let params = json!({"query": ["sys.query"], "operations": "literal_eval"});
    let nodes = [
        ("begin", "Begin", json!({})),
        ("DataOperations:D", "DataOperations", params),
    ];
    easel_fuzz::load(&ENGINE, &easel_fuzz::row(&nodes))
});

fuzz_target!(|text: &str| {
    let input = Input {
        query: Value::from(json!({"text": text})),
        ..Input::default()
    };
    let turn = easel_fuzz::Turn::first(&ENGINE, &WORKFLOW, input);
    assert!(
        matches!(turn.ending, Ok(Ending::Finished)),
        "{:?}",
        turn.ending
    );
    let read = &turn.outputs["DataOperations:D"]["result"][0]["text"];
    match serde_json::from_str::<Json>(text) {
        Ok(plain @ (Json::Array(_) | Json::Object(_) | Json::Bool(_) | Json::Null)) => {
            assert_eq!(*read, plain, "JSON reads as what it is");
        }
        _ if read.is_string() || read.is_number() => {}
        _ => assert!(text.len() >= 2, "{text:?} reads as {read}"),
    }
});
