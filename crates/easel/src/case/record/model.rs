//! A model whose answers are recorded.

use std::sync::Arc;

use easel_runtime::models::{
    ChatModel, ChatReply, ChatRequest, ChatStream, Collector, Credential, ModelError, ModelEvent,
    ModelInfo,
};
use futures::StreamExt;
use serde_json::{Map, Value as Json, json};

use super::{Place, Tape};

/// The section of `llm.json` that answers models.
const RULES: &str = "rules";

/// A model that is passed on to, and recorded.
pub fn recorded(model: Arc<dyn ChatModel>, tape: Arc<Tape>) -> Arc<dyn ChatModel> {
    Arc::new(Recorded { model, tape })
}

struct Recorded {
    model: Arc<dyn ChatModel>,
    tape: Arc<Tape>,
}

impl ChatModel for Recorded {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        let info = self.model.describe(model)?;
        let kinds = if info.vision {
            json!(["chat", "image2text"])
        } else {
            json!(["chat"])
        };
        let about =
            json!({"types": kinds, "is_tools": info.tools, "max_tokens": info.context_window});
        self.tape.describe(model, about);
        // A scripted model cannot be held to a schema, so the real one is asked in the same way.
        Ok(ModelInfo {
            json_schema: false,
            ..info
        })
    }

    fn credential(&self, model: &str) -> Option<Credential> {
        self.model.credential(model)
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let mut answer = Answer {
            place: self.tape.begin(RULES),
            tape: self.tape.clone(),
            when: json!({"component": &*request.caller.component, "turn": request.caller.turn}),
            heard: Collector::default(),
            error: None,
        };
        let events = self.model.chat(request);
        events.inspect(move |event| answer.hear(event)).boxed()
    }
}

/// An answer that is coming in. It is written down when it has come, or when nobody waits for it any more.
struct Answer {
    place: Place,
    tape: Arc<Tape>,
    when: Json,
    heard: Collector,
    error: Option<String>,
}

impl Answer {
    fn hear(&mut self, event: &Result<ModelEvent, ModelError>) {
        match event {
            Ok(event) => self.heard.push(event.clone()),
            Err(error) => self.error = Some(error.to_string()),
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let heard = std::mem::take(&mut self.heard);
        let so_far = heard.text().to_owned();
        let answer = match (self.error.take(), heard.finish()) {
            (Some(error), _) if so_far.is_empty() => json!({"error": error}),
            (Some(error), _) => {
                json!({"chunks": [so_far], "fail_after": {"chunks": 1, "error": error}})
            }
            (None, Some(reply)) => whole(reply),
            // Nobody waited for the rest.
            (None, None) => json!({"reply": so_far}),
        };
        let mut rule = json!({"match": self.when, "times": 1});
        if let (Some(rule), Json::Object(answer)) = (rule.as_object_mut(), answer) {
            rule.extend(answer);
        }
        self.tape.end(RULES, self.place, rule);
    }
}

/// What of a rule gives an answer once more.
fn whole(reply: ChatReply) -> Json {
    let mut answer = Map::new();
    let mut set = |name: &str, value: Json| drop(answer.insert(name.to_owned(), value));
    if !reply.reasoning.is_empty() {
        set("reasoning", reply.reasoning.into());
    }
    if !reply.text.is_empty() || reply.tool_calls.is_empty() {
        set("reply", reply.text.into());
    }
    if !reply.tool_calls.is_empty() {
        let calls = reply.tool_calls.iter().map(|call| {
            let arguments = serde_json::from_str::<Json>(&call.arguments);
            let arguments = arguments.unwrap_or_else(|_| call.arguments.to_string().into());
            json!({"id": &*call.id, "name": &*call.name, "arguments": arguments})
        });
        set("tool_calls", calls.collect());
    }
    if reply.finish_reason.as_str() != "stop" {
        set("finish_reason", reply.finish_reason.as_str().into());
    }
    Json::Object(answer)
}
