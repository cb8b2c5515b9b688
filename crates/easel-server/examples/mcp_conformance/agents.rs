//! Tools of the suite that are what agents are: they say something, make something, fail, get on, ask.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use easel_runtime::{Object, Timestamp, Value};
use easel_server::mcp::{
    Agent, Agents, Answer, Call, Look, Outcome, Question, Refusal, Running, Step,
};
use futures::{Stream, StreamExt, stream};
use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::json;
use tokio::sync::watch;

/// A red dot as PNG.
pub const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// Silence as WAV.
const SILENCE: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/// Longer than a client waits in a call.
const WHILE: Duration = Duration::from_millis(1_000);

/// The only caller there is.
#[derive(Clone, Debug)]
pub struct Judge;

/// The agents, and their runs.
#[derive(Default)]
pub struct Fixture {
    count: AtomicU64,
    runs: Mutex<HashMap<Arc<str>, Run>>,
}

/// A run, what it was told so far, and what it came to.
#[derive(Clone)]
struct Run {
    agent: Arc<str>,
    given: Object,
    outcome: watch::Sender<Option<Outcome>>,
    began: Timestamp,
}

/// What an agent does next with what it was given.
struct Turn {
    progress: Vec<&'static str>,
    lasts: Duration,
    outcome: Outcome,
}

/// The inputs and the description of an agent.
struct Declared {
    name: &'static str,
    about: &'static str,
    inputs: serde_json::Value,
}

fn declared() -> Vec<Declared> {
    let agent = |name, about, inputs| Declared {
        name,
        about,
        inputs,
    };
    let none = || json!({"note": {"name": "Note", "type": "line", "optional": true}});
    let message = json!({"message": {"name": "Message", "type": "line"}});
    vec![
        agent("test_simple_text", "Says a sentence.", none()),
        agent("test_image_content", "Makes an image.", none()),
        agent("test_audio_content", "Makes a sound.", none()),
        agent("test_embedded_resource", "Makes a file.", none()),
        agent(
            "test_multiple_content_types",
            "Makes several things.",
            none(),
        ),
        agent("test_error_handling", "Fails.", none()),
        agent("test_tool_with_progress", "Gets on step by step.", none()),
        agent(
            "test_elicitation",
            "Asks for a name and an address.",
            message,
        ),
        agent(
            "test_elicitation_sep1034_defaults",
            "Asks with suggestions.",
            none(),
        ),
        agent("test_streaming_elicitation", "Gets on and asks.", none()),
        agent(
            "test_input_required_result_elicitation",
            "Asks for a name.",
            none(),
        ),
        agent(
            "test_input_required_result_request_state",
            "Asks for a yes.",
            none(),
        ),
        agent(
            "test_input_required_result_tampered_state",
            "Asks for a yes.",
            none(),
        ),
        agent(
            "test_input_required_result_multi_round",
            "Asks twice.",
            none(),
        ),
        agent("greet", "Greets.", json!({"name": {"type": "line"}})),
        agent(
            "slow_compute",
            "Takes as long as it is told.",
            json!({"seconds": {"type": "number"}, "label": {"type": "line", "optional": true}}),
        ),
        agent("failing_job", "Fails after a while.", none()),
        agent(
            "confirm_delete",
            "Asks after a while.",
            json!({"filename": {"type": "line"}}),
        ),
        agent(
            "test_tool_with_task",
            "Asks and then takes a while.",
            none(),
        ),
    ]
}

