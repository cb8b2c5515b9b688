//! What a model writes where an object was asked for: read leniently, and held to its schema.
#![no_main]

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, FinishReason, ModelError, ModelEvent, ModelInfo,
};
use easel_runtime::{Engine, Input, Workflow};
use futures::StreamExt;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value as Json, json};

/// A model that answers with what it was last given.
#[derive(Default)]
struct Puppet(Mutex<String>);

impl ChatModel for Puppet {
    fn describe(&self, _: &str) -> Result<ModelInfo, ModelError> {
        Ok(ModelInfo::default())
    }

    fn chat(&self, _: ChatRequest) -> ChatStream {
        let text = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let answer = [
            Ok(ModelEvent::Text(text)),
            Ok(ModelEvent::Finish(FinishReason::Stop)),
        ];
        futures::stream::iter(answer).boxed()
    }
}

static PUPPET: LazyLock<Arc<Puppet>> = LazyLock::new(Arc::default);

static ENGINE: LazyLock<Arc<Engine>> = LazyLock::new(|| {
    let engine = easel_fuzz::engine().model(PUPPET.clone()).build();
    engine.expect("the components that come with Easel fit together")
});

static WORKFLOW: LazyLock<Arc<Workflow>> = LazyLock::new(|| {
    let schema = json!({"type": "object", "properties": {"a": {}}});
    let prompts = json!([{"role": "user", "content": "Go"}]);
    let params = json!({"llm_id": "m", "prompts": prompts, "outputs": {"structured": schema}});
    let nodes = [("begin", "Begin", json!({})), ("LLM:A", "LLM", params)];
    easel_fuzz::load(&ENGINE, &easel_fuzz::row(&nodes))
});

fuzz_target!(|text: &str| {
    text.clone_into(&mut PUPPET.0.lock().unwrap_or_else(PoisonError::into_inner));
    let turn = easel_fuzz::Turn::first(&ENGINE, &WORKFLOW, Input::from("Hi"));
    let structured = &turn.outputs["LLM:A"]["structured"];
    assert!(
        structured.is_null() || structured.is_object(),
        "{structured}"
    );
    // Strict JSON is what it says; `</think>` in it would end thoughts.
    if let Ok(object @ Json::Object(_)) = serde_json::from_str::<Json>(text)
        && !text.contains("</think>")
    {
        assert_eq!(*structured, object);
    }
});
