//! The journal's entries: everything that happened to a run and cannot be computed from what happened before.
//!
//! Entries are plain data with a version. A run's state is a fold over them ([`crate::Machine::replay`]), so a field may be
//! added with a default, never taken away or given another meaning.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::bind::Activation;
use crate::{Object, Value};

/// The version that new entries carry.
///
/// Version 2 added [`Fact::Recovered`]; entries of version 1 are read as they are.
pub const VERSION: u32 = 2;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Timestamp(pub i64);

/// One entry of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The version of the format it was written in.
    #[serde(rename = "v")]
    pub version: u32,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub fact: Fact,
}

impl Event {
    /// An entry of the current version.
    pub fn new(at: Timestamp, fact: Fact) -> Event {
        Event {
            version: VERSION,
            at,
            fact,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The run began. Always the first entry and never a later one.
    Started(Start),
    /// An attempt succeeded.
    Completed {
        /// Whose.
        activation: Activation,
        /// Which of its attempts, from 1.
        attempt: u32,
        /// What it gave.
        completion: Completion,
    },
    /// An attempt failed.
    Failed {
        /// Whose.
        activation: Activation,
        /// Which of its attempts, from 1.
        attempt: u32,
        /// Why.
        fault: Fault,
        /// Tokens it had used by then.
        #[serde(default)]
        usage: Usage,
    },
    /// The text of an attempt began to arrive.
    Opened {
        /// Whose.
        activation: Activation,
        /// Which of its attempts, from 1.
        attempt: u32,
    },
    /// A pause between attempts is over.
    Woke {
        /// Whose.
        activation: Activation,
        /// The attempt that failed before the pause, from 1.
        attempt: u32,
    },
    /// A person answered; a turn began.
    Answered(Answer),
    /// Somebody ended the run.
    Cancelled,
    /// The process that drove the run ended, and another one took the run up: what was under way is asked for anew.
    Recovered,
}

/// What a run begins with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The run's id.
    pub run: Arc<str>,
    /// From which every random choice of the run follows.
    pub seed: u64,
    /// Attempts under way at once, at least 1. With 1, nodes start in the order of the file.
    pub concurrency: u32,
    /// Node runs inside circles of edges after which the run fails, so that every circle ends. Other nodes do not count.
    pub node_runs: u64,
    /// Values that replace the initial ones of variables, by name. A name the workflow lacks is ignored.
    pub variables: Object,
    /// What the outside handed in, for components; the machine does not look at it.
    pub context: Value,
}

/// An answer to open forms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Field values by key; each goes to every open form that declares the key.
    pub fields: Object,
    /// Plain text, for the case that exactly one field is open.
    pub text: Option<Value>,
    /// Values that replace those of variables, by name.
    pub variables: Object,
    /// As in [`Start::context`]; replaces it for the rest of the run.
    pub context: Value,
}

/// What an attempt gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// The node's ports.
    pub ports: Ports,
    /// For a branch: ids of the nodes it goes on to; a branch that names none goes nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Vec<Arc<str>>>,
    /// What it assigns beside its ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Write>,
    /// What it found that answers may cite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Value>,
    /// Tokens it used.
    #[serde(default, skip_serializing_if = "Usage::is_zero")]
    pub usage: Usage,
}

/// One assignment: the value of one of the node's write targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Write {
    /// Which of [`crate::draft::NodeDraft::writes`].
    pub target: u32,
    /// The value to put there.
    pub value: Value,
}

/// A node's ports: a few names with values, in order. Cloning costs a reference count, and none that are empty cost more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ports(Option<Arc<Named>>);

/// Most nodes have one port.
type Named = SmallVec<[(Arc<str>, Value); 1]>;

impl Ports {
    /// No ports.
    pub fn new() -> Ports {
        Ports::default()
    }

    /// One port.
    pub fn one(name: impl Into<Arc<str>>, value: impl Into<Value>) -> Ports {
        Ports(Some(Arc::new(smallvec![(name.into(), value.into())])))
    }

    /// The value of that port.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(n, _)| ***n == *name).map(|(_, v)| v)
    }

    /// Sets a port; one that exists keeps its place.
    pub fn set(&mut self, name: impl Into<Arc<str>>, value: impl Into<Value>) {
        *self.entry(&name.into()) = value.into();
    }

    /// The value of that port, to be changed in place; `null` if there was none.
    pub fn entry(&mut self, name: &Arc<str>) -> &mut Value {
        let ports = Arc::make_mut(self.0.get_or_insert_default());
        let at = ports.iter().position(|(n, _)| n == name);
        let at = at.unwrap_or_else(|| {
            ports.push((name.clone(), Value::Null));
            ports.len() - 1
        });
        &mut ports[at].1
    }

    /// All ports in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> {
        let ports = self.0.as_deref().map(SmallVec::as_slice);
        ports.unwrap_or_default().iter().map(|(n, v)| (n, v))
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.iter().len() == 0
    }

    /// The ports as one object.
    pub fn to_object(&self) -> Object {
        self.iter().map(|(n, v)| (n.clone(), v.clone())).collect()
    }
}

impl FromIterator<(Arc<str>, Value)> for Ports {
    /// Later values of a name replace earlier ones.
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(iter: I) -> Ports {
        let mut ports = Ports::new();
        for (name, value) in iter {
            ports.set(name, value);
        }
        ports
    }
}

impl Serialize for Ports {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(n, v)| (&**n, v)))
    }
}

