//! `easel components`: the tables of components, for a terminal.

mod table;

use easel_runtime::catalog::{
    Availability, Catalog, Component, Param, PortsFrom, Required, Type, When, nearest, page, schema,
};

use crate::cli::ComponentsArguments;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::wrap::wrapped;
use table::Table;

/// Lists the components, or shows one.
pub fn show(arguments: &ComponentsArguments) -> Result<Exit, Problem> {
    let catalog = Catalog::builtin();
    let Some(name) = &arguments.name else {
        match (arguments.markdown, arguments.schema) {
            (true, _) => out::print(&page::all(catalog)),
            (_, true) => out::line(&format!("{:#}", schema::of_canvas(catalog))),
            _ => list(catalog),
        }
        return Ok(Exit::Done);
    };
    let Some(component) = catalog.get(name) else {
        let problem = Problem::usage(format!("There is no component `{name}`."));
        let like = nearest(name, catalog.iter().map(|component| &*component.name));
        return Err(match like {
            Some(like) => problem.fix(format!(
                "Did you mean `{like}`? `easel components` lists all."
            )),
            None => problem.fix("`easel components` lists all."),
        });
    };
    match (arguments.markdown, arguments.schema) {
        (true, _) => out::print(&page::one(component)),
        (_, true) => out::line(&format!("{:#}", schema::of_component(component))),
        _ => out::print(&one(component)),
    }
    Ok(Exit::Done)
}

fn list(catalog: &Catalog) {
    let mut family = None;
    for component in catalog.iter() {
        if family != Some(component.family) {
            let gap = if family.is_some() { "\n" } else { "" };
            out::line(&format!("{gap}{}", component.family.title()));
            family = Some(component.family);
        }
        let later = match &component.availability {
            Availability::Available => "",
            Availability::Later { .. } => " (not yet)",
        };
        out::line(&format!(
            "  {:<20} {}{later}",
            component.name, component.summary
        ));
    }
}

/// One component: what it does, what it takes, what it gives.
fn one(component: &Component) -> String {
    let mut text = format!("{}\n\n", component.name);
    wrapped(&mut text, &component.summary, 0);
    if let Availability::Later { why } = &component.availability {
        text.push('\n');
        wrapped(&mut text, &format!("Not run by this version. {why}"), 0);
    }
    text.push('\n');
    for fact in page::facts(component) {
        wrapped(&mut text, &fact.replace('`', ""), 0);
    }
    if !component.params.is_empty() {
        let mut params = Table::default();
        component
            .params
            .iter()
            .for_each(|param| rows(&mut params, "", param));
        text.push_str("\nParameters\n\n");
        text.push_str(&params.to_string());
        text.push_str(
            "\nEvery component also has those that `easel components --markdown` lists first.\n",
        );
    }
    let mut ports = Table::default();
    for port in &component.ports {
        ports.row(&port.name, &port.kind, &port.doc);
    }
    match &component.ports_from {
        None => {}
        Some(PortsFrom::Keys { param }) => {
            ports.row("…", "any", &format!("One for each name in {param}."))
        }
        Some(PortsFrom::Items { param, member }) => {
            ports.row("…", "any", &format!("One for each {member} in {param}."));
        }
    }
    if !ports.is_empty() {
        text.push_str("\nOutputs\n\n");
        text.push_str(&ports.to_string());
    }
    if let Some(tool) = &component.tool {
        text.push_str(&format!("\nAs an agent's tool: {}\n\n", tool.function));
        wrapped(&mut text, &tool.description, 2);
        let mut arguments = Table::default();
        for argument in &tool.arguments {
            let needed = if argument.required { ", required" } else { "" };
            arguments.row(
                &argument.name,
                &format!("{}{needed}", argument.kind),
                &argument.description,
            );
        }
        if !arguments.is_empty() {
            text.push('\n');
            text.push_str(&arguments.to_string());
        }
    }
    text
}

/// A parameter, then the members of the object that it is or holds.
fn rows(table: &mut Table, within: &str, param: &Param) {
    let name = format!("{within}{}", param.name);
    let (members, suffix) = members(&param.kind);
    let mut kind = match members.is_some() {
        true => match param.kind {
            Type::List { .. } => "a list of objects".to_owned(),
            Type::Map(_) => "an object of objects".to_owned(),
            _ => "an object".to_owned(),
        },
        false => param.kind.to_string().replace('`', ""),
    };
    if let Some(needed) = needed(param) {
        kind = format!("{kind}; {needed}");
    } else if !param.default.is_null() {
        kind = format!("{kind}; default {}", param.default.to_json_text());
    }
    let secrets = param.secrets && param.kind != Type::Credential;
    let doc = match secrets {
        true => format!("{} May hold ${{NAME}}.", param.doc),
        false => param.doc.clone(),
    };
    table.row(&name, &kind, &doc.replace('`', ""));
    for member in members.unwrap_or_default() {
        rows(table, &format!("{name}{suffix}."), member);
    }
}

/// Whether a parameter has to be set.
fn needed(param: &Param) -> Option<String> {
    let values = |when: &When| format!("{} is {}", when.param, when.is.join(" or "));
    match &param.required {
        _ if !param.default.is_null() => None,
        Required::Never => None,
        Required::Always => Some("required".to_owned()),
        Required::When(when) => Some(format!("required if {}", values(when))),
        Required::Unless(when) => Some(format!("required unless {}", values(when))),
    }
}

/// The members of the object inside a type, and how a path reaches them.
fn members(kind: &Type) -> (Option<&[Param]>, String) {
    match kind {
        Type::Object(shape) if !shape.fields.is_empty() => (Some(&shape.fields), String::new()),
        Type::List { of, .. } => {
            let (members, suffix) = members(of);
            (members, format!("[]{suffix}"))
        }
        Type::Map(of) => {
            let (members, suffix) = members(of);
            (members, format!(".*{suffix}"))
        }
        Type::Json(of) => members(of),
        _ => (None, String::new()),
    }
}
