//! Streams: a text that arrives while somebody shows it (design.md §3, "Streams").
//!
//! A message that is ready while the text of its source is arriving owns that stream from then on. Everybody else, a
//! second message too, waits for the whole text.

use super::edge::EdgeSignal;
use super::frame::Site;
use super::node::{NodeLife, NodeState};
use super::{Machine, Work};
use crate::bind::{Activation, Resolved};
use crate::draft::{Kind, NodeDraft, Otherwise};
use crate::effect::{Effect, Observation, StreamTurn};
use crate::event::Ports;
use crate::workflow::End;

impl NodeState {
    /// True if the node's text is arriving and nobody shows it yet.
    pub fn may_be_drained(&self) -> bool {
        self.life == NodeLife::Open && self.drained_by.is_none()
    }

    /// The node's stream, if it is for that firing to show.
    pub fn stream_for(&self, drainer: Activation) -> Option<Activation> {
        let own = self.drained_by == Some(drainer) && !self.life.settled();
        own.then_some(self.activation)
    }
}

impl Machine {
    /// The text of an attempt begins to arrive: whoever drains streams may go on.
    pub(super) fn stream_opened(&mut self, activation: Activation, attempt: u32) {
        let Some(site) = self.attempting(activation, attempt) else {
            return;
        };
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        if !may_be_shown(&node.draft) || !self.signal(site, super::NodeSignal::Open) {
            return;
        }
        let scope = workflow.scope(node.scope);
        for &at in &node.outgoing {
            let edge = &scope.edges[at as usize];
            if let (End::Member(to), false) = (edge.to, edge.on_error || edge.back)
                && workflow.node(scope.members[to as usize]).draft.drains
            {
                let taken = Work::Edge(site.frame, at, EdgeSignal::Take);
                self.work.push_back(taken);
            }
        }
        self.work.push_back(Work::Wake(site));
    }

    /// A node that drains streams is ready: those that are arriving and that nobody shows are its own from now on.
    pub(super) fn claim_streams(&mut self, site: Site, drainer: Activation) {
        let workflow = self.workflow.clone();
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get_mut(site.frame)) else {
            return;
        };
        let node = workflow.node(id);
        for &source in node.sources.iter().filter(|_| node.draft.drains) {
            let source = frame.node_mut(source);
            if source.may_be_drained() {
                source.drained_by = Some(drainer);
            }
        }
    }

    /// The stream that a port stands for, if it is for that firing to show.
    pub(super) fn stream_of(
        &self,
        source: Site,
        port: &str,
        drainer: Activation,
    ) -> Option<Resolved> {
        let stream = self.frames.node(source)?.stream_for(drainer)?;
        let primary = &self.workflow.node(self.node_id(source)?).draft.primary;
        (**primary == *port).then_some(Resolved::Stream(stream))
    }

    /// True if the node has a stream of its own to show.
    pub(super) fn shows_a_stream(&self, site: Site) -> bool {
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(site.frame)) else {
            return false;
        };
        let drainer = frame.node(site.member).activation;
        let sources = &self.workflow.node(id).sources;
        let mut streams = sources.iter().map(|&s| frame.node(s).stream_for(drainer));
        streams.any(|stream| stream.is_some())
    }

    /// True if the one firing shows the text of the other.
    pub(super) fn is_drained_by(&self, producer: Activation, drainer: Activation) -> bool {
        let site = self.active.get(&producer);
        let node = site.and_then(|&site| self.frames.node(site));
        node.is_some_and(|node| node.drained_by == Some(drainer))
    }

    /// Tells whoever drains a node's stream how it went on.
    pub(super) fn feed(&mut self, site: Site, turn: impl Fn(&NodeDraft, &Ports) -> StreamTurn) {
        let (Some(state), Some(node)) = (self.frames.node(site), self.node_id(site)) else {
            return;
        };
        let Some(drainer) = state.drained_by else {
            return;
        };
        let producer = state.activation;
        let turn = turn(&self.workflow.node(node).draft, &state.ports);
        if turn == StreamTurn::Restarts && self.speaking == Some(drainer) {
            self.reaction.observations.push(Observation::MessageReset {
                node,
                activation: producer,
                at: self.now,
            });
        }
        self.reaction.effects.push(Effect::Feed { producer, turn });
    }
}

/// A branch is not known to lead to a message before it has chosen, and a failure that is handled elsewhere must be
/// known before anything is shown: of those, only the whole text counts.
fn may_be_shown(draft: &NodeDraft) -> bool {
    let chooses = matches!(draft.kind, Kind::Branch { .. });
    draft.streams
        && !chooses
        && !matches!(
            draft.policy.otherwise,
            Otherwise::Goto | Otherwise::GotoAndFail
        )
}
