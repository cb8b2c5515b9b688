//! Which nodes of a scope are sure to run when another does.
//!
//! A node is *live* in a pass if a taken edge leads to it. Most edges are sure: they are taken whenever their source is
//! live. The edges of a branch, or of a node that goes elsewhere when it fails, are chosen: each way it can choose is a
//! *choice*, a point of its own between the node and its targets. From a choice on, edges are sure again.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use easel_catalog::Role;
use easel_core::Value;
use easel_core::draft::{Kind, Otherwise};
use easel_core::workflow::{Edge, End, NodeId, Scope, Workflow};

use crate::canvas::Canvas;

/// The parameter of a Switch that names the targets of the rest.
const ELSE: &str = "end_cpn_ids";

/// Points looked at while asking whether one is sure behind another, for one scope. Beyond it nothing is claimed, which
/// keeps the check linear.
const STEPS: usize = 200_000;

/// A point: a member of the scope by its place, then its choices, and at last the start.
pub(super) type Point = u32;

/// One scope as a graph of points. It has no circles: edges that lead back are left out.
pub(super) struct Flow {
    /// For each point those before it, and whether that edge is taken whenever the point before is live.
    before: Vec<Vec<(Point, bool)>>,
    /// For each choice the node that chooses.
    chooser: HashMap<Point, Point>,
    /// For each node whose choices leave nothing out: how many there are.
    complete: HashMap<Point, usize>,
    /// The dominator tree.
    tree: Tree,
    /// Members that are live in every pass.
    always: Vec<bool>,
    /// The place of each point in an order in which edges lead forward.
    place: Vec<usize>,
    /// How many more points may be looked at.
    steps: Cell<usize>,
}

/// The ways one node can choose: each with the ids of its targets, by where they stand in the parameters.
struct Choices {
    ways: Vec<Vec<NodeId>>,
    /// True if one of them is always taken.
    complete: bool,
}

impl Flow {
    pub fn new(canvas: &Canvas<'_>, ids: &HashMap<&str, NodeId>, scope: &Scope) -> Flow {
        let mut flow = Flow {
            before: vec![Vec::new(); scope.members.len()],
            chooser: HashMap::new(),
            complete: HashMap::new(),
            tree: Tree::default(),
            always: Vec::new(),
            place: Vec::new(),
            steps: Cell::new(STEPS),
        };
        for (at, &member) in scope.members.iter().enumerate() {
            flow.leave(canvas, ids, scope, at as Point, member);
        }
        let start = flow.point();
        flow.enter(canvas.workflow, scope, start);
        let order = flow.order();
        flow.tree = Tree::new(&flow.before, &order, start);
        flow.always = vec![false; flow.before.len()];
        flow.place = vec![0; flow.before.len()];
        for (at, &point) in order.iter().enumerate() {
            if let Some(place) = flow.place.get_mut(point as usize) {
                *place = at;
            }
            let sure = flow
                .before(point)
                .iter()
                .any(|&(p, sure)| sure && flow.is_always(p));
            if let Some(always) = flow.always.get_mut(point as usize) {
                *always = sure || point == start;
            }
        }
        flow
    }

    fn point(&mut self) -> Point {
        self.before.push(Vec::new());
        (self.before.len() - 1) as Point
    }

    fn before(&self, point: Point) -> &[(Point, bool)] {
        self.before.get(point as usize).map_or(&[], Vec::as_slice)
    }

    fn join(&mut self, from: Point, to: Point, sure: bool) {
        if let Some(before) = self.before.get_mut(to as usize) {
            before.push((from, sure));
        }
    }

    /// Adds the edges that leave a node.
    fn leave(
        &mut self,
        canvas: &Canvas<'_>,
        ids: &HashMap<&str, NodeId>,
        scope: &Scope,
        from: Point,
        member: NodeId,
    ) {
        let node = canvas.workflow.node(member);
        let edges = node
            .outgoing
            .iter()
            .filter_map(|&at| scope.edges.get(at as usize));
        let forward = edges.filter(|edge| !edge.back);
        let targets: Vec<(Point, &Edge)> = forward
            .filter_map(|edge| match edge.to {
                End::Member(to) => Some((to, edge)),
                End::Outside => None,
            })
            .collect();
        let fails_elsewhere = matches!(
            node.draft.policy.otherwise,
            Otherwise::Goto | Otherwise::GotoAndFail
        );
        let mut complete = true;
        let mut choices = 0;
        // The node that stands for a loop leaves it by one edge or another; nobody knows which.
        let leaves_loop = node.implicit && targets.len() > 1;
        if let Kind::Branch { .. } = node.draft.kind {
            let ways = choices_of(canvas, ids, member);
            complete &= ways.complete;
            for way in &ways.ways {
                let choice = self.choice(from);
                choices += 1;
                for (to, _) in targets
                    .iter()
                    .filter(|(_, edge)| !edge.on_error && way.contains(&edge.target))
                {
                    self.join(choice, *to, true);
                }
            }
        } else if leaves_loop {
            for (to, _) in &targets {
                let choice = self.choice(from);
                choices += 1;
                self.join(choice, *to, true);
            }
        } else {
            let through = match fails_elsewhere {
                true => {
                    choices += 1;
                    self.choice(from)
                }
                false => from,
            };
            for (to, _) in targets.iter().filter(|(_, edge)| !edge.on_error) {
                self.join(through, *to, true);
            }
        }
        if fails_elsewhere {
            let failed = self.choice(from);
            choices += 1;
            for (to, _) in targets.iter().filter(|(_, edge)| edge.on_error) {
                self.join(failed, *to, true);
            }
        }
        if complete && choices > 0 {
            self.complete.insert(from, choices);
        }
    }

