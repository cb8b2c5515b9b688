//! The interaction point of old canvases, `Answer`: it showed what came to it, ended the turn, and began the next with
//! what the person said.
//!
//! No present class does both, so an `Answer` comes apart (spec/canvas-components §8, design.md §3 "`Answer` counts as a
//! form"):
//!
//! - What it **showed** is shown by a Message put between it and each node that doesn't speak for itself.
//! - The one that Begin alone leads to is where a message comes in, and Begin is that already: Begin leads on to what
//!   stood behind it, and what led back to it ends the run. The next message starts at Begin, so at the same node.
//! - One with nothing behind it only ends the run.
//! - Any other becomes a form with one open field: the run waits there for the next message.
//!
//! So the common circle `begin → Answer → … → Answer` is no circle afterwards, and a conversation with several
//! stations keeps them. What a person said is `sys.query` in all of them: see [`super::placeholder`].

use std::sync::Arc;

use easel_core::{Object, Value};
use indexmap::{IndexMap, IndexSet};

use super::legacy::answer_field;
use super::placeholder::port;
use super::{Rewrite, Rewriter};
use crate::component::{Component, entry_class, ids, text};
use crate::document::Document;
use crate::edit::{items, members, object_at};
use crate::graph::EdgeRole;
use crate::pointer::Pointer;

/// Classes with nothing of their own to show, or that show it themselves.
const SILENT: [&str; 13] = [
    "Answer",
    "Begin",
    "Categorize",
    "Concentrator",
    "ExitLoop",
    "Iteration",
    "Loop",
    "LoopItem",
    "Message",
    "Relevant",
    "Switch",
    "UserFillUp",
    "VariableAssigner",
];

/// The class that an `Answer` becomes.
const FORM: &str = "UserFillUp";

type Wires = IndexMap<Arc<str>, IndexSet<Arc<str>>>;

/// Takes every `Answer` of the document apart.
pub(super) fn turns(rewriter: &mut Rewriter) {
    let entries = rewriter.document.get("components");
    let entries = entries.and_then(Value::as_object).into_iter().flatten();
    let answers: IndexSet<Arc<str>> = entries
        .filter(|(_, entry)| entry_class(entry).eq_ignore_ascii_case("Answer"))
        .map(|(id, _)| id.clone())
        .collect();
    if answers.is_empty() {
        return;
    }
    let components = rewriter.document.components();
    let before = wires(&rewriter.document);
    let mut plan = Plan {
        wires: before.clone(),
        shows: IndexMap::new(),
        components,
        answers,
        ends: IndexSet::new(),
        removed: IndexSet::new(),
    };
    plan.show();
    plan.end();
    plan.remove();
    note(rewriter, &plan);
    write_components(rewriter, &plan, &before);
    redraw(rewriter, &plan, &before);
}

/// The edges of the document as they will be.
struct Plan {
    wires: Wires,
    /// The Message that shows what a node puts out, by the node's id.
    shows: IndexMap<Arc<str>, Arc<str>>,
    components: IndexMap<Arc<str>, Component>,
    answers: IndexSet<Arc<str>>,
    /// Those of them that end the run.
    ends: IndexSet<Arc<str>>,
    /// Those of these that nothing leads to any more.
    removed: IndexSet<Arc<str>>,
}

impl Plan {
    /// Puts a Message between each `Answer` and the nodes before it that don't speak for themselves.
    fn show(&mut self) {
        let mut taken = self.components.keys().cloned().collect();
        for (id, component) in &self.components {
            if SILENT.iter().any(|class| component.is(class)) {
                continue;
            }
            let Some(targets) = self.wires.get_mut(id) else {
                continue;
            };
            let (asked, kept): (IndexSet<_>, IndexSet<_>) = std::mem::take(targets)
                .into_iter()
                .partition(|target| self.answers.contains(target));
            *targets = kept;
            if asked.is_empty() {
                continue;
            }
            let message = free_id(&mut taken, id);
            targets.insert(message.clone());
            self.wires.insert(message.clone(), asked);
            self.shows.insert(id.clone(), message);
        }
    }

    /// Finds each `Answer` that ends the run, lets Begin lead on past the one it leads to, and cuts what follows them.
    fn end(&mut self) {
        self.ends = self
            .answers
            .iter()
            .filter(|id| self.wires.get(*id).is_none_or(IndexSet::is_empty))
            .cloned()
            .collect();
        let begin = self
            .components
            .values()
            .find(|component| component.is("Begin"));
        if let Some(begin) = begin.map(|begin| begin.id.clone())
            && let Some(entrance) = self
                .wires
                .get(&begin)
                .filter(|targets| targets.len() == 1)
                .and_then(IndexSet::first)
            && self.answers.contains(entrance)
        {
            let entrance = entrance.clone();
            let mut next = self
                .wires
                .insert(entrance.clone(), IndexSet::new())
                .unwrap_or_default();
            next.shift_remove(&entrance);
            self.wires.insert(begin, next);
            self.ends.insert(entrance);
        }
    }

