//! The machine: a run as a value, driven by two calls.
//!
//! [`Machine::start`] and [`Machine::apply`] take what happened and give what is to be done. Between the calls the machine
//! does the whole of design.md §3: edges are decided, nodes fire, scopes open and close, messages take turns.
//!
//! The firing rule, which is `decide` in `firing.rs`: *a node fires when no incoming edge is pending, none failed and
//! at least one was taken; with a failed edge it is skipped; when all are dead it is dead.*
//!
//! What follows from what happened is worked off as a list of work, never by recursion, so that neither a long chain
//! nor a deep nest of containers can exhaust the stack.
//!
//! The machine is total on strangers: a fact about an attempt it is not waiting for changes nothing.

mod attempts;
mod cancel;
mod chance;
mod containers;
mod each;
mod edge;
mod firing;
mod forms;
mod frame;
pub(crate) mod life;
mod node;
mod overlay;
mod repeats;
mod resolve;
mod run;
mod streams;
#[cfg(test)]
mod tests;
mod turns;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::sync::Arc;

pub use edge::EdgeLife;
pub use frame::FrameLife;
pub use node::NodeLife;
pub use run::RunLife;

use rustc_hash::FxHashMap;

use crate::bind::{Activation, Inputs};
use crate::effect::{Effect, Outcome, Reaction, Scope};
use crate::event::{Event, Fact, Fault, Ports, Start, Timestamp, Usage};
use crate::workflow::{NodeId, Workflow};
use crate::{Object, Value};
use edge::EdgeSignal;
use frame::{FrameKey, FrameSignal, Frames, Site};
use node::NodeSignal;
use run::RunSignal;

/// A run. Its state is a fold over the events it was given.
#[derive(Debug)]
pub struct Machine {
    workflow: Arc<Workflow>,
    life: RunLife,
    run: Arc<str>,
    seed: u64,
    concurrency: u32,
    /// Node runs inside circles of edges that are left.
    circle_runs_left: u64,
    context: Value,
    variables: Vec<Option<Value>>,
    frames: Frames,
    root: Option<FrameKey>,
    /// Firings that are not settled yet.
    active: FxHashMap<Activation, Site>,
    next_activation: u64,
    /// Firings that wait for a place: the smallest goes first.
    ready: BinaryHeap<Reverse<(u64, Activation)>>,
    /// Firings that wait for their turn to speak.
    lane: VecDeque<Activation>,
    speaking: Option<Activation>,
    /// Attempts that hold a place, and attempts and pauses that will report back.
    places: u32,
    under_way: u32,
    /// Open forms. They opened in the order of their numbers.
    forms: BTreeSet<Activation>,
    gathered: Arc<Vec<Value>>,
    usage: Usage,
    outcome: Option<Outcome>,
    work: VecDeque<Work>,
    /// Scopes in which nothing is live any more. They close once every edge is decided.
    quiet: VecDeque<FrameKey>,
    now: Timestamp,
    reaction: Reaction,
}

/// Something that follows from what happened and is still to be worked out.
#[derive(Debug)]
enum Work {
    /// A scope began: a node that no edge leads to, or at which the scope starts, may fire.
    Decide(Site),
    /// An edge was decided.
    Edge(FrameKey, u32, EdgeSignal),
    /// A node is settled, or its text began to arrive: whoever waits for it may go on.
    Wake(Site),
    /// A failure in a scope was not handled: its container has the word.
    Close(FrameKey),
}

/// A failure on its way outward: which node failed first, and why.
#[derive(Clone, Debug)]
struct Failure {
    node: NodeId,
    fault: Fault,
}

impl Machine {
    /// Begins a run. `start` should be in the journal first, as [`Fact::Started`].
    pub fn start(workflow: Arc<Workflow>, start: Start, at: Timestamp) -> (Machine, Reaction) {
        let mut machine = Machine {
            life: RunLife::Running,
            run: start.run,
            seed: start.seed,
            concurrency: start.concurrency.max(1),
            circle_runs_left: start.node_runs,
            context: start.context,
            variables: workflow.variables.iter().map(|(_, v)| v.clone()).collect(),
            workflow,
            frames: Frames::default(),
            root: None,
            active: FxHashMap::default(),
            next_activation: 1,
            ready: BinaryHeap::new(),
            lane: VecDeque::new(),
            speaking: None,
            places: 0,
            under_way: 0,
            forms: BTreeSet::new(),
            gathered: Arc::default(),
            usage: Usage::default(),
            outcome: None,
            work: VecDeque::new(),
            quiet: VecDeque::new(),
            now: at,
            reaction: Reaction::default(),
        };
        machine.set_variables(&start.variables);
        machine.open_root();
        machine.settle_down();
        let reaction = std::mem::take(&mut machine.reaction);
        (machine, reaction)
    }

