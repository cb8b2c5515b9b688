//! Ollama's own protocol. Unlike its OpenAI-compatible one it can be told the context window, which is otherwise small
//! and cuts prompts without a word.

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::frames::{Frames, Lines};
use super::wire::{
    Decoder, Fault, Known, Model, Progress, Wire, arguments_object, called_tool, functions,
    inline_image, parse, put,
};
use crate::chat::{ChatRequest, Content, Message, Part, Role, Thinking};
use crate::config::ThinkingField;
use crate::reply::{FinishReason, ModelEvent, ToolCallDelta, Usage};

/// The protocol.
pub(super) struct Ollama;

impl Wire for Ollama {
    fn known(&self) -> Known {
        Known {
            thinking: ThinkingField::Thinking,
            json_schema: true,
        }
    }

    fn path(&self, _model: &str) -> (Vec<String>, Option<(&'static str, &'static str)>) {
        (vec!["chat".to_owned()], None)
    }

    fn body(&self, request: &ChatRequest, model: &Model) -> Result<Map<String, Json>, String> {
        let mut body = Map::new();
        put(&mut body, "model", Some(model.name.as_str()));
        let before = |position| request.messages.get(..position).unwrap_or_default();
        let messages = request.messages.iter().enumerate();
        let messages = messages.map(|(position, message)| self::message(message, before(position)));
        put(
            &mut body,
            "messages",
            Some(messages.collect::<Result<Vec<_>, _>>()?),
        );
        put(&mut body, "tools", functions(&request.tools));
        let mut options = Map::new();
        put(&mut options, "num_ctx", Some(model.info.context_window));
        let sampling = request.sampling;
        put(&mut options, "temperature", sampling.temperature);
        put(&mut options, "top_p", sampling.top_p);
        put(&mut options, "presence_penalty", sampling.presence_penalty);
        put(
            &mut options,
            "frequency_penalty",
            sampling.frequency_penalty,
        );
        put(
            &mut options,
            "num_predict",
            sampling.max_tokens.or(model.max_output_tokens),
        );
        put(&mut body, "options", Some(options));
        if model.thinking != ThinkingField::None {
            let think = match request.thinking {
                Thinking::Default => None,
                Thinking::Enabled => Some(true),
                Thinking::Disabled => Some(false),
            };
            put(&mut body, "think", think);
        }
        put(
            &mut body,
            "format",
            request
                .response_format
                .as_ref()
                .map(|format| format.schema.to_json()),
        );
        put(&mut body, "stream", Some(true));
        Ok(body)
    }

    fn frames(&self) -> Frames {
        Frames::Lines(Lines::default())
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Answer::default())
    }
}

fn message(message: &Message, before: &[Message]) -> Result<Json, String> {
    let mut written = Map::new();
    put(&mut written, "role", Some(message.role.as_str()));
    put(&mut written, "content", Some(&*message.content.text()));
    if let Content::Parts(parts) = &message.content {
        let urls = parts.iter().filter_map(|part| match part {
            Part::ImageUrl { image_url } => Some(&*image_url.url),
            Part::Text { .. } => None,
        });
        let images = urls.map(|url| {
            inline_image(url).map(|(_, data)| data.to_owned()).ok_or(
                "an image is an address, and Ollama takes none; pass it as a data: URI or use a model of another provider",
            )
        });
        let images = images.collect::<Result<Vec<_>, _>>()?;
        put(
            &mut written,
            "images",
            (!images.is_empty()).then_some(images),
        );
    }
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().map(|call| {
            json!({"id": &*call.id, "function": {"name": &*call.name, "arguments": arguments_object(call)}})
        });
        put(&mut written, "tool_calls", Some(calls.collect::<Vec<_>>()));
    }
    if message.role == Role::Tool {
        let call = message.tool_call_id.as_deref();
        put(&mut written, "tool_name", Some(&*called_tool(before, call)));
        put(&mut written, "tool_call_id", call);
    }
    Ok(Json::Object(written))
}

/// A line of the answer.
#[derive(Deserialize)]
struct Line {
    message: WireMessage,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
    #[serde(default)]
    eval_count: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireMessage {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<WireCall>>,
}

#[derive(Deserialize)]
struct WireCall {
    #[serde(default)]
    id: Option<String>,
    function: WireFunction,
}

#[derive(Deserialize)]
struct WireFunction {
    name: String,
    #[serde(default)]
    arguments: Json,
}

/// What has come in of an answer.
#[derive(Default)]
struct Answer {
    calls: u32,
    end: Option<(FinishReason, Usage)>,
}

impl Decoder for Answer {
    fn frame(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<Progress, Fault> {
        let line: Line = parse(frame)?;
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        events.extend(said(line.message.thinking).map(ModelEvent::Reasoning));
        events.extend(said(line.message.content).map(ModelEvent::Text));
        // Calls come whole.
        for call in line.message.tool_calls.into_iter().flatten() {
            events.push(ModelEvent::ToolCall(ToolCallDelta {
                index: self.calls,
                id: said(call.id),
                name: Some(call.function.name),
                arguments: match call.function.arguments {
                    Json::Null => "{}".to_owned(),
                    arguments => arguments.to_string(),
                },
            }));
            self.calls = self.calls.saturating_add(1);
        }
        if !line.done {
            return Ok(Progress::More);
        }
        let reason = match line.done_reason.as_deref() {
            None | Some("stop") if self.calls > 0 => FinishReason::ToolCalls,
            Some(reason) => reason.into(),
            None => FinishReason::Stop,
        };
        let usage = Usage {
            input_tokens: line.prompt_eval_count.unwrap_or_default(),
            output_tokens: line.eval_count.unwrap_or_default(),
            ..Usage::default()
        };
        self.end = Some((reason, usage));
        Ok(Progress::Done)
    }

    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let (reason, usage) = self.end.take().ok_or(Fault::Early)?;
        events.push(ModelEvent::Usage(usage));
        events.push(ModelEvent::Finish(reason));
        Ok(())
    }
}
