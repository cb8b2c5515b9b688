//! Anthropic's messages.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::frames::{Events, Frames};
use super::wire::{
    Decoder, Fault, Known, Model, Progress, Reported, Wire, arguments_object, inline_image,
    own_state, parse, put, state, system_texts, turns,
};
use crate::chat::{ChatRequest, Content, Message, Part, Role, Thinking};
use crate::config::ThinkingField;
use crate::reply::{FinishReason, ModelEvent, ToolCallDelta, Usage};

/// The key of this protocol's provider state: the blocks of reasoning, which are signed and must come back as they were.
const STATE: &str = "anthropic";

/// The most an answer may have where nothing is said, in tokens. The API must be told something.
const MAX_TOKENS: u32 = 8192;

/// The smallest budget for reasoning that the API takes, in tokens.
const SMALLEST_BUDGET: u32 = 1024;

/// The protocol.
pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn known(&self) -> Known {
        Known {
            thinking: ThinkingField::Adaptive,
            json_schema: false,
        }
    }

    fn path(&self, _model: &str) -> (Vec<String>, Option<(&'static str, &'static str)>) {
        (vec!["messages".to_owned()], None)
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn body(&self, request: &ChatRequest, model: &Model) -> Result<Map<String, Json>, String> {
        let mut body = Map::new();
        put(&mut body, "model", Some(model.name.as_str()));
        let system = system_texts(&request.messages);
        put(
            &mut body,
            "system",
            (!system.is_empty()).then(|| system.join("\n\n")),
        );
        let turns = turns(&request.messages, "assistant", |message, _| {
            Ok(blocks(message))
        })?;
        let messages = turns
            .into_iter()
            .map(|(role, content)| json!({"role": role, "content": content}));
        put(&mut body, "messages", Some(messages.collect::<Vec<_>>()));
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "name": &*tool.name,
                    "description": &*tool.description,
                    "input_schema": tool.parameters.to_json(),
                })
            });
            put(&mut body, "tools", Some(tools.collect::<Vec<_>>()));
        }
        let mut limit = request
            .sampling
            .max_tokens
            .or(model.max_output_tokens)
            .unwrap_or(MAX_TOKENS);
        match request.thinking {
            // The API takes no sampling beside reasoning.
            Thinking::Enabled if model.thinking != ThinkingField::None => {
                let thinking = match model.thinking {
                    ThinkingField::Budget => {
                        let budget = (limit / 2).max(SMALLEST_BUDGET);
                        limit = limit.max(budget + SMALLEST_BUDGET);
                        json!({"type": "enabled", "budget_tokens": budget})
                    }
                    _ => json!({"type": "adaptive"}),
                };
                put(&mut body, "thinking", Some(thinking));
            }
            thinking => {
                if thinking == Thinking::Disabled && model.thinking != ThinkingField::None {
                    put(&mut body, "thinking", Some(json!({"type": "disabled"})));
                }
                put(&mut body, "temperature", request.sampling.temperature);
                put(&mut body, "top_p", request.sampling.top_p);
            }
        }
        put(&mut body, "max_tokens", Some(limit));
        if let Some(format) = &request.response_format {
            let format = json!({"type": "json_schema", "schema": format.schema.to_json()});
            put(&mut body, "output_config", Some(json!({"format": format})));
        }
        put(&mut body, "stream", Some(true));
        Ok(body)
    }

    fn frames(&self) -> Frames {
        Frames::Events(Events::default())
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Answer::default())
    }
}

/// A message's blocks. The API refuses empty texts, so they are left out.
fn blocks(message: &Message) -> Vec<Json> {
    if message.role == Role::Tool {
        return vec![json!({
            "type": "tool_result",
            "tool_use_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "content": &*message.content.text(),
        })];
    }
    let text =
        |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    let mut blocks: Vec<Json> = Vec::new();
    if let Some(reasoning) = own_state(message, STATE).and_then(|state| state.as_array()) {
        blocks.extend(reasoning.iter().map(|block| block.to_json()));
    }
    match &message.content {
        Content::Empty => {}
        Content::Text(content) => blocks.extend(text(content)),
        Content::Parts(parts) => blocks.extend(parts.iter().filter_map(|part| match part {
            Part::Text { text: content } => text(content),
            Part::ImageUrl { image_url } => Some(image(&image_url.url)),
        })),
    }
    blocks.extend(message.tool_calls.iter().map(|call| {
        json!({"type": "tool_use", "id": &*call.id, "name": &*call.name, "input": arguments_object(call)})
    }));
    blocks
}

fn image(url: &str) -> Json {
    let source = match inline_image(url) {
        Some((media, data)) => json!({"type": "base64", "media_type": media, "data": data}),
        None => json!({"type": "url", "url": url}),
    };
    json!({"type": "image", "source": source})
}

