//! `easel convert`: a canvas as a graph, or a graph as a canvas.

use std::io::{ErrorKind, Write};
use std::path::Path;

use easel_convert::{ConvertError, Loss, to_canvas, to_graph};
use easel_runtime::Engine;

use crate::cli::ConvertArguments;
use crate::exit::Exit;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::source::Source;

/// Converts a workflow into the other dialect.
pub fn convert(arguments: &ConvertArguments) -> Result<Exit, Problem> {
    let engine = Engine::builder().build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let source = Source::read(&arguments.file)?;
    let workflow = source.load(&engine)?;
    source.refuse_unreadable(&workflow, "converted")?;
    let catalog = engine.registry().catalog();
    let (text, losses) = match (workflow.graph(), workflow.canvas()) {
        (Some(graph), _) => {
            let converted = to_canvas(graph.document(), catalog).map_err(|error| beyond(&error))?;
            (converted.value.to_text() + "\n", converted.losses)
        }
        (None, Some(canvas)) => {
            let converted = to_graph(canvas, catalog).map_err(|error| beyond(&error))?;
            (converted.value.to_yaml(), converted.losses)
        }
        (None, None) => (String::new(), Vec::new()),
    };
    report(&losses, arguments.json);
    if arguments.strict && !losses.is_empty() {
        let problem = Problem::new(
            Exit::Failed,
            format!("{} cannot be converted whole.", source.name),
        );
        return Err(problem.fix("Change what is named above, or leave out --strict."));
    }
    match &arguments.output {
        None => out::print(&text),
        Some(path) => {
            write(path, &text)?;
            out::tell(&format!("Wrote {0}. Try: easel check {0}", path.display()));
        }
    }
    Ok(Exit::Done)
}

fn report(losses: &[Loss], json: bool) {
    if json {
        let losses = serde_json::to_value(losses).unwrap_or_default();
        return out::tell(&format!("{losses:#}"));
    }
    for loss in losses {
        out::tell(&loss.to_string());
    }
    match losses.len() {
        0 => {}
        1 => out::tell("One thing is not carried over as it was."),
        count => out::tell(&format!(
            "{count} things are not carried over as they were."
        )),
    }
}

fn beyond(error: &ConvertError) -> Problem {
    Problem::new(Exit::Refused, sentence(&error.to_string()))
}

/// Writes a file that is not there yet.
fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let written =
        std::fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Problem::usage(format!(
            "{} is there already and is not overwritten.",
            path.display()
        ))
        .fix("Name another file with -o."),
        _ => Problem::file(path, "written", &error),
    })
}