    /// Cuts the edges into what ends the run, and removes what nothing names any more. A branch that names one keeps
    /// it: its way must lead somewhere.
    fn remove(&mut self) {
        let named: IndexMap<&Arc<str>, Vec<Arc<str>>> = self
            .components
            .iter()
            .map(|(id, component)| (id, named_targets(component)))
            .collect();
        let mut kept: IndexSet<Arc<str>> = named.values().flatten().cloned().collect();
        for (id, targets) in &mut self.wires {
            if named.get(id).is_none_or(Vec::is_empty) {
                targets.retain(|target| !self.ends.contains(target));
            }
            kept.extend(targets.iter().cloned());
        }
        self.removed = self
            .ends
            .iter()
            .filter(|id| !kept.contains(*id))
            .cloned()
            .collect();
        if self.removed.len() == self.components.len() {
            // A document without components would be derived from its drawing the next time.
            self.removed.clear();
        }
        self.wires.retain(|id, _| !self.removed.contains(id));
    }

    /// The entry of the Message that shows what a node puts out; its edges come later.
    fn message(&self, id: &str, shown: &Value) -> Value {
        let mut obj = Object::new();
        obj.insert("component_name".into(), "Message".into());
        obj.insert("params".into(), self.message_params(id).into());
        let mut entry = Object::new();
        entry.insert("obj".into(), obj.into());
        entry.insert("downstream".into(), Value::empty_array());
        entry.insert("upstream".into(), Value::empty_array());
        if let Some(parent) = shown.get("parent_id") {
            entry.insert("parent_id".into(), parent.clone());
        }
        entry.into()
    }

    /// The parameters of the Message that shows what a node puts out.
    fn message_params(&self, id: &str) -> Object {
        let class = self
            .components
            .get(id)
            .map(|component| component.class.clone())
            .unwrap_or_default();
        let content = vec![Value::from(format!("{{{id}@{}}}", port(&class)))];
        Object::from_iter([("content".into(), content.into())])
    }
}

/// The edges of the components, by source.
fn wires(document: &Document) -> Wires {
    let mut wires: Wires = document
        .components()
        .into_keys()
        .map(|id| (id, IndexSet::new()))
        .collect();
    for edge in document.edges().into_iter().filter(|edge| edge.is_wired()) {
        wires.entry(edge.from).or_default().insert(edge.to);
    }
    wires
}

/// The ids that a branch names in its parameters, or an error handler.
fn named_targets(component: &Component) -> Vec<Arc<str>> {
    let params = &component.params;
    let conditions = params
        .get("conditions")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let categories = params
        .get("category_description")
        .and_then(Value::as_object);
    let cases = conditions
        .iter()
        .chain(categories.into_iter().flat_map(Object::values))
        .filter_map(|case| case.get("to"));
    let others = ["end_cpn_ids", "exception_goto"]
        .into_iter()
        .filter_map(|name| params.get(name));
    cases.chain(others).flat_map(ids).collect()
}

/// An id for the Message that shows what `id` puts out; it is taken from then on.
fn free_id(taken: &mut IndexSet<Arc<str>>, id: &str) -> Arc<str> {
    let base = format!("Message:{}", id.replace(':', "_"));
    let mut free: Arc<str> = base.as_str().into();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{base}_{number}").into();
        number += 1;
    }
    free
}

/// The edges the other way round.
fn reversed(wires: &Wires) -> Wires {
    let mut reversed = Wires::new();
    for (from, targets) in wires {
        for to in targets {
            reversed.entry(to.clone()).or_default().insert(from.clone());
        }
    }
    reversed
}

fn write_components(rewriter: &mut Rewriter, plan: &Plan, before: &Wires) {
    let sides = [
        ("downstream", before.clone(), plan.wires.clone()),
        ("upstream", reversed(before), reversed(&plan.wires)),
    ];
    let Some(entries) = rewriter.entries() else {
        return;
    };
    for (id, entry) in std::mem::take(entries) {
        if plan.removed.contains(&id) {
            continue;
        }
        let shown = plan.shows.get(&id);
        let message = shown.map(|message| (message.clone(), plan.message(&id, &entry)));
        entries.insert(id, entry);
        entries.extend(message);
    }
    for (id, entry) in entries.iter_mut() {
        let Some(entry) = members(entry) else {
            continue;
        };
        if plan.answers.contains(id) {
            object_at(entry, "obj", |obj| {
                obj.insert("component_name".into(), FORM.into());
                object_at(obj, "params", |params| {
                    params.extend(form(plan.ends.contains(id)))
                });
            });
        }
        for (side, before, after) in &sides {
            let after = after.get(id).cloned().unwrap_or_default();
            if before.get(id).cloned().unwrap_or_default() != after {
                entry.insert(
                    (*side).into(),
                    Value::from(after.into_iter().map(Value::from).collect::<Vec<_>>()),
                );
            }
        }
    }
}

