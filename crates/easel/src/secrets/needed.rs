//! The secrets that a workflow asks for, and how it is with each.

use std::path::Path;

use easel_runtime::secrets::Resolver;
use easel_runtime::{Engine, Workflow};
use indexmap::IndexMap;

use super::table;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::source::Source;

/// A secret that a workflow asks for.
#[derive(Clone, Debug)]
pub struct Needed {
    /// Its name.
    pub name: String,
    /// Where it is asked for: nodes, and the place in their parameters.
    pub places: Vec<String>,
    /// How it is with it.
    pub state: State,
}

/// How it is with a secret.
#[derive(Clone, Debug)]
pub enum State {
    /// A run would find it.
    Set {
        /// The provider that has it.
        provider: String,
        /// Whether it is masked; a value that is too short is not.
        masked: bool,
    },
    /// No provider has it.
    Missing,
    /// There is one, and it can't be used.
    Unusable {
        /// Why.
        why: String,
    },
}

impl State {
    /// Whether a run can use it.
    pub fn is_usable(&self) -> bool {
        matches!(self, State::Set { .. })
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            State::Set {
                provider,
                masked: true,
            } => format!("set, from {provider}"),
            State::Set {
                provider,
                masked: false,
            } => format!("set, from {provider}, too short to be masked"),
            State::Missing => "missing".to_owned(),
            State::Unusable { why } => format!("unusable: {why}"),
        }
    }
}

/// Says of each secret that a workflow asks for whether it is set where a run would look for it.
pub fn check(file: &Path) -> Result<Exit, Problem> {
    let engine = Engine::builder().secrets(keyring::resolver()?).build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let source = Source::read(file)?;
    let workflow = source.load(&engine)?;
    let needed = of(&workflow, engine.secrets());
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

/// The secrets that a workflow asks for, by name. A run asks the same resolver.
pub fn of(workflow: &Workflow, resolver: &Resolver) -> Vec<Needed> {
    let mut asked: IndexMap<&str, Vec<String>> = IndexMap::new();
    for used in workflow.secrets().asked() {
        let places = asked.entry(&used.name).or_default();
        places.push(format!("{} {}", used.node, used.path));
    }
    asked.sort_keys();
    let needed = asked.into_iter().map(|(name, places)| Needed {
        name: name.to_owned(),
        state: state(resolver, name, &places),
        places,
    });
    needed.collect()
}

fn state(resolver: &Resolver, name: &str, places: &[String]) -> State {
    match resolver.find(name) {
        Ok(Some(found)) => {
            let header = places.iter().any(|place| place.contains(" headers"));
            if header && found.secret.breaks_headers() {
                let why = format!(
                    "a control character, such as a line break, is in it, which no header may hold (from {})",
                    found.provider
                );
                return State::Unusable { why };
            }
            State::Set {
                provider: found.provider.to_string(),
                masked: found.secret.is_masked(),
            }
        }
        Ok(None) => State::Missing,
        Err(error) => State::Unusable {
            why: error.to_string(),
        },
    }
}
