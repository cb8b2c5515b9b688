//! What a run shows: the answer on standard output, everything else on standard error.

use easel_runtime::{
    Ending, EventKind, MessagePart, Object, RunEvent, Session, TurnError, Value, Workflow,
};

use serde_json::json;

use super::record::Record;
use super::results;
use super::screen::Screen;
use super::tree::Tree;
use crate::cli::RunArguments;
use crate::out;
use crate::receipt;

/// Shows a run while it goes.
pub struct Show {
    form: Form,
    screen: Screen,
    tree: Tree,
    thinking: bool,
    /// The open fields and what goes with them, if the run waits.
    question: Option<(Object, String)>,
}

/// What goes to standard output.
enum Form {
    /// The answer's text.
    Text,
    /// Each event as a line.
    Events,
    /// One object at the end.
    Json(Box<Record>),
}

impl Show {
    /// What the command asks for.
    pub fn new(arguments: &RunArguments) -> Show {
        let form = match (arguments.json, arguments.events) {
            (true, _) => Form::Json(Box::default()),
            (_, true) => Form::Events,
            _ => Form::Text,
        };
        Show {
            screen: Screen::new(matches!(form, Form::Events)),
            form,
            tree: Tree::default(),
            thinking: false,
            question: None,
        }
    }

    /// Greets as the canvas does, before the first message of a chat.
    pub fn greeting(&mut self, workflow: &Workflow) {
        if let (Form::Text, Some(prologue)) = (&self.form, workflow.prologue()) {
            self.screen.answer(&format!("{prologue}\n"));
        }
    }

    /// The fields that are asked for and the text that goes with them, if the run waits.
    pub fn question(&self) -> Option<(&Object, &str)> {
        self.question
            .as_ref()
            .map(|(fields, tips)| (fields, tips.as_str()))
    }

    /// Takes in one event.
    pub fn event(&mut self, event: &RunEvent) {
        match &event.kind {
            EventKind::WorkflowStarted { .. } => self.question = None,
            EventKind::UserInputs { fields, tips } => {
                self.question = Some((fields.clone(), tips.to_string()))
            }
            _ => {}
        }
        match &mut self.form {
            Form::Text => self.text(event),
            Form::Json(record) => record.event(event),
            Form::Events => {
                let mut line = Vec::new();
                event.write_json(&mut line);
                out::line(&String::from_utf8_lossy(&line));
            }
        }
        self.tree.event(event, &mut self.screen);
    }

    /// The answer and the questions, as text.
    fn text(&mut self, event: &RunEvent) {
        match &event.kind {
            EventKind::Message { content, part, .. } => match part {
                MessagePart::Text if self.thinking => self.screen.aside(content),
                MessagePart::Text => self.screen.answer(content),
                MessagePart::ThinkStart => self.thinking = true,
                MessagePart::ThinkEnd => {
                    self.thinking = false;
                    self.screen.aside("\n");
                }
            },
            EventKind::MessageEnd { .. } => self.screen.close_line(),
            EventKind::MessageReset { .. } => {
                self.screen.close_line();
                self.screen.answer("(The text above is written again.)\n");
            }
            EventKind::AnswerUnfit { open } => {
                let open: Vec<&str> = open.iter().map(|key| &**key).collect();
                self.screen.close_line();
                out::tell(&format!(
                    "The answer fits no open field. Open are: {}.",
                    open.join(", ")
                ));
            }
            _ => {}
        }
    }

    /// A turn is over.
    pub fn turn_over(&mut self, session: &Session, ending: &Result<Ending, TurnError>) {
        self.screen.close_line();
        self.tree.clear(&self.screen);
        if !session.is_waiting() {
            self.question = None;
        }
        if let (Form::Text, Ok(Ending::Finished), Some(text)) =
            (&self.form, ending, results::text(session))
        {
            self.screen.answer(&text);
            self.screen.close_line();
        }
        if let Form::Json(record) = &mut self.form {
            record.turn_over(session, ending);
        }
    }

    /// Says what the run waits for; of somebody who is asked field by field only what goes with the question.
    pub fn asks(&self, somebody: bool) {
        let Some((fields, tips)) = &self.question else {
            return;
        };
        // What goes to programs has the question in it; a person who is asked sees it too.
        let text = matches!(self.form, Form::Text);
        if (text || somebody) && !tips.trim().is_empty() {
            out::tell(tips.trim());
        }
        if text && !somebody {
            out::tell(&format!(
                "Waiting for: {}. With --chat, lines of standard input answer.",
                listed(fields)
            ));
        }
    }

    /// Nothing more will come.
    pub fn end(self, session: &Session) {
        let receipt = match self.form {
            Form::Text => return,
            Form::Json(_) | Form::Events => receipt::of(session),
        };
        let receipt = receipt.unwrap_or_else(|problem| {
            problem.tell();
            None
        });
        let receipt = receipt.map(|receipt| serde_json::to_value(receipt).unwrap_or_default());
        match self.form {
            Form::Text => {}
            Form::Events => {
                if let Some(receipt) = receipt {
                    out::line(&json!({"event": "receipt", "data": receipt}).to_string());
                }
            }
            Form::Json(record) => {
                let mut whole = record.finish(session);
                if let (Some(receipt), Some(members)) = (receipt, whole.as_object_mut()) {
                    members.insert("receipt".to_owned(), receipt);
                }
                out::line(&format!("{whole:#}"));
            }
        }
    }
}

/// The fields of a question.
fn listed(fields: &Object) -> String {
    let names = fields.iter().map(|(key, field)| {
        let optional = field.get("optional").is_some_and(Value::is_truthy);
        let optional = if optional { " (may stay empty)" } else { "" };
        format!("{key}{optional}")
    });
    names.collect::<Vec<_>>().join(", ")
}
