//! The answer for a client that waits for all of a turn.

use easel_runtime::Logged;
use serde_json::json;

use super::envelope::{EXCEPTION, Members, SERVER, Value};
use super::events::{Form, keep, structured};
use super::speech::{END, START};

/// What a turn came to so far.
pub(super) struct Answer {
    form: Form,
    /// What was said, and the message that is being said.
    said: String,
    saying: String,
    reference: Value,
    structured: Members,
    usage: Value,
    /// The last envelope of each kind that may be the answer.
    finished: Option<Value>,
    message_end: Option<Value>,
    question: Option<Value>,
    /// The nodes that failed, handled or not.
    failed_nodes: Vec<Value>,
    failed_node: Option<Value>,
    failure: Option<String>,
    /// What each node did, if that is asked for.
    trace: Option<Vec<Value>>,
}

impl Answer {
    pub fn new(form: Form, with_trace: bool) -> Answer {
        Answer {
            form,
            said: String::new(),
            saying: String::new(),
            reference: json!({}),
            structured: Members::new(),
            usage: Value::Null,
            finished: None,
            message_end: None,
            question: None,
            failed_nodes: Vec::new(),
            failed_node: None,
            failure: None,
            trace: with_trace.then(Vec::new),
        }
    }

    /// Takes in an event, and what a client that reads along is told of it.
    pub fn take(&mut self, event: &Logged, frames: Vec<Value>) {
        match event.name() {
            "message" => self.hear(event),
            "message_reset" => self.saying.clear(),
            _ => {}
        }
        let Some(frame) = frames.into_iter().next_back() else {
            return;
        };
        let data = frame.get("data");
        match event.name() {
            "message_end" => {
                self.said += &std::mem::take(&mut self.saying);
                if let Some(reference) = data.and_then(|data| data.get("reference")) {
                    self.reference = reference.clone();
                }
                self.message_end = Some(frame);
            }
            "node_finished" => {
                if let (Some(trace), Some(data)) = (&mut self.trace, data) {
                    keep(trace, data);
                }
                self.structured.extend(data.and_then(structured));
                if data
                    .and_then(|data| data.get("error"))
                    .is_some_and(|error| !error.is_null())
                {
                    self.failed_nodes.push(frame);
                }
            }
            "user_inputs" => {
                self.question.get_or_insert(frame);
            }
            "workflow_finished" => {
                self.usage = data
                    .and_then(|data| data.get("usage"))
                    .cloned()
                    .unwrap_or_default();
                self.finished = Some(frame);
            }
            "error" | "run_uncertain" => {
                let message = frame.get("message").and_then(Value::as_str);
                self.failure = Some(message.unwrap_or_default().to_owned());
                self.usage = data
                    .and_then(|data| data.get("usage"))
                    .cloned()
                    .unwrap_or_default();
                let id = |frame: &Value| frame.get("data")?.get("component_id").cloned();
                let of = id(&frame);
                let mut failed = std::mem::take(&mut self.failed_nodes).into_iter().rev();
                let failed = failed.find(|failed| id(failed) == of);
                self.failed_node = failed.or(Some(frame));
            }
            _ => {}
        }
    }

    fn hear(&mut self, event: &Logged) {
        let data: Value = serde_json::from_str(event.data()).unwrap_or_default();
        let is = |mark: &str| data.get(mark) == Some(&Value::Bool(true));
        if self.form == Form::Whole {
            let tag = if is(START) {
                "<think>"
            } else if is(END) {
                "</think>"
            } else {
                ""
            };
            self.saying += tag;
        }
        self.saying += data
            .get("content")
            .and_then(Value::as_str)
            .unwrap_or_default();
    }

    /// The answer, once the turn is over.
    pub fn close(mut self, session: &str) -> Value {
        self.said += &std::mem::take(&mut self.saying);
        let failed = self.failed_node.filter(|_| self.failure.is_some());
        let last = match self.form {
            Form::Whole => failed
                .or(self.question.clone())
                .or(self.finished)
                .or(self.message_end),
            Form::Short => failed
                .or(self.message_end)
                .or(self.question.clone())
                .or(self.finished),
        };
        let Some(mut answer) = last else {
            return json!({"code": 0, "data": {"session_id": session}});
        };
        let mut data = match answer.get_mut("data").map(Value::take) {
            Some(Value::Object(data)) => data,
            _ => Members::new(),
        };
        data.insert("content".to_owned(), self.said.into());
        data.insert("reference".to_owned(), self.reference);
        if !self.structured.is_empty() {
            data.insert("structured".to_owned(), self.structured.into());
        }
        if self.form == Form::Short && !self.usage.is_null() {
            data.insert("usage".to_owned(), self.usage);
        }
        // What is asked must not get lost behind what was said before it.
        let question = self
            .question
            .as_ref()
            .and_then(|question| question.get("data"));
        if let Some(question) = question.filter(|_| !data.contains_key("tips")) {
            data.insert("user_inputs".to_owned(), question.clone());
        }
        if let Some(trace) = self.trace {
            data.insert("trace".to_owned(), trace.into());
        }
        answer["data"] = data.into();
        match self.failure {
            Some(message) => json!({"code": SERVER, "message": message, "data": answer}),
            None => json!({"code": 0, "message": "success", "data": answer}),
        }
    }
}

/// The answer to a message that got no turn. Clients that look into `data` find the reason there too.
pub(super) fn refusal(session: &str, code: u16, message: &str) -> Value {
    let code = if code == 0 { EXCEPTION } else { code };
    json!({
        "code": code,
        "message": message,
        "data": {"session_id": session, "data": {"content": format!("**ERROR**: {message}"), "reference": {}}},
    })
}
