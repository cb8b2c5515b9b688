//! What concurrent passes over a list assign: kept apart while they run, merged in the order of the list.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use indexmap::IndexMap;

use super::frame::Site;
use crate::Value;
use crate::reference::Path;
use crate::workflow::VariableId;

/// Something outside a pass that can be assigned to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    Variable(VariableId),
    Port(Site, Arc<str>),
}

/// Assignments of one concurrent pass to what lies outside it.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    cells: BTreeMap<Cell, Assigned>,
}

/// What was assigned to one cell.
#[derive(Debug)]
pub(super) struct Assigned {
    /// The cell as the pass sees it.
    pub seen: Value,
    /// The assignments that are not covered by later ones, in order: passes that set different parts of one value keep
    /// each other's.
    pub parts: IndexMap<Path, Value>,
}

impl Overlay {
    /// The cell as the pass sees it, if it assigned to it.
    pub fn get(&self, cell: &Cell) -> Option<&Value> {
        self.cells.get(cell).map(|assigned| &assigned.seen)
    }

    /// Notes that a part of a cell was assigned, which now is `seen`.
    pub fn set(&mut self, cell: Cell, path: Path, value: Value, seen: Value) {
        let assigned = self.cells.entry(cell).or_insert_with(|| Assigned {
            seen: Value::Null,
            parts: IndexMap::new(),
        });
        assigned.seen = seen;
        assigned.set(path, value);
    }

    /// Puts the assignments of a later pass after these.
    pub fn append(&mut self, later: Overlay) {
        for (cell, assigned) in later.cells {
            match self.cells.entry(cell) {
                Entry::Vacant(entry) => {
                    entry.insert(assigned);
                }
                Entry::Occupied(mut entry) => {
                    let earlier = entry.get_mut();
                    earlier.seen = assigned.seen;
                    for (path, value) in assigned.parts {
                        earlier.set(path, value);
                    }
                }
            }
        }
    }

    /// Everything that was assigned, by cell.
    pub fn into_cells(self) -> impl Iterator<Item = (Cell, Assigned)> {
        self.cells.into_iter()
    }
}

impl Assigned {
    fn set(&mut self, path: Path, value: Value) {
        if path.is_empty() {
            self.parts.clear();
        }
        self.parts.shift_remove(&path);
        self.parts.insert(path, value);
    }
}
