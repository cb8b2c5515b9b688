//! Containers: what all of them share, and loops. Passes over a list are in [`super::each`], bodies that end by a verdict
//! in [`super::repeats`], circles of edges in [`super::turns`].

use std::sync::Arc;

use super::Failure;
use super::Machine;
use super::each::Each;
use super::frame::{FrameKey, FrameSignal, Site};
use super::node::{Next, NodeLife, NodeSignal};
use super::turns::Turns;
use crate::bind::Inputs;
use crate::draft::{Initial, Kind};
use crate::effect::{Pass, Scope as Passes};
use crate::event::{Fault, Ports};

/// What a container keeps while its body runs, and after, so that the body can be read.
#[derive(Debug, Default)]
pub(super) enum Inner {
    /// It is no container, or was not entered yet.
    #[default]
    None,
    /// Passes over a list.
    Each(Box<Each>),
    /// A loop.
    While(FrameKey),
    /// A body that runs once.
    Once(FrameKey),
    /// A body that runs until a verdict ends it.
    Repeat(FrameKey),
    /// A circle of edges.
    Turns(Box<Turns>),
}

impl Inner {
    /// The frame in which to look for what the body gave.
    pub fn readable(&self) -> Option<FrameKey> {
        match self {
            Inner::None => None,
            Inner::Each(each) => each.readable(),
            Inner::While(frame) | Inner::Once(frame) | Inner::Repeat(frame) => Some(*frame),
            Inner::Turns(turns) => Some(turns.frame),
        }
    }

    /// All frames it keeps.
    pub fn frames(&self) -> Vec<FrameKey> {
        match self {
            Inner::None => Vec::new(),
            Inner::Each(each) => each.frames().collect(),
            Inner::While(frame) | Inner::Once(frame) | Inner::Repeat(frame) => vec![*frame],
            Inner::Turns(turns) => vec![turns.frame],
        }
    }
}

impl Machine {
    /// Enters a container.
    pub(super) fn enter(&mut self, site: Site) {
        let inputs = match self.inputs(site) {
            Ok(inputs) => inputs,
            Err(fault) => {
                self.note_start(site, Inputs::default());
                return self.fail_for_good(site, fault);
            }
        };
        self.note_start(site, inputs.clone());
        self.leave_body(site);
        self.signal(site, NodeSignal::Enter);
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        match &workflow.node(id).draft.kind {
            Kind::Each { items, .. } => self.enter_each(site, items, &inputs),
            Kind::Once { .. } => self.enter_once(site),
            Kind::Repeat { .. } => self.enter_repeat(site),
            Kind::While { variables, .. } => {
                let first = |initial: &Initial| match initial {
                    Initial::Constant(value) => value.clone(),
                    Initial::Read(read) => inputs.get(*read).or_null(),
                };
                let ports = variables.iter().map(|(port, i)| (port.clone(), first(i)));
                self.set_ports(site, ports.collect());
                self.next_pass(site);
            }
            _ => {}
        }
    }

    /// Gives back what an earlier visit of a container left to be read.
    fn leave_body(&mut self, site: Site) {
        let state = self.frames.node_mut(site);
        let inner = state.map(|s| std::mem::take(&mut s.inner));
        for frame in inner.unwrap_or_default().frames() {
            self.frames.give_back(frame);
        }
    }

    pub(super) fn set_ports(&mut self, site: Site, ports: Ports) {
        if let Some(state) = self.frames.node_mut(site) {
            state.ports = ports;
        }
    }

    pub(super) fn set_inner(&mut self, site: Site, inner: Inner) {
        if let Some(state) = self.frames.node_mut(site) {
            state.inner = inner;
        }
    }

    /// The passes around a container's body in its `index`-th pass.
    pub(super) fn passes(&self, site: Site, index: u64) -> Passes {
        let (Some(frame), Some(id)) = (self.frames.get(site.frame), self.node_id(site)) else {
            return Arc::new([]);
        };
        let pass = Pass {
            container: self.workflow.node(id).draft.id.clone(),
            index,
            visit: frame.node(site.member).visit,
        };
        frame.passes.iter().cloned().chain([pass]).collect()
    }

