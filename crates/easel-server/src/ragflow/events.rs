//! The events of a run in RAGFlow's envelopes (spec/canvas-engine §8.2, §8.3).

use std::sync::Arc;

use easel_runtime::Logged;
use serde_json::json;

use super::envelope::{Members, SERVER, Value};
use super::speech::{Speech, Step};

/// How much of a run a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Everything: for conversations that their first message opened, and for embedded ones.
    Whole,
    /// Only what is said and what came out: for conversations that were opened before.
    Short,
}

/// What every envelope of a turn has.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelope {
    pub message_id: String,
    /// When the turn began, in seconds since 1970.
    pub created_at: i64,
    pub session: Arc<str>,
}

/// Puts the events of one turn into envelopes.
pub(super) struct Telling {
    form: Form,
    return_trace: bool,
    envelope: Envelope,
    speech: Speech,
    /// What each node did so far.
    trace: Vec<Value>,
}

impl Telling {
    pub fn new(form: Form, return_trace: bool, envelope: Envelope) -> Telling {
        Telling {
            form,
            return_trace,
            envelope,
            speech: Speech::default(),
            trace: Vec::new(),
        }
    }

    /// What a client is told of an event.
    pub fn tell(&mut self, event: &Logged) -> Vec<Value> {
        let name = event.name();
        let whole = self.form == Form::Whole;
        match name {
            // Old clients have no word for these.
            "node_skipped" | "attempt_failed" | "run_recovered" | "warning" | "tool_call"
            | "answer_unfit" => return Vec::new(),
            "workflow_started" | "node_started" if !whole => return Vec::new(),
            "message_reset" => {
                self.speech.reset();
                return Vec::new();
            }
            _ => {}
        }
        let mut data: Value = serde_json::from_str(event.data()).unwrap_or_default();
        match name {
            "message" => {
                let steps = self.speech.piece(data);
                return self.said(steps);
            }
            "message_end" => {
                let steps = self.speech.end();
                let mut frames = self.said(steps);
                frames.push(self.frame(name, data));
                return frames;
            }
            "node_finished" => {
                finish(&mut data);
                if self.return_trace {
                    keep(&mut self.trace, &data);
                    data["trace"] = self.trace.clone().into();
                }
            }
            "workflow_finished" => {
                if data.get("outputs").is_some_and(Value::is_string) {
                    data["outputs"] = "Task has been canceled".into();
                }
                if !whole {
                    let usage = data.get("usage").cloned().unwrap_or_default();
                    data = json!({"usage": usage});
                }
            }
            "user_inputs" => complete_fields(&mut data),
            "error" => return vec![self.failure(name, data, None)],
            "run_uncertain" => {
                let writes = data.get("writes").and_then(Value::as_array);
                let questions = writes
                    .into_iter()
                    .flatten()
                    .filter_map(|w| w.get("question")?.as_str());
                let message = format!(
                    "The run stands still until somebody decides: {}",
                    Vec::from_iter(questions).join(" ")
                );
                return vec![self.failure(name, data, Some(message))];
            }
            _ => {}
        }
        vec![self.frame(name, data)]
    }

    fn said(&self, steps: Vec<Step>) -> Vec<Value> {
        let frames = steps.into_iter().map(|step| match step {
            Step::Say(data) => self.frame("message", data),
            Step::Break => self.frame("message_end", json!({})),
        });
        frames.collect()
    }

    fn frame(&self, event: &str, data: Value) -> Value {
        json!({
            "event": event,
            "message_id": self.envelope.message_id,
            "created_at": self.envelope.created_at,
            "task_id": self.envelope.session,
            "data": data,
            "session_id": self.envelope.session,
        })
    }

    /// An event that says that the run does not go on. Clients that look for a code find one; others pass it over.
    fn failure(&self, event: &str, data: Value, message: Option<String>) -> Value {
        let said = data
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let message = message.unwrap_or_else(|| said.to_owned());
        let mut frame = self.frame(event, data);
        frame["code"] = SERVER.into();
        frame["message"] = message.into();
        frame
    }
}

/// Adds what a node did to a trace: `[{component_id, trace: […]}]`.
pub(super) fn keep(trace: &mut Vec<Value>, data: &Value) {
    let id = data.get("component_id").cloned().unwrap_or_default();
    let known = trace
        .iter_mut()
        .find(|entry| entry.get("component_id") == Some(&id));
    match known.and_then(|entry| entry.get_mut("trace")?.as_array_mut()) {
        Some(list) => list.push(data.clone()),
        None => trace.push(json!({"component_id": id, "trace": [data]})),
    }
}

