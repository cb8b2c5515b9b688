//! Graphs as workflows: what a graph brings beside its nodes and edges.

use std::sync::Arc;

use easel_check::Place;
use easel_check::graph::Callable;
use easel_components::{Functions, NoFunctions, Registry};
use easel_core::Machine;
use easel_core::draft::{Draft, EffectClass};
use easel_core::event::Ports;
use easel_core::machine::NodeLife;
use easel_core::{Object, Value, workflow as core};
use easel_graph::document::Document;
use easel_graph::lower::{self, Finding, Lowered, Results, Surroundings};
use easel_graph::source::Format;

/// The Python of a graph's package. Loading a graph reads it and runs nothing of it.
pub trait Code: Send + Sync {
    /// The names that the sidecar defines, each with whether it can be called; `None`: there is no sidecar.
    fn sidecar(&self) -> Option<&[(Arc<str>, bool)]>;

    /// The JSON Schema of a class of the package, `module:Class`.
    ///
    /// # Errors
    /// Why there is none, to be read after a colon.
    fn schema(&self, class: &str) -> Result<Value, String>;

    /// What is known of a function: `module:name`, `module.name`, or a name of the sidecar.
    fn callable(&self, name: &str) -> Callable;

    /// Its functions, for one run.
    fn begin(&self) -> Arc<dyn Functions>;
}

/// A graph that is loaded.
pub struct GraphFile {
    pub(crate) document: Document,
    pub(crate) results: Results,
    pub(crate) findings: Vec<Finding>,
    pub(crate) code: Option<Arc<dyn Code>>,
    /// Ids in the workflow that are not those in the file.
    renamed: Vec<(Arc<str>, Arc<str>)>,
}

impl GraphFile {
    /// Lowers a graph.
    pub(crate) fn lower(
        document: Document,
        code: Option<Arc<dyn Code>>,
        registry: &Registry,
    ) -> (GraphFile, Draft) {
        let tool = |name: &str| -> Option<EffectClass> {
            registry
                .tool(name)
                .map(|component| component.table().effect)
        };
        let schema = |class: &str| match &code {
            Some(code) => code.schema(class),
            None => Err("there is no package to find it in".to_owned()),
        };
        let surroundings = Surroundings {
            tool: &tool,
            schema: &schema,
            sidecar: code.as_ref().and_then(|code| code.sidecar()),
        };
        let Lowered {
            draft,
            results,
            findings,
            renamed,
        } = lower::lower(&document, &surroundings);
        let file = GraphFile {
            document,
            results,
            findings,
            code,
            renamed,
        };
        (file, draft)
    }

    /// The graph as its file has it.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// What was found in its texts.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What a run gives out.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// The id that a node of the workflow has in the file.
    pub fn id_in_file<'a>(&'a self, id: &'a Arc<str>) -> &'a Arc<str> {
        let renamed = self.renamed.iter().find(|(theirs, _)| theirs == id);
        renamed.map_or(id, |(_, file)| file)
    }

    /// Where the id of a node of the workflow stands in the file.
    pub(crate) fn position_of(&self, id: &str) -> Option<Place> {
        let id: Arc<str> = id.into();
        let file = self.id_in_file(&id);
        let mut nodes = self.document.all_nodes();
        let at = nodes.find(|node| **node.id == **file)?.id.at;
        (at.line > 0).then_some(Place {
            line: at.line,
            column: at.column,
            offset: at.offset,
            len: at.len,
        })
    }

    /// The declared inputs by name, each with its declaration as canvases have them.
    pub(crate) fn declared(&self) -> Object {
        let inputs = self.document.inputs.iter().map(|input| {
            let mut declaration = Object::new();
            let mut set = |key: &str, value: Value| drop(declaration.insert(key.into(), value));
            set("name", Value::from((*input.name).clone()));
            set("type", Value::from(input.kind.name()));
            set("optional", Value::from(!*input.required));
            if let Some(text) = &input.description {
                set("description", Value::from((**text).clone()));
            }
            if let Some(allowed) = &input.allowed {
                set("options", Value::from((**allowed).clone()));
            }
            ((*input.name).clone(), Value::from(declaration))
        });
        inputs.collect()
    }

    /// What is known of a function that the graph names.
    pub(crate) fn callable(&self, name: &str) -> Callable {
        match &self.code {
            Some(code) => code.callable(name),
            None => Callable::Unread,
        }
    }

    /// The functions of its package, for one run.
    pub(crate) fn functions(&self) -> Arc<dyn Functions> {
        match &self.code {
            Some(code) => code.begin(),
            None => Arc::new(NoFunctions),
        }
    }

    /// What a run came to: the output nodes that ran, else what the graph lists, else its last node
    /// (spec/graph-engine §3.6).
    pub(crate) fn outcome(&self, workflow: &core::Workflow, machine: &Machine) -> Ports {
        let at = |id: &Arc<str>| workflow.find(id);
        let value = |id: &Arc<str>| {
            let ports = at(id).and_then(|node| machine.ports(node));
            ports
                .and_then(|ports| ports.get(lower::names::VALUE))
                .cloned()
                .unwrap_or_default()
        };
        let ran = |id: &&Arc<str>| {
            let life = at(id).and_then(|node| machine.life_of(node));
            matches!(
                life,
                Some(NodeLife::Done | NodeLife::Failed | NodeLife::Handled)
            )
        };
        let named = |ids: &mut dyn Iterator<Item = &Arc<str>>| -> Ports {
            ids.map(|id| (id.clone(), value(id))).collect()
        };
        let outputs: Vec<&Arc<str>> = self.results.outputs.iter().filter(ran).collect();
        match (outputs.is_empty(), self.results.listed.is_empty()) {
            (false, _) => named(&mut outputs.into_iter()),
            (true, false) => named(&mut self.results.listed.iter()),
            (true, true) => named(&mut self.results.last.iter()),
        }
    }
}

/// Whether bytes are a graph rather than a canvas: see [`Workflow::load`](crate::Workflow::load).
pub fn is_graph(bytes: &[u8]) -> bool {
    format_of(bytes).is_some()
}

/// Whether bytes are a canvas, whatever their file is called.
pub fn is_canvas(bytes: &[u8]) -> bool {
    // What is no object need not be read to its end.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let json = || serde_json::from_slice(bytes).ok();
    first == Some(&b'{') && json().is_some_and(|json| has_canvas(&json))
}

/// Whether the top level has what only canvases have.
fn has_canvas(json: &serde_json::Value) -> bool {
    let mut keys = ["components", "dsl", "graph"].into_iter();
    keys.any(|key| json.get(key).is_some())
}

/// The format of a graph; `None` for what is a canvas, or none of both.
///
/// JSON is a graph if its top level has `nodes` and nothing that only canvases have. What is no JSON is YAML.
pub(crate) fn format_of(bytes: &[u8]) -> Option<Format> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match first {
        Some(b'{' | b'[') => {
            let json: serde_json::Value = serde_json::from_slice(text).ok()?;
            let graph = json.get("nodes").is_some() && !has_canvas(&json);
            graph.then_some(Format::Json)
        }
        // An empty file is no canvas, and as a graph it gets an error that says what is missing.
        Some(byte) if *byte < b' ' || *byte == 0xff || *byte == 0xfe => None,
        Some(b'"' | b'0'..=b'9' | b'n' | b't' | b'f') => {
            serde_json::from_slice::<serde_json::Value>(text)
                .is_err()
                .then_some(Format::Yaml)
        }
        Some(_) => Some(Format::Yaml),
        None => None,
    }
}
