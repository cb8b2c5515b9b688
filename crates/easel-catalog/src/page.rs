//! The reference page of components, in Markdown.

use std::fmt::Write;

use easel_core::draft::EffectClass;

use crate::catalog::Catalog;
use crate::check::is_unset;
use crate::common;
use crate::component::{Availability, Component, Control, Family, PortsFrom, Primary, TimeLimit};
use crate::param::{Param, Required, Type, When};

/// The whole page: what every node has, then each component, by family.
pub fn all(catalog: &Catalog) -> String {
    let mut page = String::from(
        "# Components\n\n\
         What each kind of node takes and gives. Names are found in any case. A parameter that is `null` counts as not \
         set, numbers may be written as text, and names that nothing reads are kept and have no effect. \
         `${NAME}` stands for a secret in the parameters that say so, and in credentials.\n\n\
         ## What every node has\n\n",
    );
    params_table(&mut page, common::params().iter());
    page.push_str("\nPorts that belong to the engine: ");
    page.push_str(&listed(common::RESERVED_PORTS.iter().copied()));
    page.push_str(".\n");
    for family in Family::ALL {
        let mut members = catalog.iter().filter(|c| c.family == family).peekable();
        if members.peek().is_none() {
            continue;
        }
        let _ = write!(page, "\n## {}\n", family.title());
        for component in members {
            page.push('\n');
            page.push_str(&one(component));
        }
    }
    page
}

/// The section of one component, from its heading on.
pub fn one(component: &Component) -> String {
    let mut page = String::new();
    // Writing to a String cannot fail.
    let _ = write!(page, "### {}\n\n{}\n\n", component.name, component.summary);
    if let Availability::Later { why } = &component.availability {
        let _ = write!(page, "**Not run by this version.** {why}\n\n");
    }
    for fact in facts(component) {
        let _ = writeln!(page, "- {fact}");
    }
    if !component.params.is_empty() {
        page.push('\n');
        params_table(&mut page, component.params.iter());
    }
    ports_table(&mut page, component);
    if let Some(tool) = &component.tool {
        let _ = write!(
            page,
            "\nAs a tool: `{}`. {}\n",
            tool.function, tool.description
        );
        if !tool.arguments.is_empty() {
            page.push_str("\n| argument | type | | what it means |\n|---|---|---|---|\n");
            for argument in &tool.arguments {
                let _ = writeln!(
                    page,
                    "| `{}` | {} | {} | {} |",
                    argument.name,
                    cell(&argument.kind.to_string()),
                    if argument.required { "required" } else { "" },
                    cell(&argument.description),
                );
            }
        }
    }
    page
}

/// What is to be said of a component beside its tables, a sentence each.
pub fn facts(component: &Component) -> Vec<String> {
    let mut facts = Vec::new();
    if !component.aliases.is_empty() {
        let names = component.aliases.iter().map(|alias| &**alias);
        facts.push(format!("Also written {}.", listed(names)));
    }
    match component.control {
        Control::Task => {}
        Control::Branch => facts.push("Chooses among its edges.".to_owned()),
        Control::Form => facts.push("Waits for a person.".to_owned()),
        Control::Each => facts.push("Opens a body, run for each item of a list.".to_owned()),
        Control::While => facts.push("Opens a body, run until a condition holds.".to_owned()),
        Control::Item => facts.push("Starts the body of the container it stands in.".to_owned()),
        Control::Exit => facts.push("Ends the innermost loop around it.".to_owned()),
    }
    let effect = match (component.effect, &component.reads_when) {
        (EffectClass::Pure, _) => "Effect: pure; it touches nothing outside.".to_owned(),
        (EffectClass::Reads, _) => {
            "Effect: reads; it asks the outside and changes nothing there.".to_owned()
        }
        (EffectClass::Writes, None) => "Effect: writes; it may change the outside.".to_owned(),
        (EffectClass::Writes, Some(when)) => format!(
            "Effect: writes; it may change the outside. Reads only if `{}` is {}.",
            when.param,
            values(when),
        ),
    };
    facts.push(effect);
    facts.push(match &component.time_limit {
        TimeLimit::None => "Time limit: none.".to_owned(),
        TimeLimit::Seconds(seconds) => format!("Time limit: {seconds} s."),
        TimeLimit::Own { param, plus_s } if *plus_s == 0.0 => {
            format!("Time limit: its `{param}`, in seconds.")
        }
        TimeLimit::Own { param, plus_s } => {
            format!("Time limit: its `{param}`, in seconds, plus {plus_s} s.")
        }
    });
    if component.streams {
        facts.push("Its text may arrive as a stream.".to_owned());
    }
    if component.drains {
        facts.push("Shows the stream of another node while it arrives.".to_owned());
    }
    facts
}

