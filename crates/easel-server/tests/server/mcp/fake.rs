//! Agents that are made up, for users that are made up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use easel_runtime::{Object, Timestamp, Value};
use easel_server::mcp::{
    ANSWERS, Agent, Agents, Answer, Call, Look, Outcome, Question, Refusal, Running, Step,
};
use futures::{StreamExt, stream};
use rmcp::model::ContentBlock;
use serde_json::json;
use tokio::sync::watch;

/// A user, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct User(pub String);

/// Agents of everybody, and runs of each.
#[derive(Default)]
pub struct Fake {
    runs: Mutex<HashMap<Arc<str>, Run>>,
}

#[derive(Clone)]
pub struct Run {
    pub owner: User,
    pub call: Call,
    /// What it was answered so far.
    pub answers: Object,
    /// How it stands; `None` while it goes on.
    pub outcome: watch::Sender<Option<Outcome>>,
}

impl Fake {
    /// A run, by what is known of it.
    pub fn run(&self, run: &str) -> Run {
        self.runs.lock().unwrap()[run].clone()
    }

    /// The only run there is.
    pub fn only(&self) -> (Arc<str>, Run) {
        let runs = self.runs.lock().unwrap();
        assert_eq!(runs.len(), 1);
        let (id, run) = runs.iter().next().unwrap();
        (id.clone(), run.clone())
    }

    /// How many runs there are.
    pub fn count(&self) -> usize {
        self.runs.lock().unwrap().len()
    }

    /// Lets a run that waits for it come to its end.
    pub fn finish(&self, run: &str, text: &str) {
        self.run(run).outcome.send_replace(Some(said(text)));
    }

    fn find(&self, user: &User, run: &str) -> Result<Run, Refusal> {
        let runs = self.runs.lock().unwrap();
        let found = runs.get(run).filter(|run| run.owner == *user);
        found
            .cloned()
            .ok_or_else(|| Refusal::UnknownRun(run.into()))
    }

    fn follow_run(&self, id: Arc<str>, run: &Run) -> Running {
        let mut seen = run.outcome.subscribe();
        let stopped = async move {
            let outcome = seen.wait_for(Option::is_some).await.unwrap().clone();
            Step::Stopped(outcome.unwrap())
        };
        let progress = ["Search", "Write"].map(|line| Step::Progress(line.into()));
        Running {
            run: id,
            steps: stream::iter(progress).chain(stream::once(stopped)).boxed(),
        }
    }
}

fn said(text: &str) -> Outcome {
    Outcome::Finished {
        content: vec![ContentBlock::text(text)],
        outputs: Some(object(json!({"content": text}))),
    }
}

fn object(json: serde_json::Value) -> Object {
    Value::from(json).as_object().cloned().unwrap()
}

/// What an agent comes to with what it was given; `None` if it goes on until it is let go.
fn outcome(call: &Call, answers: &Object) -> Option<Outcome> {
    let answer = |key: &str| answers.get(key).and_then(Value::as_str);
    match &*call.agent {
        "echo" => Some(said(&format!("You said: {}", call.query))),
        "weather" => Some(said(&Value::from(call.inputs.clone()).to_json_text())),
        "broken" => Some(Outcome::Failed {
            why: "`Search` failed: no answer".into(),
        }),
        "slow" => None,
        "asks" => Some(match (answer("name"), answer("colour")) {
            (Some(name), Some(colour)) => said(&format!("{name} likes {colour}.")),
            (Some(_), None) => question(2, "Which colour?", json!({"colour": {"type": "line"}})),
            _ => question(1, "What is your name?", json!({"name": {"type": "line"}})),
        }),
        other => panic!("{other}"),
    }
}

fn question(number: u64, text: &str, fields: serde_json::Value) -> Outcome {
    Outcome::Waiting(Question {
        number,
        key: ANSWERS.into(),
        text: text.into(),
        fields: object(fields),
    })
}

impl Agents for Fake {
    type Caller = User;

    fn identity(&self, user: &User) -> Arc<str> {
        user.0.as_str().into()
    }

    async fn agents(&self, user: &User) -> Result<Vec<Agent>, Refusal> {
        let agent = |id: &str, title: &str, inputs: serde_json::Value| Agent {
            id: id.into(),
            title: title.into(),
            description: format!("The agent {id}.").into(),
            inputs: object(inputs),
            reads_only: id == "weather",
        };
        let city = json!({"name": "City", "type": "line"});
        let days = json!({"name": "Days", "type": "integer", "optional": true});
        let mut agents = vec![
            agent("echo", "Echo", json!({})),
            agent(
                "weather",
                "Weather report",
                json!({"city": city, "days": days}),
            ),
            agent("broken", "Broken", json!({})),
            agent("slow", "Slow", json!({})),
            agent("asks", "Asks", json!({})),
        ];
        // Somebody has many.
        if user.0 == "collector" {
            let many = (0..250).map(|n| agent("echo", &format!("Echo {n:03}"), json!({})));
            agents = many.collect();
        }
        Ok(agents)
    }

    async fn start(&self, user: &User, call: Call) -> Result<Running, Refusal> {
        let outcome = outcome(&call, &Object::new());
        let run = Run {
            owner: user.clone(),
            call,
            answers: Object::new(),
            outcome: watch::channel(outcome).0,
        };
        let id: Arc<str> = format!("run-{}", self.count()).into();
        self.runs.lock().unwrap().insert(id.clone(), run.clone());
        Ok(self.follow_run(id, &run))
    }

    async fn resume(&self, user: &User, answer: Answer) -> Result<Running, Refusal> {
        let mut run = self.find(user, &answer.run)?;
        let came_to = run.outcome.borrow().clone();
        let open = match came_to {
            Some(Outcome::Waiting(open)) if answer.question.is_none_or(|n| n == open.number) => {
                open
            }
            _ => {
                return Err(Refusal::NotWaiting {
                    run: answer.run,
                    state: "finished".into(),
                });
            }
        };
        if !answer
            .fields
            .keys()
            .any(|key| open.fields.contains_key(key))
        {
            return Err(Refusal::Unfit(open.fields.keys().cloned().collect()));
        }
        run.answers.extend(answer.fields);
        run.outcome = watch::channel(outcome(&run.call, &run.answers)).0;
        self.runs
            .lock()
            .unwrap()
            .insert(answer.run.clone(), run.clone());
        Ok(self.follow_run(answer.run, &run))
    }

    async fn follow(&self, user: &User, run: &str) -> Result<Running, Refusal> {
        let found = self.find(user, run)?;
        Ok(self.follow_run(run.into(), &found))
    }

    async fn look(&self, user: &User, run: &str) -> Result<Look, Refusal> {
        let outcome = self.find(user, run)?.outcome.borrow().clone();
        Ok(Look {
            outcome,
            created: Timestamp(1_000),
            updated: Timestamp(2_000),
        })
    }

    async fn cancel(&self, user: &User, run: &str) -> Result<(), Refusal> {
        let found = self.find(user, run)?;
        found.outcome.send_replace(Some(Outcome::Cancelled));
        Ok(())
    }
}
