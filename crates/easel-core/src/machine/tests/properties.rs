//! What holds for every workflow, every world and every order of completions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::oracle::{Foreknowledge, foretell};
use super::random::{Failures, Features, answer_all, deed, strangers, workflow};
use crate::bind::{Activation, Inputs};
use crate::compile::Finding;
use crate::draft::NodeDraft;
use crate::effect::{Effect, Execute, Observation, Outcome, Pass, Reaction};
use crate::event::{Event, Fact, Timestamp};
use crate::machine::{Machine, RunLife};
use crate::testing::{Drawing, Order, Run, World};
use crate::workflow::{End, NodeId, Slot, Workflow};

/// A hundred cases of each property, or as many as `PROPTEST_CASES` says.
fn cases() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(100),
    }
}

const EVERYTHING: Features = Features {
    circles: true,
    containers: true,
    exits: true,
    forms: true,
    streams: true,
    variables: true,
    failures: Failures::Any,
    any_reference: true,
    failing_edges: false,
};

fn world(drawing: &Drawing, features: Features, by_inputs: bool) -> World {
    World::new(drawing)
        .node_runs(300)
        .plays(move |workflow, execute| deed(workflow, execute, features.failures, by_inputs))
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Issue),
        Just(Order::Reverse),
        any::<u64>().prop_map(Order::Shuffled)
    ]
}

fn tapes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 1..160)
}

/// A failed check, with the workflow that fails it.
fn about<T>(drawing: &Drawing, checked: Result<T, TestCaseError>) -> Result<T, TestCaseError> {
    checked.map_err(|error| match error {
        TestCaseError::Fail(why) => TestCaseError::fail(format!("{why}\n{drawing:?}")),
        other => other,
    })
}

fn run(world: World) -> Run {
    let mut run = world.run();
    answer_all(&mut run);
    run
}

/// What every run must keep to.
fn check(run: &Run) -> Result<(), TestCaseError> {
    let life = run.machine.life();
    prop_assert_ne!(life, RunLife::Running, "the run hangs");
    if let Some(Outcome::Failed { fault, .. }) = run.machine.outcome() {
        prop_assert_ne!(&*fault.code, "stalled");
    }
    if life == RunLife::Waiting {
        prop_assert!(run.machine.in_flight().is_empty());
        return Ok(());
    }
    let mut open: HashSet<Activation> = HashSet::new();
    let mut closed: HashSet<Activation> = HashSet::new();
    for seen in &run.seen {
        match seen {
            Observation::NodeStarted { activation, .. } => {
                prop_assert!(open.insert(*activation), "a firing started twice");
            }
            Observation::NodeFinished { step, .. } => {
                prop_assert!(open.remove(&step.activation), "an end without a start");
                prop_assert!(closed.insert(step.activation));
            }
            _ => {}
        }
    }
    prop_assert!(open.is_empty(), "started and never ended: {:?}", open);
    let mut tried = HashSet::new();
    for execute in executions(run) {
        let attempt = (
            execute.node,
            execute.scope.clone(),
            execute.visit,
            execute.attempt,
        );
        prop_assert!(
            tried.insert(attempt),
            "fired twice in one pass: {:?}",
            execute
        );
    }
    Ok(())
}

fn executions(run: &Run) -> impl Iterator<Item = &Execute> {
    run.effects.iter().filter_map(|effect| match effect {
        Effect::Execute(execute) => Some(execute),
        _ => None,
    })
}

