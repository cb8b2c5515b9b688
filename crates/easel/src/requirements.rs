//! `easel requirements`: what a workflow asks for, and what of it is missing here.

use easel_runtime::catalog::Family;
use easel_runtime::graphs::document::{Document, Node, Routing, Text};
use easel_runtime::graphs::kind::Kind;
use easel_runtime::models::ChatModel;
use easel_runtime::{Engine, Value, Workflow, modules_of};
use easel_sandbox::{Allowed, Entry, Package as Modules};
use indexmap::IndexMap;
use serde::Serialize;

use crate::cli::RequirementsArguments;
use crate::config::Config;
use crate::exit::Exit;
use crate::keyring;
use crate::out;
use crate::problem::{Problem, sentence};
use crate::run::models_and_tools;
use crate::secrets::needed::{self, State};
use crate::secrets::table;
use crate::source::Source;

/// What a workflow asks for.
#[derive(Debug, Serialize)]
struct Requirements {
    file: String,
    /// Whether nothing is missing.
    satisfied: bool,
    secrets: Vec<Requirement>,
    models: Vec<Requirement>,
    tools: Vec<Requirement>,
    python: Vec<Requirement>,
}

/// One thing that a workflow asks for.
#[derive(Debug, Serialize)]
struct Requirement {
    name: String,
    state: Standing,
    /// Where it comes from if it is there, and why not otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The nodes that ask for it.
    nodes: Vec<String>,
}

/// How it is with something that a workflow asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Standing {
    /// It is there.
    Satisfied,
    /// It is not there.
    Missing,
    /// It is there and cannot be used.
    Unusable,
}

/// Says what a workflow asks for.
pub fn requirements(arguments: &RequirementsArguments) -> Result<Exit, Problem> {
    let (models, _) = models_and_tools(&arguments.world)?;
    let python = Config::read(arguments.world.config.as_deref())?.python;
    let engine = Engine::builder()
        .model(models.clone())
        .secrets(keyring::resolver()?)
        .build();
    let engine = engine.map_err(|error| Problem::usage(sentence(&error.to_string())))?;
    let source = Source::read(&arguments.file)?;
    let workflow = source.load(&engine)?;
    let graph = workflow.graph().map(|graph| graph.document());
    let mut requirements = Requirements {
        file: source.name.clone(),
        satisfied: true,
        secrets: secrets(&engine, &workflow),
        models: self::models(&engine, &workflow, &*models),
        tools: tools(&engine, &workflow),
        python: match (graph, source.package()) {
            (Some(graph), Some(package)) => code(graph, &modules_of(package), &python.allowed()),
            _ => Vec::new(),
        },
    };
    let fine = |all: &[Requirement]| all.iter().all(|one| one.state == Standing::Satisfied);
    requirements.satisfied = fine(&requirements.secrets)
        && fine(&requirements.models)
        && fine(&requirements.tools)
        && fine(&requirements.python);
    match arguments.json {
        true => {
            let json = serde_json::to_value(&requirements).unwrap_or_default();
            out::line(&format!("{json:#}"));
        }
        false => show(&requirements),
    }
    Ok(match requirements.satisfied {
        true => Exit::Done,
        false => Exit::Refused,
    })
}

