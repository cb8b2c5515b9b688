//! The moments at which a process can die, in words.

use std::sync::Arc;

use easel_runtime::components::HistoryEntry;
use easel_runtime::core::Machine;
use easel_runtime::core::effect::Effect;
use easel_runtime::core::event::{Event, Fact};
use easel_runtime::{Logged, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::killer::Moment;

/// A moment in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// When: `after "Ask" was done`.
    pub when: String,
    /// The names of the nodes that were under way.
    pub under_way: Vec<String>,
}

/// Says for each moment of an undisturbed run what happened then, and what was under way.
pub fn describe(
    moments: Vec<Moment>,
    workflow: &Arc<Workflow>,
    journals: &[(Arc<str>, Vec<Event>)],
    said: &[HistoryEntry],
) -> Vec<Described> {
    let story = |run: &str| {
        let journal = journals.iter().find(|(id, _)| **id == *run);
        journal.map(|(_, events)| Story {
            workflow,
            events,
            said,
        })
    };
    let described = |moment: Moment| match moment {
        Moment::Committed { run, from, to } => match story(&run) {
            Some(story) => Described {
                when: format!("after {}", story.happened(from, to)),
                under_way: story.under_way(to),
            },
            None => Described::bare("after a commit"),
        },
        Moment::Lost { run, from, to } => match story(&run) {
            Some(story) => Described {
                when: format!("before it was kept that {}", story.happened(from, to)),
                under_way: story.under_way(from),
            },
            None => Described::bare("before a commit"),
        },
        Moment::Called { name } => Described {
            when: format!("while \"{name}\" waited for an answer"),
            under_way: vec![name],
        },
    };
    moments.into_iter().map(described).collect()
}

impl Described {
    fn bare(when: &str) -> Described {
        Described {
            when: when.to_owned(),
            under_way: Vec::new(),
        }
    }
}

/// A run, to be looked at as it was.
struct Story<'a> {
    workflow: &'a Arc<Workflow>,
    events: &'a [Event],
    said: &'a [HistoryEntry],
}

impl Story<'_> {
    fn machine(&self, entries: u64) -> Option<Machine> {
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        easel_runtime::state_at(self.workflow, self.events.to_vec(), self.said, entries)
    }

    /// What happened in these entries, by the last of them.
    fn happened(&self, from: u64, to: u64) -> String {
        let last = usize::try_from(to).ok().and_then(|to| to.checked_sub(1));
        let Some(event) = last
            .and_then(|last| self.events.get(last))
            .filter(|_| to > from)
        else {
            return "the turn was over".to_owned();
        };
        let name = |activation| {
            let machine = self.machine(to - 1);
            let node = machine
                .as_ref()
                .and_then(|machine| machine.node_of(activation));
            let name = node.map(|node| self.workflow.compiled().node(node).draft.name.clone());
            name.unwrap_or_else(|| "a node".into())
        };
        match &event.fact {
            Fact::Started(_) => "the run began".to_owned(),
            Fact::Completed { activation, .. } => format!("\"{}\" was done", name(*activation)),
            Fact::Failed { activation, .. } => format!("\"{}\" failed", name(*activation)),
            Fact::Opened { activation, .. } => format!("\"{}\" began to speak", name(*activation)),
            Fact::Woke { activation, .. } => {
                format!("the pause of \"{}\" was over", name(*activation))
            }
            Fact::Answered(_) => "an answer came".to_owned(),
            Fact::Cancelled => "the run was cancelled".to_owned(),
            Fact::Recovered => "the run was taken up".to_owned(),
        }
    }

    /// The names of the nodes that were under way behind that many entries.
    fn under_way(&self, entries: u64) -> Vec<String> {
        let machine = self.machine(entries);
        let effects = machine.as_ref().map(Machine::in_flight).unwrap_or_default();
        let names = effects.iter().filter_map(|effect| match effect {
            Effect::Execute(execute) => {
                let draft = &self.workflow.compiled().node(execute.node).draft;
                Some(draft.name.to_string())
            }
            Effect::Sleep { activation, .. } => {
                let node = machine.as_ref()?.node_of(*activation)?;
                let name = &self.workflow.compiled().node(node).draft.name;
                Some(format!("{name} (in a pause)"))
            }
            _ => None,
        });
        names.collect()
    }
}

/// The messages of a run, as its readers have them in the end.
pub fn messages(log: &[Logged]) -> Vec<Json> {
    let mut messages = Vec::new();
    let mut open = String::new();
    for logged in log {
        let data = || serde_json::from_str::<Json>(logged.data()).unwrap_or_default();
        match logged.name() {
            "message" => open += data()["content"].as_str().unwrap_or_default(),
            "message_reset" => open.clear(),
            "message_end" => {
                let text = std::mem::take(&mut open);
                messages.push(json!({"node": data()["component_id"], "text": text}));
            }
            _ => {}
        }
    }
    if !open.is_empty() {
        messages.push(json!({"unfinished": open}));
    }
    messages
}

/// Every firing of a node that came to its end, with what it put out; in order of their text, as those of parallel branches
/// may end in any order.
pub fn finished(log: &[Logged]) -> Vec<Json> {
    let ends = log.iter().filter(|logged| logged.name() == "node_finished");
    let mut nodes: Vec<Json> = ends
        .map(|logged| {
            let data: Json = serde_json::from_str(logged.data()).unwrap_or_default();
            let mut outputs = data["outputs"].clone();
            if let Some(outputs) = outputs.as_object_mut() {
                // Times.
                outputs.retain(|name, _| !name.starts_with('_'));
            }
            json!({"node": data["component_id"], "outputs": outputs, "error": data["error"]})
        })
        .collect();
    nodes.sort_by_key(Json::to_string);
    nodes
}
