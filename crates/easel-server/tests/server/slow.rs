//! A model that takes its time.

use std::time::Duration;

use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, FinishReason, ModelError, ModelEvent, ModelInfo,
};
use futures::StreamExt;

/// Says these words one after the other, with a pause before each.
#[derive(Clone, Debug)]
pub struct SlowModel {
    pub words: Vec<String>,
    pub pause: Duration,
}

impl SlowModel {
    /// Counts to that number.
    pub fn counting(to: usize, pause: Duration) -> SlowModel {
        SlowModel {
            words: (1..=to).map(|n| format!("{n} ")).collect(),
            pause,
        }
    }

    /// What it says in all.
    pub fn text(&self) -> String {
        self.words.concat()
    }
}

impl ChatModel for SlowModel {
    fn describe(&self, _: &str) -> Result<ModelInfo, ModelError> {
        Ok(ModelInfo::default())
    }

    fn chat(&self, _: ChatRequest) -> ChatStream {
        let pause = self.pause;
        let words = self.words.clone().into_iter().map(ModelEvent::Text);
        let events = words.chain([ModelEvent::Finish(FinishReason::Stop)]);
        let slowly = futures::stream::iter(events).then(move |event| async move {
            tokio::time::sleep(pause).await;
            Ok(event)
        });
        slowly.boxed()
    }
}
