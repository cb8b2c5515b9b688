//! `easel export`, `easel new` and `easel schema`.

use std::convert::Infallible;
use std::io::Write;
use std::path::Path;

use easel_runtime::Engine;
use easel_runtime::graphs::source::Format;

use crate::exit::Exit;
use crate::lift::Lifted;
use crate::out;
use crate::problem::Problem;
use crate::source::Source;

/// A canvas that runs as it is.
const CANVAS: &str = include_str!("document/starter.json");

/// A graph that runs as it is.
const GRAPH: &str = include_str!("document/starter.yaml");

/// Prints a workflow in today's form. What was rewritten goes to standard error.
pub fn export(file: &Path) -> Result<Exit, Problem> {
    let engine = Engine::builder().build();
    let engine = engine.map_err(|error| Problem::usage(error.to_string()))?;
    let workflow = Source::read(file)?.load(&engine)?;
    for note in workflow.notes() {
        out::tell(&format!("rewritten: {}", note.what));
    }
    let text = match (workflow.canvas(), workflow.graph()) {
        (Some(canvas), _) => canvas.to_text(),
        (None, Some(graph)) => graph.document().to_yaml(),
        (None, None) => String::new(),
    };
    // An export carries names of secrets, never values.
    let lifted = Lifted::of(workflow.secrets(), |_, _| Ok::<_, Infallible>(false));
    let Ok(lifted) = lifted;
    let (text, lifted, _) = lifted.rewrite(&text);
    for (name, _) in lifted.secrets() {
        out::tell(&format!(
            "left out: a credential; ${{{name}}} stands for it"
        ));
    }
    // A file that nothing rewrote comes out as it is.
    match text.ends_with('\n') {
        true => out::print(&text),
        false => out::line(&text),
    }
    Ok(Exit::Done)
}

/// Writes a small workflow that runs as it is. It never overwrites a file.
pub fn new(file: &Path) -> Result<Exit, Problem> {
    let graph = Format::of_path(file) == Format::Yaml;
    let starter = if graph { GRAPH } else { CANVAS };
    let written =
        std::fs::File::create_new(file).and_then(|mut out| out.write_all(starter.as_bytes()));
    match written {
        Ok(()) => {
            out::line(&format!(
                "Wrote {0}. Try: easel run {0} \"Ada\"",
                file.display()
            ));
            Ok(Exit::Done)
        }
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

/// Prints the JSON Schema of graph files.
pub fn schema() -> Result<Exit, Problem> {
    out::line(&format!("{:#}", easel_runtime::graphs::schema::schema()));
    Ok(Exit::Done)
}
