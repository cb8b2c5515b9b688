//! Stopping: a run that somebody ends, a scope that failed, a loop that is left early.

use super::Machine;
use super::frame::{FrameKey, FrameSignal, Site};
use super::node::{NodeLife, NodeSignal};
use super::run::RunSignal;
use crate::effect::{Effect, Observation, Outcome};
use crate::event::Fault;
use crate::workflow::NodeId;

impl Machine {
    /// Stops everything in a scope and in the scopes inside it.
    pub(super) fn stop_frame(&mut self, key: FrameKey, signal: FrameSignal) {
        let mut todo = vec![(key, signal)];
        while let Some((key, signal)) = todo.pop() {
            let Some(frame) = self.frames.get_mut(key) else {
                continue;
            };
            frame.move_on(signal);
            for member in 0..frame.nodes.len() as u32 {
                let site = Site { frame: key, member };
                if self.frames.life(site) == NodeLife::Inside {
                    let inner = self.open_frames(site);
                    todo.extend(inner.into_iter().map(|f| (f, FrameSignal::Cancel)));
                }
                self.stop_node(site);
            }
        }
    }

    /// Stops the body of a container that itself goes on.
    pub(super) fn stop_inner(&mut self, site: Site) {
        for frame in self.open_frames(site) {
            self.stop_frame(frame, FrameSignal::Cancel);
        }
    }

    fn open_frames(&self, site: Site) -> Vec<FrameKey> {
        self.frames
            .node(site)
            .map_or(Vec::new(), |n| n.inner.frames())
    }

    fn stop_node(&mut self, site: Site) {
        let life = self.frames.life(site);
        if life.settled() {
            return;
        }
        let activation = self.frames.node(site).map(|n| n.activation);
        let reports = matches!(life, NodeLife::Running | NodeLife::Open | NodeLife::Resting);
        if let Some(activation) = activation.filter(|_| reports) {
            self.reaction.effects.push(Effect::Cancel(activation));
        }
        self.forms.retain(|&form| Some(form) != activation);
        let started = reports || life == NodeLife::Inside;
        if started {
            let fault = Fault::new("cancelled", "It was stopped before it was done.");
            self.note_finish(site, Some(fault));
        }
        self.signal(site, NodeSignal::Cancel);
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
        let (node, fault) = match self.failure.take() {
            Some((node, fault)) => (Some(node), fault),
            None => (node, fault),
        };
        if self.move_on(RunSignal::Fail) {
            self.end(Outcome::Failed { node, fault });
        }
    }

    /// The root is settled.
    pub(super) fn finish_run(&mut self) {
        match self.failure.clone() {
            Some((node, fault)) => self.fail_run(Some(node), fault),
            None if self.move_on(RunSignal::Finish) => self.end(Outcome::Done),
            None => {}
        }
    }

    fn end(&mut self, outcome: Outcome) {
        self.decided.clear();
        self.quiet.clear();
        self.ready.clear();
        self.lane.clear();
        self.outcome = Some(outcome.clone());
        let at = self.now;
        let finished = Observation::Finished { outcome, at };
        self.reaction.observations.push(finished);
    }
}
