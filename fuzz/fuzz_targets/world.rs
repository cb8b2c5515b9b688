//! A scripted world (`--world`, a case's `llm.json`), asked by a canvas with one of everything that goes out.
#![no_main]

use std::sync::LazyLock;

use easel_runtime::{Ending, Input};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::{Value as Json, json};

static CANVAS: LazyLock<Json> = LazyLock::new(|| {
    let prompts = json!([{"role": "user", "content": "{sys.query}"}]);
    let database =
        json!({"sql": "SELECT 1", "database": "d", "host": "h", "username": "u", "password": "p"});
    let code = json!({"lang": "python", "script": "def main(a): return a", "arguments": {"a": "sys.query"}});
    let tools = json!([
        {"component_name": "ExeSQL", "name": "Sql", "params": database},
        {"component_name": "CodeExec", "name": "Code", "params": {}},
        {"component_name": "TavilySearch", "name": "Tavily", "params": {}},
    ]);
    easel_fuzz::row(&[
        ("begin", "Begin", json!({})),
        (
            "Retrieval:R",
            "Retrieval",
            json!({"query": "{sys.query}", "kb_ids": ["k"], "exception_default_value": "x"}),
        ),
        ("ExeSQL:S", "ExeSQL", database.clone()),
        ("CodeExec:C", "CodeExec", code),
        (
            "Invoke:I",
            "Invoke",
            json!({"url": "http://a.example/", "method": "get"}),
        ),
        (
            "LLM:L",
            "LLM",
            json!({"llm_id": "m", "prompts": prompts, "exception_default_value": "x"}),
        ),
        (
            "Categorize:G",
            "Categorize",
            json!({"llm_id": "m", "query": "sys.query", "category_description": {"A": {"to": ["Agent:A"]}}}),
        ),
        (
            "Agent:A",
            "Agent",
            json!({"llm_id": "m", "prompts": prompts, "tools": tools, "max_rounds": 3}),
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Agent:A@content} {CodeExec:C@result} {ExeSQL:S@json}"]}),
        ),
    ])
});

fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    match seed % 8 {
        0 => fuzzer_mutate(data, size, most),
        _ => easel_fuzz::tree::mutate(data, size, most, seed)
            .unwrap_or_else(|| fuzzer_mutate(data, size, most)),
    }
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(script) = serde_json::from_slice::<Json>(bytes) else {
        return;
    };
    match easel_fuzz::scripted(script) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(engine) => {
            let workflow = easel_fuzz::load(&engine, &CANVAS);
            let turn = easel_fuzz::Turn::first(&engine, &workflow, Input::from("Hi"));
            let ended = matches!(turn.ending, Ok(Ending::Finished | Ending::Failed { .. }));
            assert!(ended, "{:?}", turn.ending);
        }
    }
});
