//! The behaviour of the kinds of graph nodes (spec/graph-engine §7, §8).
//!
//! What a node is told is what its texts name and what its dependencies gave: no ambient inputs, no environment, no paths
//! of the host. Each has one port, `value`; beside it `details` says how it came about.

mod arguments;
mod asking;
mod function;
mod input;
mod judge;
mod keywords;
mod model;
mod output;
mod prompt;
mod router;
mod submit;
mod tool;
mod tools;

use std::sync::Arc;

use easel_core::event::{Completion, Fault, Ports};
use easel_core::{Object, Value};

use crate::behaviour::{Behaviour, Prepared, Run};

/// The port of every graph node.
pub const VALUE: &str = "value";
/// The port that says how a value came about: an object.
pub const DETAILS: &str = "details";

/// The constant texts that models of graphs are told, each after the name that it has in cases of graphs. So a case says
/// what is asked of a model, whatever the wording.
pub const WORDING: [(&str, &str); 8] = [
    ("<NODE_SYSTEM>", prompt::STEP),
    ("<ROUTER_SYSTEM>", router::SORTS),
    ("<JUDGE_SYSTEM>", judge::JUDGES),
    ("<SHAPER_SYSTEM>", model::SHAPES),
    ("<SUBMIT_INSTRUCTION>", prompt::SUBMIT),
    ("<STRICT_JSON>", prompt::STRICT),
    ("<DEFAULT_GOAL>", prompt::GOAL),
    ("<DEFAULT_EXPECTED>", prompt::RESULT),
];

/// Prepares a node of a graph by its kind.
///
/// # Errors
/// What is wrong with it; it fails with the fault when it is reached.
pub fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    match &*node.node.draft.component {
        "base" => model::prepare(node, model::Style::Once),
        "react" => model::prepare(node, model::Style::UntilDone),
        "tool" => tool::prepare(node),
        "function" | "python" => function::prepare(node),
        "router" => router::prepare(node),
        "loop" => judge::prepare(node),
        "input" => input::prepare(node),
        "output" => output::prepare(node),
        // The machine runs these by itself.
        _ => Ok(Arc::new(Contained)),
    }
}

/// A container: the machine never executes it.
struct Contained;

impl Behaviour for Contained {
    fn run(self: Arc<Self>, _: crate::behaviour::Call) -> Run {
        Run::Done(Ok(Completion::default()))
    }
}

/// A value, and how it came about.
fn gives(
    value: impl Into<Value>,
    details: impl IntoIterator<Item = (&'static str, Value)>,
) -> Ports {
    let mut ports = Ports::one(VALUE, value.into());
    let details: Object = details
        .into_iter()
        .map(|(k, v)| (Arc::from(k), v))
        .collect();
    if !details.is_empty() {
        ports.set(DETAILS, Value::from(details));
    }
    ports
}
