//! Attempts: how one begins, succeeds or fails, and the one policy that decides what a failure means.

use std::sync::Arc;

use super::chance::pause;
use super::edge::EdgeSignal;
use super::frame::{FrameSignal, Site};
use super::node::{NodeLife, NodeSignal};
use super::{Failure, Machine, Work};
use crate::bind::{Activation, Inputs, Resolved};
use crate::draft::{Assignments, EffectClass, Kind, NodeDraft, OnFailure, Otherwise};
use crate::effect::{Effect, Execute, Observation, Step, StreamTurn};
use crate::event::{Completion, Fault, Ports, Usage, Write};
use crate::workflow::{Edge, NodeId};

/// The port under which a failed node's error text can be read.
const ERROR_PORT: &str = "_ERROR";

impl Machine {
    /// Begins an attempt of a queued node. A message whose text broke before it could begin does not begin.
    pub(super) fn begin(&mut self, site: Site) {
        let state = self.frames.node(site);
        match state.map_or((false, 0), |n| (n.failed, n.attempt)) {
            (true, 0) => return self.skip(site),
            (true, _) => {
                let fault = Fault::new("stream_broke", "The text it showed broke off for good.");
                return self.fail_for_good(site, fault);
            }
            (false, _) => {}
        }
        match self.inputs(site) {
            Ok(inputs) => {
                self.note_start(site, inputs);
                self.signal(site, NodeSignal::Start);
                let execute = self.execute(site);
                self.reaction.effects.extend(execute.map(Effect::Execute));
            }
            Err(fault) => {
                self.note_start(site, Inputs::default());
                self.fail_for_good(site, fault);
            }
        }
    }

    /// What a node reads. Further attempts read what the first one did, for their key to the outside is the same.
    pub(super) fn inputs(&self, site: Site) -> Result<Inputs, Fault> {
        // What is read for a verdict is what the pass just over gave.
        let judges = self.is_repeat(site);
        match self.frames.node(site).filter(|n| n.attempt > 0 && !judges) {
            Some(state) => Ok(self.without_lost_streams(site, state.inputs.clone())),
            None => self.bind(site),
        }
    }

    fn is_repeat(&self, site: Site) -> bool {
        let id = self.node_id(site);
        id.is_some_and(|id| matches!(self.workflow.node(id).draft.kind, Kind::Repeat { .. }))
    }

    /// The attempt under way at a site.
    fn execute(&self, site: Site) -> Option<Execute> {
        let id = self.node_id(site)?;
        let frame = self.frames.get(site.frame)?;
        let node = frame.node(site.member);
        let form = matches!(self.workflow.node(id).draft.kind, Kind::Form { .. });
        Some(Execute {
            activation: node.activation,
            node: id,
            attempt: node.attempt,
            scope: frame.passes.clone(),
            visit: node.visit,
            inputs: node.inputs.clone(),
            answers: form.then(|| Box::new(node.answers.clone())),
            random: self.random(site),
        })
    }

    /// What is left of the pause under way at a site.
    fn sleep(&self, site: Site) -> Option<Effect> {
        let state = self.frames.node(site)?;
        let policy = &self.workflow.node(self.node_id(site)?).draft.policy;
        let whole = pause(policy.delay_ms, state.failures, self.random(site));
        let slept = u64::try_from(self.now.0.saturating_sub(state.rests_since.0)).unwrap_or(0);
        Some(Effect::Sleep {
            activation: state.activation,
            attempt: state.attempt,
            milliseconds: whole.saturating_sub(slept),
        })
    }

    /// What was asked of the world for a site and is not reported yet.
    pub(super) fn asked_of(&self, site: Site) -> Option<Effect> {
        match self.frames.life(site) {
            NodeLife::Running | NodeLife::Open => {
                let mut execute = self.execute(site)?;
                execute.inputs = self.without_lost_streams(site, execute.inputs);
                Some(Effect::Execute(execute))
            }
            NodeLife::Resting => self.sleep(site),
            _ => None,
        }
    }