    /// Nothing in a scope is live any more, or a failure in it was not handled.
    pub(super) fn close(&mut self, key: FrameKey) {
        let Some(frame) = self.frames.get(key) else {
            return;
        };
        let (container, failure) = (frame.container, frame.failure.clone());
        let Some(site) = container else {
            return self.finish_run(failure);
        };
        let Some(state) = self.frames.node(site) else {
            return;
        };
        if state.life != NodeLife::Inside {
            return;
        }
        match (&state.inner, failure) {
            (Inner::Each(_), Some(failure)) => self.pass_failed(site, key, failure),
            (_, Some(failure)) => self.body_failed(site, failure),
            (Inner::Each(_), None) => self.pass_done(site, key),
            (Inner::While(_), None) => self.next_pass(site),
            (Inner::Once(_), None) => self.once_done(site, key),
            (Inner::Repeat(_), None) => self.repeated(site, key),
            (Inner::Turns(_), None) => self.next_turn(site),
            (Inner::None, None) => {}
        }
    }

    /// A failure inside a body that nothing there handled: the container's own policy has the word.
    pub(super) fn body_failed(&mut self, site: Site, failure: Failure) {
        self.stop_inner(site);
        self.attempt_failed_because(site, failure);
    }

    pub(super) fn container_done(&mut self, site: Site) {
        let ports = self.frames.node(site).map(|n| n.ports.clone());
        self.complete(site, ports.unwrap_or_default(), None);
    }

    /// Tests a loop's end and begins its next pass.
    fn next_pass(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        let (Kind::While { until, maximum, .. }, Some(body)) = (&node.draft.kind, node.body) else {
            return self.container_done(site);
        };
        let entered = match self.frames.node(site).map(|n| &n.inner) {
            Some(Inner::While(key)) => Some(*key),
            _ => None,
        };
        let frame = entered.and_then(|key| self.frames.get(key));
        let made = frame.map_or(0, |f| f.pass + 1);
        if made >= *maximum || workflow.scope(body).members.is_empty() {
            return self.container_done(site);
        }
        if let Some(until) = until {
            match self.bind(site) {
                Ok(inputs) if until.holds(&inputs) => return self.container_done(site),
                Ok(_) => {}
                Err(fault) => return self.attempt_failed(site, fault),
            }
        }
        let passes = self.passes(site, made);
        let key = match entered {
            Some(key) => {
                self.frames.restart(&workflow, key, Next::LoopPass);
                key
            }
            None => (self.frames).open(&workflow, body, Some(site), passes.clone()),
        };
        if let Some(frame) = self.frames.get_mut(key) {
            frame.pass = made;
            frame.passes = passes;
        }
        self.set_inner(site, Inner::While(key));
        self.start_frame(key);
    }

    /// The start of a body gives the pass's own values.
    pub(super) fn item(&mut self, site: Site) {
        let ports = self.frames.get(site.frame).map(|f| f.item.clone());
        self.note_start(site, Inputs::default());
        self.complete(site, ports.unwrap_or_default(), None);
    }

    /// Ends the innermost loop around a node, through any passes over lists between them.
    pub(super) fn exit(&mut self, site: Site) {
        self.note_start(site, Inputs::default());
        self.complete(site, Ports::new(), None);
        let mut at = site.frame;
        while let Some(container) = self.frames.get(at).and_then(|f| f.container) {
            let id = self.node_id(container);
            let kind = id.map(|id| &self.workflow.node(id).draft.kind);
            if matches!(kind, Some(Kind::While { .. })) {
                self.stop_frame(at, FrameSignal::Cancel);
                return self.container_done(container);
            }
            at = container.frame;
        }
    }
}

/// A fault of a container.
pub(super) fn not_a_list(name: &str, reference: &str, found: &str) -> Fault {
    let found = match found {
        "null" => "null".to_owned(),
        "array" | "object" => format!("an {found}"),
        _ => format!("a {found}"),
    };
    let message = format!(
        "\"{name}\" runs its body once for each item of {reference}, which must be a list, but it is {found}."
    );
    Fault::new("not_a_list", message)
}
