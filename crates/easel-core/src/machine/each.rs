//! Passes over a list: begun in order, some at once, with results in the order of the list.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::containers::{Inner, not_a_list};
use super::frame::{FrameKey, Site};
use super::node::Next;
use super::overlay::Overlay;
use super::{Failure, Machine};
use crate::Value;
use crate::bind::Inputs;
use crate::draft::{Assignments, INDEX, ITEM, Items, Kind, OnFailure};
use crate::event::{Fault, Ports};
use crate::reference::Path;

/// Passes over a list. The list is the one at entry, whatever becomes of its source.
#[derive(Debug)]
pub(super) struct Each {
    items: Arc<Vec<Value>>,
    /// The next item to begin with.
    next: usize,
    /// Passes under way, by index.
    open: BTreeMap<usize, FrameKey>,
    /// Passes that are done before an earlier one, by index.
    early: BTreeMap<usize, PassResult>,
    /// The next pass whose results are appended.
    collected: usize,
    /// What concurrent passes assigned, as far as they are collected.
    assigned: Overlay,
    /// The failed pass that comes first in the list, if others were to end before that counts.
    failed: Option<(usize, Failure)>,
    /// The pass that can be read: the last item by index that is done.
    last: Option<FrameKey>,
}

/// What one pass came to.
#[derive(Debug)]
struct PassResult {
    /// What is collected from it, in the order of the container's ports.
    results: Vec<Value>,
    /// What it assigned to what lies outside it, if it was one of several.
    assigned: Overlay,
}

impl Each {
    fn over(items: Arc<Vec<Value>>) -> Each {
        Each {
            items,
            next: 0,
            open: BTreeMap::new(),
            early: BTreeMap::new(),
            collected: 0,
            assigned: Overlay::default(),
            failed: None,
            last: None,
        }
    }

    pub fn readable(&self) -> Option<FrameKey> {
        let open = self.open.last_key_value().map(|(_, &frame)| frame);
        self.last.or(open)
    }

    pub fn frames(&self) -> impl Iterator<Item = FrameKey> {
        self.open.values().copied().chain(self.last)
    }
}

