//! A world in which a machine runs: it performs effects the way a test says, in the order a test says.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::Drawing;
use crate::bind::{Activation, Inputs, Resolved};
use crate::draft::Kind;
use crate::effect::{Effect, Execute, Observation, Outcome, Reaction, Step, StreamTurn};
use crate::event::{Answer, Completion, Event, Fact, Fault, Ports, Start, Timestamp, Usage, Write};
use crate::machine::{Machine, RunLife};
use crate::workflow::Workflow;
use crate::{Object, Value};

/// What one attempt comes to.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    /// Whether its text begins to arrive first.
    pub opens: bool,
    pub result: Result<Completion, Fault>,
}

impl Deed {
    /// It gives one port, `out`.
    pub fn gives(value: impl Into<Value>) -> Deed {
        Deed::done(Completion {
            ports: Ports::one("out", value.into()),
            ..Completion::default()
        })
    }

    pub fn done(completion: Completion) -> Deed {
        Deed {
            opens: false,
            result: Ok(completion),
        }
    }

    pub fn fails(why: &str) -> Deed {
        Deed {
            opens: false,
            result: Err(Fault::new("broke", why)),
        }
    }

    /// Its text arrives before it is done, or before it fails.
    pub fn streaming(self) -> Deed {
        Deed {
            opens: true,
            ..self
        }
    }
}

/// In which order things that are under way report.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// As they were asked for.
    Issue,
    /// The last first.
    Reverse,
    /// Shuffled by a seed.
    Shuffled(u64),
}

type Behaviour = Rc<dyn Fn(&Execute) -> Deed>;

/// How a world is to be.
#[derive(Clone)]
pub(crate) struct World {
    workflow: Arc<Workflow>,
    behaviours: HashMap<Arc<str>, Behaviour>,
    held: BTreeSet<Arc<str>>,
    order: Order,
    start: Start,
}

impl World {
    pub fn new(drawing: &Drawing) -> World {
        World::of(drawing.workflow())
    }

    pub fn of(workflow: Arc<Workflow>) -> World {
        World {
            workflow,
            behaviours: HashMap::new(),
            held: BTreeSet::new(),
            order: Order::Issue,
            start: Start {
                run: "run".into(),
                seed: 1,
                concurrency: 16,
                node_runs: 1_000,
                ..Start::default()
            },
        }
    }

    pub fn concurrency(mut self, concurrency: u32) -> World {
        self.start.concurrency = concurrency;
        self
    }

    pub fn node_runs(mut self, node_runs: u64) -> World {
        self.start.node_runs = node_runs;
        self
    }

    pub fn seed(mut self, seed: u64) -> World {
        self.start.seed = seed;
        self
    }

    pub fn given(mut self, variable: &str, value: impl Into<Value>) -> World {
        self.start.variables.insert(variable.into(), value.into());
        self
    }

    pub fn order(mut self, order: Order) -> World {
        self.order = order;
        self
    }

    /// What a node does.
    pub fn does(mut self, node: &str, behaviour: impl Fn(&Execute) -> Deed + 'static) -> World {
        self.behaviours.insert(node.into(), Rc::new(behaviour));
        self
    }

    /// A node's `out`.
    pub fn gives(self, node: &str, value: impl Into<Value>) -> World {
        let value = value.into();
        self.does(node, move |_| Deed::gives(value.clone()))
    }

    /// Where a branch goes on; words apart.
    pub fn chooses(self, node: &str, targets: &str) -> World {
        let next: Vec<Arc<str>> = targets.split_whitespace().map(Arc::from).collect();
        self.does(node, move |_| Deed::done(choice(&next)))
    }

