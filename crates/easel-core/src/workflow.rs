//! The compiled workflow: nodes, edges and scopes by number, references as slots. Immutable and shared between runs.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Value;
use crate::draft::{Assignments, Gather, NodeDraft, OnFailure};
use crate::reference::Path;

/// A node of a workflow: its place in [`Workflow::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A scope of a workflow: its place in [`Workflow::scopes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub u32);

/// A variable of a workflow: its place in [`Workflow::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

impl NodeId {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

impl ScopeId {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

impl VariableId {
    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// What both dialects lower to. Made by [`crate::compile::compile`] and never changed after.
#[derive(Debug)]
pub struct Workflow {
    /// The nodes in file order, then one for each implicit loop.
    pub nodes: Vec<Node>,
    /// The scopes; the first is the root, a container's body comes after the scope that holds the container.
    pub scopes: Vec<Scope>,
    /// The variables and their initial values, if they have one.
    pub variables: Vec<(Arc<str>, Option<Value>)>,
    /// The nodes by id; of several with one id the first.
    pub(crate) by_id: HashMap<Arc<str>, NodeId>,
    /// The variables by name.
    pub(crate) by_name: HashMap<Arc<str>, VariableId>,
    /// What an unhandled failure does.
    pub on_failure: OnFailure,
    /// Who sees what a body assigns.
    pub assignments: Assignments,
}

/// One node, compiled.
#[derive(Debug)]
pub struct Node {
    /// What the file says about it.
    pub draft: NodeDraft,
    /// The scope it lives in.
    pub scope: ScopeId,
    /// Its place in that scope's [`Scope::members`].
    pub local: u32,
    /// The scope of its body, if it is a container or an implicit loop.
    pub body: Option<ScopeId>,
    /// True for the node that stands for an implicit loop. Nobody sees it run.
    pub implicit: bool,
    /// What its random choices begin with: a hash of its id.
    pub chance: u64,
    /// Edges that lead to it, as places in [`Scope::edges`]; back edges are left out.
    pub incoming: Vec<u32>,
    /// Edges that leave it, in file order, as places in [`Scope::edges`].
    pub outgoing: Vec<u32>,
    /// Where its reads are found, by [`crate::bind::ReadId`].
    pub reads: Vec<Slot>,
    /// Where its writes go, in the order of [`NodeDraft::writes`].
    pub writes: Vec<Slot>,
    /// For a container that takes something from its body: port name, and what, as its body sees it.
    pub collect: Vec<(Arc<str>, Gather<Slot>)>,
    /// Members of its scope that must be settled before it starts.
    pub after: Vec<u32>,
    /// Members of its scope that must be settled before it starts, or whose text must be arriving: it can show that.
    pub after_text: Vec<u32>,
    /// Members of its scope that may stream and whose ports it, or its body, reads.
    pub sources: Vec<u32>,
    /// Members of its scope that wait for it or read it.
    pub watchers: Vec<u32>,
}

/// The root, or what one pass of a container runs.
#[derive(Debug)]
pub struct Scope {
    /// The container whose body it is; `None` for the root.
    pub container: Option<NodeId>,
    /// The scope that holds the container.
    pub parent: Option<ScopeId>,
    /// How many scopes are around it; 0 for the root.
    pub depth: u32,
    /// Its nodes, in file order.
    pub members: Vec<NodeId>,
    /// Its edges, in file order of their sources.
    pub edges: Vec<Edge>,
    /// Members at which it starts.
    pub starts: Vec<u32>,
    /// True if ports are kept from one pass to the next (loops, explicit or implicit).
    pub keeps: bool,
    /// True if a node that does not run loses its ports of the pass before: [`Kind::Repeat`](crate::draft::Kind::Repeat).
    pub forgets: bool,
}

/// One end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A member of the scope.
    Member(u32),
    /// Somewhere outside the implicit loop that the scope is.
    Outside,
}

/// An edge of a scope.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it starts.
    pub from: End,
    /// Where it leads.
    pub to: End,
    /// The node it leads to in the file, wherever that lives.
    pub target: NodeId,
    /// True if it is taken when its source fails and that is handled.
    pub on_error: bool,
    /// True if it opens the next turn of an implicit loop.
    pub back: bool,
    /// The same edge one scope further out, where it crosses the border of an implicit loop.
    pub outer: Option<u32>,
    /// The same edge one scope further in, where it crosses the border of an implicit loop.
    pub inner: Option<u32>,
}

/// Where a value is found or put.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    /// A port of a node.
    Port {
        /// Which node, seen from the reader.
        place: Place,
        /// The port's name; empty for all ports as one object.
        port: Arc<str>,
        /// Where to go from there.
        path: Path,
    },
    /// A value of a pass around the reader.
    Pass {
        /// The depth of the scope that is the pass.
        depth: u32,
        /// The value's name.
        name: Arc<str>,
        /// Where to go from there.
        path: Path,
    },
    /// A variable.
    Variable {
        /// Which.
        variable: VariableId,
        /// Where to go from there.
        path: Path,
    },
    /// The reference names nothing that exists; the text says what and what is there instead. Using it fails the node.
    Unknown(Arc<str>),
}

/// A node as seen from another: up to a scope that both are in, then down into bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Depth of the scope from which to go down.
    pub depth: u32,
    /// Containers to enter from there, outermost first, each a member of the scope reached so far.
    pub down: Box<[u32]>,
    /// The node, a member of the scope reached.
    pub member: u32,
}

impl Workflow {
    /// The node of that number. Numbers come from this workflow, so there is always one.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.at()]
    }

    /// The node with that id in the file.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        self.by_id.get(id).copied()
    }

    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<VariableId> {
        self.by_name.get(name).copied()
    }

    /// The innermost loop (not one of passes over a list, not an implicit one) around a scope.
    pub fn loop_around(&self, scope: ScopeId) -> Option<NodeId> {
        let mut at = Some(scope);
        while let Some(id) = at {
            let scope = self.scope(id);
            let container = scope.container?;
            if self.node(container).draft.kind.is_loop() {
                return Some(container);
            }
            at = scope.parent;
        }
        None
    }

    pub(crate) fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.at()]
    }

    pub(crate) fn member(&self, scope: ScopeId, local: u32) -> &Node {
        self.node(self.scope(scope).members[local as usize])
    }
}
