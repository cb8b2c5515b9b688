//! Tools: whether they are there, what they are given, how they are set.

use std::collections::HashSet;
use std::sync::Arc;

use easel_catalog::{Argument, Availability, Component, Problem, Tool, Type};
use easel_core::format::{self, Secrets};
use easel_core::{Object, Value};
use easel_graph::document::{Node, OutputSchema, Text};
use easel_graph::kind::Kind;
use easel_graph::place::Place;

use super::context::{Context, Findings, Here, at};
use crate::code::Code;
use crate::diagnostic::{Severity, sentence};
use crate::findings::Found;
use crate::rules::listed;

/// Reports what refuses a run.
pub(super) fn report_errors(context: &Context<'_>, findings: &mut Findings) {
    for here in context.nodes().filter(|here| takes_tools(here.node)) {
        for name in &here.node.tools {
            if context.tool(name).is_none() && !context.may_be_elsewhere(name) {
                unknown(context, here.node, name, findings);
            }
        }
        required(context, here, findings);
        fields(context, here, findings);
    }
}

/// Reports the rest.
pub(super) fn report(context: &Context<'_>, findings: &mut Findings) {
    for here in context.nodes().filter(|here| takes_tools(here.node)) {
        let node = here.node;
        for name in &node.tools {
            if let Some((table, _)) = context.tool(name) {
                not_run_yet(node, name, table, findings);
            }
        }
        unused_arguments(context, node, findings);
        settings(context, node, findings);
    }
}

fn takes_tools(node: &Node) -> bool {
    matches!(*node.kind, Kind::Base | Kind::React | Kind::Tool)
}

/// The tools of a node that are there: of a tool step only the one that it calls. `None` if one is not known.
fn tools<'a>(
    context: &Context<'a>,
    node: &'a Node,
) -> Option<Vec<(&'a Text, &'a Arc<Component>, &'a Tool)>> {
    let called = match *node.kind {
        Kind::Tool => 1,
        _ => usize::MAX,
    };
    let names = node.tools.iter().take(called);
    names
        .map(|name| context.tool(name).map(|(table, tool)| (name, table, tool)))
        .collect()
}

fn unknown(context: &Context<'_>, node: &Node, name: &Text, findings: &mut Findings) {
    let like = findings.suggest(name, context.tool_names());
    let id = &node.id;
    let found = match like {
        Some(like) => Found::new(
            Code::ToolTypo,
            format!("`{id}` names the tool `{name}`, and there is no such tool."),
        )
        .fix(format!(
            "Did you mean `{like}`? `easel components` lists all."
        )),
        None => Found::new(
            Code::ToolGap,
            format!("`{id}` names the tool `{name}`, and there is no such tool."),
        ),
    };
    findings.add(at(name), found.node(id));
}

fn not_run_yet(node: &Node, name: &Text, table: &Component, findings: &mut Findings) {
    if let Availability::Later { why } = &table.availability {
        let message = format!(
            "`{}` has the tool `{name}`, which this version does not run.",
            node.id
        );
        let found = Found::new(Code::NotRunYet, message).detail(why);
        findings.add(at(name), found.fix("Use another tool.").node(&node.id));
    }
}

/// The arguments that a tool step's tool needs and is not given.
fn required(context: &Context<'_>, here: Here<'_, '_>, findings: &mut Findings) {
    let node = here.node;
    let Some((name, _, tool)) = tools(context, node)
        .filter(|_| *node.kind == Kind::Tool)
        .and_then(|tools| tools.first().copied())
    else {
        return;
    };
    let given = given(context, here);
    // A default names what canvases have; the call checks what is required.
    let missing = tool.arguments.iter();
    let missing = missing.filter(|it| it.required && !given.contains(&*it.name));
    for argument in missing {
        let message = format!(
            "`{}` does not set `{}`, which the tool `{name}` needs.",
            node.id, argument.name
        );
        let fix = match argument.kind {
            Type::Credential => format!(
                "Set it as {0}: \"${{NAME}}\" under `tool_args`, and list NAME under `secrets`.",
                argument.name
            ),
            _ => format!("Set it under `tool_args`: {}", meaning(argument)),
        };
        let found = Found::new(Code::ToolArgs, message).fix(fix).node(&node.id);
        findings.add(at(name), found);
    }
}

