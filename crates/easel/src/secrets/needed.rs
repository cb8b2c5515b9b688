//! The secrets that a workflow asks for, and how it is with each.

use std::path::Path;

use easel_runtime::{Engine, secrets_needed};

use super::table;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::source::Source;

/// Says of each secret that a workflow asks for whether it is set where a run would look for it.
pub fn check(file: &Path) -> Result<Exit, Problem> {
    let engine = Engine::builder().secrets(keyring::resolver()?).build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let source = Source::read(file)?;
    let workflow = source.load(&engine)?;
    let needed = secrets_needed(&workflow, engine.secrets());
    let rows: Vec<[String; 3]> = needed
        .iter()
        .map(|needed| {
            let places = format!("({})", needed.places.join(", "));
            [needed.name.clone(), needed.state.words(), places]
        })
        .collect();
    out::print(&table(&rows));
    for found in workflow.secrets().written_out() {
        out::tell(&format!(
            "{} is written out in the file. `easel import {}` moves it into the vault.",
            found.place(),
            source.name
        ));
    }
    if needed.is_empty() {
        out::tell(&format!("{} asks for no secret.", source.name));
    }
    Ok(match needed.iter().all(|needed| needed.state.is_usable()) {
        true => Exit::Done,
        false => Exit::Refused,
    })
}
