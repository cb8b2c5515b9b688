//! What a dialect hands to the compiler: nodes by name, edges by name, references as text was read.
//!
//! Nothing here is checked or resolved. [`crate::compile::compile`] does that and reports what it found.

use std::sync::Arc;

use crate::argument::ArgumentTemplate;
use crate::bind::ReadId;
use crate::condition::Condition;
use crate::event::Fault;
use crate::expression::Expression;
use crate::format::FormatString;
use crate::reference::Reference;
use crate::template::Template;
use crate::{Object, Value};

/// A whole workflow as its file describes it.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The nodes, in file order. Ids should be unique; the first of two that are equal wins.
    pub nodes: Vec<NodeDraft>,
    /// Names of variables (`sys.query`, `env.topic`) with their initial values, in file order. One without a value is
    /// missing until it is assigned.
    pub variables: Vec<(Arc<str>, Option<Value>)>,
    /// Where a fresh run starts.
    pub entry: Entry,
    /// What an unhandled failure does.
    pub on_failure: OnFailure,
    /// Who sees what a body assigns.
    pub assignments: Assignments,
}

/// Where a fresh run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entry {
    /// The file names no place.
    #[default]
    Missing,
    /// At one node, by its place in [`Draft::nodes`] (canvases).
    Node(usize),
    /// At every node that no edge leads to (graphs).
    Sources,
}

impl Entry {
    /// The one node at which a run starts, if there is such a one.
    pub fn node(self) -> Option<usize> {
        match self {
            Entry::Node(at) => Some(at),
            Entry::Missing | Entry::Sources => None,
        }
    }
}

/// Who sees what is assigned in the body of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assignments {
    /// Everybody; passes that run at once are merged in the order of their items (canvases).
    #[default]
    Shared,
    /// The rest of the pass: every pass begins with what stands outside, and of a container that fails nothing is seen
    /// (graphs).
    Private,
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
    /// Whether it runs where it could.
    pub guard: Guard,
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
    /// Which of `writes` gets the primary port each time the node is done (`writes` of a graph).
    pub publishes: Option<u32>,
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

impl NodeDraft {
    /// A task of that component of which nothing else is known: it stands alone, reads nothing and changes nothing.
    pub fn new(id: impl Into<Arc<str>>, component: impl Into<Arc<str>>) -> NodeDraft {
        let id = id.into();
        NodeDraft {
            name: id.clone(),
            id,
            component: component.into(),
            kind: Kind::Task,
            guard: Guard::None,
            parent: None,
            downstream: Vec::new(),
            on_error: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            params: Value::Null,
            fields: Vec::new(),
            primary: "".into(),
            publishes: None,
            policy: Policy::default(),
            drains: false,
            streams: false,
            effect: EffectClass::Pure,
            idempotent: false,
            timeout_s: None,
            broken: None,
        }
    }
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
    /// Text with placeholders (graphs).
    Format(FormatString),
    /// An expression (graphs).
    Expression(Expression),
    /// Arguments of tools, in whose texts secrets may stand (graphs).
    Arguments(ArgumentTemplate),
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
        items: Items,
        /// How many passes may be under way at once; 1 is sequential.
        concurrency: u32,
        /// Port name and what to collect from each pass.
        collect: Vec<(Arc<str>, Gather)>,
    },
    /// It runs its body once.
    Once {
        /// What becomes its primary port.
        give: Gather,
    },
    /// It runs its body again and again, and asks after each pass whether that was the last.
    Repeat {
        /// What a pass gives.
        give: Gather,
        /// Passes at most, at least 1.
        maximum: u64,
        /// Whether the node itself is executed after a pass, to say in its completion whether to stop ([`STOP`]) and
        /// what to tell the next pass ([`FEEDBACK`]). If not, it runs to its maximum.
        judged: bool,
        /// Whether its value is the list of what the passes gave, rather than what the last one did.
        accumulates: bool,
        /// Which of the node's `writes` gets that list after each pass.
        accumulator: Option<u32>,
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

/// The port of a verdict that says whether a [`Kind::Repeat`] ends.
pub const STOP: &str = "stop";
/// The port of a verdict, and the pass value, that carries what the next pass is told.
pub const FEEDBACK: &str = "feedback";
/// The pass value that is a pass's number, from 0.
pub const INDEX: &str = "index";
/// The pass value that is the item of a [`Kind::Each`], and what the pass before gave of a [`Kind::Repeat`]: `null` at first.
pub const ITEM: &str = "item";
/// The pass value of a [`Kind::Repeat`] that lists what the passes so far gave.
pub const ACCUMULATED: &str = "acc";
/// The port of a [`Kind::Repeat`] that lists what its passes gave.
pub const RESULTS: &str = "results";
/// The port of a [`Kind::Repeat`] that lists its verdicts, each an object of the verdict's ports.
pub const VERDICTS: &str = "verdicts";

impl Kind {
    /// True if it has a body.
    pub fn is_container(&self) -> bool {
        matches!(
            self,
            Kind::Each { .. } | Kind::While { .. } | Kind::Once { .. } | Kind::Repeat { .. }
        )
    }

    /// True if its body runs again and again until something ends it.
    pub fn is_loop(&self) -> bool {
        matches!(self, Kind::While { .. } | Kind::Repeat { .. })
    }
}

/// The list of a [`Kind::Each`].
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    /// A value that must be a list.
    Read(ReadId),
    /// The value of an expression: a list, or `null` for an empty one.
    Expression(Expression),
}

/// What is taken from a body when a pass of it is over. What did not come to a value is `null`.
#[derive(Clone, Debug, PartialEq)]
pub enum Gather<R = Reference> {
    /// One value.
    One(R),
    /// Several, as an object by name.
    Many(Vec<(Arc<str>, R)>),
    /// Of these nodes those that are done: the value of the only one, or an object by name. If none is done, the other.
    Done(Vec<(Arc<str>, R)>, Box<Gather<R>>),
}

impl<R> Gather<R> {
    /// The same with other references.
    pub fn map<S>(&self, to: &mut impl FnMut(&R) -> S) -> Gather<S> {
        let mut named = |all: &[(Arc<str>, R)]| -> Vec<(Arc<str>, S)> {
            all.iter().map(|(n, r)| (n.clone(), to(r))).collect()
        };
        match self {
            Gather::One(one) => Gather::One(to(one)),
            Gather::Many(many) => Gather::Many(named(many)),
            Gather::Done(nodes, otherwise) => {
                let nodes = named(nodes);
                Gather::Done(nodes, Box::new(otherwise.map(to)))
            }
        }
    }

    /// Every reference in it.
    pub fn references(&self) -> Vec<&R> {
        match self {
            Gather::One(one) => vec![one],
            Gather::Many(many) => many.iter().map(|(_, r)| r).collect(),
            Gather::Done(nodes, otherwise) => {
                let nodes = nodes.iter().map(|(_, r)| r);
                nodes.chain(otherwise.references()).collect()
            }
        }
    }
}

/// Whether a node that could fire does.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Guard {
    /// Always.
    #[default]
    None,
    /// Never: it is switched off.
    Disabled,
    /// If the expression is true. One that fails fails the node.
    When(Expression),
    /// If the expression is true. One that fails counts as false (`compat` of graphs, spec/graph-engine §18 Q7).
    WhenSure(Expression),
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
    /// Where a value may stand already: the first that is not `null` answers the field, so that nobody is asked.
    pub given: Vec<ReadId>,
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
    /// The same, but the scope has failed when everything in it is settled (`compat` of graphs, spec/graph-engine §18 Q1).
    GotoAndFail,
}
