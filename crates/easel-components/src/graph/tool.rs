//! Tool: one direct call (spec/graph-engine §7.3).

use std::sync::Arc;

use easel_core::event::{Completion, Fault};
use easel_core::{Object, Value};
use easel_secrets::SinkKind;
use easel_tools::contract::ArgumentCheck;

use super::arguments::{self, Arguments, Rendered, is_secret};
use super::gives;
use super::keywords::Keywords;
use super::tools::{self, Named, Wanted, noted, without};
use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::site::{SETTINGS, Site};

struct Tool {
    wanted: Wanted,
    keywords: Keywords,
    arguments: Arguments,
    /// Settings of the tool, which it reads by itself.
    settings: Arguments,
}

pub(super) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let name = Site::of_node(node).text("tool");
    if name.is_empty() {
        let message = format!("\"{}\" names no tool. Set `tools`.", node.node.draft.name);
        return Err(Fault::new("bad_parameter", message));
    }
    Ok(Arc::new(Tool {
        wanted: tools::find(node, name)?,
        keywords: Keywords::read(node),
        arguments: Arguments::read(node, "tool_args"),
        settings: Arguments::read(node, SETTINGS),
    }))
}

impl Behaviour for Tool {
    fn run(self: Arc<Self>, call: Call) -> Run {
        Run::later(async move { self.call(&call).await })
    }
}

impl Tool {
    async fn call(&self, call: &Call) -> Result<Completion, Failure> {
        let written = self.arguments.render(call)?;
        let named = self.wanted.found(call).await?;
        self.settings.render(call)?;
        let (open, sealed): (Rendered, Rendered) = written
            .into_iter()
            .partition(|(_, argument)| !is_secret(argument));
        let mut all = self.keywords.object(call.inputs());
        // What did not run has nothing to say to a tool.
        all.retain(|_, value| !value.is_null());
        all.extend(arguments::shown(&open));
        let shown = checked(&named, all, &sealed, call)?;
        let mut told = shown.clone();
        told.extend(arguments::shown(&sealed));
        let mut arguments = shown;
        let door = call.door(SinkKind::Tool, &named.spec.name);
        for (name, argument) in &sealed {
            arguments.insert(name.clone(), arguments::open(argument, call, &door)?);
        }
        let name = &named.spec.name;
        let answer = noted(name, told, call, named.tool.call(arguments, call)).await;
        if answer.failed {
            let node = &call.node().draft.name;
            let message = format!("\"{node}\" failed: the tool {name} says: {}", answer.text);
            return Err(Failure {
                fault: Fault::new("tool", message),
                usage: answer.usage,
            });
        }
        let tool = Value::from(name.clone());
        Ok(Completion {
            ports: gives(answer.text, [("tool", tool)]),
            references: answer.references,
            usage: answer.usage,
            ..Completion::default()
        })
    }
}

/// Those of the arguments that the tool takes, with the types it takes them in.
fn checked(named: &Named, all: Object, sealed: &Rendered, call: &Call) -> Result<Object, Fault> {
    let schema = &named.spec.parameters;
    let known = schema.get("properties").and_then(Value::as_object);
    let anything = schema
        .get("additionalProperties")
        .is_some_and(Value::is_truthy);
    let taken = all.into_iter().filter(|(name, _)| {
        let known = known.is_some_and(|known| known.contains_key(name));
        (known || anything) && !sealed.contains_key(name)
    });
    let taken: Object = taken.collect();
    let open = without(schema, &|name| sealed.contains_key(name));
    let Ok(check) = ArgumentCheck::new(&named.spec.name, &open) else {
        return Ok(taken);
    };
    check.check(taken).map_err(|complaint| {
        let (node, tool) = (&call.node().draft.name, &named.spec.name);
        let message = format!(
            "\"{node}\" cannot call the tool {tool}: {}. Give it in tool_args, as an input or from a dependency of that name.",
            complaint.replace('\n', "; ")
        );
        Fault::new("bad_arguments", message).without_trace()
    })
}
