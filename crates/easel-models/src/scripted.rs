//! A model that answers by rules: the stand-in for every provider in tests, examples and `easel test`.
//!
//! The rules are those of a canvas case's `llm.json`: searched in order, the first match wins, and a rule with
//! `times` stops matching once it has answered that often.
//!
//! ```
//! use easel_models::{ChatModel, ChatRequest, Message, Scripted, collect};
//!
//! let script = serde_json::from_str(r#"{"rules": [
//!     {"match": {"last_contains": "capital"}, "reply": "Paris"},
//!     {"reply": "I do not know"}
//! ]}"#)?;
//! let model = Scripted::new(script);
//! let request = ChatRequest { messages: vec![Message::user("The capital of France?")], ..Default::default() };
//! let reply = futures::executor::block_on(collect(model.chat(request)))?;
//! assert_eq!(reply.text, "Paris");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_core::Value;
use futures::{StreamExt, stream};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::chat::{Caller, ChatModel, ChatRequest, ChatStream, Message, ModelInfo, Role};
use crate::error::{ModelError, excerpt};
use crate::reply::{FinishReason, ModelEvent, ToolCallDelta, Usage};
use crate::tokens;

/// What a scripted model says: the sections of a case's `llm.json` that concern models. Other sections are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Script {
    /// The answers, searched in order.
    pub rules: Vec<Rule>,
    /// What is known about each model; one that is not listed is as [`ScriptedModelInfo::default`] says.
    pub models: IndexMap<String, ScriptedModelInfo>,
    /// The answer when no rule matches; without one that is an error.
    pub default_reply: Option<String>,
}

/// One rule: for which requests, and what they get.
///
/// An `error` is all there is. Otherwise the answer is, in this order, what is given of `reasoning`,
/// `chunks` or `reply`, and `tool_calls`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Which requests it answers; absent or empty: every one.
    #[serde(rename = "match")]
    pub matches: Match,
    /// How often it answers at most; absent: without end.
    pub times: Option<u32>,
    /// The answer, streamed in three pieces.
    pub reply: Option<String>,
    /// The answer in the pieces in which it is streamed. A caller that does not stream gets `reply`, blank if absent.
    pub chunks: Option<Vec<String>>,
    /// Where a streamed answer breaks off.
    pub fail_after: Option<FailAfter>,
    /// The calls the model makes.
    pub tool_calls: Vec<ScriptedCall>,
    /// The request fails with this text.
    pub error: Option<String>,
    /// The reasoning that goes before the answer, streamed in three pieces.
    pub reasoning: Option<String>,
    /// Why the answer ends; absent: `stop`.
    pub finish_reason: Option<FinishReason>,
    /// The run is cancelled when the request arrives; see [`Scripted::on_cancel`].
    pub cancel: bool,
    /// How long the model thinks before it answers, in milliseconds. A scripted world's clock stands still, so it
    /// takes no time; it is here because such files carry it.
    pub delay_ms: Option<u64>,
}

/// What a request must be for a rule to answer it. All that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Match {
    /// The component that asks: [`Caller::component`].
    pub component: Option<String>,
    /// The model's id as the request has it.
    pub model: Option<String>,
    /// The turn of the run, from 0.
    pub turn: Option<u32>,
    /// Some message contains this.
    pub prompt_contains: Option<String>,
    /// Some system message contains this.
    pub system_contains: Option<String>,
    /// The last message contains this.
    pub last_contains: Option<String>,
    /// The last message is of this role.
    pub last_role: Option<Role>,
}

/// Where a streamed answer breaks off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailAfter {
    /// After so many pieces of the answer, or at its end if it has fewer.
    pub chunks: usize,
    /// The text of the error.
    pub error: String,
}

/// A call that a scripted model makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// Its id; absent: `call_` and its position.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments; a text is sent as it is, so it can also be a broken one.
    #[serde(default = "Value::empty_object")]
    pub arguments: Value,
}