fn meaning(argument: &Argument) -> String {
    let mut letters = argument.description.trim().chars();
    let first = letters.next().map(char::to_lowercase);
    let text: String = first.into_iter().flatten().chain(letters).collect();
    match text.ends_with('.') {
        true => text,
        false => format!("{text}."),
    }
}

/// The names under which a tool step gives something to its tool.
fn given<'c>(context: &'c Context<'_>, here: Here<'c, 'c>) -> HashSet<&'c str> {
    let node = here.node;
    let mut given: HashSet<&str> = HashSet::new();
    given.extend(
        node.tool_args
            .iter()
            .flat_map(|arguments| arguments.keys())
            .map(|name| &**name),
    );
    given.extend(node.depends_on.iter().map(|id| &***id));
    given.extend(context.names.passes(here.level).map(|(name, _)| name));
    given.extend(context.document.inputs.iter().map(|input| &**input.name));
    let asked = context
        .document
        .nodes
        .iter()
        .filter(|node| *node.kind == Kind::Input);
    given.extend(asked.map(|node| &***node.input_key()));
    given
}

fn unused_arguments(context: &Context<'_>, node: &Node, findings: &mut Findings) {
    let Some(arguments) = &node.tool_args else {
        return;
    };
    let Some(tools) = tools(context, node).filter(|tools| !tools.is_empty()) else {
        return;
    };
    let takes = |name: &str| {
        let mut all = tools.iter().flat_map(|(_, _, tool)| &tool.arguments);
        all.any(|argument| *argument.name == *name)
    };
    for name in arguments.keys().filter(|name| !takes(name)) {
        let names: Vec<&str> = tools.iter().map(|(name, ..)| &****name).collect();
        let message = match &names[..] {
            [one] => format!(
                "The tool `{one}` of `{}` takes no argument `{name}`.",
                node.id
            ),
            _ => format!(
                "None of the tools of `{}` takes an argument `{name}`.",
                node.id
            ),
        };
        let known: Vec<&str> = tools
            .iter()
            .flat_map(|(_, _, tool)| tool.arguments.iter().map(|argument| &*argument.name))
            .collect();
        let found = Found::new(Code::UnusedArgument, message).node(&node.id);
        let found = match findings.suggest(name, known.iter().copied()) {
            Some(like) => found.fix(format!("Did you mean `{like}`?")),
            None => found,
        };
        let found = match known.is_empty() {
            true => found,
            false => found.detail(format!("What can be set: {}.", listed(&known))),
        };
        let place = node.key("tool_args").key(name);
        findings.add(context.member(&place), found);
    }
}

fn settings(context: &Context<'_>, node: &Node, findings: &mut Findings) {
    let id = &node.id;
    let place = node.key("tool_settings");
    let written = node.tool_settings.as_ref().map(|settings| &settings.value);
    for name in written.into_iter().flat_map(Object::keys) {
        if node.tools.iter().any(|tool| ***tool == **name) {
            continue;
        }
        let message = format!("`{id}` sets the tool `{name}`, which is none of its tools.");
        let found = Found::new(Code::SettingForAbsentTool, message).node(id);
        findings.add(context.member(&place.key(name)), found);
    }
    for (name, table, _) in tools(context, node).into_iter().flatten() {
        let empty = Value::empty_object();
        let settings = written.and_then(|all| all.get(&***name)).unwrap_or(&empty);
        let set = |key: &str| settings.get(key).is_some_and(|value| *value != Value::Null);
        for wrong in table.read_as_tool(settings.clone()).findings {
            let key = wrong.path.split('.').next().unwrap_or_default();
            let found = match wrong.problem {
                Problem::Missing if !set(key) => {
                    let message = format!(
                        "The tool `{name}` of `{id}` lacks its setting `{}`.",
                        wrong.path
                    );
                    let found = Found::new(Code::SettingMissing, message);
                    findings.add(at(name), found.detail(sentence(&wrong.fix)).node(id));
                    continue;
                }
                Problem::Unknown => {
                    let message = format!(
                        "The tool `{name}` of `{id}` has no setting `{}`.",
                        wrong.path
                    );
                    Found::new(Code::UnknownSetting, message).fix(sentence(&wrong.fix))
                }
                _ if !set(key) || wrong.is_harmless() || is_filled_in(settings.get(key)) => {
                    continue;
                }
                _ => {
                    let message =
                        format!("The setting of the tool `{name}` of `{id}` does not fit: {wrong}");
                    Found::new(Code::UnknownSetting, sentence(&message)).fix(sentence(&wrong.fix))
                }
            };
            let place = match key {
                "" => place.key(name),
                key => place.key(name).key(key),
            };
            findings.add(context.member(&place), found.node(id));
        }
    }
}

