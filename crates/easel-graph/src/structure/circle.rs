//! Circles of dependencies.

use std::collections::HashMap;

use crate::document::Node;

/// How far the walk is with a node.
#[derive(Clone, Copy, PartialEq)]
enum Walk {
    /// Not there yet.
    New,
    /// Between it and something that it needs.
    Open,
    /// Done.
    Done,
}

/// A circle of each knot of nodes that need one another: every node needs the next, the last the first. No node is in
/// two of them, so the time is in proportion to the edges. A node that needs itself is none of them.
pub(super) fn all<'a>(nodes: &'a [Node], by_id: &HashMap<&str, &'a Node>) -> Vec<Vec<&'a Node>> {
    let index: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .rev()
        .map(|(at, node)| (&*node.id.value, at))
        .collect();
    let needs = |at: usize| -> Vec<usize> {
        let Some(node) = nodes.get(at) else {
            return Vec::new();
        };
        let known = node
            .depends_on
            .iter()
            .filter(|id| by_id.contains_key(&*id.value));
        let others = known.filter_map(|id| index.get(&*id.value).copied());
        others.filter(|&other| other != at).collect()
    };
    let mut state = vec![Walk::New; nodes.len()];
    let mut in_circle = vec![false; nodes.len()];
    let mut circles = Vec::new();
    for root in 0..nodes.len() {
        if state.get(root) != Some(&Walk::New) {
            continue;
        }
        let mut path: Vec<(usize, std::vec::IntoIter<usize>)> =
            vec![(root, needs(root).into_iter())];
        set(&mut state, root, Walk::Open);
        while let Some((at, rest)) = path.last_mut() {
            let at = *at;
            let Some(next) = rest.next() else {
                set(&mut state, at, Walk::Done);
                path.pop();
                continue;
            };
            match state.get(next) {
                Some(Walk::New) => {
                    set(&mut state, next, Walk::Open);
                    path.push((next, needs(next).into_iter()));
                }
                Some(Walk::Open) if in_circle.get(next) == Some(&false) => {
                    let behind = path.iter().skip_while(|(at, _)| *at != next);
                    let circle: Vec<usize> = behind.map(|(at, _)| *at).collect();
                    if circle.iter().any(|&at| in_circle.get(at) == Some(&true)) {
                        continue;
                    }
                    for &at in &circle {
                        if let Some(flag) = in_circle.get_mut(at) {
                            *flag = true;
                        }
                    }
                    circles.push(circle.iter().filter_map(|&at| nodes.get(at)).collect());
                }
                _ => {}
            }
        }
    }
    circles
}

fn set(state: &mut [Walk], at: usize, to: Walk) {
    if let Some(state) = state.get_mut(at) {
        *state = to;
    }
}
