//! The contract between the driver and a component.

use std::sync::Arc;

use easel_catalog as catalog;
use easel_core::Value;
use easel_core::bind::{Activation, Inputs, ReadId};
use easel_core::draft::NodeDraft;
use easel_core::effect::{Execute, Pass};
use easel_core::event::{Completion, Fault, Timestamp, Usage};
use easel_core::reference::Path;
use easel_core::template::Template;
use easel_core::workflow::{Node, NodeId, Workflow};
use easel_models::ChatModel;
use easel_secrets::{Door, Gate, Sink, SinkKind};
use easel_tools::World;
use futures::future::BoxFuture;

use crate::clock::Clock;
use crate::functions::Functions;
use crate::site::Site;
use crate::stream::{Piece, StreamReader, StreamWriter};
use crate::tool::{Tool, ToolSite};
use crate::turn::Turn;

/// A kind of behaviour. Implement it and add it to the [`Registry`](crate::Registry) to have a component of your own.
pub trait Component: Send + Sync {
    /// What it takes and gives, as data: the check, the docs and the JSON Schema read this.
    fn table(&self) -> &catalog::Component;

    /// Reads a node's parameters once, when the workflow loads.
    ///
    /// Errors: what is wrong with them. The workflow loads all the same; the node fails with the fault when it is reached.
    fn prepare(&self, node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault>;

    /// The component as an agent's tool, with the parameters that stand in the agent's `tools`. `None`: it is none.
    fn tool(&self, site: ToolSite<'_>) -> Option<Result<Arc<dyn Tool>, Fault>> {
        let _ = site;
        None
    }
}

/// A node as a component sees it when the workflow loads.
#[derive(Clone, Copy)]
pub struct Prepared<'a> {
    /// The workflow it is part of.
    pub workflow: &'a Workflow,
    /// The node.
    pub node: &'a Node,
    /// All components, for those that use others (an agent's tools).
    pub registry: &'a crate::Registry,
}

impl Prepared<'_> {
    /// The parameter at that dotted path (`count`, `prompts.0.role`), its default filled in. `None`: it is not set.
    pub fn param(&self, path: &str) -> Option<Value> {
        let value = Path::parse(path).walk(&self.node.draft.params);
        value.filter(|value| !value.is_null())
    }

    /// The text at that path, with the references in it: render it with the inputs of a [`Call`].
    pub fn template(&self, path: &str) -> Template {
        Site::of_node(*self).template(path, self.param(path).as_ref())
    }

    /// The reference at that path, to be looked up in the inputs of a [`Call`]. `None`: the parameter is blank.
    ///
    /// Errors: something stands there that is no reference.
    pub fn reference(&self, path: &str) -> Result<Option<ReadId>, Fault> {
        Site::of_node(*self).reference(path, self.param(path).as_ref())
    }
}

/// What one node does, prepared. It keeps nothing between calls.
pub trait Behaviour: Send + Sync {
    /// Makes one attempt.
    fn run(self: Arc<Self>, call: Call) -> Run;
}

/// An attempt: made, or under way.
pub enum Run {
    /// It is done already. Pure components always answer so, and the driver never spawns them.
    Done(Result<Completion, Failure>),
    /// It waits for something. Dropping the future cancels it.
    Later(Later),
}

/// An attempt under way.
pub type Later = BoxFuture<'static, Result<Completion, Failure>>;

impl Run {
    /// An attempt that waits for something.
    pub fn later(
        future: impl Future<Output = Result<Completion, Failure>> + Send + 'static,
    ) -> Run {
        Run::Later(Box::pin(future))
    }
}

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Why.
    pub fault: Fault,
    /// What it had used of models by then.
    pub usage: Usage,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure {
            fault,
            usage: Usage::default(),
        }
    }
}

/// Everything one attempt needs.
#[derive(Clone)]
pub struct Call {
    /// The run it is part of.
    pub run: Arc<RunContext>,
    /// What the machine wants executed: the inputs, the attempt, the answers of a form.
    pub execute: Execute,
    /// What was found in this turn, before this attempt, that answers may cite.
    pub gathered: Arc<Vec<Value>>,
    /// When the attempt began.
    pub now: Timestamp,
}

