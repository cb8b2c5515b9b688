//! `easel export` and `easel new`.

use std::path::Path;
use std::process::ExitCode;

use easel_runtime::Workflow;

/// A canvas that runs as it is.
const STARTER: &str = include_str!("document/starter.json");

/// Prints a workflow in today's form.
pub fn export(file: &Path) -> ExitCode {
    let workflow = match load(file) {
        Ok(workflow) => workflow,
        Err(code) => return code,
    };
    for note in workflow.notes() {
        eprintln!("rewritten: {}", note.what);
    }
    println!("{}", workflow.document().to_text());
    ExitCode::SUCCESS
}

/// Writes a small workflow that runs as it is. It never overwrites a file.
pub fn new(file: &Path) -> ExitCode {
    let written = std::fs::File::create_new(file)
        .and_then(|mut out| std::io::Write::write_all(&mut out, STARTER.as_bytes()));
    match written {
        Ok(()) => {
            println!("Wrote {0}. Try: easel run {0} \"Ada\"", file.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{} cannot be written: {error}", file.display());
            ExitCode::from(2)
        }
    }
}

/// Loads a workflow, or says why not.
pub fn load(file: &Path) -> Result<Workflow, ExitCode> {
    let bytes = std::fs::read(file).map_err(|error| {
        eprintln!("{} cannot be read: {error}", file.display());
        ExitCode::from(2)
    })?;
    Workflow::load(&bytes).map_err(|error| {
        eprintln!("{}: {error}", file.display());
        ExitCode::from(3)
    })
}
