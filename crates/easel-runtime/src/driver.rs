//! The driver: a loop that feeds a machine and performs its effects.
//!
//! Pure attempts are made inline, one after the other; only what waits is kept under way. The journal is written before
//! an effect that follows from it reaches the outside.

use std::collections::{BTreeSet, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use easel_components::{Call, Failure, PieceKind, Run, RunContext, Turn};
use easel_core::bind::Activation;
use easel_core::draft::EffectClass;
use easel_core::effect::{Effect, Execute, Observation, Outcome, Reaction};
use easel_core::event::{Answer, Completion, Event, Fact, Fault, Ports, Start, Timestamp};
use easel_core::machine::RunLife;
use easel_core::workflow::NodeId;
use easel_core::{Machine, Value};
use easel_secrets::{Gate, Unmasked};
use easel_tools::references::References;
use futures::channel::mpsc;
use futures::future::{Either, select};
use futures::{FutureExt, StreamExt};

use crate::attempts::Attempts;
use crate::engine::Engine;
use crate::event::{EventId, EventKind, MessagePart, RunEvent, Subject};
use crate::journal::{Batch, JournalError};
use crate::masking;
use crate::speech::Speech;
use crate::timings::{Meter, Part, Timings};
use crate::wire::{Switchboard, Told};
use crate::workflow::Workflow;

/// Effects performed in a row before what happened is written, and other runs on the same thread get their turn.
const BURST: u32 = 128;

/// Where the driver puts what people see.
pub type Observer<'a> = dyn FnMut(RunEvent) + Send + 'a;

/// One run, from its first message to its end; it may wait for answers in between.
pub(crate) struct Driver {
    engine: Arc<Engine>,
    workflow: Arc<Workflow>,
    machine: Machine,
    /// What all attempts of this turn share.
    context: Arc<RunContext>,
    attempts: Attempts,
    switchboard: Arc<Switchboard>,
    told: mpsc::UnboundedReceiver<Told>,
    effects: VecDeque<Effect>,
    /// Events that happened and are not in the journal yet, and how many are.
    unwritten: Vec<Event>,
    written: u64,
    began: Timestamp,
    /// When the last event happened.
    now: Timestamp,
    /// The messages of this turn.
    shown: Vec<String>,
    /// What the node that spoke last put out, and what the last node did.
    said: Option<Ports>,
    last: Ports,
    /// The question that is open.
    asked: Option<EventKind>,
    /// The event being numbered.
    id: EventId,
    /// Where the time goes.
    meter: Meter,
    gate: Gate,
    /// Messages that are being said.
    speech: Speech,
    /// Secrets in numbers that people were told of.
    unmasked: BTreeSet<Unmasked>,
}

/// What ended a turn.
pub(crate) enum TurnEnd {
    /// The run waits for an answer.
    Waiting,
    /// The run is over.
    Over(Outcome),
}

impl Driver {
    /// Begins a run. `doubts` is what people are to be told about its inputs.
    pub fn start(
        engine: Arc<Engine>,
        workflow: Arc<Workflow>,
        mut start: Start,
        turn: Arc<Turn>,
        gate: Gate,
        doubts: Vec<Arc<str>>,
        observe: &mut Observer<'_>,
    ) -> Driver {
        masking::start(&gate, &mut start);
        let meter = Meter::new(engine.timed);
        let at = engine.clock.now();
        let (switchboard, told) = Switchboard::new();
        let started = Event::new(at, Fact::Started(start.clone()));
        let inputs = match turn.inputs.is_empty() {
            true => Value::Null,
            false => Value::from(turn.inputs.clone()),
        };
        let (machine, reaction) = Machine::start(workflow.compiled.clone(), start, at);
        let context = RunContext {
            id: machine.run().clone(),
            workflow: workflow.compiled.clone(),
            turn,
            services: engine.services(&gate),
            functions: workflow.functions(),
            wire: switchboard.clone(),
            gate: gate.clone(),
        };
        let mut driver = Driver {
            engine,
            workflow,
            machine,
            context: Arc::new(context),
            attempts: Attempts::default(),
            switchboard,
            told,
            effects: VecDeque::new(),
            unwritten: vec![started],
            written: 0,
            began: at,
            now: at,
            shown: Vec::new(),
            said: None,
            last: Ports::new(),
            asked: None,
            id: EventId::default(),
            meter,
            speech: Speech::new(gate.clone()),
            gate,
            unmasked: BTreeSet::new(),
        };
        driver.emit(EventKind::WorkflowStarted { inputs }, observe);
        for text in doubts {
            let subject = None;
            driver.emit(EventKind::Warning { subject, text }, observe);
        }
        driver.react(reaction, observe);
        driver
    }

    /// Hands an answer to a waiting run.
    pub fn answer(&mut self, answer: Answer, turn: Arc<Turn>, observe: &mut Observer<'_>) -> bool {
        let before = self.machine.life();
        self.began = self.engine.clock.now();
        let context = RunContext {
            turn,
            ..(*self.context).clone()
        };
        let old = std::mem::replace(&mut self.context, Arc::new(context));
        self.shown.clear();
        self.happened(Fact::Answered(answer), observe);
        let fits = self.machine.life() != before || before != RunLife::Waiting;
        if !fits {
            self.context = old;
        }
        fits
    }

    /// Where the time went since the last time this was asked; see [`Meter::take`].
    pub fn timings(&mut self, since: Option<Instant>, waiting: Duration) -> Timings {
        self.meter.take(since, waiting)
    }

    /// The run's gate.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The machine, to be looked at.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The messages of this turn, with blank lines between; `None` if there was nothing to read in them.
    pub fn shown(&self) -> Option<String> {
        (!self.shown.is_empty()).then(|| self.shown.join("\n\n"))
    }

    /// What a graph gives out. Of a canvas what the node that spoke last put out; what the last node put out, if none spoke.
    pub fn outputs(&self) -> Ports {
        if let Some(outcome) = self.workflow.outcome(&self.machine) {
            return outcome;
        }
        self.said.clone().unwrap_or_else(|| self.last.clone())
    }

    /// Drives the run until it waits or is over; once `stop` resolves it is ended as cancelled.
    ///
    /// # Errors
    /// The journal failed; nothing that follows from what it lacks has reached the outside.
    pub async fn drive_until(
        &mut self,
        observe: &mut Observer<'_>,
        stop: impl Future<Output = ()>,
    ) -> Result<TurnEnd, JournalError> {
        let mut stop = pin!(stop.fuse());
        let mut performed = 0;
        loop {
            if (&mut stop).now_or_never().is_some() {
                self.happened(Fact::Cancelled, observe);
            }
            if let Some(effect) = self.effects.pop_front() {
                if self.reaches_outside(&effect) {
                    self.write().await?;
                }
                self.perform(effect, observe);
                performed = (performed + 1) % BURST;
                if performed == 0 {
                    self.write().await?;
                    give_way().await;
                }
                continue;
            }
            match self.machine.life() {
                RunLife::Running => {}
                RunLife::Waiting => {
                    self.write().await?;
                    return Ok(TurnEnd::Waiting);
                }
                _ => {
                    self.write().await?;
                    let outcome = self.machine.outcome().cloned();
                    return Ok(TurnEnd::Over(outcome.unwrap_or(Outcome::Done)));
                }
            }
            self.write().await?;
            let stopped = {
                let waited = pin!(self.wait(observe));
                matches!(select(&mut stop, waited).await, Either::Left(_))
            };
            if stopped {
                self.happened(Fact::Cancelled, observe);
            }
        }
    }

    /// Waits for the next thing an attempt tells or reports. What it told comes first.
    async fn wait(&mut self, observe: &mut Observer<'_>) {
        let told = {
            let reported = pin!(self.attempts.next(&mut self.meter));
            match select(self.told.next(), reported).await {
                Either::Left((told, _)) => Either::Left(told),
                Either::Right((fact, _)) => Either::Right(fact),
            }
        };
        match told {
            Either::Left(Some(told)) => self.hear(told, observe),
            Either::Left(None) => {}
            Either::Right(fact) => {
                self.hear_all(observe);
                self.happened(fact, observe);
            }
        }
    }

    fn hear_all(&mut self, observe: &mut Observer<'_>) {
        while self.switchboard.has_told() {
            let Some(Some(told)) = self.told.next().now_or_never() else {
                return;
            };
            self.hear(told, observe);
        }
    }

    /// Whether the world outside may see something of it: then what it follows from must be in the journal first.
    fn reaches_outside(&self, effect: &Effect) -> bool {
        match effect {
            Effect::Execute(execute) => {
                let node = self.workflow.compiled.node(execute.node);
                node.draft.effect != EffectClass::Pure
            }
            Effect::Cancel(_) | Effect::Sleep { .. } | Effect::Feed { .. } => false,
        }
    }

    fn perform(&mut self, effect: Effect, observe: &mut Observer<'_>) {
        match effect {
            Effect::Execute(execute) => self.execute(execute, observe),
            Effect::Cancel(activation) => self.attempts.cancel(activation),
            Effect::Sleep {
                activation,
                attempt,
                milliseconds,
            } => {
                let pause = self.engine.clock.sleep(milliseconds);
                let woke = async move {
                    pause.await;
                    Fact::Woke {
                        activation,
                        attempt,
                    }
                };
                self.attempts.add(activation, Box::pin(woke));
            }
            Effect::Feed { producer, turn } => {
                self.switchboard.feed(producer, turn);
            }
        }
    }

    /// Makes an attempt, or keeps it under way if it waits for something.
    fn execute(&mut self, execute: Execute, observe: &mut Observer<'_>) {
        let (activation, number) = (execute.activation, execute.attempt);
        let behaviour = match self.workflow.behaviour(execute.node) {
            Ok(behaviour) => behaviour.clone(),
            Err(fault) => {
                let fault = fault.clone();
                return self.report(activation, number, Err(fault.into()), observe);
            }
        };
        if let Some(since) = self.meter.now() {
            let _ = std::hint::black_box(self.machine.bound(execute.activation));
            self.meter.add(Part::References, Some(since));
        }
        let at = execute.node;
        let limit = self.workflow.compiled.node(at).draft.timeout_s;
        let call = Call {
            run: self.context.clone(),
            execute,
            gathered: self.machine.gathered().clone(),
            now: self.now,
        };
        let since = self.meter.now();
        let run = behaviour.run(call);
        self.meter.add(Part::Components, since);
        match run {
            Run::Done(result) => self.report(activation, number, result, observe),
            Run::Later(attempt) => {
                let name = self.workflow.compiled.node(at).draft.name.clone();
                let deadline = limit.map(|s| self.engine.clock.deadline((s * 1000.0) as u64));
                let reported = async move {
                    let result = match deadline {
                        None => attempt.await,
                        Some(deadline) => match select(attempt, deadline).await {
                            Either::Left((result, _)) => result,
                            Either::Right(((), _)) => {
                                Err(too_slow(&name, limit.unwrap_or_default()).into())
                            }
                        },
                    };
                    fact(activation, number, result)
                };
                self.attempts.add(activation, Box::pin(reported));
            }
        }
    }

    fn report(
        &mut self,
        activation: Activation,
        attempt: u32,
        result: Result<Completion, Failure>,
        observe: &mut Observer<'_>,
    ) {
        self.hear_all(observe);
        self.happened(fact(activation, attempt, result), observe);
    }

    /// Something an attempt told while it was under way.
    fn hear(&mut self, told: Told, observe: &mut Observer<'_>) {
        self.switchboard.heard();
        match told {
            Told::Opened(activation) => {
                let Some(attempt) = self.machine.attempt_of(activation) else {
                    return;
                };
                let opened = Fact::Opened {
                    activation,
                    attempt,
                };
                self.happened(opened, observe);
            }
            Told::Shown(piece) => {
                let Some(node) = self.machine.node_of(piece.speaker) else {
                    return;
                };
                let (content, part): (Arc<str>, MessagePart) = match piece.kind {
                    PieceKind::Text(text) => match self.speech.piece(piece.speaker, text) {
                        Some(text) => (text, MessagePart::Text),
                        None => return,
                    },
                    PieceKind::ThinkStart => {
                        self.said_all(piece.speaker, node, observe);
                        ("".into(), MessagePart::ThinkStart)
                    }
                    PieceKind::ThinkEnd => {
                        self.said_all(piece.speaker, node, observe);
                        ("".into(), MessagePart::ThinkEnd)
                    }
                    PieceKind::Reset => {
                        self.speech.reset(piece.speaker);
                        let subject = self.subject(node);
                        return self.emit(EventKind::MessageReset { subject }, observe);
                    }
                };
                let message = EventKind::Message {
                    subject: self.subject(node),
                    content,
                    part,
                };
                self.emit(message, observe);
            }
            Told::Note(node, mut note) => {
                masking::note(&self.gate, &mut note);
                let subject = self.subject(node);
                match note {
                    easel_components::Note::Warning(text) => {
                        let subject = Some(subject);
                        self.emit(EventKind::Warning { subject, text }, observe);
                    }
                    easel_components::Note::ToolCall {
                        path,
                        tool,
                        arguments,
                        result,
                        milliseconds,
                    } => {
                        let call = EventKind::ToolCall {
                            subject,
                            path,
                            tool,
                            arguments,
                            result,
                            milliseconds,
                        };
                        self.emit(call, observe);
                    }
                    easel_components::Note::ModelRequest(_) => {}
                }
            }
        }
    }

    /// Shows what was held back of a message, because it might have gone on as a secret.
    fn said_all(&mut self, speaker: Activation, node: NodeId, observe: &mut Observer<'_>) {
        if let Some(content) = self.speech.end(speaker) {
            let message = EventKind::Message {
                subject: self.subject(node),
                content,
                part: MessagePart::Text,
            };
            self.emit(message, observe);
        }
    }

    /// Takes in a fact: journal, machine, what follows.
    fn happened(&mut self, mut fact: Fact, observe: &mut Observer<'_>) {
        masking::fact(&self.gate, &mut fact);
        self.now = self.engine.clock.now();
        let event = Event::new(self.now, fact);
        self.id = EventId {
            entry: self.written + self.unwritten.len() as u64,
            counter: 0,
        };
        self.tell_unmasked(&event.fact, observe);
        let reaction = self.machine.apply(&event);
        self.unwritten.push(event);
        self.react(reaction, observe);
    }

    /// Warns of secrets in a node's numbers, each once.
    fn tell_unmasked(&mut self, fact: &Fact, observe: &mut Observer<'_>) {
        if !self.gate.is_armed() {
            return;
        }
        let Fact::Completed { activation, .. } = fact else {
            return;
        };
        let Some(node) = self.machine.node_of(*activation) else {
            return;
        };
        for unmasked in self.gate.unmasked() {
            if self.unmasked.insert(unmasked.clone()) {
                let subject = self.subject(node);
                let text = masking::unmasked(&unmasked.secret);
                let subject = Some(subject);
                self.emit(EventKind::Warning { subject, text }, observe);
            }
        }
    }

    fn react(&mut self, mut reaction: Reaction, observe: &mut Observer<'_>) {
        self.effects.extend(reaction.effects.drain(..));
        for observation in reaction.observations.drain(..) {
            self.observe(observation, observe);
        }
        self.machine.recycle(reaction);
    }

    async fn write(&mut self) -> Result<(), JournalError> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let events = std::mem::take(&mut self.unwritten);
        let run = self.machine.run().clone();
        let journal = &self.engine.journal;
        let (from, count) = (self.written, events.len() as u64);
        journal.append(Batch::new(run, from, events)).await?;
        self.written += count;
        Ok(())
    }

    fn subject(&self, node: NodeId) -> Subject {
        Subject::new(self.workflow.clone(), node)
    }

    fn emit(&mut self, mut kind: EventKind, observe: &mut Observer<'_>) {
        masking::event(&self.gate, &mut kind);
        let id = self.id;
        self.id.counter += 1;
        let since = self.meter.now();
        observe(RunEvent { id, kind });
        self.meter.add(Part::Watching, since);
    }

    /// Projects what the machine observed onto what people see.
    fn observe(&mut self, observation: Observation, observe: &mut Observer<'_>) {
        match observation {
            Observation::NodeStarted {
                activation,
                node,
                scope,
                at,
            } => {
                let subject = self.subject(node);
                let started = EventKind::NodeStarted {
                    subject,
                    activation,
                    scope,
                    at,
                };
                self.emit(started, observe);
            }
            Observation::NodeSkipped { node, scope, at } => {
                let subject = self.subject(node);
                self.emit(EventKind::NodeSkipped { subject, scope, at }, observe);
            }
            Observation::AttemptFailed(step) => {
                let subject = self.subject(step.node);
                self.emit(EventKind::AttemptFailed { subject, step }, observe);
            }
            Observation::NodeFinished { step, started } => {
                self.said_all(step.activation, step.node, observe);
                let subject = self.subject(step.node);
                let draft = &self.workflow.compiled.node(step.node).draft;
                if step.fault.is_none() {
                    self.last = step.ports.clone();
                    if draft.drains {
                        let text = step.ports.get(&draft.primary).map(Value::to_string);
                        self.shown
                            .extend(text.filter(|text| !text.trim().is_empty()));
                        self.said = Some(step.ports.clone());
                        let gathered = self.machine.gathered();
                        let extras = message_extras(&draft.params, &step.ports, gathered);
                        let subject = subject.clone();
                        self.emit(EventKind::MessageEnd { subject, extras }, observe);
                    }
                }
                let finished = EventKind::NodeFinished {
                    subject,
                    step,
                    started,
                };
                self.emit(finished, observe);
            }
            // The node that shows the text resets it when it takes the restart from the stream.
            Observation::MessageReset { .. } => {}
            Observation::Asked { fields, tips, .. } => {
                let asked = EventKind::UserInputs { fields, tips };
                self.asked = Some(asked.clone());
                self.emit(asked, observe);
            }
            // The question stays open, so it is asked again.
            Observation::AnswerUnfit { open, .. } => {
                self.emit(EventKind::AnswerUnfit { open }, observe);
                if let Some(asked) = self.asked.clone() {
                    self.emit(asked, observe);
                }
            }
            Observation::Finished { outcome, at } => {
                let usage = self.machine.usage();
                let elapsed_ms = at.0 - self.began.0;
                let event = match outcome {
                    Outcome::Failed { node, fault } => EventKind::Error {
                        subject: node.map(|node| self.subject(node)),
                        fault,
                        usage,
                    },
                    Outcome::Done | Outcome::Cancelled => EventKind::WorkflowFinished {
                        outputs: self.outputs(),
                        cancelled: outcome == Outcome::Cancelled,
                        usage,
                        elapsed_ms,
                        at,
                    },
                };
                self.emit(event, observe);
            }
        }
    }
}