    /// Takes in what happened and says what is to be done. Facts it does not wait for change nothing.
    pub fn apply(&mut self, event: &Event) -> Reaction {
        if self.life.over() {
            return Reaction::default();
        }
        self.now = event.at;
        match &event.fact {
            Fact::Started(_) => {}
            &Fact::Completed {
                activation,
                attempt,
                ref completion,
            } => self.attempt_completed(activation, attempt, completion),
            &Fact::Failed {
                activation,
                attempt,
                ref fault,
                usage,
            } => self.attempt_reported_failure(activation, attempt, fault, usage),
            &Fact::Opened {
                activation,
                attempt,
            } => self.stream_opened(activation, attempt),
            &Fact::Woke {
                activation,
                attempt,
            } => self.pause_over(activation, attempt),
            Fact::Answered(answer) => self.answered(answer),
            Fact::Cancelled => self.cancel_run(),
            Fact::Recovered => self.recovered(),
        }
        self.settle_down();
        std::mem::take(&mut self.reaction)
    }

    /// Takes back a reaction that was worked off, so that its room serves the next one.
    pub fn recycle(&mut self, mut reaction: Reaction) {
        reaction.effects.clear();
        reaction.observations.clear();
        self.reaction = reaction;
    }

    /// Rebuilds a run from its journal. `None` if the journal does not begin with [`Fact::Started`].
    ///
    /// The reactions are those of the whole journal; what is still to be done is [`Machine::in_flight`].
    pub fn replay(
        workflow: Arc<Workflow>,
        journal: impl IntoIterator<Item = Event>,
    ) -> Option<(Machine, Vec<Reaction>)> {
        let mut events = journal.into_iter();
        let first = events.next()?;
        let Fact::Started(start) = first.fact else {
            return None;
        };
        let (mut machine, reaction) = Machine::start(workflow, start, first.at);
        let mut reactions = vec![reaction];
        reactions.extend(events.map(|event| machine.apply(&event)));
        Some((machine, reactions))
    }

    /// What was asked of the world and is not reported yet, in the order in which nodes fired: attempts to be made anew,
    /// what is left of pauses. For a run that was rebuilt from its journal and then told [`Fact::Recovered`].
    pub fn in_flight(&self) -> Vec<Effect> {
        let mut active: Vec<_> = self.active.iter().collect();
        active.sort_unstable_by_key(|&(activation, _)| activation);
        let sites = active.into_iter().map(|(_, &site)| site);
        sites.filter_map(|site| self.asked_of(site)).collect()
    }

    /// Where the run stands.
    pub fn life(&self) -> RunLife {
        self.life
    }

    /// How the run ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The workflow it runs.
    pub fn workflow(&self) -> &Arc<Workflow> {
        &self.workflow
    }

    /// The run's id.
    pub fn run(&self) -> &Arc<str> {
        &self.run
    }

    /// What the outside handed in, with the start or with the last answer.
    pub fn context(&self) -> &Value {
        &self.context
    }

    /// What components found in this turn that answers may cite, in the order in which they were done.
    pub fn gathered(&self) -> &Arc<Vec<Value>> {
        &self.gathered
    }

