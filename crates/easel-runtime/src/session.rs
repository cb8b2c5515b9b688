//! A conversation with a workflow: what lasts from one run to the next.

mod leaving;

use std::sync::Arc;
use std::time::Instant;

use easel_check::Diagnostic;
use easel_components::{HistoryEntry, Turn};
use easel_core::effect::Outcome;
use easel_core::event::{Answer, Fault, Start, Timestamp, Usage};
use easel_core::machine::{NodeLife, RunLife};
use easel_core::workflow::NodeId;
use easel_core::{Object, Value};
use easel_graph::admit::InputError;
use easel_graph::lower::names::INPUTS;
use easel_secrets::{Receipt, SecretError};

use leaving::standing_of;

use crate::driver::{Driver, Observer, Parts, TurnEnd};
use crate::engine::Engine;
use crate::input::{Input, given, read_files};
use crate::journal::{
    Conversation, ConversationChange, JournalError, Origin, Said, Standing, UncertainWrite,
};
use crate::masking;
use crate::recovery::NoStart;
use crate::timings::{Timings, with_waiting};
use crate::workflow::Workflow;

/// The variable that shows the conversation as lines.
pub(crate) const HISTORY: &str = "sys.history";

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// Everything that could run did.
    Finished,
    /// The run waits for an answer.
    Waiting,
    /// The answer fitted no open field; the run still waits.
    Unfit,
    /// Nobody knows whether these writes reached the outside; see [`Session::decide`].
    Uncertain(Vec<UncertainWrite>),
    /// A failure nobody handled.
    Failed {
        /// The id of the node that failed first.
        node: Option<Arc<str>>,
        /// Why.
        fault: Fault,
    },
    /// Somebody ended it.
    Cancelled,
}

