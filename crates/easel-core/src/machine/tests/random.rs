//! Workflows drawn by chance, and a world that answers by chance: both from bytes, so that a failing case shrinks.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::json;

use crate::Value;
use crate::bind::Resolved;
use crate::compile::Finding;
use crate::draft::{Kind, Otherwise};
use crate::effect::Execute;
use crate::event::{Answer, Completion, Fact, Fault, Ports, Write};
use crate::machine::RunLife;
use crate::testing::{Deed, Drawing, Run, draw};
use crate::workflow::Workflow;

/// What random workflows may hold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    pub circles: bool,
    pub containers: bool,
    pub exits: bool,
    pub forms: bool,
    pub streams: bool,
    pub variables: bool,
    pub failures: Failures,
    /// References to later nodes too, which are missing or read the turn before.
    pub any_reference: bool,
    /// A failure fails edges, not the scope.
    pub failing_edges: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Failures {
    #[default]
    None,
    /// Every node that may fail says what then.
    Handled,
    Any,
}

/// Choices made by chance.
pub(super) struct Tape<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl Tape<'_> {
    pub fn new(bytes: &[u8]) -> Tape<'_> {
        Tape {
            bytes: bytes.iter(),
        }
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % bound.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}

/// A workflow by chance. `None` if it came out as one that is refused.
pub(super) fn workflow(bytes: &[u8], features: Features) -> Option<Drawing> {
    let mut artist = Artist {
        tape: Tape::new(bytes),
        features,
        drawn: 0,
    };
    let mut drawing = draw("begin")
        .variable("env.l0", json!([]))
        .variable("env.l1", json!(["p"]))
        .variable("env.l2", json!(["p", "q"]))
        .variable("env.l3", json!(["p", "q", "r"]))
        .variable("env.x", "x")
        .variable("env.y", "y");
    if features.failing_edges {
        drawing = drawing.failing_edges();
    }
    let drawing = artist.scope(drawing, None, vec!["begin".into()], &[], 0);
    let refused = |finding: &Finding| finding.refuses();
    (!drawing.findings().iter().any(refused)).then_some(drawing)
}

struct Artist<'a> {
    tape: Tape<'a>,
    features: Features,
    drawn: usize,
}

