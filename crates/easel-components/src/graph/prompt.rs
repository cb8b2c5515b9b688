//! What models are told (spec/graph-engine §8). The headings are format; the sentences are ours.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::{Inputs, ReadId};
use easel_core::draft::Field;
use easel_core::event::Fault;
use easel_core::format::FormatString;

use super::keywords::Named;
use crate::behaviour::{Call, Prepared};
use crate::site::Site;

/// The instructions of every step that asks a model.
pub(super) const STEP: &str = "You carry out one step of a larger workflow. The message holds your task; what earlier steps \
gave follows under a heading of its own, each result under the name of its step. Do what the task asks, rely on what you \
were given, and answer with the result alone: no remarks about the workflow, no questions back.";

/// What is added where the answer is handed in by a call.
pub(super) const SUBMIT: &str = "Hand in your result by calling the tool `submit_result` exactly once, with every field \
filled as its schema says. What you write beside the call is not read.";

/// What is added to a task whose answer is to be data.
pub(super) const STRICT: &str = "The result is data: one JSON object of the shape that was asked for, with its property names as they \
are, and nothing around it.";

pub(super) const GOAL: &str = "Fulfil the purpose above as completely as the material allows.";
pub(super) const RESULT: &str = "The finished result, ready to be used by the next step.";

/// The text of a task with its results of earlier steps.
#[derive(Debug)]
pub(super) struct Prompt {
    task: Task,
    strict: bool,
    dependencies: Named,
    /// Dependencies that the task shows whole: they are not shown again.
    shown: HashSet<ReadId>,
    /// Whether all dependencies are shown, those that did not run too (`compat`).
    all: bool,
}

#[derive(Debug)]
enum Task {
    Instructions(FormatString),
    /// The older form: purpose, goal, expected result.
    Bullets {
        node: Arc<str>,
        purpose: Option<FormatString>,
        goal: Option<FormatString>,
        result: Option<FormatString>,
    },
}

/// A compiled text of a node.
pub(super) fn format(node: Prepared<'_>, key: &str) -> Option<FormatString> {
    match Site::of_node(node).field(key) {
        Some(Field::Format(text)) => Some(text.clone()),
        _ => None,
    }
}

impl Prompt {
    pub fn read(node: Prepared<'_>) -> Prompt {
        let site = Site::of_node(node);
        let task = match format(node, "instructions") {
            Some(instructions) => Task::Instructions(instructions),
            None => Task::Bullets {
                node: site.text("name").into(),
                purpose: format(node, "purpose").or_else(|| format(node, "description")),
                goal: format(node, "goal"),
                result: format(node, "expected_result"),
            },
        };
        let texts: Vec<&FormatString> = match &task {
            Task::Instructions(text) => vec![text],
            Task::Bullets {
                purpose,
                goal,
                result,
                ..
            } => [purpose, goal, result].into_iter().flatten().collect(),
        };
        Prompt {
            shown: texts.iter().flat_map(|text| text.whole()).collect(),
            task,
            all: site.flag("compat"),
            strict: site.flag("structured"),
            dependencies: Named::read(node, "depends_on"),
        }
    }

    /// The message of one attempt. What could not be filled in stays as it is written, with a warning.
    pub fn message(&self, call: &Call) -> String {
        let inputs = call.inputs();
        let mut text = String::from("Your task:\n");
        match &self.task {
            Task::Instructions(instructions) => text.push_str(&render(instructions, call)),
            Task::Bullets {
                node,
                purpose,
                goal,
                result,
            } => {
                let or = |text: &Option<FormatString>, stock: &str| match text {
                    Some(text) => render(text, call),
                    None => stock.to_owned(),
                };
                let purpose = or(purpose, &format!("Node {node}"));
                let (goal, result) = (or(goal, GOAL), or(result, RESULT));
                text.push_str(&format!(
                    "- PURPOSE: {purpose}\n- GOAL: {goal}\n- EXPECTED_RESULT: {result}"
                ));
            }
        }
        if self.strict {
            text.push_str("\n\n");
            text.push_str(STRICT);
        }
        text.push_str(&self.context(inputs));
        text
    }

    /// What the dependencies gave, in the order in which the node names them; of one that did not run nothing.
    fn context(&self, inputs: &Inputs) -> String {
        let mut text = String::new();
        for (name, read) in self.dependencies.reads() {
            let value = match inputs.get(read).value() {
                None if self.all => &Value::Null,
                None => continue,
                Some(_) if self.shown.contains(&read) && !self.all => continue,
                Some(value) => value,
            };
            if text.is_empty() {
                text.push_str("\n\nContext from previous nodes:");
            }
            // Writing to a string does not fail.
            let _ = write!(text, "\n--- {name} ---\n{}", value.python());
        }
        text
    }
}

/// A text with its placeholders filled; each that could not be is warned about and stays as it is written.
pub(super) fn render(text: &FormatString, call: &Call) -> String {
    let rendered = text.render(call.inputs());
    for name in &rendered.unresolved {
        let node = &call.node().draft.name;
        call.warn(format!(
            "\"{node}\" has no value for {{{name}}}, which stays in its text as it is written."
        ));
    }
    rendered.text
}

/// A text with its placeholders filled.
///
/// # Errors
/// Those that could not be.
pub(super) fn render_whole(text: &FormatString, key: &str, call: &Call) -> Result<String, Fault> {
    let rendered = text.render(call.inputs());
    match rendered.unresolved.as_slice() {
        [] => Ok(rendered.text),
        missing => Err(unresolved(call, key, missing.iter().map(|name| &**name))),
    }
}

/// The fault of a node that needs a value that there is not.
pub(super) fn unresolved<'n>(
    call: &Call,
    key: &str,
    names: impl Iterator<Item = &'n str>,
) -> Fault {
    let node = &call.node().draft.name;
    let names: Vec<String> = names.map(|name| format!("{{{name}}}")).collect();
    let (names, have) = match names.as_slice() {
        [one] => (one.clone(), "has"),
        all => (all.join(", "), "have"),
    };
    let message = format!(
        "\"{node}\" cannot fill its `{key}`: {names} {have} no value. Name an input, a dependency or a variable that is set before, or double the braces for literal ones."
    );
    Fault::new("unresolved", message).without_trace()
}
