//! The old engine beside ours. It keeps a list of node ids and slides a window over it: nodes of one window run at once,
//! then each appends its successors. A node whose text names something that is not in the list yet is dropped, in the
//! hope that it will be appended again (spec/canvas-engine §4). Where that works out, both engines must do the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use proptest::prelude::*;

use super::random::Tape;
use crate::draft::{Draft, NodeDraft};
use crate::reference::{Reference, Root};
use crate::testing::{Drawing, Order, World, draw};

/// What the old engine did.
#[derive(Debug, Default)]
struct Trace {
    /// How often each node ran.
    runs: BTreeMap<Arc<str>, usize>,
    /// What each node said last.
    says: BTreeMap<Arc<str>, String>,
    /// Whether every node that was appended ran once, after all that led to it and all it read: what a user has in mind.
    as_meant: bool,
}

/// One turn of the old engine on a fresh canvas.
fn slide(draft: &Draft, chooses: &HashMap<Arc<str>, Vec<Arc<str>>>) -> Trace {
    let nodes: HashMap<&str, &NodeDraft> = draft.nodes.iter().map(|n| (&*n.id, n)).collect();
    let mut trace = Trace {
        as_meant: true,
        ..Trace::default()
    };
    let mut path: Vec<Arc<str>> = vec![draft.nodes[0].id.clone()];
    let mut appended: BTreeSet<Arc<str>> = path.iter().cloned().collect();
    let mut led_to: Vec<(Arc<str>, Arc<str>, usize)> = Vec::new();
    let mut ran_in: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    let (mut at, mut window) = (0, 0);
    while at < path.len() {
        // Drop what names a node that does not occur before it in the list, the same window included.
        let mut to = path.len();
        let mut entry = at;
        while entry < to {
            let node = nodes[&*path[entry]];
            let waits = |r: &Reference| {
                let names = exposes(node).then(|| named(r)).flatten();
                names.is_some_and(|name| !path[..entry].contains(&name))
            };
            if node.reads.iter().any(waits) {
                path.remove(entry);
                to -= 1;
            } else {
                entry += 1;
            }
        }
        // All of the window is bound before any of it runs.
        let bound: Vec<String> = path[at..to]
            .iter()
            .map(|id| said(nodes[&**id], &trace))
            .collect();
        for (id, says) in path[at..to].iter().zip(bound) {
            *trace.runs.entry(id.clone()).or_default() += 1;
            trace.says.insert(id.clone(), says);
            ran_in.insert(id.clone(), window);
        }
        let ran = path[at..to].to_vec();
        for id in ran {
            let next = chooses.get(&id).unwrap_or(&nodes[&*id].downstream);
            for successor in next {
                led_to.push((id.clone(), successor.clone(), window));
                appended.insert(successor.clone());
                if path.last() != Some(successor) {
                    path.push(successor.clone());
                }
            }
        }
        at = to;
        window += 1;
    }
    let once = appended.iter().all(|id| trace.runs.get(id) == Some(&1));
    let in_order = led_to
        .iter()
        .all(|(_, to, window)| ran_in.get(to) > Some(window));
    let read_in_order = ran_in.iter().all(|(id, window)| {
        let mut read = nodes[&**id].reads.iter().filter_map(named);
        read.all(|name| ran_in.get(&name).is_none_or(|earlier| earlier < window))
    });
    trace.as_meant = once && in_order && read_in_order;
    trace
}

/// Nodes that are texts tell what they wait for; the others never wait.
fn exposes(node: &NodeDraft) -> bool {
    node.drains
}

fn named(reference: &Reference) -> Option<Arc<str>> {
    match &reference.root {
        Root::Output { node, .. } => Some(node.clone()),
        _ => None,
    }
}

/// As nodes of [`World`] speak: `id(a,b)`, with `-` for what is not there.
fn said(node: &NodeDraft, trace: &Trace) -> String {
    let shown = |r| named(r).and_then(|name| trace.says.get(&name).cloned());
    let reads: Vec<String> = node
        .reads
        .iter()
        .map(|r| shown(r).unwrap_or("-".into()))
        .collect();
    match reads.is_empty() {
        true => node.id.to_string(),
        false => format!("{}({})", node.id, reads.join(",")),
    }
}