    /// Tokens of models over all nodes and attempts so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The variables that have a value, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&Arc<str>, &Value)> {
        let names = self.workflow.variables.iter().map(|(name, _)| name);
        let values = self.variables.iter().map(Option::as_ref);
        names
            .zip(values)
            .filter_map(|(name, value)| Some((name, value?)))
    }

    /// The node of a firing that is under way.
    pub fn node_of(&self, activation: Activation) -> Option<NodeId> {
        self.node_id(*self.active.get(&activation)?)
    }

    /// Which attempt of a firing is under way, from 1; the last one during a pause.
    pub fn attempt_of(&self, activation: Activation) -> Option<u32> {
        let site = *self.active.get(&activation)?;
        Some(self.frames.node(site)?.attempt)
    }

    /// The passes around a firing that is under way, outermost first.
    pub fn scope_of(&self, activation: Activation) -> Option<Scope> {
        let frame = self.active.get(&activation)?.frame;
        Some(self.frames.get(frame)?.passes.clone())
    }

    /// When the attempt of a firing that is under way began.
    pub fn attempt_began(&self, activation: Activation) -> Option<Timestamp> {
        let site = *self.active.get(&activation)?;
        Some(self.frames.node(site)?.start)
    }

    /// What a firing that is under way reads, resolved anew.
    pub fn bound(&self, activation: Activation) -> Option<Inputs> {
        self.bind(*self.active.get(&activation)?).ok()
    }

    /// What a node put out last; of a node in a body, in the body's last pass. `None` if that never began.
    pub fn ports(&self, node: NodeId) -> Option<&Ports> {
        Some(&self.frames.node(self.last_site(node)?)?.ports)
    }

    /// Where a node stands; of a node in a body, in the body's last pass. `None` if that never began.
    pub fn life_of(&self, node: NodeId) -> Option<NodeLife> {
        Some(self.frames.node(self.last_site(node)?)?.life)
    }

    /// What the last pass of a container calls by that name: its number, its item. `None` if no pass ever began.
    pub fn pass_value(&self, container: NodeId, name: &str) -> Option<&Value> {
        let body = &self.frames.node(self.last_site(container)?)?.inner;
        self.frames.get(body.readable()?)?.item.get(name)
    }

    /// Firings that began and are not settled, in the order in which they began, each with where its node stands.
    pub fn unsettled(&self) -> Vec<(Activation, NodeLife)> {
        let active = self.active.iter();
        let lives = active.map(|(&activation, &site)| (activation, self.frames.life(site)));
        let begun = |life: NodeLife| {
            life.attempting()
                || matches!(
                    life,
                    NodeLife::Inside | NodeLife::Asking | NodeLife::Resting
                )
        };
        let mut unsettled: Vec<_> = lives.filter(|&(_, life)| begun(life)).collect();
        unsettled.sort_unstable_by_key(|&(activation, _)| activation);
        unsettled
    }

    /// A node in the last pass of every body around it.
    fn last_site(&self, node: NodeId) -> Option<Site> {
        let mut way = vec![];
        let mut at = Some(node);
        while let Some(id) = at {
            let here = self.workflow.node(id);
            way.push(here.local);
            at = self.workflow.scope(here.scope).container;
        }
        let member = way.pop()?;
        let frame = self.root?;
        way.iter()
            .rev()
            .try_fold(Site { frame, member }, |container, &member| {
                let frame = self.frames.node(container)?.inner.readable()?;
                Some(Site { frame, member })
            })
    }

    /// How many scopes are under way or kept to be read; for watching memory.
    pub fn scopes(&self) -> usize {
        self.frames.count()
    }

    fn set_variables(&mut self, values: &Object) {
        for (name, value) in values {
            if let Some(variable) = self.workflow.variable(name) {
                self.variables[variable.at()] = Some(value.clone());
            }
        }
    }

    /// Works out everything that follows, until only the outside can move the run on.
    fn settle_down(&mut self) {
        loop {
            if let Some(work) = self.work.pop_front() {
                match work {
                    Work::Decide(site) => self.decide(site),
                    Work::Edge(frame, edge, signal) => self.edge_decided(frame, edge, signal),
                    Work::Wake(site) => self.wake_watchers(site),
                    Work::Close(frame) => self.close(frame),
                }
            } else if let Some(frame) = self.quiet.pop_front() {
                self.close(frame);
            } else if !self.start_next() {
                break;
            }
        }
        if self.life != RunLife::Running || self.under_way > 0 {
            return;
        }
        if self.forms.is_empty() {
            // Cannot happen; if it did, a run that fails is better than one that hangs.
            let message = "The run stalled: nothing is under way and nothing is asked.";
            return self.fail_run(None, Fault::new("stalled", message));
        }
        self.wait();
    }

    /// Moves the run on. False if its state does not know the signal.
    fn move_on(&mut self, signal: RunSignal) -> bool {
        match self.life.next(signal) {
            Some(next) => self.life = next,
            None => return false,
        }
        true
    }

    /// Moves a node on and keeps count of who is under way. False if its state does not know the signal.
    fn signal(&mut self, site: Site, signal: NodeSignal) -> bool {
        let before = self.frames.life(site);
        let Some(frame) = self.frames.get_mut(site.frame) else {
            return false;
        };
        if !frame.signal(site.member, signal) {
            return false;
        }
        let (scope, node) = (frame.scope, frame.node(site.member));
        let (after, activation) = (node.life, node.activation);
        if frame.live == 0 && frame.move_on(FrameSignal::Settle) {
            self.quiet.push_back(site.frame);
        }
        let drains = self.workflow.member(scope, site.member).draft.drains;
        match (before.attempting(), after.attempting()) {
            (false, true) if drains => self.speaking = Some(activation),
            (true, false) if drains => self.speaking = None,
            (false, true) => self.places += 1,
            (true, false) => self.places -= 1,
            _ => {}
        }
        match (before.reports(), after.reports()) {
            (false, true) => self.under_way += 1,
            (true, false) => self.under_way -= 1,
            _ => {}
        }
        if after.settled() {
            self.active.remove(&activation);
        }
        true
    }

    /// The compiled node at a site.
    fn node_id(&self, site: Site) -> Option<NodeId> {
        let frame = self.frames.get(site.frame)?;
        let scope = self.workflow.scope(frame.scope);
        scope.members.get(site.member as usize).copied()
    }
}
