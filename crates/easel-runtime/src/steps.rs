//! Every attempt that a run made, read back from its journal.

use std::collections::HashMap;
use std::sync::Arc;

use easel_components::HistoryEntry;
use easel_core::bind::Activation;
use easel_core::effect::{Observation, Reaction, Scope, Step};
use easel_core::event::{Event, Fact, Fault, Timestamp, Usage};
use easel_core::machine::NodeLife;
use easel_core::workflow::NodeId;
use easel_core::{Machine, Object};
use serde::Serialize;

use crate::event::Subject;
use crate::recovery::restore_history;
use crate::workflow::Workflow;

/// One attempt of one node, or a node that was kept from running.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepRecord {
    /// The id of the node.
    pub node: Arc<str>,
    /// The name that people read.
    pub name: Arc<str>,
    /// The component.
    pub component: Arc<str>,
    /// The passes around it, outermost first.
    pub scope: Scope,
    /// Which of the run's firings it belongs to; the same for every attempt of one.
    pub activation: u64,
    /// Which attempt, from 1; 0 for a node that was kept from running.
    pub attempt: u32,
    /// Where it stands.
    pub state: StepState,
    /// What the node read, by reference; what was missing is left out.
    pub inputs: Object,
    /// What it gave, by port.
    pub outputs: Object,
    /// Why it failed, if it did. With the state `done` a default value stood in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; `None` while it is under way.
    pub ended: Option<Timestamp>,
    /// Tokens that it used.
    pub usage: Usage,
}

/// Where an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It is under way, or was when its process ended.
    Running,
    /// It asks, and waits for an answer.
    Waiting,
    /// It gave its outputs.
    Done,
    /// It failed.
    Failed,
    /// It was stopped.
    Cancelled,
    /// A guard kept it from running.
    Skipped,
}

impl StepState {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            StepState::Running => "running",
            StepState::Waiting => "waiting",
            StepState::Done => "done",
            StepState::Failed => "failed",
            StepState::Cancelled => "cancelled",
            StepState::Skipped => "skipped",
        }
    }
}

/// Every attempt of a run, in the order in which they began. `said` is the conversation that the run belongs to, as far as
/// it is kept.
pub fn steps(
    workflow: &Arc<Workflow>,
    mut journal: Vec<Event>,
    said: &[HistoryEntry],
) -> Vec<StepRecord> {
    restore_history(&mut journal, said);
    let usage = usage_of(&journal);
    let last = journal.last().map(|event| event.at).unwrap_or_default();
    let replayed = Machine::replay(workflow.compiled.clone(), journal);
    let Some((machine, reactions)) = replayed else {
        return Vec::new();
    };
    let mut steps = Steps {
        workflow,
        usage,
        made: Vec::new(),
        places: HashMap::new(),
        last,
    };
    let observations = reactions
        .into_iter()
        .flat_map(|Reaction { observations, .. }| observations);
    for observation in observations {
        steps.see(observation);
    }
    for (activation, life) in machine.unsettled() {
        steps.under_way(&machine, activation, life);
    }
    let mut made = steps.made;
    made.sort_by_key(|step| (step.started, step.activation, step.attempt));
    made
}

/// What each attempt used.
fn usage_of(journal: &[Event]) -> HashMap<(Activation, u32), Usage> {
    let used = journal.iter().filter_map(|event| match &event.fact {
        Fact::Completed {
            activation,
            attempt,
            completion,
        } => Some(((*activation, *attempt), completion.usage)),
        Fact::Failed {
            activation,
            attempt,
            usage,
            ..
        } => Some(((*activation, *attempt), *usage)),
        _ => None,
    });
    used.collect()
}

/// The attempts in the making.
struct Steps<'a> {
    workflow: &'a Arc<Workflow>,
    usage: HashMap<(Activation, u32), Usage>,
    made: Vec<StepRecord>,
    /// Where each attempt stands among those made.
    places: HashMap<(Activation, u32), usize>,
    /// When the journal's last event happened.
    last: Timestamp,
}

impl Steps<'_> {
    fn see(&mut self, observation: Observation) {
        match observation {
            Observation::AttemptFailed(step) => self.add(step, StepState::Failed),
            Observation::NodeFinished { step, .. } => {
                let state = match &step.fault {
                    None => StepState::Done,
                    Some(fault) if *fault.code == *"cancelled" => StepState::Cancelled,
                    Some(_) => StepState::Failed,
                };
                self.add(step, state);
            }
            Observation::NodeSkipped { node, scope, at } => {
                if let Some(named) = self.named(node) {
                    self.made.push(StepRecord {
                        scope,
                        state: StepState::Skipped,
                        started: at,
                        ended: Some(at),
                        ..named
                    });
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, step: Step, state: StepState) {
        let key = (step.activation, step.attempt);
        let outputs = step.ports.to_object();
        if let Some(&at) = self.places.get(&key) {
            // The attempt failed before, and this is what stood in for it.
            let made = &mut self.made[at];
            made.state = state;
            made.outputs = outputs;
            made.fault = step.fault.or(made.fault.take());
            made.ended = Some(step.ended);
            return;
        }
        let Some(named) = self.named(step.node) else {
            return;
        };
        self.places.insert(key, self.made.len());
        let usage = self.usage.get(&key).copied().unwrap_or_default();
        self.made.push(StepRecord {
            inputs: self.read(step.node, &step.inputs),
            scope: step.scope,
            activation: step.activation.0,
            attempt: step.attempt,
            state,
            outputs,
            fault: step.fault,
            started: step.started,
            ended: Some(step.ended),
            usage,
            ..named
        });
    }

    /// Adds an attempt that did not come to its end.
    fn under_way(&mut self, machine: &Machine, activation: Activation, life: NodeLife) {
        let node = machine.node_of(activation);
        let Some((node, named)) = node.and_then(|node| Some((node, self.named(node)?))) else {
            return;
        };
        let attempt = machine.attempt_of(activation).unwrap_or_default();
        if life == NodeLife::Resting || self.places.contains_key(&(activation, attempt)) {
            return;
        }
        let inputs = machine.bound(activation).unwrap_or_default();
        let ports = machine.ports(node).map(|ports| ports.to_object());
        self.made.push(StepRecord {
            inputs: self.read(node, &inputs),
            scope: machine.scope_of(activation).unwrap_or_default(),
            activation: activation.0,
            attempt,
            state: match life {
                NodeLife::Asking => StepState::Waiting,
                _ => StepState::Running,
            },
            outputs: ports.unwrap_or_default(),
            // A form makes no attempt. It is open since the last event at the latest.
            started: machine.attempt_began(activation).unwrap_or(self.last),
            ..named
        });
    }

    /// A record that says which node it is about, and nothing else. `None` for one that nobody sees run.
    fn named(&self, node: NodeId) -> Option<StepRecord> {
        let node = self.workflow.compiled.node(node);
        (!node.implicit).then(|| StepRecord {
            node: node.draft.id.clone(),
            name: node.draft.name.clone(),
            component: node.draft.component.clone(),
            scope: Scope::default(),
            activation: 0,
            attempt: 0,
            state: StepState::Running,
            inputs: Object::new(),
            outputs: Object::new(),
            fault: None,
            started: Timestamp::default(),
            ended: None,
            usage: Usage::default(),
        })
    }

    fn read(&self, node: NodeId, inputs: &easel_core::bind::Inputs) -> Object {
        let subject = Subject::new(self.workflow.clone(), node);
        let values = subject.read_values(inputs);
        values.map(|(k, v)| (k.clone(), v.clone())).collect()
    }
}
