//! Steps that ask a model: their instructions, tools, shapes, and which model it is.

use std::collections::HashMap;

use easel_graph::document::{Mode, Node, OutputSchema, Routing};
use easel_graph::kind::Kind;

use super::context::{Context, Findings, Here, at, filled};
use super::schema;
use crate::canvas::Surroundings;
use crate::code::Code;
use crate::diagnostic::sentence;
use crate::findings::Found;

/// Reports what refuses a run.
pub(super) fn report_errors(context: &Context<'_>, findings: &mut Findings) {
    for Here { node, .. } in context.nodes() {
        let id = &node.id;
        if *node.kind == Kind::React && node.tools.is_empty() {
            let message = format!("`{id}` is to use tools and has none.");
            findings.add(at(id), Found::new(Code::Capability, message).node(id));
        }
        if *node.kind == Kind::Base {
            shape(context, node, findings);
        }
        if let (true, Some(output)) = (is_agent(node), &node.output_schema)
            && let OutputSchema::Schema(written) = &output.value
            && let Some(wrong) = schema::fault(written)
        {
            let place = wrong
                .path
                .iter()
                .fold(node.key("output_schema"), |place, key| place.key(key));
            let message = format!(
                "The shape of the answer of `{id}` cannot be used: {}",
                wrong.cause
            );
            let found = Found::new(Code::Schema, sentence(&message)).node(id);
            findings.add(context.member(&place), found.fix(wrong.fix));
        }
    }
}

/// A base step asks once: for a shape, or with tools.
fn shape(context: &Context<'_>, node: &Node, findings: &mut Findings) {
    let id = &node.id;
    match &node.output_schema {
        None if *node.mode == Mode::Structured => {
            let message =
                format!("`{id}` asks for a structured answer and does not say of which shape.");
            let found = Found::new(Code::StructuredWithoutSchema, message);
            findings.add(context.key(node, "mode"), found.node(id));
        }
        Some(_) if !node.tools.is_empty() => {
            let message = format!("`{id}` has an `output_schema`, so its tools are not used.");
            let found = Found::new(Code::ShapeDisablesTools, message);
            findings.add(context.key(node, "tools"), found.node(id));
        }
        _ => {}
    }
}

fn is_agent(node: &Node) -> bool {
    matches!(*node.kind, Kind::Base | Kind::React)
}

/// Reports the rest.
pub(super) fn report(
    context: &Context<'_>,
    surroundings: &Surroundings<'_>,
    findings: &mut Findings,
) {
    let mut asked: HashMap<String, Option<String>> = HashMap::new();
    for here in context.nodes() {
        let node = here.node;
        let id = &node.id;
        let texts = [
            &node.instructions,
            &node.purpose,
            &node.goal,
            &node.description,
        ];
        if is_agent(node) && !texts.into_iter().any(|text| filled(text).is_some()) {
            let message = format!("`{id}` does not say what its model is to do.");
            findings.add(at(id), Found::new(Code::NoInstructions, message).node(id));
        }
        if *node.kind == Kind::Base && node.output_schema.is_none() && node.tools.len() > 1 {
            let message = format!(
                "`{id}` has {} tools and its model one round to use them.",
                node.tools.len()
            );
            let found = Found::new(Code::ToolsExceedRounds, message);
            findings.add(context.key(node, "tools"), found.node(id));
        }
        classifies(context, node, findings);
        if asks(context, here) {
            let name = model_of(node);
            let refused = asked
                .entry(name)
                .or_insert_with_key(|name| (surroundings.model)(name));
            if let Some(reason) = refused {
                findings_of_model(context, node, reason, findings);
            }
        }
    }
}

/// A router that asks a model which is told nothing.
fn classifies(context: &Context<'_>, node: &Node, findings: &mut Findings) {
    let asks = matches!(node.routing(), Some(Routing::Routes | Routing::Labels));
    let texts = [&node.instructions, &node.purpose, &node.goal];
    let names = texts.into_iter().flatten().any(|text| text.contains('{'));
    if *node.kind == Kind::Router && asks && node.depends_on.is_empty() && !names {
        let message = format!(
            "The router `{}` is told nothing that it could judge.",
            node.id
        );
        let found = Found::new(Code::ClassifiesOnNothing, message);
        let place = match filled(&node.instructions) {
            Some(text) => at(text),
            None => context.key(node, "routes"),
        };
        findings.add(place, found.node(&node.id));
    }
}

/// Whether a node asks a model: a loop does if its condition is a sentence.
fn asks(context: &Context<'_>, here: Here<'_, '_>) -> bool {
    match *here.node.kind {
        Kind::Base | Kind::React => true,
        Kind::Router => matches!(here.node.routing(), Some(Routing::Routes | Routing::Labels)),
        Kind::Loop => {
            let found = context.graph.workflow.find(here.id);
            let params = found.map(|id| &context.graph.workflow.node(id).draft.params);
            params.is_some_and(|params| params.get("prose").is_some())
        }
        _ => false,
    }
}

/// The id by which its model is asked for.
fn model_of(node: &Node) -> String {
    let text = |text| filled(text).map_or("", |text| text.trim());
    match (text(&node.model), text(&node.provider)) {
        (model, "") => model.to_owned(),
        (model, provider) => format!("{model}@{provider}"),
    }
}

fn findings_of_model(context: &Context<'_>, node: &Node, reason: &str, findings: &mut Findings) {
    let id = &node.id;
    let (place, found) = match (filled(&node.provider), filled(&node.model)) {
        (None, None) => {
            let message = format!("`{id}` names no model, and no default model is set.");
            (at(id), Found::new(Code::AgentNoModel, message))
        }
        (Some(provider), model) => {
            let of = model.map_or(String::new(), |model| {
                format!("the model `{}` of ", model.trim())
            });
            let message = format!(
                "`{id}` asks for {of}the provider `{}`, which nothing configured answers to.",
                provider.trim()
            );
            let found = Found::new(Code::Provider, message).detail(sentence(reason));
            (context.key(node, "provider"), found)
        }
        (None, Some(model)) => {
            let message = format!(
                "`{id}` asks for the model `{}`, which nothing configured answers to.",
                model.trim()
            );
            let found = Found::new(Code::UnknownModel, message).detail(sentence(reason));
            (context.key(node, "model"), found)
        }
    };
    findings.add(place, found.node(id));
}
