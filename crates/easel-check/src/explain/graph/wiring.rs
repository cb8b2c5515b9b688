//! How the nodes of a graph hang together, and what comes in and out.

use crate::code::{Dialect::Graph, Rule};
use crate::diagnostic::Severity::{Error, Info, Warning};

pub(crate) const DAG: Rule = Rule {
    name: "dag",
    severity: Error,
    dialect: Graph,
    title: "a dependency leads nowhere or in a circle",
    means: "`depends_on`, `outputs` or `on_error` names a node that its level does not have, or nodes need one another in a circle. Bodies are held to it as well.",
    matters: "The node could never start.",
    example: r#"name: g
outputs: [sum]
nodes:
  - {id: fetch, instructions: "Name a river."}
  - {id: sum, instructions: "Sum up.", depends_on: [fetsh]}"#,
    fix: "Write the id of a node of the same level. To repeat steps, put them into the body of a loop.",
};

pub(crate) const DEPENDS_ON_OUTPUT: Rule = Rule {
    name: "output.depended_on",
    severity: Error,
    dialect: Graph,
    title: "something depends on an output node",
    means: "An output node gives its value to whoever runs the graph, and to no other node.",
    matters: "The node behind it would get nothing.",
    example: r#"name: g
nodes:
  - {id: write, instructions: "Say hello."}
  - {id: out, kind: output, depends_on: [write]}
  - {id: log, instructions: "Log it.", depends_on: [out]}"#,
    fix: "Depend on what the output depends on.",
};

pub(crate) const OUTPUT_AS_HANDLER: Rule = Rule {
    name: "output.as_handler",
    severity: Error,
    dialect: Graph,
    title: "an output node is to handle an error",
    means: "`on_error` names an output node.",
    matters: "An output gives out values and does nothing about errors.",
    example: r#"name: g
nodes:
  - {id: write, instructions: "Say hello.", on_error: out}
  - {id: out, kind: output, depends_on: [write]}"#,
    fix: "Name a node that says what went wrong, and let the output depend on it.",
};

pub(crate) const HANDLER_NOT_DOWNSTREAM: Rule = Rule {
    name: "on_error.not_downstream",
    severity: Error,
    dialect: Graph,
    title: "a handler that does not depend on what it handles",
    means: "The node that `on_error` names runs when the other fails, so it has to depend on it.",
    matters: "Without that edge it would run at once, whether anything failed or not.",
    example: r#"name: g
outputs: [sorry]
nodes:
  - {id: write, instructions: "Say hello.", on_error: sorry}
  - {id: sorry, instructions: "Apologise."}"#,
    fix: "Add the guarded node to the `depends_on` of the handler.",
};

pub(crate) const BODY_DEPENDENCY_OUTSIDE: Rule = Rule {
    name: "body.dependency_outside",
    severity: Error,
    dialect: Graph,
    title: "a body depends on something outside of it",
    means: "The nodes of a body depend on one another only.",
    matters: "A body runs once a pass; it is open what waiting for a node outside would mean.",
    example: r#"name: g
outputs: [each]
inputs: {items: array}
nodes:
  - {id: style, instructions: "Name a style."}
  - id: each
    kind: map
    over: inputs.items
    depends_on: [style]
    body: [{id: write, instructions: "Write about {item}.", depends_on: [style]}]"#,
    fix: "Let the container depend on it. Expressions of the body may then name its value, and texts the variable that it `writes`.",
};

pub(crate) const BODY_OUTPUTS: Rule = Rule {
    name: "body.outputs",
    severity: Error,
    dialect: Graph,
    title: "a container gives out a node that it does not have",
    means: "`body_outputs` names a node that is not in the body.",
    matters: "The container would have no value.",
    example: r#"name: g
outputs: [each]
inputs: {items: array}
nodes:
  - id: each
    kind: map
    over: inputs.items
    body_outputs: [wirte]
    body: [{id: write, instructions: "Write about {item}."}]"#,
    fix: "Write the id of a node of the body, or leave `body_outputs` out: then the last steps of the body are given out.",
};

pub(crate) const BLANK_WHEN: Rule = Rule {
    name: "when.blank",
    severity: Error,
    dialect: Graph,
    title: "a blank guard",
    means: "`when` holds nothing but blanks.",
    matters: "It never holds, so the node would never run.",
    example: r#"name: g
nodes:
  - {id: write, instructions: "Say hello.", when: " "}"#,
    fix: "Write an expression, or leave `when` out.",
};

pub(crate) const BLANK_UNTIL: Rule = Rule {
    name: "loop.blank_until",
    severity: Error,
    dialect: Graph,
    title: "a blank condition of a loop",
    means: "`until` holds nothing but blanks.",
    matters: "Nobody can say when it holds.",
    example: r#"name: g
nodes:
  - id: refine
    kind: loop
    max_iterations: 3
    until: " "
    body: [{id: write, instructions: "Improve {item}."}]"#,
    fix: "Write a sentence or the name of a function, or leave `until` out to run to the ceiling.",
};

