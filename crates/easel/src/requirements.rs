//! `easel requirements`: what a workflow asks for, and what of it is missing here.

use easel_runtime::{Engine, Requirements, Supply};
use serde::Serialize;

use crate::cli::RequirementsArguments;
use crate::config::Config;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::run::models_and_tools;
use crate::secrets::table;
use crate::source::Source;

/// What a file asks for.
#[derive(Debug, Serialize)]
struct OfFile {
    file: String,
    #[serde(flatten)]
    requirements: Requirements,
}

/// Says what a workflow asks for.
pub fn requirements(arguments: &RequirementsArguments) -> Result<Exit, Problem> {
    let (models, _) = models_and_tools(&arguments.world)?;
    let python = Config::read(arguments.world.config.as_deref())?.python;
    let engine = Engine::builder()
        .model(models)
        .secrets(keyring::resolver()?)
        .build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let source = Source::read(&arguments.file)?;
    let workflow = source.load(&engine)?;
    let allowed = python.allowed();
    let package = source.package().map(|package| (package, &allowed));
    let mut requirements = Requirements::of(&engine, &workflow, package);
    for model in &mut requirements.models {
        let detail = model.detail.take();
        model.detail = detail.map(|detail| sentence(&detail).into_owned());
    }
    let satisfied = requirements.satisfied;
    let found = OfFile {
        file: source.name.clone(),
        requirements,
    };
    match arguments.json {
        true => {
            let json = serde_json::to_value(&found).unwrap_or_default();
            out::line(&format!("{json:#}"));
        }
        false => show(&found),
    }
    Ok(match satisfied {
        true => Exit::Done,
        false => Exit::Refused,
    })
}

fn show(found: &OfFile) {
    let mut rows: Vec<[String; 4]> = Vec::new();
    let mut missing = 0;
    for (what, one) in found.requirements.all() {
        let standing = match one.state {
            Supply::Satisfied => "",
            Supply::Missing => "missing",
            Supply::Unusable => "unusable",
        };
        missing += usize::from(!one.is_met());
        let detail = one.detail.as_deref().unwrap_or_default();
        let words = match (standing, detail) {
            ("", "") => "there".to_owned(),
            ("", detail) => detail.to_owned(),
            (standing, "") => standing.to_owned(),
            (standing, detail) => format!("{standing}: {detail}"),
        };
        let nodes = format!("({})", one.nodes.join(", "));
        rows.push([what.to_owned(), one.name.clone(), nodes, words]);
    }
    out::print(&table(&rows));
    match (rows.len(), missing) {
        (0, _) => out::tell(&format!("{} asks for nothing.", found.file)),
        (_, 0) => {}
        (_, 1) => out::tell("One of these has to be supplied before a run."),
        (_, missing) => out::tell(&format!(
            "{missing} of these have to be supplied before a run."
        )),
    }
}
