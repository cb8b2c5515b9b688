//! The edges of a canvas as a graph can have them: without those that lead back.

use std::collections::HashMap;

use easel_canvas::component::Component;
use easel_canvas::document::Document;
use indexmap::{IndexMap, IndexSet};
use std::sync::Arc;

use crate::Losses;

/// The ids of the nodes before each node: as its own list has them, then those that others have; then what it handles.
pub(crate) struct Edges(HashMap<Arc<str>, IndexSet<Arc<str>>>);

impl Edges {
    /// The edges of a canvas. Those that lead back to a node that is still open on a walk from the start are named in the
    /// report and left out.
    pub(crate) fn of(
        canvas: &Document,
        components: &IndexMap<Arc<str>, Component>,
        losses: &mut Losses,
    ) -> Edges {
        let mut before: HashMap<Arc<str>, IndexSet<Arc<str>>> = HashMap::new();
        let known = |id: &Arc<str>| components.contains_key(id);
        for component in components.values() {
            let own = component.upstream.iter().flatten().filter(|id| known(id));
            before
                .entry(component.id.clone())
                .or_default()
                .extend(own.cloned());
        }
        let edges = canvas.edges_between(components).into_iter();
        let edges = edges.filter(|edge| known(&edge.from) && known(&edge.to));
        let failures = components.values().filter_map(|component| {
            let handler = handler(component)?;
            Some((component.id.clone(), components.get(handler)?.id.clone()))
        });
        let failures: Vec<_> = failures.collect();
        for (from, to) in edges.map(|edge| (edge.from, edge.to)).chain(failures) {
            before.entry(to).or_default().insert(from);
        }
        let mut edges = Edges(before);
        for (from, to) in edges.back(components) {
            let why = format!(
                "The edge from `{from}` is left out: it leads back, and a graph has no circles."
            );
            losses.say(&to, "upstream", why);
            if let Some(sources) = edges.0.get_mut(&to) {
                sources.shift_remove(&from);
            }
        }
        edges
    }

    /// The ids of the nodes before one.
    pub(crate) fn before(&self, id: &str) -> impl Iterator<Item = &Arc<str>> {
        self.0.get(id).into_iter().flatten()
    }

    /// Every node from which one can be reached, on ways that do not lead through `without`.
    pub(crate) fn above(&self, id: &str, without: Option<&str>) -> IndexSet<Arc<str>> {
        let mut seen: IndexSet<Arc<str>> = IndexSet::new();
        let mut open = vec![Arc::from(id)];
        while let Some(at) = open.pop() {
            for before in self.before(&at) {
                if Some(&**before) != without && seen.insert(before.clone()) {
                    open.push(before.clone());
                }
            }
        }
        seen
    }

    /// The edges that lead to a node that is open on a walk, depth first, from the start and then from whatever it does
    /// not reach.
    fn back(&self, components: &IndexMap<Arc<str>, Component>) -> Vec<(Arc<str>, Arc<str>)> {
        let mut after: HashMap<&Arc<str>, Vec<&Arc<str>>> = HashMap::new();
        for to in components.keys() {
            for from in self.before(to) {
                after.entry(from).or_default().push(to);
            }
        }
        let begins = components.values().filter(|one| one.is("Begin"));
        let starts = begins.map(|one| &one.id).chain(components.keys());
        let mut back = Vec::new();
        let mut open: IndexSet<&Arc<str>> = IndexSet::new();
        let mut done: IndexSet<&Arc<str>> = IndexSet::new();
        for start in starts {
            if done.contains(start) {
                continue;
            }
            open.insert(start);
            let mut walk = vec![(start, 0)];
            while let Some((at, next)) = walk.last_mut() {
                match after.get(*at).and_then(|after| after.get(*next)) {
                    Some(&to) => {
                        *next += 1;
                        if open.contains(to) {
                            back.push(((*at).clone(), to.clone()));
                        } else if !done.contains(to) {
                            open.insert(to);
                            walk.push((to, 0));
                        }
                    }
                    None => {
                        open.pop();
                        done.insert(*at);
                        walk.pop();
                    }
                }
            }
        }
        back
    }
}

/// The only node that a failure leads to.
pub(crate) fn handler(component: &Component) -> Option<&str> {
    let method = component.params.get("exception_method");
    let method = method.and_then(|method| method.as_str());
    let goto = component.params.get("exception_goto")?;
    let only = match goto.as_array() {
        Some([only]) => only.as_str(),
        Some(_) => None,
        None => goto.as_str(),
    };
    only.filter(|_| method == Some("goto"))
}