impl Artist<'_> {
    /// Draws the nodes of a scope after those it starts with. `around` are nodes outside that can be read.
    fn scope(
        &mut self,
        mut drawing: Drawing,
        container: Option<&str>,
        mut here: Vec<String>,
        around: &[String],
        depth: usize,
    ) -> Drawing {
        let fixed = here.len();
        let count = 1 + self.tape.below(if depth == 0 { 9 } else { 4 });
        for _ in 0..count {
            self.drawn += 1;
            let node = format!("n{}", self.drawn);
            drawing = self.connect(drawing, container, &here, &node);
            drawing = self.give_kind(drawing, &node, &here, around, depth);
            drawing = self.give_reads(drawing, &node, &here, around);
            here.push(node);
        }
        if self.features.circles {
            drawing = self.turn_back(drawing, container, &here[..], fixed);
        }
        drawing
    }

    fn connect(
        &mut self,
        mut drawing: Drawing,
        container: Option<&str>,
        here: &[String],
        node: &str,
    ) -> Drawing {
        let add = |drawing: Drawing, edges: &str| match container {
            Some(container) => drawing.inside(container, edges),
            None => drawing.more(edges),
        };
        drawing = add(drawing, node);
        for _ in 0..1 + self.tape.below(3) {
            if !here.is_empty() {
                let from = &here[self.tape.below(here.len())];
                drawing = add(drawing, &format!("{from} -> {node}"));
            }
        }
        drawing
    }

    fn give_kind(
        &mut self,
        drawing: Drawing,
        node: &str,
        here: &[String],
        around: &[String],
        depth: usize,
    ) -> Drawing {
        let features = self.features;
        let drawing = match self.tape.below(12) {
            1 | 2 | 11 => drawing.branch(node),
            3 if features.forms => drawing.form(node, ["f", "g h", "f h?"][self.tape.below(3)]),
            4 | 5 if features.containers && depth < 2 => {
                let drawing = match self.tape.below(2) {
                    0 => {
                        let list = format!("env.l{}", self.tape.below(4));
                        drawing.each(node, &list, 1 + self.tape.below(3) as u32)
                    }
                    _ => drawing.repeat(node, self.tape.below(4) as u64),
                };
                let visible: Vec<String> = around.iter().chain(here).cloned().collect();
                self.body(drawing, node, &visible, depth)
            }
            6 | 7 if features.streams => drawing.streams(node),
            8 | 9 if features.streams => drawing.drains(node),
            10 if features.exits && depth > 0 => drawing.exit(node),
            _ => drawing,
        };
        self.give_policy(drawing, node, here)
    }

    fn body(
        &mut self,
        drawing: Drawing,
        container: &str,
        around: &[String],
        depth: usize,
    ) -> Drawing {
        if self.tape.one_in(5) {
            return self.scope(drawing, Some(container), Vec::new(), around, depth + 1);
        }
        self.drawn += 1;
        let item = format!("i{}", self.drawn);
        let drawing = drawing.inside(container, &item).item(&item);
        self.scope(drawing, Some(container), vec![item], around, depth + 1)
    }

    fn give_policy(&mut self, drawing: Drawing, node: &str, here: &[String]) -> Drawing {
        if self.features.failures == Failures::None
            || drawing.is(node, |k| {
                matches!(k, Kind::Each { .. } | Kind::While { .. } | Kind::Exit)
            }) && self.features.failures == Failures::Handled
        {
            return drawing;
        }
        let container = drawing.is(node, |k| {
            matches!(k, Kind::Each { .. } | Kind::While { .. })
        });
        let attempts = if container {
            1
        } else {
            1 + self.tape.below(3) as u32
        };
        let drawing = drawing.attempts(node, attempts, 10);
        match self.tape.below(3) {
            0 if self.features.failures == Failures::Any => drawing,
            // The next node that is drawn, if there is one, may be its handler too.
            1 if !here.is_empty() => drawing.on_error(node, &format!("n{}", self.drawn + 1)),
            _ => drawing.default(node, "spare"),
        }
    }

    fn give_reads(
        &mut self,
        mut drawing: Drawing,
        node: &str,
        here: &[String],
        around: &[String],
    ) -> Drawing {
        for _ in 0..self.tape.below(3) {
            let earlier = here.len() + around.len();
            let bound = earlier + usize::from(self.features.any_reference);
            let what = match self.tape.below(bound) {
                at if at < here.len() => here[at].clone(),
                at if at < earlier => around[at - here.len()].clone(),
                at => format!("n{}", self.drawn + 1 + at - earlier),
            };
            drawing = drawing.reads(node, &format!("{what}@out"));
        }
        if self.features.variables {
            let variable = ["env.x", "env.y"][self.tape.below(2)];
            match self.tape.below(5) {
                1 => drawing = drawing.reads(node, variable),
                2 if !drawing.is(node, |k| !matches!(k, Kind::Task | Kind::Branch { .. })) => {
                    drawing = drawing.writes(node, variable);
                }
                _ => {}
            }
        }
        drawing
    }

    /// Draws edges from branches back to where they came from.
    fn turn_back(
        &mut self,
        mut drawing: Drawing,
        container: Option<&str>,
        here: &[String],
        fixed: usize,
    ) -> Drawing {
        let first = if container.is_some() { fixed } else { 0 };
        for at in first + 1..here.len() {
            let is_branch = drawing.is(&here[at], |k| matches!(k, Kind::Branch { .. }));
            if is_branch && !self.tape.one_in(4) {
                let to = &here[first + self.tape.below(at - first)];
                let edge = format!("{} -> {to}", here[at]);
                drawing = match container {
                    Some(container) => drawing.inside(container, &edge),
                    None => drawing.more(&edge),
                };
                drawing = drawing.branch(&here[at]);
            }
        }
        drawing
    }
}

