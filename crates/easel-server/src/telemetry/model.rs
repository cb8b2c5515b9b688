//! A model whose calls are counted, and are spans of the turns that make them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Instant, SystemTime};

use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, Credential, FinishReason, ModelError, ModelEvent,
    ModelInfo, Sampling, Usage,
};
use futures::Stream;

use super::{Metrics, TURN, Turn};

/// What a call that nobody waited for came to.
const DROPPED: &str = "cancelled";

struct Counted {
    model: Arc<dyn ChatModel>,
    metrics: Arc<Metrics>,
}

/// Watches a model.
pub(super) fn watched(model: Arc<dyn ChatModel>, metrics: Arc<Metrics>) -> Arc<dyn ChatModel> {
    Arc::new(Counted { model, metrics })
}

impl ChatModel for Counted {
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
        let credential = self.model.credential(&request.model);
        let call = ModelCall {
            model: request.model.clone(),
            provider: credential.map(|credential| credential.provider),
            component: request.caller.component.clone(),
            sampling: request.sampling,
            began: SystemTime::now(),
            usage: None,
        };
        let seen = Seen {
            metrics: self.metrics.clone(),
            turn: TURN.try_with(Turn::clone).ok(),
            clock: Instant::now(),
            call: Some(call),
            stream: self.model.chat(request),
        };
        Box::pin(seen)
    }
}

/// A call of a model.
pub(super) struct ModelCall {
    /// The model as the workflow writes it.
    pub model: Arc<str>,
    /// Its provider, if it is known.
    pub provider: Option<Arc<str>>,
    /// The component that asked; an agent that is another's tool is `Parent-->Name`.
    pub component: Arc<str>,
    /// How the answer was to be drawn.
    pub sampling: Sampling,
    /// When it began.
    pub began: SystemTime,
    /// What it used, if the provider told.
    pub usage: Option<Usage>,
}

/// An answer that is looked at as it passes.
struct Seen {
    metrics: Arc<Metrics>,
    turn: Option<Turn>,
    clock: Instant,
    call: Option<ModelCall>,
    stream: ChatStream,
}

impl Seen {
    /// The call is over: with a reason of the model's, or with the code of an error.
    fn over(&mut self, how: Result<&FinishReason, &str>) {
        let Some(call) = self.call.take() else {
            return;
        };
        let outcome = match how {
            Ok(_) => "ok",
            Err(code) => code,
        };
        self.metrics
            .model_called(&call.model, outcome, self.clock.elapsed());
        if let Some(usage) = call.usage {
            self.metrics
                .model_used(&call.model, usage.input_tokens, usage.output_tokens);
        }
        if let Some(spans) = self.turn.as_ref().and_then(|turn| turn.0.spans.as_ref()) {
            spans.called(call, how);
        }
    }
}

impl Stream for Seen {
    type Item = Result<ModelEvent, ModelError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let seen = self.get_mut();
        let polled = seen.stream.as_mut().poll_next(cx);
        match &polled {
            Poll::Ready(Some(Ok(ModelEvent::Usage(usage)))) => {
                if let Some(call) = &mut seen.call {
                    call.usage = Some(*usage);
                }
            }
            Poll::Ready(Some(Ok(ModelEvent::Finish(reason)))) => seen.over(Ok(reason)),
            Poll::Ready(Some(Err(error))) => seen.over(Err(error.code())),
            _ => {}
        }
        polled
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.over(Err(DROPPED));
    }
}
