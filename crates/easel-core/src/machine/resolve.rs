//! Reading and assigning: from slots to values and back.

use std::sync::Arc;

use super::Machine;
use super::frame::{Frame, FrameKey, Site};
use super::node::NodeLife;
use super::overlay::Cell;
use crate::bind::{Activation, Inputs, Resolved};
use crate::draft::Gather;
use crate::event::{Fault, Write};
use crate::reference::{Path, SetError};
use crate::workflow::{Node, Place, Slot};
use crate::{Object, Value};

impl Machine {
    /// Resolves everything a node reads. A broken node reads nothing.
    pub(super) fn bind(&self, site: Site) -> Result<Inputs, Fault> {
        let (Some(id), Some(frame)) = (self.node_id(site), self.frames.get(site.frame)) else {
            return Ok(Inputs::default());
        };
        let node = self.workflow.node(id);
        if let Some(fault) = &node.draft.broken {
            return Err(fault.clone());
        }
        let drainer = node
            .draft
            .drains
            .then(|| frame.node(site.member).activation);
        let mut reads = node.reads.iter().zip(&node.draft.reads);
        let lost = reads.find_map(|(slot, reference)| match slot {
            Slot::Unknown(why) => Some(unknown(node, &reference.text, why)),
            _ => None,
        });
        if let Some(fault) = lost {
            return Err(fault);
        }
        let reads = node.reads.iter();
        let reads = reads.map(|slot| self.resolve_for(frame, slot, drainer));
        Ok(Inputs(reads.collect()))
    }

    /// What a slot holds as seen from a frame.
    pub(super) fn resolve(&self, frame: &Frame, slot: &Slot) -> Resolved {
        self.resolve_for(frame, slot, None)
    }

    /// What a slot holds; to a firing that drains streams it may be a stream.
    fn resolve_for(&self, frame: &Frame, slot: &Slot, drainer: Option<Activation>) -> Resolved {
        match slot {
            Slot::Unknown(_) => Resolved::Missing,
            Slot::Pass { depth, name, path } => {
                let pass = frame.around.get(*depth as usize);
                let pass = pass.and_then(|&key| self.frames.get(key));
                let value = pass.and_then(|pass| pass.item.get(name));
                value.map_or(Resolved::Missing, |value| found(path, value))
            }
            Slot::Variable { variable, path } => {
                let value = self.overlaid(frame, &Cell::Variable(*variable));
                let value = value.or_else(|| self.variables[variable.at()].as_ref());
                value.map_or(Resolved::Missing, |value| found(path, value))
            }
            Slot::Port { place, port, path } => {
                let Some(source) = self.locate(frame, place) else {
                    return Resolved::Missing;
                };
                let stream = drainer.and_then(|d| self.stream_of(source, port, d));
                stream.unwrap_or_else(|| self.port(frame, source, port, path))
            }
        }
    }

    fn port(&self, frame: &Frame, source: Site, port: &Arc<str>, path: &Path) -> Resolved {
        let Some(state) = self.frames.node(source) else {
            return Resolved::Missing;
        };
        if port.is_empty() {
            return match state.ports.is_empty() {
                true => Resolved::Missing,
                false => found(path, &Value::from(state.ports.to_object())),
            };
        }
        let overlaid = match frame.overlaid {
            Some(_) => self.overlaid(frame, &Cell::Port(source, port.clone())),
            None => None,
        };
        match overlaid.or_else(|| state.ports.get(port)) {
            Some(value) => found(path, value),
            None => Resolved::Missing,
        }
    }

    /// What is taken from a pass that is over.
    pub(super) fn gather(&self, frame: &Frame, what: &Gather<Slot>) -> Value {
        let value = |slot: &Slot| self.resolve(frame, slot).or_null();
        let named = |slots: &mut dyn Iterator<Item = &(Arc<str>, Slot)>| -> Value {
            let values = slots.map(|(name, slot)| (name.clone(), value(slot)));
            Value::from(values.collect::<Object>())
        };
        match what {
            Gather::One(slot) => value(slot),
            Gather::Many(slots) => named(&mut slots.iter()),
            Gather::Done(slots, otherwise) => {
                let done = |(_, slot): &&(Arc<str>, Slot)| self.is_done(frame, slot);
                let mut done = slots.iter().filter(done);
                match (done.next(), done.next()) {
                    (None, _) => self.gather(frame, otherwise),
                    (Some((_, only)), None) => value(only),
                    (Some(first), Some(second)) => {
                        named(&mut [first, second].into_iter().chain(done))
                    }
                }
            }
        }
    }

    fn is_done(&self, frame: &Frame, slot: &Slot) -> bool {
        let Slot::Port { place, .. } = slot else {
            return false;
        };
        let site = self.locate(frame, place);
        site.is_some_and(|site| self.frames.life(site) == NodeLife::Done)
    }

