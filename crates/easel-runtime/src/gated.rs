//! Models behind a run's gate.

use std::sync::Arc;

use easel_models::{ChatModel, ChatRequest, ChatStream, Credential, ModelError, ModelInfo};
use easel_secrets::{Gate, Sink, SinkKind};

use crate::clock::Clock;
use crate::masking;

/// A model to which no secret goes but the key of its provider, and that is on the receipt.
pub(crate) struct GatedModel {
    pub model: Arc<dyn ChatModel>,
    pub gate: Gate,
    pub clock: Arc<dyn Clock>,
}

impl ChatModel for GatedModel {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        self.model.describe(model)
    }

    fn credential(&self, model: &str) -> Option<Credential> {
        self.model.credential(model)
    }

    fn chat(&self, mut request: ChatRequest) -> ChatStream {
        if let Some(Credential { provider, secret }) = self.model.credential(&request.model) {
            let door = self.gate.door(Sink {
                time: self.clock.now(),
                ..Sink::new(SinkKind::Model, provider, request.caller.component.clone())
            });
            // The provider fetches the key itself, and says so if it cannot be had.
            let _ = door.secret(&secret);
        }
        masking::request(&self.gate, &mut request);
        self.model.chat(request)
    }
}
