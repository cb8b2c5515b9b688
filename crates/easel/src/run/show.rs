//! What a run shows: the answer on standard output, everything else on standard error.

use std::io::{IsTerminal, Write};

use easel_runtime::{Ending, EventKind, MessagePart, Object, RunEvent, Session, TurnError, Value};
use serde_json::{Value as Json, json};

use crate::cli::RunArguments;

/// Shows a run while it goes.
pub struct Show {
    form: Form,
    /// Whether people watch: then nodes are shown as they go.
    watched: bool,
    thinking: bool,
    /// Whether the answer stands in an unfinished line.
    open_line: bool,
    question: Option<Object>,
    steps: Vec<Json>,
    ending: Json,
}

/// What is printed.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The answer's text.
    Text,
    /// Each event as a line.
    Events,
    /// One object at the end.
    Json,
}

impl Show {
    /// What the command asks for.
    pub fn new(arguments: &RunArguments) -> Show {
        let form = match (arguments.json, arguments.events) {
            (true, _) => Form::Json,
            (_, true) => Form::Events,
            _ => Form::Text,
        };
        Show {
            form,
            watched: form == Form::Text && std::io::stderr().is_terminal(),
            thinking: false,
            open_line: false,
            question: None,
            steps: Vec::new(),
            ending: Json::Null,
        }
    }

    /// The fields that are asked for, if the run waits.
    pub fn question(&self) -> Option<&Object> {
        self.question.as_ref()
    }

    /// Takes in one event.
    pub fn event(&mut self, event: &RunEvent) {
        if self.form == Form::Events {
            let line = serde_json::to_string(event).unwrap_or_default();
            self.print(&(line + "\n"));
        }
        match &event.kind {
            EventKind::WorkflowStarted { .. } => self.question = None,
            EventKind::AttemptFailed { subject, step } => {
                self.steps.push(record(subject.id(), subject, step));
                let fault = step.fault.as_ref().map_or("", |f| &f.message);
                self.remark(&format!("↻ {} failed, trying again: {fault}", subject.name()));
            }
            EventKind::NodeFinished { subject, step, started } => {
                self.steps.push(record(subject.id(), subject, step));
                let took = step.ended.0 - started.0;
                match &step.fault {
                    Some(fault) => {
                        self.remark(&format!("✕ {} {took} ms: {}", subject.name(), fault.message));
                    }
                    None if self.watched => self.remark(&format!("✓ {} {took} ms", subject.name())),
                    None => {}
                }
            }
            EventKind::Message { content, part, .. } if self.form == Form::Text => match part {
                MessagePart::Text if !self.thinking => {
                    self.open_line = !content.ends_with('\n') || content.is_empty();
                    self.print(content);
                }
                MessagePart::Text => self.think(content),
                MessagePart::ThinkStart => self.thinking = true,
                MessagePart::ThinkEnd => {
                    self.thinking = false;
                    self.think("\n");
                }
            },
            EventKind::MessageEnd { .. } => self.close_line(),
            EventKind::MessageReset { .. } => {
                self.close_line();
                self.remark("↻ the text above starts again");
            }
            EventKind::UserInputs { fields, tips } => {
                self.question = Some(fields.clone());
                if self.form == Form::Text {
                    self.close_line();
                    let names: Vec<&str> = fields.keys().map(|key| &**key).collect();
                    eprintln!("? {tips} [{}]", names.join(", "));
                }
            }
            EventKind::AnswerUnfit { open } => {
                let open: Vec<&str> = open.iter().map(|key| &**key).collect();
                eprintln!("! The answer fits no open field. Open are: {}", open.join(", "));
            }
            EventKind::Warning { text, .. } if self.watched => self.remark(&format!("! {text}")),
            EventKind::Error { fault, .. } if self.form != Form::Json => {
                self.close_line();
                eprintln!("error: {}", fault.message);
            }
            _ => {}
        }
    }

    fn remark(&mut self, text: &str) {
        if self.watched {
            self.close_line();
            eprintln!("{text}");
        }
    }

    /// Thoughts are for people who watch, not for pipes.
    fn think(&self, text: &str) {
        if self.watched {
            eprint!("\u{1b}[2m{text}\u{1b}[0m");
        }
    }

    fn print(&self, text: &str) {
        let mut out = std::io::stdout();
        // A reader that went away has seen what it wanted.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    fn close_line(&mut self) {
        if std::mem::take(&mut self.open_line) {
            self.print("\n");
        }
    }

    /// A turn is over.
    pub fn turn_over(&mut self, session: &Session, ending: &Result<Ending, TurnError>) {
        self.close_line();
        if !session.is_waiting() {
            self.question = None;
        }
        self.ending = match ending {
            Ok(Ending::Finished) => json!({"ending": "finished"}),
            Ok(Ending::Waiting | Ending::Unfit) => json!({"ending": "waiting"}),
            Ok(Ending::Cancelled) => json!({"ending": "cancelled"}),
            Ok(Ending::Failed { node, fault }) => json!({
                "ending": "failed",
                "error": {"node": node.as_deref(), "code": &*fault.code, "message": &*fault.message},
            }),
            Err(error) => {
                eprintln!("error: {error}");
                json!({"ending": "failed", "error": {"message": error.to_string()}})
            }
        };
    }

    /// Nothing more will come.
    pub fn end(mut self, session: &Session) {
        if self.form != Form::Json {
            return;
        }
        let outputs: serde_json::Map<String, Json> = session
            .outputs()
            .map(|(node, ports)| (node.to_string(), Value::from(ports).to_json()))
            .collect();
        self.ending["outputs"] = Json::Object(outputs);
        self.ending["history"] = Json::from(std::mem::take(&mut self.steps));
        self.ending["usage"] = serde_json::to_value(session.usage()).unwrap_or_default();
        if let Some(question) = &self.question {
            self.ending["question"] = Value::from(question.clone()).to_json();
        }
        self.print(&format!("{:#}\n", self.ending));
    }
}

/// One attempt, for the record.
fn record(id: &str, subject: &easel_runtime::Subject, step: &easel_runtime::Step) -> Json {
    let inputs: serde_json::Map<String, Json> = subject
        .read_values(&step.inputs)
        .map(|(reference, value)| (reference.to_string(), value.to_json()))
        .collect();
    json!({
        "node_id": id,
        "scope": step.scope,
        "attempt": step.attempt,
        "inputs": inputs,
        "outputs": step.ports,
        "error": step.fault.as_ref().map(|fault| &*fault.message),
        "timestamp": step.started.0,
        "duration_ms": step.ended.0 - step.started.0,
    })
}
