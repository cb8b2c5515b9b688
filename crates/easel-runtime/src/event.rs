//! What people and programs see of a run: a projection of its journal, numbered by it.

use std::sync::Arc;

use easel_core::bind::{Activation, Inputs, Resolved};
use easel_core::effect::{Scope, Step};
use easel_core::event::{Fault, Ports, Timestamp, Usage};
use easel_core::workflow::{NodeId, Workflow};
use easel_core::{Object, Value};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// One event of a run.
///
/// Serialised it is `{"event", "data"}` with the names and fields that canvas clients know (spec/canvas-engine §8.3), and a
/// few more that they ignore.
#[derive(Clone, Debug)]
pub struct RunEvent {
    /// Its number: the journal entry from which it follows, then a counter. The same after a restart.
    pub id: EventId,
    /// What happened.
    pub kind: EventKind,
}

/// The number of an event. Numbers of a run ascend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The place of the journal entry from which the event follows.
    pub entry: u64,
    /// The how-manieth event of that entry.
    pub counter: u32,
}

/// Which node, as events name it.
#[derive(Clone, Debug)]
pub struct Subject {
    workflow: Arc<Workflow>,
    node: NodeId,
}

impl Subject {
    /// A node of a workflow.
    pub fn new(workflow: Arc<Workflow>, node: NodeId) -> Subject {
        Subject { workflow, node }
    }

    /// The node's id in the file.
    pub fn id(&self) -> &Arc<str> {
        &self.workflow.node(self.node).draft.id
    }

    /// The name that people read.
    pub fn name(&self) -> &Arc<str> {
        &self.workflow.node(self.node).draft.name
    }

    /// The component.
    pub fn component(&self) -> &Arc<str> {
        &self.workflow.node(self.node).draft.component
    }

    /// The values the node read, by reference; what was missing is left out.
    pub fn read_values<'a>(
        &'a self,
        inputs: &'a Inputs,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Value)> {
        let reads = &self.workflow.node(self.node).draft.reads;
        let pairs = reads.iter().zip(inputs.0.iter());
        pairs.filter_map(|(reference, resolved)| match resolved {
            Resolved::Value(value) => Some((&reference.text, value)),
            Resolved::Missing | Resolved::Stream(_) => None,
        })
    }
}

/// What happened.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// A run began.
    WorkflowStarted {
        /// The inputs that were given by name; `null` if none were.
        inputs: Value,
    },
    /// A node's first attempt began.
    NodeStarted {
        /// The node.
        subject: Subject,
        /// Its firing.
        activation: Activation,
        /// The passes around it.
        scope: Scope,
        /// When.
        at: Timestamp,
    },
    /// An attempt failed and another will follow.
    AttemptFailed {
        /// The node.
        subject: Subject,
        /// The attempt.
        step: Step,
    },
    /// A node is settled.
    NodeFinished {
        /// The node.
        subject: Subject,
        /// Its last attempt.
        step: Step,
        /// When its first attempt began.
        started: Timestamp,
    },
    /// A piece of a message.
    Message {
        /// The node that speaks.
        subject: Subject,
        /// What it says; empty when thoughts begin or end.
        content: Arc<str>,
        /// What the piece is.
        part: MessagePart,
    },
    /// A message is whole.
    MessageEnd {
        /// The node that spoke.
        subject: Subject,
        /// What goes with it: `reference`, `downloads`, `attachment`, `status`.
        extras: Object,
    },
    /// What a message said so far no longer counts.
    MessageReset {
        /// The node whose text starts again.
        subject: Subject,
    },
    /// The run waits for answers.
    UserInputs {
        /// The open fields by key.
        fields: Object,
        /// The text that goes with them.
        tips: Arc<str>,
    },
    /// An answer fitted no open field.
    AnswerUnfit {
        /// The keys that would have fitted.
        open: Vec<Arc<str>>,
    },
    /// Something a user should know that is no failure.
    Warning {
        /// The node.
        subject: Subject,
        /// What it is.
        text: Arc<str>,
    },
    /// An agent called a tool.
    ToolCall {
        /// The agent's node.
        subject: Subject,
        /// The agents that led to it.
        path: Arc<str>,
        /// The tool's name as the model used it.
        tool: Arc<str>,
        /// The arguments.
        arguments: Value,
        /// What the model was told.
        result: Value,
        /// How long it took.
        milliseconds: u64,
    },
    /// The run ended well, or because somebody ended it.
    WorkflowFinished {
        /// What the last node that spoke put out, or the last node if none did; `null` for a run that was ended.
        outputs: Ports,
        /// True if somebody ended it.
        cancelled: bool,
        /// Tokens of the run.
        usage: Usage,
        /// How long it took, in milliseconds.
        elapsed_ms: i64,
        /// When.
        at: Timestamp,
    },
    /// The run failed.
    Error {
        /// The node that failed first, if it was one.
        subject: Option<Subject>,
        /// Why.
        fault: Fault,
        /// Tokens of the run.
        usage: Usage,
    },
}

/// What a piece of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePart {
    /// Text.
    Text,
    /// Thoughts begin.
    ThinkStart,
    /// Thoughts end.
    ThinkEnd,
}

