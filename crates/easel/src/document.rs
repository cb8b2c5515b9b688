//! `easel export` and `easel schema`.

use std::convert::Infallible;
use std::path::Path;

use easel_runtime::Engine;

use crate::exit::Exit;
use crate::lift::Lifted;
use crate::out;
use crate::problem::Problem;
use crate::source::Source;

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

/// Prints the JSON Schema of graph files.
pub fn schema() -> Result<Exit, Problem> {
    out::line(&format!("{:#}", easel_runtime::graphs::schema::schema()));
    Ok(Exit::Done)
}
