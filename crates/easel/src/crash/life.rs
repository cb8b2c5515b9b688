//! One life of a process that drives a workflow: it takes up what an earlier one left, says what is left to be said, and
//! tells how it all ended.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use easel_runtime::canvas::document::Document;
use easel_runtime::clock::StandingClock;
use easel_runtime::components::HistoryEntry;
use easel_runtime::core::bind::Activation;
use easel_runtime::core::event::{Event, Fact};
use easel_runtime::{
    Conversation, Decision, Ending, Engine, Input, Journal, Origin, RunLimits, Said, ScriptedWorld,
    Standing, Timestamp, UncertainWrite, Workflow,
};
use easel_server::host::{Busy, Host, HostError, HostLimits, Message, TurnEnd};
use easel_store::{Dialect, Location, NewSession, RunFilter, RunRecord, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::examples;
use super::killer::{DyingJournal, Killer, Moment};
use super::moments::{self, Described};
use super::record::{AttemptKey, History, Record};
use super::watch::{Watch, current_run};
use crate::case;
use crate::config::Config;
use crate::keyring;
use crate::problem::{Problem, sentence};
use crate::run::name_the_message;

/// 2026-01-02 03:04:05 UTC, when the first life begins.
const NOW: Timestamp = Timestamp(1_767_323_045_000);

/// The conversation.
const SESSION: &str = "crash-test";

/// How long one life takes at most.
const PATIENCE: Duration = Duration::from_secs(120);

/// Answers to a workflow that asks again and again.
const MOST_ANSWERS: usize = 50;

/// What is run, the same in every life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// What the workflow is compiled from: a file.
    pub workflow: PathBuf,
    /// It is a graph.
    pub graph: bool,
    /// What is said, turn by turn, in the form of a case's `turns.json`.
    pub turns: Vec<Json>,
    /// Whether the conversation goes on from what the canvas holds.
    pub goes_on: bool,
    /// Whether questions that are left are answered with example values.
    pub examples: bool,
    /// The script of the world.
    pub world: Json,
    /// The settings.
    pub config: Option<PathBuf>,
    /// Attempts under way at once.
    pub concurrency: u32,
    /// Whether it also dies between commits.
    pub every_event: bool,
}

/// Which life it is.
pub struct Life<'a> {
    /// From 1.
    pub number: u32,
    /// At which moment it ends.
    pub die_at: Option<u64>,
    /// Where the store is.
    pub location: &'a Location,
    /// The record of the world.
    pub record: &'a Path,
    /// What an undisturbed run did outside, where that is known.
    pub undisturbed: Option<&'a History>,
}

/// How it all ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What lasts: runs with their standing and messages, what was said, what the conversation keeps.
    pub result: Json,
    /// Why it could not go on.
    pub error: Option<String>,
    /// Questions that the world's record cannot answer.
    pub undecided: Vec<String>,
    /// The moments at which it could have died.
    pub moments: Vec<Described>,
}

struct Living<'a> {
    spec: &'a Spec,
    life: &'a Life<'a>,
    host: Arc<Host>,
    watch: Arc<Watch>,
    document: Arc<str>,
    workflow: Arc<Workflow>,
    outcome: Outcome,
}

/// Lives.
pub async fn live(spec: &Spec, life: &Life<'_>) -> Result<Outcome, Problem> {
    match tokio::time::timeout(PATIENCE, live_on(spec, life)).await {
        Ok(lived) => lived,
        Err(_) => {
            let seconds = PATIENCE.as_secs();
            Err(
                Problem::usage(format!("The workflow is not done after {seconds} s."))
                    .fix("Give it less to do: a crash test runs it many times."),
            )
        }
    }
}

