//! Circles of edges: each is an implicit loop, entered by the first edge taken into it. A back edge that is taken opens
//! the next turn, an edge out of it is followed once the loop is over.

use std::collections::BTreeMap;

use super::containers::Inner;
use super::edge::{EdgeLife, EdgeSignal};
use super::frame::{FrameKey, Site};
use super::node::{Next, NodeLife, NodeSignal};
use super::{Machine, Work};
use crate::workflow::{Edge, End};

/// An implicit loop.
#[derive(Debug)]
pub(super) struct Turns {
    pub frame: FrameKey,
    /// Members at which the next turn starts.
    next: Vec<u32>,
    /// Edges out of the loop that were taken in some turn, or else failed, as places in the scope around it.
    exits: BTreeMap<u32, EdgeSignal>,
}

impl Machine {
    fn turns(&mut self, site: Site) -> Option<&mut Turns> {
        match &mut self.frames.node_mut(site)?.inner {
            Inner::Turns(turns) => Some(turns),
            _ => None,
        }
    }

    /// An edge into an implicit loop was decided: the first one taken opens it.
    pub(super) fn entering_edge_decided(&mut self, site: Site, edge: &Edge, signal: EdgeSignal) {
        match self.frames.node(site).map(|n| (n.life, n.pending)) {
            Some((NodeLife::Pending, _)) if signal == EdgeSignal::Take => self.fire(site),
            Some((NodeLife::Pending, 0)) => self.decide(site),
            Some((NodeLife::Inside, _)) => {
                if let (Some(turns), Some(inner)) = (self.turns(site), edge.inner) {
                    let frame = turns.frame;
                    self.work.push_back(Work::Edge(frame, inner, signal));
                }
            }
            _ => {}
        }
    }

    /// Opens an implicit loop: in its first turn, edges from outside are what they are out there.
    pub(super) fn enter_loop(&mut self, site: Site) {
        let workflow = self.workflow.clone();
        let body = self.node_id(site).and_then(|id| workflow.node(id).body);
        let (Some(body), Some(around)) = (body, self.frames.get(site.frame)) else {
            return;
        };
        let passes = around.passes.clone();
        // In a later pass of a loop around it, its nodes still have the ports of the one before.
        let key = match self.turns(site).map(|turns| turns.frame) {
            Some(key) => {
                self.frames.restart(&workflow, key, Next::LoopPass);
                key
            }
            None => (self.frames).open(&workflow, body, Some(site), passes.clone()),
        };
        if let Some(frame) = self.frames.get_mut(key) {
            frame.pass = 0;
            frame.passes = passes;
        }
        let turns = Turns {
            frame: key,
            next: Vec::new(),
            exits: BTreeMap::new(),
        };
        self.signal(site, NodeSignal::Enter);
        self.set_inner(site, Inner::Turns(Box::new(turns)));
        if let Some(around) = self.frames.get(site.frame) {
            for (at, edge) in (0..).zip(&workflow.scope(body).edges) {
                let entering = edge.outer.filter(|_| edge.from == End::Outside);
                let signal = match entering.map(|outer| around.edges[outer as usize]) {
                    Some(EdgeLife::Taken) => EdgeSignal::Take,
                    Some(EdgeLife::Dead) => EdgeSignal::Kill,
                    Some(EdgeLife::Failed) => EdgeSignal::Fail,
                    Some(EdgeLife::Pending) | None => continue,
                };
                self.work.push_back(Work::Edge(key, at, signal));
            }
        }
        self.start_frame(key);
    }

    /// A back edge: if it is taken, the next turn starts where it leads.
    pub(super) fn back_edge_decided(&mut self, key: FrameKey, edge: &Edge, signal: EdgeSignal) {
        let container = self.frames.get(key).and_then(|f| f.container);
        if let (EdgeSignal::Take, Some(site), End::Member(to)) = (signal, container, edge.to)
            && let Some(turns) = self.turns(site).filter(|t| !t.next.contains(&to))
        {
            turns.next.push(to);
        }
    }

    /// An edge out of an implicit loop: if it is taken in any turn, the run leaves that way once the loop is over.
    pub(super) fn exit_edge_decided(&mut self, key: FrameKey, edge: &Edge, signal: EdgeSignal) {
        let container = self.frames.get(key).and_then(|f| f.container);
        if let (Some(site), Some(outer)) = (container, edge.outer) {
            let turns = self.turns(site);
            let known = turns.filter(|t| t.exits.get(&outer) != Some(&EdgeSignal::Take));
            if let Some(turns) = known.filter(|_| signal != EdgeSignal::Kill) {
                turns.exits.insert(outer, signal);
            }
        }
    }

    /// A turn of an implicit loop is over: the next one begins, or the loop is done.
    pub(super) fn next_turn(&mut self, site: Site) {
        let workflow = self.workflow.clone();
        let Some(turns) = self.turns(site) else {
            return;
        };
        let (key, starts) = (turns.frame, std::mem::take(&mut turns.next));
        if starts.is_empty() {
            return self.loop_done(site);
        }
        self.frames.restart(&workflow, key, Next::Turn);
        let Some(frame) = self.frames.get_mut(key) else {
            return;
        };
        frame.pass += 1;
        let scope = workflow.scope(frame.scope);
        // Only what is behind the starts takes part; edges from anywhere else are dead in this turn.
        let mut behind = vec![false; scope.members.len()];
        let mut todo = starts.clone();
        while let Some(member) = todo.pop() {
            if std::mem::replace(&mut behind[member as usize], true) {
                continue;
            }
            let node = workflow.node(scope.members[member as usize]);
            let edges = node.outgoing.iter().map(|&at| &scope.edges[at as usize]);
            todo.extend(edges.filter_map(|edge| match edge.to {
                End::Member(to) if !edge.back => Some(to),
                _ => None,
            }));
        }
        for (at, edge) in (0..).zip(&scope.edges) {
            let alive = matches!(edge.from, End::Member(from) if behind[from as usize]);
            if let (false, false, End::Member(to)) = (alive, edge.back, edge.to) {
                frame.signal_edge(at, EdgeSignal::Kill);
                frame.node_mut(to).pending -= 1;
            }
        }
        for &start in &starts {
            frame.node_mut(start).taken = true;
        }
        for (member, behind) in (0..).zip(behind) {
            let site = Site { frame: key, member };
            if !behind {
                self.signal(site, NodeSignal::Die);
            } else if self.frames.node(site).is_some_and(|n| n.pending == 0) {
                self.work.push_back(Work::Decide(site));
            }
        }
    }

    fn loop_done(&mut self, site: Site) {
        let exits = self.turns(site).map(|t| std::mem::take(&mut t.exits));
        let exits = exits.unwrap_or_default();
        self.signal(site, NodeSignal::Complete);
        self.settled(site, |at, _| match exits.get(&at) {
            Some(&signal) => signal,
            None => EdgeSignal::Kill,
        });
    }
}
