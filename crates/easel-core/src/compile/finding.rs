//! What compiling a workflow can find wrong with it.

use std::sync::Arc;

/// Something about a workflow that its author should know. Nodes are named by their id in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// There is no node at which a run could start.
    NoEntry,
    /// Two nodes have one id; the second is left out.
    DuplicateId {
        /// The id.
        node: Arc<str>,
    },
    /// An edge leads to a node that does not exist.
    DanglingEdge {
        /// Where it starts.
        node: Arc<str>,
        /// The id to which it leads.
        target: Arc<str>,
    },
    /// A node says that it is part of the body of something that is no container.
    NoSuchContainer {
        /// The node.
        node: Arc<str>,
        /// What it names as its container.
        parent: Arc<str>,
    },
    /// An edge leads out of a body or into one.
    EdgeAcrossScopes {
        /// Where it starts.
        node: Arc<str>,
        /// Where it leads.
        target: Arc<str>,
    },
    /// A reference reaches from one body into another.
    ReferenceAcrossScopes {
        /// The node that reads.
        node: Arc<str>,
        /// The reference.
        reference: Arc<str>,
    },
    /// A circle of edges that no branch, exit or form can leave.
    EndlessCircle {
        /// The nodes on it, in order.
        nodes: Vec<Arc<str>>,
    },
    /// Nodes that each wait for a value of the next.
    ReferenceCircle {
        /// The nodes on it, in order.
        nodes: Vec<Arc<str>>,
    },
    /// A node leads to itself; the edge is left out.
    SelfEdge {
        /// The node.
        node: Arc<str>,
    },
    /// An edge closes a circle and so opens a further turn of an implicit loop.
    BackEdge {
        /// Where it starts.
        node: Arc<str>,
        /// Where it leads.
        target: Arc<str>,
    },
    /// Waiting for a value would close a circle; the node does not wait, and reads what is there.
    OrderingLeftOut {
        /// The node that reads.
        node: Arc<str>,
        /// The node whose value it reads.
        source: Arc<str>,
    },
    /// A reference names nothing that exists. The node fails if it is reached.
    UnknownReference {
        /// The node that reads or writes.
        node: Arc<str>,
        /// The reference.
        reference: Arc<str>,
        /// What is unknown, and what is there instead.
        why: Arc<str>,
    },
    /// No edge leads to the node, so it never runs.
    Unreachable {
        /// The node.
        node: Arc<str>,
    },
    /// A container has no body; it is done as soon as it is reached.
    EmptyBody {
        /// The container.
        node: Arc<str>,
    },
    /// An exit with no loop around it does nothing.
    ExitOutsideLoop {
        /// The exit.
        node: Arc<str>,
    },
    /// A loop that allows no pass.
    NoPasses {
        /// The loop.
        node: Arc<str>,
    },
    /// A loop that only its maximum ends.
    NoEnd {
        /// The loop.
        node: Arc<str>,
    },
}

impl Finding {
    /// The node to look at first. `None` if it is about the workflow as a whole.
    pub fn node(&self) -> Option<&Arc<str>> {
        use Finding::*;
        match self {
            NoEntry => None,
            DuplicateId { node }
            | DanglingEdge { node, .. }
            | NoSuchContainer { node, .. }
            | EdgeAcrossScopes { node, .. }
            | ReferenceAcrossScopes { node, .. }
            | SelfEdge { node }
            | BackEdge { node, .. }
            | OrderingLeftOut { node, .. }
            | UnknownReference { node, .. }
            | Unreachable { node }
            | EmptyBody { node }
            | ExitOutsideLoop { node }
            | NoPasses { node }
            | NoEnd { node } => Some(node),
            EndlessCircle { nodes } | ReferenceCircle { nodes } => nodes.first(),
        }
    }

    /// True if the workflow must not be run.
    pub fn refuses(&self) -> bool {
        use Finding::*;
        match self {
            NoEntry | DuplicateId { .. } | DanglingEdge { .. } | NoSuchContainer { .. } => true,
            EdgeAcrossScopes { .. } | ReferenceAcrossScopes { .. } => true,
            EndlessCircle { .. } | ReferenceCircle { .. } => true,
            SelfEdge { .. } | BackEdge { .. } | OrderingLeftOut { .. } => false,
            UnknownReference { .. } | Unreachable { .. } | EmptyBody { .. } => false,
            ExitOutsideLoop { .. } | NoPasses { .. } | NoEnd { .. } => false,
        }
    }
}