    /// Where a branch goes on at each visit.
    pub fn chooses_in_turn(self, node: &str, targets: &'static [&'static str]) -> World {
        self.does(node, move |execute| {
            let at = (execute.visit as usize - 1).min(targets.len() - 1);
            let next: Vec<Arc<str>> = targets[at].split_whitespace().map(Arc::from).collect();
            Deed::done(choice(&next))
        })
    }

    /// All attempts fail.
    pub fn fails(self, node: &str) -> World {
        self.fails_first(node, u32::MAX)
    }

    /// The first attempts fail.
    pub fn fails_first(self, node: &str, attempts: u32) -> World {
        let name = node.to_owned();
        self.does(node, move |execute| match execute.attempt <= attempts {
            true => Deed::fails(&format!("{name} broke")),
            false => Deed::gives(name.as_str()),
        })
    }

    /// The node reports nothing until it is released.
    pub fn holds(mut self, node: &str) -> World {
        self.held.insert(node.into());
        self
    }

    /// Starts a run and goes on until it waits, is over, or all that is left is held.
    pub fn run(self) -> Run {
        let mut run = self.begin();
        run.go();
        run
    }

    /// Starts a run and performs nothing yet.
    pub fn begin(self) -> Run {
        let started = Event::new(Timestamp(0), Fact::Started(self.start.clone()));
        let (machine, reaction) =
            Machine::start(self.workflow.clone(), self.start.clone(), Timestamp(0));
        let random = match self.order {
            Order::Shuffled(seed) => seed.wrapping_mul(2).wrapping_add(1),
            _ => 1,
        };
        let mut run = Run {
            machine,
            world: self,
            journal: vec![started],
            effects: Vec::new(),
            seen: Vec::new(),
            under_way: Vec::new(),
            draining: BTreeMap::new(),
            random,
            clock: 0,
        };
        run.react(reaction);
        run
    }
}

fn choice(next: &[Arc<str>]) -> Completion {
    Completion {
        next: Some(next.to_vec()),
        ..Completion::default()
    }
}

/// A run in its world.
pub(crate) struct Run {
    pub machine: Machine,
    world: World,
    /// Everything that happened.
    pub journal: Vec<Event>,
    /// Everything that was asked for.
    pub effects: Vec<Effect>,
    /// Everything that people saw.
    pub seen: Vec<Observation>,
    /// What will be reported, in the order in which it was asked for.
    under_way: Vec<(Activation, Fact)>,
    /// Attempts that show streams, and what those came to so far.
    draining: BTreeMap<Activation, Execute>,
    random: u64,
    clock: i64,
}

impl Run {
    /// Goes on until the run waits, is over, or all that is left is held. Checks on the way what always holds.
    pub fn go(&mut self) {
        while self.step() {}
        if self.world.held.is_empty() {
            assert!(self.draining.is_empty(), "a message waits for ever");
            assert_ne!(self.machine.life(), RunLife::Running, "the run hangs");
        }
    }

    /// Reports one thing. False if there is nothing to report.
    pub fn step(&mut self) -> bool {
        let mut may = Vec::new();
        let mut seen = BTreeSet::new();
        for (at, (activation, _)) in self.under_way.iter().enumerate() {
            // Of one attempt, the opening comes before the end.
            if seen.insert(*activation) && !self.is_held(*activation) {
                may.push(at);
            }
        }
        let (Some(&first), Some(&last)) = (may.first(), may.last()) else {
            return false;
        };
        let at = match self.world.order {
            Order::Issue => first,
            Order::Reverse => last,
            Order::Shuffled(_) => may[self.roll(may.len())],
        };
        let (_, fact) = self.under_way.remove(at);
        self.happens(fact);
        true
    }