/// Why a turn could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The check refuses the workflow.
    #[error("the workflow has a fault and must not run: {0}")]
    Refused(Box<Diagnostic>),
    /// A file cannot be read.
    #[error("an uploaded file cannot be read: {0}")]
    File(#[from] easel_tools::ToolError),
    /// The secrets that the workflow names cannot be masked.
    #[error(transparent)]
    Secrets(#[from] SecretError),
    /// The graph cannot run with these inputs.
    #[error("{}", inputs(.0))]
    Inputs(Vec<InputError>),
    /// The run to be taken up has no beginning.
    #[error(transparent)]
    NoStart(#[from] NoStart),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// All that is wrong with the inputs of a graph, as one sentence.
fn inputs(errors: &[InputError]) -> String {
    let errors: Vec<String> = errors.iter().map(InputError::to_string).collect();
    errors.join("; ")
}

/// A conversation. One turn at a time.
pub struct Session {
    pub(crate) engine: Arc<Engine>,
    pub(crate) workflow: Arc<Workflow>,
    id: Arc<str>,
    variables: Object,
    pub(crate) history: Vec<HistoryEntry>,
    retrieval: Vec<Value>,
    memory: Vec<Value>,
    pub(crate) kept_inputs: Object,
    pub(crate) turns: u32,
    usage: Usage,
    timings: Option<Timings>,
    pub(crate) driver: Option<Driver>,
    pub(crate) waiting: bool,
    unchecked: bool,
    /// Where its runs come from.
    origin: Option<Arc<Origin>>,
    /// The id that the next run gets.
    next_run: Option<Arc<str>>,
    /// How many entries of it the journal keeps, if it does.
    pub(crate) kept: Option<u64>,
}

impl Session {
    /// A conversation in which nothing was said: variables as declared.
    pub(crate) fn new(engine: Arc<Engine>, workflow: Arc<Workflow>) -> Session {
        let variables = workflow.variables.clone();
        let (id, _) = (engine.ids)();
        Session {
            engine,
            workflow,
            id,
            variables,
            history: Vec::new(),
            retrieval: Vec::new(),
            memory: Vec::new(),
            kept_inputs: Object::new(),
            turns: 0,
            usage: Usage::default(),
            timings: None,
            driver: None,
            waiting: false,
            unchecked: false,
            origin: None,
            next_run: None,
            kept: None,
        }
    }

    /// A conversation that the journal keeps, as it was left: what lasts of it, and all that was said.
    pub fn kept(
        engine: Arc<Engine>,
        workflow: Arc<Workflow>,
        id: Arc<str>,
        conversation: Conversation,
        said: Vec<Said>,
    ) -> Session {
        let mut session = Session::new(engine, workflow);
        session.id = id;
        session.kept = Some(said.len() as u64);
        session.variables.extend(conversation.variables);
        session.memory = conversation.memory;
        session.kept_inputs = conversation.kept_inputs;
        session.turns = conversation.turns;
        for said in said {
            session.retrieval.extend(said.reference);
            session.history.push(said.entry);
        }
        session
    }

    /// Says where the runs of the conversation come from.
    pub fn with_origin(self, origin: Origin) -> Session {
        Session {
            origin: Some(Arc::new(origin)),
            ..self
        }
    }

    /// Gives the next run that id.
    pub fn naming_run(self, id: Arc<str>) -> Session {
        Session {
            next_run: Some(id),
            ..self
        }
    }

    /// The id of the last run; `None` before the first.
    pub fn run(&self) -> Option<&Arc<str>> {
        let driver = self.driver.as_ref()?;
        Some(driver.machine().run())
    }

    /// Its id.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Runs the workflow also if the check refuses it: what is wrong fails when it is reached.
    pub fn despite_refusals(self) -> Session {
        Session {
            unchecked: true,
            ..self
        }
    }

    /// A conversation that goes on from what the canvas holds: variables, history, chunks. With a graph, which holds
    /// none of these, it is a new one.
    pub fn resumed(engine: Arc<Engine>, workflow: Arc<Workflow>) -> Session {
        let Some(document) = workflow.canvas() else {
            return Session::new(engine, workflow);
        };
        let entry = |entry: easel_canvas::state::HistoryEntry| {
            HistoryEntry::new(&entry.role, entry.payload)
        };
        let history = document.history().into_iter().map(entry).collect();
        let (variables, retrieval) = (document.globals(), document.retrieval());
        let memory = document.memory().into_iter().map(|m| m.to_vec().into());
        let memory = memory.collect();
        Session {
            variables,
            history,
            retrieval,
            memory,
            ..Session::new(engine, workflow.clone())
        }
    }

    /// Where the last run stands.
    pub fn standing(&self) -> Standing {
        let Some(driver) = &self.driver else {
            return Standing::default();
        };
        let end = match driver.machine().life() {
            RunLife::Waiting => TurnEnd::Waiting,
            RunLife::Running if driver.uncertain.is_empty() => return Standing::Running,
            RunLife::Running => TurnEnd::Uncertain,
            _ => TurnEnd::Over(driver.machine().outcome().cloned().unwrap_or(Outcome::Done)),
        };
        standing_of(driver, &end)
    }

    /// How many events of the last run are in the journal, and when the first and the last of them happened; of a run that
    /// was taken up, the first is when that was. `None` before the first run.
    pub fn extent(&self) -> Option<(u64, Timestamp, Timestamp)> {
        self.driver.as_ref().map(Driver::extent)
    }

    /// The workflow it is with.
    pub fn workflow(&self) -> &Arc<Workflow> {
        &self.workflow
    }

    /// The variables by name, as the last turn left them.
    pub fn variables(&self) -> &Object {
        &self.variables
    }

    /// The conversation, oldest entry first.
    pub fn history(&self) -> &[HistoryEntry] {
        &self.history
    }

    /// What was found in each turn that answers may cite, newest last.
    pub fn retrieval(&self) -> &[Value] {
        &self.retrieval
    }

    /// Summaries of tool calls.
    pub fn memory(&self) -> &[Value] {
        &self.memory
    }

    /// Tokens of models in the last run.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What the last run did with secrets so far: which reached what, and how much was searched for them. `None` before
    /// the first run.
    pub fn receipt(&self) -> Option<Receipt> {
        self.driver.as_ref().map(|driver| driver.gate().receipt())
    }

    /// Where the time of all turns went, if the engine is [timed](crate::Builder::timed).
    pub fn timings(&self) -> Option<Timings> {
        self.timings
    }

    /// True if the run waits for an answer.
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// What every node put out in the last run, in file order.
    pub fn outputs(&self) -> impl Iterator<Item = (&Arc<str>, Object)> {
        let nodes = self.workflow.compiled.nodes.iter().enumerate();
        nodes.filter(|(_, node)| !node.implicit).map(|(at, node)| {
            let machine = self.driver.as_ref().map(Driver::machine);
            let ports = machine.and_then(|m| m.ports(NodeId(at as u32)));
            let mut ports = ports.map(|ports| ports.to_object()).unwrap_or_default();
            if let Some(driver) = &self.driver {
                driver.gate().mask_object(&mut ports);
            }
            (&node.draft.id, ports)
        })
    }

    /// Where every node stands in the last run, in file order; of a node in a body, in the body's last pass. `None` where
    /// that never began.
    pub fn lives(&self) -> impl Iterator<Item = (&Arc<str>, Option<NodeLife>)> {
        let nodes = self.workflow.compiled.nodes.iter().enumerate();
        nodes.filter(|(_, node)| !node.implicit).map(|(at, node)| {
            let machine = self.driver.as_ref().map(Driver::machine);
            let life = machine.and_then(|m| m.life_of(NodeId(at as u32)));
            (&node.draft.id, life)
        })
    }

    /// What the last run gave out: of a graph its results by node, of a canvas the outputs of what spoke last.
    pub fn results(&self) -> Object {
        let results = self
            .driver
            .as_ref()
            .map(|driver| driver.outputs().to_object());
        results.unwrap_or_default()
    }

    /// Makes one turn: a fresh run, or an answer if the last run waits for one. What happens is put into `observe`.
    ///
    /// # Errors
    /// The workflow must not run, a file cannot be read, or the journal failed. The conversation is as it was before,
    /// but for a journal that failed on the way.
    pub async fn turn(
        &mut self,
        input: Input,
        observe: &mut Observer<'_>,
    ) -> Result<Ending, TurnError> {
        self.turn_until(input, observe, std::future::pending())
            .await
    }

    /// Makes one turn, and ends it as cancelled once `stop` resolves.
    ///
    /// # Errors
    /// As [`Session::turn`].
    pub async fn turn_until(
        &mut self,
        mut input: Input,
        observe: &mut Observer<'_>,
        stop: impl Future<Output = ()>,
    ) -> Result<Ending, TurnError> {
        if let Some(refusal) = self.workflow.refusals().next().filter(|_| !self.unchecked) {
            return Err(TurnError::Refused(Box::new(refusal.clone())));
        }
        let began = self.engine.timed.then(Instant::now);
        let files = match self.workflow.is_pipeline() {
            // Its steps read them as documents.
            true => None,
            false => read_files(&self.engine, &input).await?,
        };
        let resuming = self.waiting;
        let waiting = self.driver.as_ref().filter(|_| resuming);
        let (run, seed) = match waiting {
            Some(driver) => (driver.machine().run().clone(), 0),
            None => {
                let (drawn, seed) = (self.engine.ids)();
                (self.next_run.take().unwrap_or(drawn), seed)
            }
        };
        let gate = match waiting {
            Some(driver) => driver.gate().clone(),
            None => {
                let before = self.driver.as_ref().map(Driver::gate);
                self.engine.gate(run.clone(), &self.workflow, before)?
            }
        };
        gate.know(masking::header_values(&input))?;
        masking::input(&gate, &mut input);
        let mut doubts: Vec<Arc<str>> = Vec::new();
        let mut changed = match self.workflow.graph().filter(|_| !resuming) {
            Some(file) => {
                let admitted = file
                    .document()
                    .admit(given(&input))
                    .map_err(TurnError::Inputs)?;
                doubts = admitted
                    .warnings
                    .iter()
                    .map(|w| w.to_string().into())
                    .collect();
                Object::from_iter([(INPUTS.into(), Value::from(admitted.values))])
            }
            None => self.variables_for(&input, files, resuming),
        };
        gate.mask_object(&mut changed);
        let mut history = self.history.clone();
        masking::history(&gate, &mut history);
        history.push(HistoryEntry::new("user", input.said()));
        if self.kept.is_some() {
            changed.insert(HISTORY.into(), history_lines(&history));
        }
        let said = Said {
            entry: HistoryEntry::new("user", input.said()),
            run: run.clone(),
            at: self.engine.clock.now(),
            files: input.files.clone(),
            reference: None,
        };
        let turn = Arc::new(self.context(input, history.clone()));
        let context = serde_json::to_value(&*turn).map(Value::from);
        let mut context = context.unwrap_or_default();
        gate.mask_value(&mut context);
        let driver = match self.driver.as_mut().filter(|_| resuming) {
            Some(driver) => {
                let answer = Answer {
                    fields: turn.inputs.clone(),
                    text: (!turn.query.is_null()).then(|| turn.query.clone()),
                    variables: changed.clone(),
                    context,
                };
                let mut kept = answer.clone();
                forget_history(&mut kept.variables, self.kept);
                if !driver.answer(answer, kept, turn) {
                    let standing = standing_of(driver, &TurnEnd::Waiting);
                    driver.commit(standing, observe).await?;
                    return Ok(Ending::Unfit);
                }
                driver
            }
            None => {
                let mut variables = self.variables.clone();
                variables.extend(changed.clone());
                let start = Start {
                    run,
                    seed,
                    concurrency: self.engine.limits.concurrency,
                    node_runs: self.engine.limits.node_runs,
                    variables,
                    context,
                };
                let mut kept = start.clone();
                forget_history(&mut kept.variables, self.kept);
                if !turn.inputs.is_empty() {
                    self.kept_inputs = turn.inputs.clone();
                }
                let parts = Parts {
                    engine: self.engine.clone(),
                    workflow: self.workflow.clone(),
                    turn,
                    gate,
                };
                self.driver
                    .insert(Driver::start(parts, start, kept, doubts))
            }
        };
        let change = self.kept.as_mut().map(|kept| {
            let from = *kept;
            *kept += 1;
            ConversationChange {
                session: self.id.clone(),
                from,
                said: vec![said],
                after: None,
            }
        });
        driver.record(self.origin.clone().filter(|_| !resuming), change);
        self.turns += 1;
        self.history = history;
        self.variables.extend(changed);
        self.drive(began, observe, stop).await
    }

    /// Drives the run until the turn ends, and commits what it leaves.
    pub(crate) async fn drive(
        &mut self,
        began: Option<Instant>,
        observe: &mut Observer<'_>,
        stop: impl Future<Output = ()>,
    ) -> Result<Ending, TurnError> {
        let Some(driver) = &mut self.driver else {
            return Ok(Ending::Finished);
        };
        let driven = driver.drive_until(observe, stop);
        let (end, waiting) = with_waiting(driven, began.is_some()).await;
        if began.is_some() {
            let spent = driver.timings(began, waiting);
            self.timings.get_or_insert_default().add(spent);
        }
        let end = end?;
        let standing = standing_of(driver, &end);
        let ending = self.turn_over(end);
        if let Some(driver) = &mut self.driver {
            driver.commit(standing, observe).await?;
        }
        Ok(ending)
    }

    /// The `sys.*` variables that a turn sets (spec/canvas-engine §3.2).
    fn variables_for(&mut self, input: &Input, files: Option<Value>, resuming: bool) -> Object {
        let mut changed = Object::new();
        let said = !input.query.is_null();
        if said || !resuming {
            let query = match said {
                true => input.query.clone(),
                false => Value::from(""),
            };
            changed.insert("sys.query".into(), query);
        }
        if let Some(user) = &input.user {
            changed.insert("sys.user_id".into(), Value::from(user.clone()));
        }
        match files {
            Some(files) => drop(changed.insert("sys.files".into(), files)),
            None if !resuming => drop(changed.insert("sys.files".into(), Value::empty_array())),
            None => {}
        }
        let turns = self.variables.get("sys.conversation_turns");
        let turns = turns.and_then(Value::as_i64).unwrap_or(0);
        let turns = Value::from(turns.saturating_add(1));
        changed.insert("sys.conversation_turns".into(), turns);
        let now = self.engine.clock.shown(self.engine.clock.now());
        changed.insert("sys.date".into(), Value::from(now));
        if let Some(kwargs) = &input.chat_template_kwargs {
            changed.insert("sys.chat_template_kwargs".into(), kwargs.clone());
        }
        let spoken = match input.said() {
            Value::String(text) => text.to_string(),
            Value::Null => String::new(),
            other => other.to_json_text(),
        };
        let lines = self.variables.get(HISTORY).and_then(Value::as_array);
        let mut lines = lines.unwrap_or_default().to_vec();
        lines.push(Value::from(format!("user: {spoken}")));
        changed.insert(HISTORY.into(), Value::from(lines));
        changed
    }

    fn context(&self, input: Input, history: Vec<HistoryEntry>) -> Turn {
        let user = match input.user {
            Some(user) => user,
            None => match self.variables.get("sys.user_id") {
                Some(Value::String(user)) => user.clone(),
                _ => "".into(),
            },
        };
        let origin = self.origin.as_deref();
        Turn {
            number: self.turns,
            query: input.query,
            inputs: input.inputs,
            kept_inputs: self.kept_inputs.clone(),
            files: input.files,
            user,
            session: self.id.clone(),
            agent: origin.map_or_else(|| "".into(), |origin| origin.agent.clone()),
            owner: origin.map_or_else(|| "".into(), |origin| origin.owner.clone()),
            webhook: input.webhook,
            chat_template_kwargs: input.chat_template_kwargs,
            custom_header: input.custom_header,
            history: Arc::new(history),
        }
    }
}

/// The conversation as a list of lines, as `sys.history` shows it.
pub(crate) fn history_lines<'a>(entries: impl IntoIterator<Item = &'a HistoryEntry>) -> Value {
    let line = |entry: &HistoryEntry| Value::from(format!("{}: {}", entry.role, entry.text()));
    Value::from(Vec::from_iter(entries.into_iter().map(line)))
}

/// Where the conversation is kept, the journal of a run need not repeat it.
fn forget_history(variables: &mut Object, kept: Option<u64>) {
    if kept.is_some() {
        variables.shift_remove(HISTORY);
    }
}