    /// The node a place names, seen from a frame.
    fn locate(&self, frame: &Frame, place: &Place) -> Option<Site> {
        let mut key = *frame.around.get(place.depth as usize)?;
        for &container in &place.down {
            let site = Site {
                frame: key,
                member: container,
            };
            key = self.frames.node(site)?.inner.readable()?;
        }
        Some(Site {
            frame: key,
            member: place.member,
        })
    }

    /// An assignment that a concurrent pass around the frame keeps to itself.
    fn overlaid(&self, frame: &Frame, cell: &Cell) -> Option<&Value> {
        let mut at = frame.overlaid;
        while let Some(key) = at {
            let frame = self.frames.get(key)?;
            let value = frame.overlay.as_ref().and_then(|o| o.get(cell));
            if value.is_some() {
                return value;
            }
            at = self.frames.get(frame.container?.frame)?.overlaid;
        }
        None
    }

    /// Assigns what a node wants assigned, in order.
    pub(super) fn assign(&mut self, site: Site, writes: &[Write]) -> Result<(), Fault> {
        let Some(id) = self.node_id(site).filter(|_| !writes.is_empty()) else {
            return Ok(());
        };
        let workflow = self.workflow.clone();
        let node = workflow.node(id);
        for write in writes {
            let at = write.target as usize;
            let (Some(slot), Some(reference)) = (node.writes.get(at), node.draft.writes.get(at))
            else {
                continue;
            };
            let (cell, path) = match slot {
                Slot::Unknown(why) => return Err(unknown(node, &reference.text, why)),
                // A pass's own values stand; no dialect lets a node name one as a target.
                Slot::Pass { .. } => continue,
                Slot::Variable { variable, path } => (Some(Cell::Variable(*variable)), path),
                Slot::Port { place, port, path } => {
                    let frame = self.frames.get(site.frame);
                    let target = frame.and_then(|frame| self.locate(frame, place));
                    (target.map(|t| Cell::Port(t, port.clone())), path)
                }
            };
            let Some(cell) = cell else {
                continue;
            };
            self.put(site.frame, cell, path, write.value.clone())
                .map_err(|why| {
                    let message = format!(
                        "\"{}\" cannot assign to {}: {why}.",
                        node.draft.name, reference.text
                    );
                    Fault::new("bad_target", message)
                })?;
        }
        Ok(())
    }

    /// Puts a value into a cell as seen from a frame: into the nearest overlay that the cell lies outside of.
    pub(super) fn put(
        &mut self,
        from: FrameKey,
        cell: Cell,
        path: &Path,
        value: Value,
    ) -> Result<(), SetError> {
        let overlay = self.frames.get(from).and_then(|f| f.overlaid);
        let outside = overlay.filter(|&key| match &cell {
            Cell::Variable(_) => true,
            Cell::Port(target, _) => {
                let around = self.frames.get(target.frame).map(|f| &f.around);
                around.is_none_or(|around| !around.contains(&key))
            }
        });
        if let Some(key) = outside {
            let mut seen = self.cell_value(from, &cell).unwrap_or_default();
            path.set(&mut seen, value.clone())?;
            let frame = self.frames.get_mut(key);
            if let Some(overlay) = frame.and_then(|f| f.overlay.as_mut()) {
                overlay.set(cell, path.clone(), value, seen);
            }
            return Ok(());
        }
        let root = match &cell {
            Cell::Variable(variable) => {
                let value = self.variables.get_mut(variable.at());
                value.map(|value| value.get_or_insert(Value::Null))
            }
            Cell::Port(target, port) => {
                let state = self.frames.node_mut(*target);
                state.map(|state| state.ports.entry(port))
            }
        };
        match root {
            Some(root) => path.set(root, value),
            None => Ok(()),
        }
    }

    fn cell_value(&self, from: FrameKey, cell: &Cell) -> Option<Value> {
        let frame = self.frames.get(from)?;
        if let Some(value) = self.overlaid(frame, cell) {
            return Some(value.clone());
        }
        match cell {
            Cell::Variable(variable) => self.variables.get(variable.at())?.clone(),
            Cell::Port(target, port) => self.frames.node(*target)?.ports.get(port).cloned(),
        }
    }
}

fn found(path: &Path, value: &Value) -> Resolved {
    path.walk(value).map_or(Resolved::Missing, Resolved::Value)
}

fn unknown(node: &Node, reference: &str, why: &str) -> Fault {
    let name = &node.draft.name;
    let message = format!("\"{name}\" names {reference}, but {why}.");
    Fault::new("unknown_reference", message)
}
