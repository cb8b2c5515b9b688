//! What a node is handed when it fires: the values of everything it reads.

use serde::{Deserialize, Serialize};

use crate::Value;

/// Which of a node's reads: an index into [`crate::draft::NodeDraft::reads`] and, in the same order, into [`Inputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReadId(pub u32);

/// One firing of one node, numbered in the order in which the machine decided them. Unique within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Activation(pub u64);

/// What a reference stood for at the moment its node fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolved {
    /// The value, `null` included.
    Value(Value),
    /// Nothing stood there: a dead node, a port that was not written, a path that leads nowhere.
    Missing,
    /// Text that is still arriving from that activation. Only a node that drains streams is handed one.
    Stream(Activation),
}

impl Resolved {
    /// The value, if there is one; `null` counts, a stream does not.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Resolved::Value(value) => Some(value),
            Resolved::Missing | Resolved::Stream(_) => None,
        }
    }

    /// The value, with `null` for what is missing or still arriving.
    pub fn or_null(&self) -> Value {
        self.value().cloned().unwrap_or_default()
    }
}

/// A node's reads, resolved, in the order of [`ReadId`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs(pub std::sync::Arc<[Resolved]>);

impl Inputs {
    /// What the read resolved to; an id that belongs to another node reads as missing.
    pub fn get(&self, read: ReadId) -> &Resolved {
        self.0.get(read.0 as usize).unwrap_or(&Resolved::Missing)
    }
}
