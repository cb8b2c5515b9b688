//! Nodes that nothing reaches, that nobody needs, or that hang on nothing.

use std::collections::HashSet;

use easel_core::compile;
use easel_core::draft::EffectClass;
use easel_core::reference::Root;
use easel_graph::document::{InputMode, Node};
use easel_graph::kind::Kind;
use easel_graph::lower::names::{self, Level};

use super::context::{Context, Findings, Here, at, filled};
use crate::code::Code;
use crate::diagnostic::Severity;
use crate::findings::Found;
use crate::rules::listed;

/// Reports what refuses a run: what compiling found, and outputs without a source.
pub(super) fn report_errors(context: &Context<'_>, findings: &mut Findings) {
    for finding in context.graph.structure {
        compiled(context, findings, finding);
    }
    for here in context.nodes() {
        let node = here.node;
        let empty = node.depends_on.is_empty() && filled(&node.value).is_none();
        if *node.kind == Kind::Output && empty {
            let message = format!("The output `{}` has nothing to give out.", node.id);
            findings.add(
                at(&node.id),
                Found::new(Code::OutputEmpty, message).node(&node.id),
            );
        }
    }
}

/// Reports the rest.
pub(super) fn report(context: &Context<'_>, findings: &mut Findings) {
    unconnected(context, findings);
    unused(context, findings);
    for level in &context.names.levels {
        let dead = dead(level);
        unreachable(level, &dead, findings);
        targets_that_run_anyway(level, &dead, findings);
    }
    for here in context.nodes() {
        let node = here.node;
        let id = &node.id;
        if *node.kind == Kind::Loop && node.until.is_none() && node.max_iterations.is_some() {
            let message = format!("Only its ceiling ends the loop `{id}`.");
            let found = Found::new(Code::LoopWithoutEnd, message)
                .severity(Severity::Info)
                .fix("Write an `until` if it may be done before.");
            findings.add(context.key(node, "max_iterations"), found.node(id));
        }
        let dict = *node.kind == Kind::Input && *node.input_mode == InputMode::Dict;
        if dict && let [only] = &context.document.inputs[..] {
            let message = format!(
                "`{id}` takes all inputs as a mapping, and `{}` is the only one.",
                only.name
            );
            let found = Found::new(Code::SingleField, message).fix(format!(
                "Leave `input_mode` out and write writes: {}.",
                only.name
            ));
            findings.add(context.key(node, "input_mode"), found.node(id));
        }
    }
}

/// What compiling found, as far as reading the file did not find it before.
fn compiled(context: &Context<'_>, findings: &mut Findings, finding: &compile::Finding) {
    use compile::Finding as Compiled;
    let place = finding.node().and_then(|id| at(&context.node(id)?.id));
    let name = |id: &str| {
        context
            .node(id)
            .map_or_else(|| id.into(), |node| (*node.id).clone())
    };
    let found = match finding {
        Compiled::ReferenceCircle { nodes } => {
            let ids: Vec<_> = nodes.iter().map(|id| name(id)).collect();
            let message = format!(
                "{} each wait for the value of the next, so none can start.",
                listed(&ids)
            );
            Found::new(Code::ReferenceCircle, message).fix(
                "Take one of the names out of an expression, or add a `depends_on` so that one of them goes first.",
            )
        }
        Compiled::ReferenceAcrossScopes { node, reference } => {
            let message = format!(
                "`{}` names `{reference}` in a body that it is not in.",
                name(node)
            );
            Found::new(Code::ReferenceAcrossBodies, message)
                .fix("Name the value of the container, or move both nodes into one body.")
        }
        Compiled::OrderingLeftOut { node, source } => {
            let (node, source) = (name(node), name(source));
            let message =
                format!("`{node}` names something of `{source}`, but `{source}` runs after it.");
            Found::new(Code::OrderingLeftOut, message)
                .detail("It does not wait for it, and takes what is there by then.")
                .fix(format!(
                    "Let `{node}` depend on `{source}`, if it is to have its value."
                ))
        }
        Compiled::UnknownReference {
            node,
            reference,
            why,
        } => {
            let message = format!("`{}` names `{reference}`, but {why}.", name(node));
            Found::new(Code::UnknownReference, message)
        }
        // Reading the file found these, and says more about them.
        Compiled::NoEntry | Compiled::DuplicateId { .. } | Compiled::DanglingEdge { .. } => return,
        Compiled::NoSuchContainer { .. } | Compiled::EdgeAcrossScopes { .. } => return,
        Compiled::EndlessCircle { .. } | Compiled::SelfEdge { .. } | Compiled::BackEdge { .. } => {
            return;
        }
        Compiled::Unreachable { .. } | Compiled::EmptyBody { .. } => return,
        // Graphs have no exits; a loop's ceiling is at least one.
        Compiled::ExitOutsideLoop { .. } | Compiled::NoPasses { .. } | Compiled::NoEnd { .. } => {
            return;
        }
    };
    let found = match finding.node() {
        Some(id) => found.node(&name(id)),
        None => found,
    };
    findings.add(place, found);
}

