//! Bodies that run once, and bodies that run again until a verdict ends them.

use std::sync::Arc;

use super::Machine;
use super::containers::Inner;
use super::frame::{FrameKey, Site};
use super::node::{Next, NodeSignal};
use super::overlay::{Cell, Overlay};
use crate::Value;
use crate::draft::{
    ACCUMULATED, Assignments, FEEDBACK, INDEX, ITEM, Kind, RESULTS, STOP, VERDICTS,
};
use crate::event::{Completion, Ports};
use crate::reference::Path;
use crate::workflow::Slot;

impl Machine {
    /// Enters a body that runs once.
    pub(super) fn enter_once(&mut self, site: Site) {
        match self.open_body(site, 0, Ports::new()) {
            Some(key) => {
                self.set_inner(site, Inner::Once(key));
                self.start_frame(key);
            }
            None => self.container_done(site),
        }
    }

    /// The only pass is over.
    pub(super) fn once_done(&mut self, site: Site, key: FrameKey) {
        let given = self.given(site, key);
        self.set_primary(site, given);
        self.container_done(site);
    }

    /// Enters a body that runs again and again.
    pub(super) fn enter_repeat(&mut self, site: Site) {
        self.set_ports(site, Ports::one(RESULTS, Value::empty_array()));
        self.repeat(site, 0);
    }

    /// Begins the pass of that number.
    fn repeat(&mut self, site: Site, pass: u64) {
        let Some(state) = self.frames.node(site) else {
            return;
        };
        let port = |name: &str| state.ports.get(name).cloned();
        let results = port(RESULTS).unwrap_or_else(Value::empty_array);
        let last = results.as_array().and_then(<[Value]>::last).cloned();
        let feedback = port(FEEDBACK).unwrap_or_else(|| Value::from(""));
        let values = [
            (INDEX, Value::from(pass as i64)),
            (ITEM, last.unwrap_or_default()),
            (ACCUMULATED, results),
            (FEEDBACK, feedback),
        ];
        let values = values.map(|(name, value)| (Arc::from(name), value));
        match self.open_body(site, pass, values.into_iter().collect()) {
            Some(key) => {
                self.set_inner(site, Inner::Repeat(key));
                self.start_frame(key);
            }
            None => self.container_done(site),
        }
    }

    /// A pass is over: what it gave is kept, and somebody may be asked whether it was the last.
    pub(super) fn repeated(&mut self, site: Site, key: FrameKey) {
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(key)) else {
            return;
        };
        let made = frame.pass + 1;
        let workflow = self.workflow.clone();
        let Kind::Repeat {
            maximum,
            judged,
            accumulates,
            accumulator,
            ..
        } = workflow.node(id).draft.kind
        else {
            return;
        };
        let given = self.given(site, key);
        if let Some(frame) = self.frames.get_mut(key) {
            // The pass held the list too; only one holder may append to it in place.
            frame.item = Ports::new();
        }
        let Some(state) = self.frames.node_mut(site) else {
            return;
        };
        let results = state.ports.entry(&RESULTS.into());
        append(results, given.clone());
        let results = results.clone();
        if let Some(target) = accumulator
            && let Some(Slot::Variable { variable, .. }) =
                workflow.node(id).writes.get(target as usize)
        {
            // A whole variable can always be set.
            let cell = Cell::Variable(*variable);
            let _ = self.put(site.frame, cell, &Path::default(), results.clone());
        }
        self.set_primary(site, if accumulates { results } else { given });
        match (judged, made >= maximum) {
            (true, _) => {
                self.signal(site, NodeSignal::Queue);
                self.line_up_for_a_place(site);
            }
            (false, true) => self.container_done(site),
            (false, false) => self.repeat(site, made),
        }
    }

    /// The word on whether the pass that is over was the last.
    pub(super) fn judged(&mut self, site: Site, verdict: &Completion) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let Kind::Repeat { maximum, .. } = workflow.node(id).draft.kind else {
            return;
        };
        let Some(state) = self.frames.node_mut(site) else {
            return;
        };
        let Inner::Repeat(key) = state.inner else {
            return;
        };
        append(
            state.ports.entry(&VERDICTS.into()),
            Value::from(verdict.ports.to_object()),
        );
        // Without a new word the last one stays.
        if let Some(feedback) = verdict.ports.get(FEEDBACK).filter(|f| f.is_truthy()) {
            state.ports.set(FEEDBACK, feedback.clone());
        }
        let stops = verdict.ports.get(STOP).is_some_and(Value::is_truthy);
        let made = self.frames.get(key).map_or(maximum, |frame| frame.pass + 1);
        if stops || made >= maximum {
            return self.container_done(site);
        }
        self.signal(site, NodeSignal::Enter);
        self.repeat(site, made);
    }

    /// Makes a container's frame ready for a pass. `None`: there is no body.
    fn open_body(&mut self, site: Site, pass: u64, values: Ports) -> Option<FrameKey> {
        let workflow = self.workflow.clone();
        let body = workflow.node(self.node_id(site)?).body?;
        let passes = self.passes(site, pass);
        let entered = self.frames.node(site).and_then(|n| n.inner.readable());
        let key = match entered {
            Some(key) => {
                self.frames.restart(&workflow, key, Next::LoopPass);
                key
            }
            None => (self.frames).open(&workflow, body, Some(site), passes.clone()),
        };
        let frame = self.frames.get_mut(key)?;
        frame.pass = pass;
        frame.passes = passes;
        frame.item = values;
        if workflow.assignments == Assignments::Private {
            frame.overlay = Some(Overlay::default());
            frame.overlaid = Some(key);
        }
        Some(key)
    }

    /// What a pass that is over gives to its container.
    fn given(&self, site: Site, key: FrameKey) -> Value {
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(key)) else {
            return Value::Null;
        };
        let collect = self.workflow.node(id).collect.first();
        collect.map_or(Value::Null, |(_, what)| self.gather(frame, what))
    }

    fn set_primary(&mut self, site: Site, value: Value) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let primary = self.workflow.node(id).draft.primary.clone();
        if let Some(state) = self.frames.node_mut(site) {
            state.ports.set(primary, value);
        }
    }
}

/// Appends to a list, in place if nobody else holds it; what is no list becomes one.
fn append(list: &mut Value, value: Value) {
    match list {
        Value::Array(items) => Arc::make_mut(items).push(value),
        other => *other = Value::from(vec![value]),
    }
}