/// What the nodes of a random workflow do: a pure function of who and where they are and, if it is to be, of what they
/// read.
pub(super) fn deed(
    workflow: &Workflow,
    execute: &Execute,
    failures: Failures,
    by_inputs: bool,
) -> Deed {
    let draft = &workflow.node(execute.node).draft;
    let chance = chance(workflow, execute, by_inputs);
    if failures != Failures::None && chance >> 8 & 7 == 0 {
        let lasts = 1 + (chance >> 12 & 3) as u32;
        let may = failures == Failures::Any || draft.policy.otherwise != Otherwise::Fail;
        if may && execute.attempt <= lasts {
            let deed = Deed::fails(&format!("{} broke", draft.id));
            return if chance & 1 == 0 {
                deed
            } else {
                deed.streaming()
            };
        }
    }
    let next = match &draft.kind {
        Kind::Branch { targets } => {
            let own = execute.node;
            let forward = |target: &&_| workflow.find(target) > Some(own);
            let chosen = (0..).zip(targets).filter(|(at, target)| {
                // A circle is left after a few turns.
                chance >> (16 + at) & 1 == 1 && (execute.visit < 3 || forward(&&***target))
            });
            Some(chosen.map(|(_, target)| target.clone()).collect())
        }
        _ => None,
    };
    let value = value(chance, workflow, execute);
    let write = |target: u32| Write {
        target,
        value: value.clone(),
    };
    let mut ports = Ports::one("out", value.clone());
    for (key, answer) in execute.answers.iter().flat_map(|answers| answers.iter()) {
        ports.set(key.clone(), answer.clone());
    }
    Deed {
        opens: chance & 1 == 1,
        result: Ok(Completion {
            ports,
            next,
            writes: (0..draft.writes.len() as u32).map(write).collect(),
            ..Completion::default()
        }),
    }
}

fn chance(workflow: &Workflow, execute: &Execute, by_inputs: bool) -> u64 {
    let mut hash = DefaultHasher::new();
    workflow.node(execute.node).draft.id.hash(&mut hash);
    for pass in execute.scope.iter() {
        (pass.index, pass.visit).hash(&mut hash);
    }
    execute.visit.hash(&mut hash);
    if by_inputs {
        shown(execute).hash(&mut hash);
    }
    hash.finish()
}

fn shown(execute: &Execute) -> String {
    let shown = |read: &Resolved| match read {
        Resolved::Value(value) => value.to_json_text(),
        Resolved::Missing => "-".to_owned(),
        Resolved::Stream(_) => panic!("a stream is read to its end first"),
    };
    let reads: Vec<String> = execute.inputs.0.iter().map(shown).collect();
    reads.join(",")
}

/// A value that depends on everything the node read; sometimes of a kind that formats like to bend.
fn value(chance: u64, workflow: &Workflow, execute: &Execute) -> Value {
    let mut hash = DefaultHasher::new();
    shown(execute).hash(&mut hash);
    let told = hash.finish();
    let id = &workflow.node(execute.node).draft.id;
    match chance >> 40 & 7 {
        0 => Value::from(i64::MAX - (told & 0xffff) as i64),
        1 => Value::from(u64::MAX - (told & 0xffff)),
        2 => Value::from((told & 0xff) as f64),
        3 => json!({"z": told as u32, "a": [null, "", false, 0, 1.0, 1], "é": "\u{1F3A8}"}).into(),
        4 => Value::Null,
        _ => Value::from(format!("{id}:{told:x}")),
    }
}

/// Runs to the end, answering whatever is asked, a few questions at most.
pub(super) fn answer_all(run: &mut Run) {
    for _ in 0..60 {
        if run.machine.life() != RunLife::Waiting {
            return;
        }
        let asked: Vec<String> = run.question().0.iter().map(|&k| k.to_owned()).collect();
        let fields = asked.iter().map(|k| (k.as_str().into(), k.as_str().into()));
        run.answers(Answer {
            fields: fields.collect(),
            ..Answer::default()
        });
    }
}

/// Facts that a run with that journal does not wait for: what it knows already, from other attempts, about nobody.
pub(super) fn strangers(run: &Run) -> Vec<Fact> {
    let mut strange: Vec<Fact> = Vec::new();
    let waiting = run.machine.life() == RunLife::Waiting;
    for event in &run.journal {
        match &event.fact {
            Fact::Answered(_) if waiting => {}
            Fact::Cancelled | Fact::Recovered => {}
            fact => strange.push(fact.clone()),
        }
    }
    for effect in run.machine.in_flight() {
        if let crate::effect::Effect::Execute(execute) = effect {
            for attempt in [0, execute.attempt - 1, execute.attempt + 1] {
                strange.push(Fact::Failed {
                    activation: execute.activation,
                    attempt,
                    fault: Fault::new("late", "late"),
                    usage: Default::default(),
                });
            }
            strange.push(Fact::Woke {
                activation: execute.activation,
                attempt: execute.attempt,
            });
        }
    }
    for activation in [0, u64::MAX] {
        strange.push(Fact::Completed {
            activation: crate::bind::Activation(activation),
            attempt: 1,
            completion: Completion::default(),
        });
    }
    strange
}
