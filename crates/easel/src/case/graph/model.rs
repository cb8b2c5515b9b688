//! The scripted model of a graph case: `llm.json`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, Credential, FinishReason, Message, ModelError, ModelEvent,
    ModelInfo, Role, ToolCallDelta, Usage,
};
use futures::{StreamExt, stream};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// What the model says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Script {
    /// Replies used in order, one for each call that no rule catches.
    script: Vec<Reply>,
    /// Tried before the script; the first that matches answers.
    rules: Vec<Rule>,
    /// The reply when both have run out; without one the text "OK".
    default: Option<Reply>,
    /// What is said of the model.
    capabilities: serde_json::Map<String, Json>,
}

#[derive(Debug, Deserialize)]
struct Rule {
    #[serde(default, rename = "match")]
    matches: Match,
    reply: Reply,
    times: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Match {
    user: Option<String>,
    system: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Reply {
    text: Option<String>,
    chunks: Option<Vec<String>>,
    thinking: Option<String>,
    echo: bool,
    tool_calls: Vec<Call>,
    error: Option<String>,
    delay_ms: Option<u64>,
    usage: Option<Tokens>,
}

#[derive(Clone, Debug, Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    input: serde_json::Map<String, Json>,
    id: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Tokens {
    #[serde(rename = "in")]
    sent: u64,
    out: u64,
}

/// A model that says what it is told, and remembers what it was asked.
pub struct Scripted {
    script: Script,
    /// Models by the name of their profile.
    profiles: IndexMap<String, String>,
    /// There is no model at all.
    none: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<Json>,
    used: Vec<u32>,
    next: usize,
}

impl Scripted {
    pub fn new(script: Script, profiles: IndexMap<String, String>, none: bool) -> Scripted {
        let state = State {
            used: vec![0; script.rules.len()],
            ..State::default()
        };
        Scripted {
            script,
            profiles,
            none,
            state: Mutex::new(state),
        }
    }

    /// The requests, in order.
    pub fn calls(&self) -> Vec<Json> {
        self.state().calls.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model that an id names: `model`, `model@profile`, or `@profile`.
    fn model(&self, id: &str) -> Result<String, ModelError> {
        if self.none {
            return Err(ModelError::NoDefaultModel {
                configured: Vec::new(),
            });
        }
        let Some((model, profile)) = id.split_once('@') else {
            return Ok(match id {
                "" | "test" => "fake-1".to_owned(),
                model => model.to_owned(),
            });
        };
        match self.profiles.get(profile) {
            Some(usual) if model.is_empty() => Ok(usual.clone()),
            Some(_) => Ok(model.to_owned()),
            None => Err(ModelError::UnknownModel {
                id: id.into(),
                reason: format!("there is no profile {profile}"),
                configured: self.profiles.keys().cloned().collect(),
            }),
        }
    }

    fn reply(&self, request: &ChatRequest, model: &str) -> (usize, Reply) {
        let (system, rest): (Vec<&Message>, Vec<&Message>) = request
            .messages
            .iter()
            .partition(|m| m.role == Role::System);
        let system: Vec<String> = system
            .iter()
            .map(|m| m.content.text().to_string())
            .collect();
        let system = system.join("\n\n");
        let last = last_text(&rest);
        let mut state = self.state();
        state.calls.push(shown(&system, &rest, request, model));
        let number = state.calls.len();
        let matching = self.script.rules.iter().enumerate().find(|(at, rule)| {
            let holds = |wanted: &Option<String>, text: &str| {
                wanted
                    .as_ref()
                    .is_none_or(|wanted| text.contains(wanted.as_str()))
            };
            let left = rule.times.is_none_or(|times| state.used[*at] < times);
            left && holds(&rule.matches.user, &last) && holds(&rule.matches.system, &system)
        });
        let mut reply = match matching {
            Some((at, rule)) => {
                state.used[at] += 1;
                rule.reply.clone()
            }
            None => {
                let next = self.script.script.get(state.next);
                state.next += usize::from(next.is_some());
                next.or(self.script.default.as_ref())
                    .cloned()
                    .unwrap_or(Reply {
                        text: Some("OK".to_owned()),
                        ..Reply::default()
                    })
            }
        };
        if reply.echo {
            reply.text = Some(format!("ECHO[{last}]"));
        }
        (number, reply)
    }
}

impl ChatModel for Scripted {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        self.model(model)?;
        let has = |flag: &str| self.script.capabilities.get(flag).and_then(Json::as_bool);
        Ok(ModelInfo {
            tools: has("tools").or(has("supports_tools")).unwrap_or(true),
            context_window: 200_000,
            ..ModelInfo::default()
        })
    }

    fn credential(&self, _: &str) -> Option<Credential> {
        None
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let model = match self.model(&request.model) {
            Ok(model) => model,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let (number, reply) = self.reply(&request, &model);
        if let Some(error) = reply.error {
            let error = ModelError::Scripted { message: error };
            return stream::iter([Err(error)]).boxed();
        }
        let mut events = Vec::new();
        events.extend(
            reply
                .thinking
                .filter(|t| !t.is_empty())
                .map(ModelEvent::Reasoning),
        );
        let pieces = reply
            .chunks
            .unwrap_or_else(|| reply.text.into_iter().collect());
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
        events.extend(pieces.map(ModelEvent::Text));
        let calls = reply.tool_calls.iter().enumerate().map(|(index, call)| {
            let id = call
                .id
                .clone()
                .unwrap_or_else(|| format!("call_{number}_{index}"));
            ModelEvent::ToolCall(ToolCallDelta {
                index: index as u32,
                id: Some(id),
                name: Some(call.name.clone()),
                arguments: Json::Object(call.input.clone()).to_string(),
            })
        });
        events.extend(calls);
        let usage = reply.usage.unwrap_or(Tokens { sent: 10, out: 5 });
        events.push(ModelEvent::Usage(Usage {
            input_tokens: usage.sent,
            output_tokens: usage.out,
            ..Usage::default()
        }));
        events.push(ModelEvent::Finish(match reply.tool_calls.is_empty() {
            true => FinishReason::Stop,
            false => FinishReason::ToolCalls,
        }));
        stream::iter(events.into_iter().map(Ok)).boxed()
    }
}

/// The text of the last message; of tool results, all of them.
fn last_text(messages: &[&Message]) -> String {
    let results = messages
        .iter()
        .rev()
        .take_while(|m| m.role == Role::Tool)
        .count();
    let last = messages.len().saturating_sub(results.max(1));
    let texts = messages[last..]
        .iter()
        .map(|m| m.content.text().to_string());
    texts.collect::<Vec<_>>().join("\n")
}

/// A request as a trace shows it.
fn shown(system: &str, messages: &[&Message], request: &ChatRequest, model: &str) -> Json {
    let mut shown: Vec<Json> = Vec::new();
    for message in messages {
        let text = message.content.text();
        if message.role == Role::Tool {
            let result = json!({
                "type": "tool_result", "tool_use_id": message.tool_call_id.as_deref(),
                "content": &*text, "is_error": false,
            });
            let last = shown
                .last_mut()
                .filter(|last| last["content"][0]["type"] == "tool_result");
            match last.and_then(|last| last["content"].as_array_mut()) {
                Some(content) => content.push(result),
                None => shown.push(json!({"role": "user", "content": [result]})),
            }
            continue;
        }
        let mut content = Vec::new();
        if !text.is_empty() || message.tool_calls.is_empty() {
            content.push(json!({"type": "text", "text": &*text}));
        }
        content.extend(message.tool_calls.iter().map(|call| {
            let input: Json = serde_json::from_str(&call.arguments).unwrap_or_default();
            json!({"type": "tool_use", "id": &*call.id, "name": &*call.name, "input": input})
        }));
        shown.push(json!({"role": message.role.as_str(), "content": content}));
    }
    let mut call = json!({"system": system, "messages": shown});
    if !request.tools.is_empty() {
        let tools = request
            .tools
            .iter()
            .map(|tool| json!({"name": &*tool.name, "input_schema": tool.parameters.to_json()}));
        call["tools"] = tools.collect();
    }
    if model != "fake-1" {
        call["model"] = json!(model);
    }
    call
}