fn ports_table(page: &mut String, component: &Component) {
    if component.ports.is_empty() && component.ports_from.is_none() {
        return;
    }
    page.push_str("\n| port | type | what comes out |\n|---|---|---|\n");
    for port in &component.ports {
        let primary = component.primary == Primary::Port(port.name.clone());
        let mark = if primary { " (primary)" } else { "" };
        let _ = writeln!(
            page,
            "| `{}`{mark} | `{}` | {} |",
            port.name,
            cell(&port.kind),
            cell(&port.doc)
        );
    }
    let mark = if component.primary == Primary::First {
        " (the first is primary)"
    } else {
        ""
    };
    match &component.ports_from {
        None => {}
        Some(PortsFrom::Keys { param }) => {
            let _ = writeln!(
                page,
                "| one for each name in `{param}`{mark} | `any` | Its value. |"
            );
        }
        Some(PortsFrom::Items { param, member }) => {
            let _ = writeln!(
                page,
                "| one for each `{member}` in `{param}`{mark} | `any` | Its value. |"
            );
        }
    }
}

fn params_table<'a>(page: &mut String, params: impl Iterator<Item = &'a Param>) {
    page.push_str("| parameter | type | default | what it does |\n|---|---|---|---|\n");
    for param in params {
        param_rows(page, "", param);
    }
}

fn param_rows(page: &mut String, within: &str, param: &Param) {
    let name = format!("{within}{}", param.name);
    let needed = match &param.required {
        _ if !is_unset(&param.default) => None,
        Required::Never => None,
        Required::Always => Some("required".to_owned()),
        Required::When(when) => Some(format!("required if `{}` is {}", when.param, values(when))),
        Required::Unless(when) => Some(format!(
            "required unless `{}` is {}",
            when.param,
            values(when)
        )),
    };
    let default = match needed {
        Some(needed) => needed,
        None if param.default.is_null() => String::new(),
        None => format!("`{}`", cell(&param.default.to_json_text())),
    };
    let mut doc = param.doc.clone();
    if !param.aliases.is_empty() {
        let names = param.aliases.iter().map(|alias| &**alias);
        let _ = write!(doc, " Formerly {}.", listed(names));
    }
    if param.secrets && param.kind != Type::Credential {
        doc.push_str(" May hold `${NAME}`.");
    }
    let (inner, suffix) = innermost(&param.kind);
    let kind = match inner {
        Some(_) => described(&param.kind),
        None => param.kind.to_string(),
    };
    let _ = writeln!(
        page,
        "| `{name}` | {} | {default} | {} |",
        cell(&kind),
        cell(&doc)
    );
    for field in inner.unwrap_or_default() {
        param_rows(page, &format!("{name}{suffix}."), field);
    }
}

/// The members of the object inside a type, which get rows of their own, and how a path reaches them.
fn innermost(kind: &Type) -> (Option<&[Param]>, String) {
    match kind {
        Type::Object(shape) if !shape.fields.is_empty() => (Some(&shape.fields), String::new()),
        Type::List { of, .. } => {
            let (fields, suffix) = innermost(of);
            (fields, format!("[]{suffix}"))
        }
        Type::Map(of) => {
            let (fields, suffix) = innermost(of);
            (fields, format!(".*{suffix}"))
        }
        Type::Json(of) => innermost(of),
        _ => (None, String::new()),
    }
}

/// The type without the members that have rows of their own.
fn described(kind: &Type) -> String {
    match kind {
        Type::Object(_) => "an object".to_owned(),
        Type::List { of, .. } if matches!(**of, Type::Object(_)) => "a list of objects".to_owned(),
        Type::Map(of) if matches!(**of, Type::Object(_)) => "an object of objects".to_owned(),
        Type::Json(of) => format!("{}, or JSON text of it", described(of)),
        other => other.to_string(),
    }
}

fn values(when: &When) -> String {
    listed(when.is.iter().map(|value| &**value))
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Text as it may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_component_parameter_and_port() {
        let catalog = Catalog::builtin();
        let page = all(catalog);
        for component in catalog.iter() {
            assert!(page.contains(&format!("\n### {}\n", component.name)));
            let section = one(component);
            for param in &component.params {
                assert!(section.contains(&format!("| `{}` | ", param.name)));
                assert!(section.contains(&cell(&param.doc)));
            }
            for port in &component.ports {
                assert!(section.contains(&format!("| `{}`", port.name)));
            }
        }
        assert_eq!(
            page,
            all(&catalog.clone()),
            "the same tables give the same page"
        );
    }

    #[test]
    fn rows_of_a_table_have_as_many_cells_as_its_head() {
        let page = all(Catalog::builtin());
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut head = None;
        for line in page.lines() {
            match (line.starts_with('|'), head) {
                (false, _) => head = None,
                (true, None) => head = Some(cells(line)),
                (true, Some(head)) => assert_eq!(cells(line), head, "{line}"),
            }
        }
    }

    #[test]
    fn members_of_objects_have_rows_under_their_path() {
        let switch = one(Catalog::builtin().get("Switch").unwrap());
        assert!(switch.contains("| `conditions` | a list of objects | required | "));
        assert!(switch.contains("| `conditions[].items[].operator` | one of `contains`, "));
    }
}
