//! The firing rule: edges are decided, nodes fire, are skipped or die.

use std::cmp::Reverse;
use std::sync::Arc;

use super::edge::{EdgeLife, EdgeSignal};
use super::frame::{FrameKey, Site};
use super::node::{NodeLife, NodeSignal};
use super::{Machine, Work};
use crate::bind::{Activation, Inputs};
use crate::draft::{Guard, Kind};
use crate::effect::Observation;
use crate::event::{Fault, Ports};
use crate::workflow::{Edge, End, NodeId, ScopeId};

impl Machine {
    /// Opens the root scope.
    pub(super) fn open_root(&mut self) {
        let workflow = self.workflow.clone();
        let root = self.frames.open(&workflow, ScopeId(0), None, Arc::new([]));
        self.root = Some(root);
        self.start_frame(root);
    }

    /// Starts a scope: its first nodes may fire, and what nothing leads to dies.
    pub(super) fn start_frame(&mut self, key: FrameKey) {
        let Some(frame) = self.frames.get_mut(key) else {
            return;
        };
        for &start in &self.workflow.scope(frame.scope).starts {
            frame.node_mut(start).taken = true;
        }
        if frame.nodes.is_empty() {
            self.quiet.push_back(key);
        }
        for (member, node) in (0..).zip(&frame.nodes) {
            if node.pending == 0 {
                self.work
                    .push_back(Work::Decide(Site { frame: key, member }));
            }
        }
    }

