//! Runs that another process began: rebuilt from the journal, and driven on.
//!
//! What was under way when that process ended is made anew if nothing outside can suffer from it: it only computes or
//! asks, or its target knows the idempotency key again. Any other write is *uncertain*, and somebody has to decide
//! (design.md §6).

use std::sync::Arc;

use easel_components::{HistoryEntry, Turn};
use easel_core::bind::Activation;
use easel_core::draft::EffectClass;
use easel_core::effect::{Effect, Execute};
use easel_core::event::{Completion, Event, Fact, Fault, Usage};
use easel_core::machine::RunLife;
use easel_core::{Object, Value};
use futures::FutureExt;

use crate::driver::{Driver, Observer, Parts};
use crate::journal::{Said, UncertainWrite};
use crate::projection::Projection;
use crate::session::{Ending, HISTORY, Session, TurnError, history_lines};

/// What became of a write of which nobody knew.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It did not happen, or does no harm twice: do it again, with the same idempotency key.
    Repeat,
    /// It happened; these are the node's outputs by port.
    Happened(Object),
    /// It counts as failed, with that text.
    Failed(Arc<str>),
}

/// The run has no such uncertain write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run has no uncertain write {0}; `easel runs show` lists those it has")]
pub struct NoSuchWrite(pub u64);

/// The run cannot be rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the journal of the run does not begin with its start, so it cannot be taken up")]
pub struct NoStart;

/// What is in flight in a rebuilt run, apart: what can be made anew, and what somebody has to decide about.
fn in_flight(driver: &Driver) -> (Vec<Effect>, Vec<Execute>) {
    let mut again = Vec::new();
    let mut uncertain = Vec::new();
    for effect in driver.machine.in_flight() {
        match effect {
            Effect::Execute(execute) if is_uncertain(driver, &execute) => uncertain.push(execute),
            effect => again.push(effect),
        }
    }
    (again, uncertain)
}

fn is_uncertain(driver: &Driver, execute: &Execute) -> bool {
    let draft = &driver.workflow.compiled.node(execute.node).draft;
    draft.effect == EffectClass::Writes && !draft.idempotent
}

impl Driver {
    /// What is to be decided about the writes that nobody knows the end of.
    pub fn uncertain_writes(&self) -> Vec<UncertainWrite> {
        let writes = self.uncertain.iter();
        writes
            .map(|execute| self.uncertain_write(execute))
            .collect()
    }

    fn uncertain_write(&self, execute: &Execute) -> UncertainWrite {
        let draft = &self.workflow.compiled.node(execute.node).draft;
        let key = easel_components::idempotency_key(self.machine.run(), draft, execute);
        let name = &draft.name;
        let question = format!(
            "\"{name}\" was writing when Easel stopped, and its target may or may not have got it. Look there for {key}, \
             then say whether it happened (with its result), is to be done again, or failed."
        );
        UncertainWrite {
            activation: execute.activation.0,
            node: draft.id.clone(),
            name: name.clone(),
            key: key.into(),
            since: self
                .machine
                .attempt_began(execute.activation)
                .unwrap_or_default(),
            question: question.into(),
        }
    }
}

/// Puts back what a kept conversation's journal leaves out: `sys.history`, which follows from what was said.
pub(crate) fn restore_history(journal: &mut [Event], said: &[HistoryEntry]) {
    for event in journal {
        let (variables, context) = match &mut event.fact {
            Fact::Started(start) => (&mut start.variables, &start.context),
            Fact::Answered(answer) => (&mut answer.variables, &answer.context),
            _ => continue,
        };
        let count = context.get("entries").and_then(Value::as_i64).unwrap_or(0);
        let count = usize::try_from(count).unwrap_or(0);
        let entry = variables.entry(HISTORY.into());
        entry.or_insert_with(|| history_lines(said.iter().take(count)));
    }
}

/// The inputs that a run began with.
fn begun_with(journal: &[Event]) -> Option<Object> {
    let Fact::Started(start) = &journal.first()?.fact else {
        return None;
    };
    Some(start.context.get("inputs")?.as_object()?.clone())
}

