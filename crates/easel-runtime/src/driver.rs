//! The driver: a loop that feeds a machine and performs its effects.
//!
//! Pure attempts are made inline, one after the other; only what waits is kept under way. The journal is written before
//! an effect that follows from it reaches the outside.

mod hearing;

use std::collections::{BTreeSet, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use easel_components::{Call, Failure, Run, RunContext, Turn};
use easel_core::Machine;
use easel_core::bind::Activation;
use easel_core::draft::EffectClass;
use easel_core::effect::{Effect, Execute, Outcome, Reaction};
use easel_core::event::{Answer, Completion, Event, Fact, Fault, Ports, Start, Timestamp};
use easel_core::machine::RunLife;
use easel_core::workflow::NodeId;
use easel_secrets::{Gate, Unmasked};
use futures::channel::mpsc;
use futures::future::{Either, select};
use futures::{FutureExt, StreamExt};

use crate::attempts::Attempts;
use crate::engine::Engine;
use crate::event::{EventKind, RunEvent};
use crate::journal::{Batch, ConversationChange, JournalError, Note, Origin, Standing};
use crate::masking;
use crate::projection::{Projection, inputs_shown};
use crate::receipts::Receipts;
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
    pub(crate) engine: Arc<Engine>,
    pub(crate) workflow: Arc<Workflow>,
    pub(crate) machine: Machine,
    /// What all attempts of this turn share.
    pub(crate) context: Arc<RunContext>,
    attempts: Attempts,
    switchboard: Arc<Switchboard>,
    told: mpsc::UnboundedReceiver<Told>,
    pub(crate) effects: VecDeque<Effect>,
    /// Writes that were under way when the run's process ended and that must not be made again unasked.
    pub(crate) uncertain: Vec<Execute>,
    /// Events that happened and are not in the journal yet, and how many are.
    unwritten: Vec<Event>,
    pub(crate) written: u64,
    /// What people are to see once the journal has what it follows from.
    outbox: Vec<RunEvent>,
    /// Events of people that the journal does not imply.
    notes: Vec<Note>,
    /// What goes with the next batch.
    origin: Option<Arc<Origin>>,
    change: Option<ConversationChange>,
    receipts: Receipts,
    projection: Projection,
    /// When the first event happened, and the last one.
    began: Timestamp,
    now: Timestamp,
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
    /// Nothing can be done before somebody has decided what became of writes.
    Uncertain,
    /// The run is over.
    Over(Outcome),
}

/// What a run is made of, before anything has happened.
pub(crate) struct Parts {
    pub engine: Arc<Engine>,
    pub workflow: Arc<Workflow>,
    pub turn: Arc<Turn>,
    pub gate: Gate,
}

impl Driver {
    /// Begins a run. `doubts` is what people are to be told about its inputs; `kept` is what the journal keeps of the start.
    pub fn start(parts: Parts, mut start: Start, kept: Start, doubts: Vec<Arc<str>>) -> Driver {
        masking::start(&parts.gate, &mut start);
        let at = parts.engine.clock.now();
        let mut fact = Fact::Started(kept);
        masking::fact(&parts.gate, &mut fact);
        let inputs = inputs_shown(&parts.turn);
        let (machine, reaction) = Machine::start(parts.workflow.compiled.clone(), start, at);
        let projection = Projection::new(parts.workflow.clone(), at);
        let mut driver = Driver::new(parts, machine, projection);
        driver.began = at;
        driver.now = at;
        driver.unwritten.push(Event::new(at, fact));
        driver.emit(EventKind::WorkflowStarted { inputs });
        driver.react(reaction);
        for text in doubts {
            driver.warn(None, text);
        }
        driver
    }

    /// A run that was rebuilt: nothing is under way.
    pub fn new(parts: Parts, machine: Machine, projection: Projection) -> Driver {
        let Parts {
            engine,
            workflow,
            turn,
            gate,
        } = parts;
        let now = engine.clock.now();
        let (switchboard, told) = Switchboard::new();
        let context = RunContext {
            id: machine.run().clone(),
            workflow: workflow.compiled.clone(),
            turn,
            services: engine.services(&gate),
            functions: workflow.functions(),
            wire: switchboard.clone(),
            gate: gate.clone(),
        };
        Driver {
            meter: Meter::new(engine.timed),
            engine,
            workflow,
            machine,
            context: Arc::new(context),
            attempts: Attempts::default(),
            switchboard,
            told,
            effects: VecDeque::new(),
            uncertain: Vec::new(),
            unwritten: Vec::new(),
            written: 0,
            outbox: Vec::new(),
            notes: Vec::new(),
            origin: None,
            change: None,
            receipts: Receipts::default(),
            projection,
            began: now,
            now,
            speech: Speech::new(gate.clone()),
            gate,
            unmasked: BTreeSet::new(),
        }
    }

