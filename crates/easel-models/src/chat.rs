//! What is asked of a model: the request, its messages and tools, and the trait that takes it.

use std::sync::Arc;

use easel_core::{Object, Value};
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::error::ModelError;
use crate::reply::ModelEvent;

/// A model's answer as it comes in. It ends with one [`ModelEvent::Finish`] or with one error, and with nothing after it.
pub type ChatStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Something that answers chat requests: a provider, a scripted model, or a registry in front of several.
pub trait ChatModel: Send + Sync {
    /// What is known about the model behind an id; a blank id means the default model.
    ///
    /// Errors: [`ModelError::UnknownModel`] or [`ModelError::NoDefaultModel`].
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError>;

    /// The secret that a request to that model is made with; `None` if with none.
    fn credential(&self, model: &str) -> Option<Credential> {
        let _ = model;
        None
    }

    /// The provider that answers a request to that model, by its name; `None` if it has none.
    fn provider(&self, model: &str) -> Option<Arc<str>> {
        Some(self.credential(model)?.provider)
    }

    /// Makes one request. It may go out before the stream is first polled; dropping the stream aborts it.
    fn chat(&self, request: ChatRequest) -> ChatStream;
}

/// The secret that goes with requests to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The provider.
    pub provider: Arc<str>,
    /// The secret's name.
    pub secret: Arc<str>,
}

/// What is known about a model before it is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Tokens that prompt and answer may have together.
    pub context_window: u32,
    /// It takes images.
    pub vision: bool,
    /// It calls tools.
    pub tools: bool,
    /// It can be held to a JSON Schema ([`ChatRequest::response_format`]); where it cannot, the prompt must ask.
    pub json_schema: bool,
}

impl ModelInfo {
    /// The context window of a model about which nothing is said, in tokens (spec/canvas-components §3.1).
    pub const DEFAULT_CONTEXT_WINDOW: u32 = 8192;
}

impl Default for ModelInfo {
    /// A text model that calls tools, with [`ModelInfo::DEFAULT_CONTEXT_WINDOW`].
    fn default() -> ModelInfo {
        ModelInfo {
            context_window: ModelInfo::DEFAULT_CONTEXT_WINDOW,
            vision: false,
            tools: true,
            json_schema: false,
        }
    }
}

/// One request to a model. It is serialisable, since it goes into the record of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatRequest {
    /// The model's id as the workflow writes it (`model`, `model@provider`, `model@instance@provider`); blank: the default model.
    pub model: Arc<str>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools the model may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// How the answer is drawn.
    pub sampling: Sampling,
    /// Whether the model reasons before it answers.
    pub thinking: Thinking,
    /// The shape the answer must have. Only for models whose [`ModelInfo::json_schema`] is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat>,
    /// Handed to the provider's chat template as it is (`sys.chat_template_kwargs`); providers without one ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_template_kwargs: Option<Object>,
    /// The caller shows the answer while it comes in. A provider may answer `false` in one piece.
    pub stream: bool,
    /// Who asks.
    pub caller: Caller,
}

/// Who makes a request: scripted rules match on it, records name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The id of the component that owns the model; an agent used as a tool is `Parent-->Name_With_Underscores`.
    pub component: Arc<str>,
    /// The turn of the run, from 0.
    pub turn: u32,
}

/// One message of a conversation. Serialised as the OpenAI chat API writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    #[serde(default)]
    pub content: Content,
    /// The calls an assistant message makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<Arc<str>>,
    /// What the provider wants back with its own message when the conversation goes on, such as the signature of
    /// its reasoning. Opaque: copy it from [`ChatReply::provider_state`](crate::ChatReply::provider_state).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_state: Option<Value>,
}

impl Message {
    /// A message of the given role that holds a text.
    pub fn text(role: Role, text: impl Into<Arc<str>>) -> Message {
        Message {
            role,
            content: Content::Text(text.into()),
            ..Message::default()
        }
    }

    /// Instructions to the model.
    pub fn system(text: impl Into<Arc<str>>) -> Message {
        Message::text(Role::System, text)
    }

    /// What the user says.
    pub fn user(text: impl Into<Arc<str>>) -> Message {
        Message::text(Role::User, text)
    }

    /// What the model said.
    pub fn assistant(text: impl Into<Arc<str>>) -> Message {
        Message::text(Role::Assistant, text)
    }

