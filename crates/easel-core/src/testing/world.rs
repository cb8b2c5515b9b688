//! A world in which a machine runs: it performs effects the way a test says, in the order a test says.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::{Drawing, Run};
use crate::bind::Resolved;
use crate::draft::Kind;
use crate::effect::Execute;
use crate::event::{Completion, Fault, Ports, Start, Write};
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
type CommonBehaviour = Rc<dyn Fn(&Workflow, &Execute) -> Deed>;

/// How a world is to be.
#[derive(Clone)]
pub(crate) struct World {
    pub(super) workflow: Arc<Workflow>,
    behaviours: HashMap<Arc<str>, Behaviour>,
    /// What a node does that was told nothing.
    otherwise: CommonBehaviour,
    pub(super) held: BTreeSet<Arc<str>>,
    pub(super) order: Order,
    pub(super) start: Start,
}

impl World {
    pub fn new(drawing: &Drawing) -> World {
        World::of(drawing.workflow())
    }

    pub fn of(workflow: Arc<Workflow>) -> World {
        World {
            workflow,
            behaviours: HashMap::new(),
            otherwise: Rc::new(plain),
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

    /// What all nodes do.
    pub fn plays(mut self, behaviour: impl Fn(&Workflow, &Execute) -> Deed + 'static) -> World {
        self.otherwise = Rc::new(behaviour);
        self
    }

    /// A node's `out`.
    pub fn gives(self, node: &str, value: impl Into<Value>) -> World {
        let value = value.into();
        self.does(node, move |_| Deed::gives(value.clone()))
    }

    /// Where a branch goes on; words apart. It says what any node says.
    pub fn chooses(self, node: &str, targets: &str) -> World {
        let next: Vec<Arc<str>> = targets.split_whitespace().map(Arc::from).collect();
        let workflow = self.workflow.clone();
        self.does(node, move |execute| {
            Deed::done(Completion {
                ports: Ports::one("out", says(&workflow, execute)),
                ..choice(&next)
            })
        })
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
        Run::begin(self)
    }

    /// What an attempt comes to.
    pub(super) fn deed(&self, execute: &Execute) -> Deed {
        let node = self.workflow.node(execute.node);
        match self.behaviours.get(&node.draft.id) {
            Some(behaviour) => behaviour(execute),
            None => (self.otherwise)(&self.workflow, execute),
        }
    }
}

fn choice(next: &[Arc<str>]) -> Completion {
    Completion {
        next: Some(next.to_vec()),
        ..Completion::default()
    }
}

/// What a node does that was told nothing: it says its id and what it read, a form gives its answers, a branch goes
/// everywhere. Whatever it may assign to becomes what it says.
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
    let says = says(workflow, execute);
    let write = |target: u32| Write {
        target,
        value: says.as_str().into(),
    };
    Deed::done(Completion {
        ports: Ports::one("out", says.as_str()),
        next: match &draft.kind {
            Kind::Branch { targets } => Some(targets.clone()),
            _ => None,
        },
        writes: (0..draft.writes.len() as u32).map(write).collect(),
        ..Completion::default()
    })
}

/// A node's id and what it read: `join(a,b)`, with `-` for what is not there.
fn says(workflow: &Workflow, execute: &Execute) -> String {
    let shown = |read: &Resolved| match read {
        Resolved::Value(value) => value.to_string(),
        Resolved::Missing => "-".to_owned(),
        Resolved::Stream(_) => "~".to_owned(),
    };
    let id = &workflow.node(execute.node).draft.id;
    let reads: Vec<String> = execute.inputs.0.iter().map(shown).collect();
    match reads.as_slice() {
        [] => id.to_string(),
        reads => format!("{id}({})", reads.join(",")),
    }
}