impl EventKind {
    /// The name that clients know it by.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::WorkflowStarted { .. } => "workflow_started",
            EventKind::NodeStarted { .. } => "node_started",
            EventKind::AttemptFailed { .. } => "attempt_failed",
            EventKind::NodeFinished { .. } => "node_finished",
            EventKind::Message { .. } => "message",
            EventKind::MessageEnd { .. } => "message_end",
            EventKind::MessageReset { .. } => "message_reset",
            EventKind::UserInputs { .. } => "user_inputs",
            EventKind::AnswerUnfit { .. } => "answer_unfit",
            EventKind::Warning { .. } => "warning",
            EventKind::ToolCall { .. } => "tool_call",
            EventKind::WorkflowFinished { .. } => "workflow_finished",
            EventKind::Error { .. } => "error",
        }
    }
}

impl RunEvent {
    /// The text that the event adds to what is said; blank for anything but a piece of a message.
    pub fn text(&self) -> &str {
        match &self.kind {
            EventKind::Message { content, .. } => content,
            _ => "",
        }
    }
}

impl Serialize for RunEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("event", self.kind.name())?;
        map.serialize_entry("data", &Data(&self.kind))?;
        map.end()
    }
}

/// The `data` of an event.
struct Data<'a>(&'a EventKind);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.0 {
            EventKind::WorkflowStarted { inputs } => map.serialize_entry("inputs", inputs)?,
            EventKind::NodeStarted {
                subject, scope, at, ..
            } => {
                map.serialize_entry("inputs", &())?;
                map.serialize_entry("created_at", &(at.0 / 1000))?;
                name(&mut map, subject)?;
                map.serialize_entry("thoughts", "")?;
                passes(&mut map, scope)?;
            }
            EventKind::AttemptFailed { subject, step } => {
                name(&mut map, subject)?;
                map.serialize_entry("attempt", &step.attempt)?;
                map.serialize_entry("error", &step.fault.as_ref().map(|f| &f.message))?;
                passes(&mut map, &step.scope)?;
            }
            EventKind::NodeFinished {
                subject,
                step,
                started,
            } => {
                map.serialize_entry("inputs", &Read(subject, &step.inputs))?;
                map.serialize_entry("outputs", &step.ports)?;
                name(&mut map, subject)?;
                map.serialize_entry("error", &step.fault.as_ref().map(|f| &f.message))?;
                map.serialize_entry("elapsed_time", &seconds(step.ended.0 - started.0))?;
                map.serialize_entry("created_at", &seconds(started.0))?;
                passes(&mut map, &step.scope)?;
            }
            EventKind::Message {
                subject,
                content,
                part,
            } => {
                map.serialize_entry("content", content)?;
                match part {
                    MessagePart::Text => {}
                    MessagePart::ThinkStart => map.serialize_entry("start_to_think", &true)?,
                    MessagePart::ThinkEnd => map.serialize_entry("end_to_think", &true)?,
                }
                map.serialize_entry("component_id", subject.id())?;
            }
            EventKind::MessageEnd { subject, extras } => {
                for (key, value) in extras {
                    map.serialize_entry(&**key, value)?;
                }
                map.serialize_entry("component_id", subject.id())?;
            }
            EventKind::MessageReset { subject } => name(&mut map, subject)?,
            EventKind::UserInputs { fields, tips } => {
                map.serialize_entry("inputs", fields)?;
                map.serialize_entry("tips", tips)?;
            }
            EventKind::AnswerUnfit { open } => map.serialize_entry("open", open)?,
            EventKind::Warning { subject, text } => {
                name(&mut map, subject)?;
                map.serialize_entry("message", text)?;
            }
            EventKind::ToolCall {
                subject,
                path,
                tool,
                arguments,
                result,
                milliseconds,
            } => {
                name(&mut map, subject)?;
                map.serialize_entry("path", path)?;
                map.serialize_entry("tool_name", tool)?;
                map.serialize_entry("arguments", arguments)?;
                map.serialize_entry("result", result)?;
                map.serialize_entry("elapsed_time", &(*milliseconds as f64 / 1000.0))?;
            }
            EventKind::WorkflowFinished {
                outputs,
                cancelled,
                usage,
                elapsed_ms,
                at,
            } => {
                map.serialize_entry("inputs", &())?;
                match cancelled {
                    true => map.serialize_entry("outputs", "The run was cancelled.")?,
                    false => map.serialize_entry("outputs", outputs)?,
                }
                map.serialize_entry("elapsed_time", &seconds(*elapsed_ms))?;
                map.serialize_entry("created_at", &seconds(at.0))?;
                map.serialize_entry("usage", usage)?;
            }
            EventKind::Error {
                subject,
                fault,
                usage,
            } => {
                if let Some(subject) = subject {
                    name(&mut map, subject)?;
                }
                map.serialize_entry("code", &fault.code)?;
                map.serialize_entry("message", &fault.message)?;
                map.serialize_entry("usage", usage)?;
            }
        }
        map.end()
    }
}

fn name<M: SerializeMap>(map: &mut M, subject: &Subject) -> Result<(), M::Error> {
    map.serialize_entry("component_id", subject.id())?;
    map.serialize_entry("component_name", subject.name())?;
    map.serialize_entry("component_type", subject.component())
}

fn passes<M: SerializeMap>(map: &mut M, scope: &Scope) -> Result<(), M::Error> {
    if scope.is_empty() {
        return Ok(());
    }
    map.serialize_entry("scope", scope)
}

/// Milliseconds as seconds.
fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// What a node read, by reference.
struct Read<'a>(&'a Subject, &'a Inputs);

impl Serialize for Read<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.read_values(self.1).map(|(k, v)| (&**k, v)))
    }
}
