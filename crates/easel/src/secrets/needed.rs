//! `easel secrets check`: what a workflow asks for.

use std::path::Path;

use easel_runtime::Engine;
use easel_runtime::secrets::Resolver;
use indexmap::IndexMap;

use super::table;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::source::Source;

/// Says of each secret that a workflow asks for whether it is set where a run would look for it: the run and this ask the
/// same resolver.
pub fn check(file: &Path) -> Result<Exit, Problem> {
    let engine = Engine::builder().secrets(keyring::resolver()?).build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let source = Source::read(file)?;
    let workflow = source.load(&engine)?;
    let uses = workflow.secrets();
    let mut asked: IndexMap<&str, Vec<String>> = IndexMap::new();
    for used in uses.asked() {
        let places = asked.entry(&used.name).or_default();
        places.push(format!("{} {}", used.node, used.path));
    }
    asked.sort_keys();
    let mut rows = Vec::new();
    let mut fine = true;
    for (name, places) in &asked {
        let (state, usable) = state(engine.secrets(), name, places);
        fine &= usable;
        rows.push([
            (*name).to_owned(),
            state,
            format!("({})", places.join(", ")),
        ]);
    }
    out::print(&table(&rows));
    for found in uses.written_out() {
        out::tell(&format!(
            "{} is written out in the file. `easel import {}` moves it into the vault.",
            found.place(),
            source.name
        ));
    }
    if asked.is_empty() {
        out::tell(&format!("{} asks for no secret.", source.name));
    }
    Ok(match fine {
        true => Exit::Done,
        false => Exit::Refused,
    })
}

/// How it is with one secret, and whether it can be used.
fn state(resolver: &Resolver, name: &str, places: &[String]) -> (String, bool) {
    match resolver.find(name) {
        Ok(Some(found)) => {
            let header = places.iter().any(|place| place.contains(" headers"));
            if header && found.secret.breaks_headers() {
                let why =
                    "a control character, such as a line break, is in it, which no header may hold";
                return (format!("unusable: {why} (from {})", found.provider), false);
            }
            let short = match found.secret.is_masked() {
                true => "",
                false => ", too short to be masked",
            };
            (format!("set, from {}{short}", found.provider), true)
        }
        Ok(None) => ("missing".to_owned(), false),
        Err(error) => (format!("unusable: {error}"), false),
    }
}
