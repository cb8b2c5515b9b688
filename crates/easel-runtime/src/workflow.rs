//! A workflow that is loaded: compiled, with a prepared behaviour for every node, and what was found on the way.

use std::sync::{Arc, OnceLock};

use easel_canvas::document::{Document, Part, Wanted};
use easel_canvas::lower::{self, Lowered};
use easel_canvas::normalise::{self, Note};
use easel_canvas::pointer::Pointer;
use easel_catalog::Catalog;
use easel_check::{Canvas, Diagnostic, Place, SecretUses, Surroundings};
use easel_components::{Behaviour, Prepared, Registry};
use easel_core::compile::{self, Finding};
use easel_core::event::Fault;
use easel_core::workflow as core;
use easel_core::workflow::NodeId;
use easel_core::{Object, Value};

/// A loaded workflow. Immutable; share it between runs.
pub struct Workflow {
    pub(crate) compiled: Arc<core::Workflow>,
    document: Document,
    /// The variables as a new session finds them.
    pub(crate) variables: Object,
    notes: Vec<Note>,
    parameters: Vec<lower::Finding>,
    structure: Vec<Finding>,
    behaviours: Vec<Result<Arc<dyn Behaviour>, Fault>>,
    /// The components that it was loaded with.
    catalog: Catalog,
    /// Why it must not run, once somebody has asked.
    refusals: OnceLock<Vec<Diagnostic>>,
    /// What it does with secrets, once somebody has asked.
    secrets: OnceLock<SecretUses>,
    /// How events name the nodes, once somebody has written one.
    labels: OnceLock<Vec<Vec<u8>>>,
}

/// Why a workflow cannot be loaded at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The text is no canvas.
    #[error(transparent)]
    Unreadable(#[from] easel_canvas::error::ReadError),
}

impl LoadError {
    /// The error as the check reports it.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            LoadError::Unreadable(error) => easel_check::unreadable(error),
        }
    }
}

impl Workflow {
    /// Loads a canvas with the components that come with Easel.
    ///
    /// A workflow with faults in it loads too, so that it can be shown and mended: [`Workflow::refusals`] says why it
    /// must not run.
    ///
    /// # Errors
    /// The bytes are no canvas.
    pub fn load(bytes: &[u8]) -> Result<Workflow, LoadError> {
        Workflow::load_with(bytes, &crate::builtin())
    }

    /// Loads a canvas with these components.
    ///
    /// # Errors
    /// The bytes are no canvas.
    pub fn load_with(bytes: &[u8], registry: &Registry) -> Result<Workflow, LoadError> {
        let read = Document::read(bytes)?;
        Ok(Workflow::from_document(read, registry))
    }

    /// Loads a document that was read before.
    pub fn from_document(document: Document, registry: &Registry) -> Workflow {
        let normalised = normalise::normalise(&document);
        let (document, notes) = (normalised.document, normalised.notes);
        let Lowered { draft, findings } = lower::lower(&document, registry.catalog());
        let compiled = compile::compile(draft);
        let workflow = compiled.workflow;
        let behaviours = workflow
            .nodes
            .iter()
            .map(|node| prepare(&workflow, node, registry))
            .collect();
        Workflow {
            compiled: Arc::new(workflow),
            variables: document.fresh_globals(),
            document,
            notes,
            parameters: findings,
            structure: compiled.findings,
            behaviours,
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

    /// The document, in today's form.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The inputs that it declares, by name, each with its declaration (`name`, `type`, `optional`, `options`).
    pub fn inputs(&self) -> Object {
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
        let wanted = Wanted {
            place: Pointer::component(node),
            part: Part::Name,
        };
        let places = self.document.locate_all(&[wanted]);
        places.into_iter().next().flatten().map(Place::from)
    }

    /// What was rewritten to bring the document into today's form.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What is wrong or doubtful about parameters.
    pub fn parameter_findings(&self) -> &[lower::Finding] {
        &self.parameters
    }

    /// What is wrong or doubtful about nodes, edges and references.
    pub fn structure_findings(&self) -> &[Finding] {
        &self.structure
    }

    /// Everything the check says about it, in the order of its file. [`Engine::check`](crate::Engine::check) knows the
    /// surroundings of a run.
    pub fn check(&self, surroundings: &Surroundings<'_>) -> Vec<Diagnostic> {
        easel_check::check(&self.as_checked(), surroundings)
    }

    /// Why the workflow must not run; nothing if it may.
    pub fn refusals(&self) -> impl Iterator<Item = &Diagnostic> {
        let refusals = self
            .refusals
            .get_or_init(|| easel_check::refusals(&self.as_checked()));
        refusals.iter()
    }

    /// The secrets that it names, and the credentials that are written out in it.
    pub fn secrets(&self) -> &SecretUses {
        self.secrets
            .get_or_init(|| easel_check::secret_uses(&self.as_checked()))
    }

    fn as_checked(&self) -> Canvas<'_> {
        Canvas {
            document: &self.document,
            notes: &self.notes,
            parameters: &self.parameters,
            structure: &self.structure,
            workflow: &self.compiled,
            catalog: &self.catalog,
        }
    }

    /// The members of an event's JSON that name a node, made by `write` for all nodes the first time.
    pub(crate) fn label(&self, node: NodeId, write: impl Fn(&core::Node) -> Vec<u8>) -> &[u8] {
        let labels = || self.compiled.nodes.iter().map(&write).collect();
        let labels = self.labels.get_or_init(labels);
        labels.get(node.0 as usize).map_or(&[], Vec::as_slice)
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
