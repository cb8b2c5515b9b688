//! `easel new`: workflows to begin with.

use std::io::Write;
use std::path::{Path, PathBuf};

use easel_runtime::catalog::nearest;
use easel_runtime::graphs::source::Format;
use easel_server::templates::{Template, template, templates};

use crate::cli::NewArguments;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::wrap::wrapped;

/// A canvas that runs as it is.
const CANVAS: &str = include_str!("new/starter.json");

/// A graph that runs as it is.
const GRAPH: &str = include_str!("new/starter.yaml");

/// Writes a workflow to begin with, or lists the templates. It never overwrites a file.
pub fn new(arguments: &NewArguments) -> Result<Exit, Problem> {
    if arguments.list {
        list();
        return Ok(Exit::Done);
    }
    match &arguments.template {
        Some(id) => from_template(found(id)?, arguments.file.as_deref()),
        None => starter(arguments.file.as_deref().unwrap_or(Path::new("hello.json"))),
    }
}

/// Lists the templates: the name, and below it what it does.
fn list() {
    let mut text = String::new();
    for template in templates() {
        let (title, types) = (template.english_title(), template.canvas_types.join(", "));
        text.push_str(&format!("{:<20} {title}  ({types})\n", template.id));
        wrapped(&mut text, template.english_description(), 6);
    }
    text.push_str("\nWrite one: easel new --template NAME\n");
    out::print(&text);
}

fn found(id: &str) -> Result<&'static Template, Problem> {
    template(id).ok_or_else(|| {
        let problem = Problem::usage(format!("There is no template `{id}`."));
        let ids = templates().iter().map(|template| &*template.id);
        match nearest(id, ids) {
            Some(like) => problem.fix(format!(
                "Did you mean `{like}`? `easel new --list` lists all."
            )),
            None => problem.fix("`easel new --list` lists all."),
        }
    })
}

fn from_template(template: &Template, file: Option<&Path>) -> Result<Exit, Problem> {
    let file = match file {
        Some(file) => file.to_owned(),
        None => PathBuf::from(format!("{}.json", template.id)),
    };
    if Format::of_path(&file) == Format::Yaml {
        return Err(Problem::usage("A template is a canvas.")
            .because(format!("{} is the name of a graph.", file.display()))
            .fix("Name the file .json; `easel convert` makes a graph of it."));
    }
    write(&file, &format!("{:#}\n", template.dsl))?;
    out::line(&format!(
        "Wrote {0}: {1}. What it needs: easel requirements {0}",
        file.display(),
        template.english_title()
    ));
    Ok(Exit::Done)
}

fn starter(file: &Path) -> Result<Exit, Problem> {
    let graph = Format::of_path(file) == Format::Yaml;
    write(file, if graph { GRAPH } else { CANVAS })?;
    out::line(&format!(
        "Wrote {0}. Try: easel run {0} \"Ada\"",
        file.display()
    ));
    Ok(Exit::Done)
}

fn write(file: &Path, text: &str) -> Result<(), Problem> {
    let written =
        std::fs::File::create_new(file).and_then(|mut out| out.write_all(text.as_bytes()));
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Problem::usage(format!(
                "{} is there already and is not overwritten.",
                file.display()
            ))
            .fix("Name another file: easel new NAME"))
        }
        Err(error) => Err(Problem::file(file, "written", &error)),
    }
}
