//! A workflow that is loaded: compiled, with a prepared behaviour for every node, and what was found on the way.

use std::sync::{Arc, OnceLock};

use easel_canvas::document::{Document, Part, Wanted};
use easel_canvas::lower::{self, Lowered};
use easel_canvas::normalise::{self, Note};
use easel_canvas::pointer::Pointer;
use easel_catalog::{Catalog, Family};
use easel_check::{Canvas, Diagnostic, Place, SecretUses, Surroundings};
use easel_components::{Behaviour, Functions, NoFunctions, Prepared, Registry};
use easel_core::Machine;
use easel_core::compile::{self, Finding};
use easel_core::draft::Draft;
use easel_core::event::{Fault, Ports};
use easel_core::workflow as core;
use easel_core::workflow::NodeId;
use easel_core::{Object, Value};

use crate::bounds::Work;
use crate::graph::{self, Code, GraphFile};

/// A loaded workflow. Immutable; share it between runs.
pub struct Workflow {
    pub(crate) compiled: Arc<core::Workflow>,
    dialect: Dialect,
    /// The variables as a new session finds them.
    pub(crate) variables: Object,
    structure: Vec<Finding>,
    behaviours: Vec<Result<Arc<dyn Behaviour>, Fault>>,
    /// What kind of work each node is.
    work: Vec<Option<Work>>,
    /// The components that it was loaded with.
    catalog: Catalog,
    /// Why it must not run, once somebody has asked.
    refusals: OnceLock<Vec<Diagnostic>>,
    /// What it does with secrets, once somebody has asked.
    secrets: OnceLock<SecretUses>,
    /// How events name the nodes, once somebody has written one.
    labels: OnceLock<Vec<Vec<u8>>>,
}

/// What a workflow was made from.
enum Dialect {
    Canvas(Box<CanvasFile>),
    Graph(Box<GraphFile>),
}

/// A canvas, and what was found in it.
struct CanvasFile {
    document: Document,
    notes: Vec<Note>,
    parameters: Vec<lower::Finding>,
}

/// Why a workflow cannot be loaded at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The text is no canvas.
    #[error(transparent)]
    Unreadable(#[from] easel_canvas::error::ReadError),
    /// The text is no graph.
    #[error(transparent)]
    UnreadableGraph(#[from] easel_graph::error::ReadError),
    /// The folder or archive is no package.
    #[error(transparent)]
    Package(#[from] easel_graph::package::PackageError),
}

impl LoadError {
    /// The error as the check reports it.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            LoadError::Unreadable(error) => easel_check::unreadable(error),
            LoadError::UnreadableGraph(error) => easel_check::graph::unreadable(error),
            LoadError::Package(error) => easel_check::graph::no_package(error),
        }
    }
}

impl Workflow {
    /// Loads a workflow with the components that come with Easel: a canvas, or a graph by itself.
    ///
    /// JSON whose top level has `nodes` and no `components`, and all that is no JSON, is a graph.
    ///
    /// A workflow with faults in it loads too, so that it can be shown and mended: [`Workflow::refusals`] says why it
    /// must not run.
    ///
    /// # Errors
    /// The bytes are neither.
    pub fn load(bytes: &[u8]) -> Result<Workflow, LoadError> {
        Workflow::load_with(bytes, &crate::builtin())
    }

    /// Loads a workflow with these components.
    ///
    /// # Errors
    /// As [`Workflow::load`].
    pub fn load_with(bytes: &[u8], registry: &Registry) -> Result<Workflow, LoadError> {
        if let Some(format) = graph::format_of(bytes) {
            let document = easel_graph::document::Document::read(bytes, format)?;
            return Ok(Workflow::from_graph(document, None, registry));
        }
        let read = Document::read(bytes)?;
        Ok(Workflow::from_document(read, registry))
    }

    /// Loads a canvas that was read before.
    pub fn from_document(document: Document, registry: &Registry) -> Workflow {
        let normalised = normalise::normalise(&document);
        let (document, notes) = (normalised.document, normalised.notes);
        let Lowered { draft, findings } = lower::lower(&document, registry.catalog());
        let variables = document.fresh_globals();
        let dialect = Dialect::Canvas(Box::new(CanvasFile {
            document,
            notes,
            parameters: findings,
        }));
        Workflow::compiled_from(draft, dialect, variables, registry)
    }

