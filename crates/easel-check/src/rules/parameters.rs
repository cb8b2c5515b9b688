//! Parameters, as lowering found them.

use std::collections::HashSet;
use std::sync::Arc;

use easel_canvas::lower::Finding;
use easel_catalog::common::is_reserved_port;
use easel_catalog::{
    Availability, Catalog, Component, Control, Param, PortsFrom, Problem, Type, nearest,
};
use easel_core::{Object, Value};

use crate::code::Code;
use crate::findings::{Findings, Found};
use crate::sites;

/// Reports what lowering found, components that are not run, and names that belong to the engine.
pub(crate) fn report(findings: &mut Findings<'_>) {
    let parameters = findings.canvas.parameters;
    let operators: HashSet<(&str, &str)> = parameters
        .iter()
        .filter_map(|finding| match finding {
            Finding::UnknownOperator { node, path, .. } => Some((&**node, &**path)),
            _ => None,
        })
        .collect();
    for finding in parameters {
        // That is said already, and better.
        let again = matches!(finding, Finding::Parameter { node, finding } if operators.contains(&(&**node, &*finding.path)));
        if !again {
            let found = found(findings, finding);
            findings.add(found);
        }
    }
    let catalog = findings.canvas.catalog;
    for node in &findings.canvas.workflow.nodes {
        let (Some(table), Some(params)) = (
            catalog.get(&node.draft.component),
            node.draft.params.as_object(),
        ) else {
            continue;
        };
        not_run_yet(findings, &node.draft.id, table, params);
    }
    report_errors(findings);
}

/// Reports names that belong to the engine.
pub(crate) fn report_errors(findings: &mut Findings<'_>) {
    let catalog = findings.canvas.catalog;
    for node in &findings.canvas.workflow.nodes {
        if let (Some(table), Some(params)) = (
            catalog.get(&node.draft.component),
            node.draft.params.as_object(),
        ) {
            reserved(findings, &node.draft.id, table, params);
        }
    }
}

/// Reports a component, or a tool of an agent, that this version only knows.
fn not_run_yet(
    findings: &mut Findings<'_>,
    id: &Arc<str>,
    table: &Arc<Component>,
    params: &Object,
) {
    let mut later = Vec::new();
    sites::each_table(
        findings.canvas.catalog,
        table,
        params,
        &mut |table, _, at| {
            if let Availability::Later { why } = &table.availability {
                later.push((table.name.clone(), why.clone(), at.to_owned()));
            }
        },
    );
    for (name, why, at) in later {
        let (owner, spot) = match at.strip_suffix('.') {
            Some(at) => (
                format!("`{id}` has a {name} as a tool"),
                findings.spots.param(id, at),
            ),
            None => (format!("`{id}` is a {name}"), findings.spots.node(id)),
        };
        let message = format!("{owner}, which this version does not run.");
        findings.add(
            Found::new(Code::NotRunYet, message)
                .node(id)
                .at(spot)
                .detail(why),
        );
    }
}

fn found(findings: &mut Findings<'_>, finding: &Finding) -> Found {
    match finding {
        Finding::UnknownComponent { node, component } => {
            let (message, fix) = match component.trim() {
                "" => (
                    format!("`{node}` does not say which component it is."),
                    None,
                ),
                name => {
                    let known = findings.canvas.catalog.iter().map(|table| &*table.name);
                    let like = nearest(name, known);
                    let fix = like.map(|like| {
                        format!("Did you mean `{like}`? `easel components` lists all.")
                    });
                    (
                        format!("`{node}` has the component `{name}`, which Easel does not know."),
                        fix,
                    )
                }
            };
            let found = Found::new(Code::UnknownComponent, message).node(node);
            let found = found.at(findings.spots.node(node));
            match fix {
                Some(fix) => found.fix(fix),
                None => found,
            }
        }
        Finding::Parameter { node, finding } => parameter(findings, node, finding),
        Finding::NoReference { node, path, text } => {
            let message = match text.trim() {
                "" => format!("`{node}`: `{path}` names no value."),
                _ => format!(
                    "`{node}`: `{path}` is \"{}\", which names no value.",
                    short(text)
                ),
            };
            Found::new(Code::NotAReference, message)
                .node(node)
                .at(findings.spots.param(node, path))
        }
        Finding::UnknownOperator {
            node,
            path,
            operator,
        } => {
            let message = match operator.trim() {
                "" => format!("`{node}`: a test does not say how it compares."),
                _ => format!("`{node}`: there is no comparison \"{}\".", short(operator)),
            };
            Found::new(Code::UnknownOperator, message)
                .node(node)
                .at(findings.spots.param(node, path))
        }
        Finding::TwoWaysAfterFailure { node } => {
            let message = format!(
                "`{node}` has both a default value and a goto for failures; the goto wins."
            );
            Found::new(Code::TwoWaysAfterFailure, message)
                .node(node)
                .at(findings.spots.param(node, "exception_method"))
        }
        Finding::IncompleteVariable { node, variable } => {
            let message =
                format!("The variable `{variable}` of `{node}` has no value to start with.");
            Found::new(Code::IncompleteVariable, message)
                .node(node)
                .at(findings.spots.param(node, "loop_variables"))
        }
    }
}

