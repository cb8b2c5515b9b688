//! The tools of an agent: from the entries in its parameters to what its model is offered.

use std::sync::{Arc, OnceLock};

use easel_core::event::Fault;
use easel_core::{Object, Value};
use easel_models::ToolSpec;
use easel_tools::contract::{ArgumentCheck, offered_name};
use futures::future::{Either, select};

use crate::behaviour::Call;
use crate::mcp;
use crate::site::Site;
use crate::tool::{Tool, ToolAnswer, ToolSite};

/// The code of a component that this version only knows.
const NOT_AVAILABLE: &str = "not_available";

/// The tools of one agent, prepared.
#[derive(Default)]
pub(crate) struct Toolbox {
    tools: Vec<Offered>,
    specs: Vec<ToolSpec>,
    /// What people are told about tools that are left out.
    pub left_out: Vec<Arc<str>>,
}

/// A tool under the name the model knows.
pub(crate) struct Offered {
    /// What it does.
    tool: Arc<dyn Tool>,
    /// How many seconds one call may take.
    limit_s: Option<f64>,
    /// A JSON Schema of its arguments.
    pub schema: Value,
    /// What checks them, once they were checked for the first time.
    check: OnceLock<Option<ArgumentCheck>>,
}

impl Offered {
    /// What checks its arguments; `None` if the schema is not valid. Compiled when a model first calls the tool.
    pub(super) fn check(&self) -> Option<&ArgumentCheck> {
        let compile = || ArgumentCheck::new(&self.tool.spec().name, &self.schema).ok();
        self.check.get_or_init(compile).as_ref()
    }

    /// Answers one call. One that takes longer than its kind may is stopped, and the model is told.
    pub(super) async fn call(&self, arguments: Object, call: &Call) -> ToolAnswer {
        let answer = self.tool.call(arguments, call);
        let Some(seconds) = self.limit_s else {
            return answer.await;
        };
        let deadline = call.run.services.clock.deadline((seconds * 1000.0) as u64);
        match select(answer, deadline).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), _)) => ToolAnswer::failure(format!(
                "This call was stopped after {seconds} s, the most it may take. Ask for less at a time."
            )),
        }
    }
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
            let limit = found.and_then(|found| {
                let params = tool_site.params.as_object();
                found.table().timeout_s(params.unwrap_or(&Object::new()))
            });
            match found.and_then(|component| component.tool(tool_site)) {
                Some(Ok(tool)) => toolbox.add(tool, at, limit),
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
        // Their numbers go on from those of the entries before them.
        let mut index = site.items("tools").len();
        for entry in site.items("mcp") {
            match mcp::tools_of(entry) {
                Ok(tools) => {
                    for tool in tools {
                        toolbox.add(tool, index, None);
                        index += 1;
                    }
                }
                Err(told) => toolbox.left_out.push(told.into()),
            }
        }
        Ok(toolbox)
    }

    /// Tools under their own names, each with the seconds that a call may take.
    pub(crate) fn of(tools: impl IntoIterator<Item = (Arc<dyn Tool>, Option<f64>)>) -> Toolbox {
        let mut toolbox = Toolbox::default();
        for (tool, limit_s) in tools {
            let spec = tool.spec();
            toolbox.push(tool, spec, limit_s);
        }
        toolbox
    }

    fn add(&mut self, tool: Arc<dyn Tool>, index: usize, limit_s: Option<f64>) {
        let spec = tool.spec();
        let spec = ToolSpec {
            name: offered_name(&spec.name, index).into(),
            ..spec
        };
        self.push(tool, spec, limit_s);
    }

    fn push(&mut self, tool: Arc<dyn Tool>, spec: ToolSpec, limit_s: Option<f64>) {
        let schema = spec.parameters.clone();
        self.specs.push(spec);
        self.tools.push(Offered {
            check: OnceLock::new(),
            schema,
            tool,
            limit_s,
        });
    }

    /// True if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// What the model is offered.
    pub(crate) fn specs(&self) -> &[ToolSpec] {
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
