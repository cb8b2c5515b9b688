//! The life of a scope: the root, or one pass of a container, with the states of its nodes and edges.

use std::sync::Arc;

use super::Failure;
use super::edge::{EdgeLife, EdgeSignal};
use super::life::life;
use super::node::{Next, NodeLife, NodeSignal, NodeState};
use super::overlay::Overlay;
use crate::effect::Scope as Passes;
use crate::event::Ports;
use crate::workflow::{ScopeId, Workflow};

life! {
    /// Where a scope stands.
    FrameLife on FrameSignal {
        states {
            /// Something in it is live.
            Live,
            /// Nothing in it is live any more.
            Quiet,
            /// A failure in it was not handled.
            Failed,
            /// It was stopped from outside.
            Cancelled,
        }
        signals {
            /// Its last node is settled.
            Settle,
            /// The next pass begins.
            Reset,
            /// A failure was not handled.
            Fail,
            /// It is stopped.
            Cancel,
        }
        arrows {
            Live --(Settle)--> Quiet,
            Live --(Fail)--> Failed,
            Live --(Cancel)--> Cancelled,
            Quiet --(Reset)--> Live,
        }
    }
}

/// Which scope instance. A frame that was given back is no longer found under its old key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FrameKey {
    index: u32,
    epoch: u32,
}

/// A node in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Site {
    pub frame: FrameKey,
    pub member: u32,
}

/// A scope while it runs.
#[derive(Debug)]
pub(super) struct Frame {
    pub life: FrameLife,
    pub scope: ScopeId,
    /// The container whose pass it is; `None` for the root.
    pub container: Option<Site>,
    /// The frame of each depth around it, itself last.
    pub around: Arc<[FrameKey]>,
    /// The passes around its nodes, for people.
    pub passes: Passes,
    /// Which pass, from 0.
    pub pass: u64,
    /// True inside a circle of edges, however deep.
    pub circles: bool,
    pub nodes: Vec<NodeState>,
    pub edges: Vec<EdgeLife>,
    /// Nodes that are not settled.
    pub live: u32,
    /// The first failure in it that was not handled.
    pub failure: Option<Failure>,
    /// What the item node gives.
    pub item: Ports,
    /// Assignments kept apart until all passes are done.
    pub overlay: Option<Overlay>,
    /// The nearest frame with an overlay, itself included.
    pub overlaid: Option<FrameKey>,
}

impl Frame {
    /// Moves a node on. False if its state does not know the signal: then nothing changed.
    pub fn signal(&mut self, member: u32, signal: NodeSignal) -> bool {
        let Some(node) = self.nodes.get_mut(member as usize) else {
            return false;
        };
        let Some(next) = node.life.next(signal) else {
            return false;
        };
        if next.settled() && !node.life.settled() {
            self.live -= 1;
        }
        node.life = next;
        true
    }

    /// Moves an edge on. The state it was in, or `None` if that does not know the signal: then nothing changed.
    pub fn signal_edge(&mut self, edge: u32, signal: EdgeSignal) -> Option<EdgeLife> {
        let state = self.edges.get_mut(edge as usize)?;
        let next = state.next(signal)?;
        Some(std::mem::replace(state, next))
    }

    /// Moves the frame on. False if its state does not know the signal.
    pub fn move_on(&mut self, signal: FrameSignal) -> bool {
        match self.life.next(signal) {
            Some(next) => self.life = next,
            None => return false,
        }
        true
    }

    pub fn node(&self, member: u32) -> &NodeState {
        &self.nodes[member as usize]
    }

    pub fn node_mut(&mut self, member: u32) -> &mut NodeState {
        &mut self.nodes[member as usize]
    }

    /// Makes a quiet frame ready for what comes next. Returns the frames inside that nobody needs any more.
    fn reset(&mut self, workflow: &Workflow, next: Next) -> Vec<FrameKey> {
        self.move_on(FrameSignal::Reset);
        let mut given_back = Vec::new();
        let members = &workflow.scope(self.scope).members;
        for (node, &member) in self.nodes.iter_mut().zip(members) {
            let pending = workflow.node(member).incoming.len() as u32;
            given_back.extend(node.reset(pending, next).frames());
        }
        for edge in &mut self.edges {
            if let Some(life) = edge.next(EdgeSignal::Reset) {
                *edge = life;
            }
        }
        self.live = self.nodes.len() as u32;
        given_back
    }
}

