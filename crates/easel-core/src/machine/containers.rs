//! Containers: passes over a list, loops, and the implicit loops that circles of edges make.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Machine;
use super::edge::EdgeSignal;
use super::frame::{FrameKey, FrameSignal, Overlay, Site};
use super::node::{NodeLife, NodeSignal};
use crate::Value;
use crate::draft::{Initial, Kind};
use crate::effect::{Pass, Scope as Passes};
use crate::event::{Fault, Ports};
use crate::reference::Path;
use crate::workflow::{Edge, End};

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
    /// An implicit loop.
    Turns(Box<Turns>),
}

/// Passes over a list. The list is the one at entry, whatever becomes of its source.
#[derive(Debug)]
pub(super) struct Each {
    items: Arc<Vec<Value>>,
    /// The next item to begin with.
    next: usize,
    /// Passes under way.
    open: Vec<FrameKey>,
    /// Results of passes that wait for an earlier one, by index.
    early: BTreeMap<usize, Vec<Value>>,
    /// The next pass whose results are appended.
    collected: usize,
    /// Assignments of concurrent passes, by index.
    overlays: BTreeMap<usize, Overlay>,
    /// The pass that can be read: the last item by index that is done.
    last: Option<FrameKey>,
}

/// An implicit loop.
#[derive(Debug)]
pub(super) struct Turns {
    frame: FrameKey,
    /// Members at which the next turn starts.
    next: Vec<u32>,
    /// Edges out of the loop that were taken, as places in the scope around it.
    exits: Vec<u32>,
}

impl Inner {
    /// The frame in which to look for what the body gave.
    pub fn readable(&self) -> Option<FrameKey> {
        match self {
            Inner::None => None,
            Inner::Each(each) => each.last.or(each.open.last().copied()),
            Inner::While(frame) => Some(*frame),
            Inner::Turns(turns) => Some(turns.frame),
        }
    }

    /// All frames it keeps.
    pub fn frames(&self) -> Vec<FrameKey> {
        match self {
            Inner::None => Vec::new(),
            Inner::Each(each) => each.open.iter().copied().chain(each.last).collect(),
            Inner::While(frame) => vec![*frame],
            Inner::Turns(turns) => vec![turns.frame],
        }
    }
}

