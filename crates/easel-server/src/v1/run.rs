//! Runs as the API shows them.

use std::collections::HashMap;
use std::sync::Arc;

use easel_runtime::core::event::Usage;
use easel_runtime::{Standing, StepRecord, StepState, Workflow};
use easel_store::{AgentRecord, RunRecord, RunSummary};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use super::problem::Problem;
use crate::App;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Something is under way.
    Running,
    /// It waits for an answer.
    Waiting,
    /// Somebody has to decide what became of a write.
    Uncertain,
    /// It ended well.
    Finished,
    /// It failed.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

/// The same in the words that clients of graph servers know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Something is under way.
    Running,
    /// It waits for an answer.
    AwaitingInput,
    /// Somebody has to decide what became of a write.
    Interrupted,
    /// It ended well.
    Succeeded,
    /// It failed.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

impl State {
    /// The state with that name, in either vocabulary.
    pub fn named(name: &str) -> Option<State> {
        Some(match name {
            "running" => State::Running,
            "waiting" | "awaiting_input" => State::Waiting,
            "uncertain" | "interrupted" => State::Uncertain,
            "finished" | "succeeded" => State::Finished,
            "failed" => State::Failed,
            "cancelled" => State::Cancelled,
            _ => return None,
        })
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Waiting => "waiting",
            State::Uncertain => "uncertain",
            State::Finished => "finished",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
        }
    }

    /// The same in the other vocabulary.
    pub fn status(self) -> Status {
        match self {
            State::Running => Status::Running,
            State::Waiting => Status::AwaitingInput,
            State::Uncertain => Status::Interrupted,
            State::Finished => Status::Succeeded,
            State::Failed => Status::Failed,
            State::Cancelled => Status::Cancelled,
        }
    }

    fn of(name: &str) -> State {
        State::named(name).unwrap_or(State::Running)
    }
}

/// Tokens and calls of models.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// Both, or what the provider counts.
    pub total_tokens: u64,
    /// Requests.
    pub calls: u64,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> UsageView {
        UsageView {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.total_tokens,
            calls: usage.calls,
        }
    }
}

/// A run in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RunItem {
    /// Its id.
    pub id: String,
    /// The name of the graph, or the title of the agent; blank if that is gone.
    pub workflow: String,
    /// The id of the graph or agent.
    pub agent: String,
    /// The version it runs by; blank for a draft.
    pub version: String,
    /// The conversation it belongs to.
    pub session: Option<String>,
    /// The user on whose behalf it runs, as the client named them.
    pub user: String,
    /// What started it.
    pub trigger: String,
    /// Where it stands.
    pub state: State,
    /// The same in the words of graph servers.
    pub status: Status,
    /// A line about where it stands.
    pub summary: String,
    /// Tokens so far.
    pub usage: UsageView,
    /// When it began, in seconds since 1970.
    pub created_at: f64,
    /// When that changed last, in seconds since 1970.
    pub updated_at: f64,
}

/// A run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    /// Its id.
    pub id: String,
    /// The name of the graph, or the title of the agent; blank if that is gone.
    pub workflow: String,
    /// The id of the graph or agent.
    pub agent: String,
    /// The version it runs by; blank for a draft.
    pub version: String,
    /// The conversation it belongs to.
    pub session: Option<String>,
    /// The user on whose behalf it runs, as the client named them.
    pub user: String,
    /// What started it.
    pub trigger: String,
    /// Where it stands.
    pub state: State,
    /// The same in the words of graph servers.
    pub status: Status,
    /// What it was given, by name.
    #[schema(value_type = Object)]
    pub inputs: Json,
    /// What it asks, if it waits.
    pub question: Option<Question>,
    /// What has to be decided, if it is uncertain.
    pub uncertain: Vec<Write>,
    /// What it gave out, once it has ended well.
    #[schema(value_type = Option<Object>)]
    pub r#final: Option<Json>,
    /// Why it failed: the node and the message.
    pub error: Option<String>,
    /// The same in parts.
    pub fault: Option<FaultView>,
    /// What the messages of this turn said; only where a request waited for the end of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The nodes outside of bodies that began, by id.
    #[schema(value_type = std::collections::HashMap<String, NodeView>)]
    pub nodes: Map<String, Json>,
    /// Its events, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<EventView>>,
    /// How many entries its journal has.
    pub entries: u64,
    /// Tokens so far.
    pub usage: UsageView,
    /// When it began, in seconds since 1970.
    pub created_at: f64,
    /// When where it stands changed last, in seconds since 1970.
    pub updated_at: f64,
}

