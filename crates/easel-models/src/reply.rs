//! What a model answers: the events of the stream and the whole they add up to.

use std::collections::BTreeMap;
use std::sync::Arc;

use easel_core::Value;
use futures::{Stream, StreamExt};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::chat::{Content, Message, Role, ToolCall};
use crate::error::ModelError;

/// One thing that comes in while a model answers.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More of the answer. Never empty.
    Text(String),
    /// More of the reasoning that goes before it. Never empty.
    Reasoning(String),
    /// A call to a tool, or more of one.
    ToolCall(ToolCallDelta),
    /// What the provider wants back with this message when the conversation goes on; the last one counts.
    ProviderState(Value),
    /// What was used; the last one counts.
    Usage(Usage),
    /// The answer is complete. Always the last event.
    Finish(FinishReason),
}

/// A piece of a tool call. Pieces with the same index belong to one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCallDelta {
    /// The call's position among the calls of this answer, from 0.
    pub index: u32,
    /// Its id, in one of its pieces.
    pub id: Option<String>,
    /// The tool's name, in one of its pieces.
    pub name: Option<String>,
    /// More of its arguments, to be joined as text.
    pub arguments: String,
}

/// What a request used, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Of the prompt, cached ones included.
    pub input_tokens: u64,
    /// Of the answer, reasoning included.
    pub output_tokens: u64,
    /// Those of the prompt that came from the provider's cache.
    pub cached_tokens: u64,
    /// Those of the answer that were reasoning, where the provider tells.
    pub reasoning_tokens: u64,
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FinishReason {
    /// The model was done.
    #[default]
    Stop,
    /// The answer reached its limit and is cut off.
    Length,
    /// The model waits for its tool calls.
    ToolCalls,
    /// The provider held the answer back.
    ContentFilter,
    /// Another reason, as the provider words it.
    Other(Arc<str>),
}

impl FinishReason {
    /// The reason as the OpenAI chat API writes it.
    pub fn as_str(&self) -> &str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Other(reason) => reason,
        }
    }
}

impl From<&str> for FinishReason {
    /// Reads what the OpenAI chat API writes.
    fn from(reason: &str) -> FinishReason {
        match reason {
            "stop" => FinishReason::Stop,
            "length" => FinishReason::Length,
            "tool_calls" => FinishReason::ToolCalls,
            "content_filter" => FinishReason::ContentFilter,
            other => FinishReason::Other(other.into()),
        }
    }
}

impl Serialize for FinishReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FinishReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FinishReason, D::Error> {
        Ok(String::deserialize(deserializer)?.as_str().into())
    }
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The answer.
    pub text: String,
    /// The reasoning before it; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The calls it makes, in order; every one has an id that is not blank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What was used, if the provider told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// What the provider wants back with this message; [`ChatReply::into_message`] passes it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_state: Option<Value>,
}

impl ChatReply {
    /// The reply as a message of the conversation. Beside tool calls an empty text is no content.
    pub fn into_message(self) -> Message {
        let content = match self.text.is_empty() && !self.tool_calls.is_empty() {
            true => Content::Empty,
            false => Content::Text(self.text.into()),
        };
        Message {
            role: Role::Assistant,
            content,
            tool_calls: self.tool_calls,
            tool_call_id: None,
            provider_state: self.provider_state,
        }
    }
}

/// Adds events up to a [`ChatReply`], for callers that look at them as they pass.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    reply: ChatReply,
    calls: BTreeMap<u32, CallPieces>,
    finished: bool,
}

#[derive(Clone, Debug, Default)]
struct CallPieces {
    id: String,
    name: String,
    arguments: String,
}

impl Collector {
    /// Takes the next event.
    pub fn push(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Text(delta) => self.reply.text.push_str(&delta),
            ModelEvent::Reasoning(delta) => self.reply.reasoning.push_str(&delta),
            ModelEvent::ToolCall(delta) => {
                let call = self.calls.entry(delta.index).or_default();
                if let Some(id) = delta.id {
                    call.id = id;
                }
                if let Some(name) = delta.name {
                    call.name = name;
                }
                call.arguments.push_str(&delta.arguments);
            }
            ModelEvent::ProviderState(state) => self.reply.provider_state = Some(state),
            ModelEvent::Usage(usage) => self.reply.usage = Some(usage),
            ModelEvent::Finish(reason) => {
                self.reply.finish_reason = reason;
                self.finished = true;
            }
        }
    }

    /// The answer so far.
    pub fn text(&self) -> &str {
        &self.reply.text
    }

    /// The whole answer; `None` if no [`ModelEvent::Finish`] came. A call without an id is named `call_` and its index.
    pub fn finish(self) -> Option<ChatReply> {
        if !self.finished {
            return None;
        }
        let tool_calls = self.calls.into_iter().map(|(index, call)| ToolCall {
            id: match call.id.is_empty() {
                true => format!("call_{index}").into(),
                false => call.id.into(),
            },
            name: call.name.into(),
            arguments: call.arguments.into(),
        });
        Some(ChatReply {
            tool_calls: tool_calls.collect(),
            ..self.reply
        })
    }
}

/// Waits for the whole answer.
///
/// Errors: what the stream ends with; [`ModelError::Broken`] if it ends without a finish.
pub async fn collect<S>(mut events: S) -> Result<ChatReply, ModelError>
where
    S: Stream<Item = Result<ModelEvent, ModelError>> + Unpin,
{
    let mut collector = Collector::default();
    while let Some(event) = events.next().await {
        collector.push(event?);
    }
    collector.finish().ok_or_else(|| ModelError::Broken {
        provider: "model".into(),
        cause: "the answer ended without saying that it was complete".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::stream;

    fn piece(index: u32, id: Option<&str>, name: Option<&str>, arguments: &str) -> ModelEvent {
        ModelEvent::ToolCall(ToolCallDelta {
            index,
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
            arguments: arguments.to_owned(),
        })
    }

    #[tokio::test]
    async fn pieces_of_tool_calls_are_joined_by_index() {
        let events = [
            ModelEvent::Reasoning("hm".into()),
            ModelEvent::Text("let me ".into()),
            piece(1, None, Some("b"), "{}"),
            piece(0, Some("x"), Some("a"), "{\"q\""),
            piece(0, None, None, ":1}"),
            ModelEvent::Text("look".into()),
            ModelEvent::Finish(FinishReason::ToolCalls),
        ];
        let reply = collect(stream::iter(events.map(Ok))).await.unwrap();
        assert_eq!(reply.text, "let me look");
        assert_eq!(reply.reasoning, "hm");
        let calls: Vec<_> = reply
            .tool_calls
            .iter()
            .map(|c| (&*c.id, &*c.name, &*c.arguments))
            .collect();
        assert_eq!(calls, [("x", "a", "{\"q\":1}"), ("call_1", "b", "{}")]);
    }

    #[tokio::test]
    async fn an_answer_that_never_finishes_is_broken() {
        let events = stream::iter([Ok(ModelEvent::Text("half".into()))]);
        assert!(matches!(
            collect(events).await,
            Err(ModelError::Broken { .. })
        ));
    }

    #[test]
    fn a_reply_that_only_calls_tools_has_no_content() {
        let reply = ChatReply {
            tool_calls: vec![ToolCall::default()],
            ..ChatReply::default()
        };
        assert_eq!(reply.into_message().content, Content::Empty);
        assert_eq!(
            ChatReply::default().into_message().content,
            Content::Text("".into())
        );
    }
}