fn show(requirements: &Requirements) {
    let all = [
        ("secret", &requirements.secrets),
        ("model", &requirements.models),
        ("tool", &requirements.tools),
        ("python", &requirements.python),
    ];
    let mut rows: Vec<[String; 4]> = Vec::new();
    let mut missing = 0;
    for (what, found) in all {
        for one in found {
            let standing = match one.state {
                Standing::Satisfied => "",
                Standing::Missing => "missing",
                Standing::Unusable => "unusable",
            };
            missing += usize::from(one.state != Standing::Satisfied);
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
    }
    out::print(&table(&rows));
    match (rows.len(), missing) {
        (0, _) => out::tell(&format!("{} asks for nothing.", requirements.file)),
        (_, 0) => {}
        (_, 1) => out::tell("One of these has to be supplied before a run."),
        (_, missing) => out::tell(&format!(
            "{missing} of these have to be supplied before a run."
        )),
    }
}

fn secrets(engine: &Engine, workflow: &Workflow) -> Vec<Requirement> {
    let needed = needed::of(workflow, engine.secrets()).into_iter();
    let one = |needed: needed::Needed| {
        let (state, detail) = match &needed.state {
            State::Set { .. } => (Standing::Satisfied, Some(needed.state.words())),
            State::Missing => (Standing::Missing, None),
            State::Unusable { why } => (Standing::Unusable, Some(why.clone())),
        };
        Requirement {
            name: needed.name,
            state,
            detail,
            nodes: needed.places,
        }
    };
    needed.map(one).collect()
}

/// The models that a workflow asks for by name, or the default where it names none.
fn models(engine: &Engine, workflow: &Workflow, models: &dyn ChatModel) -> Vec<Requirement> {
    let mut asked: IndexMap<String, Vec<String>> = IndexMap::new();
    let mut ask = |id: String, node: &str| {
        let nodes = asked.entry(id).or_default();
        if !nodes.iter().any(|known| known == node) {
            nodes.push(node.to_owned());
        }
    };
    match workflow.graph().map(|graph| graph.document()) {
        Some(graph) => {
            for node in graph.all_nodes().filter(|node| asks_a_model(graph, node)) {
                ask(model_id(node), &node.id);
            }
        }
        None => {
            for node in &workflow.compiled().nodes {
                let (id, component) = (&node.draft.id, &node.draft.component);
                let mut named = Vec::new();
                named_models(&node.draft.params, &mut named);
                let own = node.draft.params.get(MODEL).and_then(Value::as_str);
                let blank = own.unwrap_or_default().trim().is_empty();
                if blank && needs_a_model(engine, component) {
                    ask(String::new(), id);
                }
                for model in named {
                    ask(model, id);
                }
            }
        }
    }
    let one = |(id, nodes): (String, Vec<String>)| {
        let (state, detail) = match models.describe(&id) {
            Ok(_) => (Standing::Satisfied, None),
            Err(error) => {
                let why = sentence(&error.to_string()).into_owned();
                (Standing::Missing, Some(why))
            }
        };
        Requirement {
            name: match id.is_empty() {
                true => "(default)".to_owned(),
                false => id,
            },
            state,
            detail,
            nodes,
        }
    };
    asked.into_iter().map(one).collect()
}

/// The parameter of canvases that names a model.
const MODEL: &str = "llm_id";

/// Whether a component cannot do without a model.
fn needs_a_model(engine: &Engine, component: &str) -> bool {
    let table = engine.registry().catalog().get(component);
    table.is_some_and(|table| {
        matches!(table.family, Family::Model | Family::Control)
            && table.all_params().any(|param| *param.name == *MODEL)
    })
}

/// The models that are named in parameters, those of tools included.
fn named_models(params: &Value, named: &mut Vec<String>) {
    match params {
        Value::Object(members) => {
            for (key, value) in members.iter() {
                match value.as_str().map(str::trim) {
                    Some(model) if **key == *MODEL && !model.is_empty() => {
                        named.push(model.to_owned());
                    }
                    _ => named_models(value, named),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named_models(item, named)),
        _ => {}
    }
}

/// The model of a graph's node, as a run asks for it: a provider alone is its default model.
fn model_id(node: &Node) -> String {
    let text = |text: &Option<Text>| text.as_ref().map_or("", |text| text.trim()).to_owned();
    match text(&node.provider) {
        provider if provider.is_empty() => text(&node.model),
        provider => format!("{}@{provider}", text(&node.model)),
    }
}

fn asks_a_model(graph: &Document, node: &Node) -> bool {
    !*node.disabled
        && match *node.kind {
            Kind::Base | Kind::React => true,
            Kind::Router => node.routing() != Some(Routing::Cases),
            // A sentence is judged by a model; with a sidecar it may be a function's name.
            Kind::Loop => node.until.is_some() && (graph.functions.is_none() || !is_name(node)),
            _ => false,
        }
}

/// Whether the end of a loop is a bare name.
fn is_name(node: &Node) -> bool {
    let until = node.until.as_ref().map_or("", |until| until.trim());
    Entry::in_sidecar(until).is_ok()
}

/// The tools that a graph names, or the components of a canvas that there are none of.
fn tools(engine: &Engine, workflow: &Workflow) -> Vec<Requirement> {
    let mut named: IndexMap<String, Vec<String>> = IndexMap::new();
    match workflow.graph() {
        Some(graph) => {
            for node in graph.document().all_nodes().filter(|n| !*n.disabled) {
                for tool in &node.tools {
                    let nodes = named.entry(tool.to_string()).or_default();
                    nodes.push(node.id.to_string());
                }
            }
        }
        None => {
            for node in &workflow.compiled().nodes {
                let component = &node.draft.component;
                if engine.registry().get(component).is_none() {
                    let nodes = named.entry(component.to_string()).or_default();
                    nodes.push(node.draft.id.to_string());
                }
            }
        }
    }
    let is_graph = workflow.graph().is_some();
    let one = |(name, nodes): (String, Vec<String>)| {
        let there = is_graph && engine.registry().tool(&name).is_some();
        let state = match there {
            true => Standing::Satisfied,
            false => Standing::Missing,
        };
        Requirement {
            detail: (!there).then(|| "`easel components` lists what there is".to_owned()),
            name,
            state,
            nodes,
        }
    };
    named.into_iter().map(one).collect()
}

/// The Python functions that a graph calls, and what runs each.
fn code(graph: &Document, modules: &Modules, allowed: &Allowed) -> Vec<Requirement> {
    let mut called: IndexMap<String, Vec<String>> = IndexMap::new();
    for node in graph.all_nodes().filter(|node| !*node.disabled) {
        let callable = match *node.kind {
            Kind::Function | Kind::Python => node.callable.as_ref(),
            Kind::Loop if graph.functions.is_some() && is_name(node) => node.until.as_ref(),
            _ => None,
        };
        if let Some(callable) = callable {
            let nodes = called.entry(callable.trim().to_owned()).or_default();
            nodes.push(node.id.to_string());
        }
    }
    let one = |(name, nodes): (String, Vec<String>)| {
        let planned = match name.parse::<Entry>() {
            Ok(entry) => modules
                .plan(&entry, allowed)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let (state, detail) = match planned {
            Ok(plan) => (Standing::Satisfied, format!("runs in {}", plan.runtime)),
            Err(why) => (Standing::Unusable, why),
        };
        Requirement {
            name,
            state,
            detail: Some(detail),
            nodes,
        }
    };
    called.into_iter().map(one).collect()
}
