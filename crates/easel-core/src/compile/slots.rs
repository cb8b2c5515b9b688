//! Turns references into slots: which node, seen from the reader, or which variable.

use std::collections::HashMap;
use std::sync::Arc;

use super::Finding;
use crate::draft::{Gather, Kind};
use crate::reference::{Path, Reference, Root};
use crate::workflow::{NodeId, Place, ScopeId, Slot, Workflow};

/// What a name stands for.
struct Lookup {
    nodes: HashMap<Arc<str>, NodeId>,
    /// The item node of each scope.
    items: HashMap<ScopeId, u32>,
}

/// Fills in the slots of every node.
pub(super) fn resolve(workflow: &mut Workflow, findings: &mut Vec<Finding>) {
    let nodes = (0..).map(NodeId).zip(&workflow.nodes);
    let items = workflow.nodes.iter().rev();
    let lookup = Lookup {
        nodes: nodes
            .filter(|(_, n)| !n.implicit)
            .map(|(id, n)| (n.draft.id.clone(), id))
            .collect(),
        items: items
            .filter(|n| matches!(n.draft.kind, Kind::Item))
            .map(|n| (n.scope, n.local))
            .collect(),
    };
    for at in 0..workflow.nodes.len() {
        let node = &workflow.nodes[at];
        let reader = Reader {
            workflow,
            lookup: &lookup,
            id: &node.draft.id,
        };
        let mut slots = |references: &[Reference], scope: ScopeId| -> Vec<Slot> {
            let slot = |reference| reader.slot(reference, scope, findings);
            references.iter().map(slot).collect()
        };
        let reads = slots(&node.draft.reads, node.scope);
        let writes = slots(&node.draft.writes, node.scope);
        let mut collect = Vec::new();
        if let Some(body) = node.body {
            let mut slot = |reference: &Reference| reader.slot(reference, body, findings);
            match &node.draft.kind {
                Kind::Each {
                    collect: wanted, ..
                } => {
                    let gather =
                        |(port, what): &(Arc<str>, Gather)| (port.clone(), what.map(&mut slot));
                    collect.extend(wanted.iter().map(gather));
                }
                Kind::Once { give } | Kind::Repeat { give, .. } => {
                    collect.push((node.draft.primary.clone(), give.map(&mut slot)));
                }
                _ => {}
            }
        }
        let node = &mut workflow.nodes[at];
        node.reads = reads;
        node.writes = writes;
        node.collect = collect;
    }
}

/// One node looking for what it reads.
struct Reader<'a> {
    workflow: &'a Workflow,
    lookup: &'a Lookup,
    id: &'a Arc<str>,
}

