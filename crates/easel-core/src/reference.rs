//! References: text that names a value, and the walk along a path into data.

pub mod canvas;

use std::sync::Arc;

use crate::Value;

/// A reference as a grammar read it: what it names, not yet where that is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The key as it was written, without braces and outer blanks (`Agent:X@content.items.0`).
    pub text: Arc<str>,
    /// What it names.
    pub root: Root,
    /// Where to go from there.
    pub path: Path,
}

/// What a reference names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A port of a node.
    Output {
        /// The node's id.
        node: Arc<str>,
        /// The port's name; empty for all ports as one object.
        port: Arc<str>,
    },
    /// A variable (`sys.query`, `env.topic`).
    Variable(Arc<str>),
    /// A value of the enclosing pass: `item`, `index` or `result` (spec/canvas-engine §2.1).
    Pass(Arc<str>),
}

/// The steps from a value to one inside it. Reads data only: object member, list index, and text that is JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(pub Box<[Step]>);

/// One step of a path: a member's name that, in a list, is an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The name as written.
    pub name: Arc<str>,
    /// The name as an index, where it is one; negative counts from the end.
    pub index: Option<i64>,
}

impl Path {
    /// What stands at the end of the path, or `None` where it leads nowhere.
    pub fn walk(&self, value: &Value) -> Option<Value> {
        let _ = value;
        None
    }
}
