//! The firing rule: edges are decided, nodes fire, are skipped or die.

use super::Machine;
use super::edge::EdgeSignal;
use super::frame::{FrameKey, Site};
use super::node::{NodeLife, NodeSignal};
use crate::bind::Activation;
use crate::draft::Kind;
use crate::effect::Pass;
use crate::event::Fault;
use crate::workflow::{Edge, End, ScopeId};

impl Machine {
    /// Opens the root scope.
    pub(super) fn open_root(&mut self) {
        let workflow = self.workflow.clone();
        let passes: std::sync::Arc<[Pass]> = std::sync::Arc::new([]);
        let root = self.frames.open(&workflow, ScopeId(0), None, passes);
        self.root = Some(root);
        self.start_frame(root);
    }

    /// Starts a scope: its first nodes may fire, and what nothing leads to dies.
    pub(super) fn start_frame(&mut self, key: FrameKey) {
        let workflow = self.workflow.clone();
        let Some(frame) = self.frames.get_mut(key) else {
            return;
        };
        let scope = workflow.scope(frame.scope);
        for &start in &scope.starts {
            frame.node_mut(start).taken = true;
        }
        let free: Vec<u32> = (0..scope.members.len() as u32)
            .filter(|&m| frame.node(m).pending == 0)
            .collect();
        if scope.members.is_empty() {
            self.quiet.push_back(key);
        }
        for member in free {
            self.decide(Site { frame: key, member });
        }
    }

    /// An edge was decided: its target may fire, be skipped or die.
    pub(super) fn edge_decided(&mut self, key: FrameKey, at: u32, signal: EdgeSignal) {
        let workflow = self.workflow.clone();
        let Some(frame) = self.frames.get_mut(key) else {
            return;
        };
        if !frame.signal_edge(at, signal) {
            return;
        }
        let edge = &workflow.scope(frame.scope).edges[at as usize];
        let member = match edge.to {
            _ if edge.back => return self.back_edge_decided(key, edge, signal),
            End::Outside => return self.exit_edge_decided(key, edge, signal),
            End::Member(member) => member,
        };
        let node = frame.node_mut(member);
        node.pending -= 1;
        node.taken |= signal == EdgeSignal::Take;
        node.failed |= signal == EdgeSignal::Fail;
        let decided = node.pending == 0;
        let site = Site { frame: key, member };
        if workflow.member(self.scope_of(key), member).implicit {
            self.entering_edge_decided(site, edge, signal);
        } else if decided {
            self.decide(site);
        }
    }

    /// The rule itself. All edges to the node are decided.
    pub(super) fn decide(&mut self, site: Site) {
        let Some(node) = self.frames.node(site) else {
            return;
        };
        if node.life != NodeLife::Pending {
            return;
        }
        match (node.failed, node.taken) {
            (true, _) => self.skip(site),
            (false, false) => self.die(site),
            (false, true) => self.fire(site),
        }
    }

    fn skip(&mut self, site: Site) {
        self.signal(site, NodeSignal::Skip);
        self.decide_edges(site, |_| EdgeSignal::Fail);
        self.wake_watchers(site);
    }

    fn die(&mut self, site: Site) {
        self.signal(site, NodeSignal::Die);
        self.decide_edges(site, |_| EdgeSignal::Kill);
        self.wake_watchers(site);
    }

    /// Decides the edges that leave a node and are not decided yet.
    pub(super) fn decide_edges(&mut self, site: Site, decide: impl Fn(&Edge) -> EdgeSignal) {
        let workflow = self.workflow.clone();
        let Some(frame) = self.frames.get(site.frame) else {
            return;
        };
        let scope = workflow.scope(frame.scope);
        let node = workflow.node(scope.members[site.member as usize]);
        for &at in &node.outgoing {
            let signal = decide(&scope.edges[at as usize]);
            self.decided.push_back((site.frame, at, signal));
        }
    }

    /// The edges say go; the node starts once the values it reads are there.
    fn fire(&mut self, site: Site) {
        if self.must_wait(site) {
            self.signal(site, NodeSignal::Block);
        } else {
            self.queue(site);
        }
    }

    /// True while a value the node reads is not there yet.
    fn must_wait(&self, site: Site) -> bool {
        let (Some(frame), Some(id)) = (self.frames.get(site.frame), self.node_id(site)) else {
            return false;
        };
        let node = self.workflow.node(id);
        let drains = node.draft.drains;
        let may_take = |source: u32| {
            let source = frame.node(source);
            drains && source.life == NodeLife::Open && source.drained_by.is_none()
        };
        let unsettled = |&&source: &&u32| !frame.node(source).life.settled();
        let orders = node.after.iter().filter(unsettled);
        let texts = node.sources.iter().filter(unsettled);
        let late = |&source: &u32| frame.node(source).life == NodeLife::Open;
        orders.copied().any(|s| !may_take(s)) || texts.copied().any(|s| late(&s) && !may_take(s))
    }

