//! Dead-path elimination as one would write it down in a paragraph: which nodes fire, worked out from the draft alone,
//! scope by scope and in the order of the file. For workflows without circles and exits.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Value;
use crate::draft::{Draft, Items, Kind, NodeDraft, OnFailure, Otherwise};

/// What becomes of a node in one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Done,
    Handled,
    Failed,
    Skipped,
    Dead,
}

/// What the oracle must be told: what a node does in a pass.
pub(super) trait Foreknowledge {
    /// Whether it reads something that does not exist.
    fn is_broken(&self, node: &NodeDraft) -> bool;
    /// Whether all its attempts fail.
    fn fails(&self, node: &NodeDraft, passes: &[u64]) -> bool;
    /// Which targets it chooses, if it is a branch.
    fn chooses(&self, node: &NodeDraft, passes: &[u64]) -> Vec<Arc<str>>;
}

/// How a whole run comes out.
#[derive(Debug, Default)]
pub(super) struct Prophecy {
    /// How often each node fires, by id and passes around it.
    pub fires: HashMap<(Arc<str>, Vec<u64>), usize>,
    /// Whether a failure reaches the root.
    pub fails: bool,
    /// Whether exactly those nodes fire. Otherwise some may not: a failure stops what is beside it.
    pub exact: bool,
}

pub(super) fn foretell(draft: &Draft, world: &impl Foreknowledge) -> Prophecy {
    let mut prophecy = Prophecy {
        exact: true,
        ..Prophecy::default()
    };
    let entry = draft.entry.node().map(|at| draft.nodes[at].id.clone());
    let mut oracle = Oracle {
        draft,
        world,
        prophecy: &mut prophecy,
    };
    let fails = oracle.scope(None, entry.as_slice(), &[]);
    prophecy.fails = fails;
    prophecy
}

struct Oracle<'a, W> {
    draft: &'a Draft,
    world: &'a W,
    prophecy: &'a mut Prophecy,
}

impl<W: Foreknowledge> Oracle<'_, W> {
    /// One pass of a scope. True if a failure in it is not handled.
    fn scope(&mut self, container: Option<&Arc<str>>, starts: &[Arc<str>], passes: &[u64]) -> bool {
        let draft = self.draft;
        let members = || {
            draft
                .nodes
                .iter()
                .filter(|n| n.parent.as_ref() == container)
        };
        let mut fates: HashMap<&str, (Fate, Vec<Arc<str>>)> = HashMap::new();
        let mut failed = false;
        // Edges lead from earlier to later nodes of the file.
        for node in members() {
            let mut fate = Fate::Dead;
            if starts.contains(&node.id) {
                fate = Fate::Done;
            }
            for from in members() {
                let Some((source, chosen)) = fates.get(&*from.id) else {
                    continue;
                };
                let plain = from.downstream.contains(&node.id);
                let on_error = from.on_error.contains(&node.id);
                let taken = match source {
                    Fate::Done => plain && chosen.contains(&node.id),
                    Fate::Handled => on_error,
                    _ => false,
                };
                let broken = matches!(source, Fate::Failed | Fate::Skipped);
                if broken && (plain || on_error) {
                    fate = Fate::Skipped;
                    break;
                }
                if taken {
                    fate = Fate::Done;
                }
            }
            if fate == Fate::Done {
                let key = (node.id.clone(), passes.to_vec());
                *self.prophecy.fires.entry(key).or_default() += 1;
                fate = self.fire(node, passes);
                failed |= fate == Fate::Failed;
            }
            let chosen = match &node.kind {
                Kind::Branch { .. } if fate == Fate::Done && !self.stands_in(node, passes) => {
                    self.world.chooses(node, passes)
                }
                Kind::Branch { .. } => Vec::new(),
                _ => node.downstream.clone(),
            };
            fates.insert(&node.id, (fate, chosen));
        }
        if failed && self.draft.on_failure == OnFailure::FailScope {
            self.prophecy.exact = false;
        }
        failed
    }

    /// True if a default value stands in for the node.
    fn stands_in(&self, node: &NodeDraft, passes: &[u64]) -> bool {
        self.world.is_broken(node) || self.world.fails(node, passes)
    }

    fn fire(&mut self, node: &NodeDraft, passes: &[u64]) -> Fate {
        let fails = match &node.kind {
            _ if self.world.is_broken(node) => true,
            Kind::Each {
                items, concurrency, ..
            } => {
                let Items::Read(items) = items else {
                    unreachable!("the oracle draws no expressions");
                };
                let list = &node.reads[items.0 as usize].text;
                let mut variables = self.draft.variables.iter();
                let list = variables.find(|(name, _)| name == list);
                let items = list
                    .and_then(|(_, v)| v.as_ref()?.as_array())
                    .map_or(0, <[Value]>::len);
                let failed = self.passes(node, items as u64, passes, *concurrency > 1);
                self.prophecy.exact &= !failed || *concurrency == 1;
                failed
            }
            Kind::While { maximum, .. } => self.passes(node, *maximum, passes, false),
            Kind::Item => false,
            _ => self.world.fails(node, passes),
        };
        match &node.policy.otherwise {
            _ if !fails => Fate::Done,
            Otherwise::Fail => Fate::Failed,
            Otherwise::Default(_) => Fate::Done,
            Otherwise::Goto | Otherwise::GotoAndFail => Fate::Handled,
        }
    }

    /// The passes of a container, up to the first that fails; where several run at once, all that may run. True if one
    /// failed.
    fn passes(&mut self, container: &NodeDraft, count: u64, around: &[u64], at_once: bool) -> bool {
        let draft = self.draft;
        let members = || {
            draft
                .nodes
                .iter()
                .filter(|n| n.parent.as_ref() == Some(&container.id))
        };
        let mut items = members().filter(|n| matches!(n.kind, Kind::Item));
        let starts: Vec<Arc<str>> = match items.next() {
            Some(item) => vec![item.id.clone()],
            None => {
                let leads = |from: &NodeDraft, to: &NodeDraft| {
                    from.downstream.contains(&to.id) || from.on_error.contains(&to.id)
                };
                let free = members().filter(|to| !members().any(|from| leads(from, to)));
                free.map(|n| n.id.clone()).collect()
            }
        };
        let mut failed = false;
        for index in 0..count {
            let passes: Vec<u64> = around.iter().copied().chain([index]).collect();
            failed |= self.scope(Some(&container.id), &starts, &passes);
            if failed && !at_once {
                break;
            }
        }
        failed
    }
}
