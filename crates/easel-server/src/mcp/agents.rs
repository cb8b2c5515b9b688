//! What the MCP server needs of whoever runs agents.

use std::sync::Arc;

use easel_runtime::{Logged, Object, Standing, Timestamp, Value};
use futures::stream::BoxStream;
use rmcp::model::ContentBlock;

/// Whoever runs agents for MCP clients.
///
/// Every call carries the caller, so that nobody sees, starts, answers or ends what is not theirs.
pub trait Agents: Send + Sync + 'static {
    /// Who asks. The HTTP layer puts it into the request's extensions.
    type Caller: Clone + Send + Sync + 'static;

    /// What two requests of one caller have in common: the id of a key, say.
    fn identity(&self, caller: &Self::Caller) -> Arc<str>;

    /// The released agents that the caller may run, in an order that lasts.
    fn agents(
        &self,
        caller: &Self::Caller,
    ) -> impl Future<Output = Result<Vec<Agent>, Refusal>> + Send;

    /// Starts a run.
    fn start(
        &self,
        caller: &Self::Caller,
        call: Call,
    ) -> impl Future<Output = Result<Running, Refusal>> + Send;

    /// Answers a run that waits, and follows it from there.
    fn resume(
        &self,
        caller: &Self::Caller,
        answer: Answer,
    ) -> impl Future<Output = Result<Running, Refusal>> + Send;

    /// Follows a run from where it stands; if it waits or is over, that is the first and only step.
    fn follow(
        &self,
        caller: &Self::Caller,
        run: &str,
    ) -> impl Future<Output = Result<Running, Refusal>> + Send;

    /// Where a run stands.
    fn look(
        &self,
        caller: &Self::Caller,
        run: &str,
    ) -> impl Future<Output = Result<Look, Refusal>> + Send;

    /// Ends a run. One that is over stays as it is.
    fn cancel(
        &self,
        caller: &Self::Caller,
        run: &str,
    ) -> impl Future<Output = Result<(), Refusal>> + Send;
}

/// An agent, as clients are told of it.
#[derive(Clone, Debug, Default)]
pub struct Agent {
    /// Its id.
    pub id: Arc<str>,
    /// Its title; the name of its tool is made from it.
    pub title: Arc<str>,
    /// What it is for; blank if nobody said.
    pub description: Arc<str>,
    /// The inputs that it declares, as [`Workflow::inputs`](easel_runtime::Workflow::inputs) gives them. An agent that
    /// declares none takes a `query`.
    pub inputs: Object,
    /// True if nothing in it changes anything outside.
    pub reads_only: bool,
}

/// What a run is started with.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The id of the agent.
    pub agent: Arc<str>,
    /// What the user says; blank if the agent declares inputs.
    pub query: Arc<str>,
    /// Inputs by name.
    pub inputs: Object,
    /// The W3C trace context of the request; blank if it had none.
    pub traceparent: Arc<str>,
}

/// An answer to a run that waits.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The run.
    pub run: Arc<str>,
    /// The question that is answered, if the client says which: an answer to one that was answered before is refused as
    /// [`Refusal::NotWaiting`].
    pub question: Option<u64>,
    /// Values by field.
    pub fields: Object,
}

/// A run that goes on, seen by its caller.
pub struct Running {
    /// The run.
    pub run: Arc<str>,
    /// What happens; it ends with [`Step::Stopped`].
    pub steps: BoxStream<'static, Step>,
}

/// What a caller sees of a run.
#[derive(Clone, Debug)]
pub enum Step {
    /// It got on: one line for people.
    Progress(Arc<str>),
    /// It waits or is over.
    Stopped(Outcome),
}

impl Step {
    /// The step that an event is for a caller, if any.
    pub fn of(event: &Logged) -> Option<Step> {
        let name = event.name();
        if !matches!(name, "node_started" | "tool_call" | "attempt_failed") {
            return None;
        }
        let data: serde_json::Value = serde_json::from_str(event.data()).ok()?;
        let text = |name: &str| data.get(name).and_then(|value| value.as_str());
        let node = text("component_name")?;
        let line = match name {
            "tool_call" => format!("{node} called {}", text("tool_name")?),
            "attempt_failed" => format!("{node} is tried again"),
            _ => node.to_owned(),
        };
        Some(Step::Progress(line.into()))
    }
}

