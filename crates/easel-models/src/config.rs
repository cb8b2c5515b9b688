//! The part of `easel.toml` that says which models there are.
//!
//! ```toml
//! [models]
//! default = "qwen-max@Tongyi-Qianwen"
//!
//! [models.alias]
//! "gpt-4o@OpenAI" = "qwen-max@Tongyi-Qianwen"
//!
//! [providers.Tongyi-Qianwen]
//! kind = "openai"
//! base_url = "https://dashscope.aliyuncs.com/compatible-mode/v1"
//! key = "DASHSCOPE_API_KEY"                 # the name of a secret, never a value
//!
//! [providers.Tongyi-Qianwen.models.qwen-max]
//! context_window = 32768
//! tools = true
//! ```
//!
//! Reading the file is the program's business; here are the shapes, for any format serde reads.

use std::time::Duration;

use easel_core::Object;
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::chat::ModelInfo;

/// `[models]`: which model answers to which id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsConfig {
    /// Answers where a node names no model.
    pub default: Option<String>,
    /// Answers to every id that nothing else answers to, as in workflows brought from elsewhere.
    pub fallback: Option<String>,
    /// Ids as workflows write them, and the ids that are meant.
    pub alias: IndexMap<String, String>,
}

/// `[providers.NAME]`: where models are and how to speak to them.
///
/// `NAME` is what stands behind `@` in a model's id. To tell several instances of a provider apart, name them
/// `"instance@provider"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// The protocol.
    pub kind: ProviderKind,
    /// Where the API begins; absent: the provider's own service. See [`ProviderKind::base_url`].
    #[serde(default)]
    pub base_url: Option<String>,
    /// The name of the secret that holds the key. Absent: the usual name of the kind at its own service, else no key is sent.
    #[serde(default)]
    pub key: Option<String>,
    /// Headers that go with every request. Not for keys: nothing masks them.
    #[serde(default)]
    pub headers: IndexMap<String, String>,
    /// The models on offer and what is known of each. Empty: any name is passed on.
    #[serde(default)]
    pub models: IndexMap<String, ModelConfig>,
    /// How this server is told to reason or not; absent: by what is known of the server.
    #[serde(default)]
    pub thinking: Option<ThinkingField>,
    /// Fields laid over the body of every request, objects merged into objects.
    #[serde(default)]
    pub body: Object,
    /// Ask for the usage in a stream (`stream_options`). Off for OpenAI-compatible servers that refuse the field.
    #[serde(default = "yes")]
    pub stream_usage: bool,
    /// How often a request is made anew when the provider is busy or cannot be reached.
    #[serde(default = "ProviderConfig::default_retries")]
    pub retries: u32,
    /// The wait before the first retry, in seconds; it doubles each time, unless the provider says how long.
    #[serde(default = "ProviderConfig::default_retry_delay", with = "seconds")]
    pub retry_delay_s: Duration,
    /// The longest such wait, in seconds. A provider that asks for more is given up on.
    #[serde(default = "ProviderConfig::default_retry_delay_cap", with = "seconds")]
    pub retry_delay_cap_s: Duration,
    /// How long a connection may take, in seconds.
    #[serde(default = "ProviderConfig::default_connect_timeout", with = "seconds")]
    pub connect_timeout_s: Duration,
    /// How long a streamed answer may be silent, in seconds. Reasoning models are silent for minutes.
    #[serde(default = "ProviderConfig::default_read_timeout", with = "seconds")]
    pub read_timeout_s: Duration,
    /// How long a request may take with its retries, in seconds.
    #[serde(default = "ProviderConfig::default_timeout", with = "seconds")]
    pub timeout_s: Duration,
}

impl ProviderConfig {
    /// A provider of this kind with everything else as it is by default.
    pub fn new(kind: ProviderKind) -> ProviderConfig {
        ProviderConfig {
            kind,
            base_url: None,
            key: None,
            headers: IndexMap::new(),
            models: IndexMap::new(),
            thinking: None,
            body: Object::new(),
            stream_usage: true,
            retries: ProviderConfig::default_retries(),
            retry_delay_s: ProviderConfig::default_retry_delay(),
            retry_delay_cap_s: ProviderConfig::default_retry_delay_cap(),
            connect_timeout_s: ProviderConfig::default_connect_timeout(),
            read_timeout_s: ProviderConfig::default_read_timeout(),
            timeout_s: ProviderConfig::default_timeout(),
        }
    }

    fn default_retries() -> u32 {
        3
    }

    fn default_retry_delay() -> Duration {
        Duration::from_secs(1)
    }

    fn default_retry_delay_cap() -> Duration {
        Duration::from_secs(30)
    }

    fn default_connect_timeout() -> Duration {
        Duration::from_secs(10)
    }

