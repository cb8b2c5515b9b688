//! The tools a graph node names: found among the components, called with what is bound to them.

use std::sync::Arc;

use easel_core::event::Fault;
use easel_core::{Object, Value};
use easel_models::ToolSpec;
use easel_secrets::SinkKind;
use easel_tools::contract::ArgumentCheck;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::arguments::{self, Rendered, is_secret};
use crate::behaviour::{Call, Note, Prepared};
use crate::mcp;
use crate::site::{SETTINGS, Site};
use crate::tool::{Tool, ToolAnswer, ToolSite};

/// A tool that a node names.
#[derive(Clone)]
pub(super) struct Named {
    pub tool: Arc<dyn Tool>,
    pub spec: ToolSpec,
    /// Seconds that a call may take.
    pub limit_s: Option<f64>,
}

/// A tool as a node names it.
#[derive(Clone)]
pub(super) enum Wanted {
    /// A component's.
    Known(Named),
    /// No component's: one of an MCP server, if there is one of that name. Servers are asked when the node runs.
    Elsewhere(Arc<str>),
}

impl Wanted {
    /// The name by which the node and its model know it.
    pub fn name(&self) -> &Arc<str> {
        match self {
            Wanted::Known(named) => &named.spec.name,
            Wanted::Elsewhere(name) => name,
        }
    }

    /// The tool.
    ///
    /// Errors: there is none of that name, or a server cannot be asked.
    pub async fn found(&self, call: &Call) -> Result<Named, Fault> {
        let name = match self {
            Wanted::Known(named) => return Ok(named.clone()),
            Wanted::Elsewhere(name) => name,
        };
        let Some(tool) = mcp::named(call, name).await? else {
            let shown = &call.node().draft.name;
            let message = format!(
                "\"{shown}\" names the tool {name}, and there is none of that name. `easel components` lists those that there \
                 are, `easel mcp list` those of MCP servers."
            );
            return Err(Fault::new("unknown_tool", message));
        };
        Ok(Named {
            spec: ToolSpec {
                name: name.clone(),
                ..tool.spec()
            },
            tool,
            limit_s: None,
        })
    }
}

/// Finds the tool of that name: of a component, or of the function that a component is to models. Its settings are the
/// component's parameters.
///
/// Errors: it cannot run with its settings.
pub(super) fn find(node: Prepared<'_>, name: &str) -> Result<Wanted, Fault> {
    let shown = &node.node.draft.name;
    let Some(component) = node.registry.tool(name) else {
        return Ok(Wanted::Elsewhere(name.into()));
    };
    let table = component.table();
    let settings = Site::of_node(node).get(SETTINGS);
    let settings = settings.and_then(|settings| settings.get(name)).cloned();
    let settings = settings.unwrap_or_else(Value::empty_object);
    let read = table.read(settings.clone());
    // What is missing comes with the call.
    let set = |finding: &&easel_catalog::Finding| {
        let key = finding.path.split('.').next().unwrap_or_default();
        settings.get(key).is_some() && !finding.is_harmless()
    };
    if let Some(wrong) = read.findings.iter().find(set) {
        let message = format!("\"{shown}\" cannot use the tool {name}: {wrong}");
        return Err(Fault::new("bad_parameter", message));
    }
    let limit_s = table.timeout_s(&read.params);
    let params = Value::from(read.params);
    let site = ToolSite {
        owner: node,
        path: &node.node.draft.id,
        name: None,
        params: &params,
        prefix: &format!("{SETTINGS}.{name}"),
        depth: 1,
    };
    let tool = component.tool(site).unwrap_or_else(|| {
        let message = format!("\"{shown}\" names {name}, which is no tool.");
        Err(Fault::new("unknown_tool", message))
    })?;
    Ok(Wanted::Known(Named {
        spec: tool.spec(),
        tool,
        limit_s,
    }))
}

