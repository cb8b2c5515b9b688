//! A run in its world, and questions a test may ask about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::world::{Order, World};
use crate::Value;
use crate::bind::{Activation, Inputs, Resolved};
use crate::effect::{Effect, Execute, Observation, Outcome, Reaction, Step, StreamTurn};
use crate::event::{Answer, Event, Fact, Fault, Timestamp, Usage};
use crate::machine::{Machine, NodeLife, RunLife};

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
    /// Starts a run and performs nothing yet.
    pub(super) fn begin(world: World) -> Run {
        let (workflow, start) = (world.workflow.clone(), world.start.clone());
        let started = Event::new(Timestamp(0), Fact::Started(start.clone()));
        let (machine, reaction) = Machine::start(workflow, start, Timestamp(0));
        let random = match world.order {
            Order::Shuffled(seed) => seed.wrapping_mul(2).wrapping_add(1),
            Order::Issue | Order::Reverse => 1,
        };
        let mut run = Run {
            machine,
            world,
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
        let next = match self.world.order {
            Order::Issue => (0..self.under_way.len()).find(|&at| self.may_report(at)),
            Order::Reverse => (0..self.under_way.len())
                .rev()
                .find(|&at| self.may_report(at)),
            Order::Shuffled(_) => {
                let all = 0..self.under_way.len();
                let may: Vec<usize> = all.filter(|&at| self.may_report(at)).collect();
                (!may.is_empty()).then(|| may[self.roll(may.len())])
            }
        };
        let Some(at) = next else {
            return false;
        };
        let (_, fact) = self.under_way.remove(at);
        self.happens(fact);
        true
    }

    /// Of one attempt, the opening comes before the end.
    fn may_report(&self, at: usize) -> bool {
        let (activation, fact) = &self.under_way[at];
        let opens = |(of, fact): &(Activation, Fact)| {
            of == activation && matches!(fact, Fact::Opened { .. })
        };
        let opened = matches!(fact, Fact::Opened { .. })
            || !self.streams(*activation)
            || !self.under_way[..at].iter().any(opens);
        opened && !self.is_held(*activation)
    }

    fn streams(&self, activation: Activation) -> bool {
        let node = self.machine.node_of(activation);
        node.is_some_and(|node| self.machine.workflow().node(node).draft.streams)
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
        let reaction = self.machine.apply(&event);
        self.journal.push(event);
        self.react(reaction);
    }

    /// An attempt was reported by other means.
    pub fn forget(&mut self, activation: Activation) {
        self.under_way.retain(|(of, _)| *of != activation);
        self.draining.remove(&activation);
    }

    /// Where a node stands at the root or in the last pass of its body.
    pub fn life_of(&self, node: &str) -> NodeLife {
        let id = self.machine.workflow().find(node).unwrap();
        self.machine.life_of(id).unwrap()
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
        let deed = self.world.deed(&execute);
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

    /// Everything the machine knows, as text. The moment of the last event is no part of it.
    pub fn digest(&self) -> String {
        self.machine.digest()
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
