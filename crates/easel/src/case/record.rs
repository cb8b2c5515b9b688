//! `easel test --record`: a case folder from a real run.
//!
//! The turns are made against real models and tools, whose answers become the rules of `llm.json`, each for one use and in the
//! order of the requests. Then the case is run as every case is, and what happens becomes `expected.json`.

mod model;
mod tools;

use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use easel_runtime::secrets::{Masker, names};
use easel_runtime::{Engine, RunEvent, Session};
use serde_json::{Map, Value as Json, json};

use super::canvas;
use super::files::{Case, Turns};
use crate::cli::TestArguments;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::read;
use crate::run::models_and_tools;

/// Makes a case.
pub fn record(arguments: &TestArguments) -> Result<Exit, Problem> {
    let [folder] = arguments.cases.as_slice() else {
        return Err(Problem::usage("--record makes one case at a time.").fix("Name one folder."));
    };
    refuse_graphs(folder, arguments)?;
    prepare(folder, arguments)?;
    let mut case = Case::read(folder)?;
    let tape = Arc::new(Tape::default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime
        .map_err(|error| Problem::usage("No runtime can be started.").because(error.to_string()))?;
    runtime.block_on(play(&case, arguments, &tape))?;
    let recorded = tape.script();
    let masker = masker(&case)?;
    let world = pretty(&recorded);
    write(&folder.join("llm.json"), &masker.mask(&world))?;
    // What was masked in the file is masked for the run as well, so that it sees what the file says.
    case.world = serde_json::from_str(&masker.mask(&world)).unwrap_or(recorded);
    let trace = canvas::run(&case);
    write(&folder.join("expected.json"), &masker.mask(&pretty(&trace)))?;
    let count = |name: &str| {
        case.world
            .get(name)
            .and_then(Json::as_array)
            .map_or(0, Vec::len)
    };
    let tools: usize = tools::SECTIONS.iter().map(|section| count(section)).sum();
    let turns = case.turns.turns.len();
    let models = count("rules");
    out::line(&format!(
        "Recorded {}: turns {turns}, answers of models {models}, answers of tools {tools}.",
        folder.display()
    ));
    out::line(&format!(
        "Read expected.json, then: easel test {}",
        folder.display()
    ));
    Ok(Exit::Done)
}

/// Cases of graphs are not recorded.
fn refuse_graphs(folder: &Path, arguments: &TestArguments) -> Result<(), Problem> {
    let own = ["graph.yaml", "workflow.yaml"];
    let is_graph = match &arguments.from {
        Some(from) => {
            let suffix = from.extension().and_then(|suffix| suffix.to_str());
            from.is_dir()
                || matches!(suffix, Some("yaml" | "yml" | "zip"))
                || std::fs::read(from).is_ok_and(|bytes| easel_runtime::is_graph(&bytes))
        }
        None => {
            !folder.join("canvas.json").exists()
                && own.iter().any(|name| folder.join(name).exists())
        }
    };
    match is_graph {
        false => Ok(()),
        true => Err(Problem::usage("--record makes cases of canvases, and this is a graph.").fix(format!(
            "Write inputs.json and llm.json beside the graph by hand; then `easel test {0} --trace {0}/expected.json` writes down what happens.",
            folder.display()
        ))),
    }
}

/// Puts the canvas and the turns that the command names into the folder. What is there is never overwritten.
fn prepare(folder: &Path, arguments: &TestArguments) -> Result<(), Problem> {
    let canvas = folder.join("canvas.json");
    let from = arguments.from.as_ref().unwrap_or(&canvas);
    // Read before anything is written: without a canvas there is no case.
    let content = read::bytes(from)?;
    std::fs::create_dir_all(folder).map_err(|error| Problem::file(folder, "made", &error))?;
    if arguments.from.is_some() {
        put(&canvas, &content)?;
    }
    if !arguments.query.is_empty() {
        let turns: Vec<Json> = arguments
            .query
            .iter()
            .map(|query| json!({"query": query}))
            .collect();
        put(
            &folder.join("turns.json"),
            (pretty(&json!({"turns": turns})) + "\n").as_bytes(),
        )?;
    }
    Ok(())
}

fn put(path: &Path, content: &[u8]) -> Result<(), Problem> {
    match std::fs::read(path) {
        Ok(there) if there == content => Ok(()),
        Ok(_) => Err(Problem::usage(format!(
            "{} is there already and says something else.",
            path.display()
        ))
        .fix("Record into another folder, or leave out the flag to record what the folder holds.")),
        Err(_) => {
            std::fs::write(path, content).map_err(|error| Problem::file(path, "written", &error))
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(path, format!("{text}\n"))
        .map_err(|error| Problem::file(path, "written", &error))
}

fn pretty(json: &Json) -> String {
    serde_json::to_string_pretty(json).unwrap_or_default()
}

/// Makes the turns for real. The answer is shown as it comes.
async fn play(case: &Case, arguments: &TestArguments, tape: &Arc<Tape>) -> Result<(), Problem> {
    let (models, world) = models_and_tools(&arguments.world)?;
    let engine = Engine::builder()
        .model(model::recorded(models, tape.clone()))
        .world(tools::recorded(world, tape))
        .secrets(keyring::resolver()?)
        .build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let workflow = engine
        .load(&case.canvas)
        .map_err(|error| Problem::new(Exit::Refused, sentence(&error.to_string())))?;
    let workflow = Arc::new(workflow);
    if let Some(refusal) = workflow.refusals().next() {
        return Err(Problem::new(Exit::Refused, &refusal.message).fix(&refusal.fix));
    }
    let Turns { turns, reset, .. } = &case.turns;
    let mut session = match reset {
        true => engine.session(&workflow),
        false => Session::resumed(engine.clone(), workflow),
    };
    let watched = std::io::stderr().is_terminal();
    for turn in turns {
        let mut show = |event: RunEvent| {
            if watched {
                out::show(event.text());
            }
        };
        let ended = session.turn(canvas::input(turn), &mut show).await;
        if watched {
            out::show("\n");
        }
        ended.map_err(|error| Problem::new(Exit::Failed, sentence(&error.to_string())))?;
    }
    Ok(())
}

/// Takes the values of the secrets that a canvas names out of what is written.
fn masker(case: &Case) -> Result<Masker, Problem> {
    let canvas = String::from_utf8_lossy(&case.canvas);
    let resolver = keyring::resolver()?;
    let mut secrets = Vec::new();
    for name in names(&canvas) {
        let found = resolver.find(name);
        let found = found.map_err(|error| keyring::problem(&error))?;
        secrets.extend(found.map(|found| found.secret));
    }
    Masker::new(&secrets).map_err(|error| Problem::usage(sentence(&error.to_string())))
}

/// What models and tools answered, section by section of `llm.json`.
#[derive(Default)]
struct Tape {
    sections: Mutex<Map<String, Json>>,
}

/// The place of an answer that is still to come.
#[derive(Clone, Copy)]
struct Place(usize);

impl Tape {
    /// Keeps a place for an answer, in the order of the requests.
    fn begin(&self, section: &str) -> Place {
        self.change(section, |rules| {
            rules.push(Json::Null);
            Place(rules.len() - 1)
        })
    }

    /// Puts the answer in its place.
    fn end(&self, section: &str, place: Place, rule: Json) {
        self.change(section, |rules| {
            if let Some(at) = rules.get_mut(place.0) {
                *at = rule;
            }
        });
    }

    fn change<T>(&self, section: &str, change: impl FnOnce(&mut Vec<Json>) -> T) -> T {
        let mut sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        let list = sections
            .entry(section)
            .or_insert_with(|| Json::Array(Vec::new()));
        match list {
            Json::Array(rules) => change(rules),
            other => {
                let mut rules = Vec::new();
                let changed = change(&mut rules);
                *other = Json::Array(rules);
                changed
            }
        }
    }

    /// Says what is known of a model.
    fn describe(&self, model: &str, about: Json) {
        self.name("models", model, about);
    }

    /// Keeps the text of a file.
    fn file(&self, id: &str, text: &str) {
        self.name("files", id, text.into());
    }

    /// Keeps an MCP server, with its tools once they were asked for.
    fn server(&self, name: &str, ids: &[Arc<str>], tools: Option<Json>) {
        let tools = tools.or_else(|| self.named("mcp_servers", name)?.get("tools").cloned());
        let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
        let tools = tools.unwrap_or_else(|| json!([]));
        self.name("mcp_servers", name, json!({"ids": ids, "tools": tools}));
    }

    fn named(&self, section: &str, name: &str) -> Option<Json> {
        let sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        sections.get(section)?.get(name).cloned()
    }

    fn name(&self, section: &str, name: &str, value: Json) {
        let mut sections = self.sections.lock().unwrap_or_else(PoisonError::into_inner);
        let named = sections.entry(section).or_insert_with(|| json!({}));
        if let Some(named) = named.as_object_mut() {
            named.insert(name.to_owned(), value);
        }
    }

    /// The whole as `llm.json`. Requests that nothing answered before the run was over are left out.
    fn script(&self) -> Json {
        let mut sections = self
            .sections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for rules in sections.values_mut().filter_map(Json::as_array_mut) {
            rules.retain(|rule| !rule.is_null());
        }
        Json::Object(sections)
    }
}