    fn roll(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005);
        self.random = self.random.wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % below
    }

    fn is_held(&self, activation: Activation) -> bool {
        let node = self.machine.node_of(activation);
        node.is_some_and(|node| {
            let id = &self.machine.workflow().node(node).draft.id;
            self.world.held.contains(id)
        })
    }

    /// Something happens.
    pub fn happens(&mut self, fact: Fact) {
        self.clock += 1;
        let event = Event::new(Timestamp(self.clock), fact);
        self.journal.push(event.clone());
        let reaction = self.machine.apply(event);
        self.react(reaction);
    }

    /// Lets a held node report, and goes on.
    pub fn release(&mut self, node: &str) {
        self.world.held.remove(node);
        self.go();
    }

    /// Answers fields, and goes on.
    pub fn answer(&mut self, fields: &[(&str, &str)]) {
        let fields = fields.iter().map(|(k, v)| (Arc::from(*k), Value::from(*v)));
        self.answers(Answer {
            fields: fields.collect(),
            ..Answer::default()
        });
    }

    /// Answers with plain text, and goes on.
    pub fn say(&mut self, text: impl Into<Value>) {
        self.answers(Answer {
            text: Some(text.into()),
            ..Answer::default()
        });
    }

    pub fn answers(&mut self, answer: Answer) {
        self.happens(Fact::Answered(answer));
        self.go();
    }

    pub fn cancel(&mut self) {
        self.happens(Fact::Cancelled);
        self.go();
    }

    fn react(&mut self, reaction: Reaction) {
        self.seen.extend(reaction.observations);
        for effect in reaction.effects {
            self.effects.push(effect.clone());
            match effect {
                Effect::Execute(execute) => self.execute(execute),
                Effect::Cancel(activation) => {
                    self.under_way.retain(|(of, _)| *of != activation);
                    self.draining.remove(&activation);
                }
                Effect::Sleep {
                    activation,
                    attempt,
                    milliseconds,
                } => {
                    self.clock += milliseconds as i64;
                    let woke = Fact::Woke {
                        activation,
                        attempt,
                    };
                    self.under_way.push((activation, woke));
                }
                Effect::Feed { producer, turn } => self.feed(producer, turn),
            }
        }
    }

    fn execute(&mut self, execute: Execute) {
        let streams = |read: &Resolved| matches!(read, Resolved::Stream(_));
        if execute.inputs.0.iter().any(streams) {
            self.draining.insert(execute.activation, execute);
            return;
        }
        let (activation, attempt) = (execute.activation, execute.attempt);
        let deed = self.deed(&execute);
        if deed.opens {
            let opened = Fact::Opened {
                activation,
                attempt,
            };
            self.under_way.push((activation, opened));
        }
        let fact = match deed.result {
            Ok(completion) => Fact::Completed {
                activation,
                attempt,
                completion,
            },
            Err(fault) => Fact::Failed {
                activation,
                attempt,
                fault,
                usage: Usage::default(),
            },
        };
        self.under_way.push((activation, fact));
    }

    fn feed(&mut self, producer: Activation, turn: StreamTurn) {
        let drains = |execute: &Execute| execute.inputs.0.contains(&Resolved::Stream(producer));
        let drainer = self.draining.values().find(|e| drains(e));
        let Some(mut execute) = drainer.cloned() else {
            return;
        };
        let (activation, attempt) = (execute.activation, execute.attempt);
        match turn {
            StreamTurn::Restarts => {}
            StreamTurn::Ended(text) => {
                let mut reads = execute.inputs.0.to_vec();
                for read in reads
                    .iter_mut()
                    .filter(|r| **r == Resolved::Stream(producer))
                {
                    *read = Resolved::Value(text.clone());
                }
                execute.inputs = Inputs(reads.into());
                self.draining.remove(&activation);
                self.execute(execute);
            }
            StreamTurn::Broken(fault) => {
                self.draining.remove(&activation);
                let failed = Fact::Failed {
                    activation,
                    attempt,
                    fault,
                    usage: Usage::default(),
                };
                self.under_way.push((activation, failed));
            }
        }
    }

    fn deed(&self, execute: &Execute) -> Deed {
        let node = self.machine.workflow().node(execute.node);
        match self.world.behaviours.get(&node.draft.id) {
            Some(behaviour) => behaviour(execute),
            None => plain(&self.world.workflow, execute),
        }
    }

    /// Ids of the nodes that started, in order.
    pub fn started(&self) -> Vec<&str> {
        let started = self.seen.iter().filter_map(|seen| match seen {
            Observation::NodeStarted { node, .. } => Some(*node),
            _ => None,
        });
        let workflow = self.machine.workflow();
        started.map(|n| &*workflow.node(n).draft.id).collect()
    }

    /// How often a node started.
    pub fn count(&self, node: &str) -> usize {
        self.started().iter().filter(|id| **id == node).count()
    }

    /// True if the one node started after the other was done for the first time.
    pub fn after(&self, later: &str, earlier: &str) -> bool {
        let find = |id: &str| self.machine.workflow().find(id).unwrap();
        let (later, earlier) = (find(later), find(earlier));
        let start = self
            .seen
            .iter()
            .position(|s| matches!(s, Observation::NodeStarted { node, .. } if *node == later));
        let end = self.seen.iter().position(
            |s| matches!(s, Observation::NodeFinished { step, .. } if step.node == earlier),
        );
        end.is_some() && start > end
    }

    /// The last attempts of a node, one a firing.
    pub fn steps(&self, node: &str) -> Vec<&Step> {
        let id = self.machine.workflow().find(node).unwrap();
        let steps = self.seen.iter().filter_map(|seen| match seen {
            Observation::NodeFinished { step, .. } => Some(step),
            _ => None,
        });
        steps.filter(|step| step.node == id).collect()
    }

    /// What a node gave at each firing.
    pub fn outs(&self, node: &str) -> Vec<Value> {
        let out = |step: &&Step| step.ports.get("out").cloned().unwrap_or_default();
        self.steps(node).iter().map(out).collect()
    }

    /// What a node gave last, as text.
    pub fn out(&self, node: &str) -> String {
        match self.outs(node).pop() {
            Some(value) => value.to_string(),
            None => "(nothing)".to_owned(),
        }
    }

    /// A port of a node as it stands now.
    pub fn port(&self, node: &str, port: &str) -> Option<Value> {
        let id = self.machine.workflow().find(node).unwrap();
        self.machine.ports(id)?.get(port).cloned()
    }

    /// A variable as it stands now.
    pub fn variable(&self, name: &str) -> Value {
        let mut variables = self.machine.variables();
        let found = variables.find(|(n, _)| &***n == name);
        found.map(|(_, value)| value.clone()).unwrap()
    }

    /// How the run ended.
    pub fn outcome(&self) -> &Outcome {
        self.machine.outcome().expect("the run is not over")
    }

    pub fn is_done(&self) -> bool {
        self.machine.outcome() == Some(&Outcome::Done)
    }

    /// The node that failed the run, and why.
    pub fn failure(&self) -> (&str, &Fault) {
        match self.outcome() {
            Outcome::Failed { node, fault } => {
                let id = node.map(|n| &*self.machine.workflow().node(n).draft.id);
                (id.unwrap_or(""), fault)
            }
            other => panic!("the run did not fail: {other:?}"),
        }
    }

    /// The fields that the last question asks for, and its tips.
    pub fn question(&self) -> (Vec<&str>, &str) {
        let asked = self.seen.iter().rev().find_map(|seen| match seen {
            Observation::Asked { fields, tips, .. } => Some((fields, tips)),
            _ => None,
        });
        let (fields, tips) = asked.expect("nothing was asked");
        (fields.keys().map(|k| &**k).collect(), tips)
    }

    /// How often a question was asked.
    pub fn questions(&self) -> usize {
        let asked = |seen: &&Observation| matches!(seen, Observation::Asked { .. });
        self.seen.iter().filter(asked).count()
    }

    /// Every attempt that was asked for, of a node.
    pub fn executions(&self, node: &str) -> Vec<&Execute> {
        let id = self.machine.workflow().find(node).unwrap();
        let executions = self.effects.iter().filter_map(|effect| match effect {
            Effect::Execute(execute) => Some(execute),
            _ => None,
        });
        executions.filter(|e| e.node == id).collect()
    }

    /// Nodes whose attempts or pauses were stopped.
    pub fn stopped(&self) -> Vec<&str> {
        let cancelled = self.effects.iter().filter_map(|effect| match effect {
            Effect::Cancel(activation) => Some(*activation),
            _ => None,
        });
        let node = |activation| {
            self.seen.iter().find_map(|seen| match seen {
                Observation::NodeStarted {
                    activation: of,
                    node,
                    ..
                } if *of == activation => Some(&*self.machine.workflow().node(*node).draft.id),
                _ => None,
            })
        };
        cancelled.filter_map(node).collect()
    }
}