/// Where a run stands, for somebody who does not follow it.
#[derive(Clone, Debug)]
pub struct Look {
    /// What it came to; `None` if it goes on.
    pub outcome: Option<Outcome>,
    /// When it began.
    pub created: Timestamp,
    /// When something last happened.
    pub updated: Timestamp,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It is done.
    Finished {
        /// What it said and made.
        content: Vec<ContentBlock>,
        /// Its outputs by name.
        outputs: Option<Object>,
    },
    /// It waits for answers.
    Waiting(Question),
    /// It stands still until somebody decides what became of a write.
    Uncertain {
        /// What is to be decided, for people.
        questions: Vec<Arc<str>>,
    },
    /// It failed.
    Failed {
        /// Where and why, for people.
        why: Arc<str>,
    },
    /// Somebody ended it.
    Cancelled,
}

/// What a run waits for.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Its number in the run: another question has another one.
    pub number: u64,
    /// The name under which its answers come back.
    pub key: Arc<str>,
    /// The text that goes with it.
    pub text: Arc<str>,
    /// The open fields by key, each with its declaration.
    pub fields: Object,
}

/// The name under which the answers to an agent's question come back.
pub const ANSWERS: &str = "answers";

impl Outcome {
    /// What a run that stands so came to; `None` if it goes on.
    ///
    /// `said` is what it said, and `number` the number of its question.
    pub fn of(standing: &Standing, said: &str, number: u64) -> Option<Outcome> {
        Some(match standing {
            Standing::Running => return None,
            Standing::Waiting { fields, tips } => Outcome::Waiting(Question {
                number,
                key: ANSWERS.into(),
                text: joined(said, tips),
                fields: fields.clone(),
            }),
            Standing::Uncertain { writes } => Outcome::Uncertain {
                questions: writes.iter().map(|write| write.question.clone()).collect(),
            },
            Standing::Finished { outputs } => Outcome::Finished {
                content: vec![ContentBlock::text(text_of(said, outputs))],
                outputs: Some(outputs.clone()),
            },
            Standing::Failed { node, fault } => Outcome::Failed {
                why: match node {
                    Some(node) => format!("`{node}` failed: {}", fault.message).into(),
                    None => fault.message.clone(),
                },
            },
            Standing::Cancelled => Outcome::Cancelled,
        })
    }
}

/// A question, behind what was said before it.
fn joined(said: &str, tips: &Arc<str>) -> Arc<str> {
    match (said.trim(), tips.trim()) {
        ("", _) => tips.clone(),
        (said, "") => said.into(),
        (said, tips) => format!("{said}\n\n{tips}").into(),
    }
}

/// What a model reads of a run: what was said, else its outputs.
fn text_of(said: &str, outputs: &Object) -> String {
    if !said.trim().is_empty() {
        return said.to_owned();
    }
    let mut values = outputs.values();
    match (values.next(), values.next()) {
        (Some(Value::String(only)), None) => only.to_string(),
        (None, _) => String::new(),
        _ => Value::from(outputs.clone()).to_json_text(),
    }
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The caller has no such run.
    #[error("There is no run `{0}` that you may see.")]
    UnknownRun(Arc<str>),
    /// The run does not wait for this.
    #[error("The run `{run}` does not wait for this answer: it is {state}.")]
    NotWaiting {
        /// The run.
        run: Arc<str>,
        /// How it stands: `running`, `finished`.
        state: Arc<str>,
    },
    /// An answer fits no open field.
    #[error("The answer fits no open field. Open are: {}.", .0.join(", "))]
    Unfit(Vec<Arc<str>>),
    /// What was given does not suit the agent.
    #[error("{0}")]
    Arguments(Arc<str>),
    /// There is too much to do just now.
    #[error("{0}")]
    Busy(Arc<str>),
    /// The caller must not do this.
    #[error("{0}")]
    Forbidden(Arc<str>),
    /// Something of the server failed.
    #[error("{0}")]
    Broken(Arc<str>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(json: serde_json::Value) -> Object {
        Value::from(json).as_object().cloned().unwrap()
    }

    fn text(standing: Standing, said: &str) -> String {
        match Outcome::of(&standing, said, 0) {
            Some(Outcome::Finished { content, .. }) => content[0].as_text().unwrap().text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_model_reads_what_was_said_or_else_the_outputs() {
        let outputs = object(json!({"content": "Hello", "n": 1}));
        let finished = |outputs| Standing::Finished { outputs };
        assert_eq!(text(finished(outputs.clone()), "Hi!"), "Hi!");
        assert_eq!(text(finished(outputs), ""), r#"{"content":"Hello","n":1}"#);
        assert_eq!(text(finished(object(json!({"a": "x"}))), ""), "x");
        assert_eq!(text(finished(Object::new()), ""), "");
    }

    #[test]
    fn a_run_that_goes_on_came_to_nothing_yet() {
        assert!(Outcome::of(&Standing::Running, "so far", 0).is_none());
    }
}