/// Adds to what a node put out what old clients look for there.
fn finish(data: &mut Value) {
    let created = data.get("created_at").cloned().unwrap_or_default();
    let elapsed = data.get("elapsed_time").cloned().unwrap_or_default();
    let error = data.get("error").filter(|error| !error.is_null()).cloned();
    let Some(outputs) = data.get_mut("outputs").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(error) = error {
        outputs.insert("_ERROR".to_owned(), error);
    }
    outputs.insert("_created_time".to_owned(), created);
    outputs.insert("_elapsed_time".to_owned(), elapsed);
}

/// Gives each field that is asked for all members that clients read.
fn complete_fields(data: &mut Value) {
    let fields = data.get_mut("inputs").and_then(Value::as_object_mut);
    for (key, field) in fields.into_iter().flatten() {
        let Value::Object(members) = field else {
            continue;
        };
        let defaults: [(&str, Value); 4] = [
            ("name", key.as_str().into()),
            ("type", "line".into()),
            ("optional", false.into()),
            ("value", Value::Null),
        ];
        for (name, value) in defaults {
            members.entry(name).or_insert(value);
        }
    }
}

/// The structured output of a node, if it has one.
pub(super) fn structured(data: &Value) -> Option<(String, Value)> {
    let id = data.get("component_id")?.as_str()?;
    let structured = data.get("outputs")?.get("structured")?;
    let says = structured
        .as_object()
        .is_none_or(|members: &Members| !members.is_empty());
    (says && !structured.is_null()).then(|| (id.to_owned(), structured.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(name: &str, data: Value) -> Logged {
        Logged {
            id: "1.0".parse().unwrap(),
            json: format!(r#"{{"event":"{name}","data":{data}}}"#).into(),
        }
    }

    fn telling(form: Form) -> Telling {
        let envelope = Envelope {
            message_id: "m".to_owned(),
            created_at: 7,
            session: "s".into(),
        };
        Telling::new(form, false, envelope)
    }

    #[test]
    fn an_envelope_names_the_message_the_task_and_the_session() {
        let frames =
            telling(Form::Whole).tell(&logged("workflow_started", json!({"inputs": null})));
        let expected = r#"{"event":"workflow_started","message_id":"m","created_at":7,"task_id":"s","data":{"inputs":null},"session_id":"s"}"#;
        assert_eq!(frames[0].to_string(), expected);
    }

    #[test]
    fn a_short_form_has_only_what_is_said_and_what_came_out() {
        let mut telling = telling(Form::Short);
        assert!(telling.tell(&logged("node_started", json!({}))).is_empty());
        let finished = json!({"outputs": {"content": "x"}, "usage": {"calls": 1}});
        let frames = telling.tell(&logged("workflow_finished", finished));
        assert_eq!(frames[0]["data"], json!({"usage": {"calls": 1}}));
    }

    #[test]
    fn a_failure_has_a_code_and_its_data_is_an_object() {
        let frames = telling(Form::Whole).tell(&logged("error", json!({"message": "boom"})));
        assert_eq!(frames[0]["code"], 500);
        assert_eq!(frames[0]["message"], "boom");
        assert!(frames[0]["data"].is_object());
    }

    #[test]
    fn a_node_that_failed_has_its_error_among_its_outputs() {
        let node = json!({"component_id": "A", "outputs": {}, "error": "boom", "elapsed_time": 0.5, "created_at": 3.0});
        let frames = telling(Form::Whole).tell(&logged("node_finished", node));
        let outputs = &frames[0]["data"]["outputs"];
        assert_eq!(
            *outputs,
            json!({"_ERROR": "boom", "_created_time": 3.0, "_elapsed_time": 0.5})
        );
    }

    #[test]
    fn a_field_that_is_asked_for_is_blank() {
        let asked = json!({"inputs": {"n": {"type": "line"}}, "tips": "hi"});
        let frames = telling(Form::Short).tell(&logged("user_inputs", asked));
        let field = &frames[0]["data"]["inputs"]["n"];
        assert_eq!(
            *field,
            json!({"type": "line", "name": "n", "optional": false, "value": null})
        );
    }
}