    fn choice(&mut self, of: Point) -> Point {
        let choice = self.point();
        self.join(of, choice, false);
        self.chooser.insert(choice, of);
        choice
    }

    /// Adds where the scope is entered.
    fn enter(&mut self, workflow: &Workflow, scope: &Scope, start: Point) {
        let from_outside = |&(_, member): &(usize, &NodeId)| {
            let edges = workflow.node(*member).incoming.iter();
            let mut edges = edges.filter_map(|&at| scope.edges.get(at as usize));
            edges.any(|edge| edge.from == End::Outside)
        };
        let members = scope.members.iter().enumerate();
        let mut entries: Vec<Point> = members
            .filter(from_outside)
            .map(|(at, _)| at as Point)
            .collect();
        entries.extend(scope.starts.iter().copied());
        entries.sort_unstable();
        entries.dedup();
        // A loop that can be entered at several nodes is entered at any of them.
        let implicit = scope.container.is_some_and(|c| workflow.node(c).implicit);
        let sure = !implicit || entries.len() == 1;
        for entry in entries {
            self.join(start, entry, sure);
        }
    }

    /// The points, those before a point ahead of it. Points on a circle are left out.
    fn order(&self) -> Vec<Point> {
        let mut after: Vec<Vec<Point>> = vec![Vec::new(); self.before.len()];
        let mut waits: Vec<usize> = Vec::with_capacity(self.before.len());
        for (point, before) in self.before.iter().enumerate() {
            waits.push(before.len());
            for &(from, _) in before {
                if let Some(after) = after.get_mut(from as usize) {
                    after.push(point as Point);
                }
            }
        }
        let mut order: Vec<Point> = Vec::with_capacity(waits.len());
        order.extend(
            (0..waits.len())
                .filter(|&p| waits.get(p) == Some(&0))
                .map(|p| p as Point),
        );
        let mut next = 0;
        while let Some(&point) = order.get(next) {
            next += 1;
            for &to in after.get(point as usize).into_iter().flatten() {
                if let Some(waits) = waits.get_mut(to as usize) {
                    *waits -= 1;
                    if *waits == 0 {
                        order.push(to);
                    }
                }
            }
        }
        order
    }

    /// True if the point is live in every pass.
    fn is_always(&self, point: Point) -> bool {
        self.always.get(point as usize) == Some(&true)
    }

    /// True if anything leads to the point.
    pub fn is_reached(&self, point: Point) -> bool {
        self.tree.holds(point)
    }

    /// True if `first` is live whenever `then` is: every way to `then` leads through it.
    pub fn dominates(&self, first: Point, then: Point) -> bool {
        self.tree.is_above(first, then)
    }

    /// True if `other` is live whenever `point` is. Also true where that would take too long to tell.
    pub fn implies(&self, point: Point, other: Point) -> bool {
        if self.is_always(other) || self.dominates(other, point) {
            return true;
        }
        // Everything from which `other` is sure to follow; if `point` cannot be live without one of these, it does.
        let mut sure = vec![other];
        let mut seen: HashSet<Point> = [other].into();
        let mut ways: HashMap<Point, usize> = HashMap::new();
        let mut next = 0;
        while let Some(&at) = sure.get(next) {
            next += 1;
            if self.dominates(at, point) || !self.spend(self.before(at).len()) {
                return true;
            }
            for &(from, follows) in self.before(at) {
                let mut all_ways_lead_here = || {
                    let ways = ways.entry(from).or_default();
                    *ways += 1;
                    self.complete.get(&from) == Some(ways)
                };
                if (follows || all_ways_lead_here()) && seen.insert(from) {
                    sure.push(from);
                }
            }
        }
        false
    }