/// A tool with the arguments that are bound to it for one attempt: its model is not offered them, and they win.
pub(super) struct Bound {
    named: Named,
    offered: ToolSpec,
    bound: Rendered,
    /// What checks the arguments that hold no secret. `None`: the schema is not valid, and anything goes.
    check: Option<ArgumentCheck>,
}

impl Bound {
    /// Binds those of the arguments that the tool takes.
    pub fn new(named: Named, arguments: &Rendered) -> Bound {
        let schema = &named.spec.parameters;
        let takes = |name: &str| {
            schema
                .get("properties")
                .is_some_and(|p| p.get(name).is_some())
        };
        let bound: Rendered = arguments
            .iter()
            .filter(|(name, _)| takes(name))
            .map(|(name, argument)| (name.clone(), argument.clone()))
            .collect();
        let offered = ToolSpec {
            parameters: without(schema, &|name| bound.contains_key(name)),
            ..named.spec.clone()
        };
        let open = without(schema, &|name| bound.get(name).is_some_and(is_secret));
        let check = ArgumentCheck::new(&named.spec.name, &open).ok();
        Bound {
            named,
            offered,
            bound,
            check,
        }
    }

    /// The arguments of a call as anybody may see them, and as the tool gets them.
    ///
    /// Errors: what is wrong with them, for the model.
    fn arguments(&self, sent: Object, call: &Call) -> Result<Object, String> {
        let mut arguments = sent;
        arguments.retain(|name, _| !self.bound.contains_key(name));
        for (name, argument) in self.bound.iter().filter(|(_, a)| !is_secret(a)) {
            arguments.insert(name.clone(), argument.shown());
        }
        let mut arguments = match &self.check {
            Some(check) => check.check(arguments)?,
            None => arguments,
        };
        let door = call.door(SinkKind::Tool, &self.named.spec.name);
        for (name, argument) in self.bound.iter().filter(|(_, a)| is_secret(a)) {
            let opened = arguments::open(argument, call, &door)
                .map_err(|fault| fault.message.to_string())?;
            arguments.insert(name.clone(), opened);
        }
        Ok(arguments)
    }
}

impl Tool for Bound {
    fn spec(&self) -> ToolSpec {
        self.offered.clone()
    }

    fn call<'a>(&'a self, sent: Object, call: &'a Call) -> BoxFuture<'a, ToolAnswer> {
        match self.arguments(sent, call) {
            Ok(arguments) => self.named.tool.call(arguments, call),
            Err(told) => std::future::ready(ToolAnswer::failure(told)).boxed(),
        }
    }
}

/// A schema without some of its properties.
pub(super) fn without(schema: &Value, hidden: &dyn Fn(&str) -> bool) -> Value {
    let Some(members) = schema.as_object() else {
        return schema.clone();
    };
    let mut rest = members.clone();
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let shown = properties.iter().filter(|(name, _)| !hidden(name));
        let shown: Object = shown.map(|(k, v)| (k.clone(), v.clone())).collect();
        rest.insert("properties".into(), Value::from(shown));
    }
    if let Some(required) = schema.get("required").and_then(Value::as_array) {
        let asked = required
            .iter()
            .filter(|name| !name.as_str().is_some_and(hidden));
        rest.insert(
            "required".into(),
            Value::from(asked.cloned().collect::<Vec<_>>()),
        );
    }
    Value::from(rest)
}

/// Calls a tool and leaves a note of it, in which secrets stand by name.
pub(super) async fn noted<'a>(
    tool: &'a str,
    shown: Object,
    call: &'a Call,
    answer: impl Future<Output = ToolAnswer>,
) -> ToolAnswer {
    let clock = &call.run.services.clock;
    let began = clock.now();
    let answer = answer.await;
    let note = Note::ToolCall {
        path: call.node().draft.id.clone(),
        tool: tool.into(),
        arguments: Value::from(shown),
        result: Value::from(answer.text.clone()),
        milliseconds: u64::try_from(clock.now().0 - began.0).unwrap_or(0),
    };
    call.run.wire.note(call.execute.node, note);
    answer
}
