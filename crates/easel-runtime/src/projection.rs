//! What people see of a run, made from its journal: the same events with the same numbers, live and after a restart.
//!
//! An event's number is the place of the journal entry from which it follows, then a counter. Pieces of a message are not in
//! the journal: they carry the number of the event before them and how much of the message was shown by then. One message
//! is said at a time, so that is enough to go on from any of them.

use std::sync::Arc;

use easel_components::Turn;
use easel_core::effect::{Observation, Outcome};
use easel_core::event::{Event, Fact, Ports, Timestamp};
use easel_core::workflow::NodeId;
use easel_core::{Machine, Value};
use easel_tools::references::References;

use crate::event::{EventId, EventKind, MessagePart, RunEvent, Subject};
use crate::journal::Note;
use crate::workflow::Workflow;

/// Something that people saw of a run, as it is read back.
pub(crate) enum Seen<'a> {
    /// It follows from the journal.
    Event(RunEvent),
    /// It was noted beside it.
    Note(&'a Note),
}

/// The events of one run in the making, and what has to be remembered of them.
pub(crate) struct Projection {
    workflow: Arc<Workflow>,
    /// The number of the last event.
    last: EventId,
    /// The journal entry from which the next event follows, if it is the first one that does.
    entry: Option<u64>,
    /// True if nobody shows the pieces of messages, because the run is read back: then each is given as a whole.
    whole: bool,
    began: Timestamp,
    /// The messages of this turn.
    shown: Vec<String>,
    /// What the node that spoke last put out, and what the last node did.
    said: Option<Ports>,
    put_out: Ports,
    /// The question that is open.
    asked: Option<EventKind>,
}

impl Projection {
    /// Nothing has happened yet.
    pub fn new(workflow: Arc<Workflow>, began: Timestamp) -> Projection {
        Projection {
            workflow,
            last: EventId::default(),
            entry: Some(0),
            whole: false,
            began,
            shown: Vec::new(),
            said: None,
            put_out: Ports::new(),
            asked: None,
        }
    }

