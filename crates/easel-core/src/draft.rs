//! What a dialect hands to the compiler: nodes by name, edges by name, references as text was read.
//!
//! Nothing here is checked or resolved. [`crate::compile::compile`] does that and reports what it found.

use std::sync::Arc;

use crate::bind::ReadId;
use crate::condition::Condition;
use crate::event::Fault;
use crate::reference::Reference;
use crate::template::Template;
use crate::{Object, Value};

/// A whole workflow as its file describes it.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The nodes, in file order. Ids should be unique; the first of two that are equal wins.
    pub nodes: Vec<NodeDraft>,
    /// Names of variables (`sys.query`, `env.topic`) with their initial values, in file order.
    pub variables: Vec<(Arc<str>, Value)>,
    /// The node at which a fresh run starts. `None` where the file names none.
    pub entry: Option<usize>,
    /// What an unhandled failure does.
    pub on_failure: OnFailure,
}

/// What a failure that no policy handles does to the rest of its scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The scope fails at once and work in flight in it is cancelled (canvases, `fail_fast` graphs).
    #[default]
    FailScope,
    /// Only the node's edges fail; everything not behind it goes on (graphs).
    FailEdges,
}

/// One node as its file describes it.
#[derive(Clone, Debug)]
pub struct NodeDraft {
    /// The id, unique in the file.
    pub id: Arc<str>,
    /// The name shown to people; the id where the file has none.
    pub name: Arc<str>,
    /// The component's canonical name (`Switch`, `Agent`).
    pub component: Arc<str>,
    /// How the machine treats it.
    pub kind: Kind,
    /// The id of the container whose body it is part of.
    pub parent: Option<Arc<str>>,
    /// Ids of the nodes its edges lead to, in order.
    pub downstream: Vec<Arc<str>>,
    /// Ids of the nodes its error edges lead to (goto, `on_error`).
    pub on_error: Vec<Arc<str>>,
    /// Every distinct reference of the node, in the order in which they stand in the file. [`ReadId`] counts these.
    pub reads: Vec<Reference>,
    /// What the node assigns to, beside its own ports. [`crate::event::Write::target`] counts these.
    pub writes: Vec<Reference>,
    /// The parameters as the file has them, defaults filled in.
    pub params: Value,
    /// The compiled texts and references in `params`, by dotted path (`prompts.0.content`), in file order.
    pub fields: Vec<(Arc<str>, Field)>,
    /// The port that stands for the node's value where one is needed (a default value, a stream).
    pub primary: Arc<str>,
    /// What happens when an attempt fails.
    pub policy: Policy,
    /// True if it can show the stream of another node while that still arrives (Message).
    pub drains: bool,
    /// True if its primary port may arrive as a stream (LLM, Agent).
    pub streams: bool,
    /// What it does to the outside.
    pub effect: EffectClass,
    /// True if repeating an attempt does no harm outside even where it writes: its target honours the idempotency key.
    pub idempotent: bool,
    /// Seconds after which one attempt is cancelled and counts as failed. `None`: no limit.
    pub timeout_s: Option<f64>,
    /// What is wrong with it, so that it fails when it is reached.
    pub broken: Option<Fault>,
}

/// A parameter that is more than data: compiled when the workflow loads.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// Text with references in it.
    Template(Template),
    /// One reference, handed on with its type.
    Reference(ReadId),
    /// A condition over references (Switch, Loop).
    Condition(Condition),
    /// One thing to assign to: an index into [`NodeDraft::writes`].
    Target(u32),
}

/// How the machine treats a node.
#[derive(Clone, Debug, Default)]
pub enum Kind {
    /// The driver executes it and reports its ports.
    #[default]
    Task,
    /// A task that chooses among its edges; the completion names the targets.
    Branch {
        /// The ids each choice may lead to, for the check: a target that no edge carries fails when chosen.
        targets: Vec<Arc<str>>,
    },
    /// It asks a person and blocks what is behind it.
    Form {
        /// The fields, in order.
        fields: Vec<FormField>,
        /// The text that goes with the question.
        tips: Option<Template>,
    },
    /// It runs its body once for each item of a list.
    Each {
        /// The list.
        items: ReadId,
        /// How many passes may be under way at once; 1 is sequential.
        concurrency: u32,
        /// Port name and what to collect from each pass.
        collect: Vec<(Arc<str>, Reference)>,
    },
    /// It runs its body until a condition holds, tested before each pass.
    While {
        /// Ports set when the loop is entered, before the first test.
        variables: Vec<(Arc<str>, Initial)>,
        /// Ends the loop when it holds; `None` never ends it.
        until: Option<Condition>,
        /// Passes at most.
        maximum: u64,
    },
    /// The start of a container's body: it completes with the pass's own values (`item`, `index`, `result`).
    Item,
    /// It ends the innermost loop around it.
    Exit,
}

/// A loop variable's first value.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// Written in the file.
    Constant(Value),
    /// Read when the loop is entered.
    Read(ReadId),
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormField {
    /// The key under which the answer comes and the port under which it is stored.
    pub key: Arc<str>,
    /// The declaration as the file has it (`name`, `type`, `optional`, `options`, ...), without a value.
    pub declaration: Object,
    /// True if the form can go on without it.
    pub optional: bool,
    /// True if it alone is no reason to ask (an optional file).
    pub unasked: bool,
}

/// What a component does to the world outside; decides what recovery may repeat (design.md §6).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Nothing: same inputs, same ports.
    #[default]
    Pure,
    /// It asks the outside (a model, a search) but changes nothing there.
    Reads,
    /// It changes the outside (mail, a POST).
    Writes,
}

/// What happens when an attempt fails (design.md §3, "Errors").
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Attempts in all, at least 1.
    pub attempts: u32,
    /// Pause before the second attempt in milliseconds; doubled for each further one, with jitter, at most 60 s.
    pub delay_ms: u64,
    /// What an exhausted node does.
    pub otherwise: Otherwise,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            attempts: 1,
            delay_ms: 0,
            otherwise: Otherwise::Fail,
        }
    }
}

/// What a node does when its last attempt has failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Otherwise {
    /// The failure is unhandled.
    #[default]
    Fail,
    /// The value becomes the primary port and the node counts as done.
    Default(Value),
    /// The error edges are taken and the others die; the failure counts as handled.
    Goto,
}
