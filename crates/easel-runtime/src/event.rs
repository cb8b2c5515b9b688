//! What people and programs see of a run: a projection of its journal, numbered by it.

/// The name of a member, written in two ways.
macro_rules! key {
    ($name:literal) => {
        Key {
            name: $name,
            json: concat!(",\"", $name, "\":"),
        }
    };
}

mod line;

use std::fmt;
use std::sync::Arc;

use easel_core::bind::{Activation, Inputs, Resolved};
use easel_core::effect::{Scope, Step};
use easel_core::event::{Fault, Ports, Timestamp, Usage};
use easel_core::workflow::{Node, NodeId};
use easel_core::{Object, Value};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::journal::UncertainWrite;
use crate::workflow::Workflow;

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
///
/// As text it is `ENTRY.COUNTER`, and `ENTRY.COUNTER+SHOWN` while a message is being said:
///
/// ```
/// use easel_runtime::EventId;
/// let id: EventId = "12.3+57".parse().unwrap();
/// assert_eq!((id.entry, id.counter, id.shown), (12, 3, 57));
/// assert_eq!(id.to_string(), "12.3+57");
/// assert!(id > "12.3".parse().unwrap() && id < "12.4".parse().unwrap());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The place of the journal entry from which the event follows.
    pub entry: u64,
    /// The how-manieth event of that entry.
    pub counter: u32,
    /// How much of the message that is being said was shown by then, in characters; a mark of thoughts counts as one.
    pub shown: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.entry, self.counter)?;
        match self.shown {
            0 => Ok(()),
            shown => write!(f, "+{shown}"),
        }
    }
}

/// A text is no number of an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no number of an event: it is ENTRY.COUNTER or ENTRY.COUNTER+SHOWN, as in 12.3+57"
)]
pub struct BadEventId(pub String);

impl std::str::FromStr for EventId {
    type Err = BadEventId;

