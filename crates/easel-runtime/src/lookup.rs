//! What a reference stood for in a run: for people who want to know why it went as it did.

use std::fmt::Write;
use std::sync::Arc;

use easel_core::draft::Kind;
use easel_core::reference::graph::Chain;
use easel_core::reference::{Path, Root, canvas};
use easel_core::workflow::{Node, NodeId};
use easel_core::{Machine, Object, Value, expression, format};
use easel_graph::lower::names::{self, ERROR, INPUTS, VALUE};

use crate::graph::GraphFile;
use crate::workflow::Workflow;

/// What a reference stood for.
#[derive(Clone, Debug, PartialEq)]
pub enum Looked {
    /// This value; `null` is one.
    Value(Value),
    /// Nothing: what it names exists and had no value by then. The text says why.
    Missing(String),
}

/// A reference names nothing that the workflow has. The text says what there is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoSuchReference(String);

/// How many names an error lists.
const LISTED: usize = 20;

/// Looks up a reference of the workflow's own dialect in a run as it was then (see [`state_at`](crate::state_at)).
///
/// In a canvas: `Node@port.path`, `sys.name`, `env.name`, and `item`, `index` or `result` of the last pass. In a graph:
/// `nodes.x.path`, `inputs.x`, `vars.x`, a bare name as templates have it, and what a body calls its pass (`item`, `index`).
/// Braces around it do no harm. Of a node in a body it is the last pass that counts. `within` is the container that is meant
/// where several have a pass value of that name.
///
/// # Errors
/// [`NoSuchReference`].
pub fn look_up(
    workflow: &Workflow,
    machine: &Machine,
    reference: &str,
    within: Option<&str>,
) -> Result<Looked, NoSuchReference> {
    let view = View { workflow, machine };
    let text = reference.trim();
    match workflow.graph() {
        Some(graph) => view.in_graph(graph, text, within),
        None => view.in_canvas(text, within),
    }
}

/// A run at a moment.
struct View<'a> {
    workflow: &'a Workflow,
    machine: &'a Machine,
}

type Found = Result<Looked, NoSuchReference>;