impl<'de> Deserialize<'de> for Ports {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Ports, D::Error> {
        Ok(Object::deserialize(deserializer)?.into_iter().collect())
    }
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// A stable word for programs (`timeout`, `bad_input`, `model`).
    pub code: Arc<str>,
    /// A sentence for people: the place, the cause, the fix.
    pub message: Arc<str>,
    /// True if the outside certainly saw nothing of the attempt, so that even a write may be tried again.
    #[serde(default)]
    pub nothing_sent: bool,
}

impl Fault {
    /// A fault after which the outside may have seen the attempt.
    pub fn new(code: &str, message: impl Into<Arc<str>>) -> Fault {
        Fault {
            code: code.into(),
            message: message.into(),
            nothing_sent: false,
        }
    }

    /// The same fault, certain to have left no trace outside.
    pub fn without_trace(self) -> Fault {
        Fault {
            nothing_sent: true,
            ..self
        }
    }
}

/// Tokens and calls of models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// Both, or what the provider counts.
    pub total_tokens: u64,
    /// Requests.
    pub calls: u64,
}

impl Usage {
    /// True if no model was asked.
    pub fn is_zero(&self) -> bool {
        *self == Usage::default()
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self
            .completion_tokens
            .saturating_add(other.completion_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.calls = self.calls.saturating_add(other.calls);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(fact: Fact) -> serde_json::Value {
        serde_json::to_value(Event::new(Timestamp(7), fact)).unwrap()
    }

    /// What is in journals must stay readable for ever: this form may gain fields, never lose or change one.
    #[test]
    fn entries_are_written_like_this() {
        let (activation, attempt) = (Activation(3), 2);
        let completion = Completion {
            ports: Ports::one("content", "hi"),
            next: Some(vec!["Message:A".into()]),
            writes: vec![Write {
                target: 0,
                value: Value::from(1),
            }],
            references: vec![Value::from("chunk")],
            usage: Usage {
                prompt_tokens: 1,
                completion_tokens: 2,
                total_tokens: 3,
                calls: 1,
            },
        };
        assert_eq!(
            written(Fact::Completed {
                activation,
                attempt,
                completion
            }),
            json!({"v": 2, "at": 7, "fact": {"completed": {
                "activation": 3,
                "attempt": 2,
                "completion": {
                    "ports": {"content": "hi"},
                    "next": ["Message:A"],
                    "writes": [{"target": 0, "value": 1}],
                    "references": ["chunk"],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "calls": 1}
                }
            }}})
        );
        assert_eq!(
            written(Fact::Completed {
                activation,
                attempt,
                completion: Completion::default()
            }),
            json!({"v": 2, "at": 7, "fact": {"completed": {
                "activation": 3, "attempt": 2, "completion": {"ports": {}}
            }}})
        );
        let fault = Fault::new("timeout", "too slow");
        assert_eq!(
            written(Fact::Failed {
                activation,
                attempt,
                fault,
                usage: Usage::default()
            }),
            json!({"v": 2, "at": 7, "fact": {"failed": {
                "activation": 3,
                "attempt": 2,
                "fault": {"code": "timeout", "message": "too slow", "nothing_sent": false},
                "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "calls": 0}
            }}})
        );
        assert_eq!(
            written(Fact::Opened {
                activation,
                attempt
            }),
            json!({"v": 2, "at": 7, "fact": {"opened": {"activation": 3, "attempt": 2}}})
        );
        assert_eq!(
            written(Fact::Woke {
                activation,
                attempt
            }),
            json!({"v": 2, "at": 7, "fact": {"woke": {"activation": 3, "attempt": 2}}})
        );
        assert_eq!(
            written(Fact::Cancelled),
            json!({"v": 2, "at": 7, "fact": "cancelled"})
        );
        assert_eq!(
            written(Fact::Recovered),
            json!({"v": 2, "at": 7, "fact": "recovered"})
        );
        assert_eq!(
            written(Fact::Answered(Answer::default())),
            json!({"v": 2, "at": 7, "fact": {"answered": {
                "fields": {}, "text": null, "variables": {}, "context": null
            }}})
        );
        assert_eq!(
            written(Fact::Started(Start::default())),
            json!({"v": 2, "at": 7, "fact": {"started": {
                "run": "", "seed": 0, "concurrency": 0, "node_runs": 0, "variables": {}, "context": null
            }}})
        );
    }

    #[test]
    fn numbers_key_order_and_null_survive_a_journal() {
        let value: Value = serde_json::from_str(
            r#"{"z": 9007199254740993, "a": 18446744073709551615, "f": 1.0, "i": 1, "n": null, "e": ""}"#,
        )
        .unwrap();
        let fact = Fact::Completed {
            activation: Activation(u64::MAX),
            attempt: 1,
            completion: Completion {
                ports: Ports::one("out", value.clone()),
                ..Completion::default()
            },
        };
        let event = Event::new(Timestamp(-1), fact);
        let text = serde_json::to_string(&event).unwrap();
        let read: Event = serde_json::from_str(&text).unwrap();
        assert_eq!(read, event);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(text.contains(&value.to_json_text()));
    }

    #[test]
    fn a_port_that_is_set_twice_keeps_its_place() {
        let mut ports = Ports::one("a", 1);
        ports.set("b", 2);
        ports.set("a", 3);
        let names: Vec<&str> = ports.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(ports.get("a"), Some(&Value::from(3)));
        assert_eq!(ports.get("c"), None);
    }
}