    fn from_str(text: &str) -> Result<EventId, BadEventId> {
        let read = || {
            let (place, shown) = match text.split_once('+') {
                Some((place, shown)) => (place, shown.parse().ok()?),
                None => (text, 0),
            };
            let (entry, counter) = place.split_once('.')?;
            Some(EventId {
                entry: entry.parse().ok()?,
                counter: counter.parse().ok()?,
                shown,
            })
        };
        read().ok_or_else(|| BadEventId(text.to_owned()))
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EventId, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Which node, as events name it.
#[derive(Clone)]
pub struct Subject {
    workflow: Arc<Workflow>,
    node: NodeId,
}

impl Subject {
    /// A node of a workflow.
    pub fn new(workflow: Arc<Workflow>, node: NodeId) -> Subject {
        Subject { workflow, node }
    }

    fn node(&self) -> &Node {
        self.workflow.compiled.node(self.node)
    }

    /// The node's id in the file.
    pub fn id(&self) -> &Arc<str> {
        &self.node().draft.id
    }

    /// The name that people read.
    pub fn name(&self) -> &Arc<str> {
        &self.node().draft.name
    }

    /// The component.
    pub fn component(&self) -> &Arc<str> {
        &self.node().draft.component
    }

    /// The values the node read, by reference; what was missing is left out.
    pub fn read_values<'a>(
        &'a self,
        inputs: &'a Inputs,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Value)> {
        let reads = &self.node().draft.reads;
        let pairs = reads.iter().zip(inputs.0.iter());
        pairs.filter_map(|(reference, resolved)| match resolved {
            Resolved::Value(value) => Some((&reference.text, value)),
            Resolved::Missing | Resolved::Stream(_) => None,
        })
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subject").field(self.id()).finish()
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
    /// A node's guard (`when`, `disabled`) kept it from running.
    NodeSkipped {
        /// The node.
        subject: Subject,
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
    /// The process that drove the run ended, and another one took it up. What was under way is made anew.
    Recovered {
        /// When.
        at: Timestamp,
    },
    /// Nobody knows whether these writes reached the outside; somebody must decide before the run goes on.
    Uncertain {
        /// The writes.
        writes: Vec<UncertainWrite>,
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
        /// The node, if it is about one.
        subject: Option<Subject>,
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
            EventKind::NodeSkipped { .. } => "node_skipped",
            EventKind::AttemptFailed { .. } => "attempt_failed",
            EventKind::NodeFinished { .. } => "node_finished",
            EventKind::Message { .. } => "message",
            EventKind::MessageEnd { .. } => "message_end",
            EventKind::MessageReset { .. } => "message_reset",
            EventKind::Recovered { .. } => "run_recovered",
            EventKind::Uncertain { .. } => "run_uncertain",
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
    /// Writes the event as JSON, without a line break: what its [`Serialize`] gives, in a fraction of the time.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        line::write(self, out);
    }

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
        self.0.write(&mut map)?;
        map.end()
    }
}

/// The name of a member.
#[derive(Clone, Copy)]
struct Key {
    name: &'static str,
    /// The name as it stands in JSON behind other members.
    json: &'static str,
}

/// What may go with the end of a message.
const EXTRAS: [Key; 4] = [
    key!("status"),
    key!("attachment"),
    key!("downloads"),
    key!("reference"),
];

/// Where the members of an event's `data` go, one by one.
trait Members {
    type Error;

    /// A member with any value.
    fn value(&mut self, key: Key, value: &impl Serialize) -> Result<(), Self::Error>;

    /// A member with a text.
    fn text(&mut self, key: Key, text: &str) -> Result<(), Self::Error>;

    /// A member with what a node put out.
    fn ports(&mut self, key: Key, ports: &Ports) -> Result<(), Self::Error> {
        self.value(key, ports)
    }

    /// A member with what a node read, by reference.
    fn read(&mut self, key: Key, subject: &Subject, inputs: &Inputs) -> Result<(), Self::Error> {
        self.value(key, &Read(subject, inputs))
    }

    /// The members that name a node.
    fn subject(&mut self, subject: &Subject) -> Result<(), Self::Error> {
        self.text(key!("component_id"), subject.id())?;
        self.text(key!("component_name"), subject.name())?;
        self.text(key!("component_type"), subject.component())
    }

    /// A member with a time or a duration, in seconds.
    fn seconds(&mut self, key: Key, milliseconds: i64) -> Result<(), Self::Error>;
}

impl<M: SerializeMap> Members for M {
    type Error = M::Error;

    fn value(&mut self, key: Key, value: &impl Serialize) -> Result<(), M::Error> {
        self.serialize_entry(key.name, value)
    }

    fn text(&mut self, key: Key, text: &str) -> Result<(), M::Error> {
        self.serialize_entry(key.name, text)
    }

    fn seconds(&mut self, key: Key, milliseconds: i64) -> Result<(), M::Error> {
        self.serialize_entry(key.name, &(milliseconds as f64 / 1000.0))
    }
}

impl EventKind {
    /// Writes the members of its `data`.
    fn write<M: Members>(&self, to: &mut M) -> Result<(), M::Error> {
        match self {
            EventKind::WorkflowStarted { inputs } => to.value(key!("inputs"), inputs),
            EventKind::NodeStarted {
                subject, scope, at, ..
            } => {
                to.value(key!("inputs"), &())?;
                to.value(key!("created_at"), &(at.0 / 1000))?;
                to.subject(subject)?;
                to.text(key!("thoughts"), "")?;
                passes(to, scope)
            }
            EventKind::NodeSkipped { subject, scope, at } => {
                to.subject(subject)?;
                to.seconds(key!("created_at"), at.0)?;
                passes(to, scope)
            }
            EventKind::AttemptFailed { subject, step } => {
                to.subject(subject)?;
                to.value(key!("attempt"), &step.attempt)?;
                to.value(key!("error"), &step.fault.as_ref().map(|f| &f.message))?;
                passes(to, &step.scope)
            }
            EventKind::NodeFinished {
                subject,
                step,
                started,
            } => {
                to.read(key!("inputs"), subject, &step.inputs)?;
                to.ports(key!("outputs"), &step.ports)?;
                to.subject(subject)?;
                to.value(key!("error"), &step.fault.as_ref().map(|f| &f.message))?;
                to.seconds(key!("elapsed_time"), step.ended.0 - started.0)?;
                to.seconds(key!("created_at"), started.0)?;
                passes(to, &step.scope)
            }
            EventKind::Message {
                subject,
                content,
                part,
            } => {
                to.text(key!("content"), content)?;
                match part {
                    MessagePart::Text => {}
                    MessagePart::ThinkStart => to.value(key!("start_to_think"), &true)?,
                    MessagePart::ThinkEnd => to.value(key!("end_to_think"), &true)?,
                }
                to.text(key!("component_id"), subject.id())
            }
            EventKind::MessageEnd { subject, extras } => {
                for key in EXTRAS {
                    if let Some(value) = extras.get(key.name) {
                        to.value(key, value)?;
                    }
                }
                to.text(key!("component_id"), subject.id())
            }
            EventKind::MessageReset { subject } => to.subject(subject),
            EventKind::Recovered { at } => to.seconds(key!("created_at"), at.0),
            EventKind::Uncertain { writes } => to.value(key!("writes"), writes),
            EventKind::UserInputs { fields, tips } => {
                to.value(key!("inputs"), fields)?;
                to.text(key!("tips"), tips)
            }
            EventKind::AnswerUnfit { open } => to.value(key!("open"), open),
            EventKind::Warning { subject, text } => {
                if let Some(subject) = subject {
                    to.subject(subject)?;
                }
                to.text(key!("message"), text)
            }
            EventKind::ToolCall {
                subject,
                path,
                tool,
                arguments,
                result,
                milliseconds,
            } => {
                to.subject(subject)?;
                to.text(key!("path"), path)?;
                to.text(key!("tool_name"), tool)?;
                to.value(key!("arguments"), arguments)?;
                to.value(key!("result"), result)?;
                to.seconds(
                    key!("elapsed_time"),
                    i64::try_from(*milliseconds).unwrap_or(i64::MAX),
                )
            }
            EventKind::WorkflowFinished {
                outputs,
                cancelled,
                usage,
                elapsed_ms,
                at,
            } => {
                to.value(key!("inputs"), &())?;
                match cancelled {
                    true => to.text(key!("outputs"), "The run was cancelled.")?,
                    false => to.ports(key!("outputs"), outputs)?,
                }
                to.seconds(key!("elapsed_time"), *elapsed_ms)?;
                to.seconds(key!("created_at"), at.0)?;
                to.value(key!("usage"), usage)
            }
            EventKind::Error {
                subject,
                fault,
                usage,
            } => {
                if let Some(subject) = subject {
                    to.subject(subject)?;
                }
                to.text(key!("code"), &fault.code)?;
                to.text(key!("message"), &fault.message)?;
                to.value(key!("usage"), usage)
            }
        }
    }
}

fn passes<M: Members>(to: &mut M, scope: &Scope) -> Result<(), M::Error> {
    match scope.is_empty() {
        true => Ok(()),
        false => to.value(key!("scope"), scope),
    }
}

/// What a node read, by reference.
struct Read<'a>(&'a Subject, &'a Inputs);

impl Serialize for Read<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.read_values(self.1).map(|(k, v)| (&**k, v)))
    }
}