fn unconnected(context: &Context<'_>, findings: &mut Findings) {
    let nodes = &context.document.nodes;
    if nodes.len() > 1 && nodes.iter().all(|node| node.depends_on.is_empty()) {
        let message = "None of the nodes depends on another, so all of them run at once.";
        findings.add(context.all(), Found::new(Code::Unconnected, message));
    }
}

/// What is read anywhere, by nodes other than the one that it belongs to.
struct Reads<'w> {
    /// Ids, in the workflow, of nodes whose value is read.
    nodes: HashSet<&'w str>,
    /// Variables, as the workflow knows them.
    variables: HashSet<&'w str>,
    /// Inputs that are read by name.
    inputs: HashSet<&'w str>,
    /// Nodes that read a value or a variable of another.
    readers: HashSet<&'w str>,
}

impl<'w> Reads<'w> {
    fn of(context: &Context<'w>) -> Reads<'w> {
        let mut reads = Reads {
            nodes: HashSet::new(),
            variables: HashSet::new(),
            inputs: HashSet::new(),
            readers: HashSet::new(),
        };
        for node in &context.graph.workflow.nodes {
            let id = &*node.draft.id;
            let own = context.node(id).and_then(|node| node.writes.as_ref());
            for reference in &node.draft.reads {
                match &reference.root {
                    Root::Output { node: source, .. } if **source != *id => {
                        reads.nodes.insert(source);
                        reads.readers.insert(id);
                    }
                    Root::Variable(key) if **key == *names::INPUTS => {
                        reads
                            .inputs
                            .extend(reference.path.0.first().map(|step| &*step.name));
                    }
                    Root::Variable(key) => {
                        let key = key.strip_prefix("vars.").unwrap_or(key);
                        if own.is_none_or(|own| ***own != *key) {
                            reads.variables.insert(key);
                            reads.readers.insert(id);
                        }
                    }
                    Root::Output { .. } | Root::Pass(_) | Root::PassOf { .. } => {}
                }
            }
        }
        reads
    }
}

/// Nodes whose value nobody takes.
fn unused(context: &Context<'_>, findings: &mut Findings) {
    let reads = Reads::of(context);
    for (at_level, level) in context.names.levels.iter().enumerate() {
        let container = level.around.map(|(_, container)| container);
        let listed = match container {
            Some(container) => &container.body_outputs,
            None => &context.document.outputs,
        };
        let given: HashSet<&str> = listed.iter().map(|id| &***id).collect();
        let handlers: HashSet<&str> = level
            .nodes
            .iter()
            .filter_map(|(node, _)| Some(&***node.on_error.as_ref()?))
            .collect();
        // The last nodes of a body are what it gives out; a single node is what a graph gives out.
        if level.nodes.len() < 2 || (container.is_some() && given.is_empty()) {
            continue;
        }
        for (place, (node, id)) in level.nodes.iter().enumerate() {
            let here = Here {
                node,
                id,
                level: at_level,
            };
            let depended_on = level.dependents(place).next().is_some();
            let needed = depended_on
                || *node.kind == Kind::Output
                || given.contains(&**node.id)
                || handlers.contains(&**node.id)
                || is_read(here, &reads);
            if !needed && !works_outside(context, node) {
                let isolated = node.depends_on.is_empty() && !reads.readers.contains(&**id);
                findings.add(at(&node.id), unneeded(node, isolated));
            }
        }
    }
}

fn unneeded(node: &Node, isolated: bool) -> Found {
    let id = &node.id;
    match isolated {
        true => Found::new(
            Code::Isolated,
            format!("`{id}` depends on nothing, and nothing takes its value."),
        ),
        false => Found::new(
            Code::UnusedNode,
            format!("Nothing takes the value of `{id}`."),
        ),
    }
    .node(id)
}

/// Whether the value of a node, or what it writes, is read.
fn is_read(here: Here<'_, '_>, reads: &Reads<'_>) -> bool {
    let node = here.node;
    let mut written = node.writes.iter().chain(&node.accumulate);
    let asked = *node.kind == Kind::Input && reads.inputs.contains(&***node.input_key());
    asked
        || reads.nodes.contains(&**here.id)
        || written.any(|name| reads.variables.contains(&***name))
}

/// Whether a node runs for what it does rather than for its value: it has a tool that changes something, writes a file, or
/// holds such a node.
fn works_outside(context: &Context<'_>, node: &Node) -> bool {
    let takes_tools = matches!(*node.kind, Kind::Base | Kind::React | Kind::Tool);
    let mut tools = node.tools.iter().filter_map(|name| context.tool(name));
    let writes = tools.any(|(table, _)| table.effect == EffectClass::Writes);
    let exports = matches!(*node.kind, Kind::Base | Kind::React) && *node.export;
    let holds = node.kind.has_body() && node.body.iter().any(|inner| works_outside(context, inner));
    (takes_tools && writes) || exports || holds
}

/// For each node of a level whether it never runs: it is disabled, or everything that it depends on never runs.
fn dead(level: &Level<'_>) -> Vec<bool> {
    let mut dead: Vec<bool> = level.nodes.iter().map(|(node, _)| *node.disabled).collect();
    let known = |node: &Node| {
        node.depends_on
            .iter()
            .filter(|id| level.place(id).is_some())
            .count()
    };
    let mut alive: Vec<usize> = level.nodes.iter().map(|(node, _)| known(node)).collect();
    let mut open: Vec<usize> = (0..dead.len()).filter(|&at| dead[at]).collect();
    while let Some(at) = open.pop() {
        for (dependent, _) in level.dependents(at) {
            let Some(to) = level.place(&dependent.id) else {
                continue;
            };
            alive[to] = alive[to].saturating_sub(1);
            if alive[to] == 0 && !std::mem::replace(&mut dead[to], true) {
                open.push(to);
            }
        }
    }
    dead
}

fn unreachable(level: &Level<'_>, dead: &[bool], findings: &mut Findings) {
    for ((node, _), _) in level.nodes.iter().zip(dead).filter(|(_, dead)| **dead) {
        if !*node.disabled {
            let id = &node.id;
            let message = format!("`{id}` never runs: all that it depends on is disabled.");
            let found = Found::new(Code::UnreachableNode, message)
                .fix("Enable one of these nodes, or disable this one too.");
            findings.add(at(id), found.node(id));
        }
    }
}

/// Targets of routers that another node leads to as well: a router kills edges, not nodes.
fn targets_that_run_anyway(level: &Level<'_>, dead: &[bool], findings: &mut Findings) {
    let routers = level
        .nodes
        .iter()
        .filter(|(node, _)| *node.kind == Kind::Router);
    for (router, _) in routers {
        let mut seen = HashSet::new();
        for target in router.targets() {
            let Some((node, _)) = level.find(target).filter(|_| seen.insert(&***target)) else {
                continue;
            };
            let others = node.depends_on.iter().filter(|id| ****id != **router.id);
            let mut alive = others.filter(|id| {
                let live = level.place(id).is_some_and(|place| !dead[place]);
                let chosen = level
                    .find(id)
                    .is_some_and(|(other, _)| leads_to(other, &node.id));
                live && !chosen
            });
            let depends = node.depends_on.iter().any(|id| ***id == **router.id);
            let Some(other) = alive.next().filter(|_| depends) else {
                continue;
            };
            let message = format!(
                "`{}` runs even if `{}` does not choose it, because it depends on `{}` too.",
                node.id, router.id, &***other
            );
            let fix = format!(
                "Let `{}` depend on `{}` before it chooses, or write what `{}` gives into a variable (`writes`) and take the dependency away.",
                router.id, &***other, &***other
            );
            let found = Found::new(Code::TargetRunsAnyway, message).fix(fix);
            findings.add(at(other), found.node(&node.id));
        }
    }
}

/// Whether a router may choose a node.
fn leads_to(router: &Node, id: &str) -> bool {
    *router.kind == Kind::Router && router.targets().any(|target| ***target == *id)
}
