//! A conversation with a workflow: what lasts from one run to the next.

use std::sync::Arc;
use std::time::Instant;

use easel_check::Diagnostic;
use easel_components::{HistoryEntry, Turn};
use easel_core::effect::Outcome;
use easel_core::event::{Answer, Fault, Start, Usage};
use easel_core::machine::NodeLife;
use easel_core::workflow::NodeId;
use easel_core::{Object, Value};
use easel_graph::admit::InputError;
use easel_graph::lower::names::INPUTS;
use easel_secrets::{Receipt, SecretError};
use easel_tools::files::{FileDescriptor, FileRequest};
use easel_tools::references::References;

use crate::driver::{Driver, Observer, TurnEnd};
use crate::engine::Engine;
use crate::journal::JournalError;
use crate::masking;
use crate::timings::{Timings, with_waiting};
use crate::workflow::Workflow;

/// What a user brings to a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// What the user says: text, or any JSON. `null`: nothing.
    pub query: Value,
    /// Inputs by name, for Begin or for open forms.
    pub inputs: Object,
    /// Uploaded files, as descriptors `{id, name, mime_type, created_by}`.
    pub files: Vec<Value>,
    /// The user's id.
    pub user: Option<Arc<str>>,
    /// What a webhook brought.
    pub webhook: Option<Object>,
    /// Handed to the model's chat template.
    pub chat_template_kwargs: Option<Value>,
    /// Headers for MCP servers and tools that declare them.
    pub custom_header: Object,
}

impl Input {
    /// What the conversation keeps of it: what the user says; without that, what was filled in, a line for each field.
    fn said(&self) -> Value {
        let blank = match &self.query {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            _ => false,
        };
        if !blank || self.inputs.is_empty() {
            return self.query.clone();
        }
        let lines = self.inputs.iter().map(|(name, input)| {
            let value = input.get("value").unwrap_or(input);
            format!("{name}: {value}")
        });
        Value::from(Vec::from_iter(lines).join("\n"))
    }
}

impl From<&str> for Input {
    /// A turn in which the user says that.
    fn from(query: &str) -> Input {
        Input {
            query: Value::from(query),
            ..Input::default()
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// Everything that could run did.
    Finished,
    /// The run waits for an answer.
    Waiting,
    /// The answer fitted no open field; the run still waits.
    Unfit,
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
    engine: Arc<Engine>,
    workflow: Arc<Workflow>,
    id: Arc<str>,
    variables: Object,
    history: Vec<HistoryEntry>,
    retrieval: Vec<Value>,
    memory: Vec<Value>,
    kept_inputs: Object,
    turns: u32,
    usage: Usage,
    timings: Option<Timings>,
    driver: Option<Driver>,
    waiting: bool,
    unchecked: bool,
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
        }
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
        let files = read_files(&self.engine, &input).await?;
        let resuming = self.waiting;
        let waiting = self.driver.as_ref().filter(|_| resuming);
        let (run, seed) = match waiting {
            Some(driver) => (driver.machine().run().clone(), 0),
            None => (self.engine.ids)(),
        };
        let gate = match waiting {
            Some(driver) => driver.gate().clone(),
            None => {
                let before = self.driver.as_ref().map(Driver::gate);
                self.engine.gate(run.clone(), &self.workflow, before)?
            }
        };
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
        let turn = Arc::new(self.context(input, history.clone()));
        let context = serde_json::to_value(&*turn).map(Value::from);
        let context = context.unwrap_or_default();
        let driver = match self.driver.as_mut().filter(|_| resuming) {
            Some(driver) => {
                let answer = Answer {
                    fields: turn.inputs.clone(),
                    text: (!turn.query.is_null()).then(|| turn.query.clone()),
                    variables: changed.clone(),
                    context,
                };
                if !driver.answer(answer, turn, observe) {
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
                if !turn.inputs.is_empty() {
                    self.kept_inputs = turn.inputs.clone();
                }
                let (engine, workflow) = (self.engine.clone(), self.workflow.clone());
                let driver = Driver::start(engine, workflow, start, turn, gate, doubts, observe);
                self.driver.insert(driver)
            }
        };
        self.turns += 1;
        self.history = history;
        self.variables.extend(changed);
        let driven = driver.drive_until(observe, stop);
        let (end, waiting) = with_waiting(driven, began.is_some()).await;
        if began.is_some() {
            let spent = driver.timings(began, waiting);
            self.timings.get_or_insert_default().add(spent);
        }
        let end = end?;
        Ok(self.turn_over(end))
    }

    /// Takes over what a turn left.
    fn turn_over(&mut self, end: TurnEnd) -> Ending {
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
        if !found.is_empty() {
            self.retrieval.push(found.to_value());
        }
        self.waiting = matches!(end, TurnEnd::Waiting);
        match end {
            TurnEnd::Waiting => {
                if let Some(said) = driver.shown() {
                    self.remember(HistoryEntry {
                        interim: true,
                        ..HistoryEntry::new("assistant", said)
                    });
                }
                Ending::Waiting
            }
            TurnEnd::Over(Outcome::Done) => {
                let mut outputs = driver.outputs();
                masking::ports(driver.gate(), &mut outputs);
                let outputs = outputs.to_object();
                self.remember(HistoryEntry::new("assistant", outputs));
                Ending::Finished
            }
            TurnEnd::Over(Outcome::Cancelled) => Ending::Cancelled,
            TurnEnd::Over(Outcome::Failed { node, fault }) => Ending::Failed {
                node: node.map(|n| self.workflow.compiled.node(n).draft.id.clone()),
                fault,
            },
        }
    }

    /// Adds what was said to the conversation and, as a line, to `sys.history`.
    fn remember(&mut self, entry: HistoryEntry) {
        let line = format!("{}: {}", entry.role, entry.text());
        self.history.push(entry);
        let history = self.variables.entry("sys.history".into());
        let history = history.or_insert_with(Value::empty_array);
        if !matches!(history, Value::Array(_)) {
            *history = Value::empty_array();
        }
        if let Value::Array(lines) = history {
            Arc::make_mut(lines).push(Value::from(line));
        }
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
        let lines = self.variables.get("sys.history").and_then(Value::as_array);
        let mut lines = lines.unwrap_or_default().to_vec();
        lines.push(Value::from(format!("user: {spoken}")));
        changed.insert("sys.history".into(), Value::from(lines));
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
        Turn {
            number: self.turns,
            query: input.query,
            inputs: input.inputs,
            kept_inputs: self.kept_inputs.clone(),
            files: input.files,
            user,
            session: self.id.clone(),
            agent: "".into(),
            webhook: input.webhook,
            chat_template_kwargs: input.chat_template_kwargs,
            custom_header: input.custom_header,
            history: Arc::new(history),
        }
    }
}

/// What a graph is given: inputs by name, or what the user says. Nothing at all is no inputs.
fn given(input: &Input) -> Value {
    match input.inputs.is_empty() && !input.query.is_null() {
        true => input.query.clone(),
        false => Value::from(input.inputs.clone()),
    }
}

/// The texts and images of uploaded files; `None` if there are none.
async fn read_files(engine: &Engine, input: &Input) -> Result<Option<Value>, TurnError> {
    if input.files.is_empty() {
        return Ok(None);
    }
    let mut read = Vec::new();
    for file in &input.files {
        let request = FileRequest {
            file: FileDescriptor::from_value(file)?,
            layout: None,
        };
        let content = engine.services.world.files.read(request).await?;
        read.push(Value::from(content.rendered()));
    }
    Ok(Some(Value::from(read)))
}
