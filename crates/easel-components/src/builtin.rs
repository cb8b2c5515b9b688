//! Components that come with Easel: a table of the catalogue and the function that prepares a node.

use std::sync::Arc;

use easel_catalog as catalog;
use easel_core::event::Fault;

use crate::behaviour::{Behaviour, Component, Prepared};

/// Reads a node's parameters once; see [`Component::prepare`].
pub(crate) type Prepare = fn(Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault>;

/// A component that is no tool.
pub(crate) struct Builtin {
    pub(crate) table: Arc<catalog::Component>,
    pub(crate) prepare: Prepare,
}

impl Component for Builtin {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        (self.prepare)(node)
    }
}