    /// A stream whose producer is done cannot be had again: what it came to stands in its place.
    fn without_lost_streams(&self, site: Site, inputs: Inputs) -> Inputs {
        let lost = |read: &Resolved| match read {
            Resolved::Stream(producer) => !self.active.contains_key(producer),
            _ => false,
        };
        match inputs.0.iter().any(lost) {
            true => self.bind(site).unwrap_or(inputs),
            false => inputs,
        }
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
            self.reaction.observations.push(Observation::NodeStarted {
                activation: state.activation,
                node,
                scope,
                at: now,
            });
        }
    }

    pub(super) fn attempt_completed(
        &mut self,
        activation: Activation,
        attempt: u32,
        completion: &Completion,
    ) {
        let Some(site) = self.attempting(activation, attempt) else {
            return;
        };
        self.usage += completion.usage;
        if let Some(fault) = self.bad_choice(site, completion) {
            return self.attempt_failed(site, fault);
        }
        match self.assign(site, &completion.writes) {
            Ok(()) => {
                if !completion.references.is_empty() {
                    let found = completion.references.iter().cloned();
                    Arc::make_mut(&mut self.gathered).extend(found);
                }
                if self.is_repeat(site) {
                    return self.judged(site, completion);
                }
                let (ports, next) = (completion.ports.clone(), completion.next.as_deref());
                self.complete(site, ports, next);
            }
            Err(fault) => self.attempt_failed(site, fault),
        }
    }

    pub(super) fn attempt_reported_failure(
        &mut self,
        activation: Activation,
        attempt: u32,
        fault: &Fault,
        usage: Usage,
    ) {
        if let Some(site) = self.attempting(activation, attempt) {
            self.usage += usage;
            self.attempt_failed(site, fault.clone());
        }
    }

    pub(super) fn pause_over(&mut self, activation: Activation, attempt: u32) {
        let Some(&site) = self.active.get(&activation) else {
            return;
        };
        let resting =
            |n: &super::node::NodeState| n.life == NodeLife::Resting && n.attempt == attempt;
        if !self.frames.node(site).is_some_and(resting) {
            return;
        }
        self.signal(site, NodeSignal::Queue);
        let id = self.node_id(site);
        // A form was answered before its first attempt; it does not ask again.
        match id.map(|id| &self.workflow.node(id).draft.kind) {
            Some(Kind::Form { .. }) => self.line_up_for_a_place(site),
            _ => self.line_up(site),
        }
    }

    /// The node is done: its ports stand, its edges are decided, who waited for it goes on.
    pub(super) fn complete(&mut self, site: Site, ports: Ports, next: Option<&[Arc<str>]>) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        if let Err(fault) = self.publish(site, id, &ports) {
            return self.attempt_failed(site, fault);
        }
        if let Some(state) = self.frames.node_mut(site) {
            state.ports = ports.clone();
        }
        self.note_finish(site, None, ports);
        self.feed(site, |node, ports| {
            let text = ports.get(&node.primary).cloned();
            StreamTurn::Ended(text.unwrap_or_default())
        });
        self.signal(site, NodeSignal::Complete);
        let workflow = self.workflow.clone();
        let chosen = match workflow.node(id).draft.kind {
            Kind::Branch { .. } => Some(next.unwrap_or_default()),
            _ => next,
        };
        let target = |edge: &Edge| &workflow.node(edge.target).draft.id;
        self.settled(site, |_, edge| match chosen {
            _ if edge.on_error => EdgeSignal::Kill,
            Some(chosen) if !chosen.contains(target(edge)) => EdgeSignal::Kill,
            _ => EdgeSignal::Take,
        });
    }

    /// Assigns the node's value to the variable that wants it.
    fn publish(&mut self, site: Site, id: NodeId, ports: &Ports) -> Result<(), Fault> {
        let draft = &self.workflow.node(id).draft;
        let Some(target) = draft.publishes else {
            return Ok(());
        };
        let value = ports.get(&draft.primary).cloned().unwrap_or_default();
        self.assign(site, &[Write { target, value }])
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

    /// One attempt failed: try again, or fail for good.
    pub(super) fn attempt_failed(&mut self, site: Site, fault: Fault) {
        if let Some(node) = self.node_id(site) {
            self.attempt_failed_because(site, Failure { node, fault });
        }
    }

    /// One attempt failed, of a container because of a node in its body: try again, or fail for good.
    pub(super) fn attempt_failed_because(&mut self, site: Site, failure: Failure) {
        let (Some(state), Some(id)) = (self.frames.node(site), self.node_id(site)) else {
            return;
        };
        let node = self.workflow.node(id);
        let last = state.failures + 1 >= node.draft.policy.attempts || state.failed;
        if last || node.implicit || !may_repeat(&node.draft, &failure.fault) {
            return self.fail_for_good_because(site, failure);
        }
        self.feed(site, |_, _| StreamTurn::Restarts);
        self.note_attempt_failed(site, failure.fault);
        let now = self.now;
        if let Some(state) = self.frames.node_mut(site) {
            state.failures += 1;
            state.rests_since = now;
        }
        self.signal(site, NodeSignal::Rest);
        let sleep = self.sleep(site);
        self.reaction.effects.extend(sleep);
    }

    /// A failure that no further attempt would mend.
    pub(super) fn fail_for_good(&mut self, site: Site, fault: Fault) {
        if let Some(node) = self.node_id(site) {
            self.fail_for_good_because(site, Failure { node, fault });
        }
    }

    /// No further attempt: the node's method decides what its failure means.
    fn fail_for_good_because(&mut self, site: Site, failure: Failure) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let draft = &workflow.node(id).draft;
        match &draft.policy.otherwise {
            Otherwise::Default(value) => {
                self.note_attempt_failed(site, failure.fault);
                let ports = Ports::one(draft.primary.clone(), value.clone());
                self.complete(site, ports, None);
            }
            Otherwise::Goto | Otherwise::GotoAndFail => {
                self.note_failure(site, &failure.fault);
                if draft.policy.otherwise == Otherwise::GotoAndFail
                    && let Some(frame) = self.frames.get_mut(site.frame)
                {
                    frame.failure.get_or_insert(failure);
                }
                self.signal(site, NodeSignal::Handle);
                self.settled(site, |_, edge| match edge.on_error {
                    true => EdgeSignal::Take,
                    false => EdgeSignal::Kill,
                });
            }
            Otherwise::Fail => {
                self.note_failure(site, &failure.fault);
                self.unhandled(site, failure);
            }
        }
    }

    /// Puts the error text where it can be read. What a container has collected stays there beside it.
    fn note_failure(&mut self, site: Site, fault: &Fault) {
        let id = self.node_id(site);
        let shared = self.workflow.assignments == Assignments::Shared;
        let contains = id.is_some_and(|id| self.workflow.node(id).draft.kind.is_container());
        let Some(state) = self.frames.node_mut(site) else {
            return;
        };
        if !(contains && shared) {
            state.ports = Ports::new();
        }
        state.ports.set(ERROR_PORT, fault.message.clone());
        let ports = state.ports.clone();
        self.note_finish(site, Some(fault.clone()), ports);
        self.feed(site, |_, _| StreamTurn::Broken(fault.clone()));
    }

    /// A failure that nobody handled reaches the scope.
    fn unhandled(&mut self, site: Site, failure: Failure) {
        let at_once = self.workflow.on_failure == OnFailure::FailScope;
        let Some(frame) = self.frames.get_mut(site.frame) else {
            return;
        };
        frame.failure.get_or_insert(failure);
        if at_once {
            frame.move_on(FrameSignal::Fail);
            self.signal(site, NodeSignal::Fail);
            self.stop_frame(site.frame, FrameSignal::Fail);
            self.work.push_front(Work::Close(site.frame));
        } else {
            self.signal(site, NodeSignal::Fail);
            self.settled(site, |_, _| EdgeSignal::Fail);
        }
    }

    /// Tells that an attempt failed but is not the end.
    fn note_attempt_failed(&mut self, site: Site, fault: Fault) {
        if let Some(step) = self.step(site, Some(fault), Ports::new()) {
            let observation = Observation::AttemptFailed(step);
            self.reaction.observations.push(observation);
        }
    }

    /// Tells that a node is settled.
    pub(super) fn note_finish(&mut self, site: Site, fault: Option<Fault>, ports: Ports) {
        let started = self.frames.node(site).map(|n| n.first_start);
        if let (Some(step), Some(started)) = (self.step(site, fault, ports), started) {
            let finished = Observation::NodeFinished { step, started };
            self.reaction.observations.push(finished);
        }
    }

    /// The attempt under way at a site, ended now. `None` for nodes that nobody sees.
    fn step(&self, site: Site, fault: Option<Fault>, ports: Ports) -> Option<Step> {
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
            ports,
            fault,
            started: state.start,
            ended: self.now,
        })
    }

    /// The site of an attempt that may still report.
    pub(super) fn attempting(&self, activation: Activation, attempt: u32) -> Option<Site> {
        let site = *self.active.get(&activation)?;
        let node = self.frames.node(site)?;
        (node.life.attempting() && node.attempt == attempt).then_some(site)
    }
}

/// What writes outside is repeated only if that is known to do no harm.
fn may_repeat(draft: &NodeDraft, fault: &Fault) -> bool {
    draft.effect != EffectClass::Writes || draft.idempotent || fault.nothing_sent
}
