//! `easel components`: the tables of components.

use std::process::ExitCode;

use easel_runtime::catalog::{Availability, Catalog, page, schema};

use crate::cli::ComponentsArguments;

/// Lists the components, or shows one.
pub fn show(arguments: &ComponentsArguments) -> ExitCode {
    let catalog = Catalog::builtin();
    let Some(name) = &arguments.name else {
        match (arguments.markdown, arguments.schema) {
            (true, _) => print!("{}", page::all(catalog)),
            (_, true) => println!("{:#}", schema::of_canvas(catalog)),
            _ => list(catalog),
        }
        return ExitCode::SUCCESS;
    };
    let Some(component) = catalog.get(name) else {
        eprintln!("There is no component {name}. `easel components` lists them.");
        return ExitCode::from(2);
    };
    match arguments.schema {
        true => println!("{:#}", schema::of_component(component)),
        false => print!("{}", page::one(component)),
    }
    ExitCode::SUCCESS
}

fn list(catalog: &Catalog) {
    let mut family = None;
    for component in catalog.iter() {
        if family != Some(component.family) {
            let gap = if family.is_some() { "\n" } else { "" };
            println!("{gap}{}", component.family.title());
            family = Some(component.family);
        }
        let later = match &component.availability {
            Availability::Available => "",
            Availability::Later { .. } => " (not yet)",
        };
        println!("  {:<20} {}{later}", component.name, component.summary);
    }
}
