//! Python functions: whether they are there, whether they can be called with what they are given.

use std::collections::HashSet;
use std::sync::Arc;

use easel_graph::kind::Kind;

use super::context::{Context, Findings, Here, at, filled};
use super::{Callable, CodeProblem, Signature};
use crate::code::Code;
use crate::diagnostic::sentence;
use crate::findings::Found;
use crate::rules::listed;

/// Known names that a message lists, at most.
const LISTED: usize = 12;

/// Reports functions that are not there.
pub(super) fn report_errors(context: &Context<'_>, findings: &mut Findings) {
    for Here { node, .. } in context.nodes().filter(is_code) {
        let Some(callable) = filled(&node.callable) else {
            continue;
        };
        let Callable::Missing { why, known } = (context.graph.functions)(callable) else {
            continue;
        };
        let message = format!(
            "`{}` calls `{callable}`, which cannot be found: {why}",
            node.id
        );
        let found = Found::new(Code::Callable, sentence(&message)).node(&node.id);
        let found = match known.get(..LISTED.min(known.len())) {
            Some(some @ [_, ..]) => {
                found.detail(format!("What could be called: {}.", listed(some)))
            }
            _ => found,
        };
        let found = match findings.suggest(callable, known.iter().map(|name| &**name)) {
            Some(like) => found.fix(format!("Did you mean `{like}`?")),
            None => found,
        };
        findings.add(at(callable), found);
    }
}

fn is_code(here: &Here<'_, '_>) -> bool {
    matches!(*here.node.kind, Kind::Function | Kind::Python)
}

/// Reports what may keep functions from running.
pub(super) fn report(context: &Context<'_>, findings: &mut Findings) {
    let mut told: HashSet<CodeProblem> = HashSet::new();
    for here in context.nodes() {
        let callable = match *here.node.kind {
            Kind::Function | Kind::Python => filled(&here.node.callable),
            Kind::Loop => filled(&here.node.until),
            _ => None,
        };
        let Some(callable) = callable else {
            continue;
        };
        let Callable::Found(signature) = (context.graph.functions)(callable) else {
            continue;
        };
        for problem in &signature.problems {
            if told.insert(problem.clone()) {
                let found = self::problem(problem, callable).node(&here.node.id);
                findings.add(at(callable), found);
            }
        }
        if is_code(&here) {
            keywords(context, here, &signature, findings);
        }
    }
}

fn problem(problem: &CodeProblem, callable: &str) -> Found {
    let CodeProblem {
        file,
        line,
        cause,
        fix,
    } = problem;
    let place = match line {
        0 => format!("`{file}`"),
        line => format!("`{file}`, line {line}"),
    };
    let message = format!("`{callable}` may not run: {place}: {cause}");
    Found::new(Code::CallableProblem, sentence(&message)).fix(sentence(fix))
}

/// What a function is called with, against what it takes.
fn keywords(
    context: &Context<'_>,
    here: Here<'_, '_>,
    signature: &Signature,
    findings: &mut Findings,
) {
    let Some(parameters) = &signature.parameters else {
        return;
    };
    let node = here.node;
    let Some(callable) = &node.callable else {
        return;
    };
    let mut given: Vec<&str> = Vec::new();
    given.extend(context.document.inputs.iter().map(|input| &**input.name));
    given.extend(node.depends_on.iter().map(|id| &***id));
    given.extend(context.names.passes(here.level).map(|(name, _)| name));
    let mut seen = HashSet::new();
    given.retain(|name| seen.insert(*name));
    let takes = |name: &str| parameters.iter().any(|(parameter, _)| **parameter == *name);
    let surplus: Vec<&str> = given.iter().copied().filter(|name| !takes(name)).collect();
    if !surplus.is_empty() && !signature.takes_any_keyword {
        let message = format!(
            "`{}` calls `{callable}` with {}, which it does not take.",
            node.id,
            listed(&surplus)
        );
        let found = Found::new(Code::UnexpectedKeyword, message)
            .detail("Inputs, dependencies and values of the pass are all given, by their names.");
        findings.add(at(callable), found.node(&node.id));
    }
    // What a graph that declares nothing is given is known only then.
    let asked = context
        .document
        .nodes
        .iter()
        .filter(|node| *node.kind == Kind::Input);
    let asked: HashSet<&str> = asked.map(|node| &***node.input_key()).collect();
    let missing: Vec<&Arc<str>> = parameters
        .iter()
        .filter(|(name, default)| !default && !seen.contains(&**name) && !asked.contains(&**name))
        .map(|(name, _)| name)
        .collect();
    if !missing.is_empty() && !context.document.inputs.is_empty() {
        let message = format!(
            "`{}` calls `{callable}` without {}, which it needs.",
            node.id,
            listed(&missing)
        );
        findings.add(
            at(callable),
            Found::new(Code::MissingArgument, message).node(&node.id),
        );
    }
}
