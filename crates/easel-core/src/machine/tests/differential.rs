//! The scheduler beside the one that canvases were drawn for (spec/canvas-engine §4.2–4.5 and §12.10), in a first turn.
//!
//! That one walks a growing list of nodes window by window: a window runs at once, then each of its nodes appends its
//! successors. A node that reads one not listed before it is dropped, and comes back only if somebody appends it again.
//! So a join may run too early, twice, or never. Where none of that happened, both must agree in everything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use proptest::prelude::*;

use super::random::{Features, Tape, workflow};
use crate::draft::{Draft, Kind, NodeDraft};
use crate::reference::Root;
use crate::testing::{Drawing, Run, World};

type Choices = HashMap<Arc<str>, Vec<Arc<str>>>;

/// The old walk, and what came of it.
struct Walk<'a> {
    nodes: HashMap<&'a str, &'a NodeDraft>,
    choices: &'a Choices,
    path: Vec<Arc<str>>,
    said: BTreeMap<Arc<str>, String>,
    /// What each execution said, in order.
    executions: Vec<(Arc<str>, String)>,
    dropped: BTreeSet<Arc<str>>,
    /// Whether a node read another in whose window it ran.
    too_early: bool,
}

impl<'a> Walk<'a> {
    fn of(draft: &'a Draft, choices: &'a Choices) -> Walk<'a> {
        let entry = draft.nodes[draft.entry.node().unwrap()].id.clone();
        let mut walk = Walk {
            nodes: draft.nodes.iter().map(|n| (&*n.id, n)).collect(),
            choices,
            path: vec![entry],
            said: BTreeMap::new(),
            executions: Vec::new(),
            dropped: BTreeSet::new(),
            too_early: false,
        };
        let mut at = 0;
        // Without circles a path has an end, but one that doubles at each step comes too late for a test.
        while at < walk.path.len() && walk.path.len() < 500 {
            let to = walk.window(at);
            walk.append_successors(at, to);
            at = to;
        }
        walk
    }

    /// Runs the nodes listed from there on. Returns the end of the window, after what was dropped.
    fn window(&mut self, from: usize) -> usize {
        let mut at = from;
        let mut to = self.path.len();
        let mut said = Vec::new();
        while at < to {
            let id = self.path[at].clone();
            let listed = &self.path[..at];
            if at > 0 && sources(self.nodes[&*id]).any(|source| !listed.contains(source)) {
                self.dropped.insert(self.path.remove(at));
                to -= 1;
                continue;
            }
            let says = self.says(&id);
            said.push((id, says));
            at += 1;
        }
        self.said.extend(said.iter().cloned());
        self.executions.extend(said);
        to
    }

    fn says(&mut self, id: &Arc<str>) -> String {
        let node = self.nodes[&**id];
        let mut reads = Vec::new();
        for source in sources(node) {
            let read = self.said.get(source).cloned();
            self.too_early |= read.is_none();
            reads.push(read.unwrap_or_else(|| "-".to_owned()));
        }
        match reads.as_slice() {
            [] => id.to_string(),
            reads => format!("{id}({})", reads.join(",")),
        }
    }

    fn append_successors(&mut self, from: usize, to: usize) {
        for at in from..to {
            let id = self.path[at].clone();
            let next = match self.choices.get(&id) {
                Some(chosen) => chosen,
                None => &self.nodes[&*id].downstream,
            };
            for next in next {
                if self.path.last() != Some(next) {
                    self.path.push(next.clone());
                }
            }
        }
    }

    fn ran(&self) -> BTreeSet<&str> {
        self.executions.iter().map(|(id, _)| &**id).collect()
    }

    /// True if every node ran once, and after all that it reads.
    fn is_sound(&self) -> bool {
        let ran = self.ran();
        let lost = self.dropped.iter().any(|id| !ran.contains(&**id));
        !lost && !self.too_early && ran.len() == self.executions.len()
    }
}

fn sources(node: &NodeDraft) -> impl Iterator<Item = &Arc<str>> {
    node.reads.iter().filter_map(|read| match &read.root {
        Root::Output { node, .. } => Some(node),
        _ => None,
    })
}

/// Where each branch goes, by chance.
fn choices(draft: &Draft, tape: &mut Tape) -> Choices {
    let branch = |node: &NodeDraft| match &node.kind {
        Kind::Branch { targets } => {
            let chosen = targets.iter().filter(|_| tape.below(2) == 1);
            Some((node.id.clone(), chosen.cloned().collect()))
        }
        _ => None,
    };
    draft.nodes.iter().filter_map(branch).collect()
}

fn both(drawing: &Drawing, choices: &Choices) -> Run {
    let world = choices.iter().fold(World::new(drawing), |world, (id, to)| {
        world.chooses(id, &to.join(" "))
    });
    world.run()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn where_the_old_walk_is_sound_both_run_the_same_nodes_and_say_the_same(
        tape in proptest::collection::vec(any::<u8>(), 1..160),
        chosen in proptest::collection::vec(any::<u8>(), 1..20),
    ) {
        let drawing = workflow(&tape, Features::default());
        prop_assume!(drawing.is_some());
        let drawing = drawing.unwrap();
        let draft = drawing.draft();
        let choices = choices(&draft, &mut Tape::new(&chosen));
        let walk = Walk::of(&draft, &choices);
        // Long enough to say something.
        prop_assume!(walk.is_sound() && walk.executions.len() > 3);
        let run = both(&drawing, &choices);
        prop_assert!(run.is_done());
        let started: BTreeSet<&str> = run.started().into_iter().collect();
        prop_assert_eq!(started.len(), run.started().len());
        prop_assert_eq!(&started, &walk.ran(), "{:?}", drawing);
        for (id, said) in &walk.executions {
            prop_assert_eq!(&run.out(id), said, "{:?}", drawing);
        }
    }

    #[test]
    fn elsewhere_each_node_that_the_old_walk_ran_runs_once(
        tape in proptest::collection::vec(any::<u8>(), 1..160),
        chosen in proptest::collection::vec(any::<u8>(), 1..20),
    ) {
        let drawing = workflow(&tape, Features::default());
        prop_assume!(drawing.is_some());
        let drawing = drawing.unwrap();
        let draft = drawing.draft();
        let choices = choices(&draft, &mut Tape::new(&chosen));
        let walk = Walk::of(&draft, &choices);
        prop_assume!(!walk.is_sound());
        let run = both(&drawing, &choices);
        prop_assert!(run.is_done());
        for id in walk.ran() {
            prop_assert_eq!(run.count(id), 1, "{}: {:?}", id, drawing);
        }
    }
}