/// What a run asks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Question {
    /// The text that goes with it.
    pub tips: String,
    /// The open fields by key, each with its declaration.
    #[schema(value_type = Object)]
    pub fields: Json,
}

/// A write of which nobody knows whether it happened.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Write {
    /// By what a decision names it.
    pub activation: u64,
    /// The id of the node.
    pub node: String,
    /// The name that people read.
    pub name: String,
    /// The idempotency key that it carried.
    pub key: String,
    /// When the attempt began, in seconds since 1970.
    pub since: f64,
    /// What is to be decided.
    pub question: String,
}

/// Why something failed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FaultView {
    /// The id of the node that failed first, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// A stable word for programs.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// One event.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    /// Its number: by it the stream goes on.
    #[schema(example = "12.3")]
    pub id: String,
    /// What happened.
    #[schema(example = "node_finished")]
    pub event: String,
    /// What there is to say about it.
    #[schema(value_type = Object)]
    pub data: Json,
}

/// What became of a node.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct NodeView {
    /// `ok`, `error`, `skipped`, `cancelled`, `running` or `waiting`.
    pub status: String,
    /// The component or kind.
    pub kind: String,
    /// The name that people read.
    pub name: String,
    /// What it gave: of a graph's node its value, of a canvas's its ports.
    pub output: Json,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// True if a guard kept it from running.
    pub skipped: bool,
    /// What it read, by reference.
    #[schema(value_type = Object)]
    pub input: Json,
    /// How long its attempts took, in milliseconds.
    pub duration_ms: i64,
    /// How many attempts it made.
    pub attempts: u64,
    /// Tokens that they used.
    pub usage: UsageView,
}

/// Milliseconds since 1970 as seconds.
pub fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// Anything as JSON.
pub fn json(value: &impl Serialize) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

/// What people call an agent: a graph by its name, others by their title.
pub fn name_of(agent: &AgentRecord) -> &Arc<str> {
    agent.name.as_ref().unwrap_or(&agent.title)
}

/// The names of agents by id.
#[derive(Default)]
pub struct Names(HashMap<Arc<str>, String>);

impl Names {
    /// Those of agents that were read already.
    pub fn knowing(agent: &AgentRecord) -> Names {
        Names(HashMap::from([(
            agent.id.clone(),
            name_of(agent).to_string(),
        )]))
    }

    /// The name of an agent; blank if it is gone.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn get(&mut self, app: &App, agent: &Arc<str>) -> Result<String, Problem> {
        if agent.is_empty() {
            return Ok(String::new());
        }
        if let Some(known) = self.0.get(agent) {
            return Ok(known.clone());
        }
        let record = app.host.store().agent(agent).await?;
        let name = record.map(|record| name_of(&record).to_string());
        let name = name.unwrap_or_default();
        self.0.insert(agent.clone(), name.clone());
        Ok(name)
    }
}

impl RunItem {
    /// A run in a list.
    pub fn of(run: RunSummary, workflow: String) -> RunItem {
        let state = State::of(&run.state);
        RunItem {
            id: run.id.to_string(),
            workflow,
            agent: run.origin.agent.to_string(),
            version: run.origin.version.to_string(),
            session: run.origin.session.map(|session| session.to_string()),
            user: run.origin.user.to_string(),
            trigger: run.origin.trigger.to_string(),
            state,
            status: state.status(),
            summary: run.summary.to_string(),
            usage: run.usage.into(),
            created_at: seconds(run.created),
            updated_at: seconds(run.updated),
        }
    }
}

