//! Models behind circuit breakers.

use std::sync::Arc;

use easel_models::{
    ChatModel, ChatRequest, ChatStream, Credential, ModelError, ModelEvent, ModelInfo,
};
use futures::{StreamExt, stream};

use super::{Breaker, Pass};

/// Models whose providers have circuits.
pub(crate) struct BreakingModel {
    pub model: Arc<dyn ChatModel>,
    pub breaker: Arc<Breaker>,
}

impl ChatModel for BreakingModel {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        self.model.describe(model)
    }

    fn credential(&self, model: &str) -> Option<Credential> {
        self.model.credential(model)
    }

    fn provider(&self, model: &str) -> Option<Arc<str>> {
        self.model.provider(model)
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let Some(provider) = self.model.provider(&request.model) else {
            return self.model.chat(request);
        };
        match self.breaker.admit(&format!("provider:{provider}")) {
            Ok(pass) => watched(self.model.chat(request), pass),
            Err(wait) => {
                let error = ModelError::CircuitOpen { provider, wait };
                stream::iter([Err(error)]).boxed()
            }
        }
    }
}

/// An answer, of which the circuit hears how it ends.
fn watched(answer: ChatStream, pass: Pass) -> ChatStream {
    let state = (answer, Some(pass));
    let next = |(mut answer, mut pass): (ChatStream, Option<Pass>)| async move {
        let event = answer.next().await;
        match (&event, pass.take()) {
            // Whoever has it all may not ask for more.
            (None | Some(Ok(ModelEvent::Finish(_))), Some(good)) => good.succeeded(),
            (Some(Err(error)), Some(bad)) if is_ill(error) => bad.failed(),
            // It answered, with something that is no good.
            (Some(Err(_)), Some(good)) => good.succeeded(),
            (Some(Ok(_)), under_way) => pass = under_way,
            (_, None) => {}
        }
        event.map(|event| (event, (answer, pass)))
    };
    stream::unfold(state, next).boxed()
}

/// Whether an error shows that the provider is not well.
fn is_ill(error: &ModelError) -> bool {
    match error {
        ModelError::Connect { .. }
        | ModelError::Timeout { .. }
        | ModelError::RateLimited { .. }
        | ModelError::Broken { .. } => true,
        ModelError::Refused { status, .. } => *status >= 500,
        ModelError::Failed { passing, .. } => *passing,
        _ => false,
    }
}