fn fact(activation: Activation, attempt: u32, result: Result<Completion, Failure>) -> Fact {
    match result {
        Ok(completion) => Fact::Completed {
            activation,
            attempt,
            completion,
        },
        Err(Failure { fault, usage }) => Fact::Failed {
            activation,
            attempt,
            fault,
            usage,
        },
    }
}

/// Lets whatever else the executor has go first.
async fn give_way() {
    let mut gave = false;
    poll_fn(|context| {
        if std::mem::replace(&mut gave, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn too_slow(name: &str, seconds: f64) -> Fault {
    let message = format!(
        "\"{name}\" was stopped after {seconds} s, its time limit. Set timeout_s on the node to give it longer."
    );
    Fault::new("timeout", message)
}

/// What goes with the end of a message: its status, which its parameters say; its files; what it can cite.
fn message_extras(params: &Value, ports: &Ports, gathered: &[Value]) -> easel_core::Object {
    let mut extras = easel_core::Object::new();
    let status = ("status", params.get("status"));
    let files = ["attachment", "downloads"].map(|key| (key, ports.get(key)));
    for (key, value) in std::iter::once(status).chain(files) {
        if let Some(value) = value.filter(|value| value.is_truthy()) {
            extras.insert(key.into(), value.clone());
        }
    }
    let found = References::gather(gathered.iter());
    if !found.is_empty() {
        extras.insert("reference".into(), found.to_value());
    }
    extras
}