    /// Loads a graph that was read before, with the code of its package.
    pub fn from_graph(
        document: easel_graph::document::Document,
        code: Option<Arc<dyn Code>>,
        registry: &Registry,
    ) -> Workflow {
        let (file, draft) = GraphFile::lower(document, code, registry);
        let dialect = Dialect::Graph(Box::new(file));
        Workflow::compiled_from(draft, dialect, Object::new(), registry)
    }

    fn compiled_from(
        draft: Draft,
        dialect: Dialect,
        variables: Object,
        registry: &Registry,
    ) -> Workflow {
        let compiled = compile::compile(draft);
        let workflow = compiled.workflow;
        let behaviour = |node| match &dialect {
            Dialect::Canvas(_) => prepare(&workflow, node, registry),
            Dialect::Graph(_) => easel_components::graph::prepare(Prepared {
                workflow: &workflow,
                node,
                registry,
            }),
        };
        let around = |prepared: Result<_, _>| prepared.map(|inner| registry.wrapped(inner));
        let catalog = registry.catalog();
        let work = workflow.nodes.iter();
        let work = work.map(|node| Work::of(&node.draft, catalog)).collect();
        Workflow {
            work,
            behaviours: workflow.nodes.iter().map(behaviour).map(around).collect(),
            compiled: Arc::new(workflow),
            dialect,
            variables,
            structure: compiled.findings,
            catalog: registry.catalog().clone(),
            refusals: OnceLock::new(),
            secrets: OnceLock::new(),
            labels: OnceLock::new(),
        }
    }

    /// The compiled workflow that the machine runs.
    pub fn compiled(&self) -> &Arc<core::Workflow> {
        &self.compiled
    }

    /// The canvas it was made from, in today's form; `None` if it was a graph.
    pub fn canvas(&self) -> Option<&Document> {
        match &self.dialect {
            Dialect::Canvas(file) => Some(&file.document),
            Dialect::Graph(_) => None,
        }
    }

    /// The graph it was made from; `None` if it was a canvas.
    pub fn graph(&self) -> Option<&GraphFile> {
        match &self.dialect {
            Dialect::Canvas(_) => None,
            Dialect::Graph(file) => Some(file),
        }
    }

    /// The inputs that it declares, by name, each with its declaration (`name`, `type`, `optional`, `options`).
    pub fn inputs(&self) -> Object {
        if let Dialect::Graph(file) = &self.dialect {
            return file.declared();
        }
        let inputs = self.begin().and_then(|begin| begin.get("inputs"));
        inputs
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    }

    /// What it says before anybody has said anything.
    pub fn prologue(&self) -> Option<&str> {
        let begin = self.begin()?;
        let switched_off = begin
            .get("enablePrologue")
            .is_some_and(|on| !on.is_truthy());
        let prologue = begin.get("prologue").and_then(Value::as_str)?;
        (!switched_off && !prologue.trim().is_empty()).then_some(prologue)
    }

    /// The parameters of its Begin.
    fn begin(&self) -> Option<&Value> {
        let begin = |node: &&core::Node| *node.draft.component == *"Begin";
        self.compiled
            .nodes
            .iter()
            .find(begin)
            .map(|node| &node.draft.params)
    }

    /// Where the id of a node stands in the file.
    pub fn place_of(&self, node: &str) -> Option<Place> {
        let document = match &self.dialect {
            Dialect::Canvas(file) => &file.document,
            Dialect::Graph(file) => return file.position_of(node),
        };
        let wanted = Wanted {
            place: Pointer::component(node),
            part: Part::Name,
        };
        let places = document.locate_all(&[wanted]);
        places.into_iter().next().flatten().map(Place::from)
    }

    /// What was rewritten to bring the document into today's form.
    pub fn notes(&self) -> &[Note] {
        match &self.dialect {
            Dialect::Canvas(file) => &file.notes,
            Dialect::Graph(_) => &[],
        }
    }

    /// What is wrong or doubtful about the parameters of a canvas.
    pub fn parameter_findings(&self) -> &[lower::Finding] {
        match &self.dialect {
            Dialect::Canvas(file) => &file.parameters,
            Dialect::Graph(_) => &[],
        }
    }

    /// What is wrong or doubtful about nodes, edges and references.
    pub fn structure_findings(&self) -> &[Finding] {
        &self.structure
    }

    /// Everything the check says about it, in the order of its file. [`Engine::check`](crate::Engine::check) knows the
    /// surroundings of a run.
    pub fn check(&self, surroundings: &Surroundings<'_>) -> Vec<Diagnostic> {
        match &self.dialect {
            Dialect::Canvas(file) => easel_check::check(&self.as_canvas(file), surroundings),
            Dialect::Graph(file) => {
                self.as_graph(file, |graph| easel_check::graph::check(graph, surroundings))
            }
        }
    }