/// What an agent does, given what it was told.
fn turn(agent: &str, given: &Object) -> Turn {
    let text = |text: &str| Outcome::Finished {
        content: vec![ContentBlock::text(text)],
        outputs: None,
    };
    let made = |content| Outcome::Finished {
        content,
        outputs: None,
    };
    let said = |key: &str| given.get(key).and_then(Value::as_str).unwrap_or_default();
    let all = || Value::from(given.clone()).to_json_text();
    let mut progress = Vec::new();
    let mut lasts = Duration::ZERO;
    let outcome = match agent {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => made(vec![ContentBlock::image(DOT, "image/png")]),
        "test_audio_content" => made(vec![ContentBlock::audio(SILENCE, "audio/wav")]),
        "test_embedded_resource" => made(vec![ContentBlock::embedded_text(
            "test://embedded-resource",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => made(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(DOT, "image/png"),
            ContentBlock::resource(
                ResourceContents::text(
                    r#"{"test":"data","value":123}"#,
                    "test://mixed-content-resource",
                )
                .with_mime_type("application/json"),
            ),
        ]),
        "test_error_handling" => Outcome::Failed {
            why: "This tool intentionally returns an error for testing".into(),
        },
        "test_tool_with_progress" => {
            progress = vec!["first", "second", "third"];
            text("It got on.")
        }
        "test_elicitation" if !given.contains_key("username") => question(
            "form",
            said("message"),
            json!({
                "username": {"type": "line", "description": "User's response"},
                "email": {"type": "line", "description": "User's email address"},
            }),
        ),
        "test_elicitation" => text(&format!("User response: {}", all())),
        "test_elicitation_sep1034_defaults" if !given.contains_key("name") => question(
            "form",
            "Please look these over.",
            json!({
                "name": {"type": "line", "value": "John Doe"},
                "age": {"type": "integer", "value": 30},
                "score": {"type": "number", "value": 95.5},
                "status": {
                    "type": "options",
                    "options": ["active", "inactive", "pending"],
                    "value": "active"
                },
                "verified": {"type": "boolean", "value": true},
            }),
        ),
        "test_elicitation_sep1034_defaults" => text(&format!("Elicitation completed: {}", all())),
        "test_streaming_elicitation" if !given.contains_key("name") => {
            progress = vec!["first", "second"];
            question(
                "user_name",
                "What is your name?",
                json!({"name": {"type": "line"}}),
            )
        }
        "test_input_required_result_elicitation" if !given.contains_key("name") => question(
            "user_name",
            "What is your name?",
            json!({"name": {"type": "line"}}),
        ),
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
            text(&format!("Hello, {}!", said("name")))
        }
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => match given.contains_key("ok") {
            true => text("state-ok"),
            false => question(
                "confirm",
                "Please confirm",
                json!({"ok": {"type": "boolean"}}),
            ),
        },
        "test_input_required_result_multi_round" if !given.contains_key("name") => {
            let fields = json!({"name": {"type": "line"}});
            question("step1", "Step 1: What is your name?", fields)
        }
        "test_input_required_result_multi_round" if !given.contains_key("color") => {
            let fields = json!({"color": {"type": "line"}});
            question("step2", "Step 2: What is your favorite color?", fields)
        }
        "test_input_required_result_multi_round" => {
            text(&format!("{} likes {}.", said("name"), said("color")))
        }
        "greet" => text(&format!("Hello, {}!", said("name"))),
        "slow_compute" => {
            let seconds = given.get("seconds").and_then(Value::as_f64);
            lasts = Duration::try_from_secs_f64(seconds.unwrap_or_default()).unwrap_or_default();
            text("Computed.")
        }
        "failing_job" => {
            lasts = WHILE;
            Outcome::Failed {
                why: "This job intentionally fails.".into(),
            }
        }
        "confirm_delete" if !given.contains_key("confirm") => {
            lasts = WHILE;
            let fields = json!({"confirm": {"type": "boolean", "optional": true}});
            question("confirm", &format!("Delete {}?", said("filename")), fields)
        }
        "confirm_delete" => text(&format!("Done with {}.", said("filename"))),
        "test_tool_with_task" if !given.contains_key("name") => question(
            "user_name",
            "What is your name?",
            json!({"name": {"type": "line"}}),
        ),
        "test_tool_with_task" => {
            lasts = WHILE;
            text(&format!("Hello, {}!", said("name")))
        }
        other => Outcome::Failed {
            why: format!("`{other}` does nothing.").into(),
        },
    };
    Turn {
        progress,
        lasts,
        outcome,
    }
}

fn question(key: &str, text: &str, fields: serde_json::Value) -> Outcome {
    Outcome::Waiting(Question {
        number: 0,
        key: key.into(),
        text: text.into(),
        fields: object(fields),
    })
}

fn object(json: serde_json::Value) -> Object {
    Value::from(json).as_object().cloned().unwrap_or_default()
}

impl Fixture {
    fn runs(&self) -> MutexGuard<'_, HashMap<Arc<str>, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a turn of a run.
    fn make(&self, run: Arc<str>, agent: Arc<str>, given: Object) -> Running {
        let Turn {
            progress,
            lasts,
            mut outcome,
        } = turn(&agent, &given);
        if let Outcome::Waiting(question) = &mut outcome {
            question.number = self.count.fetch_add(1, Ordering::Relaxed);
        }
        let (sender, seen) = watch::channel(None);
        let made = Run {
            agent,
            given,
            outcome: sender.clone(),
            began: now(),
        };
        self.runs().insert(run.clone(), made);
        let step = Duration::from_millis(30);
        let steps = u32::try_from(progress.len()).unwrap_or_default();
        tokio::spawn(async move {
            tokio::time::sleep(lasts.max(step * (steps + 1))).await;
            // One that was cancelled stays so.
            sender.send_if_modified(|seen| {
                let open = seen.is_none();
                seen.get_or_insert(outcome);
                open
            });
        });
        let progress = stream::iter(progress).then(move |line| async move {
            tokio::time::sleep(step).await;
            Step::Progress(line.into())
        });
        Running {
            run,
            steps: progress.chain(stopped(seen)).boxed(),
        }
    }

    fn find(&self, run: &str) -> Result<Run, Refusal> {
        let found = self.runs().get(run).cloned();
        found.ok_or_else(|| Refusal::UnknownRun(run.into()))
    }
}

impl Agents for Fixture {
    type Caller = Judge;

    fn identity(&self, _: &Judge) -> Arc<str> {
        "judge".into()
    }

    async fn agents(&self, _: &Judge) -> Result<Vec<Agent>, Refusal> {
        let agents = declared().into_iter().map(|agent| Agent {
            id: agent.name.into(),
            title: agent.name.into(),
            description: agent.about.into(),
            inputs: object(agent.inputs),
            reads_only: false,
        });
        Ok(agents.collect())
    }

    async fn start(&self, _: &Judge, call: Call) -> Result<Running, Refusal> {
        let run = format!("run-{}", self.count.fetch_add(1, Ordering::Relaxed));
        Ok(self.make(run.into(), call.agent, call.inputs))
    }

    async fn resume(&self, _: &Judge, answer: Answer) -> Result<Running, Refusal> {
        let Run {
            agent,
            mut given,
            outcome,
            ..
        } = self.find(&answer.run)?;
        let came_to = outcome.borrow().clone();
        let open = match came_to {
            Some(Outcome::Waiting(open)) if answer.question.is_none_or(|n| n == open.number) => {
                open
            }
            _ => {
                return Err(Refusal::NotWaiting {
                    run: answer.run,
                    state: "somewhere else".into(),
                });
            }
        };
        let before = given.len();
        let fitting = answer.fields.into_iter();
        given.extend(fitting.filter(|(key, _)| open.fields.contains_key(key)));
        match given.len() == before {
            true => Err(Refusal::Unfit(open.fields.keys().cloned().collect())),
            false => Ok(self.make(answer.run, agent, given)),
        }
    }

    async fn follow(&self, _: &Judge, run: &str) -> Result<Running, Refusal> {
        let found = self.find(run)?;
        Ok(Running {
            run: run.into(),
            steps: stopped(found.outcome.subscribe()).boxed(),
        })
    }

    async fn look(&self, _: &Judge, run: &str) -> Result<Look, Refusal> {
        let found = self.find(run)?;
        let outcome = found.outcome.borrow().clone();
        Ok(Look {
            outcome,
            created: found.began,
            updated: now(),
        })
    }

    async fn cancel(&self, _: &Judge, run: &str) -> Result<(), Refusal> {
        self.find(run)?.outcome.send_if_modified(|seen| {
            let open = matches!(seen, None | Some(Outcome::Waiting(_)));
            if open {
                *seen = Some(Outcome::Cancelled);
            }
            open
        });
        Ok(())
    }
}

/// What a run came to, once it did.
fn stopped(mut seen: watch::Receiver<Option<Outcome>>) -> impl Stream<Item = Step> + Send {
    let outcome = async move {
        let outcome = seen.wait_for(Option::is_some).await;
        outcome.ok().and_then(|outcome| outcome.clone())
    };
    stream::once(outcome).filter_map(|outcome| async { outcome.map(Step::Stopped) })
}

fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or_default())
}
