//! What a protocol is: how a request is written and how an answer is read. One file beside this one for each.

use std::sync::Arc;

use easel_core::{Object, Value};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::frames::Frames;
use crate::chat::{ChatRequest, Message, ModelInfo, Role, ToolCall, ToolSpec};
use crate::config::ThinkingField;
use crate::reply::ModelEvent;

/// A provider's protocol.
pub(super) trait Wire: Send + Sync {
    /// What is known of its server where the configuration says nothing.
    fn known(&self) -> Known;

    /// Where the request goes, behind the base URL: path segments, and a query.
    fn path(&self, model: &str) -> (Vec<String>, Option<(&'static str, &'static str)>);

    /// Headers of the protocol itself.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The header that carries the key, and what goes before the key in it.
    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    /// The body of the request. The error says what cannot be sent, and what to do.
    fn body(&self, request: &ChatRequest, model: &Model) -> Result<Map<String, Json>, String>;

    /// Whether the answer will come in pieces.
    fn streams(&self, _request: &ChatRequest) -> bool {
        true
    }

    /// How an answer is cut into frames when its content type does not say.
    fn frames(&self) -> Frames;

    /// Reads the frames of one answer.
    fn decoder(&self) -> Box<dyn Decoder>;
}

/// What is known of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// How it is told to reason or not.
    pub(super) thinking: ThinkingField,
    /// It holds models to a JSON Schema.
    pub(super) json_schema: bool,
}

/// The model a request goes to.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// The provider's name for it.
    pub(super) name: String,
    /// What is known of it.
    pub(super) info: ModelInfo,
    /// The most an answer may have where the request says nothing, in tokens.
    pub(super) max_output_tokens: Option<u32>,
    /// How it is told to reason or not.
    pub(super) thinking: ThinkingField,
}

/// Reads the frames of one answer.
pub(super) trait Decoder: Send {
    /// Takes a frame and appends the events it holds. The finish is held back until [`Decoder::end`].
    fn frame(&mut self, frame: &str, events: &mut Vec<ModelEvent>) -> Result<Progress, Fault>;

    /// Takes the end of the answer and appends what was held back, the finish last.
    fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault>;
}

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More may come.
    More,
    /// That was the last frame.
    Done,
}

/// What is wrong with an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A frame is not what the protocol allows.
    Garbage(String),
    /// The provider reports an error.
    Reported(Reported),
    /// It ended before it was complete.
    Early,
}

/// An error as providers report it, in the body of a refusal or inside an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reported {
    /// What it says.
    pub(super) message: String,
    /// Its kind, in the provider's words.
    pub(super) code: String,
}

impl Reported {
    /// The error in a body or frame, if there is one. Providers agree on `error`, and on little inside it.
    pub(super) fn find(body: &Json) -> Option<Reported> {
        let error = match body.get("error") {
            Some(Json::Null) | None => (body.get("object")? == "error").then_some(body)?,
            Some(error) => error,
        };
        let text = |key: &str| match error.get(key) {
            Some(Json::String(text)) => Some(text.clone()),
            Some(Json::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let codes = ["type", "status", "code"].into_iter().filter_map(text);
        Some(Reported {
            message: text("message").unwrap_or_else(|| match error {
                Json::String(message) => message.clone(),
                other => other.to_string(),
            }),
            code: codes.collect::<Vec<_>>().join(" "),
        })
    }

    /// The fault lies with the provider and may pass.
    pub(super) fn passing(&self) -> bool {
        const PASSING: [&str; 9] = [
            "overload",
            "rate_limit",
            "server_error",
            "api_error",
            "unavailable",
            "timeout",
            "internal",
            "exhausted",
            "429",
        ];
        let code = self.code.to_ascii_lowercase();
        let status = code.split(' ').filter_map(|word| word.parse::<u16>().ok());
        PASSING.iter().any(|word| code.contains(word))
            || status.into_iter().any(|status| status >= 500)
    }

    /// The account has no credit left: providers answer 429, but waiting does not help.
    pub(super) fn out_of_credit(&self) -> bool {
        self.code.contains("insufficient_quota")
    }
}

/// Reads a frame as JSON. An error in it is a fault.
pub(super) fn parse<'f, T: Deserialize<'f>>(frame: &'f str) -> Result<T, Fault> {
    // Errors come in many shapes and are rare, so they are looked for only where the word is.
    if frame.contains("\"error\"")
        && let Some(reported) = serde_json::from_str(frame)
            .ok()
            .as_ref()
            .and_then(Reported::find)
    {
        return Err(Fault::Reported(reported));
    }
    serde_json::from_str(frame).map_err(|error| Fault::Garbage(error.to_string()))
}

/// Puts a field into a body if there is a value for it.
pub(super) fn put(body: &mut Map<String, Json>, field: &str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        body.insert(field.to_owned(), value.into());
    }
}

/// Lays fields over a body: objects go into objects, everything else replaces what is there.
pub(super) fn lay_over(body: &mut Map<String, Json>, fields: &Object) {
    for (field, value) in fields {
        match (body.get_mut(&**field), value) {
            (Some(Json::Object(inner)), Value::Object(fields)) => lay_over(inner, fields),
            _ => {
                body.insert(field.to_string(), value.to_json());
            }
        }
    }
}

/// The parts of `data:image/png;base64,AAAA`: media type and base64 text.
pub(super) fn inline_image(url: &str) -> Option<(&str, &str)> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media = kind.strip_suffix(";base64")?;
    let media = media.split(';').next().unwrap_or(media);
    Some((if media.is_empty() { "image/png" } else { media }, data))
}