async fn live_on(spec: &Spec, life: &Life<'_>) -> Result<Outcome, Problem> {
    let store = Store::open(life.location).await.map_err(failed)?;
    let _lock = match life.location {
        Location::Folder(folder) => Some(Store::lock_folder(folder).map_err(failed)?),
        Location::Database(_) => None,
    };
    let bytes = crate::read::bytes(&spec.workflow)?;
    let dialect = match spec.graph {
        true => Dialect::Graph,
        false => Dialect::Canvas,
    };
    let document = store.put_document(dialect, bytes).await.map_err(failed)?;
    let known = runs(&store).await?;
    let mut now = NOW;
    for run in &known {
        // The process before is dead, and so is its claim.
        if let Some(worker) = &run.worker {
            store.retire(worker).await.map_err(failed)?;
        }
        let journal = store.read(&run.id).await.map_err(failed)?;
        now = journal.last().map_or(now, |event| now.max(event.at));
    }
    let record = Record::open(life.record, life.number)
        .map_err(|error| Problem::file(life.record, "used", &error))?;
    let killer = Killer::new(spec.every_event, life.die_at);
    let canceller = Arc::new(std::sync::OnceLock::<std::sync::Weak<Host>>::new());
    let cancel = {
        let canceller = canceller.clone();
        move || {
            let host = canceller.get().and_then(std::sync::Weak::upgrade);
            let live = host
                .zip(current_run())
                .and_then(|(host, run)| host.live(&run));
            if let Some(live) = live {
                live.stop();
            }
        }
    };
    let script = ScriptedWorld::read(spec.world.clone(), cancel).map_err(|error| {
        Problem::usage("The scripted world has another form than it should.")
            .because(sentence(&error.to_string()))
    })?;
    let watch = Watch::new(record, killer.clone(), script);
    let engine = engine(spec, &watch, &store, &killer, now, known.len())?;
    let host = Host::new(store.clone(), engine, HostLimits::default());
    let _ = canceller.set(Arc::downgrade(&host));
    host.recover().await.map_err(failed)?;
    let workflow = host.workflow(&document).await.map_err(failed)?;
    if !spec.graph && store.session(SESSION).await.map_err(failed)?.is_none() {
        let held = workflow.canvas().filter(|_| spec.goes_on);
        let session = NewSession {
            id: Some(SESSION.to_owned()),
            document: document.to_string(),
            conversation: held.map(lasting).unwrap_or_default(),
            said: held.map(said).unwrap_or_default(),
            ..NewSession::default()
        };
        store.create_session(session).await.map_err(failed)?;
    }
    let mut living = Living {
        spec,
        life,
        host,
        watch,
        document,
        workflow,
        outcome: Outcome::default(),
    };
    living.go_on().await?;
    living.tell().await?;
    let outcome = std::mem::take(&mut living.outcome);
    store.close().await;
    Ok(outcome)
}

/// What a canvas holds of an earlier conversation.
fn lasting(canvas: &Document) -> Conversation {
    let mut variables = canvas.globals();
    // It follows from what was said.
    variables.shift_remove("sys.history");
    let memory = canvas.memory().into_iter();
    Conversation {
        variables,
        memory: memory.map(|entry| entry.to_vec().into()).collect(),
        ..Conversation::default()
    }
}

/// What was said in it.
fn said(canvas: &Document) -> Vec<Said> {
    let entry = |entry: easel_runtime::canvas::state::HistoryEntry| Said {
        entry: HistoryEntry::new(&entry.role, entry.payload),
        run: "".into(),
        at: NOW,
        files: Vec::new(),
        reference: None,
    };
    canvas.history().into_iter().map(entry).collect()
}