    /// Why the workflow must not run; nothing if it may.
    pub fn refusals(&self) -> impl Iterator<Item = &Diagnostic> {
        let refusals = self.refusals.get_or_init(|| match &self.dialect {
            Dialect::Canvas(file) => easel_check::refusals(&self.as_canvas(file)),
            Dialect::Graph(file) => self.as_graph(file, easel_check::graph::refusals),
        });
        refusals.iter()
    }

    /// The secrets that it names, and the credentials that are written out in it.
    pub fn secrets(&self) -> &SecretUses {
        self.secrets.get_or_init(|| match &self.dialect {
            Dialect::Canvas(file) => easel_check::secret_uses(&self.as_canvas(file)),
            Dialect::Graph(file) => self.as_graph(file, easel_check::graph::secret_uses),
        })
    }

    fn as_graph<R>(
        &self,
        file: &GraphFile,
        ask: impl FnOnce(&easel_check::graph::Graph<'_>) -> R,
    ) -> R {
        ask(&easel_check::graph::Graph {
            document: &file.document,
            texts: &file.findings,
            structure: &self.structure,
            workflow: &self.compiled,
            catalog: &self.catalog,
            functions: &|name| file.callable(name),
        })
    }

    fn as_canvas<'a>(&'a self, file: &'a CanvasFile) -> Canvas<'a> {
        Canvas {
            document: &file.document,
            notes: &file.notes,
            parameters: &file.parameters,
            structure: &self.structure,
            workflow: &self.compiled,
            catalog: &self.catalog,
        }
    }

    /// The Python of its package, for one run.
    pub(crate) fn functions(&self) -> Arc<dyn Functions> {
        match &self.dialect {
            Dialect::Canvas(_) => Arc::new(NoFunctions),
            Dialect::Graph(file) => file.functions(),
        }
    }

    /// What a run of a graph came to so far; `None` for a canvas.
    pub(crate) fn outcome(&self, machine: &Machine) -> Option<Ports> {
        let file = self.graph()?;
        Some(file.outcome(&self.compiled, machine))
    }

    /// The members of an event's JSON that name a node, made by `write` for all nodes the first time.
    pub(crate) fn label(&self, node: NodeId, write: impl Fn(&core::Node) -> Vec<u8>) -> &[u8] {
        let labels = || self.compiled.nodes.iter().map(&write).collect();
        let labels = self.labels.get_or_init(labels);
        labels.get(node.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// True for an ingestion pipeline: a run of it goes over a document, and nobody speaks in it.
    pub fn is_pipeline(&self) -> bool {
        let root = self.compiled.scopes.first();
        let starts = root.into_iter().flat_map(|root| {
            let start = |at: &u32| root.members.get(*at as usize);
            root.starts.iter().filter_map(start)
        });
        let mut kinds = starts.map(|node| &self.compiled.node(*node).draft.component);
        kinds.any(|kind| {
            let table = self.catalog.get(kind);
            table.is_some_and(|table| table.family == Family::Ingestion)
        })
    }

    /// What kind of work a node is; `None` if it asks nothing of the outside.
    pub(crate) fn work(&self, node: NodeId) -> Option<Work> {
        self.work.get(node.0 as usize).copied().flatten()
    }

    /// What a node does, or why it cannot do it.
    pub(crate) fn behaviour(&self, node: NodeId) -> Result<&Arc<dyn Behaviour>, &Fault> {
        match self.behaviours.get(node.0 as usize) {
            Some(behaviour) => behaviour.as_ref(),
            None => Err(&NO_NODE),
        }
    }
}

/// For a node number that is of another workflow.
static NO_NODE: std::sync::LazyLock<Fault> =
    std::sync::LazyLock::new(|| Fault::new("no_node", "There is no such node."));

fn prepare(
    workflow: &core::Workflow,
    node: &core::Node,
    registry: &Registry,
) -> Result<Arc<dyn Behaviour>, Fault> {
    let name = &node.draft.name;
    let component = &node.draft.component;
    match registry.get(component) {
        Some(found) => found.prepare(Prepared {
            workflow,
            node,
            registry,
        }),
        None => {
            let message = format!(
                "\"{name}\" is a {component}, which is no component that Easel has. `easel components` lists them."
            );
            Err(Fault::new("unknown_component", message))
        }
    }
}
