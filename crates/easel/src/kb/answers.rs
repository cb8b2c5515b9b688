//! Models whose answers about a document are kept until it is there: what broke off goes on without asking again.

use std::sync::Arc;

use easel_knowledge::{Pipeline, fingerprint};
use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, Credential, FinishReason, ModelError, ModelEvent, ModelInfo,
};
use easel_runtime::tools::files::FileDescriptor;
use futures::{StreamExt, stream};

/// A model that is asked about one document.
pub struct Remembering {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// Which model that is: answers of another do not count.
    pub named: String,
    /// Where answers are kept.
    pub pipeline: Pipeline,
    /// The document.
    pub document: FileDescriptor,
}

impl ChatModel for Remembering {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        self.model.describe(model)
    }

    fn credential(&self, model: &str) -> Option<Credential> {
        self.model.credential(model)
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let known_by = self.known_by(&request);
        let (model, pipeline) = (self.model.clone(), self.pipeline.clone());
        let document = self.document.clone();
        let answered = async move {
            // What cannot be looked up is asked again, and what cannot be kept is lost: neither is worth a failure.
            if let Ok(Some(answer)) = pipeline.answer(&document, &known_by).await {
                return remembered(answer);
            }
            let mut events = model.chat(request);
            let (mut seen, mut text, mut whole) = (Vec::new(), String::new(), false);
            while let Some(event) = events.next().await {
                match &event {
                    Ok(ModelEvent::Text(more)) => text.push_str(more),
                    Ok(ModelEvent::Finish(reason)) => whole = *reason == FinishReason::Stop,
                    _ => {}
                }
                seen.push(event);
            }
            if whole && !text.is_empty() {
                let _ = pipeline.keep_answer(&document, &known_by, &text).await;
            }
            stream::iter(seen).boxed()
        };
        stream::once(answered).flatten().boxed()
    }
}

impl Remembering {
    /// What a request is known by: the model and all that is said to it.
    fn known_by(&self, request: &ChatRequest) -> Vec<u8> {
        let said = serde_json::to_vec(&(
            &self.named,
            &request.model,
            &request.messages,
            &request.sampling,
            &request.thinking,
        ));
        fingerprint(&said.unwrap_or_default())
    }
}

fn remembered(answer: String) -> ChatStream {
    let events = [
        Ok(ModelEvent::Text(answer)),
        Ok(ModelEvent::Finish(FinishReason::Stop)),
    ];
    stream::iter(events).boxed()
}
