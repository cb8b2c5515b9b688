//! What a turn leaves: how it ended, what was said, and what lasts of the conversation.

use std::sync::Arc;

use easel_components::HistoryEntry;
use easel_core::Value;
use easel_core::effect::Outcome;
use easel_tools::references::References;

use super::{Ending, HISTORY, Session};
use crate::driver::{Driver, TurnEnd};
use crate::journal::{Conversation, ConversationChange, Said, Standing};
use crate::masking;

impl Session {
    /// Takes over what a turn left.
    pub(super) fn turn_over(&mut self, end: TurnEnd) -> Ending {
        let Some(driver) = &self.driver else {
            return Ending::Finished;
        };
        let machine = driver.machine();
        self.usage = machine.usage();
        let variables = machine.variables();
        self.variables = variables.map(|(k, v)| (k.clone(), v.clone())).collect();
        // What came in before a secret was known.
        driver.gate().mask_object(&mut self.variables);
        masking::history(driver.gate(), &mut self.history);
        let found = References::gather(machine.gathered().iter());
        let reference = (!found.is_empty()).then(|| found.to_value());
        self.retrieval.extend(reference.clone());
        self.waiting = matches!(end, TurnEnd::Waiting);
        let run = machine.run().clone();
        let (entry, ending) = match end {
            TurnEnd::Waiting => {
                let entry = driver.shown().map(|said| HistoryEntry {
                    interim: true,
                    ..HistoryEntry::new("assistant", said)
                });
                (entry, Ending::Waiting)
            }
            TurnEnd::Uncertain => (None, Ending::Uncertain(driver.uncertain_writes())),
            TurnEnd::Over(Outcome::Done) => {
                let mut outputs = driver.outputs();
                masking::ports(driver.gate(), &mut outputs);
                let entry = HistoryEntry::new("assistant", outputs.to_object());
                (Some(entry), Ending::Finished)
            }
            TurnEnd::Over(Outcome::Cancelled) => (None, Ending::Cancelled),
            TurnEnd::Over(Outcome::Failed { node, fault }) => {
                let node = node.map(|n| self.workflow.compiled.node(n).draft.id.clone());
                (None, Ending::Failed { node, fault })
            }
        };
        self.leave(entry.clone(), reference, run, &ending);
        if let Some(entry) = entry {
            self.remember(entry);
        }
        ending
    }

    /// Hands the driver what goes with the last commit of the turn.
    fn leave(
        &mut self,
        entry: Option<HistoryEntry>,
        reference: Option<Value>,
        run: Arc<str>,
        ending: &Ending,
    ) {
        let (Some(kept), Some(driver)) = (&mut self.kept, &mut self.driver) else {
            return;
        };
        let pending = matches!(ending, Ending::Waiting | Ending::Uncertain(_));
        let mut variables = self.variables.clone();
        variables.shift_remove(HISTORY);
        let after = Conversation {
            variables,
            memory: self.memory.clone(),
            kept_inputs: self.kept_inputs.clone(),
            turns: self.turns,
            run: pending.then(|| run.clone()),
        };
        let from = *kept;
        let change = driver.change().get_or_insert_with(|| ConversationChange {
            session: self.id.clone(),
            from,
            said: Vec::new(),
            after: None,
        });
        change.after = Some(after);
        if let Some(entry) = entry {
            *kept += 1;
            change.said.push(Said {
                entry,
                run,
                at: self.engine.clock.now(),
                files: Vec::new(),
                reference,
            });
        }
    }

    /// Adds what was said to the conversation and, as a line, to `sys.history`.
    fn remember(&mut self, entry: HistoryEntry) {
        let line = format!("{}: {}", entry.role, entry.text());
        self.history.push(entry);
        let history = self.variables.entry(HISTORY.into());
        let history = history.or_insert_with(Value::empty_array);
        if !matches!(history, Value::Array(_)) {
            *history = Value::empty_array();
        }
        if let Value::Array(lines) = history {
            Arc::make_mut(lines).push(Value::from(line));
        }
    }
}

/// Where a run stands whose turn ended.
pub(super) fn standing_of(driver: &Driver, end: &TurnEnd) -> Standing {
    match end {
        TurnEnd::Waiting => {
            let (mut fields, mut tips) = driver.asked().unwrap_or_default();
            driver.gate().mask_object(&mut fields);
            driver.gate().mask_text(&mut tips);
            Standing::Waiting { fields, tips }
        }
        TurnEnd::Uncertain => Standing::Uncertain {
            writes: driver.uncertain_writes(),
        },
        TurnEnd::Over(Outcome::Done) => {
            let mut outputs = driver.outputs();
            masking::ports(driver.gate(), &mut outputs);
            Standing::Finished {
                outputs: outputs.to_object(),
            }
        }
        TurnEnd::Over(Outcome::Cancelled) => Standing::Cancelled,
        TurnEnd::Over(Outcome::Failed { node, fault }) => Standing::Failed {
            node: node.map(|n| driver.workflow.compiled.node(n).draft.id.clone()),
            fault: fault.clone(),
        },
    }
}