    /// Lets nodes go on that waited for this one.
    pub(super) fn wake_watchers(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        for &watcher in &workflow.node(id).watchers {
            let watcher = Site {
                member: watcher,
                ..site
            };
            if self.frames.life(watcher) == NodeLife::Blocked && !self.must_wait(watcher) {
                self.queue(watcher);
            }
        }
    }

    /// The node fires.
    pub(super) fn queue(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        if self.workflow.node(id).implicit {
            self.enter_loop(site);
            return;
        }
        if self.node_runs_left == 0 {
            let message = "The run reached its limit of node runs. Look for a circle that does not end, or raise the limit.";
            return self.fail_run(Some(id), Fault::new("too_many_node_runs", message));
        }
        self.node_runs_left -= 1;
        let activation = Activation(self.next_activation);
        self.next_activation += 1;
        if let Some(node) = self.frames.node_mut(site) {
            node.activation = activation;
            node.visit += 1;
            node.attempt = 0;
        }
        self.signal(site, NodeSignal::Queue);
        self.active.insert(activation, site);
        self.line_up(site);
    }

    /// Sends a queued firing where its kind goes next.
    pub(super) fn line_up(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        let activation = self
            .frames
            .node(site)
            .map_or(Activation(0), |n| n.activation);
        match node.draft.kind {
            Kind::Item => self.item(site),
            Kind::Exit => self.exit(site),
            Kind::Each { .. } | Kind::While { .. } => self.enter(site),
            Kind::Form { .. } => self.ask(site),
            Kind::Task | Kind::Branch { .. } if node.draft.drains => {
                self.lane.push_back(activation)
            }
            Kind::Task | Kind::Branch { .. } => self.line_up_for_a_place(site, activation),
        }
    }

    /// With one place, the order of the file decides who goes first; otherwise whoever was ready first.
    pub(super) fn line_up_for_a_place(&mut self, site: Site, activation: Activation) {
        let key = match (self.concurrency, self.node_id(site)) {
            (1, Some(id)) => u64::from(id.0),
            _ => activation.0,
        };
        self.ready.insert((key, activation));
    }

    /// Starts whoever may start now. False if nobody may.
    pub(super) fn start_next(&mut self) -> bool {
        if self.life.over() {
            return false;
        }
        self.start_speaker() || self.start_from_line()
    }

    fn start_speaker(&mut self) -> bool {
        if self.speaking.is_some() {
            return false;
        }
        while let Some(&first) = self.lane.front() {
            let Some(site) = self.queued(first) else {
                self.lane.pop_front();
                continue;
            };
            if self.concurrency == 1 && !self.alone_may_speak(site) {
                return false;
            }
            self.lane.pop_front();
            self.begin(site);
            return true;
        }
        false
    }

    /// With one place, a message waits for what comes earlier in the file and for all but the text it shows.
    fn alone_may_speak(&self, site: Site) -> bool {
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(site.frame)) else {
            return true;
        };
        let first_in_line = self.ready.first().map(|&(key, _)| key);
        let earlier = first_in_line.is_some_and(|key| key < u64::from(id.0));
        let sources = &self.workflow.node(id).sources;
        let shows = sources
            .iter()
            .any(|&s| frame.node(s).life == NodeLife::Open);
        shows || (self.places == 0 && !earlier)
    }

    fn start_from_line(&mut self) -> bool {
        let full = self.places >= self.concurrency;
        let hushed = self.concurrency == 1 && self.speaking.is_some();
        if full || hushed {
            return false;
        }
        while let Some((_, activation)) = self.ready.pop_first() {
            if let Some(site) = self.queued(activation) {
                self.begin(site);
                return true;
            }
        }
        false
    }

    /// Where a firing waits, if it still does.
    fn queued(&self, activation: Activation) -> Option<Site> {
        let site = *self.active.get(&activation)?;
        let node = self.frames.node(site)?;
        (node.life == NodeLife::Queued && node.activation == activation).then_some(site)
    }

    pub(super) fn scope_of(&self, key: FrameKey) -> ScopeId {
        self.frames.get(key).map_or(ScopeId(0), |f| f.scope)
    }
}
