//! The tools of an agent: from the entries in its parameters to what its model is offered.

use std::sync::Arc;

use easel_core::Value;
use easel_core::event::Fault;
use easel_models::ToolSpec;
use easel_tools::contract::{ArgumentCheck, offered_name};

use crate::site::Site;
use crate::tool::{Tool, ToolSite};

/// The code of a component that this version only knows.
const NOT_AVAILABLE: &str = "not_available";

/// The tools of one agent, prepared.
#[derive(Default)]
pub(super) struct Toolbox {
    tools: Vec<Offered>,
    specs: Vec<ToolSpec>,
    /// What people are told about tools that are left out.
    pub left_out: Vec<Arc<str>>,
}

/// A tool under the name the model knows.
pub(super) struct Offered {
    /// What it does.
    pub tool: Arc<dyn Tool>,
    /// A JSON Schema of its arguments.
    pub schema: Value,
    /// What checks them; `None` if the schema is not valid.
    pub check: Option<ArgumentCheck>,
}

impl Toolbox {
    /// Prepares the tools in an agent's parameters; `depth` is how many agents are around the tools.
    ///
    /// A tool this version does not run is left out. Errors: a tool cannot run with its parameters.
    pub(super) fn read(site: &Site<'_>, depth: u32) -> Result<Toolbox, Fault> {
        let mut toolbox = Toolbox::default();
        for (at, entry) in site.items("tools").iter().enumerate() {
            let text = |name| entry.get(name).and_then(Value::as_str).map(str::trim);
            let component = text("component_name").unwrap_or_default();
            let name = text("name").filter(|name| !name.is_empty());
            let shown = name.unwrap_or(component);
            let path = format!("{}-->{}", site.path, shown.replace(' ', "_"));
            let prefix = site.full_path(&format!("tools.{at}.params"));
            let none = Value::Null;
            let tool_site = ToolSite {
                owner: site.owner,
                path: &path,
                name,
                params: entry.get("params").unwrap_or(&none),
                prefix: &prefix,
                depth,
            };
            let found = site.owner.registry.get(component);
            match found.and_then(|component| component.tool(tool_site)) {
                Some(Ok(tool)) => toolbox.add(tool, at),
                Some(Err(fault)) if *fault.code == *NOT_AVAILABLE => {
                    toolbox.left_out.push(fault.message);
                }
                Some(Err(fault)) => return Err(fault),
                None => toolbox.left_out.push(
                    format!(
                        "The tool \"{shown}\" was left out: no component {component} can be called by a model. \
                         `easel components` lists those that can."
                    )
                    .into(),
                ),
            }
        }
        let servers = site.items("mcp").iter();
        let mut wanted = servers.filter(|server| server.get("tools").is_some_and(Value::is_truthy));
        if wanted.next().is_some() {
            let text =
                "Tools of MCP servers were left out: this version does not connect to them yet.";
            toolbox.left_out.push(text.into());
        }
        Ok(toolbox)
    }

    fn add(&mut self, tool: Arc<dyn Tool>, index: usize) {
        let spec = tool.spec();
        let schema = spec.parameters.clone();
        let spec_name = spec.name.clone();
        self.specs.push(ToolSpec {
            name: offered_name(&spec.name, index).into(),
            ..spec
        });
        self.tools.push(Offered {
            check: ArgumentCheck::new(&spec_name, &schema).ok(),
            schema,
            tool,
        });
    }

    /// True if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What the model is offered.
    pub(super) fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// The tool of that name. Errors: what the model is told.
    pub(super) fn find(&self, name: &str) -> Result<&Offered, String> {
        let at = self.specs.iter().position(|spec| *spec.name == *name);
        at.and_then(|at| self.tools.get(at)).ok_or_else(|| {
            let names: Vec<&str> = self.specs.iter().map(|spec| &*spec.name).collect();
            format!(
                "There is no tool called {name}. There are: {}.",
                names.join(", ")
            )
        })
    }
}
