//! OpenAI's chat completions, and the many servers that are compatible with them more or less.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::frames::{Events, Frames};
use super::wire::{
    Decoder, Fault, Known, Model, Progress, Wire, functions, own_state, parse, put, state,
};
use crate::chat::{ChatRequest, Message, Thinking};
use crate::config::ThinkingField;
use crate::reply::{FinishReason, ModelEvent, ToolCallDelta, Usage};

/// The key of this protocol's provider state.
const STATE: &str = "openai";

/// The protocol.
pub(super) struct OpenAi {
    host: String,
    stream_usage: bool,
}

impl OpenAi {
    /// For a server at this host.
    pub(super) fn new(host: &str, stream_usage: bool) -> OpenAi {
        OpenAi {
            host: host.to_ascii_lowercase(),
            stream_usage,
        }
    }

    /// The server is OpenAI's own, or Azure's copy: it refuses `max_tokens` for newer models and unknown fields.
    fn is_original(&self) -> bool {
        self.host == "api.openai.com" || self.host.ends_with(".azure.com")
    }
}

impl Wire for OpenAi {
    fn known(&self) -> Known {
        const THINKING: [&str; 6] = [
            "deepseek",
            "bigmodel",
            "z.ai",
            "moonshot",
            "volces",
            "xiaomimimo",
        ];
        let thinking = if self.is_original() {
            ThinkingField::None
        } else if self.host.contains("dashscope") {
            ThinkingField::EnableThinking
        } else if THINKING.iter().any(|name| self.host.contains(name)) {
            ThinkingField::Thinking
        } else {
            ThinkingField::ChatTemplate
        };
        Known {
            thinking,
            json_schema: self.is_original(),
        }
    }

    fn path(&self, _model: &str) -> (Vec<String>, Option<(&'static str, &'static str)>) {
        (vec!["chat".to_owned(), "completions".to_owned()], None)
    }

    fn body(&self, request: &ChatRequest, model: &Model) -> Result<Map<String, Json>, String> {
        let mut body = Map::new();
        put(&mut body, "model", Some(model.name.as_str()));
        let messages = request
            .messages
            .iter()
            .map(message)
            .collect::<Result<Vec<_>, _>>()?;
        put(&mut body, "messages", Some(messages));
        put(&mut body, "tools", functions(&request.tools));
        let sampling = request.sampling;
        put(&mut body, "temperature", sampling.temperature);
        put(&mut body, "top_p", sampling.top_p);
        put(&mut body, "presence_penalty", sampling.presence_penalty);
        put(&mut body, "frequency_penalty", sampling.frequency_penalty);
        let limit = match self.is_original() {
            true => "max_completion_tokens",
            false => "max_tokens",
        };
        put(
            &mut body,
            limit,
            sampling.max_tokens.or(model.max_output_tokens),
        );
        if let Some(format) = &request.response_format {
            let schema =
                json!({"name": &*format.name, "schema": format.schema.to_json(), "strict": true});
            put(
                &mut body,
                "response_format",
                Some(json!({"type": "json_schema", "json_schema": schema})),
            );
        }
        if let Some(kwargs) = &request.chat_template_kwargs {
            let kwargs: Map<_, _> = kwargs
                .iter()
                .map(|(key, value)| (key.to_string(), value.to_json()))
                .collect();
            put(&mut body, "chat_template_kwargs", Some(kwargs));
        }
        think(&mut body, request.thinking, model.thinking);
        put(&mut body, "stream", Some(request.stream));
        if request.stream && self.stream_usage {
            put(
                &mut body,
                "stream_options",
                Some(json!({"include_usage": true})),
            );
        }
        Ok(body)
    }

    fn streams(&self, request: &ChatRequest) -> bool {
        request.stream
    }

    fn frames(&self) -> Frames {
        Frames::Events(Events::default())
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Answer::default())
    }
}

