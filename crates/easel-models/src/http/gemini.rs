//! Google's Gemini.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::frames::{Events, Frames};
use super::wire::{
    Decoder, Fault, Known, Model, Progress, Wire, arguments_object, called_tool, inline_image,
    own_state, parse, put, state, system_texts, turns,
};
use crate::chat::{ChatRequest, Content, Message, Part, Role, Thinking};
use crate::config::ThinkingField;
use crate::reply::{FinishReason, ModelEvent, ToolCallDelta, Usage};

/// The key of this protocol's provider state: the signature of each call, by position, or null.
const STATE: &str = "gemini";

/// The protocol.
pub(super) struct Gemini;

impl Wire for Gemini {
    fn known(&self) -> Known {
        Known {
            thinking: ThinkingField::Thinking,
            json_schema: true,
        }
    }

    fn path(&self, model: &str) -> (Vec<String>, Option<(&'static str, &'static str)>) {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let path = vec![
            "models".to_owned(),
            format!("{model}:streamGenerateContent"),
        ];
        (path, Some(("alt", "sse")))
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }

    fn body(&self, request: &ChatRequest, model: &Model) -> Result<Map<String, Json>, String> {
        let mut body = Map::new();
        let system: Vec<_> = system_texts(&request.messages)
            .iter()
            .map(|text| json!({"text": &**text}))
            .collect();
        put(
            &mut body,
            "systemInstruction",
            (!system.is_empty()).then(|| json!({"parts": system})),
        );
        let turns = turns(&request.messages, "model", parts)?;
        let contents = turns
            .into_iter()
            .map(|(role, parts)| json!({"role": role, "parts": parts}));
        put(&mut body, "contents", Some(contents.collect::<Vec<_>>()));
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "name": &*tool.name,
                    "description": &*tool.description,
                    "parametersJsonSchema": tool.parameters.to_json(),
                })
            });
            let declared = json!({"functionDeclarations": tools.collect::<Vec<_>>()});
            put(&mut body, "tools", Some(vec![declared]));
        }
        let mut generation = Map::new();
        let sampling = request.sampling;
        put(&mut generation, "temperature", sampling.temperature);
        put(&mut generation, "topP", sampling.top_p);
        put(
            &mut generation,
            "presencePenalty",
            sampling.presence_penalty,
        );
        put(
            &mut generation,
            "frequencyPenalty",
            sampling.frequency_penalty,
        );
        put(
            &mut generation,
            "maxOutputTokens",
            sampling.max_tokens.or(model.max_output_tokens),
        );
        if model.thinking != ThinkingField::None {
            match request.thinking {
                Thinking::Default => {}
                Thinking::Enabled => put(
                    &mut generation,
                    "thinkingConfig",
                    Some(json!({"includeThoughts": true})),
                ),
                Thinking::Disabled => put(
                    &mut generation,
                    "thinkingConfig",
                    Some(json!({"thinkingBudget": 0})),
                ),
            }
        }
        if let Some(format) = &request.response_format {
            put(
                &mut generation,
                "responseMimeType",
                Some("application/json"),
            );
            put(
                &mut generation,
                "responseJsonSchema",
                Some(format.schema.to_json()),
            );
        }
        put(
            &mut body,
            "generationConfig",
            (!generation.is_empty()).then_some(generation),
        );
        Ok(body)
    }

    fn frames(&self) -> Frames {
        Frames::Events(Events::default())
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Answer::default())
    }
}

/// A message's parts.
fn parts(message: &Message, before: &[Message]) -> Result<Vec<Json>, String> {
    if message.role == Role::Tool {
        let call = message.tool_call_id.as_deref();
        return Ok(vec![json!({"functionResponse": {
            "id": call,
            "name": &*called_tool(before, call),
            "response": {"result": &*message.content.text()},
        }})]);
    }
    let mut parts = Vec::new();
    match &message.content {
        Content::Empty => {}
        Content::Text(text) if text.is_empty() => {}
        Content::Text(text) => parts.push(json!({"text": &**text})),
        Content::Parts(content) => {
            for part in content {
                parts.push(match part {
                    Part::Text { text } => json!({"text": &**text}),
                    Part::ImageUrl { image_url } => {
                        let (media, data) = inline_image(&image_url.url).ok_or(
                            "an image is an address, and Gemini takes none; pass it as a data: URI or use a model of another provider",
                        )?;
                        json!({"inlineData": {"mimeType": media, "data": data}})
                    }
                });
            }
        }
    }
    let signatures = own_state(message, STATE)
        .and_then(|state| state.as_array())
        .unwrap_or_default();
    for (position, call) in message.tool_calls.iter().enumerate() {
        let mut part = Map::new();
        let made = json!({"id": &*call.id, "name": &*call.name, "args": arguments_object(call)});
        put(&mut part, "functionCall", Some(made));
        put(
            &mut part,
            "thoughtSignature",
            signatures
                .get(position)
                .and_then(|signature| signature.as_str()),
        );
        parts.push(Json::Object(part));
    }
    Ok(parts)
}