impl Machine {
    /// Enters a container.
    pub(super) fn enter(&mut self, site: Site) {
        let inputs = self.bind(site);
        self.note_start(site, inputs.clone().unwrap_or_default());
        let inputs = match inputs {
            Ok(inputs) => inputs,
            Err(fault) => return self.give_up(site, fault),
        };
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        self.leave_body(site);
        self.signal(site, NodeSignal::Enter);
        match &node.draft.kind {
            Kind::Each { items, .. } => match inputs.get(*items).or_null() {
                Value::Array(items) => {
                    let empty = |(port, _): &(Arc<str>, _)| (port.clone(), Value::empty_array());
                    self.set_ports(site, node.collect.iter().map(empty).collect());
                    let each = Each {
                        items,
                        next: 0,
                        open: Vec::new(),
                        early: BTreeMap::new(),
                        collected: 0,
                        overlays: BTreeMap::new(),
                        last: None,
                    };
                    self.set_inner(site, Inner::Each(Box::new(each)));
                    self.begin_passes(site);
                }
                other => {
                    let reference = &node.draft.reads[items.0 as usize].text;
                    let message = format!(
                        "\"{}\" runs its body once for each item of {reference}, which must be a list, but it is {}.",
                        node.draft.name,
                        with_article(other.type_name())
                    );
                    self.attempt_failed(site, Fault::new("not_a_list", message));
                }
            },
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

    fn set_ports(&mut self, site: Site, ports: Ports) {
        if let Some(state) = self.frames.node_mut(site) {
            state.ports = ports;
        }
    }

    fn set_inner(&mut self, site: Site, inner: Inner) {
        if let Some(state) = self.frames.node_mut(site) {
            state.inner = inner;
        }
    }

    fn each(&mut self, site: Site) -> Option<&mut Each> {
        match &mut self.frames.node_mut(site)?.inner {
            Inner::Each(each) => Some(each),
            _ => None,
        }
    }

    fn turns(&mut self, site: Site) -> Option<&mut Turns> {
        match &mut self.frames.node_mut(site)?.inner {
            Inner::Turns(turns) => Some(turns),
            _ => None,
        }
    }

    /// The passes around a container's body in its `index`-th pass.
    fn passes(&self, site: Site, index: u64) -> Passes {
        let outer = self.frames.get(site.frame).map(|f| f.passes.clone());
        let container = self
            .node_id(site)
            .map(|id| &self.workflow.node(id).draft.id);
        let pass = container.map(|container| Pass {
            container: container.clone(),
            index,
        });
        outer
            .iter()
            .flat_map(|o| o.iter().cloned())
            .chain(pass)
            .collect()
    }

    /// Begins passes until as many are under way as may be, or no item is left.
    fn begin_passes(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        let (Kind::Each { concurrency, .. }, Some(body)) = (&node.draft.kind, node.body) else {
            return;
        };
        let width = (*concurrency).max(1) as usize;
        let nothing_to_do = workflow.scope(body).members.is_empty();
        loop {
            let Some(each) = self.each(site) else {
                return;
            };
            if each.next >= each.items.len() || nothing_to_do {
                if each.open.is_empty() {
                    self.passes_done(site);
                }
                return;
            }
            if each.open.len() >= width {
                return;
            }
            let (index, item) = (each.next, each.items[each.next].clone());
            each.next += 1;
            let spare = if width == 1 { each.last.take() } else { None };
            let passes = self.passes(site, index as u64);
            let key = match spare {
                Some(key) => {
                    self.restart(key, false);
                    key
                }
                None => self
                    .frames
                    .open(&workflow, body, Some(site), passes.clone()),
            };
            if let Some(frame) = self.frames.get_mut(key) {
                frame.pass = index as u64;
                frame.passes = passes;
                frame.item = [
                    ("item", item.clone()),
                    ("index", Value::from(index as i64)),
                    ("result", item),
                ]
                .map(|(port, value)| (Arc::from(port), value))
                .into_iter()
                .collect();
                if width > 1 {
                    frame.overlay = Some(Overlay::default());
                    frame.overlaid = Some(key);
                }
            }
            if let Some(each) = self.each(site) {
                each.open.push(key);
            }
            self.start_frame(key);
        }
    }

    /// Makes a quiet frame ready for its next pass.
    fn restart(&mut self, key: FrameKey, keep_ports: bool) {
        let workflow = self.workflow.clone();
        let frame = self.frames.get_mut(key);
        let given_back = frame.map(|f| f.reset(&workflow, keep_ports));
        for frame in given_back.unwrap_or_default() {
            self.frames.give_back(frame);
        }
    }

    /// Nothing in a scope is live any more.
    pub(super) fn close(&mut self, key: FrameKey) {
        let Some(frame) = self.frames.get(key) else {
            return;
        };
        let (container, fault) = (frame.container, frame.fault.clone());
        let Some(site) = container else {
            return self.finish_run();
        };
        if self.frames.life(site) != NodeLife::Inside {
            return;
        }
        if let Some(fault) = fault {
            return self.body_failed(site, fault);
        }
        let inner = self.frames.node(site).map(|n| &n.inner);
        match inner {
            Some(Inner::Each(_)) => self.pass_done(site, key),
            Some(Inner::While(_)) => self.next_pass(site),
            Some(Inner::Turns(_)) => self.next_turn(site),
            Some(Inner::None) | None => {}
        }
    }

    /// One pass over an item is done: its results wait for those of earlier items.
    fn pass_done(&mut self, site: Site, key: FrameKey) {
        let workflow = self.workflow.clone();
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(key)) else {
            return;
        };
        let collect = &workflow.node(id).collect;
        let index = frame.pass as usize;
        let results: Vec<Value> = collect
            .iter()
            .map(|(_, slot)| self.resolve(frame, slot).or_null())
            .collect();
        let overlay = self.frames.get_mut(key).and_then(|f| f.overlay.take());
        let Some(each) = self.each(site) else {
            return;
        };
        each.open.retain(|&open| open != key);
        each.early.insert(index, results);
        if let Some(overlay) = overlay {
            each.overlays.insert(index, overlay);
        }
        // The last item by index can be read afterwards; frames of the others are given back or used again.
        let keep = index + 1 == each.items.len() || each.last.is_none() && each.open.is_empty();
        let given_back = match keep {
            true => each.last.replace(key),
            false => Some(key),
        };
        let mut ready = Vec::new();
        while let Some(results) = each.early.remove(&each.collected) {
            each.collected += 1;
            ready.push(results);
        }
        if let Some(state) = self.frames.node_mut(site) {
            for results in ready {
                for ((port, _), value) in collect.iter().zip(results) {
                    if let Value::Array(list) = state.ports.entry(port) {
                        Arc::make_mut(list).push(value);
                    }
                }
            }
        }
        if let Some(frame) = given_back {
            self.frames.give_back(frame);
        }
        self.begin_passes(site);
    }

    /// All passes are done: what concurrent ones assigned is merged in the order of the list.
    fn passes_done(&mut self, site: Site) {
        let overlays = self
            .each(site)
            .map(|each| std::mem::take(&mut each.overlays));
        for overlay in overlays.unwrap_or_default().into_values() {
            for (cell, value) in overlay.cells {
                // A whole value always fits.
                let _ = self.put(site.frame, cell, &Path::default(), value);
            }
        }
        self.container_done(site);
    }

    /// Tests a loop's end and begins its next pass.
    fn next_pass(&mut self, site: Site) {
        let Some(id) = self.node_id(site) else {
            return;
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        let (Kind::While { until, maximum, .. }, Some(body)) = (&node.draft.kind, node.body) else {
            return;
        };
        let entered = match self.frames.node(site).map(|n| &n.inner) {
            Some(Inner::While(key)) => Some(*key),
            _ => None,
        };
        let frame = entered.and_then(|key| self.frames.get(key));
        let made = frame.map_or(0, |f| f.pass + 1);
        let ends = made >= *maximum || workflow.scope(body).members.is_empty();
        let holds = match until.as_ref().filter(|_| !ends) {
            Some(until) => match self.bind(site) {
                Ok(inputs) => until.holds(&inputs),
                Err(fault) => return self.attempt_failed(site, fault),
            },
            None => false,
        };
        if ends || holds {
            return self.container_done(site);
        }
        let passes = self.passes(site, made);
        let key = match entered {
            Some(key) => {
                self.restart(key, true);
                key
            }
            None => self
                .frames
                .open(&workflow, body, Some(site), passes.clone()),
        };
        if let Some(frame) = self.frames.get_mut(key) {
            frame.pass = made;
            frame.passes = passes;
        }
        self.set_inner(site, Inner::While(key));
        self.start_frame(key);
    }

    fn container_done(&mut self, site: Site) {
        let ports = self.frames.node(site).map(|n| n.ports.clone());
        self.complete(site, ports.unwrap_or_default(), None);
    }

    /// A failure inside a body that nothing there handled: the container's own policy has the word.
    pub(super) fn body_failed(&mut self, site: Site, fault: Fault) {
        let workflow = self.workflow.clone();
        let implicit = self
            .node_id(site)
            .is_some_and(|id| workflow.node(id).implicit);
        if self.frames.life(site) == NodeLife::Inside {
            self.stop_inner(site);
            match implicit {
                true => self.give_up(site, fault),
                false => self.attempt_failed(site, fault),
            }
        }
    }

    /// The start of a body gives the pass's own values.
    pub(super) fn item(&mut self, site: Site) {
        let ports = self.frames.get(site.frame).map(|f| f.item.clone());
        self.note_start(site, Default::default());
        self.complete(site, ports.unwrap_or_default(), None);
    }

    /// Ends the innermost loop around a node, through any passes over lists between them.
    pub(super) fn exit(&mut self, site: Site) {
        self.note_start(site, Default::default());
        self.complete(site, Ports::new(), None);
        let mut at = site.frame;
        while let Some(container) = self.frames.get(at).and_then(|f| f.container) {
            let id = self.node_id(container);
            let kind = id.map(|id| &self.workflow.node(id).draft.kind);
            if matches!(kind, Some(Kind::While { .. })) {
                self.stop_frame(at, FrameSignal::Cancel);
                self.container_done(container);
                return;
            }
            at = container.frame;
        }
    }

    /// An edge into an implicit loop was decided: the first one taken opens it.
    pub(super) fn entering_edge_decided(&mut self, site: Site, edge: &Edge, signal: EdgeSignal) {
        match self.frames.node(site).map(|n| (n.life, n.pending)) {
            Some((NodeLife::Pending, _)) if signal == EdgeSignal::Take => self.queue(site),
            Some((NodeLife::Pending, 0)) => self.decide(site),
            Some((NodeLife::Inside, _)) => {
                if let (Some(turns), Some(inner)) = (self.turns(site), edge.inner) {
                    let frame = turns.frame;
                    self.decided.push_back((frame, inner, signal));
                }
            }
            _ => {}
        }
    }

    /// Opens an implicit loop: in its first turn, edges from outside are what they are out there.
    pub(super) fn enter_loop(&mut self, site: Site) {
        let workflow = self.workflow.clone();
        let body = self.node_id(site).and_then(|id| workflow.node(id).body);
        let Some(body) = body else {
            return;
        };
        self.leave_body(site);
        let passes = self.frames.get(site.frame).map(|f| f.passes.clone());
        let passes = passes.unwrap_or_else(|| Arc::new([]));
        let key = self.frames.open(&workflow, body, Some(site), passes);
        let turns = Turns {
            frame: key,
            next: Vec::new(),
            exits: Vec::new(),
        };
        self.signal(site, NodeSignal::Enter);
        self.set_inner(site, Inner::Turns(Box::new(turns)));
        for (at, edge) in workflow.scope(body).edges.iter().enumerate() {
            let outer = edge.outer.filter(|_| edge.from == End::Outside);
            let state = outer.zip(self.frames.get(site.frame));
            let life = state.map(|(outer, frame)| frame.edges[outer as usize]);
            let signal = match life {
                Some(super::EdgeLife::Taken) => EdgeSignal::Take,
                Some(super::EdgeLife::Dead) => EdgeSignal::Kill,
                Some(super::EdgeLife::Failed) => EdgeSignal::Fail,
                Some(super::EdgeLife::Pending) | None => continue,
            };
            self.decided.push_back((key, at as u32, signal));
        }
        self.start_frame(key);
    }

    /// A back edge: if it is taken, the next turn starts where it leads.
    pub(super) fn back_edge_decided(&mut self, key: FrameKey, edge: &Edge, signal: EdgeSignal) {
        let container = self.frames.get(key).and_then(|f| f.container);
        if let (EdgeSignal::Take, Some(site), End::Member(to)) = (signal, container, edge.to) {
            if let Some(turns) = self.turns(site).filter(|t| !t.next.contains(&to)) {
                turns.next.push(to);
            }
        }
    }

    /// An edge out of an implicit loop: if it is taken, the run leaves that way once the loop is over.
    pub(super) fn exit_edge_decided(&mut self, key: FrameKey, edge: &Edge, signal: EdgeSignal) {
        let container = self.frames.get(key).and_then(|f| f.container);
        if let (EdgeSignal::Take, Some(site), Some(outer)) = (signal, container, edge.outer) {
            if let Some(turns) = self.turns(site).filter(|t| !t.exits.contains(&outer)) {
                turns.exits.push(outer);
            }
        }
    }

    /// A turn of an implicit loop is over: the next one begins, or the loop is done.
    fn next_turn(&mut self, site: Site) {
        let workflow = self.workflow.clone();
        let Some(turns) = self.turns(site) else {
            return;
        };
        let (key, starts) = (turns.frame, std::mem::take(&mut turns.next));
        if starts.is_empty() {
            return self.loop_done(site);
        }
        self.restart(key, true);
        let Some(frame) = self.frames.get_mut(key) else {
            return;
        };
        frame.pass += 1;
        let scope = workflow.scope(frame.scope);
        // Only what is behind the starts takes part; edges from anywhere else are dead in this turn.
        let mut active = vec![false; scope.members.len()];
        let mut todo = starts.clone();
        while let Some(member) = todo.pop() {
            if std::mem::replace(&mut active[member as usize], true) {
                continue;
            }
            let node = workflow.node(scope.members[member as usize]);
            todo.extend(node.outgoing.iter().filter_map(|&at| {
                let edge = &scope.edges[at as usize];
                match edge.to {
                    End::Member(to) if !edge.back => Some(to),
                    _ => None,
                }
            }));
        }
        for (at, edge) in scope.edges.iter().enumerate() {
            let alive = matches!(edge.from, End::Member(from) if active[from as usize]);
            if let (false, false, End::Member(to)) = (alive, edge.back, edge.to) {
                frame.signal_edge(at as u32, EdgeSignal::Kill);
                frame.node_mut(to).pending -= 1;
            }
        }
        for &start in &starts {
            frame.node_mut(start).taken = true;
        }
        for (member, active) in active.iter().enumerate() {
            if !active {
                let member = member as u32;
                self.signal(Site { frame: key, member }, NodeSignal::Die);
            }
        }
        for member in starts {
            let site = Site { frame: key, member };
            if self.frames.node(site).is_some_and(|n| n.pending == 0) {
                self.decide(site);
            }
        }
    }

    fn loop_done(&mut self, site: Site) {
        let workflow = self.workflow.clone();
        let exits = self.turns(site).map(|t| std::mem::take(&mut t.exits));
        let exits = exits.unwrap_or_default();
        self.signal(site, NodeSignal::Complete);
        if let Some(id) = self.node_id(site) {
            for &at in &workflow.node(id).outgoing {
                let signal = match exits.contains(&at) {
                    true => EdgeSignal::Take,
                    false => EdgeSignal::Kill,
                };
                self.decided.push_back((site.frame, at, signal));
            }
        }
        self.wake_watchers(site);
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
