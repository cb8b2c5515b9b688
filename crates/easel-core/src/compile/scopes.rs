//! Lays the nodes out in scopes: the root, one a container, and one for each implicit loop.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Finding;
use super::circles::{self, Graph};
use crate::chance;
use crate::draft::{Draft, Entry, Kind, NodeDraft};
use crate::workflow::{Edge, End, Node, NodeId, Scope, ScopeId, VariableId, Workflow};

/// An edge between two nodes of one explicit scope, before circles are cut out.
struct Flow {
    from: u32,
    to: u32,
    on_error: bool,
}

pub(super) fn lay_out(draft: Draft, findings: &mut Vec<Finding>) -> Workflow {
    let entry = draft.entry.node();
    let mut ids: HashMap<Arc<str>, u32> = HashMap::new();
    let mut drafts: Vec<NodeDraft> = Vec::with_capacity(draft.nodes.len());
    let mut root_start = None;
    for (at, node) in draft.nodes.into_iter().enumerate() {
        if ids.contains_key(&node.id) {
            findings.push(Finding::DuplicateId { node: node.id });
            continue;
        }
        if entry == Some(at) {
            root_start = Some(drafts.len() as u32);
        }
        ids.insert(node.id.clone(), drafts.len() as u32);
        drafts.push(node);
    }
    let parents = parents_of(&drafts, &ids, findings);
    // A run starts at the root, so a node in a body is no entry.
    root_start = root_start.filter(|&start: &u32| parents[start as usize].is_none());
    if root_start.is_none() && draft.entry != Entry::Sources {
        findings.push(Finding::NoEntry);
    }
    let flows = flows_of(&drafts, &ids, &parents, findings);

    let mut children: Vec<Vec<u32>> = vec![Vec::new(); drafts.len() + 1];
    for (at, parent) in parents.iter().enumerate() {
        children[parent.map_or(drafts.len(), |p| p as usize)].push(at as u32);
    }
    let root_members = children.pop().unwrap_or_default();

    let mut layout = Layout {
        nodes: drafts.into_iter().map(node).collect(),
        scopes: Vec::new(),
    };
    let root_starts: Vec<u32> = root_start.into_iter().collect();
    let mut todo = std::collections::VecDeque::from([(None, None, root_members, root_starts)]);
    while let Some((container, parent, members, starts)) = todo.pop_front() {
        let given = container.is_none() && draft.entry != Entry::Sources;
        let starts = layout.starts(&members, &flows, starts, given);
        let placed = layout.scope(container, parent, &members, &starts, &flows, findings);
        for (member, scope) in members.iter().zip(placed) {
            let node = layout.draft(*member);
            if !node.kind.is_container() {
                continue;
            }
            let body = std::mem::take(&mut children[*member as usize]);
            if body.is_empty() {
                findings.push(Finding::EmptyBody {
                    node: node.id.clone(),
                });
            }
            todo.push_back((Some(NodeId(*member)), Some(scope), body, Vec::new()));
        }
    }
    let mut by_id = HashMap::new();
    for (node, at) in layout.nodes.iter().zip(0..) {
        by_id.entry(node.draft.id.clone()).or_insert(NodeId(at));
    }
    let mut workflow = Workflow {
        by_id,
        nodes: layout.nodes,
        scopes: layout.scopes,
        by_name: draft
            .variables
            .iter()
            .zip(0..)
            .map(|((name, _), at)| (name.clone(), VariableId(at)))
            .collect(),
        variables: draft.variables,
        on_failure: draft.on_failure,
        assignments: draft.assignments,
    };
    for at in 0..workflow.scopes.len() {
        if let Some(container) = workflow.scopes[at].container {
            workflow.nodes[container.at()].body = Some(ScopeId(at as u32));
        }
    }
    loops(&workflow, findings);
    unreachable(&workflow, findings);
    workflow
}