/// A message is serialised in this very form, save for what a server wants back.
fn message(message: &Message) -> Result<Json, String> {
    let mut written = serde_json::to_value(message).map_err(|error| error.to_string())?;
    if let Json::Object(fields) = &mut written {
        fields.shift_remove("provider_state");
        if let Some(reasoning) = own_state(message, STATE).and_then(|state| state.as_object()) {
            fields.extend(
                reasoning
                    .iter()
                    .map(|(field, text)| (field.to_string(), text.to_json())),
            );
        }
    }
    Ok(written)
}

fn think(body: &mut Map<String, Json>, thinking: Thinking, field: ThinkingField) {
    let enabled = match thinking {
        Thinking::Default => return,
        Thinking::Enabled => true,
        Thinking::Disabled => false,
    };
    match field {
        ThinkingField::None => {}
        ThinkingField::Thinking | ThinkingField::Adaptive | ThinkingField::Budget => {
            let kind = if enabled { "enabled" } else { "disabled" };
            put(body, "thinking", Some(json!({"type": kind})));
        }
        ThinkingField::EnableThinking => put(body, "enable_thinking", Some(enabled)),
        ThinkingField::ChatTemplate => {
            let kwargs = body
                .entry("chat_template_kwargs")
                .or_insert_with(|| json!({}));
            if let Json::Object(kwargs) = kwargs {
                // What the run passes itself goes before.
                kwargs.entry("enable_thinking").or_insert(enabled.into());
            }
        }
    }
}

/// A piece of an answer, or a whole one.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Delta>,
    /// The whole, where the answer comes in one piece.
    #[serde(default)]
    message: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Json,
    reasoning_content: Json,
    reasoning: Json,
    refusal: Json,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: Option<u32>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionDelta>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Json,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

/// What has come in of an answer.
#[derive(Default)]
struct Answer {
    calls: Vec<Call>,
    /// The reasoning and the field it came in: some servers want it back beside tool calls.
    reasoning: Option<(&'static str, String)>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    /// Whether some frame was a part of an answer, once there are frames.
    recognised: Option<bool>,
    done: bool,
}

/// A tool call that has begun.
struct Call {
    /// What the server counts it as; not to be trusted, see [`Answer::slot`].
    index: u32,
    id: String,
    named: bool,
    has_arguments: bool,
}

impl Decoder for Answer {
    fn frame(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<Progress, Fault> {
        if frame.trim() == "[DONE]" {
            self.done = true;
            return Ok(Progress::Done);
        }
        let chunk: Chunk = parse(frame)?;
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage.into());
        }
        *self.recognised.get_or_insert(false) |= chunk.choices.is_some();
        // Only one choice is ever asked for.
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta, events);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish = Some(match reason.as_str() {
                    "function_call" => FinishReason::ToolCalls,
                    other => other.into(),
                });
            }
        }
        Ok(Progress::More)
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        // Some servers give no reason, but they do say when they are done.
        let finish = match (self.finish.take(), self.done) {
            (Some(reason), _) => reason,
            (None, true) if self.calls.is_empty() => FinishReason::Stop,
            (None, true) => FinishReason::ToolCalls,
            (None, false) if self.recognised == Some(false) => {
                return Err(Fault::Garbage("there are no `choices` in it".to_owned()));
            }
            (None, false) => return Err(Fault::Early),
        };
        for (index, call) in (0..).zip(&self.calls) {
            if !call.has_arguments {
                events.push(ModelEvent::ToolCall(ToolCallDelta {
                    index,
                    arguments: "{}".to_owned(),
                    ..ToolCallDelta::default()
                }));
            }
        }
        if let (Some((field, reasoning)), false) = (self.reasoning.take(), self.calls.is_empty()) {
            events.push(state(STATE, json!({ field: reasoning })));
        }
        events.extend(self.usage.take().map(ModelEvent::Usage));
        events.push(ModelEvent::Finish(finish));
        Ok(())
    }
}