/// What a scripted world knows about a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedModelInfo {
    /// What it is for: `chat`, and `image2text` if it takes images.
    pub types: Vec<String>,
    /// It calls tools.
    pub is_tools: bool,
    /// Its context window, in tokens.
    pub max_tokens: u32,
    /// There is no such model.
    pub missing: bool,
}

impl Default for ScriptedModelInfo {
    /// A chat model that calls tools, with the usual context window.
    fn default() -> ScriptedModelInfo {
        ScriptedModelInfo {
            types: vec!["chat".to_owned()],
            is_tools: true,
            max_tokens: ModelInfo::DEFAULT_CONTEXT_WINDOW,
            missing: false,
        }
    }
}

/// A request that a scripted model got, as a trace shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoggedCall {
    /// Who asked.
    #[serde(skip)]
    pub caller: Caller,
    /// The caller wanted a stream.
    pub stream: bool,
    /// The conversation, as the OpenAI chat API writes it, with the position of each tool call beside it.
    pub messages: Vec<Value>,
    /// The names of the tools on offer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Arc<str>>,
}

/// Called with the asker when a rule with `cancel` gets a request.
pub type CancelHook = Arc<dyn Fn(&Caller) + Send + Sync>;

/// A model that answers by a [`Script`]. Clones share the count of what was answered, and the log.
///
/// Requests are matched and logged inside [`ChatModel::chat`], so in the order of those calls.
#[derive(Clone)]
pub struct Scripted {
    script: Arc<Script>,
    cancel: Option<CancelHook>,
    played: Arc<Mutex<Played>>,
}

/// What has happened so far.
#[derive(Default)]
struct Played {
    /// How often each rule has answered.
    uses: Vec<u32>,
    log: Vec<LoggedCall>,
}

impl Scripted {
    /// A model that answers by this script.
    pub fn new(script: Script) -> Scripted {
        let played = Played {
            uses: vec![0; script.rules.len()],
            log: Vec::new(),
        };
        Scripted {
            script: Arc::new(script),
            cancel: None,
            played: Arc::new(Mutex::new(played)),
        }
    }

    /// Calls the hook when a rule with `cancel` gets a request, before it is answered.
    pub fn on_cancel(self, hook: CancelHook) -> Scripted {
        Scripted {
            cancel: Some(hook),
            ..self
        }
    }

    /// Takes the requests logged since the last time, by the component that made them, each list in order.
    pub fn take_log(&self) -> IndexMap<Arc<str>, Vec<LoggedCall>> {
        let mut by_component: IndexMap<Arc<str>, Vec<LoggedCall>> = IndexMap::new();
        for call in std::mem::take(&mut self.played().log) {
            by_component
                .entry(Arc::clone(&call.caller.component))
                .or_default()
                .push(call);
        }
        by_component
    }

    /// How often each rule has answered, in the order of the script.
    pub fn uses(&self) -> Vec<u32> {
        self.played().uses.clone()
    }

    /// Goes on as if each rule had answered that often: another process answered before.
    pub fn set_uses(&self, uses: &[u32]) {
        let mut played = self.played();
        for (there, used) in played.uses.iter_mut().zip(uses) {
            *there = *used;
        }
    }

    fn played(&self) -> MutexGuard<'_, Played> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs a request and finds the rule that answers it.
    fn take_rule(&self, request: &ChatRequest) -> Option<&Rule> {
        let mut played = self.played();
        played.log.push(LoggedCall::new(request));
        let rules = self.script.rules.iter().zip(&mut played.uses);
        for (rule, uses) in rules {
            if rule.times.is_none_or(|times| *uses < times) && rule.matches.holds(request) {
                *uses = uses.saturating_add(1);
                return Some(rule);
            }
        }
        None
    }