    /// Rebuilds a run from its journal and the notes beside it, and gives what people saw of it to `sink`. `None` if it does
    /// not begin with a start.
    pub fn replay(
        workflow: &Arc<Workflow>,
        journal: &[Event],
        notes: &[Note],
        sink: &mut impl FnMut(Seen<'_>),
    ) -> Option<(Machine, Projection)> {
        let mut notes = notes.iter().peekable();
        let (first, rest) = journal.split_first()?;
        let Fact::Started(start) = &first.fact else {
            return None;
        };
        let mut projection = Projection::new(workflow.clone(), first.at);
        projection.whole = true;
        let compiled = workflow.compiled.clone();
        let inputs = inputs_of(&start.context);
        let (mut machine, reaction) = Machine::start(compiled, start.clone(), first.at);
        sink(Seen::Event(
            projection.event(EventKind::WorkflowStarted { inputs }),
        ));
        let mut out = |event| sink(Seen::Event(event));
        for observation in reaction.observations {
            projection.observe(&machine, observation, &mut out);
        }
        for (at, event) in rest.iter().enumerate() {
            let entry = at as u64 + 1;
            while let Some(note) = notes.next_if(|note| note.id.entry < entry) {
                projection.last = note.id;
                sink(Seen::Note(note));
            }
            projection.follows_from(entry);
            let answers = matches!(event.fact, Fact::Answered(_));
            let reaction = machine.apply(event);
            if answers {
                projection.turn_begins(event.at);
            }
            let mut out = |event| sink(Seen::Event(event));
            for observation in reaction.observations {
                projection.observe(&machine, observation, &mut out);
            }
        }
        for note in notes {
            projection.last = note.id;
            sink(Seen::Note(note));
        }
        projection.whole = false;
        Some((machine, projection))
    }

    /// The events from here on follow from that entry of the journal.
    pub fn follows_from(&mut self, entry: u64) {
        self.entry = Some(entry);
    }

    /// Another turn of the run begins.
    pub fn turn_begins(&mut self, at: Timestamp) {
        self.began = at;
        self.shown.clear();
    }

    /// The messages of this turn, with blank lines between; `None` if there was nothing to read in them.
    pub fn shown(&self) -> Option<String> {
        (!self.shown.is_empty()).then(|| self.shown.join("\n\n"))
    }

    /// The question that is open.
    pub fn asked(&self) -> Option<&EventKind> {
        self.asked.as_ref()
    }

    /// What a graph gives out. Of a canvas what the node that spoke last put out; what the last node put out, if none spoke.
    pub fn outputs(&self, machine: &Machine) -> Ports {
        if let Some(outcome) = self.workflow.outcome(machine) {
            return outcome;
        }
        self.said.clone().unwrap_or_else(|| self.put_out.clone())
    }

    /// How events name a node.
    pub fn subject(&self, node: NodeId) -> Subject {
        Subject::new(self.workflow.clone(), node)
    }

    /// The next event.
    pub fn event(&mut self, kind: EventKind) -> RunEvent {
        let shown = match kind {
            EventKind::MessageEnd { .. } | EventKind::MessageReset { .. } => 0,
            _ => self.last.shown,
        };
        self.last = match self.entry.take() {
            Some(entry) => EventId {
                entry,
                counter: 0,
                shown,
            },
            None => EventId {
                counter: self.last.counter + 1,
                shown,
                ..self.last
            },
        };
        RunEvent {
            id: self.last,
            kind,
        }
    }

    /// A piece of a message.
    pub fn piece(&mut self, node: NodeId, content: Arc<str>, part: MessagePart) -> RunEvent {
        self.last.shown += match part {
            MessagePart::Text => content.chars().count() as u64,
            // They take up a place of their own, so that the numbers ascend.
            MessagePart::ThinkStart | MessagePart::ThinkEnd => 1,
        };
        let subject = self.subject(node);
        let kind = EventKind::Message {
            subject,
            content,
            part,
        };
        RunEvent {
            id: self.last,
            kind,
        }
    }

    /// Turns what the machine observed into what people see.
    pub fn observe(
        &mut self,
        machine: &Machine,
        observation: Observation,
        out: &mut impl FnMut(RunEvent),
    ) {
        let kind = match observation {
            Observation::NodeStarted {
                activation,
                node,
                scope,
                at,
            } => EventKind::NodeStarted {
                subject: self.subject(node),
                activation,
                scope,
                at,
            },
            Observation::NodeSkipped { node, scope, at } => {
                let subject = self.subject(node);
                EventKind::NodeSkipped { subject, scope, at }
            }
            Observation::AttemptFailed(step) => {
                let subject = self.subject(step.node);
                EventKind::AttemptFailed { subject, step }
            }
            Observation::NodeFinished { step, started } => {
                let subject = self.subject(step.node);
                let workflow = self.workflow.clone();
                let draft = &workflow.compiled.node(step.node).draft;
                if step.fault.is_none() {
                    self.put_out = step.ports.clone();
                    if draft.drains {
                        let text = step.ports.get(&draft.primary).map(Value::to_string);
                        let unseen = |text: &&str| self.whole && !text.is_empty();
                        if let Some(text) = text.as_deref().filter(unseen) {
                            out(self.piece(step.node, text.into(), MessagePart::Text));
                        }
                        self.shown
                            .extend(text.filter(|text| !text.trim().is_empty()));
                        self.said = Some(step.ports.clone());
                        let gathered = machine.gathered();
                        let extras = message_extras(&draft.params, &step.ports, gathered);
                        let subject = subject.clone();
                        out(self.event(EventKind::MessageEnd { subject, extras }));
                    }
                }
                if draft.drains {
                    self.last.shown = 0;
                }
                EventKind::NodeFinished {
                    subject,
                    step,
                    started,
                }
            }
            // The node that shows the text resets it when it takes the restart from the stream.
            Observation::MessageReset { .. } => return,
            Observation::Recovered { speaking, at } => {
                if let Some((node, _)) = speaking {
                    let subject = self.subject(node);
                    out(self.event(EventKind::MessageReset { subject }));
                }
                EventKind::Recovered { at }
            }
            Observation::Asked { fields, tips, .. } => {
                let asked = EventKind::UserInputs { fields, tips };
                self.asked = Some(asked.clone());
                asked
            }
            // The question stays open, so it is asked again.
            Observation::AnswerUnfit { open, .. } => {
                out(self.event(EventKind::AnswerUnfit { open }));
                match self.asked.clone() {
                    Some(asked) => asked,
                    None => return,
                }
            }
            Observation::Finished { outcome, at } => {
                let usage = machine.usage();
                match outcome {
                    Outcome::Failed { node, fault } => EventKind::Error {
                        subject: node.map(|node| self.subject(node)),
                        fault,
                        usage,
                    },
                    Outcome::Done | Outcome::Cancelled => EventKind::WorkflowFinished {
                        outputs: self.outputs(machine),
                        cancelled: outcome == Outcome::Cancelled,
                        usage,
                        elapsed_ms: at.0 - self.began.0,
                        at,
                    },
                }
            }
        };
        out(self.event(kind));
    }
}

/// The inputs that a turn brought, as people see them: `null` if it brought none.
pub(crate) fn inputs_shown(turn: &Turn) -> Value {
    match turn.inputs.is_empty() {
        true => Value::Null,
        false => Value::from(turn.inputs.clone()),
    }
}

/// The same, from the context in the journal.
fn inputs_of(context: &Value) -> Value {
    context.get("inputs").cloned().unwrap_or_default()
}

/// What goes with the end of a message: its status, which its parameters say; its files; what it can cite.
fn message_extras(params: &Value, ports: &Ports, gathered: &[Value]) -> easel_core::Object {
    let mut extras = easel_core::Object::new();
    let status = ("status", params.get("status"));
    let files = ["attachment", "downloads"].map(|key| (key, ports.get(key)));
    for (key, value) in std::iter::once(status).chain(files) {
        if let Some(value) = value.filter(|value| value.is_truthy()) {
            extras.insert(key.into(), value.clone());
        }
    }
    let found = References::gather(gathered.iter());
    if !found.is_empty() {
        extras.insert("reference".into(), found.to_value());
    }
    extras
}
