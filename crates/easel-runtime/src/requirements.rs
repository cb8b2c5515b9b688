//! What a workflow asks for beside its inputs: secrets, models, tools, Python; and what of it is missing where it would run.

use easel_catalog::Family;
use easel_core::Value;
use easel_graph::document::{Document, Node, Routing, Text};
use easel_graph::kind::Kind;
use easel_graph::package::Package;
use easel_models::ChatModel;
use easel_sandbox::{Allowed, Entry, Package as Modules};
use easel_secrets::Resolver;
use indexmap::IndexMap;
use serde::Serialize;

use crate::engine::Engine;
use crate::python::modules_of;
use crate::workflow::Workflow;

/// What a workflow asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirements {
    /// Whether nothing is missing.
    pub satisfied: bool,
    /// The secrets that it names.
    pub secrets: Vec<Requirement>,
    /// The models that it names, or the default where it names none.
    pub models: Vec<Requirement>,
    /// The tools that a graph names, or the components of a canvas that there are none of.
    pub tools: Vec<Requirement>,
    /// The Python functions that a graph calls.
    pub python: Vec<Requirement>,
}

/// One thing that a workflow asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// Its name.
    pub name: String,
    /// How it is with it.
    pub state: Supply,
    /// Where it comes from if it is there, and why not otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The nodes that ask for it.
    pub nodes: Vec<String>,
}

/// How it is with something that a workflow asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Supply {
    /// It is there.
    Satisfied,
    /// It is not there.
    Missing,
    /// It is there and cannot be used.
    Unusable,
}

impl Requirement {
    /// Whether a run would find it.
    pub fn is_met(&self) -> bool {
        self.state == Supply::Satisfied
    }
}

impl Requirements {
    /// What a workflow asks for where an engine would run it. Without its package, and what may run Python, nothing is said
    /// of Python.
    pub fn of(
        engine: &Engine,
        workflow: &Workflow,
        package: Option<(&Package, &Allowed)>,
    ) -> Requirements {
        let graph = workflow.graph().map(|graph| graph.document());
        let models = &*engine.services.models;
        let mut requirements = Requirements {
            satisfied: true,
            secrets: secrets(engine, workflow),
            models: self::models(engine, workflow, models),
            tools: tools(engine, workflow),
            python: match (graph, package) {
                (Some(graph), Some((package, allowed))) => {
                    code(graph, &modules_of(package), allowed)
                }
                _ => Vec::new(),
            },
        };
        let satisfied = requirements.all().all(|(_, one)| one.is_met());
        requirements.satisfied = satisfied;
        requirements
    }

    /// All of them, each with what it is: `secret`, `model`, `tool`, `python`.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Requirement)> {
        let kinds = [
            ("secret", &self.secrets),
            ("model", &self.models),
            ("tool", &self.tools),
            ("python", &self.python),
        ];
        kinds
            .into_iter()
            .flat_map(|(kind, all)| all.iter().map(move |one| (kind, one)))
    }
}

/// A secret that a workflow asks for.
#[derive(Clone, Debug)]
pub struct NeededSecret {
    /// Its name.
    pub name: String,
    /// Where it is asked for: nodes, and the place in their parameters.
    pub places: Vec<String>,
    /// How it is with it.
    pub state: SecretState,
}

/// How it is with a secret.
#[derive(Clone, Debug)]
pub enum SecretState {
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

impl SecretState {
    /// Whether a run can use it.
    pub fn is_usable(&self) -> bool {
        matches!(self, SecretState::Set { .. })
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            SecretState::Set {
                provider,
                masked: true,
            } => format!("set, from {provider}"),
            SecretState::Set {
                provider,
                masked: false,
            } => format!("set, from {provider}, too short to be masked"),
            SecretState::Missing => "missing".to_owned(),
            SecretState::Unusable { why } => format!("unusable: {why}"),
        }
    }
}

/// The secrets that a workflow asks for, by name. A run asks the same resolver.
pub fn secrets_needed(workflow: &Workflow, resolver: &Resolver) -> Vec<NeededSecret> {
    let mut asked: IndexMap<&str, Vec<String>> = IndexMap::new();
    for used in workflow.secrets().asked() {
        let places = asked.entry(&used.name).or_default();
        places.push(format!("{} {}", used.node, used.path));
    }
    asked.sort_keys();
    let needed = asked.into_iter().map(|(name, places)| NeededSecret {
        name: name.to_owned(),
        state: state(resolver, name, &places),
        places,
    });
    needed.collect()
}

fn state(resolver: &Resolver, name: &str, places: &[String]) -> SecretState {
    match resolver.find(name) {
        Ok(Some(found)) => {
            let header = places.iter().any(|place| place.contains(" headers"));
            if header && found.secret.breaks_headers() {
                let why = format!(
                    "a control character, such as a line break, is in it, which no header may hold (from {})",
                    found.provider
                );
                return SecretState::Unusable { why };
            }
            SecretState::Set {
                provider: found.provider.to_string(),
                masked: found.secret.is_masked(),
            }
        }
        Ok(None) => SecretState::Missing,
        Err(error) => SecretState::Unusable {
            why: error.to_string(),
        },
    }
}

fn secrets(engine: &Engine, workflow: &Workflow) -> Vec<Requirement> {
    let needed = secrets_needed(workflow, engine.secrets()).into_iter();
    let one = |needed: NeededSecret| {
        let (state, detail) = match &needed.state {
            SecretState::Set { .. } => (Supply::Satisfied, Some(needed.state.words())),
            SecretState::Missing => (Supply::Missing, None),
            SecretState::Unusable { why } => (Supply::Unusable, Some(why.clone())),
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
            Ok(_) => (Supply::Satisfied, None),
            Err(error) => (Supply::Missing, Some(error.to_string())),
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
            true => Supply::Satisfied,
            false => Supply::Missing,
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
            Ok(plan) => (Supply::Satisfied, format!("runs in {}", plan.runtime)),
            Err(why) => (Supply::Unusable, why),
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