fn parameter(
    findings: &mut Findings<'_>,
    node: &Arc<str>,
    finding: &easel_catalog::Finding,
) -> Found {
    let path = &finding.path;
    let spot = findings.spots.param(node, path);
    let missing = finding.problem == Problem::Missing;
    if missing && path == "end_cpn_ids" && is_branch(findings, node) {
        let message = format!("`{node}` does not say where the run goes on when no case holds.");
        return Found::new(Code::BranchWithoutElse, message)
            .node(node)
            .at(spot);
    }
    if missing && is_credential(findings.canvas.catalog, path) {
        let message = format!("`{node}` has no key for its service: `{path}` is not set.");
        return Found::new(Code::NoCredentials, message).node(node).at(spot);
    }
    let code = match finding.problem {
        Problem::Missing => Code::MissingParameter,
        Problem::Type | Problem::Range | Problem::Choice => Code::BadParameter,
        Problem::Unknown => Code::UnknownField,
    };
    let message = match (finding.problem, path.as_str()) {
        (Problem::Missing, path) => format!("`{node}`: `{path}` is not set."),
        (Problem::Unknown, path) => format!("`{node}`: nothing reads `{path}`."),
        (_, "") => format!(
            "`{node}`: the parameters are {}, where {} belongs.",
            finding.found, finding.expected
        ),
        (_, path) => format!(
            "`{node}`: `{path}` is {}, where {} belongs.",
            finding.found, finding.expected
        ),
    };
    Found::new(code, message)
        .node(node)
        .at(spot)
        .fix(finding.fix.clone())
}

/// True if the last name of a path is one under which components have credentials.
fn is_credential(catalog: &Catalog, path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or_default();
    let credential = |param: &Param| param.kind == Type::Credential && *param.name == *name;
    catalog
        .iter()
        .any(|table| table.params.iter().any(credential))
}

fn is_branch(findings: &mut Findings<'_>, node: &Arc<str>) -> bool {
    let catalog = findings.canvas.catalog;
    let component = findings.spots.components().get(node);
    let table = component.and_then(|component| catalog.get(&component.class));
    table.is_some_and(|table| table.control == Control::Branch)
}

/// Reports outputs that the author of a canvas named like one of the engine's.
fn reserved<'p>(findings: &mut Findings<'_>, id: &Arc<str>, table: &Component, params: &'p Object) {
    let names: Vec<(String, &str)> = match &table.ports_from {
        Some(PortsFrom::Keys { param }) => {
            let members = params.get(&**param).and_then(Value::as_object);
            // Of outputs only what collects is named by the author; the rest is what earlier runs left.
            let chosen = |output: &Value| {
                **param != *"outputs" || output.get("ref").is_some_and(Value::is_truthy)
            };
            let names = members
                .into_iter()
                .flatten()
                .filter(|(_, member)| chosen(member));
            names
                .map(|(name, _)| (format!("{param}.{name}"), &**name))
                .collect()
        }
        Some(PortsFrom::Items { param, member }) => {
            let items = params.get(&**param).and_then(Value::as_array);
            let items = items.unwrap_or_default().iter().enumerate();
            let name = |(at, item): (usize, &'p Value)| {
                let name = item.get(member).and_then(Value::as_str)?;
                Some((format!("{param}.{at}.{member}"), name))
            };
            items.filter_map(name).collect()
        }
        None => Vec::new(),
    };
    for (path, name) in names.into_iter().filter(|(_, name)| is_reserved_port(name)) {
        let message =
            format!("`{id}` names an output `{name}`, a name that belongs to the engine.");
        let spot = findings.spots.param(id, &path);
        findings.add(Found::new(Code::ReservedName, message).node(id).at(spot));
    }
}

/// The beginning of a text, for a message.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