/// All scopes that are, or may still be read.
#[derive(Debug, Default)]
pub(super) struct Frames {
    all: Vec<Frame>,
    epochs: Vec<u32>,
    free: Vec<u32>,
}

impl Frames {
    pub fn get(&self, key: FrameKey) -> Option<&Frame> {
        let live = self.epochs.get(key.index as usize) == Some(&key.epoch);
        self.all.get(key.index as usize).filter(|_| live)
    }

    pub fn get_mut(&mut self, key: FrameKey) -> Option<&mut Frame> {
        let live = self.epochs.get(key.index as usize) == Some(&key.epoch);
        self.all.get_mut(key.index as usize).filter(|_| live)
    }

    /// Opens a scope with all its nodes pending.
    pub fn open(
        &mut self,
        workflow: &Workflow,
        scope: ScopeId,
        container: Option<Site>,
        passes: Passes,
    ) -> FrameKey {
        let index = self.free.pop().unwrap_or(self.all.len() as u32);
        let epoch = self.epochs.get(index as usize).copied().unwrap_or(0);
        let key = FrameKey { index, epoch };
        let parent = container.and_then(|c| self.get(c.frame));
        let around: Arc<[FrameKey]> = match parent {
            Some(parent) => parent.around.iter().copied().chain([key]).collect(),
            None => Arc::new([key]),
        };
        let shape = workflow.scope(scope);
        let circle = shape.container.is_some_and(|c| workflow.node(c).implicit);
        let edges_to = |&member| workflow.node(member).incoming.len() as u32;
        let frame = Frame {
            life: FrameLife::Live,
            scope,
            container,
            around,
            passes,
            pass: 0,
            circles: circle || parent.is_some_and(|p| p.circles),
            live: shape.members.len() as u32,
            nodes: shape
                .members
                .iter()
                .map(edges_to)
                .map(NodeState::new)
                .collect(),
            edges: vec![EdgeLife::Pending; shape.edges.len()],
            failure: None,
            item: Ports::new(),
            overlay: None,
            overlaid: parent.and_then(|p| p.overlaid),
        };
        match self.all.get_mut(index as usize) {
            Some(old) => *old = frame,
            None => {
                self.all.push(frame);
                self.epochs.push(epoch);
            }
        }
        key
    }

    /// Makes a quiet frame ready for what comes next, and gives back the frames inside that nobody needs any more.
    pub fn restart(&mut self, workflow: &Workflow, key: FrameKey, next: Next) {
        let frame = self.get_mut(key);
        let inside = frame.map(|frame| frame.reset(workflow, next));
        for frame in inside.unwrap_or_default() {
            self.give_back(frame);
        }
    }

    /// Gives back a frame and all frames inside it.
    pub fn give_back(&mut self, key: FrameKey) {
        let mut todo = vec![key];
        while let Some(key) = todo.pop() {
            let Some(frame) = self.get_mut(key) else {
                continue;
            };
            for node in &mut frame.nodes {
                todo.extend(std::mem::take(&mut node.inner).frames());
            }
            frame.nodes = Vec::new();
            frame.edges = Vec::new();
            frame.item = Ports::new();
            frame.overlay = None;
            if let Some(epoch) = self.epochs.get_mut(key.index as usize) {
                *epoch = epoch.wrapping_add(1);
            }
            self.free.push(key.index);
        }
    }

    /// Frames under way or kept to be read.
    pub fn count(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// The node at a site.
    pub fn node(&self, site: Site) -> Option<&NodeState> {
        self.get(site.frame)?.nodes.get(site.member as usize)
    }

    /// The node at a site, to be changed.
    pub fn node_mut(&mut self, site: Site) -> Option<&mut NodeState> {
        self.get_mut(site.frame)?
            .nodes
            .get_mut(site.member as usize)
    }

    /// The state of the node at a site; one that is gone counts as cancelled.
    pub fn life(&self, site: Site) -> NodeLife {
        self.node(site).map_or(NodeLife::Cancelled, |n| n.life)
    }
}