impl RunView {
    /// A run without what happened in it.
    pub fn of(run: &RunRecord, workflow: String, inputs: Json) -> RunView {
        let state = State::of(run.standing.name());
        let (mut question, mut uncertain) = (None, Vec::new());
        let (mut given, mut fault) = (None, None);
        match &run.standing {
            Standing::Waiting { fields, tips } => {
                question = Some(Question {
                    tips: tips.to_string(),
                    fields: json(fields),
                });
            }
            Standing::Uncertain { writes } => {
                let write = |write: &easel_runtime::UncertainWrite| Write {
                    activation: write.activation,
                    node: write.node.to_string(),
                    name: write.name.to_string(),
                    key: write.key.to_string(),
                    since: seconds(write.since.0),
                    question: write.question.to_string(),
                };
                uncertain = writes.iter().map(write).collect();
            }
            Standing::Finished { outputs } => given = Some(json(outputs)),
            Standing::Failed { node, fault: why } => {
                fault = Some(FaultView {
                    node: node.as_ref().map(|node| node.to_string()),
                    code: why.code.to_string(),
                    message: why.message.to_string(),
                });
            }
            Standing::Running | Standing::Cancelled => {}
        }
        let error = fault.as_ref().map(|fault: &FaultView| match &fault.node {
            Some(node) => format!("{node}: {}", fault.message),
            None => fault.message.clone(),
        });
        RunView {
            id: run.id.to_string(),
            workflow,
            agent: run.origin.agent.to_string(),
            version: run.origin.version.to_string(),
            session: run.origin.session.as_ref().map(|s| s.to_string()),
            user: run.origin.user.to_string(),
            trigger: run.origin.trigger.to_string(),
            state,
            status: state.status(),
            inputs,
            question,
            uncertain,
            r#final: given,
            error,
            fault,
            said: None,
            nodes: Map::new(),
            events: None,
            entries: run.entries,
            usage: run.usage.into(),
            created_at: seconds(run.created),
            updated_at: seconds(run.updated),
        }
    }
}

/// What became of the nodes whose steps these are, in the order in which they began. Of a node that fired more than once, or
/// in several passes, the last firing counts.
pub fn nodes_of(workflow: &Workflow, steps: &[StepRecord]) -> Vec<(Arc<str>, NodeView)> {
    let is_graph = workflow.graph().is_some();
    let mut nodes: IndexMap<Arc<str>, (u64, NodeView)> = IndexMap::new();
    for step in steps {
        let view = node_view(step, is_graph);
        match nodes.get_mut(&step.node) {
            Some((activation, node)) if *activation == step.activation => {
                let (attempts, took) = (node.attempts, node.duration_ms);
                let mut usage = node.usage;
                usage.prompt_tokens += view.usage.prompt_tokens;
                usage.completion_tokens += view.usage.completion_tokens;
                usage.total_tokens += view.usage.total_tokens;
                usage.calls += view.usage.calls;
                *node = NodeView {
                    attempts: attempts + view.attempts,
                    duration_ms: took + view.duration_ms,
                    usage,
                    ..view
                };
            }
            Some(known) => *known = (step.activation, view),
            None => drop(nodes.insert(step.node.clone(), (step.activation, view))),
        }
    }
    let nodes = nodes.into_iter();
    nodes.map(|(id, (_, node))| (id, node)).collect()
}

fn node_view(step: &StepRecord, is_graph: bool) -> NodeView {
    let status = match step.state {
        StepState::Done => "ok",
        StepState::Failed => "error",
        StepState::Skipped => "skipped",
        StepState::Cancelled => "cancelled",
        StepState::Running => "running",
        StepState::Waiting => "waiting",
    };
    let value = step.outputs.get("value").filter(|_| is_graph);
    NodeView {
        status: status.to_owned(),
        kind: step.component.to_string(),
        name: step.name.to_string(),
        output: value.map_or_else(|| json(&step.outputs), json),
        error: step.fault.as_ref().map(|fault| fault.message.to_string()),
        skipped: step.state == StepState::Skipped,
        input: json(&step.inputs),
        duration_ms: step.ended.map_or(0, |ended| ended.0 - step.started.0),
        attempts: u64::from(step.attempt > 0),
        usage: step.usage.into(),
    }
}
