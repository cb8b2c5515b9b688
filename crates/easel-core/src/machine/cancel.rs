//! Stopping: a run that somebody ends, a scope that failed, a loop that is left early.

use super::frame::{FrameKey, FrameSignal, Site};
use super::node::{NodeLife, NodeSignal};
use super::run::RunSignal;
use super::{Failure, Machine};
use crate::effect::{Effect, Observation, Outcome};
use crate::event::{Fault, Ports};
use crate::workflow::NodeId;

impl Machine {
    /// Stops everything in a scope and in the scopes inside it. What was assigned in them stays assigned.
    pub(super) fn stop_frame(&mut self, key: FrameKey, signal: FrameSignal) {
        let mut todo = vec![(key, signal)];
        let mut containers = Vec::new();
        while let Some((key, signal)) = todo.pop() {
            let Some(frame) = self.frames.get_mut(key) else {
                continue;
            };
            frame.move_on(signal);
            for member in 0..frame.nodes.len() as u32 {
                let site = Site { frame: key, member };
                if self.frames.life(site) == NodeLife::Inside {
                    containers.push(site);
                    let inner = self.frames_inside(site);
                    todo.extend(inner.into_iter().map(|f| (f, FrameSignal::Cancel)));
                }
                self.stop_node(site);
            }
        }
        for container in containers.into_iter().rev() {
            self.merge_assignments(container);
        }
    }

    /// Stops the body of a container that itself goes on.
    pub(super) fn stop_inner(&mut self, site: Site) {
        for frame in self.frames_inside(site) {
            self.stop_frame(frame, FrameSignal::Cancel);
        }
        self.merge_assignments(site);
    }

    fn frames_inside(&self, site: Site) -> Vec<FrameKey> {
        self.frames
            .node(site)
            .map_or(Vec::new(), |n| n.inner.frames())
    }

    fn stop_node(&mut self, site: Site) {
        let Some(state) = self.frames.node(site) else {
            return;
        };
        if state.life.settled() {
            return;
        }
        let (activation, started) = (state.activation, state.attempt > 0);
        if state.life.reports() {
            self.reaction.effects.push(Effect::Cancel(activation));
        }
        if state.life == NodeLife::Asking {
            self.forms.remove(&activation);
        }
        if started {
            let ports = match state.life {
                NodeLife::Inside => state.ports.clone(),
                _ => Ports::new(),
            };
            let fault = Fault::new("cancelled", "It was stopped before it was done.");
            self.note_finish(site, Some(fault), ports);
        }
        self.signal(site, NodeSignal::Cancel);
    }

    /// Somebody took the run up: what a message had shown by then is lost.
    pub(super) fn recovered(&mut self) {
        let speaking = self.speaking;
        let node = speaking.and_then(|activation| self.node_of(activation));
        let observation = Observation::Recovered {
            speaking: node.zip(speaking),
            at: self.now,
        };
        self.reaction.observations.push(observation);
    }

    /// Somebody ends the run.
    pub(super) fn cancel_run(&mut self) {
        if let Some(root) = self.root {
            self.stop_frame(root, FrameSignal::Cancel);
        }
        if self.move_on(RunSignal::Cancel) {
            self.end(Outcome::Cancelled);
        }
    }

    /// The run ends because of a failure.
    pub(super) fn fail_run(&mut self, node: Option<NodeId>, fault: Fault) {
        if let Some(root) = self.root {
            self.stop_frame(root, FrameSignal::Fail);
        }
        if self.move_on(RunSignal::Fail) {
            self.end(Outcome::Failed { node, fault });
        }
    }

    /// The root is settled.
    pub(super) fn finish_run(&mut self, failure: Option<Failure>) {
        match failure {
            Some(Failure { node, fault }) => self.fail_run(Some(node), fault),
            None if self.move_on(RunSignal::Finish) => self.end(Outcome::Done),
            None => {}
        }
    }

    fn end(&mut self, outcome: Outcome) {
        self.work.clear();
        self.quiet.clear();
        self.ready.clear();
        self.lane.clear();
        self.outcome = Some(outcome.clone());
        let at = self.now;
        let finished = Observation::Finished { outcome, at };
        self.reaction.observations.push(finished);
    }
}