    /// True if a way leads from one point to the other. Also true where that would take too long to tell.
    pub fn leads(&self, from: Point, to: Point) -> bool {
        let place = |point: Point| self.place.get(point as usize).copied().unwrap_or_default();
        let mut seen: HashSet<Point> = [to].into();
        let mut todo = vec![to];
        while let Some(at) = todo.pop() {
            if at == from || !self.spend(self.before(at).len()) {
                return true;
            }
            let before = self.before(at).iter().map(|&(point, _)| point);
            todo.extend(before.filter(|&point| place(point) >= place(from) && seen.insert(point)));
        }
        false
    }

    /// True if no way leads to `point` but through one of `others`. Also true where that would take too long to tell.
    pub fn is_covered(&self, point: Point, others: &[Point]) -> bool {
        let mut seen: HashSet<Point> = others.iter().copied().collect();
        let mut todo = vec![point];
        while let Some(at) = todo.pop() {
            if !seen.insert(at) {
                continue;
            }
            let before = self.before(at);
            if before.is_empty() {
                return false;
            }
            if !self.spend(before.len()) {
                return true;
            }
            todo.extend(before.iter().map(|&(from, _)| from));
        }
        true
    }

    fn spend(&self, steps: usize) -> bool {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Targets that may be live although a node before them chose otherwise: who chooses, the target, and the node that
    /// leads to it as well. Without those for which that would take too long to tell.
    pub fn also_reached(&self) -> Vec<(Point, Point, Point)> {
        let mut found = Vec::new();
        for (target, before) in self.before.iter().enumerate() {
            let mut asked = HashSet::new();
            let choosers = before.iter().filter_map(|(from, _)| self.chooser.get(from));
            for &chooser in choosers.filter(|chooser| asked.insert(**chooser)) {
                if !self.spend(before.len()) {
                    return found;
                }
                let other = before.iter().map(|&(from, _)| from).find(|from| {
                    let own = self.chooser.get(from) == Some(&chooser);
                    !own && self.is_reached(*from)
                        && !self.dominates(chooser, *from)
                        && !self.excludes(chooser, *from)
                });
                if let Some(other) = other {
                    let node = self.chooser.get(&other).copied().unwrap_or(other);
                    found.push((chooser, target as Point, node));
                }
            }
        }
        found
    }

    /// True if the two stand behind different choices of one node, of which only one can be made.
    fn excludes(&self, a: Point, b: Point) -> bool {
        let Some((left, right)) = self.tree.parting(a, b) else {
            return false;
        };
        match (self.chooser.get(&left), self.chooser.get(&right)) {
            (Some(of), Some(other)) => of == other && left != right,
            _ => false,
        }
    }
}

/// The ways a branch can choose.
fn choices_of(canvas: &Canvas<'_>, ids: &HashMap<&str, NodeId>, branch: NodeId) -> Choices {
    let draft = &canvas.workflow.node(branch).draft;
    let (Some(table), Some(params)) = (
        canvas.catalog.get(&draft.component),
        draft.params.as_object(),
    ) else {
        return Choices {
            ways: Vec::new(),
            complete: false,
        };
    };
    let mut ways: indexmap::IndexMap<String, Vec<NodeId>> = indexmap::IndexMap::new();
    for site in table.sites(params) {
        if site.role != Role::NodeId || site.path.starts_with("exception_") {
            continue;
        }
        let (way, last) = site.path.rsplit_once('.').unwrap_or((&site.path, ""));
        let way = match last.bytes().all(|b| b.is_ascii_digit()) {
            true => way,
            false => &site.path,
        };
        let targets = ways.entry(way.to_owned()).or_default();
        targets.extend(site.value.as_str().and_then(|id| ids.get(id)).copied());
    }
    // A case that leads nowhere is a way too, and so is a rest that leads nowhere.
    let cases = |name: &str| match params.get(name) {
        Some(Value::Array(cases)) => cases.len(),
        Some(Value::Object(cases)) => cases.len(),
        _ => 0,
    };
    let rest = usize::from(table.find_param(ELSE).is_some());
    let all = cases("conditions") + cases("category_description") + rest;
    Choices {
        complete: ways.len() == all,
        ways: ways.into_values().collect(),
    }
}

/// The dominator tree of a graph without circles, with jumps that make every question cost the logarithm of its depth.
#[derive(Default)]
struct Tree {
    nodes: Vec<Option<Above>>,
}

#[derive(Clone, Copy)]
struct Above {
    depth: u32,
    parent: Point,
    /// An ancestor further up; of two nodes of one depth the jumps have one depth.
    jump: Point,
}

impl Tree {
    fn new(before: &[Vec<(Point, bool)>], order: &[Point], start: Point) -> Tree {
        let mut tree = Tree {
            nodes: vec![None; before.len()],
        };
        for &point in order {
            let above = match point == start {
                true => Some(Above {
                    depth: 0,
                    parent: start,
                    jump: start,
                }),
                false => {
                    let before = before.get(point as usize).into_iter().flatten();
                    let reached = before
                        .map(|&(from, _)| from)
                        .filter(|&from| tree.holds(from));
                    let parent = reached.reduce(|a, b| tree.common(a, b));
                    parent.and_then(|parent| tree.below(parent))
                }
            };
            if let Some(place) = tree.nodes.get_mut(point as usize) {
                *place = above;
            }
        }
        tree
    }