/// The engine: a scripted world, a clock that stands still, a journal that may die.
fn engine(
    spec: &Spec,
    watch: &Arc<Watch>,
    store: &Store,
    killer: &Arc<Killer>,
    now: Timestamp,
    runs: usize,
) -> Result<Arc<Engine>, Problem> {
    let python = Config::read(spec.config.as_deref())?.python;
    let builder = Engine::builder()
        .limits(RunLimits {
            concurrency: spec.concurrency,
            ..RunLimits::default()
        })
        .model(watch.model())
        .world(watch.world())
        .around(watch.around())
        .sandbox(python.sandbox()?)
        .secrets(keyring::resolver()?)
        .clock(Arc::new(StandingClock::at(now)))
        .seed(1 + runs as u64)
        .journal(Arc::new(DyingJournal {
            store: store.clone(),
            killer: killer.clone(),
        }));
    builder.build().map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Problem {
    Problem::usage(sentence(&error.to_string()))
}

/// All runs, the oldest first.
async fn runs(store: &Store) -> Result<Vec<RunRecord>, Problem> {
    let filter = RunFilter {
        limit: 100,
        ..RunFilter::default()
    };
    let page = store.runs(&filter).await.map_err(failed)?;
    let mut runs = Vec::new();
    for summary in page.items.iter().rev() {
        runs.extend(store.run(&summary.id).await.map_err(failed)?);
    }
    Ok(runs)
}

impl Living<'_> {
    /// Takes up what is under way, decides what is uncertain, and says what is left to be said.
    async fn go_on(&mut self) -> Result<(), Problem> {
        loop {
            if !self.settle().await? {
                return Ok(());
            }
            let Some(input) = self.next_input().await? else {
                return Ok(());
            };
            let said = self.say(input).await;
            match said.as_deref().map(|end| &end.ending) {
                Ok(Ok(Ending::Unfit)) => {
                    self.outcome.error = Some("The answer fits no open field.".to_owned());
                    return Ok(());
                }
                Ok(Ok(_)) => {}
                Ok(Err(error)) => {
                    self.outcome.error = Some(error.to_string());
                    return Ok(());
                }
                Err(error) => {
                    self.outcome.error = Some(error.to_string());
                    return Ok(());
                }
            }
        }
    }

    async fn say(&self, input: Input) -> Result<Arc<TurnEnd>, HostError> {
        let live = match (self.spec.graph, runs(self.host.store()).await) {
            (false, _) => {
                let message = Message {
                    session: SESSION.into(),
                    input,
                    origin: self.origin(),
                    busy: Busy::Queue,
                    abandon: false,
                    opened: None,
                };
                self.host.say(message).await?
            }
            (true, Ok(runs)) if runs.last().is_some_and(|run| !run.standing.is_over()) => {
                let run = runs.last().map(|run| run.id.clone()).unwrap_or_default();
                self.host.answer(&run, input).await?
            }
            (true, _) => self.host.run(input, self.origin()).await?,
        };
        Ok(live.end().await)
    }

    fn origin(&self) -> Origin {
        Origin {
            document: self.document.clone(),
            trigger: "cli".into(),
            ..Origin::default()
        }
    }

    /// Drives what is under way until it waits or is over. False if somebody else would have to decide.
    async fn settle(&mut self) -> Result<bool, Problem> {
        let mut tried = HashSet::new();
        loop {
            let runs = runs(self.host.store()).await?;
            let open = runs
                .into_iter()
                .find(|run| matches!(run.standing, Standing::Running | Standing::Uncertain { .. }));
            let Some(run) = open else {
                return Ok(true);
            };
            let live = match &run.standing {
                Standing::Uncertain { writes } => match self.decide(&run, writes).await? {
                    Some((activation, decision)) => {
                        self.host.decide(&run.id, activation, decision).await
                    }
                    None => return Ok(false),
                },
                _ => self.host.resume(&run.id).await,
            };
            match live {
                Ok(live) => drop(live.end().await),
                // It was over, or taken up, between the look at it and this.
                Err(HostError::Elsewhere(_) | HostError::NothingToDrive { .. })
                    if tried.insert(run.entries) || tried.len() < 20 =>
                {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                Err(error) => {
                    self.outcome.error = Some(error.to_string());
                    return Ok(false);
                }
            }
        }
    }

    /// What the world's record says about the first write that it knows something about.
    async fn decide(
        &mut self,
        run: &RunRecord,
        writes: &[UncertainWrite],
    ) -> Result<Option<(u64, Decision)>, Problem> {
        let state = self.host.state_at(&run.id, None).await.map_err(failed)?;
        let Some((_, machine)) = state else {
            return Ok(None);
        };
        let seen = History::new(self.watch.record.entries());
        for write in writes {
            let of = AttemptKey {
                key: self.watch.record.key(&run.id, &write.key),
                attempt: machine
                    .attempt_of(Activation(write.activation))
                    .unwrap_or_default(),
            };
            let called = seen.calls_of(&of);
            let undisturbed = self.life.undisturbed;
            let end = match seen.end(&of) {
                Some(end) => Some(end),
                None if called == 0 => return Ok(Some((write.activation, Decision::Repeat))),
                // It was cut short behind its last call: what it would have come to is known.
                None => undisturbed
                    .filter(|whole| whole.calls_of(&of) == called)
                    .and_then(|whole| whole.end(&of)),
            };
            match end {
                Some(end) => {
                    let decision = match (&end.ports, &end.fault) {
                        (Some(ports), _) => Decision::Happened(ports.to_object()),
                        (None, fault) => Decision::Failed(fault.as_deref().unwrap_or("").into()),
                    };
                    return Ok(Some((write.activation, decision)));
                }
                None => self.outcome.undecided.push(write.question.to_string()),
            }
        }
        Ok(None)
    }

    /// What is to be said next; `None` if nothing is.
    async fn next_input(&self) -> Result<Option<Input>, Problem> {
        let runs = runs(self.host.store()).await?;
        let mut accepted = 0;
        for run in &runs {
            let journal = self.host.store().read(&run.id).await.map_err(failed)?;
            accepted += journal.iter().filter(|event| is_turn(event)).count();
        }
        if let Some(turn) = self.spec.turns.get(accepted) {
            let turn = serde_json::from_value(turn.clone()).map_err(failed)?;
            let mut input = case::turn_input(&turn);
            if let Some(graph) = self.workflow.graph().filter(|_| accepted == 0) {
                name_the_message(graph.document(), &mut input);
            }
            return Ok(Some(input));
        }
        let asked = runs.last().and_then(|run| match &run.standing {
            Standing::Waiting { fields, .. } => Some(fields),
            _ => None,
        });
        let Some(fields) = asked.filter(|_| self.spec.examples) else {
            return Ok(None);
        };
        if accepted >= self.spec.turns.len() + MOST_ANSWERS {
            return Err(Problem::usage(format!(
                "The workflow still asks after {MOST_ANSWERS} answers."
            ))
            .fix("Give answers that bring it to its end, each with --answer."));
        }
        Ok(Some(Input {
            inputs: examples::answers(fields),
            ..Input::default()
        }))
    }

    /// Reads what lasts.
    async fn tell(&mut self) -> Result<(), Problem> {
        let store = self.host.store().clone();
        let runs = runs(&store).await?;
        let mut told = Vec::new();
        for run in &runs {
            let log = self.host.log(&run.id, None).await.map_err(failed)?;
            told.push(json!({
                "standing": run.standing,
                "usage": run.usage,
                "messages": moments::messages(&log),
                "nodes": moments::finished(&log),
            }));
        }
        let conversation = store.conversation(SESSION).await.map_err(failed)?;
        let (lasts, said) = conversation.unwrap_or_default();
        let said = said
            .iter()
            .map(|said| json!({"entry": said.entry, "run": said.run, "reference": said.reference}));
        let said: Vec<Json> = said.collect();
        let mut text = json!({"runs": told, "conversation": lasts, "said": said}).to_string();
        for (place, run) in runs.iter().enumerate() {
            text = text.replace(&*run.id, &format!("run {}", place + 1));
        }
        self.outcome.result = serde_json::from_str(&text).map_err(failed)?;
        if self.life.number == 1 {
            let mut journals = Vec::new();
            for run in &runs {
                let journal = store.read(&run.id).await.map_err(failed)?;
                journals.push((run.id.clone(), journal));
            }
            let said = self.said().await?;
            let moments: Vec<Moment> = self.watch.killer.moments();
            self.outcome.moments = moments::describe(moments, &self.workflow, &journals, &said);
        }
        Ok(())
    }

    async fn said(&self) -> Result<Vec<HistoryEntry>, Problem> {
        let conversation = self.host.store().conversation(SESSION).await;
        let (_, said) = conversation.map_err(failed)?.unwrap_or_default();
        Ok(said.into_iter().map(|said| said.entry).collect())
    }
}

/// Whether a turn began with it.
fn is_turn(event: &Event) -> bool {
    matches!(event.fact, Fact::Started(_) | Fact::Answered(_))
}