/// The container of each node; a parent that is no container, or a ring of parents, counts as none.
fn parents_of(
    drafts: &[NodeDraft],
    ids: &HashMap<Arc<str>, u32>,
    findings: &mut Vec<Finding>,
) -> Vec<Option<u32>> {
    let mut parents: Vec<Option<u32>> = Vec::with_capacity(drafts.len());
    for node in drafts {
        let Some(name) = &node.parent else {
            parents.push(None);
            continue;
        };
        let parent = ids.get(name).copied().filter(|&p| {
            let kind = &drafts[p as usize].kind;
            kind.is_container() && drafts[p as usize].id != node.id
        });
        if parent.is_none() {
            findings.push(Finding::NoSuchContainer {
                node: node.id.clone(),
                parent: name.clone(),
            });
        }
        parents.push(parent);
    }
    // 0: not looked at, 1: on this walk, 2: leads to the root
    let mut known = vec![0u8; drafts.len()];
    for start in 0..drafts.len() {
        let mut trail = Vec::new();
        let mut at = start;
        while known[at] == 0 {
            known[at] = 1;
            trail.push(at);
            match parents[at] {
                Some(parent) if known[parent as usize] == 1 => {
                    findings.push(Finding::NoSuchContainer {
                        node: drafts[at].id.clone(),
                        parent: drafts[parent as usize].id.clone(),
                    });
                    parents[at] = None;
                }
                Some(parent) => at = parent as usize,
                None => {}
            }
        }
        for at in trail {
            known[at] = 2;
        }
    }
    parents
}

/// The edges that stay inside one scope, by source, in file order, each once.
fn flows_of(
    drafts: &[NodeDraft],
    ids: &HashMap<Arc<str>, u32>,
    parents: &[Option<u32>],
    findings: &mut Vec<Finding>,
) -> Vec<Vec<Flow>> {
    let mut all = Vec::with_capacity(drafts.len());
    for (at, node) in drafts.iter().enumerate() {
        let from = at as u32;
        let mut flows: Vec<Flow> = Vec::new();
        let mut seen = HashSet::new();
        let flow = node.downstream.iter().map(|t| (t, false));
        for (target, on_error) in flow.chain(node.on_error.iter().map(|t| (t, true))) {
            let Some(&to) = ids.get(target) else {
                findings.push(Finding::DanglingEdge {
                    node: node.id.clone(),
                    target: target.clone(),
                });
                continue;
            };
            if to == from {
                findings.push(Finding::SelfEdge {
                    node: node.id.clone(),
                });
                continue;
            }
            let same_scope = parents[to as usize] == parents[at];
            let ends_pass = same_scope && matches!(drafts[to as usize].kind, Kind::Item);
            let enters_own_body = parents[to as usize] == Some(from);
            let closes_own_body = parents[at] == Some(to);
            if ends_pass || enters_own_body || closes_own_body {
                continue;
            }
            if !same_scope {
                findings.push(Finding::EdgeAcrossScopes {
                    node: node.id.clone(),
                    target: target.clone(),
                });
                continue;
            }
            if seen.insert((to, on_error)) {
                flows.push(Flow { from, to, on_error });
            }
        }
        all.push(flows);
    }
    all
}

/// Nodes on their way into scopes.
struct Layout {
    nodes: Vec<Node>,
    scopes: Vec<Scope>,
}

impl Layout {
    fn draft(&self, node: u32) -> &NodeDraft {
        &self.nodes[node as usize].draft
    }

    /// Where a scope starts: at the entry if the file names one, else at its item node, else at every node that no edge
    /// leads to.
    fn starts(
        &self,
        members: &[u32],
        flows: &[Vec<Flow>],
        entry: Vec<u32>,
        named: bool,
    ) -> Vec<u32> {
        if named {
            return entry;
        }
        let item = members
            .iter()
            .find(|&&m| matches!(self.draft(m).kind, Kind::Item));
        if let Some(&item) = item {
            return vec![item];
        }
        let reached: HashSet<u32> = members
            .iter()
            .flat_map(|&m| flows[m as usize].iter().map(|f| f.to))
            .collect();
        let free = members.iter().copied().filter(|m| !reached.contains(m));
        free.collect()
    }