    /// What goes into the record with the next batch: where the run came from, and what was said.
    pub fn record(&mut self, origin: Option<Arc<Origin>>, change: Option<ConversationChange>) {
        self.origin = origin;
        self.change = change;
    }

    /// What was said and is not committed yet.
    pub fn change(&mut self) -> &mut Option<ConversationChange> {
        &mut self.change
    }

    /// Hands an answer to a waiting run; `kept` is what the journal keeps of it. False if it fits no open field.
    pub fn answer(&mut self, answer: Answer, kept: Answer, turn: Arc<Turn>) -> bool {
        let before = self.machine.life();
        let context = RunContext {
            turn,
            ..(*self.context).clone()
        };
        let old = std::mem::replace(&mut self.context, Arc::new(context));
        self.projection.turn_begins(self.engine.clock.now());
        self.happened_but_kept(Fact::Answered(answer), Fact::Answered(kept));
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

    /// How many events the journal has, and when the first and the last of them happened.
    pub fn extent(&self) -> (u64, Timestamp, Timestamp) {
        (self.written, self.began, self.now)
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
        self.projection.shown()
    }

    /// The fields that are asked for, and the text that goes with them; `None` if nothing was asked yet.
    pub fn asked(&self) -> Option<(easel_core::Object, Arc<str>)> {
        match self.projection.asked()? {
            EventKind::UserInputs { fields, tips } => Some((fields.clone(), tips.clone())),
            _ => None,
        }
    }

    /// What a graph gives out. Of a canvas what the node that spoke last put out; what the last node put out, if none spoke.
    pub fn outputs(&self) -> Ports {
        self.projection.outputs(&self.machine)
    }

    /// Drives the run until it waits or is over; once `stop` resolves it is ended as cancelled. What happened last is not
    /// committed yet: that goes with what the turn leaves ([`Driver::commit`]).
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
                self.happened(Fact::Cancelled);
            }
            if self.machine.life().over() {
                // Nothing of it may begin any more, and what is under way stops.
                self.effects.clear();
                self.attempts = Attempts::default();
            }
            if self.unwritten.is_empty() {
                self.show(observe);
            }
            if let Some(effect) = self.effects.pop_front() {
                if self.reaches_outside(&effect) {
                    self.write(observe).await?;
                }
                self.perform(effect);
                performed = (performed + 1) % BURST;
                if performed == 0 {
                    self.write(observe).await?;
                    give_way().await;
                }
                continue;
            }
            match self.machine.life() {
                RunLife::Running if self.attempts.is_empty() && !self.uncertain.is_empty() => {
                    let writes = self.uncertain_writes();
                    self.emit_noted(EventKind::Uncertain { writes });
                    return Ok(TurnEnd::Uncertain);
                }
                RunLife::Running => {}
                RunLife::Waiting => return Ok(TurnEnd::Waiting),
                _ => {
                    let outcome = self.machine.outcome().cloned();
                    return Ok(TurnEnd::Over(outcome.unwrap_or(Outcome::Done)));
                }
            }
            self.write(observe).await?;
            let stopped = {
                let waited = pin!(self.wait(observe));
                matches!(select(&mut stop, waited).await, Either::Left(_))
            };
            if stopped {
                self.happened(Fact::Cancelled);
            }
        }
    }

    /// Commits what happened last together with where the run stands and what the turn leaves of the conversation.
    ///
    /// # Errors
    /// The journal failed.
    pub async fn commit(
        &mut self,
        standing: Standing,
        observe: &mut Observer<'_>,
    ) -> Result<(), JournalError> {
        self.append(standing).await?;
        self.show(observe);
        Ok(())
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
            Either::Left(Some(told)) => self.hear(told),
            Either::Left(None) => {}
            Either::Right(fact) => {
                self.hear_all();
                if self.unwritten.is_empty() {
                    // Whoever watches sees what was said before it is known how the attempt ended.
                    self.show(observe);
                }
                self.happened(fact);
            }
        }
    }

    fn hear_all(&mut self) {
        while self.switchboard.has_told() {
            let Some(Some(told)) = self.told.next().now_or_never() else {
                return;
            };
            self.hear(told);
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

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Execute(execute) => self.execute(execute),
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
    fn execute(&mut self, execute: Execute) {
        let (activation, number) = (execute.activation, execute.attempt);
        let behaviour = match self.workflow.behaviour(execute.node) {
            Ok(behaviour) => behaviour.clone(),
            Err(fault) => {
                let fault = fault.clone();
                return self.report(activation, number, Err(fault.into()));
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
            Run::Done(result) => self.report(activation, number, result),
            Run::Later(attempt) => {
                let name = self.workflow.compiled.node(at).draft.name.clone();
                let clock = self.engine.clock.clone();
                let work = self.workflow.work(at);
                let places = self.engine.places.clone();
                let reported = async move {
                    // The time of waiting for a place is not the attempt's.
                    let _place = match work {
                        Some(work) => Some(places.take(work).await),
                        None => None,
                    };
                    let deadline = limit.map(|s| clock.deadline((s * 1000.0) as u64));
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
    ) {
        self.hear_all();
        self.happened(fact(activation, attempt, result));
    }

    /// Takes in a fact: journal, machine, what follows.
    pub(crate) fn happened(&mut self, fact: Fact) {
        self.take_in(fact, None);
    }

    /// The same for a fact of which the journal keeps another form.
    fn happened_but_kept(&mut self, fact: Fact, mut kept: Fact) {
        masking::fact(&self.gate, &mut kept);
        self.take_in(fact, Some(kept));
    }

    fn take_in(&mut self, mut fact: Fact, kept: Option<Fact>) {
        masking::fact(&self.gate, &mut fact);
        self.now = self.engine.clock.now();
        let event = Event::new(self.now, fact);
        let entry = self.written + self.unwritten.len() as u64;
        self.projection.follows_from(entry);
        let speaker = match event.fact {
            Fact::Completed { activation, .. } => self.machine.node_of(activation),
            _ => None,
        };
        let reaction = self.machine.apply(&event);
        let at = event.at;
        self.unwritten.push(match kept {
            Some(kept) => Event::new(at, kept),
            None => event,
        });
        self.react(reaction);
        self.tell_unmasked(speaker);
    }

    /// Warns of secrets in the numbers of a node that has just completed, each once.
    fn tell_unmasked(&mut self, node: Option<NodeId>) {
        let Some(node) = node.filter(|_| self.gate.is_armed()) else {
            return;
        };
        for unmasked in self.gate.unmasked() {
            if self.unmasked.insert(unmasked.clone()) {
                self.warn(Some(node), masking::unmasked(&unmasked.secret));
            }
        }
    }

    fn react(&mut self, mut reaction: Reaction) {
        self.effects.extend(reaction.effects.drain(..));
        for observation in reaction.observations.drain(..) {
            if let easel_core::effect::Observation::NodeFinished { step, .. } = &observation {
                self.said_all(step.activation, step.node);
            }
            let (gate, outbox) = (&self.gate, &mut self.outbox);
            let mut out = |mut event: RunEvent| {
                masking::event(gate, &mut event.kind);
                outbox.push(event);
            };
            self.projection
                .observe(&self.machine, observation, &mut out);
        }
        self.machine.recycle(reaction);
    }

    fn emit(&mut self, mut kind: EventKind) {
        masking::event(&self.gate, &mut kind);
        let event = self.projection.event(kind);
        self.outbox.push(event);
    }

    /// Emits an event that the journal does not imply.
    fn emit_noted(&mut self, kind: EventKind) {
        self.emit(kind);
        if let Some(event) = self.outbox.last() {
            self.notes.push(Note::of(event));
        }
    }

    pub(crate) fn warn(&mut self, node: Option<NodeId>, text: Arc<str>) {
        let subject = node.map(|node| self.projection.subject(node));
        self.emit_noted(EventKind::Warning { subject, text });
    }

    /// Shows people what the journal has.
    fn show(&mut self, observe: &mut Observer<'_>) {
        if self.outbox.is_empty() {
            return;
        }
        let since = self.meter.now();
        self.outbox.drain(..).for_each(&mut *observe);
        self.meter.add(Part::Watching, since);
    }

    async fn write(&mut self, observe: &mut Observer<'_>) -> Result<(), JournalError> {
        if !self.unwritten.is_empty() {
            self.append(Standing::Running).await?;
        }
        self.show(observe);
        Ok(())
    }

    async fn append(&mut self, standing: Standing) -> Result<(), JournalError> {
        let events = std::mem::take(&mut self.unwritten);
        let count = events.len() as u64;
        let batch = Batch {
            origin: self.origin.take(),
            standing,
            usage: self.machine.usage(),
            notes: std::mem::take(&mut self.notes),
            receipt: self.receipts.since_last(&self.gate),
            conversation: self.change.take(),
            ..Batch::new(self.machine.run().clone(), self.written, events)
        };
        self.engine.journal.append(batch).await?;
        self.written += count;
        Ok(())
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
