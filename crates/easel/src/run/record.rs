//! The one JSON object of `--json`: what a run gave, attempt by attempt.

use easel_runtime::check::Diagnostic;
use easel_runtime::{
    Ending, EventKind, MessagePart, RunEvent, Session, Step, Subject, TurnError, Value,
};
use serde_json::{Map, Value as Json, json};

/// A run, written down while it goes.
#[derive(Default)]
pub struct Record {
    messages: Vec<String>,
    open: Option<String>,
    thinking: bool,
    steps: Vec<Json>,
    warnings: Vec<Json>,
    question: Option<Json>,
    ending: Option<&'static str>,
    error: Option<Json>,
}

impl Record {
    /// Takes in one event.
    pub fn event(&mut self, event: &RunEvent) {
        match &event.kind {
            EventKind::WorkflowStarted { .. } => self.question = None,
            EventKind::AttemptFailed { subject, step }
            | EventKind::NodeFinished { subject, step, .. } => {
                self.steps.push(attempt(subject, step));
            }
            EventKind::Message { content, part, .. } => match part {
                MessagePart::Text if !self.thinking => {
                    self.open.get_or_insert_default().push_str(content)
                }
                MessagePart::Text => {}
                MessagePart::ThinkStart => self.thinking = true,
                MessagePart::ThinkEnd => self.thinking = false,
            },
            EventKind::MessageReset { .. } => self.open = None,
            EventKind::MessageEnd { .. } => self.messages.extend(self.open.take()),
            EventKind::Warning { subject, text } => {
                let node = subject.as_ref().map(|subject| &**subject.id());
                self.warnings
                    .push(json!({"node_id": node, "message": &**text}));
            }
            EventKind::UserInputs { fields, tips } => {
                let fields = Value::from(fields.clone()).to_json();
                self.question = Some(json!({"tips": &**tips, "fields": fields}));
            }
            _ => {}
        }
    }

    /// Takes in how a turn ended.
    pub fn turn_over(&mut self, session: &Session, ending: &Result<Ending, TurnError>) {
        if !session.is_waiting() {
            self.question = None;
        }
        self.messages.extend(self.open.take());
        self.error = None;
        self.ending = Some(match ending {
            Ok(Ending::Finished) => "finished",
            Ok(Ending::Waiting | Ending::Unfit) => "waiting",
            Ok(Ending::Uncertain(_)) => "uncertain",
            Ok(Ending::Cancelled) => "cancelled",
            Ok(Ending::Failed { node, fault }) => {
                let error = json!({"node_id": node.as_deref(), "code": &*fault.code, "message": &*fault.message});
                self.error = Some(error);
                "failed"
            }
            Err(TurnError::Refused(refusal)) => {
                self.error = Some(refused(refusal));
                "refused"
            }
            Err(error) => {
                self.error = Some(json!({"message": error.to_string()}));
                "failed"
            }
        });
    }

    /// The whole: `{"ending", "error"?, "question"?, "warnings"?, "messages", "results"?, "outputs", "history", "usage"}`.
    /// `results` is what a graph gives out.
    pub fn finish(self, session: &Session) -> Json {
        let outputs: Map<String, Json> = session
            .outputs()
            .map(|(node, ports)| (node.to_string(), Value::from(ports).to_json()))
            .collect();
        let mut whole = Map::new();
        // Without a turn, nobody said what the run is to begin with.
        let ending = self.ending.unwrap_or("waiting");
        whole.insert("ending".to_owned(), ending.into());
        let optional = [("error", self.error), ("question", self.question)];
        for (name, value) in optional {
            whole.extend(value.map(|value| (name.to_owned(), value)));
        }
        if !self.warnings.is_empty() {
            whole.insert("warnings".to_owned(), self.warnings.into());
        }
        whole.insert("messages".to_owned(), self.messages.into());
        if session.workflow().graph().is_some() {
            let results = Value::from(session.results()).to_json();
            whole.insert("results".to_owned(), results);
        }
        whole.insert("outputs".to_owned(), outputs.into());
        whole.insert("history".to_owned(), self.steps.into());
        let usage = serde_json::to_value(session.usage()).unwrap_or_default();
        whole.insert("usage".to_owned(), usage);
        Json::Object(whole)
    }
}

fn refused(refusal: &Diagnostic) -> Json {
    json!({"node_id": refusal.node.as_deref(), "code": refusal.code.name(), "message": refusal.message})
}

/// One attempt.
fn attempt(subject: &Subject, step: &Step) -> Json {
    let inputs: Map<String, Json> = subject
        .read_values(&step.inputs)
        .map(|(reference, value)| (reference.to_string(), value.to_json()))
        .collect();
    json!({
        "node_id": &**subject.id(),
        "scope": step.scope,
        "attempt": step.attempt,
        "inputs": inputs,
        "outputs": step.ports,
        "error": step.fault.as_ref().map(|fault| &*fault.message),
        "timestamp": step.started.0,
        "duration_ms": step.ended.0 - step.started.0,
    })
}
