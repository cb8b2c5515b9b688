//! The life of a node in one pass of its scope.

use super::containers::Inner;
use super::life::life;
use crate::Object;
use crate::bind::{Activation, Inputs};
use crate::event::{Ports, Timestamp};

life! {
    /// Where a node stands in one pass.
    NodeLife on NodeSignal {
        states {
            /// Some edge to it is undecided.
            Pending,
            /// Its edges say go; a value it reads is not there yet.
            Blocked,
            /// It waits for a free place, or for its turn to speak.
            Queued,
            /// An attempt is under way.
            Running,
            /// An attempt is under way and its text is arriving.
            Open,
            /// A pause between two attempts.
            Resting,
            /// A form that has not got all it needs.
            Asking,
            /// A container whose body is under way.
            Inside,
            /// It gave its ports.
            Done,
            /// It failed and its error edges were taken.
            Handled,
            /// It failed.
            Failed,
            /// Something before it failed.
            Skipped,
            /// No edge to it was taken.
            Dead,
            /// It was stopped from outside.
            Cancelled,
        }
        signals {
            /// Go, but not yet.
            Block,
            /// Go.
            Queue,
            /// An attempt begins.
            Start,
            /// Text begins to arrive.
            Open,
            /// Another attempt will follow.
            Rest,
            /// A person is asked.
            Ask,
            /// A body begins.
            Enter,
            /// It is done.
            Complete,
            /// It failed and that is handled.
            Handle,
            /// It failed.
            Fail,
            /// Something before it failed.
            Skip,
            /// Nothing leads to it.
            Die,
            /// It is stopped.
            Cancel,
            /// The next pass begins.
            Reset,
        }
        arrows {
            Pending --(Block)--> Blocked,
            Pending --(Queue)--> Queued,
            Pending --(Enter)--> Inside,
            Pending --(Skip)--> Skipped,
            Pending --(Die)--> Dead,
            Pending --(Cancel)--> Cancelled,
            Blocked --(Queue)--> Queued,
            Blocked --(Enter)--> Inside,
            Blocked --(Die)--> Dead,
            Blocked --(Cancel)--> Cancelled,
            Queued --(Start)--> Running,
            Queued --(Ask)--> Asking,
            Queued --(Enter)--> Inside,
            Queued --(Complete)--> Done,
            Queued --(Handle)--> Handled,
            Queued --(Fail)--> Failed,
            Queued --(Skip)--> Skipped,
            Queued --(Cancel)--> Cancelled,
            Running --(Open)--> Open,
            Running --(Enter)--> Inside,
            Running --(Rest)--> Resting,
            Running --(Complete)--> Done,
            Running --(Handle)--> Handled,
            Running --(Fail)--> Failed,
            Running --(Cancel)--> Cancelled,
            Open --(Rest)--> Resting,
            Open --(Complete)--> Done,
            Open --(Fail)--> Failed,
            Open --(Cancel)--> Cancelled,
            Resting --(Queue)--> Queued,
            Resting --(Cancel)--> Cancelled,
            Asking --(Queue)--> Queued,
            Asking --(Cancel)--> Cancelled,
            Inside --(Queue)--> Queued,
            Inside --(Rest)--> Resting,
            Inside --(Complete)--> Done,
            Inside --(Handle)--> Handled,
            Inside --(Fail)--> Failed,
            Inside --(Cancel)--> Cancelled,
            Done --(Reset)--> Pending,
            Handled --(Reset)--> Pending,
            Skipped --(Reset)--> Pending,
            Dead --(Reset)--> Pending,
        }
    }
}

impl NodeLife {
    /// True once nothing more will happen to the node in this pass.
    pub fn settled(self) -> bool {
        use NodeLife::*;
        matches!(self, Done | Handled | Failed | Skipped | Dead | Cancelled)
    }

    /// True while an attempt is under way.
    pub fn attempting(self) -> bool {
        matches!(self, NodeLife::Running | NodeLife::Open)
    }

    /// True while the world outside will report something about the node by itself.
    pub fn reports(self) -> bool {
        self.attempting() || self == NodeLife::Resting
    }
}

/// A node in one pass.
#[derive(Debug)]
pub(super) struct NodeState {
    pub life: NodeLife,
    /// Edges to it that are undecided.
    pub pending: u32,
    /// Whether an edge to it was taken, and whether one failed.
    pub taken: bool,
    pub failed: bool,
    /// The firing under way, or the last one.
    pub activation: Activation,
    /// The attempt under way, from 1; 0 before the first. Each verdict on a repeated body counts as one.
    pub attempt: u32,
    /// How many of them failed.
    pub failures: u32,
    /// How often it fired in this scope.
    pub visit: u64,
    /// When its first attempt, and the one under way, began.
    pub first_start: Timestamp,
    pub start: Timestamp,
    /// When the pause under way began.
    pub rests_since: Timestamp,
    pub inputs: Inputs,
    pub ports: Ports,
    /// What a form has been told so far.
    pub answers: Object,
    /// Who drains its stream.
    pub drained_by: Option<Activation>,
    pub inner: Inner,
}

/// What comes after a pass, and with it what a node keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another turn of a circle: everything.
    Turn,
    /// Another pass of a loop: its ports.
    LoopPass,
    /// Another item: nothing.
    Item,
}

impl NodeState {
    /// A node that nothing has happened to, with that many edges to it.
    pub fn new(pending: u32) -> NodeState {
        NodeState {
            life: NodeLife::Pending,
            pending,
            taken: false,
            failed: false,
            activation: Activation(0),
            attempt: 0,
            failures: 0,
            visit: 0,
            first_start: Timestamp::default(),
            start: Timestamp::default(),
            rests_since: Timestamp::default(),
            inputs: Inputs::default(),
            ports: Ports::new(),
            answers: Object::new(),
            drained_by: None,
            inner: Inner::None,
        }
    }

    /// Makes a settled node ready for what comes next. Returns the body that nobody needs any more.
    pub fn reset(&mut self, pending: u32, next: Next) -> Inner {
        if let Some(life) = self.life.next(NodeSignal::Reset) {
            self.life = life;
        }
        self.pending = pending;
        self.taken = false;
        self.failed = false;
        self.attempt = 0;
        self.failures = 0;
        self.drained_by = None;
        if next != Next::Turn {
            self.visit = 0;
        }
        if next != Next::Item {
            return Inner::None;
        }
        self.ports = Ports::new();
        self.answers = Object::new();
        std::mem::take(&mut self.inner)
    }
}