/// The parameters of what an `Answer` becomes: a form that waits for a message, or one that asks nothing and ends.
fn form(ends: bool) -> [(Arc<str>, Value); 3] {
    let fields = if ends { Object::new() } else { answer_field() };
    [
        ("enable_tips".into(), Value::from(false)),
        ("tips".into(), Value::from("")),
        ("inputs".into(), fields.into()),
    ]
}

fn note(rewriter: &mut Rewriter, plan: &Plan) {
    for id in &plan.answers {
        let what = if plan.removed.contains(id) {
            format!(
                "`{id}` (Answer) is gone: a run ends before it and the next message starts at Begin"
            )
        } else if plan.ends.contains(id) {
            format!("`{id}` (Answer) is a form without fields now: a run ends at it")
        } else {
            format!(
                "`{id}` (Answer) is a form with the field `query` now: a run waits at it for the next message"
            )
        };
        rewriter.note(Rewrite::AnswerReplaced, &Pointer::component(id), what);
    }
    for (id, message) in &plan.shows {
        let place = Pointer::component(id);
        let what = format!(
            "`{message}` was added to show what `{id}` puts out, as the Answer behind it did"
        );
        rewriter.note(Rewrite::MessageAdded, &place, what);
        rewriter.moved(Pointer::component(message), place);
    }
}

/// Brings the drawing, if there is one, to the new edges.
fn redraw(rewriter: &mut Rewriter, plan: &Plan, before: &Wires) {
    let flow: IndexSet<usize> = {
        let graph = rewriter.document.graph();
        graph
            .edges
            .iter()
            .filter(|edge| edge.role == EdgeRole::Flow)
            .map(|edge| edge.index)
            .collect()
    };
    let Some(graph) = rewriter.canvas().get_mut("graph").and_then(members) else {
        return;
    };
    let Some(nodes) = graph.get_mut("nodes").and_then(items) else {
        return;
    };
    nodes.retain(|node| text(node.get("id")).is_none_or(|id| !plan.removed.contains(&id)));
    let mut added = Vec::new();
    for node in nodes.iter_mut() {
        let Some(id) = text(node.get("id")) else {
            continue;
        };
        if let Some(message) = plan.shows.get(&id) {
            added.push(drawn_message(node, message, plan.message_params(&id)));
        }
        if let Some(node) = members(node).filter(|_| plan.answers.contains(&id)) {
            object_at(node, "data", |data| {
                data.insert("label".into(), FORM.into());
                data.insert(
                    "form".into(),
                    Object::from_iter(form(plan.ends.contains(&id))).into(),
                );
            });
        }
    }
    nodes.extend(added);
    let drawn: IndexSet<Arc<str>> = nodes
        .iter()
        .filter_map(|node| text(node.get("id")))
        .collect();
    let Some(edges) = graph.get_mut("edges").and_then(items) else {
        return;
    };
    let is_wired = |wires: &Wires, from: &Arc<str>, to: &Arc<str>| {
        wires.get(from).is_some_and(|to_all| to_all.contains(to))
    };
    let mut at = 0;
    edges.retain(|edge| {
        let index = at;
        at += 1;
        let (Some(from), Some(to)) = (text(edge.get("source")), text(edge.get("target"))) else {
            return true;
        };
        let gone = is_wired(before, &from, &to) && !is_wired(&plan.wires, &from, &to);
        let loose = plan.removed.contains(&from) || plan.removed.contains(&to);
        !(loose || gone && flow.contains(&index))
    });
    for (from, targets) in &plan.wires {
        for to in targets {
            if drawn.contains(from) && drawn.contains(to) && !is_wired(before, from, to) {
                edges.push(line(from, to));
            }
        }
    }
}

/// The drawn Message below the node whose output it shows.
fn drawn_message(node: &Value, id: &Arc<str>, form: Object) -> Value {
    let data = Object::from_iter([
        ("label".into(), Value::from("Message")),
        ("name".into(), id.clone().into()),
        ("form".into(), form.into()),
    ]);
    let place = |axis: &str| {
        node.get("position")
            .and_then(|place| place.get(axis))
            .and_then(Value::as_f64)
            .unwrap_or(0.0)
    };
    let position = Object::from_iter([
        ("x".into(), Value::from(place("x"))),
        ("y".into(), Value::from(place("y") + BELOW)),
    ]);
    let mut drawn = Object::from_iter([
        ("id".into(), id.clone().into()),
        ("type".into(), Value::from("messageNode")),
        ("position".into(), position.into()),
        ("data".into(), data.into()),
    ]);
    if let Some(parent) = node.get("parentId") {
        drawn.insert("parentId".into(), parent.clone());
    }
    drawn.into()
}

/// How far below a node its Message is drawn, in the editor's pixels.
const BELOW: f64 = 120.0;

fn line(from: &str, to: &str) -> Value {
    let members = [
        ("id", format!("xy-edge__{from}-{to}")),
        ("source", from.to_owned()),
        ("sourceHandle", "start".to_owned()),
        ("target", to.to_owned()),
        ("targetHandle", "end".to_owned()),
    ];
    members
        .into_iter()
        .map(|(name, text)| (name.into(), Value::from(text)))
        .collect::<Object>()
        .into()
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