/// An acyclic canvas of texts, other nodes and switches; texts name ancestors.
fn canvas(bytes: &[u8]) -> (Drawing, HashMap<Arc<str>, Vec<Arc<str>>>) {
    let mut tape = Tape::new(bytes);
    let mut drawing = draw("begin");
    let mut ancestors: Vec<BTreeSet<usize>> = vec![BTreeSet::new()];
    let name = |at: usize| match at {
        0 => "begin".to_owned(),
        at => format!("n{at}"),
    };
    let mut switches = Vec::new();
    for at in 1..3 + tape.below(8) {
        let mut above = BTreeSet::new();
        let mut sources = BTreeSet::new();
        for _ in 0..1 + tape.below(2) {
            sources.insert(tape.below(at));
        }
        for &source in &sources {
            drawing = drawing.more(&format!("{} -> {}", name(source), name(at)));
            above.insert(source);
            above.extend(ancestors[source].iter().copied());
        }
        // A join that names what leads to it waits for all of it; another may be too early.
        let names_all = sources.len() > 1 && tape.below(4) > 0;
        let mut reads: Vec<usize> = if names_all {
            sources.into_iter().collect()
        } else {
            Vec::new()
        };
        if !names_all && tape.below(3) == 0 {
            reads.extend(above.iter().copied().nth(tape.below(above.len())));
        }
        for source in reads {
            drawing = drawing.reads(&name(at), &format!("{}@out", name(source)));
        }
        match tape.below(6) {
            0 => switches.push(at),
            1 => {}
            _ => drawing = drawing.drains(&name(at)),
        }
        ancestors.push(above);
    }
    let mut chooses = HashMap::new();
    for at in switches {
        drawing = drawing.branch(&name(at));
        let targets = drawing.draft().nodes[at].downstream.clone();
        let chosen = targets.into_iter().filter(|_| tape.below(3) > 0).collect();
        chooses.insert(name(at).into(), chosen);
    }
    (drawing, chooses)
}

fn compare(bytes: &[u8], order: Order) -> Result<bool, TestCaseError> {
    let (drawing, chooses) = canvas(bytes);
    let old = slide(&drawing.draft(), &chooses);
    let mut world = World::new(&drawing).order(order);
    for (switch, targets) in chooses {
        world = world.chooses(&switch, &targets.join(" "));
    }
    let run = world.run();
    prop_assert!(run.is_done(), "{:?}", run.outcome());
    let mut runs: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for node in run.started() {
        *runs.entry(node.into()).or_default() += 1;
    }
    prop_assert!(runs.values().all(|&times| times == 1), "{runs:?}");
    for node in old.runs.keys() {
        prop_assert!(runs.contains_key(node), "{node} never ran\n{drawing:?}");
    }
    if old.as_meant {
        prop_assert_eq!(&runs, &old.runs, "{:?}", drawing);
        for (node, says) in old.says {
            prop_assert_eq!(run.out(&node), says, "{}\n{:?}", node, drawing);
        }
    }
    Ok(old.as_meant)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn where_the_old_engine_does_what_was_meant_ours_does_the_same(
        bytes in proptest::collection::vec(any::<u8>(), 4..80),
        seed: u64,
    ) {
        compare(&bytes, Order::Shuffled(seed))?;
    }
}

#[test]
fn the_comparison_is_not_an_empty_one() {
    let mut random = 1_u64;
    let mut byte = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 40) as u8
    };
    let meant = |bytes: Vec<u8>| compare(&bytes, Order::Issue).unwrap();
    let all = (0..200).filter(|_| meant((0..60).map(|_| byte()).collect()));
    let count = all.count();
    assert!((40..=180).contains(&count), "{count} of 200 went as meant");
}

#[test]
fn the_old_engine_joins_twice_or_never_where_it_was_not_told_enough() {
    // A join of a short and a long branch that names neither runs once for each.
    let twice = draw("begin -> a, b; a -> join; b -> c -> join").drains("a b c join");
    let trace = slide(&twice.draft(), &HashMap::new());
    assert_eq!(trace.runs["join"], 2);
    assert!(!trace.as_meant);
    // A node that names a branch that was not taken never runs.
    let never = draw("begin -> s -> a, b -> m")
        .branch("s")
        .drains("a b m")
        .reads("m", "a@out b@out");
    let chooses = HashMap::from([("s".into(), vec!["a".into()])]);
    let trace = slide(&never.draft(), &chooses);
    assert_eq!(trace.runs.get("m"), None);
}

#[test]
fn a_join_that_names_all_its_branches_is_dropped_and_runs_once_in_both_engines() {
    let drawing = draw("begin -> a, b; a -> join; b -> c -> join")
        .drains("a b c join")
        .reads("join", "a@out c@out");
    let trace = slide(&drawing.draft(), &HashMap::new());
    assert!(trace.as_meant);
    assert_eq!(trace.says["join"], World::new(&drawing).run().out("join"));
}