impl Answer {
    fn delta(&mut self, delta: Delta, events: &mut Vec<ModelEvent>) {
        // Some servers send the same text under both names, so one of them is enough.
        let fields = [
            ("reasoning_content", delta.reasoning_content),
            ("reasoning", delta.reasoning),
        ];
        let reasoning = fields
            .into_iter()
            .find_map(|(field, value)| Some((field, said(value)?)));
        if let Some((field, text)) = reasoning {
            self.reasoning
                .get_or_insert((field, String::new()))
                .1
                .push_str(&text);
            events.push(ModelEvent::Reasoning(text));
        }
        content(delta.content, events);
        // A refusal is what the model says instead of an answer.
        events.extend(said(delta.refusal).map(ModelEvent::Text));
        for call in delta.tool_calls.into_iter().flatten() {
            events.push(ModelEvent::ToolCall(self.call(call)));
        }
    }

    fn call(&mut self, delta: CallDelta) -> ToolCallDelta {
        let function = delta.function.unwrap_or_default();
        let id = delta.id.filter(|id| !id.is_empty());
        let name = function.name.filter(|name| !name.is_empty());
        let index = self.slot(delta.index, id.as_deref(), name.is_some());
        let arguments = match function.arguments {
            Json::Null => String::new(),
            Json::String(text) => text,
            object => object.to_string(),
        };
        let mut piece = ToolCallDelta {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            arguments,
            ..ToolCallDelta::default()
        };
        if let Some(call) = self.calls.get_mut(index) {
            call.has_arguments |= !piece.arguments.trim().is_empty();
            // Some servers repeat the name in every piece; it is told once.
            piece.name = name.filter(|_| !std::mem::replace(&mut call.named, true));
            if let Some(id) = id.filter(|_| call.id.is_empty()) {
                call.id.clone_from(&id);
                piece.id = Some(id);
            }
        }
        piece
    }

    /// The position of the call that a piece belongs to. Servers count in `index`; but some count every call 0, so
    /// another id together with a name begins another call; and some leave it out, then a piece without an id goes on.
    fn slot(&mut self, index: Option<u32>, id: Option<&str>, named: bool) -> usize {
        let last = self.calls.len().checked_sub(1);
        let found = match index {
            Some(index) => self.calls.iter().rposition(|call| call.index == index),
            None if named && id.is_none() => None,
            None => last,
        };
        let another = |at: &usize| {
            let begun = self
                .calls
                .get(*at)
                .map(|call| call.id.as_str())
                .filter(|id| !id.is_empty());
            named && id.is_some() && begun.is_some() && begun != id
        };
        match found.filter(|at| !another(at)) {
            Some(at) => at,
            None => {
                self.calls.push(Call {
                    index: index.unwrap_or(u32::MAX),
                    id: String::new(),
                    named: false,
                    has_arguments: false,
                });
                self.calls.len() - 1
            }
        }
    }
}

/// The text, if a field holds one that says something.
fn said(field: Json) -> Option<String> {
    match field {
        Json::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Content is a text, or (Mistral) a list of parts of which some are reasoning.
fn content(content: Json, events: &mut Vec<ModelEvent>) {
    match content {
        Json::String(text) if !text.is_empty() => events.push(ModelEvent::Text(text)),
        Json::Array(parts) => {
            for part in parts {
                let text = |part: &Json| {
                    part.get("text")
                        .and_then(Json::as_str)
                        .unwrap_or_default()
                        .to_owned()
                };
                let event = match part.get("thinking") {
                    Some(Json::Array(thoughts)) => {
                        ModelEvent::Reasoning(thoughts.iter().map(text).collect())
                    }
                    _ => ModelEvent::Text(text(&part)),
                };
                if !matches!(&event, ModelEvent::Text(text) | ModelEvent::Reasoning(text) if text.is_empty())
                {
                    events.push(event);
                }
            }
        }
        _ => {}
    }
}

impl From<WireUsage> for Usage {
    fn from(usage: WireUsage) -> Usage {
        Usage {
            input_tokens: usage.prompt_tokens.unwrap_or_default(),
            output_tokens: usage.completion_tokens.unwrap_or_default(),
            cached_tokens: usage
                .prompt_tokens_details
                .and_then(|details| details.cached_tokens)
                .unwrap_or_default(),
            reasoning_tokens: usage
                .completion_tokens_details
                .and_then(|details| details.reasoning_tokens)
                .unwrap_or_default(),
        }
    }
}