/// Whether a setting is known only when the run is under way.
fn is_filled_in(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_str)
        .is_some_and(|text| text.contains('{'))
}

/// Fields of answers that arguments take: of a step without a shape, or of a shape that has none such.
fn fields(context: &Context<'_>, here: Here<'_, '_>, findings: &mut Findings) {
    if let Some(arguments) = &here.node.tool_args {
        let place = here.node.key("tool_args");
        for (name, argument) in arguments.iter() {
            let mut visit =
                |place: &Place, text: &str| fields_of(context, here, name, place, text, findings);
            each_text(argument, &place.key(name), &mut visit);
        }
    }
}

/// Every text of a value, with its place.
pub(super) fn each_text(value: &Value, place: &Place, visit: &mut dyn FnMut(&Place, &str)) {
    match value {
        Value::String(text) => visit(place, text),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                each_text(item, &place.index(at), visit);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter() {
                each_text(member, &place.key(name), visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn fields_of(
    context: &Context<'_>,
    here: Here<'_, '_>,
    argument: &str,
    place: &Place,
    text: &str,
    findings: &mut Findings,
) {
    if !text.contains('{') {
        return;
    }
    let node = here.node;
    for chain in format::parse(text, Secrets::None).chains() {
        let (source, field) = match (&*chain.root, &chain.steps[..]) {
            ("nodes", [source, field, ..]) => (&*source.name, &field.name),
            (source, [field, ..]) => (source, &field.name),
            _ => continue,
        };
        let depends = node.depends_on.iter().any(|id| ***id == *source);
        // A variable of that name comes before the node.
        let hidden = context.names.variables.contains(source) && *chain.root != *"nodes";
        let level = context.names.levels.get(here.level);
        let Some((source, id)) = level
            .and_then(|level| level.find(source))
            .filter(|_| depends && !hidden)
        else {
            continue;
        };
        let Some(found) = field_of(context, node, argument, source, id, field) else {
            continue;
        };
        findings.add(context.within(place, &chain.span), found.node(&node.id));
    }
}

fn field_of(
    context: &Context<'_>,
    node: &Node,
    argument: &str,
    source: &Node,
    source_id: &Arc<str>,
    field: &Arc<str>,
) -> Option<Found> {
    if !matches!(*source.kind, Kind::Base | Kind::React) {
        return None;
    }
    let (id, from) = (&node.id, &source.id);
    let Some(schema) = &source.output_schema else {
        let message = format!(
            "`{id}` takes `{field}` of the answer of `{from}`, which is text without a shape."
        );
        let fix = format!(
            "Give `{from}` an `output_schema` with the property `{field}`, or take its whole answer: `{{{from}}}`."
        );
        return Some(Found::new(Code::SourceHasNoShape, message).fix(fix));
    };
    let read;
    let schema = match &schema.value {
        OutputSchema::Schema(schema) => schema,
        OutputSchema::Class(_) => {
            let workflow = context.graph.workflow;
            let draft = &workflow.node(workflow.find(source_id)?).draft;
            read = draft.params.get("schema")?.as_object()?.clone();
            &read
        }
    };
    let properties = schema.get("properties").and_then(Value::as_object)?;
    if properties.contains_key(field) {
        return None;
    }
    let message =
        format!("`{id}` takes `{field}` of the answer of `{from}`, whose shape does not have it.");
    let names: Vec<&str> = properties.keys().map(|name| &**name).collect();
    let found = Found::new(Code::UnknownBoundField, message);
    let found = match names.is_empty() {
        true => found,
        false => found.detail(format!("It has {}.", listed(&names))),
    };
    let found = match easel_catalog::nearest(field, names.into_iter()) {
        Some(like) => found.fix(format!("Did you mean `{like}`?")),
        None => found,
    };
    let mut known = tools(context, node).into_iter().flatten();
    let needed = known.any(|(_, _, tool)| {
        let mut arguments = tool.arguments.iter();
        arguments.any(|it| *it.name == *argument && it.required)
    });
    Some(match needed {
        true => found,
        false => found.severity(Severity::Warning),
    })
}