/// A piece of an answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    #[serde(default)]
    candidates: Vec<Candidate>,
    #[serde(default)]
    prompt_feedback: Option<PromptFeedback>,
    #[serde(default)]
    usage_metadata: Option<WireUsage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    content: Option<WireContent>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct WireContent {
    #[serde(default)]
    parts: Vec<WirePart>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WirePart {
    text: Option<String>,
    thought: bool,
    function_call: Option<FunctionCall>,
    thought_signature: Option<String>,
}

#[derive(Deserialize)]
struct FunctionCall {
    #[serde(default)]
    id: Option<String>,
    name: String,
    #[serde(default)]
    args: Json,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireUsage {
    prompt_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
    cached_content_token_count: u64,
}

/// What has come in of an answer.
#[derive(Default)]
struct Answer {
    /// One for each call, in order.
    signatures: Vec<Option<String>>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
}

impl Decoder for Answer {
    fn frame(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<Progress, Fault> {
        let chunk: Chunk = parse(frame)?;
        if let Some(usage) = chunk.usage_metadata {
            self.usage = Some(Usage {
                input_tokens: usage.prompt_token_count,
                output_tokens: usage.candidates_token_count + usage.thoughts_token_count,
                cached_tokens: usage.cached_content_token_count,
                reasoning_tokens: usage.thoughts_token_count,
            });
        }
        if chunk
            .prompt_feedback
            .and_then(|feedback| feedback.block_reason)
            .is_some()
        {
            self.finish = Some(FinishReason::ContentFilter);
        }
        // Only one candidate is ever asked for.
        if let Some(candidate) = chunk.candidates.into_iter().next() {
            for part in candidate
                .content
                .into_iter()
                .flat_map(|content| content.parts)
            {
                self.part(part, events);
            }
            if let Some(reason) = candidate.finish_reason {
                self.finish = Some(self.finish_reason(&reason));
            }
        }
        Ok(Progress::More)
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let finish = self.finish.take().ok_or(Fault::Early)?;
        if self.signatures.iter().any(Option::is_some) {
            events.push(state(STATE, json!(self.signatures)));
        }
        events.extend(self.usage.take().map(ModelEvent::Usage));
        events.push(ModelEvent::Finish(finish));
        Ok(())
    }
}

impl Answer {
    fn part(&mut self, part: WirePart, events: &mut Vec<ModelEvent>) {
        if let Some(text) = part.text.filter(|text| !text.is_empty()) {
            events.push(match part.thought {
                true => ModelEvent::Reasoning(text),
                false => ModelEvent::Text(text),
            });
        }
        // Calls come whole.
        if let Some(call) = part.function_call {
            let index = u32::try_from(self.signatures.len()).unwrap_or(u32::MAX);
            self.signatures.push(part.thought_signature);
            events.push(ModelEvent::ToolCall(ToolCallDelta {
                index,
                id: call.id.filter(|id| !id.is_empty()),
                name: Some(call.name),
                arguments: match call.args {
                    Json::Null => "{}".to_owned(),
                    args => args.to_string(),
                },
            }));
        }
    }

    fn finish_reason(&self, reason: &str) -> FinishReason {
        match reason {
            "STOP" if self.signatures.is_empty() => FinishReason::Stop,
            "STOP" => FinishReason::ToolCalls,
            "MAX_TOKENS" => FinishReason::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
                FinishReason::ContentFilter
            }
            other => FinishReason::Other(other.into()),
        }
    }
}