/// One event of the stream.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: MessageStart,
    },
    ContentBlockStart {
        index: u32,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u32,
        delta: Delta,
    },
    ContentBlockStop {
        index: u32,
    },
    MessageDelta {
        delta: MessageDelta,
        #[serde(default)]
        usage: Option<WireUsage>,
    },
    MessageStop,
    Error {
        error: Json,
    },
    /// `ping`, and what may be added later.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageStart {
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default)]
        input: Json,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageDelta {
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

/// What has come in of an answer.
#[derive(Default)]
struct Answer {
    /// The calls: the block each is in, and whether arguments have come.
    calls: Vec<(u32, bool)>,
    /// The blocks of reasoning, with the block each is.
    reasoning: Vec<(u32, Reasoning)>,
    usage: WireUsage,
    finish: Option<FinishReason>,
}

enum Reasoning {
    Open { thinking: String, signature: String },
    Redacted { data: String },
}

impl Decoder for Answer {
    fn frame(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<Progress, Fault> {
        match parse(frame)? {
            Event::MessageStart { message } => self.add_usage(message.usage),
            Event::ContentBlockStart {
                index,
                content_block,
            } => self.start(index, content_block, events),
            Event::ContentBlockDelta { index, delta } => self.delta(index, delta, events),
            Event::ContentBlockStop { index } => self.stop(index, events),
            Event::MessageDelta { delta, usage } => {
                self.add_usage(usage);
                if let Some(reason) = delta.stop_reason {
                    self.finish = Some(finish_reason(&reason));
                }
            }
            Event::MessageStop => return Ok(Progress::Done),
            Event::Error { error } => {
                let found = Reported::find(&json!({ "error": error }));
                return Err(found.map_or(Fault::Early, Fault::Reported));
            }
            Event::Other => {}
        }
        Ok(Progress::More)
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let finish = self.finish.take().ok_or(Fault::Early)?;
        if !self.calls.is_empty() && !self.reasoning.is_empty() {
            let blocks = self.reasoning.iter().map(|(_, block)| match block {
                Reasoning::Open {
                    thinking,
                    signature,
                } => {
                    json!({"type": "thinking", "thinking": thinking, "signature": signature})
                }
                Reasoning::Redacted { data } => json!({"type": "redacted_thinking", "data": data}),
            });
            events.push(state(STATE, blocks.collect()));
        }
        let cached = self.usage.cache_read_input_tokens.unwrap_or_default();
        let written = self.usage.cache_creation_input_tokens.unwrap_or_default();
        events.push(ModelEvent::Usage(Usage {
            input_tokens: self.usage.input_tokens.unwrap_or_default() + cached + written,
            output_tokens: self.usage.output_tokens.unwrap_or_default(),
            cached_tokens: cached,
            reasoning_tokens: 0,
        }));
        events.push(ModelEvent::Finish(finish));
        Ok(())
    }
}

impl Answer {
    fn start(&mut self, block: u32, content: Block, events: &mut Vec<ModelEvent>) {
        match content {
            Block::Text { text } => said(text, ModelEvent::Text, events),
            Block::Thinking {
                thinking,
                signature,
            } => {
                let open = Reasoning::Open {
                    thinking: thinking.clone(),
                    signature,
                };
                self.reasoning.push((block, open));
                said(thinking, ModelEvent::Reasoning, events);
            }
            Block::RedactedThinking { data } => {
                self.reasoning.push((block, Reasoning::Redacted { data }))
            }
            Block::ToolUse { id, name, input } => {
                // The input comes in deltas; only servers that imitate the API give it here.
                let whole = matches!(&input, Json::Object(fields) if !fields.is_empty());
                self.calls.push((block, whole));
                events.push(ModelEvent::ToolCall(ToolCallDelta {
                    index: position(self.calls.len() - 1),
                    id: Some(id),
                    name: Some(name),
                    arguments: if whole {
                        input.to_string()
                    } else {
                        String::new()
                    },
                }));
            }
            Block::Other => {}
        }
    }

    fn delta(&mut self, block: u32, delta: Delta, events: &mut Vec<ModelEvent>) {
        let open = self.reasoning.iter_mut().find(|(at, _)| *at == block);
        match (delta, open) {
            (Delta::Text { text }, _) => said(text, ModelEvent::Text, events),
            (Delta::Thinking { thinking: more }, open) => {
                if let Some((_, Reasoning::Open { thinking, .. })) = open {
                    thinking.push_str(&more);
                }
                said(more, ModelEvent::Reasoning, events);
            }
            (
                Delta::Signature { signature: more },
                Some((_, Reasoning::Open { signature, .. })),
            ) => {
                signature.push_str(&more);
            }
            (Delta::Input { partial_json }, _) => {
                self.arguments(block, partial_json, events);
            }
            (Delta::Signature { .. } | Delta::Other, _) => {}
        }
    }

    /// A call that takes no arguments gets no deltas.
    fn stop(&mut self, block: u32, events: &mut Vec<ModelEvent>) {
        if self.calls.contains(&(block, false)) {
            self.arguments(block, "{}".to_owned(), events);
        }
    }

    fn arguments(&mut self, block: u32, arguments: String, events: &mut Vec<ModelEvent>) {
        let call = self
            .calls
            .iter_mut()
            .enumerate()
            .find(|(_, (at, _))| *at == block);
        if let (Some((index, (_, begun))), false) = (call, arguments.is_empty()) {
            *begun = true;
            events.push(ModelEvent::ToolCall(ToolCallDelta {
                index: position(index),
                arguments,
                ..ToolCallDelta::default()
            }));
        }
    }

    /// Later counts replace earlier ones.
    fn add_usage(&mut self, usage: Option<WireUsage>) {
        let Some(new) = usage else { return };
        let old = std::mem::take(&mut self.usage);
        self.usage = WireUsage {
            input_tokens: new.input_tokens.or(old.input_tokens),
            output_tokens: new.output_tokens.or(old.output_tokens),
            cache_read_input_tokens: new.cache_read_input_tokens.or(old.cache_read_input_tokens),
            cache_creation_input_tokens: new
                .cache_creation_input_tokens
                .or(old.cache_creation_input_tokens),
        };
    }
}

fn position(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn said(text: String, event: impl FnOnce(String) -> ModelEvent, events: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        events.push(event(text));
    }
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.into()),
    }
}