impl Session {
    /// Takes up a run of this conversation from its journal. Nothing happens yet: [`Session::go_on`] drives it, and if it
    /// waits, so does the conversation.
    ///
    /// # Errors
    /// The journal is that of no run, or the secrets of the workflow cannot be masked.
    pub fn take_up(&mut self, mut journal: Vec<Event>) -> Result<(), TurnError> {
        if self.kept.is_some() {
            restore_history(&mut journal, &self.history);
        }
        let rebuilt = Projection::replay(&self.workflow, &journal, &[], &mut |_| {});
        let (machine, projection) = rebuilt.ok_or(TurnError::NoStart(NoStart))?;
        let context = serde_json::to_value(machine.context()).unwrap_or_default();
        let mut turn: Turn = serde_json::from_value(context).unwrap_or_default();
        turn.history = Arc::new(self.history.clone());
        // The journal has them without their values.
        let headers = std::mem::take(&mut turn.custom_header);
        // What an answer filled in is no input of Begin's.
        if let Some(inputs) = begun_with(&journal).filter(|inputs| !inputs.is_empty()) {
            self.kept_inputs = inputs;
        }
        self.turns = self.turns.max(turn.number + 1);
        let run = machine.run().clone();
        let gate = self.engine.gate(run, &self.workflow, None)?;
        let parts = Parts {
            engine: self.engine.clone(),
            workflow: self.workflow.clone(),
            turn: Arc::new(turn),
            gate,
        };
        let mut driver = Driver::new(parts, machine, projection);
        driver.written = journal.len() as u64;
        self.waiting = driver.machine.life() == RunLife::Waiting;
        if driver.machine.life() == RunLife::Running {
            driver.happened(Fact::Recovered);
            if !headers.is_empty() {
                driver.warn(None, LOST_HEADERS.into());
            }
            let (again, uncertain) = in_flight(&driver);
            driver.effects.extend(again);
            driver.uncertain = uncertain;
        }
        self.driver = Some(driver);
        Ok(())
    }

    /// Drives a run that was [taken up](Session::take_up) until its turn ends, or ends it as cancelled once `stop` resolves.
    /// One that waits goes on waiting, and nothing is written.
    ///
    /// # Errors
    /// The journal failed.
    pub async fn go_on(
        &mut self,
        observe: &mut Observer<'_>,
        stop: impl Future<Output = ()>,
    ) -> Result<Ending, TurnError> {
        let mut stop = std::pin::pin!(stop.fuse());
        match (self.waiting, (&mut stop).now_or_never()) {
            (true, None) => Ok(Ending::Waiting),
            (false, None) => self.drive(None, observe, stop).await,
            (_, Some(())) => self.drive(None, observe, std::future::ready(())).await,
        }
    }

    /// Says what became of an uncertain write. [`Session::go_on`] drives the run on.
    ///
    /// # Errors
    /// There is no such write.
    pub fn decide(&mut self, activation: u64, decision: Decision) -> Result<(), NoSuchWrite> {
        let missing = NoSuchWrite(activation);
        let driver = self.driver.as_mut().ok_or(missing)?;
        let found = |write: &Execute| write.activation == Activation(activation);
        let at = driver.uncertain.iter().position(found).ok_or(missing)?;
        let write = driver.uncertain.remove(at);
        let (activation, attempt) = (write.activation, write.attempt);
        match decision {
            Decision::Repeat => driver.effects.push_back(Effect::Execute(write)),
            Decision::Happened(outputs) => driver.happened(Fact::Completed {
                activation,
                attempt,
                completion: Completion {
                    ports: outputs.into_iter().collect(),
                    ..Completion::default()
                },
            }),
            Decision::Failed(message) => driver.happened(Fact::Failed {
                activation,
                attempt,
                fault: Fault::new("uncertain", message),
                usage: Usage::default(),
            }),
        }
        Ok(())
    }
}

/// Said when a run that came with headers of its own is taken up.
const LOST_HEADERS: &str = "The headers that came with this run's request are not kept, so tools that ask for them go \
     without. Start the run again if they need them.";

/// What was said in a conversation, without what a record of it needs.
impl From<Said> for HistoryEntry {
    fn from(said: Said) -> HistoryEntry {
        said.entry
    }
}