    fn answer(&self, request: &ChatRequest) -> Vec<Result<ModelEvent, ModelError>> {
        match self.take_rule(request) {
            Some(rule) => {
                if let (true, Some(hook)) = (rule.cancel, &self.cancel) {
                    hook(&request.caller);
                }
                rule.answer(request)
            }
            None => match &self.script.default_reply {
                Some(reply) => {
                    let rule = Rule {
                        reply: Some(reply.clone()),
                        ..Rule::default()
                    };
                    rule.answer(request)
                }
                None => vec![Err(ModelError::NoScriptedRule {
                    component: Arc::clone(&request.caller.component),
                    turn: request.caller.turn,
                    last: request
                        .messages
                        .last()
                        .map_or_else(String::new, |m| excerpt(&m.content.text())),
                })],
            },
        }
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted")
            .field("script", &self.script)
            .finish_non_exhaustive()
    }
}

impl ChatModel for Scripted {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        let info = self.script.models.get(model).cloned().unwrap_or_default();
        if info.missing {
            let there = self.script.models.iter().filter(|(_, info)| !info.missing);
            return Err(ModelError::UnknownModel {
                id: model.into(),
                reason: "the script says that it is missing".to_owned(),
                configured: there.map(|(id, _)| id.clone()).collect(),
            });
        }
        Ok(ModelInfo {
            context_window: info.max_tokens,
            vision: info.types.iter().any(|kind| kind == "image2text"),
            tools: info.is_tools,
            json_schema: false,
        })
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let events = match self.describe(&request.model) {
            Ok(_) => self.answer(&request),
            Err(missing) => vec![Err(missing)],
        };
        stream::iter(events).boxed()
    }
}

impl Match {
    fn holds(&self, request: &ChatRequest) -> bool {
        let messages = &request.messages;
        let last = messages.last();
        let says = |message: &Message, text: &str| message.content.text().contains(text);
        fn given<T>(wanted: &Option<T>, holds: impl FnOnce(&T) -> bool) -> bool {
            wanted.as_ref().is_none_or(holds)
        }
        given(&self.component, |id| **id == *request.caller.component)
            && given(&self.model, |id| **id == *request.model)
            && given(&self.turn, |turn| *turn == request.caller.turn)
            && given(&self.prompt_contains, |text| {
                messages.iter().any(|m| says(m, text))
            })
            && given(&self.system_contains, |text| {
                messages
                    .iter()
                    .any(|m| m.role == Role::System && says(m, text))
            })
            && given(&self.last_contains, |text| {
                last.is_some_and(|m| says(m, text))
            })
            && given(&self.last_role, |role| {
                last.is_some_and(|m| m.role == *role)
            })
    }
}

impl Rule {
    /// The events of the answer, an error among them being the last.
    fn answer(&self, request: &ChatRequest) -> Vec<Result<ModelEvent, ModelError>> {
        if let Some(message) = &self.error {
            return vec![Err(scripted_error(message))];
        }
        let mut events = Vec::new();
        let reasoning = self.reasoning.as_deref().unwrap_or_default();
        events.extend(
            pieces(reasoning, request.stream).map(|piece| Ok(ModelEvent::Reasoning(piece))),
        );

        let text = self.text(request.stream);
        match &self.fail_after {
            Some(failure) if request.stream => {
                let before = text.into_iter().take(failure.chunks);
                events.extend(before.map(|piece| Ok(ModelEvent::Text(piece))));
                events.push(Err(scripted_error(&failure.error)));
                return events;
            }
            _ => {}
        }
        let usage = self.usage(request, &text.concat());
        events.extend(text.into_iter().map(|piece| Ok(ModelEvent::Text(piece))));
        for (index, call) in (0..).zip(&self.tool_calls) {
            events.push(Ok(ModelEvent::ToolCall(call.event(index))));
        }
        events.push(Ok(ModelEvent::Usage(usage)));
        let reason = self.finish_reason.clone().unwrap_or_default();
        events.push(Ok(ModelEvent::Finish(reason)));
        events
    }