impl Reader<'_> {
    fn slot(&self, reference: &Reference, scope: ScopeId, findings: &mut Vec<Finding>) -> Slot {
        let found = match &reference.root {
            Root::Variable(key) => self.variable(reference, key),
            Root::Pass(name) => self.pass_value(name, &reference.path, scope),
            Root::PassOf { container, name } => {
                self.value_of_pass(container, name, &reference.path, scope)
            }
            Root::Output { node, port } => {
                let Some(&target) = self.lookup.nodes.get(node) else {
                    return self.unknown(
                        reference,
                        format!("there is no node \"{node}\""),
                        findings,
                    );
                };
                match place_of(self.workflow, scope, target) {
                    Some(place) => Ok(Slot::Port {
                        place,
                        port: port.clone(),
                        path: reference.path.clone(),
                    }),
                    None => {
                        findings.push(Finding::ReferenceAcrossScopes {
                            node: self.id.clone(),
                            reference: reference.text.clone(),
                        });
                        let why = format!("\"{node}\" is in a body that cannot be seen from here");
                        return Slot::Unknown(why.into());
                    }
                }
            }
        };
        found.unwrap_or_else(|why| self.unknown(reference, why, findings))
    }

    fn unknown(&self, reference: &Reference, why: String, findings: &mut Vec<Finding>) -> Slot {
        let why: Arc<str> = why.into();
        findings.push(Finding::UnknownReference {
            node: self.id.clone(),
            reference: reference.text.clone(),
            why: why.clone(),
        });
        Slot::Unknown(why)
    }

    /// The longest declared name wins; what is left of the key is a path into its value.
    fn variable(&self, reference: &Reference, key: &str) -> Result<Slot, String> {
        let mut candidates = reference.variable_candidates();
        let found = candidates.find_map(|(name, path)| {
            let variable = self.workflow.variable(name)?;
            let path = path.join(&reference.path);
            Some(Slot::Variable { variable, path })
        });
        found.ok_or_else(|| {
            let like = self.variables_like(key);
            format!("there is no variable \"{key}\"; {like}")
        })
    }

    fn variables_like(&self, key: &str) -> String {
        const SHOWN: usize = 12;
        let family = key.split('.').next().unwrap_or(key);
        let names = self.workflow.variables.iter().map(|(name, _)| &**name);
        let mut names: Vec<&str> = names
            .filter(|n| n.split('.').next() == Some(family))
            .collect();
        if names.is_empty() {
            return format!("no \"{family}.\" variable is declared");
        }
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        match more {
            0 => format!("declared are {}", names.join(", ")),
            more => format!("declared are {} and {more} more", names.join(", ")),
        }
    }

    /// A value of the nearest pass over a list around the reader.
    fn pass_value(&self, name: &Arc<str>, path: &Path, scope: ScopeId) -> Result<Slot, String> {
        let mut at = Some(scope);
        while let Some(id) = at {
            let here = self.workflow.scope(id);
            let container = here.container.map(|c| self.workflow.node(c));
            if container.is_some_and(|c| matches!(c.draft.kind, Kind::Each { .. })) {
                let Some(&member) = self.lookup.items.get(&id) else {
                    break;
                };
                return Ok(Slot::Port {
                    place: Place {
                        depth: here.depth,
                        down: Box::default(),
                        member,
                    },
                    port: name.clone(),
                    path: path.clone(),
                });
            }
            at = here.parent;
        }
        Err(format!("\"{name}\" has a meaning only inside an iteration"))
    }

    /// A value of the pass of a container around the reader.
    fn value_of_pass(
        &self,
        container: &str,
        name: &Arc<str>,
        path: &Path,
        scope: ScopeId,
    ) -> Result<Slot, String> {
        let mut at = Some(scope);
        while let Some(id) = at {
            let here = self.workflow.scope(id);
            let around = here.container.map(|c| &self.workflow.node(c).draft);
            if around.is_some_and(|draft| *draft.id == *container && draft.kind.is_container()) {
                return Ok(Slot::Pass {
                    depth: here.depth,
                    name: name.clone(),
                    path: path.clone(),
                });
            }
            at = here.parent;
        }
        Err(format!("it does not stand in the body of \"{container}\""))
    }
}

/// The way from a scope to a node, or `None` if it would lead out of one body and into another.
fn place_of(workflow: &Workflow, from: ScopeId, target: NodeId) -> Option<Place> {
    let node = workflow.node(target);
    let (mut up, mut down) = (from, node.scope);
    let mut way = Vec::new();
    let mut left_body = false;
    let depth = |scope: ScopeId| workflow.scope(scope).depth;
    let explicit = |scope: ScopeId| {
        let container = workflow.scope(scope).container;
        container.is_some_and(|c| !workflow.node(c).implicit)
    };
    let mut entered_body = false;
    while up != down {
        if depth(down) > depth(up) {
            let scope = workflow.scope(down);
            entered_body |= explicit(down);
            way.push(workflow.node(scope.container?).local);
            down = scope.parent?;
        } else {
            left_body |= explicit(up);
            up = workflow.scope(up).parent?;
        }
    }
    if left_body && entered_body {
        return None;
    }
    way.reverse();
    Some(Place {
        depth: depth(up),
        down: way.into(),
        member: node.local,
    })
}
