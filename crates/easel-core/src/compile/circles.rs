//! Circles of edges: which edges lead back, which nodes form an implicit loop, which circles nothing can leave.

/// A directed graph over small numbers; targets in file order.
pub(super) type Graph = Vec<Vec<u32>>;

/// Marks the edges that lead to a node still open on a depth-first walk (design.md §3, "Back edges").
///
/// The walk starts at `roots` in order, then at every node not yet seen. The result has the graph's shape.
pub(super) fn back_edges(graph: &Graph, roots: &[u32]) -> Vec<Vec<bool>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Closed,
    }
    let mut back: Vec<Vec<bool>> = graph.iter().map(|out| vec![false; out.len()]).collect();
    let mut seen = vec![Seen::No; graph.len()];
    let all = 0..graph.len() as u32;
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for root in roots.iter().copied().chain(all) {
        if seen[root as usize] != Seen::No {
            continue;
        }
        seen[root as usize] = Seen::Open;
        stack.push((root, 0));
        while let Some((node, next)) = stack.last_mut() {
            let from = *node as usize;
            let Some(&to) = graph[from].get(*next) else {
                seen[from] = Seen::Closed;
                stack.pop();
                continue;
            };
            let edge = *next;
            *next += 1;
            match seen[to as usize] {
                Seen::Open => back[from][edge] = true,
                Seen::Closed => {}
                Seen::No => {
                    seen[to as usize] = Seen::Open;
                    stack.push((to, 0));
                }
            }
        }
    }
    back
}

/// The strongly connected parts of two or more nodes (Tarjan, without recursion). Members ascend.
///
/// Self edges must have been removed.
pub(super) fn strong_parts(graph: &Graph) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let n = graph.len();
    let (mut index, mut low) = (vec![UNSEEN; n], vec![0u32; n]);
    let (mut on_stack, mut stack, mut parts) = (vec![false; n], Vec::new(), Vec::new());
    let mut walk: Vec<(u32, usize)> = Vec::new();
    let mut count = 0;
    for root in 0..n as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        walk.push((root, 0));
        while let Some(&(node, next)) = walk.last() {
            let at = node as usize;
            if next == 0 {
                index[at] = count;
                low[at] = count;
                count += 1;
                stack.push(node);
                on_stack[at] = true;
            }
            if let Some(&to) = graph[at].get(next) {
                if let Some(top) = walk.last_mut() {
                    top.1 += 1;
                }
                if index[to as usize] == UNSEEN {
                    walk.push((to, 0));
                } else if on_stack[to as usize] {
                    low[at] = low[at].min(index[to as usize]);
                }
                continue;
            }
            walk.pop();
            if let Some(&(parent, _)) = walk.last() {
                low[parent as usize] = low[parent as usize].min(low[at]);
            }
            if low[at] == index[at] {
                let from = stack.iter().rposition(|&n| n == node).unwrap_or(0);
                let mut part = stack.split_off(from);
                for &member in &part {
                    on_stack[member as usize] = false;
                }
                if part.len() > 1 {
                    part.sort_unstable();
                    parts.push(part);
                }
            }
        }
    }
    parts.sort_unstable();
    parts
}

/// One circle inside a strongly connected part, starting at its first node.
pub(super) fn circle_in(graph: &Graph, part: &[u32]) -> Vec<u32> {
    let Some(&start) = part.first() else {
        return Vec::new();
    };
    let inside = |n: u32| part.binary_search(&n).is_ok();
    let mut came_from = std::collections::HashMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &to in graph[node as usize].iter().filter(|&&to| inside(to)) {
            if to == start {
                let mut circle = vec![node];
                let mut at = node;
                while let Some(&before) = came_from.get(&at) {
                    circle.push(before);
                    at = before;
                }
                circle.reverse();
                return circle;
            }
            if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(to) {
                entry.insert(node);
                queue.push_back(to);
            }
        }
    }
    part.to_vec()
}