impl Machine {
    pub(super) fn enter_each(&mut self, site: Site, items: &Items, inputs: &Inputs) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        let list = match items {
            Items::Read(read) => Ok(inputs.get(*read).or_null()),
            Items::Expression(over) => over.evaluate(inputs).map(|value| match value {
                Value::Null => Value::empty_array(),
                value => value,
            }),
        };
        let list = match list {
            Ok(list) => list,
            Err(error) => {
                let name = &node.draft.name;
                let message = format!("\"{name}\" cannot work out its list: {error}.");
                return self.attempt_failed(site, Fault::new("expression", message));
            }
        };
        match list {
            Value::Array(items) => {
                let empty = |port: &Arc<str>| (port.clone(), Value::empty_array());
                let ports = node.collect.iter().map(|(port, _)| empty(port));
                self.set_ports(site, ports.collect());
                self.set_inner(site, Inner::Each(Box::new(Each::over(items))));
                self.begin_passes(site);
            }
            other => {
                let reference = match items {
                    Items::Read(read) => node.draft.reads.get(read.0 as usize),
                    Items::Expression(_) => None,
                };
                let reference = reference.map_or("its list", |r| &*r.text);
                let fault = not_a_list(&node.draft.name, reference, other.type_name());
                self.attempt_failed(site, fault);
            }
        }
    }

    fn each(&mut self, site: Site) -> Option<&mut Each> {
        match &mut self.frames.node_mut(site)?.inner {
            Inner::Each(each) => Some(each),
            _ => None,
        }
    }

    /// Begins passes until as many are under way as may be, or no item is left.
    fn begin_passes(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        let (Kind::Each { concurrency, .. }, Some(body)) = (&node.draft.kind, node.body) else {
            return self.container_done(site);
        };
        let width = (*concurrency).max(1) as usize;
        let nothing_to_do = workflow.scope(body).members.is_empty();
        loop {
            let Some(each) = self.each(site) else {
                return;
            };
            let item = each.items.get(each.next).filter(|_| !nothing_to_do);
            let Some(item) = item.filter(|_| each.failed.is_none()).cloned() else {
                if each.open.is_empty() {
                    self.passes_done(site);
                }
                return;
            };
            if each.open.len() >= width {
                return;
            }
            let index = each.next;
            each.next += 1;
            let spare = if width == 1 { each.last.take() } else { None };
            let passes = self.passes(site, index as u64);
            let key = match spare {
                Some(key) => {
                    self.frames.restart(&workflow, key, Next::Item);
                    key
                }
                None => (self.frames).open(&workflow, body, Some(site), passes.clone()),
            };
            if let Some(frame) = self.frames.get_mut(key) {
                frame.pass = index as u64;
                frame.passes = passes;
                frame.item = pass_values(index, item);
                if width > 1 || workflow.assignments == Assignments::Private {
                    frame.overlay = Some(Overlay::default());
                    frame.overlaid = Some(key);
                }
            }
            if let Some(each) = self.each(site) {
                each.open.insert(index, key);
            }
            self.start_frame(key);
        }
    }

    /// One pass is done: its results wait for those of earlier items.
    pub(super) fn pass_done(&mut self, site: Site, key: FrameKey) {
        let workflow = self.workflow.clone();
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(key)) else {
            return;
        };
        let index = frame.pass as usize;
        let collect = workflow.node(id).collect.iter();
        let results = collect.map(|(_, what)| self.gather(frame, what));
        let results = results.collect();
        let assigned = self.take_overlay(key);
        if let Some(each) = self.each(site) {
            let done = PassResult { results, assigned };
            each.early.insert(index, done);
        }
        self.set_aside(site, index);
        self.collect(site);
        self.begin_passes(site);
    }

    /// One pass failed. Where one failure is to end everything that is the end; else the passes under way go on, no
    /// further one begins, and the first failure by index counts.
    pub(super) fn pass_failed(&mut self, site: Site, key: FrameKey, failure: Failure) {
        if self.workflow.on_failure == OnFailure::FailScope {
            return self.body_failed(site, failure);
        }
        let Some(index) = self.frames.get(key).map(|f| f.pass as usize) else {
            return;
        };
        let assigned = self.take_overlay(key);
        if let Some(each) = self.each(site) {
            let results = Vec::new();
            let done = PassResult { results, assigned };
            each.early.insert(index, done);
            if each.failed.as_ref().is_none_or(|(first, _)| index < *first) {
                each.failed = Some((index, failure));
            }
        }
        self.set_aside(site, index);
        self.begin_passes(site);
    }

    /// What a pass assigned that is to be seen outside.
    fn take_overlay(&mut self, key: FrameKey) -> Overlay {
        let frame = self.frames.get_mut(key);
        let overlay = frame.and_then(|f| f.overlay.take());
        let shared = self.workflow.assignments == Assignments::Shared;
        overlay.filter(|_| shared).unwrap_or_default()
    }

    /// A pass is no longer under way. The last item by index can be read afterwards; of others the frames are given back
    /// or used again.
    fn set_aside(&mut self, site: Site, index: usize) {
        let Some(each) = self.each(site) else {
            return;
        };
        let Some(key) = each.open.remove(&index) else {
            return;
        };
        let alone = each.last.is_none() && each.open.is_empty();
        let not_kept = match alone || index + 1 == each.items.len() {
            true => each.last.replace(key),
            false => Some(key),
        };
        if let Some(frame) = not_kept {
            self.frames.give_back(frame);
        }
    }

    /// Appends the results that are next in the order of the list.
    fn collect(&mut self, site: Site) {
        let workflow = self.workflow.clone();
        let (Some(id), Some(state)) = (self.node_id(site), self.frames.node_mut(site)) else {
            return;
        };
        let Inner::Each(each) = &mut state.inner else {
            return;
        };
        while let Some(pass) = each.early.remove(&each.collected) {
            each.collected += 1;
            each.assigned.append(pass.assigned);
            for ((port, _), value) in workflow.node(id).collect.iter().zip(pass.results) {
                if let Value::Array(list) = state.ports.entry(port) {
                    Arc::make_mut(list).push(value);
                }
            }
        }
    }

    /// No pass is under way and none is left to begin.
    fn passes_done(&mut self, site: Site) {
        match self.each(site).and_then(|each| each.failed.take()) {
            Some((_, failure)) => self.body_failed(site, failure),
            None => {
                self.merge_assignments(site);
                self.container_done(site);
            }
        }
    }

    /// What concurrent passes assigned takes effect outside, in the order of the list.
    pub(super) fn merge_assignments(&mut self, site: Site) {
        let Some(each) = self.each(site) else {
            return;
        };
        let mut assigned = std::mem::take(&mut each.assigned);
        let early = std::mem::take(&mut each.early).into_iter();
        let mut left: BTreeMap<usize, Overlay> = early.map(|(at, p)| (at, p.assigned)).collect();
        let open: Vec<(usize, FrameKey)> = each.open.iter().map(|(&at, &key)| (at, key)).collect();
        for (index, key) in open {
            let overlay = self.take_overlay(key);
            left.insert(index, overlay);
        }
        for overlay in left.into_values() {
            assigned.append(overlay);
        }
        for (cell, assigned) in assigned.into_cells() {
            for (path, value) in assigned.parts {
                if self.put(site.frame, cell.clone(), &path, value).is_err() {
                    // A part that another pass left no room for: then the later pass has the word.
                    let whole = assigned.seen.clone();
                    let _ = self.put(site.frame, cell.clone(), &Path::default(), whole);
                }
            }
        }
    }
}

/// What the item node of a pass gives; `result` is the item under an older name.
fn pass_values(index: usize, item: Value) -> Ports {
    [
        (ITEM, item.clone()),
        (INDEX, Value::from(index as i64)),
        ("result", item),
    ]
    .map(|(port, value)| (Arc::from(port), value))
    .into_iter()
    .collect()
}
