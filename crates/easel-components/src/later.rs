//! Kinds without a behaviour of their own: those this version does not run yet, and those the machine itself runs.

use std::sync::Arc;

use easel_catalog as catalog;
use easel_core::event::Fault;

use crate::behaviour::{Behaviour, Component, Prepared};
use crate::tool::{Tool, ToolSite};

/// A component that this version only knows. Canvases with it load; a node of it fails when it is reached.
pub(crate) struct Later {
    table: Arc<catalog::Component>,
    why: String,
}

impl Later {
    /// The component of that table, if its table says that it is not run yet.
    pub(crate) fn of(table: &Arc<catalog::Component>) -> Option<Later> {
        match &table.availability {
            catalog::Availability::Available => None,
            catalog::Availability::Later { why } => Some(Later {
                table: table.clone(),
                why: why.clone(),
            }),
        }
    }

    fn fault(&self, owner: &str) -> Fault {
        let kind = &self.table.name;
        let message = format!(
            "\"{owner}\" needs {kind}, which this version does not run. {}",
            self.why
        );
        Fault::new("not_available", message).without_trace()
    }
}

impl Component for Later {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        Err(self.fault(&node.node.draft.name))
    }

    fn tool(&self, site: ToolSite<'_>) -> Option<Result<Arc<dyn Tool>, Fault>> {
        self.table.tool.as_ref()?;
        Some(Err(self.fault(site.path)))
    }
}

/// A container, the start of its body, or an exit: the machine runs it and asks no behaviour.
pub(crate) struct Structural {
    table: Arc<catalog::Component>,
}

impl Structural {
    /// The component of that table, if the machine itself runs it.
    pub(crate) fn of(table: &Arc<catalog::Component>) -> Option<Structural> {
        use catalog::Control::{Branch, Each, Exit, Form, Item, Task, While};
        match table.control {
            Each | While | Item | Exit => Some(Structural {
                table: table.clone(),
            }),
            Task | Branch | Form => None,
        }
    }
}

impl Component for Structural {
    fn table(&self) -> &catalog::Component {
        &self.table
    }

    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
        let (name, kind) = (&node.node.draft.name, &self.table.name);
        let message =
            format!("\"{name}\" is a {kind}, which runs other nodes and does nothing itself.");
        Err(Fault::new("not_executed", message))
    }
}