/// What a node does that was told nothing: it says its id and what it read, `join(a,b)`; a form gives its answers, a
/// branch goes everywhere. Whatever it may assign to becomes what it says.
fn plain(workflow: &Workflow, execute: &Execute) -> Deed {
    let draft = &workflow.node(execute.node).draft;
    if let Some(answers) = &execute.answers {
        let answers: &Object = answers;
        let ports = answers.iter().map(|(k, v)| (k.clone(), v.clone()));
        return Deed::done(Completion {
            ports: ports.collect(),
            ..Completion::default()
        });
    }
    let next = match &draft.kind {
        Kind::Branch { targets } => Some(targets.clone()),
        _ => None,
    };
    let shown = |read: &Resolved| match read {
        Resolved::Value(value) => value.to_string(),
        Resolved::Missing => "-".to_owned(),
        Resolved::Stream(_) => "~".to_owned(),
    };
    let reads: Vec<String> = execute.inputs.0.iter().map(shown).collect();
    let says = match reads.as_slice() {
        [] => draft.id.to_string(),
        reads => format!("{}({})", draft.id, reads.join(",")),
    };
    let write = |target: u32| Write {
        target,
        value: says.as_str().into(),
    };
    Deed::done(Completion {
        ports: Ports::one("out", says.as_str()),
        next,
        writes: (0..draft.writes.len() as u32).map(write).collect(),
        ..Completion::default()
    })
}