    /// An edge was decided: its target may fire, be skipped or die.
    pub(super) fn edge_decided(&mut self, key: FrameKey, at: u32, signal: EdgeSignal) {
        let workflow = self.workflow.clone();
        let Some(frame) = self.frames.get_mut(key) else {
            return;
        };
        let Some(before) = frame.signal_edge(at, signal) else {
            return;
        };
        let scope = workflow.scope(frame.scope);
        let edge = &scope.edges[at as usize];
        let member = match edge.to {
            _ if edge.back => return self.back_edge_decided(key, edge, signal),
            End::Outside => return self.exit_edge_decided(key, edge, signal),
            End::Member(member) => member,
        };
        let node = frame.node_mut(member);
        if before == EdgeLife::Pending {
            node.pending -= 1;
        }
        node.taken |= signal == EdgeSignal::Take;
        node.failed |= signal == EdgeSignal::Fail;
        let decided = node.pending == 0;
        let site = Site { frame: key, member };
        if workflow.node(scope.members[member as usize]).implicit {
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

    pub(super) fn skip(&mut self, site: Site) {
        self.signal(site, NodeSignal::Skip);
        self.forget_ports(site);
        self.settled(site, |_, _| EdgeSignal::Fail);
    }

    fn die(&mut self, site: Site) {
        self.signal(site, NodeSignal::Die);
        self.forget_ports(site);
        self.settled(site, |_, _| EdgeSignal::Kill);
    }

    /// Where a scope forgets, a node that does not run in a pass is missing in it, whatever it gave in the one before.
    fn forget_ports(&mut self, site: Site) {
        let Some(frame) = self.frames.get_mut(site.frame) else {
            return;
        };
        if self.workflow.scope(frame.scope).forgets {
            frame.node_mut(site.member).ports = Ports::new();
        }
    }

    /// Whether the node's guard lets it run.
    fn guarded(&self, site: Site, id: NodeId) -> Result<bool, Fault> {
        let draft = &self.workflow.node(id).draft;
        match &draft.guard {
            Guard::None => Ok(true),
            Guard::Disabled => Ok(false),
            Guard::WhenSure(when) => Ok(when.truth(&self.bind(site)?).unwrap_or(false)),
            Guard::When(when) => when.truth(&self.bind(site)?).map_err(|error| {
                let message = format!("\"{}\" has a guard that fails: {error}.", draft.name);
                Fault::new("guard", message)
            }),
        }
    }

    /// A guard kept the node from running.
    fn turn_away(&mut self, site: Site, node: NodeId) {
        if let Some(frame) = self.frames.get(site.frame) {
            let (scope, at) = (frame.passes.clone(), self.now);
            let skipped = Observation::NodeSkipped { node, scope, at };
            self.reaction.observations.push(skipped);
        }
        self.die(site);
    }

    /// A node is settled: the edges that leave it are decided, and who waited for it may go on.
    pub(super) fn settled(&mut self, site: Site, decide: impl Fn(u32, &Edge) -> EdgeSignal) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let node = self.workflow.node(id);
        let scope = self.workflow.scope(node.scope);
        for &at in &node.outgoing {
            let signal = decide(at, &scope.edges[at as usize]);
            self.work.push_back(Work::Edge(site.frame, at, signal));
        }
        self.work.push_back(Work::Wake(site));
    }

    /// The edges say go; the node starts once the values it reads are there.
    pub(super) fn fire(&mut self, site: Site) {
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
        let life = |source: u32| frame.node(source).life;
        let there = |source: u32| {
            let may_be_shown = node.draft.drains && frame.node(source).may_be_drained();
            life(source).settled() || may_be_shown
        };
        // Of what it may read without waiting, a text that has begun is still worth waiting for.
        let coming = |source: u32| life(source) == NodeLife::Queued || life(source).reports();
        let mut after = node.after.iter();
        let mut after_text = node.after_text.iter();
        let mut sources = node.sources.iter();
        after.any(|&source| !life(source).settled())
            || after_text.any(|&source| !there(source))
            || sources.any(|&source| coming(source) && !there(source))
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
    fn queue(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        if self.workflow.node(id).implicit {
            return self.enter_loop(site);
        }
        let guarded = self.guarded(site, id);
        if guarded == Ok(false) {
            return self.turn_away(site, id);
        }
        if !self.counts(site, id) {
            return;
        }
        let activation = Activation(self.next_activation);
        self.next_activation += 1;
        if let Some(node) = self.frames.node_mut(site) {
            node.activation = activation;
            node.visit += 1;
        }
        self.signal(site, NodeSignal::Queue);
        self.active.insert(activation, site);
        if let Err(fault) = guarded {
            self.note_start(site, Inputs::default());
            return self.fail_for_good(site, fault);
        }
        self.claim_streams(site, activation);
        self.line_up(site);
    }

    /// Counts a node run inside a circle. False if it was one too many: then the run has failed.
    fn counts(&mut self, site: Site, id: NodeId) -> bool {
        if !self.frames.get(site.frame).is_some_and(|f| f.circles) {
            return true;
        }
        if self.circle_runs_left == 0 {
            let message = format!(
                "The run went round a circle until it reached its limit of node runs, at \"{}\". Give the circle a way out that is taken, or raise the limit.",
                self.workflow.node(id).draft.name
            );
            self.fail_run(Some(id), Fault::new("too_many_node_runs", message));
            return false;
        }
        self.circle_runs_left -= 1;
        true
    }

    /// Sends a queued firing where its kind goes next.
    pub(super) fn line_up(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let draft = &self.workflow.node(id).draft;
        match draft.kind {
            Kind::Item => self.item(site),
            Kind::Exit => self.exit(site),
            Kind::Each { .. } | Kind::While { .. } | Kind::Once { .. } | Kind::Repeat { .. } => {
                self.enter(site);
            }
            Kind::Form { .. } => self.ask(site),
            Kind::Task | Kind::Branch { .. } if draft.drains => self.line_up_to_speak(site),
            Kind::Task | Kind::Branch { .. } => self.line_up_for_a_place(site),
        }
    }

    fn line_up_to_speak(&mut self, site: Site) {
        self.lane
            .extend(self.frames.node(site).map(|n| n.activation));
    }

    /// With one place, the order of the file decides who goes first; otherwise whoever was ready first.
    pub(super) fn line_up_for_a_place(&mut self, site: Site) {
        let (Some(id), Some(node)) = (self.node_id(site), self.frames.node(site)) else {
            return;
        };
        let key = match self.concurrency {
            1 => u64::from(id.0),
            _ => node.activation.0,
        };
        self.ready.push(Reverse((key, node.activation)));
    }

    /// Starts whoever may start now. False if nobody may.
    pub(super) fn start_next(&mut self) -> bool {
        !self.life.over() && (self.start_speaker() || self.start_from_line())
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
        let Some(id) = self.node_id(site) else {
            return true;
        };
        let first_in_line = self.ready.peek().map(|&Reverse((key, _))| key);
        let earlier = first_in_line.is_some_and(|key| key < u64::from(id.0));
        self.shows_a_stream(site) || (self.places == 0 && !earlier)
    }

    fn start_from_line(&mut self) -> bool {
        if self.places >= self.concurrency {
            return false;
        }
        while let Some(activation) = self.take_next_in_line() {
            if let Some(site) = self.queued(activation) {
                self.begin(site);
                return true;
            }
        }
        false
    }

    /// Takes who is next for a place out of the line. With one place, nobody while a message speaks but who gives it its
    /// text.
    fn take_next_in_line(&mut self) -> Option<Activation> {
        let Some(speaker) = self.speaking.filter(|_| self.concurrency == 1) else {
            let Reverse((_, activation)) = self.ready.pop()?;
            return Some(activation);
        };
        let ready = self.ready.iter().map(|&Reverse(place)| place);
        let (_, next) = ready
            .filter(|&(_, activation)| self.is_drained_by(activation, speaker))
            .min()?;
        self.ready
            .retain(|&Reverse((_, activation))| activation != next);
        Some(next)
    }

    /// Where a firing waits, if it still does.
    fn queued(&self, activation: Activation) -> Option<Site> {
        let site = *self.active.get(&activation)?;
        (self.frames.life(site) == NodeLife::Queued).then_some(site)
    }
}