/// The arguments of a call as an object, for protocols that carry no text there. What a model wrote that is no object
/// is kept beside its name, so the model sees its own mistake again.
pub(super) fn arguments_object(call: &ToolCall) -> Json {
    match serde_json::from_str(&call.arguments) {
        Ok(object @ Json::Object(_)) => object,
        _ if call.arguments.trim().is_empty() => json!({}),
        _ => json!({"arguments": &*call.arguments}),
    }
}

/// The name of the tool whose call a message answers, for protocols that go by name: the latest call of that id before it.
pub(super) fn called_tool(before: &[Message], call: Option<&str>) -> Arc<str> {
    let mut calls = before.iter().rev().flat_map(|message| &message.tool_calls);
    let made = calls.find(|made| Some(&*made.id) == call);
    made.map_or_else(|| Arc::from("tool"), |made| Arc::clone(&made.name))
}

/// The tools of a request as functions, the form of OpenAI and of Ollama.
pub(super) fn functions(tools: &[ToolSpec]) -> Option<Vec<Json>> {
    let function = |tool: &ToolSpec| {
        json!({"type": "function", "function": {
            "name": &*tool.name,
            "description": &*tool.description,
            "parameters": tool.parameters.to_json(),
        }})
    };
    (!tools.is_empty()).then(|| tools.iter().map(function).collect())
}

/// The texts of the system messages that say something.
pub(super) fn system_texts(messages: &[Message]) -> Vec<Arc<str>> {
    let system = messages
        .iter()
        .filter(|message| message.role == Role::System);
    system
        .map(|message| message.content.text())
        .filter(|text| !text.trim().is_empty())
        .collect()
}

/// The rest of the conversation in turns, for protocols in which two sides take turns: messages of one side that follow
/// each other become one, so that the results of calls made together come back together. What a message holds is asked
/// for with the messages before it; a turn that holds nothing is left out.
pub(super) fn turns<'r>(
    messages: &[Message],
    model: &'r str,
    mut content: impl FnMut(&Message, &[Message]) -> Result<Vec<Json>, String>,
) -> Result<Vec<(&'r str, Vec<Json>)>, String> {
    let mut turns: Vec<(&str, Vec<Json>)> = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        let side = match message.role {
            Role::System => continue,
            Role::Assistant => model,
            Role::User | Role::Tool => "user",
        };
        let held = content(message, messages.get(..position).unwrap_or_default())?;
        match turns.last_mut() {
            Some((last, content)) if *last == side => content.extend(held),
            _ if held.is_empty() => {}
            _ => turns.push((side, held)),
        }
    }
    Ok(turns)
}

/// The provider state of a message if this kind of provider made it; another's would mean nothing here.
pub(super) fn own_state<'m>(message: &'m Message, kind: &str) -> Option<&'m Value> {
    message.provider_state.as_ref()?.get(kind)
}

/// Provider state of the given kind.
pub(super) fn state(kind: &str, state: Json) -> ModelEvent {
    ModelEvent::ProviderState(json!({ kind: state }).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_found_in_every_shape() {
        let find = |body: Json| {
            Reported::find(&body).map(|found| (found.message.clone(), found.passing()))
        };
        let found = |message: &str, passing| Some((message.to_owned(), passing));
        assert_eq!(
            find(json!({"error": {"message": "busy", "type": "overloaded_error"}})),
            found("busy", true)
        );
        assert_eq!(
            find(json!({"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}})),
            found("later", true)
        );
        assert_eq!(
            find(json!({"error": "model 'x' not found"})),
            found("model 'x' not found", false)
        );
        assert_eq!(
            find(json!({"object": "error", "message": "too long", "code": 400})),
            found("too long", false)
        );
        assert_eq!(
            find(json!({"error": {"detail": 1}})),
            found("{\"detail\":1}", false)
        );
        assert_eq!(find(json!({"error": null, "choices": []})), None);
        assert_eq!(find(json!([1])), None);
    }

    #[test]
    fn fields_are_laid_over_a_body() {
        let mut body = Map::from_iter([
            ("model".to_owned(), json!("m")),
            (
                "options".to_owned(),
                json!({"num_ctx": 8192, "temperature": 1}),
            ),
        ]);
        let fields: Value =
            json!({"options": {"num_ctx": 4096, "seed": 1}, "model": {"a": 1}, "keep_alive": "1h"})
                .into();
        lay_over(&mut body, fields.as_object().unwrap());
        assert_eq!(
            Json::Object(body),
            json!({
                "model": {"a": 1},
                "options": {"num_ctx": 4096, "temperature": 1, "seed": 1},
                "keep_alive": "1h"
            })
        );
    }

    #[test]
    fn inline_images_are_taken_apart() {
        assert_eq!(
            inline_image("data:image/jpeg;base64,AA=="),
            Some(("image/jpeg", "AA=="))
        );
        assert_eq!(
            inline_image("data:image/jpeg;name=a.jpg;base64,AA=="),
            Some(("image/jpeg", "AA=="))
        );
        assert_eq!(
            inline_image("data:;base64,AA=="),
            Some(("image/png", "AA=="))
        );
        assert_eq!(inline_image("https://example.org/a.png"), None);
        assert_eq!(inline_image("data:text/plain,hello"), None);
    }

    #[test]
    fn arguments_that_are_no_object_are_kept_beside_a_name() {
        let object = |arguments: &str| {
            arguments_object(&ToolCall {
                arguments: arguments.into(),
                ..ToolCall::default()
            })
        };
        assert_eq!(object("{\"a\": 1}"), json!({"a": 1}));
        assert_eq!(object(" "), json!({}));
        assert_eq!(object("{broken"), json!({"arguments": "{broken"}));
    }
}
