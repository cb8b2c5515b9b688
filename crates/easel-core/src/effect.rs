//! What the machine wants done, and what it lets people see.

use std::sync::Arc;

use serde::Serialize;

use crate::bind::{Activation, Inputs};
use crate::event::{Fault, Ports, Timestamp};
use crate::workflow::NodeId;
use crate::{Object, Value};

/// What follows from one event.
#[derive(Debug, Default)]
pub struct Reaction {
    /// What the driver is to do, in order.
    pub effects: Vec<Effect>,
    /// What happened as people see it, in order.
    pub observations: Vec<Observation>,
}

/// Something the machine asks the world to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Run one attempt of a node and report `Completed` or `Failed`, for a stream `Opened` before.
    Execute(Execute),
    /// Stop that attempt; nothing it reports counts any more.
    Cancel(Activation),
    /// Report `Woke` after that many milliseconds.
    Sleep {
        /// Whose pause it is.
        activation: Activation,
        /// The attempt that failed, to be reported back.
        attempt: u32,
        /// How long it lasts.
        milliseconds: u64,
    },
    /// Tell whoever drains that activation's stream how it went on.
    Feed {
        /// The producer.
        producer: Activation,
        /// How it went on.
        turn: StreamTurn,
    },
}

/// One attempt of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Execute {
    /// The firing it belongs to; the same for every attempt.
    pub activation: Activation,
    /// The node.
    pub node: NodeId,
    /// 1 for the first.
    pub attempt: u32,
    /// The passes around it, outermost first.
    pub scope: Scope,
    /// How often the node has fired in this scope: 1 the first time, more in a circle of edges.
    pub visit: u64,
    /// What it reads.
    pub inputs: Inputs,
    /// For a form: the answers, by field.
    pub answers: Option<Box<Object>>,
    /// A number from the run's seed, the same for every attempt.
    pub random: u64,
}

/// The passes around a node, outermost first; empty at the root.
pub type Scope = Arc<[Pass]>;

/// One pass of a container.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Pass {
    /// The container's id in the file.
    pub container: Arc<str>,
    /// Which pass, from 0.
    pub index: u64,
    /// The container's own [`Execute::visit`]: without it, passes of two turns of a circle would look the same.
    #[serde(skip_serializing_if = "is_first")]
    pub visit: u64,
}

fn is_first(visit: &u64) -> bool {
    *visit == 1
}

/// How a stream went on.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamTurn {
    /// The text is whole.
    Ended(Value),
    /// It broke and starts again from the beginning.
    Restarts,
    /// It broke for good.
    Broken(Fault),
}

/// A projection of the journal for people and programs that watch.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// A node's first attempt began.
    NodeStarted {
        /// Its firing.
        activation: Activation,
        /// The node.
        node: NodeId,
        /// The passes around it.
        scope: Scope,
        /// When.
        at: Timestamp,
    },
    /// A guard kept a node from running that could have run.
    NodeSkipped {
        /// The node.
        node: NodeId,
        /// The passes around it.
        scope: Scope,
        /// When.
        at: Timestamp,
    },
    /// An attempt failed, and that is not the end of it: another will follow, or a default value stands in.
    AttemptFailed(Step),
    /// A node is settled: done, failed or cancelled.
    NodeFinished {
        /// Its last attempt. A fault in it may have been handled.
        step: Step,
        /// When its first attempt began.
        started: Timestamp,
    },
    /// Text that was shown no longer counts; it will come again.
    MessageReset {
        /// The node whose attempt was lost.
        node: NodeId,
        /// Its firing.
        activation: Activation,
        /// When.
        at: Timestamp,
    },
    /// Nothing else can run: the run waits for these answers.
    Asked {
        /// The open fields of all open forms by key, each with its declaration.
        fields: Object,
        /// The text of the form that opened last.
        tips: Arc<str>,
        /// The forms, in the order in which they opened.
        forms: Vec<NodeId>,
        /// When.
        at: Timestamp,
    },
    /// An answer fitted no open field; the run still waits.
    AnswerUnfit {
        /// The keys that would have fitted.
        open: Vec<Arc<str>>,
        /// When.
        at: Timestamp,
    },
    /// Another process took the run up.
    Recovered {
        /// The node whose message was being shown, and its firing: what it showed no longer counts.
        speaking: Option<(NodeId, Activation)>,
        /// When.
        at: Timestamp,
    },
    /// The run is over.
    Finished {
        /// How.
        outcome: Outcome,
        /// When.
        at: Timestamp,
    },
}

/// One attempt, for the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The firing it belongs to.
    pub activation: Activation,
    /// The node.
    pub node: NodeId,
    /// The passes around it.
    pub scope: Scope,
    /// 1 for the first.
    pub attempt: u32,
    /// What it read.
    pub inputs: Inputs,
    /// What it gave. If it failed: the text of its error, and what a container had collected by then.
    pub ports: Ports,
    /// Why it failed, if it did.
    pub fault: Option<Fault>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Everything that could run did.
    Done,
    /// A failure nobody handled, and where.
    Failed {
        /// The node that failed first.
        node: Option<NodeId>,
        /// Why.
        fault: Fault,
    },
    /// Somebody ended it.
    Cancelled,
}