pub(crate) const BREAK_WHEN: Rule = Rule {
    name: "loop.break_when",
    severity: Error,
    dialect: Graph,
    title: "an old condition that is no longer read",
    means: "`break_when` ended loops once. Nothing reads it today.",
    matters: "The loop would run to its ceiling, at the cost of all those passes.",
    example: r#"name: g
nodes:
  - id: refine
    kind: loop
    max_iterations: 3
    break_when: "score > 8"
    body: [{id: write, instructions: "Improve {item}."}]"#,
    fix: "Write until: with the name of a function of the sidecar, or a sentence that a model judges.",
};

pub(crate) const NO_RESULT: Rule = Rule {
    name: "workflow.no_result",
    severity: Warning,
    dialect: Graph,
    title: "the graph names no result",
    means: "It has neither `outputs` nor an output node. A run then gives out the value of one of its last steps.",
    matters: "Of several last steps it may be one that nobody meant, and another after a change.",
    example: r#"name: g
nodes:
  - {id: write, instructions: "Say hello."}"#,
    fix: "Write outputs: and a list of ids, or add a node of kind `output`.",
};

pub(crate) const UNREAD_INPUT: Rule = Rule {
    name: "structure.unread_input",
    severity: Error,
    dialect: Graph,
    title: "no step names a declared input",
    means: "Steps are told what they name and nothing else. Nothing in the graph names this input. It is a warning if a tool step, or code whose parameters cannot be read, may take it all the same; nothing is said if a function takes `**kwargs` or an input step takes all inputs.",
    matters: "Whoever runs the graph fills it in, and it changes nothing. Graphs that relied on inputs being told to every step have to name them.",
    example: r#"name: g
inputs: {topic: string, tone: string}
outputs: [write]
nodes:
  - {id: write, instructions: "Write about {topic}."}"#,
    fix: "Name it where it belongs, as `{name}` in a text or `inputs.name` in an expression, or leave the declaration out.",
};

pub(crate) const UNUSED_NODE: Rule = Rule {
    name: "structure.unused_node",
    severity: Warning,
    dialect: Graph,
    title: "nobody takes a node's value",
    means: "Nothing depends on the node, no expression and no output names it, and no variable it writes is read.",
    matters: "It runs, and costs, for nothing.",
    example: r#"name: g
outputs: [write]
nodes:
  - {id: plan, instructions: "Plan a letter."}
  - {id: write, instructions: "Write it.", depends_on: [plan]}
  - {id: check, instructions: "Check it.", depends_on: [plan]}"#,
    fix: "Let something depend on it, name it in `outputs`, or leave it out.",
};

pub(crate) const UNCONNECTED: Rule = Rule {
    name: "structure.unconnected",
    severity: Warning,
    dialect: Graph,
    title: "no node depends on any other",
    means: "The graph has several nodes and not one dependency.",
    matters: "All of them run at once, and none is told what another found.",
    example: r#"name: g
outputs: [plan, write]
nodes:
  - {id: plan, instructions: "Plan a letter."}
  - {id: write, instructions: "Write it."}"#,
    fix: "Say in `depends_on` which node needs the value of which.",
};

pub(crate) const ISOLATED: Rule = Rule {
    name: "structure.isolated",
    severity: Warning,
    dialect: Graph,
    title: "a node that hangs on nothing",
    means: "The node depends on nothing, and nothing depends on it or names it.",
    matters: "Mostly a `depends_on` was forgotten.",
    example: r#"name: g
outputs: [write]
nodes:
  - {id: plan, instructions: "Plan a letter."}
  - {id: write, instructions: "Write it.", depends_on: [plan]}
  - {id: check, instructions: "Check the letter."}"#,
    fix: "Say in `depends_on` what it needs, and let something depend on it or name it in `outputs`.",
};

pub(crate) const SINGLE_FIELD: Rule = Rule {
    name: "input.single_field",
    severity: Info,
    dialect: Graph,
    title: "a form of one field",
    means: "An input step of mode `dict` takes all declared inputs as a mapping, and there is only one.",
    matters: "Steps behind it get a mapping of one member where the value itself would do.",
    example: r#"name: g
inputs: {topic: string}
outputs: [write]
nodes:
  - {id: form, kind: input, input_mode: dict}
  - {id: write, instructions: "Write about {topic}.", depends_on: [form]}"#,
    fix: "Leave `input_mode` out and give the step the input's name in `writes`.",
};

pub(crate) const OUTPUT_EMPTY: Rule = Rule {
    name: "output_empty",
    severity: Error,
    dialect: Graph,
    title: "an output without a source",
    means: "An output step has neither a dependency nor a `value`.",
    matters: "There is nothing that it could give out.",
    example: r#"name: g
nodes:
  - {id: write, instructions: "Say hello."}
  - {id: out, kind: output}"#,
    fix: "Say in `depends_on` whose value it gives out, or write a `value`.",
};