    fn default_read_timeout() -> Duration {
        Duration::from_secs(300)
    }

    fn default_timeout() -> Duration {
        Duration::from_secs(600)
    }
}

/// The protocol a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// OpenAI's chat completions, and every server that is compatible with them.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own protocol, which alone sets its context window.
    Ollama,
}

impl ProviderKind {
    /// Where the API of the provider's own service begins.
    pub fn base_url(self) -> &'static str {
        match self {
            ProviderKind::OpenAi => "https://api.openai.com/v1",
            ProviderKind::Anthropic => "https://api.anthropic.com/v1",
            ProviderKind::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            ProviderKind::Ollama => "http://localhost:11434/api",
        }
    }

    /// The usual name of the secret that holds a key for the provider's own service.
    pub fn key(self) -> Option<&'static str> {
        match self {
            ProviderKind::OpenAi => Some("OPENAI_API_KEY"),
            ProviderKind::Anthropic => Some("ANTHROPIC_API_KEY"),
            ProviderKind::Gemini => Some("GEMINI_API_KEY"),
            ProviderKind::Ollama => None,
        }
    }
}

/// How a server is told to reason or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingField {
    /// Not at all.
    None,
    /// `thinking: {type: enabled}`, as DeepSeek, GLM and Kimi do.
    Thinking,
    /// `enable_thinking: true`, as Qwen's service does.
    EnableThinking,
    /// `chat_template_kwargs: {enable_thinking: true}`, as vLLM, SGLang and llama.cpp do.
    ChatTemplate,
    /// `thinking: {type: adaptive}`, as Anthropic's models from Opus 4.6 on do.
    Adaptive,
    /// `thinking: {type: enabled, budget_tokens}`, as Anthropic's earlier models do.
    Budget,
}

/// `[providers.NAME.models.MODEL]`: what is known of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The provider's name for it; absent: the one it is listed under.
    pub name: Option<String>,
    /// Tokens that prompt and answer may have together.
    pub context_window: u32,
    /// The most an answer may have where the node says nothing, in tokens. Anthropic's API must be told; 8192 if absent.
    pub max_output_tokens: Option<u32>,
    /// It takes images.
    pub vision: bool,
    /// It calls tools.
    pub tools: bool,
    /// It can be held to a JSON Schema; absent: by what is known of the server.
    pub json_schema: Option<bool>,
    /// How it is told to reason or not; absent: as its provider says.
    pub thinking: Option<ThinkingField>,
    /// Fields laid over the body of its requests, after those of the provider.
    pub body: Object,
}

impl Default for ModelConfig {
    fn default() -> ModelConfig {
        let info = ModelInfo::default();
        ModelConfig {
            name: None,
            context_window: info.context_window,
            max_output_tokens: None,
            vision: info.vision,
            tools: info.tools,
            json_schema: None,
            thinking: None,
            body: Object::new(),
        }
    }
}

fn yes() -> bool {
    true
}

/// Durations as seconds, whole or not.
mod seconds {
    use super::{Deserialize, Deserializer, Duration, Serializer};

    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(duration.as_secs_f64())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Duration::try_from_secs_f64(seconds).map_err(|_| {
            serde::de::Error::custom(format!(
                "{seconds} is no number of seconds; write one from 0 on, such as 30 or 0.5"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_provider_needs_no_more_than_its_kind() {
        let read: ProviderConfig = serde_json::from_value(json!({"kind": "anthropic"})).unwrap();
        assert_eq!(read, ProviderConfig::new(ProviderKind::Anthropic));
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(
            serde_json::from_value::<ProviderConfig>(written).unwrap(),
            read
        );
    }

    #[test]
    fn seconds_may_be_broken_but_not_negative() {
        let with = |seconds: f64| {
            serde_json::from_value::<ProviderConfig>(
                json!({"kind": "openai", "read_timeout_s": seconds}),
            )
        };
        assert_eq!(
            with(0.25).unwrap().read_timeout_s,
            Duration::from_millis(250)
        );
        assert!(
            with(-1.0)
                .unwrap_err()
                .to_string()
                .contains("no number of seconds")
        );
    }

    #[test]
    fn a_misspelt_setting_is_refused() {
        let misspelt = json!({"kind": "openai", "api_key": "sk-1"});
        let error = serde_json::from_value::<ProviderConfig>(misspelt).unwrap_err();
        assert!(error.to_string().contains("api_key"), "{error}");
    }

    #[test]
    fn a_model_is_as_usual_where_nothing_is_said() {
        let read: ModelConfig = serde_json::from_value(json!({"vision": true})).unwrap();
        assert_eq!(
            (read.context_window, read.vision, read.tools),
            (8192, true, true)
        );
    }
}