/// No node starts before the nodes with an edge to it, and those whose values it reads, are settled in its pass.
fn check_order(run: &Run) -> Result<(), TestCaseError> {
    let workflow = run.machine.workflow();
    let mut open: HashSet<(u32, Arc<[Pass]>)> = HashSet::new();
    for seen in &run.seen {
        match seen {
            Observation::NodeStarted { node, scope, .. } => {
                let here = workflow.node(*node);
                let edges = &workflow.scope(here.scope).edges;
                let before = here
                    .incoming
                    .iter()
                    .filter_map(|&at| match edges[at as usize].from {
                        End::Member(member) => Some(member),
                        End::Outside => None,
                    });
                for member in before.chain(here.after.iter().copied()) {
                    let source = workflow.scope(here.scope).members[member as usize];
                    let streams = workflow.node(source).draft.streams && here.draft.drains;
                    let early = open.contains(&(source.0, scope.clone())) && !streams;
                    prop_assert!(
                        !early,
                        "{} before {}",
                        here.draft.id,
                        workflow.node(source).draft.id
                    );
                }
                open.insert((node.0, scope.clone()));
            }
            Observation::NodeFinished { step, .. } => {
                open.remove(&(step.node.0, step.scope.clone()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Everything that can be read after a run: ports by node, variables.
fn result(run: &Run) -> String {
    let workflow = run.machine.workflow();
    let mut result = String::new();
    for at in 0..workflow.nodes.len() as u32 {
        let id = NodeId(at);
        let ports = run.machine.ports(id);
        result += &format!("{}: {ports:?}\n", workflow.node(id).draft.id);
    }
    for (name, value) in run.machine.variables() {
        result += &format!("{name}: {value:?}\n");
    }
    result
}

/// A world in which a node does the same in a pass, whatever it reads.
struct Known<'a>(&'a Workflow, Features);

impl Known<'_> {
    fn in_pass(&self, node: &NodeDraft, passes: &[u64], attempt: u32) -> crate::testing::Deed {
        let id = self.0.find(&node.id).unwrap();
        let pass = |&index: &u64| Pass {
            container: "".into(),
            index,
            visit: 1,
        };
        let execute = Execute {
            activation: Activation(0),
            node: id,
            attempt,
            scope: passes.iter().map(pass).collect(),
            visit: 1,
            inputs: Inputs::default(),
            answers: None,
            random: 0,
        };
        deed(self.0, &execute, self.1.failures, false)
    }
}

impl Foreknowledge for Known<'_> {
    fn is_broken(&self, node: &NodeDraft) -> bool {
        let id = self.0.find(&node.id).unwrap();
        let unknown = |slot: &Slot| matches!(slot, Slot::Unknown(_));
        self.0.node(id).reads.iter().any(unknown)
    }

    fn fails(&self, node: &NodeDraft, passes: &[u64]) -> bool {
        let mut attempts = 1..=node.policy.attempts;
        attempts.all(|attempt| self.in_pass(node, passes, attempt).result.is_err())
    }

    fn chooses(&self, node: &NodeDraft, passes: &[u64]) -> Vec<Arc<str>> {
        let deed = self.in_pass(node, passes, node.policy.attempts);
        deed.result
            .ok()
            .and_then(|done| done.next)
            .unwrap_or_default()
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_run_ends_or_waits(tape in tapes(), order in orders(), concurrency in 1_u32..5, graph: bool) {
        let features = Features { failing_edges: graph, ..EVERYTHING };
        if let Some(drawing) = workflow(&tape, features) {
            let world = world(&drawing, features, true).order(order).concurrency(concurrency);
            about(&drawing, check(&run(world)))?;
        }
    }

    #[test]
    fn nodes_fire_as_the_oracle_says(tape in tapes(), order in orders(), concurrency in 1_u32..5, graph: bool) {
        let features = Features { circles: false, exits: false, failing_edges: graph, ..EVERYTHING };
        if let Some(drawing) = workflow(&tape, features) {
            let world = world(&drawing, features, false).order(order).concurrency(concurrency);
            about(&drawing, check_against_the_oracle(&drawing, features, &run(world)))?;
        }
    }

    #[test]
    fn the_result_does_not_depend_on_the_order_of_completions(tape in tapes(), seed: u64, concurrency in 1_u32..5) {
        let features = Features { failures: Failures::Handled, exits: false, any_reference: false, ..EVERYTHING };
        // Who reads without waiting may read early or late.
        let races = |f: &Finding| matches!(f, Finding::OrderingLeftOut { .. });
        let drawing = workflow(&tape, features);
        if let Some(drawing) = drawing.filter(|d| !d.findings().iter().any(races)) {
            let world = world(&drawing, features, true);
            let first = run(world.clone());
            let other = run(world.order(Order::Shuffled(seed)).concurrency(concurrency));
            about(&drawing, check_same(&first, &other))?;
        }
    }

    #[test]
    fn every_part_of_a_journal_rebuilds_the_run(tape in tapes(), order in orders(), concurrency in 1_u32..4) {
        if let Some(drawing) = workflow(&tape, EVERYTHING) {
            let world = world(&drawing, EVERYTHING, true).order(order).concurrency(concurrency);
            about(&drawing, check_journal(&drawing.workflow(), &run(world)))?;
        }
    }

    #[test]
    fn strangers_change_nothing(tape in tapes(), order in orders(), stop in 0_usize..60) {
        if let Some(drawing) = workflow(&tape, EVERYTHING) {
            let run = world(&drawing, EVERYTHING, true).order(order).begin();
            about(&drawing, check_strangers(run, stop))?;
        }
    }
}

/// Exactly those nodes fire that dead-path elimination says, once a pass, and none too early.
fn check_against_the_oracle(
    drawing: &Drawing,
    features: Features,
    run: &Run,
) -> Result<(), TestCaseError> {
    check(run)?;
    check_order(run)?;
    if run.machine.life() == RunLife::Waiting {
        return Ok(());
    }
    let workflow = run.machine.workflow();
    let prophecy = foretell(&drawing.draft(), &Known(workflow, features));
    prop_assert_eq!(run.is_done(), !prophecy.fails);
    let mut fired: HashMap<(Arc<str>, Vec<u64>), usize> = HashMap::new();
    for seen in &run.seen {
        if let Observation::NodeStarted { node, scope, .. } = seen {
            let id = workflow.node(*node).draft.id.clone();
            let passes = scope.iter().map(|pass| pass.index).collect();
            *fired.entry((id, passes)).or_default() += 1;
        }
    }
    if prophecy.exact {
        prop_assert_eq!(fired, prophecy.fires);
    } else {
        for (node, times) in fired {
            let foretold = prophecy.fires.get(&node);
            prop_assert!(foretold >= Some(&times), "{:?} must not fire", node);
        }
    }
    Ok(())
}

/// Where nodes are functions of what they read, the order of completions changes nothing.
fn check_same(first: &Run, other: &Run) -> Result<(), TestCaseError> {
    check(first)?;
    check(other)?;
    if first.is_done() {
        prop_assert_eq!(result(first), result(other));
    }
    Ok(())
}

/// What is rebuilt from a journal, from any part of it and through JSON, is what was there.
fn check_journal(workflow: &Arc<Workflow>, run: &Run) -> Result<(), TestCaseError> {
    let write = |event: &Event| serde_json::to_string(event).unwrap();
    let text: Vec<String> = run.journal.iter().map(write).collect();
    let read: Vec<Event> = text
        .iter()
        .map(|t| serde_json::from_str(t).unwrap())
        .collect();
    prop_assert_eq!(&read, &run.journal);
    let again: Vec<String> = read.iter().map(write).collect();
    prop_assert_eq!(text, again, "keys keep their order");

    let (mut machine, mut reactions) =
        Machine::replay(workflow.clone(), read[..1].to_vec()).unwrap();
    for (at, event) in read.iter().enumerate() {
        if at > 0 {
            reactions.push(machine.apply(event));
        }
        // To rebuild every part from scratch costs the square of the length: a sample of them.
        if at % 7 == 0 || at + 1 == read.len() {
            let journal = &read[..=at];
            let (rebuilt, replayed) = Machine::replay(workflow.clone(), journal.to_vec()).unwrap();
            prop_assert_eq!(rebuilt.digest(), machine.digest());
            prop_assert_eq!(effects(&replayed), effects(&reactions));
            let open = not_reported(&effects(&replayed), journal, rebuilt.life().over());
            prop_assert_eq!(rebuilt.in_flight().len(), open);
        }
    }
    prop_assert_eq!(machine.digest(), run.machine.digest());
    prop_assert_eq!(effects(&reactions), run.effects.iter().collect::<Vec<_>>());
    let seen: Vec<&Observation> = reactions.iter().flat_map(|r| &r.observations).collect();
    prop_assert_eq!(seen, run.seen.iter().collect::<Vec<_>>());
    Ok(())
}

fn effects(reactions: &[Reaction]) -> Vec<&Effect> {
    reactions.iter().flat_map(|r| &r.effects).collect()
}

/// Facts that nobody waits for change nothing, at any point.
fn check_strangers(mut run: Run, stop: usize) -> Result<(), TestCaseError> {
    for _ in 0..stop {
        if !run.step() {
            break;
        }
    }
    let before = run.machine.digest();
    for fact in strangers(&run) {
        let reaction = run
            .machine
            .apply(&Event::new(Timestamp(1 << 40), fact.clone()));
        let nothing = reaction.effects.is_empty() && reaction.observations.is_empty();
        prop_assert!(nothing, "{:?} had an effect", fact);
        prop_assert_eq!(&run.machine.digest(), &before, "{:?}", fact);
    }
    run.go();
    answer_all(&mut run);
    check(&run)
}

/// How many of the effects are still to be reported.
fn not_reported(effects: &[&Effect], journal: &[Event], over: bool) -> usize {
    let mut open: HashSet<(Activation, u32, bool)> = HashSet::new();
    for effect in effects {
        match effect {
            Effect::Execute(execute) => {
                open.insert((execute.activation, execute.attempt, false));
            }
            Effect::Sleep {
                activation,
                attempt,
                ..
            } => {
                open.insert((*activation, *attempt, true));
            }
            Effect::Cancel(activation) => open.retain(|(of, ..)| of != activation),
            Effect::Feed { .. } => {}
        }
    }
    for event in journal {
        match &event.fact {
            Fact::Completed {
                activation,
                attempt,
                ..
            }
            | Fact::Failed {
                activation,
                attempt,
                ..
            } => {
                open.remove(&(*activation, *attempt, false));
            }
            Fact::Woke {
                activation,
                attempt,
            } => {
                open.remove(&(*activation, *attempt, true));
            }
            _ => {}
        }
    }
    if over { 0 } else { open.len() }
}