    /// Builds one explicit scope and the implicit loops in it. Returns the scope in which each member landed.
    fn scope(
        &mut self,
        container: Option<NodeId>,
        parent: Option<ScopeId>,
        members: &[u32],
        starts: &[u32],
        flows: &[Vec<Flow>],
        findings: &mut Vec<Finding>,
    ) -> Vec<ScopeId> {
        let local: HashMap<u32, u32> = members.iter().copied().zip(0u32..).collect();
        let graph: Graph = members
            .iter()
            .map(|&m| flows[m as usize].iter().map(|f| local[&f.to]).collect())
            .collect();
        let roots: Vec<u32> = starts.iter().map(|s| local[s]).collect();
        let back = circles::back_edges(&graph, &roots);
        let parts = circles::strong_parts(&graph);
        self.endless(&graph, members, findings);

        let here = ScopeId(self.scopes.len() as u32);
        let depth = parent.map_or(0, |p| self.scopes[p.at()].depth + 1);
        let kind = container.map(|c| &self.draft(c.0).kind);
        let keeps = kind.is_some_and(Kind::is_loop);
        let forgets = matches!(kind, Some(Kind::Repeat { .. }));
        self.scopes.push(Scope {
            container,
            parent,
            depth,
            members: Vec::new(),
            edges: Vec::new(),
            starts: Vec::new(),
            keeps,
            forgets,
        });

        // Which implicit loop each member belongs to.
        let mut part_of: Vec<Option<usize>> = vec![None; members.len()];
        for (part, nodes) in parts.iter().enumerate() {
            for &node in nodes {
                part_of[node as usize] = Some(part);
            }
        }
        let mut loop_scope: Vec<Option<ScopeId>> = vec![None; parts.len()];
        let mut landed = Vec::with_capacity(members.len());
        for (at, &member) in members.iter().enumerate() {
            let scope = match part_of[at] {
                None => here,
                Some(part) => match loop_scope[part] {
                    Some(scope) => scope,
                    None => {
                        let scope = self.implicit_loop(here, depth, &parts[part], members);
                        loop_scope[part] = Some(scope);
                        scope
                    }
                },
            };
            self.place(member, scope);
            landed.push(scope);
        }

        for (at, &member) in members.iter().enumerate() {
            for (edge, flow) in flows[member as usize].iter().enumerate() {
                let to = local[&flow.to] as usize;
                let is_back = back[at][edge] && part_of[at].is_some() && part_of[at] == part_of[to];
                if is_back {
                    findings.push(Finding::BackEdge {
                        node: self.draft(flow.from).id.clone(),
                        target: self.draft(flow.to).id.clone(),
                    });
                }
                self.edge(flow, is_back, here);
            }
        }
        for &start in starts {
            let scope = landed[local[&start] as usize];
            let place = self.nodes[start as usize].local;
            self.scopes[scope.at()].starts.push(place);
            if scope != here {
                let Some(node) = self.scopes[scope.at()].container else {
                    continue;
                };
                let place = self.nodes[node.at()].local;
                if !self.scopes[here.at()].starts.contains(&place) {
                    self.scopes[here.at()].starts.push(place);
                }
            }
        }
        landed
    }

    /// Reports circles that hold no node which could leave them.
    fn endless(&self, graph: &Graph, members: &[u32], findings: &mut Vec<Finding>) {
        let can_leave = |at: usize| {
            let node = self.draft(members[at]);
            let chooses = matches!(
                node.kind,
                Kind::Branch { .. } | Kind::Form { .. } | Kind::Exit
            );
            chooses || !node.on_error.is_empty()
        };
        let stuck: Graph = graph
            .iter()
            .enumerate()
            .map(|(at, out)| match can_leave(at) {
                true => Vec::new(),
                false => out.clone(),
            })
            .collect();
        for part in circles::strong_parts(&stuck) {
            let circle = circles::circle_in(&stuck, &part);
            let id = |&n: &u32| self.draft(members[n as usize]).id.clone();
            findings.push(Finding::EndlessCircle {
                nodes: circle.iter().map(id).collect(),
            });
        }
    }

    /// The scope of an implicit loop and, in `outer`, the node that stands for it.
    fn implicit_loop(
        &mut self,
        outer: ScopeId,
        depth: u32,
        part: &[u32],
        members: &[u32],
    ) -> ScopeId {
        let first = self.draft(members[part[0] as usize]);
        let id: Arc<str> = format!("(loop at {})", first.id).into();
        let number = self.nodes.len() as u32;
        let scope = ScopeId(self.scopes.len() as u32);
        let draft = NodeDraft {
            idempotent: true,
            ..NodeDraft::new(id, "")
        };
        self.nodes.push(Node {
            implicit: true,
            ..node(draft)
        });
        self.place(number, outer);
        self.scopes.push(Scope {
            container: Some(NodeId(number)),
            parent: Some(outer),
            depth: depth + 1,
            members: Vec::new(),
            edges: Vec::new(),
            starts: Vec::new(),
            keeps: true,
            forgets: false,
        });
        scope
    }

    fn place(&mut self, node: u32, scope: ScopeId) {
        let members = &mut self.scopes[scope.at()].members;
        self.nodes[node as usize].scope = scope;
        self.nodes[node as usize].local = members.len() as u32;
        members.push(NodeId(node));
    }