    /// The answer in the pieces in which the caller gets it, none of them empty.
    fn text(&self, stream: bool) -> Vec<String> {
        match &self.chunks {
            Some(chunks) if stream => chunks
                .iter()
                .filter(|chunk| !chunk.is_empty())
                .cloned()
                .collect(),
            _ => pieces(self.reply.as_deref().unwrap_or_default(), stream).collect(),
        }
    }

    /// Counted in words for a whole reply, in pieces with their spaces for a stream.
    fn usage(&self, request: &ChatRequest, reply: &str) -> Usage {
        let count = |text: &str| match request.stream {
            true => tokens::pieces(text).count() as u64,
            false => tokens::count(text) as u64,
        };
        Usage {
            input_tokens: request
                .messages
                .iter()
                .map(|m| count(&m.content.text()))
                .sum(),
            output_tokens: count(reply),
            ..Usage::default()
        }
    }
}

impl ScriptedCall {
    fn event(&self, index: u32) -> ToolCallDelta {
        ToolCallDelta {
            index,
            id: Some(self.id.clone().unwrap_or_else(|| format!("call_{index}"))),
            name: Some(self.name.clone()),
            arguments: match &self.arguments {
                Value::String(raw) => raw.to_string(),
                object => spaced_json(object),
            },
        }
    }
}

impl LoggedCall {
    fn new(request: &ChatRequest) -> LoggedCall {
        LoggedCall {
            caller: request.caller.clone(),
            stream: request.stream,
            messages: request.messages.iter().map(traced).collect(),
            tools: request
                .tools
                .iter()
                .map(|tool| Arc::clone(&tool.name))
                .collect(),
        }
    }
}

/// A message as a trace shows it: each tool call tells its position, and provider state is left out.
fn traced(message: &Message) -> Value {
    let Ok(serde_json::Value::Object(mut written)) = serde_json::to_value(message) else {
        return Value::Null;
    };
    written.shift_remove("provider_state");
    if let Some(serde_json::Value::Array(calls)) = written.get_mut("tool_calls") {
        for (index, call) in calls.iter_mut().enumerate() {
            if let serde_json::Value::Object(call) = call {
                call.shift_insert(0, "index".to_owned(), index.into());
            }
        }
    }
    serde_json::Value::Object(written).into()
}

fn scripted_error(message: &str) -> ModelError {
    ModelError::Scripted {
        message: message.to_owned(),
    }
}

/// A text whole, or in three pieces cut at a third and two thirds of its characters; empty pieces are left out.
fn pieces(text: &str, stream: bool) -> impl Iterator<Item = String> {
    let count = text.chars().count();
    let at = |characters: usize| {
        text.char_indices()
            .nth(characters)
            .map_or(text.len(), |(byte, _)| byte)
    };
    let (first, second) = match stream {
        true => (at(count / 3), at(count * 2 / 3)),
        false => (0, 0),
    };
    let (start, rest) = text.split_at(first);
    let (middle, end) = rest.split_at(second - first);
    [start, middle, end]
        .map(str::to_owned)
        .into_iter()
        .filter(|piece| !piece.is_empty())
}

/// JSON with a space after each `,` and `:`, as models trained on Python's output tend to write their arguments.
fn spaced_json(value: &Value) -> String {
    struct Spaced;
    impl serde_json::ser::Formatter for Spaced {
        fn begin_array_value<W: ?Sized + io::Write>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> io::Result<()> {
            writer.write_all(if first { b"" } else { b", " })
        }
        fn begin_object_key<W: ?Sized + io::Write>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> io::Result<()> {
            writer.write_all(if first { b"" } else { b", " })
        }
        fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
            writer.write_all(b": ")
        }
    }
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Spaced);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8(text).unwrap_or_default(),
        Err(_) => value.to_json_text(),
    }
}

#[cfg(test)]
mod tests;
