//! A topological order that is kept up to date while constraints are added (Pearce and Kelly, 2006): one that agrees
//! with it costs nothing, one that would close a circle is found by a search between the two places.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// A topological order of a scope's members that grows new constraints.
pub(super) struct Order {
    place: Vec<u32>,
    /// What comes after each member, and whether an edge says so.
    out: Vec<Vec<(u32, bool)>>,
    into: Vec<Vec<u32>>,
}

/// What became of an ordering.
pub(super) enum Added {
    /// It holds now.
    Yes,
    /// It would close this circle: from the later node back to the earlier one.
    Circle(Vec<u32>),
}

impl Order {
    /// The order of the edges alone; ties in file order. Edges must not form a circle.
    pub fn new(members: usize, edges: impl Iterator<Item = (u32, u32)>) -> Order {
        let mut order = Order {
            place: vec![0; members],
            out: vec![Vec::new(); members],
            into: vec![Vec::new(); members],
        };
        for (from, to) in edges {
            order.out[from as usize].push((to, true));
            order.into[to as usize].push(from);
        }
        let mut waits: Vec<usize> = order.into.iter().map(Vec::len).collect();
        let free = (0..members as u32).filter(|&m| waits[m as usize] == 0);
        let mut ready: BinaryHeap<_> = free.map(Reverse).collect();
        let mut next = 0;
        while let Some(Reverse(member)) = ready.pop() {
            order.place[member as usize] = next;
            next += 1;
            for &(to, _) in &order.out[member as usize] {
                waits[to as usize] -= 1;
                if waits[to as usize] == 0 {
                    ready.push(Reverse(to));
                }
            }
        }
        order
    }

    /// Some members, in this order.
    pub fn sort(&self, members: &[u32]) -> Vec<u32> {
        let mut members = members.to_vec();
        members.sort_unstable_by_key(|&m| self.place[m as usize]);
        members
    }

    /// Makes `later` wait for `earlier`, unless that closes a circle.
    pub fn add(&mut self, earlier: u32, later: u32) -> Added {
        let (low, high) = (self.place[later as usize], self.place[earlier as usize]);
        if low < high {
            let mut came_from: HashMap<u32, u32> = HashMap::new();
            let mut behind = vec![later];
            let mut next = 0;
            while let Some(&node) = behind.get(next) {
                next += 1;
                for &(to, _) in &self.out[node as usize] {
                    if to == earlier {
                        came_from.insert(to, node);
                        return Added::Circle(trail(&came_from, later, earlier));
                    }
                    let within = self.place[to as usize] < high;
                    if within && to != later && !came_from.contains_key(&to) {
                        came_from.insert(to, node);
                        behind.push(to);
                    }
                }
            }
            self.reorder(earlier, low, behind);
        }
        self.out[earlier as usize].push((later, false));
        self.into[later as usize].push(earlier);
        Added::Yes
    }

    /// Moves what is behind the later node behind what is before the earlier one, in the places they hold now.
    fn reorder(&mut self, earlier: u32, low: u32, behind: Vec<u32>) {
        let mut before = vec![earlier];
        let mut seen = HashSet::from([earlier]);
        let mut next = 0;
        while let Some(&node) = before.get(next) {
            next += 1;
            for &from in &self.into[node as usize] {
                if self.place[from as usize] > low && seen.insert(from) {
                    before.push(from);
                }
            }
        }
        let mut moved = self.sort(&before);
        moved.extend(self.sort(&behind));
        let mut places: Vec<u32> = moved.iter().map(|&n| self.place[n as usize]).collect();
        places.sort_unstable();
        for (node, place) in moved.into_iter().zip(places) {
            self.place[node as usize] = place;
        }
    }

    /// True if no step of the circle is, or follows from, an edge.
    pub fn by_orderings_alone(&self, circle: &[u32]) -> bool {
        let closing = circle.last().zip(circle.first());
        let closing = closing.map(|(&last, &first)| (last, first));
        let mut steps = circle.windows(2).map(|w| (w[0], w[1])).chain(closing);
        steps.all(|(from, to)| !self.leads(from, to))
    }

    /// True if edges lead from one node to another.
    pub fn leads(&self, from: u32, to: u32) -> bool {
        let mut seen = HashSet::from([from]);
        let mut todo = vec![from];
        while let Some(node) = todo.pop() {
            for &(next, edge) in &self.out[node as usize] {
                if edge && next == to {
                    return true;
                }
                if edge && self.place[next as usize] < self.place[to as usize] && seen.insert(next)
                {
                    todo.push(next);
                }
            }
        }
        false
    }
}

/// The way found from one node to another.
fn trail(came_from: &HashMap<u32, u32>, start: u32, end: u32) -> Vec<u32> {
    let mut way = vec![end];
    let mut at = end;
    while at != start {
        match came_from.get(&at) {
            Some(&before) => at = before,
            None => break,
        }
        way.push(at);
    }
    way.reverse();
    way
}