    /// Puts one edge where it belongs: inside one scope, or on both sides of an implicit loop's border.
    fn edge(&mut self, flow: &Flow, back: bool, here: ScopeId) {
        let from_scope = self.nodes[flow.from as usize].scope;
        let to_scope = self.nodes[flow.to as usize].scope;
        let edge = Edge {
            from: End::Outside,
            to: End::Outside,
            target: NodeId(flow.to),
            on_error: flow.on_error,
            back,
            outer: None,
            inner: None,
        };
        if from_scope == to_scope {
            self.push(from_scope, edge, Some(flow.from), Some(flow.to));
            return;
        }
        // The edge as the scope around the loops sees it: between nodes that stand for loops where it crosses a border.
        let stands_for = |layout: &Layout, id: u32, scope: ScopeId| match scope == here {
            true => Some(id),
            false => layout.scopes[scope.at()].container.map(|c| c.0),
        };
        let (from, to) = (
            stands_for(self, flow.from, from_scope),
            stands_for(self, flow.to, to_scope),
        );
        let outer = self.push(here, edge.clone(), from, to);
        if from_scope != here {
            let leaving = Edge {
                outer: Some(outer),
                ..edge.clone()
            };
            self.push(from_scope, leaving, Some(flow.from), None);
        }
        if to_scope != here {
            let entering = Edge {
                outer: Some(outer),
                ..edge
            };
            let inner = self.push(to_scope, entering, None, Some(flow.to));
            self.scopes[here.at()].edges[outer as usize].inner = Some(inner);
        }
    }

    /// Adds an edge to a scope and to the nodes at its ends. Returns its place.
    fn push(&mut self, scope: ScopeId, edge: Edge, from: Option<u32>, to: Option<u32>) -> u32 {
        let at = self.scopes[scope.at()].edges.len() as u32;
        let end = |id: Option<u32>| {
            id.map_or(End::Outside, |id| {
                End::Member(self.nodes[id as usize].local)
            })
        };
        let edge = Edge {
            from: end(from),
            to: end(to),
            ..edge
        };
        if let Some(from) = from {
            self.nodes[from as usize].outgoing.push(at);
        }
        if let Some(to) = to.filter(|_| !edge.back) {
            self.nodes[to as usize].incoming.push(at);
        }
        self.scopes[scope.at()].edges.push(edge);
        at
    }
}

/// A node that has no place yet.
fn node(draft: NodeDraft) -> Node {
    Node {
        chance: chance::of_name(&draft.id),
        draft,
        scope: ScopeId(0),
        local: 0,
        body: None,
        implicit: false,
        incoming: Vec::new(),
        outgoing: Vec::new(),
        reads: Vec::new(),
        writes: Vec::new(),
        collect: Vec::new(),
        after: Vec::new(),
        after_text: Vec::new(),
        sources: Vec::new(),
        watchers: Vec::new(),
    }
}

/// Reports exits without a loop, and loops that make no pass or have no end of their own.
fn loops(workflow: &Workflow, findings: &mut Vec<Finding>) {
    let exits = workflow
        .nodes
        .iter()
        .filter(|n| matches!(n.draft.kind, Kind::Exit));
    let left: HashSet<NodeId> = exits
        .filter_map(|n| workflow.loop_around(n.scope))
        .collect();
    for (at, node) in workflow.nodes.iter().enumerate() {
        let id = node.draft.id.clone();
        match &node.draft.kind {
            Kind::Exit if workflow.loop_around(node.scope).is_none() => {
                findings.push(Finding::ExitOutsideLoop { node: id });
            }
            Kind::While { maximum: 0, .. } => findings.push(Finding::NoPasses { node: id }),
            Kind::While { until: None, .. } if !left.contains(&NodeId(at as u32)) => {
                findings.push(Finding::NoEnd { node: id });
            }
            _ => {}
        }
    }
}

/// Reports nodes that no walk along the edges of their scope can reach.
fn unreachable(workflow: &Workflow, findings: &mut Vec<Finding>) {
    for scope in &workflow.scopes {
        let implicit = scope.container.is_some_and(|c| workflow.node(c).implicit);
        if implicit {
            continue;
        }
        let mut reached = vec![false; scope.members.len()];
        let mut todo = scope.starts.clone();
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut reached[at as usize], true) {
                continue;
            }
            for &edge in &workflow.node(scope.members[at as usize]).outgoing {
                if let End::Member(to) = scope.edges[edge as usize].to {
                    todo.push(to);
                }
            }
        }
        for (at, &member) in scope.members.iter().enumerate() {
            if reached[at] {
                continue;
            }
            let node = workflow.node(member);
            let hidden = node.body.filter(|_| node.implicit);
            let inside = hidden.map_or(&[][..], |body| &workflow.scope(body).members[..]);
            let lost = if hidden.is_some() {
                inside
            } else {
                &scope.members[at..=at]
            };
            findings.extend(lost.iter().map(|&n| Finding::Unreachable {
                node: workflow.node(n).draft.id.clone(),
            }));
        }
    }
}