/// What all attempts of one turn of a run share.
#[derive(Clone)]
pub struct RunContext {
    /// The run's id.
    pub id: Arc<str>,
    /// The workflow.
    pub workflow: Arc<Workflow>,
    /// The turn.
    pub turn: Arc<Turn>,
    /// The outside world.
    pub services: Arc<Services>,
    /// The Python of the workflow's package.
    pub functions: Arc<dyn Functions>,
    /// The way back to the driver while an attempt is under way.
    pub wire: Arc<dyn Wire>,
    /// The run's gate: secrets pass it on their way to a tool ([`Call::door`]), and nothing leaves the run unmasked.
    pub gate: Gate,
}

impl Call {
    /// The node.
    pub fn node(&self) -> &Node {
        self.run.workflow.node(self.execute.node)
    }

    /// What it reads.
    pub fn inputs(&self) -> &Inputs {
        &self.execute.inputs
    }

    /// A door for secrets to what this attempt calls: `name` is the tool or component that gets them.
    pub fn door(&self, kind: SinkKind, name: &str) -> Door<'_> {
        let scope: Vec<String> = self.execute.scope.iter().map(passed).collect();
        self.run.gate.door(Sink {
            kind,
            name: name.into(),
            node: self.node().draft.id.clone(),
            scope: scope.join("/").into(),
            time: self.now,
        })
    }

    /// By what the target of a write knows it again, the same for every attempt: the run, the passes around the node, the
    /// node, and how often it has fired there (design.md §6). Ids are percent-encoded.
    pub fn idempotency_key(&self) -> String {
        idempotency_key(&self.run.id, &self.node().draft, &self.execute)
    }
}

/// By what the target of a write knows an attempt of that run again; see [`Call::idempotency_key`].
pub fn idempotency_key(run: &str, node: &NodeDraft, execute: &Execute) -> String {
    let mut key = encoded(run);
    for pass in execute.scope.iter() {
        key.push('/');
        key.push_str(&passed(pass));
    }
    let node = encoded(&node.id);
    key.push_str(&format!("/{node}/{}", execute.visit));
    key
}

/// A pass of a container in one word.
fn passed(pass: &Pass) -> String {
    let Pass {
        container,
        index,
        visit,
    } = pass;
    format!("{}.{index}.{visit}", encoded(container))
}

/// An id as it can stand in a header: letters, digits, `:`, `_` and `-` as they are, all else percent-encoded.
fn encoded(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b':' | b'_' | b'-' => text.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// What is outside of an attempt: one door each.
#[derive(Clone)]
pub struct Services {
    /// Language models.
    pub models: Arc<dyn ChatModel>,
    /// Tools that touch the world.
    pub world: World,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// What an attempt can tell the driver while it is under way.
pub trait Wire: Send + Sync {
    /// Shows a piece of a message to people.
    fn show(&self, piece: Piece);

    /// Says that the node's text begins to arrive, and gives the place to put it.
    fn open(&self, producer: Activation) -> StreamWriter;

    /// The stream of another node that this attempt was handed.
    fn stream(&self, producer: Activation) -> StreamReader;

    /// Leaves a remark for the record and for people: a reference that was missing, a tool call.
    fn note(&self, node: NodeId, note: Note);
}

/// A remark an attempt leaves.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Something a user should know that is no failure.
    Warning(Arc<str>),
    /// One call of a tool by an agent.
    ToolCall {
        /// The agents that led to it, outermost first, joined by `-->`.
        path: Arc<str>,
        /// The name the model used.
        tool: Arc<str>,
        /// The arguments.
        arguments: Value,
        /// What the model was told.
        result: Value,
        /// How long it took, in milliseconds.
        milliseconds: u64,
    },
    /// One request to a model, as it went out.
    ModelRequest(Value),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::Trial;

    #[test]
    fn a_key_names_the_run_the_passes_the_node_and_its_visit() {
        let (_, mut call) = Trial::new("Invoke", json!({"url": "http://e.com"})).call();
        call.run = Arc::new(RunContext {
            id: "run/1".into(),
            ..(*call.run).clone()
        });
        call.execute.visit = 3;
        call.execute.scope = Arc::from([Pass {
            container: "Iteration:Ä b".into(),
            index: 2,
            visit: 1,
        }]);
        let key = call.idempotency_key();
        assert_eq!(key, "run%2F1/Iteration:%C3%84%20b.2.1/X/3");
        call.execute.attempt += 1;
        assert_eq!(call.idempotency_key(), key);
    }
}