    fn get(&self, point: Point) -> Option<Above> {
        self.nodes.get(point as usize).copied().flatten()
    }

    fn holds(&self, point: Point) -> bool {
        self.get(point).is_some()
    }

    /// What stands above a new node under `parent`.
    fn below(&self, parent: Point) -> Option<Above> {
        let above = self.get(parent)?;
        let jump = self.get(above.jump)?;
        let further = self.get(jump.jump)?;
        let even = above.depth - jump.depth == jump.depth - further.depth;
        Some(Above {
            depth: above.depth + 1,
            parent,
            jump: if even { jump.jump } else { parent },
        })
    }

    /// The ancestor of that depth, or the node itself if it is not deeper.
    fn lift(&self, mut point: Point, depth: u32) -> Point {
        while let Some(above) = self.get(point).filter(|above| above.depth > depth) {
            point = match self.get(above.jump) {
                Some(jump) if jump.depth >= depth => above.jump,
                _ => above.parent,
            };
        }
        point
    }

    fn depth(&self, point: Point) -> u32 {
        self.get(point).map_or(0, |above| above.depth)
    }

    fn is_above(&self, ancestor: Point, point: Point) -> bool {
        self.holds(ancestor)
            && self.holds(point)
            && self.lift(point, self.depth(ancestor)) == ancestor
    }

    /// The deepest node that is above both.
    fn common(&self, a: Point, b: Point) -> Point {
        self.parting(a, b).map_or_else(
            || match self.depth(a) <= self.depth(b) {
                true => a,
                false => b,
            },
            |(a, _)| self.get(a).map_or(a, |above| above.parent),
        )
    }

    /// Where the ways to two nodes part: the first node of each that is not above the other. `None` if one is above the
    /// other.
    fn parting(&self, a: Point, b: Point) -> Option<(Point, Point)> {
        let depth = self.depth(a).min(self.depth(b));
        let (mut a, mut b) = (self.lift(a, depth), self.lift(b, depth));
        if a == b {
            return None;
        }
        loop {
            let (above_a, above_b) = (self.get(a)?, self.get(b)?);
            if above_a.parent == above_b.parent {
                return Some((a, b));
            }
            (a, b) = match above_a.jump == above_b.jump {
                true => (above_a.parent, above_b.parent),
                false => (above_a.jump, above_b.jump),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The points above one, by walking up one at a time.
    fn ancestors(tree: &Tree, mut point: Point) -> Vec<Point> {
        let mut all = vec![point];
        while let Some(above) = tree.get(point).filter(|above| above.depth > 0) {
            point = above.parent;
            all.push(point);
        }
        all
    }

    fn reachable_without(
        before: &[Vec<(Point, bool)>],
        without: Option<Point>,
        start: Point,
    ) -> Vec<bool> {
        let mut reached = vec![false; before.len()];
        // Edges lead to higher numbers, so one pass is enough.
        for point in 0..before.len() {
            let lived = before[point]
                .iter()
                .any(|&(from, _)| reached[from as usize]);
            reached[point] = (point as Point == start || lived) && Some(point as Point) != without;
        }
        reached
    }

    proptest! {
        #[test]
        fn what_dominates_is_what_cannot_be_left_out(edges in proptest::collection::vec((0u32..12, 1u32..12), 0..40)) {
            let mut before: Vec<Vec<(Point, bool)>> = vec![Vec::new(); 13];
            for (from, length) in edges {
                let to = (from + length).min(12);
                before[to as usize].push((from, true));
            }
            let order: Vec<Point> = (0..13).collect();
            let tree = Tree::new(&before, &order, 0);
            let all = reachable_without(&before, None, 0);
            for a in 0..13u32 {
                prop_assert_eq!(tree.holds(a), all[a as usize]);
                let without = reachable_without(&before, Some(a), 0);
                for b in 0..13u32 {
                    let lost = all[a as usize] && all[b as usize] && !without[b as usize];
                    prop_assert_eq!(tree.is_above(a, b), lost, "{} above {}", a, b);
                    prop_assert_eq!(tree.is_above(a, b), all[b as usize] && ancestors(&tree, b).contains(&a));
                }
            }
        }
    }
}