impl View<'_> {
    fn in_canvas(&self, text: &str, within: Option<&str>) -> Found {
        let Some(reference) = canvas::bare(text) else {
            return Err(NoSuchReference(format!(
                "`{text}` is no reference of a canvas: write `Node@port`, `sys.name`, `env.name`, `item` or `index`"
            )));
        };
        match &reference.root {
            Root::Output { node, port } => {
                let id = self.node(node)?;
                self.port(id, port, &reference.path)
            }
            Root::Variable(key) => {
                let mut candidates = reference.variable_candidates();
                let known =
                    candidates.find(|(name, _)| self.workflow.compiled.variable(name).is_some());
                match known {
                    Some((name, path)) => Ok(self.variable(name, &path)),
                    None => Err(self.no_variable(key)),
                }
            }
            Root::Pass(name) => self.of_item_node(name, within),
            Root::PassOf { .. } => Err(NoSuchReference(format!("`{text}` names nothing here"))),
        }
    }

    /// `item`, `index` or `result` of a canvas, which its item nodes put out.
    fn of_item_node(&self, name: &Arc<str>, within: Option<&str>) -> Found {
        let items = self.nodes().filter(|(_, node)| {
            let parent = node.draft.parent.as_deref();
            let wanted = within.is_none_or(|w| parent == Some(w) || *node.draft.id == *w);
            matches!(node.draft.kind, Kind::Item) && wanted
        });
        let items: Vec<_> = items.collect();
        match items.as_slice() {
            [(id, _)] => self.port(*id, name, &Path::default()),
            [] => Err(match within {
                Some(within) => NoSuchReference(format!("`{within}` is no iteration")),
                None => NoSuchReference(format!(
                    "`{name}` has a meaning only in an iteration, and the workflow has none"
                )),
            }),
            several => {
                let ids = several.iter().map(|(_, node)| &*node.draft.id);
                Err(NoSuchReference(format!(
                    "several iterations have a `{name}`: write {}",
                    listed(ids.map(|id| format!("`{id}@{name}`")))
                )))
            }
        }
    }

    fn in_graph(&self, graph: &GraphFile, text: &str, within: Option<&str>) -> Found {
        let braced = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
        let text = braced.unwrap_or(text).trim();
        let Some(mut chain) = chain_of(text) else {
            return Err(NoSuchReference(format!(
                "`{text}` is no reference of a graph: write `nodes.x`, `inputs.x`, `vars.x` or a name"
            )));
        };
        if &*chain.root == "state" && !chain.steps.is_empty() {
            chain.root = chain.steps.remove(0).name;
        }
        let first = chain.steps.first().map(|step| step.name.clone());
        match (&*chain.root, first) {
            ("inputs", Some(name)) => self.input(graph, &name, &chain.path(1)),
            ("inputs", None) => Ok(self.variable(INPUTS, &Path::default())),
            ("nodes", Some(id)) => {
                let id = self.graph_node(graph, &id)?;
                self.port(id, VALUE, &chain.path(1))
            }
            ("nodes", None) => Ok(Looked::Value(self.all_nodes(graph))),
            ("vars", Some(name)) => match self.graph_variable(graph, &name, &chain.path(1)) {
                Some(found) => Ok(found),
                None => Err(self.no_variable(&format!("vars.{name}"))),
            },
            ("vars", None) => {
                let all = self.machine.variables().filter_map(|(name, value)| {
                    Some((name.strip_prefix("vars.")?.into(), value.clone()))
                });
                Ok(Looked::Value(Value::from(all.collect::<Object>())))
            }
            (name, _) => self.bare(graph, name, &chain.path(0), within),
        }
    }

    /// A name as templates have it: a value of a pass, a variable, a node, an input.
    fn bare(&self, graph: &GraphFile, name: &str, path: &Path, within: Option<&str>) -> Found {
        let containers = self.nodes().filter_map(|(id, node)| {
            let file = graph.id_in_file(&node.draft.id);
            let wanted = within.is_none_or(|w| *node.draft.id == *w || **file == *w);
            let mut drawn = graph.document().all_nodes();
            let drawn = drawn.find(|drawn| *drawn.id.value == **file && wanted)?;
            let mut names = names::pass_names(drawn).into_iter();
            let (_, value) = names.find(|(known, _)| *known == name)?;
            Some((id, &node.draft.id, value))
        });
        let containers: Vec<_> = containers.collect();
        match containers.as_slice() {
            [] => {}
            [(id, container, value)] => {
                return Ok(match self.machine.pass_value(*id, value) {
                    Some(found) => self.walked(found, path, name),
                    None => Looked::Missing(format!("no pass of `{container}` had begun")),
                });
            }
            several => {
                let ids = several.iter().map(|(_, id, _)| format!("`{id}`"));
                return Err(NoSuchReference(format!(
                    "several bodies have a `{name}`: say which with the container's id, one of {}",
                    listed(ids)
                )));
            }
        }
        if let Some(found) = self.graph_variable(graph, name, path) {
            return Ok(found);
        }
        if let Ok(id) = self.graph_node(graph, name) {
            return self.port(id, VALUE, path);
        }
        self.input(graph, name, path).map_err(|_| {
            let mut what = format!("there is no name `{name}`");
            let ids = self.nodes().map(|(_, node)| node.draft.id.to_string());
            let _ = write!(what, "; the nodes are {}", listed(ids));
            let inputs = graph.document().inputs.iter();
            let inputs = listed(inputs.map(|input| input.name.to_string()));
            if !inputs.is_empty() {
                let _ = write!(what, "; the inputs are {inputs}");
            }
            NoSuchReference(what)
        })
    }

    /// One input. A graph that declares none takes what it is given.
    fn input(&self, graph: &GraphFile, name: &str, path: &Path) -> Found {
        let given = self.value_of_variable(INPUTS);
        if let Some(value) = given.and_then(|inputs| inputs.get(name)) {
            return Ok(self.walked(value, path, name));
        }
        let mut declared = graph.document().inputs.iter();
        if declared.any(|input| **input.name == *name) {
            return Ok(Looked::Missing(format!("no input `{name}` was given")));
        }
        let names = graph.document().inputs.iter();
        let names = names.map(|input| input.name.to_string());
        let given = given.and_then(Value::as_object).into_iter().flatten();
        let given = given.map(|(name, _)| name.to_string());
        Err(NoSuchReference(match listed(names.chain(given)).as_str() {
            "" => format!("there is no input `{name}`; none was given"),
            known => format!("there is no input `{name}`; there are {known}"),
        }))
    }

    /// A variable, or the text of the error that a node handed to its handler.
    fn graph_variable(&self, graph: &GraphFile, name: &str, path: &Path) -> Option<Looked> {
        let key = format!("vars.{name}");
        if self.workflow.compiled.variable(&key).is_some() {
            return Some(self.variable(&key, path));
        }
        let failed = name.strip_suffix("__error")?;
        let id = self.graph_node(graph, failed).ok()?;
        self.port(id, ERROR, path).ok()
    }

    fn graph_node(&self, graph: &GraphFile, id: &str) -> Result<NodeId, NoSuchReference> {
        if let Some(found) = self.workflow.compiled.find(id) {
            return Ok(found);
        }
        let mut named = self
            .nodes()
            .filter(|(_, node)| **graph.id_in_file(&node.draft.id) == *id);
        match (named.next(), named.next()) {
            (Some((found, _)), None) => Ok(found),
            (Some(_), Some(_)) => Err(NoSuchReference(format!(
                "several nodes are called `{id}`: use the id that the steps of the run have"
            ))),
            (None, _) => self.node(id),
        }
    }

    fn all_nodes(&self, graph: &GraphFile) -> Value {
        let values = self.nodes().filter_map(|(id, node)| {
            let value = self.machine.ports(id)?.get(VALUE)?.clone();
            Some((graph.id_in_file(&node.draft.id).clone(), value))
        });
        Value::from(values.collect::<Object>())
    }

    fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        let nodes = (0..).map(NodeId).zip(&self.workflow.compiled.nodes);
        nodes.filter(|(_, node)| !node.implicit)
    }

    fn node(&self, id: &str) -> Result<NodeId, NoSuchReference> {
        let found = self.workflow.compiled.find(id);
        found.ok_or_else(|| {
            let ids = self.nodes().map(|(_, node)| node.draft.id.to_string());
            NoSuchReference(format!(
                "there is no node `{id}`; there are {}",
                listed(ids)
            ))
        })
    }

    fn port(&self, id: NodeId, port: &str, path: &Path) -> Found {
        let node = &self.workflow.compiled.node(id).draft.id;
        let Some(ports) = self.machine.ports(id).filter(|ports| !ports.is_empty()) else {
            let life = self.machine.life_of(id);
            return Ok(Looked::Missing(match life {
                None => format!("`{node}` is in a body that had not begun"),
                Some(life) => format!(
                    "`{node}` had put out nothing: it was {}",
                    format!("{life:?}").to_lowercase()
                ),
            }));
        };
        if port.is_empty() {
            return Ok(self.walked(&Value::from(ports.to_object()), path, node));
        }
        Ok(match ports.get(port) {
            Some(value) => self.walked(value, path, port),
            None => {
                let names = ports.iter().map(|(name, _)| name.to_string());
                Looked::Missing(format!(
                    "`{node}` has no output `{port}`; it has {}",
                    listed(names)
                ))
            }
        })
    }

    fn value_of_variable(&self, name: &str) -> Option<&Value> {
        let mut variables = self.machine.variables();
        variables
            .find(|(known, _)| ***known == *name)
            .map(|(_, v)| v)
    }

    fn variable(&self, name: &str, path: &Path) -> Looked {
        match self.value_of_variable(name) {
            Some(value) => self.walked(value, path, name),
            None => Looked::Missing(format!("`{name}` had no value")),
        }
    }

    fn no_variable(&self, key: &str) -> NoSuchReference {
        let family = key.split('.').next().unwrap_or(key);
        let names = self.workflow.compiled.variables.iter();
        let names = names.map(|(name, _)| name.to_string());
        let names = names.filter(|name| name.split('.').next() == Some(family));
        NoSuchReference(match listed(names).as_str() {
            "" => format!("there is no variable `{key}`; no `{family}.` variable is declared"),
            known => format!("there is no variable `{key}`; there are {known}"),
        })
    }

    fn walked(&self, value: &Value, path: &Path, from: &str) -> Looked {
        match path.walk(value) {
            Some(found) => Looked::Value(found),
            None => {
                let what = match value {
                    Value::Object(members) => {
                        let keys = members.keys().map(|key| key.to_string());
                        format!("which is an object with {}", listed(keys))
                    }
                    Value::Array(items) => format!("which is a list of {}", items.len()),
                    other => format!("which is {}", kind(other)),
                };
                Looked::Missing(format!("`{path}` leads nowhere in `{from}`, {what}"))
            }
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The chain that a text is as a whole: in the spelling of expressions if it has quotes (`nodes['my-id'][0]`), else in that
/// of templates (`nodes[my-id].title`) or, where the two are the same, in both.
fn chain_of(text: &str) -> Option<Chain> {
    if text.contains(['\'', '"']) {
        let parsed = expression::parse(text).ok()?;
        return match parsed.chains() {
            [chain] if chain.span == (0..text.len()) => Some(chain.clone()),
            _ => None,
        };
    }
    let braced = format!("{{{text}}}");
    let parsed = format::parse(&braced, format::Secrets::None);
    match parsed.chains() {
        [chain] if chain.span.len() >= text.len() => Some(chain.clone()),
        _ => None,
    }
}

/// The first names of a list, with commas between, and how many more there are.
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let shown = names.iter().take(LISTED).cloned().collect::<Vec<_>>();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
