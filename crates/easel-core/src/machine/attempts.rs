//! Attempts: how one begins, succeeds or fails, and the one policy that decides what a failure means.

use std::hash::Hasher;
use std::sync::Arc;

use super::Machine;
use super::edge::EdgeSignal;
use super::frame::{FrameSignal, Site};
use super::node::{NodeLife, NodeSignal};
use crate::Value;
use crate::bind::{Activation, Inputs};
use crate::draft::{EffectClass, Kind, NodeDraft, OnFailure, Otherwise};
use crate::effect::{Effect, Execute, Observation, Step, StreamTurn};
use crate::event::{Completion, Fault, Ports, Timestamp, Usage};
use crate::workflow::{Edge, End};

/// The port under which a failed node's error text can be read.
const ERROR_PORT: &str = "_ERROR";

/// The longest pause between two attempts.
const LONGEST_PAUSE_MS: u64 = 60_000;

impl Machine {
    /// Begins an attempt of a queued node.
    pub(super) fn begin(&mut self, site: Site) {
        let inputs = self.bind(site);
        self.note_start(site, inputs.clone().unwrap_or_default());
        match inputs {
            Ok(inputs) => self.execute(site, inputs),
            Err(fault) => self.give_up(site, fault),
        }
    }

    fn execute(&mut self, site: Site, inputs: Inputs) {
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(site.frame)) else {
            return;
        };
        let node = frame.node(site.member);
        let form = matches!(self.workflow.node(id).draft.kind, Kind::Form { .. });
        let execute = Execute {
            activation: node.activation,
            node: id,
            attempt: node.attempt,
            scope: frame.passes.clone(),
            visit: node.visit,
            inputs,
            answers: form.then(|| node.answers.clone()),
            random: self.random(site),
        };
        self.signal(site, NodeSignal::Start);
        self.reaction.effects.push(Effect::Execute(execute));
    }

    /// Counts an attempt and tells that the node started.
    pub(super) fn note_start(&mut self, site: Site, inputs: Inputs) {
        let (now, id) = (self.now, self.node_id(site));
        let (Some(frame), Some(node)) = (self.frames.get_mut(site.frame), id) else {
            return;
        };
        let scope = frame.passes.clone();
        let state = frame.node_mut(site.member);
        state.attempt += 1;
        state.start = now;
        state.inputs = inputs;
        if state.attempt == 1 {
            state.first_start = now;
            let activation = state.activation;
            self.reaction.observations.push(Observation::NodeStarted {
                activation,
                node,
                scope,
                at: now,
            });
        }
    }

    /// A number that follows from the run's seed and from where and how often the node fired, not from when.
    fn random(&self, site: Site) -> u64 {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325 ^ self.seed);
        if let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(site.frame)) {
            hash.write(self.workflow.node(id).draft.id.as_bytes());
            for pass in frame.passes.iter() {
                hash.write(pass.container.as_bytes());
                hash.write(&pass.index.to_le_bytes());
            }
            hash.write(&frame.node(site.member).visit.to_le_bytes());
        }
        mix(hash.finish())
    }

    pub(super) fn attempt_completed(&mut self, activation: Activation, completion: Completion) {
        let Some(site) = self.attempting(activation) else {
            return;
        };
        self.usage += completion.usage;
        if let Some(fault) = self.bad_choice(site, &completion) {
            return self.attempt_failed(site, fault);
        }
        self.gather(completion.references);
        let next = completion.next;
        match self.assign(site, completion.writes) {
            Ok(()) => self.complete(site, completion.ports, next.as_deref()),
            Err(fault) => self.attempt_failed(site, fault),
        }
    }

    pub(super) fn attempt_reported_failure(
        &mut self,
        activation: Activation,
        fault: Fault,
        usage: Usage,
    ) {
        if let Some(site) = self.attempting(activation) {
            self.usage += usage;
            self.attempt_failed(site, fault);
        }
    }

    /// The text of a node begins to arrive: whoever drains streams may go on.
    pub(super) fn stream_opened(&mut self, activation: Activation) {
        let Some((site, id)) = self
            .attempting(activation)
            .and_then(|site| Some((site, self.node_id(site)?)))
        else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        // A failure that is handled elsewhere must be known before anything is shown.
        let handled = node.draft.policy.otherwise == Otherwise::Goto;
        if !node.draft.streams || handled || !self.signal(site, NodeSignal::Open) {
            return;
        }
        let scope = workflow.scope(node.scope);
        for &at in &node.outgoing {
            let edge = &scope.edges[at as usize];
            if let (End::Member(to), false) = (edge.to, edge.on_error || edge.back) {
                let target = workflow.node(scope.members[to as usize]);
                if target.draft.drains {
                    self.decided.push_back((site.frame, at, EdgeSignal::Take));
                }
            }
        }
        self.wake_watchers(site);
    }

    pub(super) fn pause_over(&mut self, activation: Activation) {
        let site = self.active.get(&activation).copied();
        if let Some(site) = site.filter(|&s| self.frames.life(s) == NodeLife::Resting) {
            self.signal(site, NodeSignal::Queue);
            let workflow = self.workflow.clone();
            let id = self.node_id(site);
            let asked =
                id.is_some_and(|id| matches!(workflow.node(id).draft.kind, Kind::Form { .. }));
            match asked {
                true => self.line_up_for_a_place(site, activation),
                false => self.line_up(site),
            }
        }
    }

    /// The node is done: its ports stand, its edges are decided, who waited for it goes on.
    pub(super) fn complete(&mut self, site: Site, ports: Ports, next: Option<&[Arc<str>]>) {
        let workflow = self.workflow.clone();
        if let Some(state) = self.frames.node_mut(site) {
            state.ports = ports;
        }
        self.note_finish(site, None);
        self.feed(site, |node, ports| {
            let text = ports.get(&node.primary).cloned();
            StreamTurn::Ended(text.unwrap_or_default())
        });
        self.signal(site, NodeSignal::Complete);
        let id_of = |edge: &Edge| &workflow.node(edge.target).draft.id;
        self.decide_edges(site, |edge| match next {
            _ if edge.on_error => EdgeSignal::Kill,
            Some(next) if !next.contains(id_of(edge)) => EdgeSignal::Kill,
            _ => EdgeSignal::Take,
        });
        self.wake_watchers(site);
    }

    /// A branch may only choose where an edge leads.
    fn bad_choice(&self, site: Site, completion: &Completion) -> Option<Fault> {
        let next = completion.next.as_ref()?;
        let node = self.workflow.node(self.node_id(site)?);
        let scope = self.workflow.scope(node.scope);
        let edges = || node.outgoing.iter().map(|&at| &scope.edges[at as usize]);
        let leads = |target: &Arc<str>| {
            edges().any(|e| !e.on_error && self.workflow.node(e.target).draft.id == *target)
        };
        let lost = next.iter().find(|target| !leads(target))?;
        let message = format!(
            "\"{}\" chose \"{lost}\", but no edge leads there. Draw the edge or choose another target.",
            node.draft.name
        );
        Some(Fault::new("no_such_target", message))
    }

    /// One attempt failed: try again, or give up.
    pub(super) fn attempt_failed(&mut self, site: Site, fault: Fault) {
        let (Some(state), Some(id)) = (self.frames.node(site), self.node_id(site)) else {
            return;
        };
        let draft = &self.workflow.node(id).draft;
        let (attempt, activation) = (state.attempt, state.activation);
        if attempt >= draft.policy.attempts || !may_repeat(draft, &fault) {
            return self.give_up(site, fault);
        }
        let base = draft.policy.delay_ms;
        let milliseconds = pause(base, attempt, self.random(site));
        let step = self.step(site, Some(fault));
        self.feed(site, |_, _| StreamTurn::Restarts);
        self.signal(site, NodeSignal::Rest);
        if let Some(step) = step {
            let observation = Observation::AttemptFailed(step);
            self.reaction.observations.push(observation);
        }
        self.reaction.effects.push(Effect::Sleep {
            activation,
            milliseconds,
        });
    }

    /// No further attempt: the node's method decides what its failure means.
    pub(super) fn give_up(&mut self, site: Site, fault: Fault) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let draft = &workflow.node(id).draft;
        match &draft.policy.otherwise {
            Otherwise::Default(value) => {
                let ports = Ports::one(draft.primary.clone(), value.clone());
                self.complete(site, ports, None);
            }
            Otherwise::Goto => {
                self.note_failure(site, &fault);
                self.signal(site, NodeSignal::Handle);
                self.decide_edges(site, |edge| match edge.on_error {
                    true => EdgeSignal::Take,
                    false => EdgeSignal::Kill,
                });
                self.wake_watchers(site);
            }
            Otherwise::Fail => {
                self.note_failure(site, &fault);
                self.signal(site, NodeSignal::Fail);
                self.unhandled(site, fault);
            }
        }
    }

    fn note_failure(&mut self, site: Site, fault: &Fault) {
        if let Some(state) = self.frames.node_mut(site) {
            state.ports = Ports::one(ERROR_PORT, fault.message.clone());
        }
        self.note_finish(site, Some(fault.clone()));
        self.feed(site, |_, _| StreamTurn::Broken(fault.clone()));
    }

    /// A failure that nobody handled reaches the scope.
    fn unhandled(&mut self, site: Site, fault: Fault) {
        let id = self.node_id(site);
        if let (None, Some(id)) = (&self.failure, id) {
            self.failure = Some((id, fault.clone()));
        }
        let container = match self.frames.get_mut(site.frame) {
            Some(frame) => {
                frame.fault.get_or_insert_with(|| fault.clone());
                frame.container
            }
            None => return,
        };
        if self.workflow.on_failure == OnFailure::FailEdges {
            self.decide_edges(site, |_| EdgeSignal::Fail);
            self.wake_watchers(site);
            return;
        }
        self.stop_frame(site.frame, FrameSignal::Fail);
        match container {
            Some(container) => self.body_failed(container, fault),
            None => self.fail_run(id, fault),
        }
    }

    /// Tells that a node is settled.
    pub(super) fn note_finish(&mut self, site: Site, fault: Option<Fault>) {
        let started = self
            .frames
            .node(site)
            .map_or(Timestamp(0), |n| n.first_start);
        if let Some(step) = self.step(site, fault) {
            let finished = Observation::NodeFinished { step, started };
            self.reaction.observations.push(finished);
        }
    }

    /// The attempt under way at a site, ended now. `None` for nodes that nobody sees.
    fn step(&self, site: Site, fault: Option<Fault>) -> Option<Step> {
        let frame = self.frames.get(site.frame)?;
        let node = self.node_id(site)?;
        if self.workflow.node(node).implicit {
            return None;
        }
        let state = frame.node(site.member);
        Some(Step {
            activation: state.activation,
            node,
            scope: frame.passes.clone(),
            attempt: state.attempt,
            inputs: state.inputs.clone(),
            ports: state.ports.clone(),
            fault,
            started: state.start,
            ended: self.now,
        })
    }

    /// Tells whoever drains a node's stream how it went on.
    fn feed(&mut self, site: Site, turn: impl Fn(&NodeDraft, &Ports) -> StreamTurn) {
        let (Some(state), Some(node)) = (self.frames.node(site), self.node_id(site)) else {
            return;
        };
        if state.drained_by.is_none() {
            return;
        }
        let producer = state.activation;
        let turn = turn(&self.workflow.node(node).draft, &state.ports);
        let at = self.now;
        if matches!(turn, StreamTurn::Restarts) {
            let reset = Observation::MessageReset {
                node,
                activation: producer,
                at,
            };
            self.reaction.observations.push(reset);
        }
        self.reaction.effects.push(Effect::Feed { producer, turn });
    }

    fn gather(&mut self, references: Vec<Value>) {
        if !references.is_empty() {
            Arc::make_mut(&mut self.gathered).extend(references);
        }
    }

    /// The site of an attempt that may still report.
    fn attempting(&self, activation: Activation) -> Option<Site> {
        let site = *self.active.get(&activation)?;
        let attempting = matches!(self.frames.life(site), NodeLife::Running | NodeLife::Open);
        let is_body = self
            .node_id(site)
            .is_some_and(|id| self.workflow.node(id).body.is_some());
        (attempting && !is_body).then_some(site)
    }
}

/// What writes outside is repeated only if that is known to do no harm.
fn may_repeat(draft: &NodeDraft, fault: &Fault) -> bool {
    draft.effect != EffectClass::Writes || draft.idempotent || fault.nothing_sent
}

/// The pause after the n-th attempt: doubled each time, between half and all of it, at most a minute.
fn pause(base_ms: u64, attempt: u32, random: u64) -> u64 {
    let doubled = base_ms.saturating_mul(
        1u64.checked_shl(attempt.saturating_sub(1))
            .unwrap_or(u64::MAX),
    );
    let whole = doubled.min(LONGEST_PAUSE_MS);
    let jitter = mix(random.wrapping_add(u64::from(attempt)));
    whole - (whole / 2).min(jitter % (whole / 2 + 1))
}

/// FNV-1a, which is the same on every machine and in every release.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The last step of splitmix64: spreads what differs in a few bits over all.
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