    /// The result of the tool call with the given id.
    pub fn tool(call: impl Into<Arc<str>>, result: impl Into<Arc<str>>) -> Message {
        Message {
            tool_call_id: Some(call.into()),
            ..Message::text(Role::Tool, result)
        }
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instructions.
    System,
    /// The user.
    #[default]
    User,
    /// The model.
    Assistant,
    /// A tool that was called.
    Tool,
}

impl Role {
    /// The role as the OpenAI chat API writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// What a message says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Nothing, as beside tool calls.
    #[default]
    Empty,
    /// A text.
    Text(Arc<str>),
    /// Texts and images, in order.
    Parts(Vec<Part>),
}

impl Content {
    /// All text in it; parts are joined without anything between them.
    pub fn text(&self) -> Arc<str> {
        match self {
            Content::Empty => Arc::from(""),
            Content::Text(text) => Arc::clone(text),
            Content::Parts(parts) => parts
                .iter()
                .filter_map(Part::as_text)
                .collect::<String>()
                .into(),
        }
    }
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// A text.
    Text {
        /// The text.
        text: Arc<str>,
    },
    /// An image.
    ImageUrl {
        /// Where it is.
        image_url: ImageUrl,
    },
}

/// Where an image is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageUrl {
    /// A `data:` URI or an `https` address.
    pub url: Arc<str>,
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<Arc<str>>) -> Part {
        Part::Text { text: text.into() }
    }

    /// An image part: a `data:` URI or an `https` address.
    pub fn image(url: impl Into<Arc<str>>) -> Part {
        Part::ImageUrl {
            image_url: ImageUrl { url: url.into() },
        }
    }

    /// The text, if the part is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Part::Text { text } => Some(text),
            Part::ImageUrl { .. } => None,
        }
    }
}

/// A call the model makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ToolCallForm", into = "ToolCallForm")]
pub struct ToolCall {
    /// Names the call; the tool's answer carries it.
    pub id: Arc<str>,
    /// The tool's name as it was offered.
    pub name: Arc<str>,
    /// The arguments as the model wrote them: a JSON object if it did well.
    pub arguments: Arc<str>,
}

/// [`ToolCall`] as the OpenAI chat API writes it.
#[derive(Serialize, Deserialize)]
struct ToolCallForm {
    id: Arc<str>,
    #[serde(rename = "type")]
    kind: ToolCallKind,
    function: ToolCallFunction,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ToolCallKind {
    Function,
}

#[derive(Serialize, Deserialize)]
struct ToolCallFunction {
    name: Arc<str>,
    arguments: Arc<str>,
}

impl From<ToolCall> for ToolCallForm {
    fn from(call: ToolCall) -> ToolCallForm {
        ToolCallForm {
            id: call.id,
            kind: ToolCallKind::Function,
            function: ToolCallFunction {
                name: call.name,
                arguments: call.arguments,
            },
        }
    }
}

impl From<ToolCallForm> for ToolCall {
    fn from(form: ToolCallForm) -> ToolCall {
        ToolCall {
            id: form.id,
            name: form.function.name,
            arguments: form.function.arguments,
        }
    }
}

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name. Providers take letters, digits, `_` and `-`, up to 64 of them.
    pub name: Arc<str>,
    /// What it does and when to use it, for the model.
    pub description: Arc<str>,
    /// A JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// How the answer is drawn. What is `None` is not sent, and the provider decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// Randomness, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The share of probability to draw from, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Penalty for words that have occurred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Penalty for words by how often they have occurred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// The most the answer may have, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

/// Whether the model reasons before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// As the provider does by itself; nothing is sent.
    #[default]
    Default,
    /// It does.
    Enabled,
    /// It does not.
    Disabled,
}

/// The shape an answer must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseFormat {
    /// A name for the shape: letters, digits, `_` and `-`.
    pub name: Arc<str>,
    /// The JSON Schema.
    pub schema: Value,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_written_as_the_openai_api_does() {
        let call = ToolCall {
            id: "call_0".into(),
            name: "search_0".into(),
            arguments: r#"{"q":"x"}"#.into(),
        };
        let messages = [
            Message::system("be kind"),
            Message {
                content: Content::Parts(vec![
                    Part::text("what is it?"),
                    Part::image("data:image/png;base64,AA=="),
                ]),
                ..Message::default()
            },
            Message {
                role: Role::Assistant,
                tool_calls: vec![call],
                ..Message::default()
            },
            Message::tool("call_0", "a cat"),
        ];
        let written = serde_json::to_value(&messages).unwrap();
        assert_eq!(
            written,
            json!([
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": [
                    {"type": "text", "text": "what is it?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "call_0", "type": "function", "function": {"name": "search_0", "arguments": "{\"q\":\"x\"}"}}]},
                {"role": "tool", "content": "a cat", "tool_call_id": "call_0"}
            ])
        );
        let read: Vec<Message> = serde_json::from_value(written).unwrap();
        assert_eq!(read, messages);
    }

    #[test]
    fn a_request_survives_the_record() {
        let request = ChatRequest {
            model: "m@p".into(),
            messages: vec![Message::user("hi")],
            tools: vec![ToolSpec {
                name: "t".into(),
                description: "d".into(),
                parameters: json!({"type": "object"}).into(),
            }],
            sampling: Sampling {
                temperature: Some(0.5),
                ..Sampling::default()
            },
            thinking: Thinking::Enabled,
            stream: true,
            caller: Caller {
                component: "LLM:A".into(),
                turn: 2,
            },
            ..ChatRequest::default()
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<ChatRequest>(&text).unwrap(), request);
    }
}
