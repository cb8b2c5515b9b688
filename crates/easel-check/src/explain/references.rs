//! References.

use crate::code::{
    Dialect::{Both, Canvas},
    Rule,
};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const REFERENCE_CIRCLE: Rule = Rule {
    name: "reference-circle",
    severity: Error,
    dialect: Both,
    title: "nodes wait for one another",
    means: "Each of these nodes reads an output of the next, round in a circle, so none can be first.",
    matters: "None of them could ever run with the values it asks for.",
    example: r#"Agent:A says "{Agent:B@content}", Agent:B says "{Agent:A@content}", and begin leads to both"#,
    fix: "Take one of the references away, or lead an edge between the two, so that one of them goes first.",
};

pub(crate) const REFERENCE_ACROSS_BODIES: Rule = Rule {
    name: "reference-across-bodies",
    severity: Error,
    dialect: Both,
    title: "a reference from one body into another",
    means: "A node reads one inside a body that it is not in.",
    matters: "Each body has its own passes, so it is open which pass is meant.",
    example: r#"Message:InFirst reads "{Agent:InSecond@content}""#,
    fix: "Read what the other container collected (`{Iteration:Second@lines}`), or move both nodes into the same body.",
};

pub(crate) const UNKNOWN_REFERENCE: Rule = Rule {
    name: "unknown-reference",
    severity: Warning,
    dialect: Both,
    title: "a reference to nothing",
    means: "A reference names a node or a variable that is not there.",
    matters: "The run fails when it reaches the node that reads it.",
    example: r#""content": ["Hello {env.nmae}"]"#,
    fix: "Correct the name; the message lists what there is.",
};

pub(crate) const NOT_A_REFERENCE: Rule = Rule {
    name: "not-a-reference",
    severity: Warning,
    dialect: Canvas,
    title: "no reference where one belongs",
    means: "A parameter that has to name a value holds a text that cannot name one.",
    matters: "What depends on it does not happen: the test never holds, the output stays empty, the assignment is left out.",
    example: r#""outputs": {"lines": {"ref": "all of them"}}"#,
    fix: "Write a reference, such as `sys.query`, `env.topic` or `Agent:X@content`.",
};

pub(crate) const UNKNOWN_PORT: Rule = Rule {
    name: "unknown-port",
    severity: Warning,
    dialect: Canvas,
    title: "the node has no such output",
    means: "A reference names an output that the component does not have and that the node does not declare.",
    matters: "It is always missing, and missing reads as empty text: nothing fails, and the answer lacks a piece.",
    example: r#""content": ["{Agent:Writer@contnet}"]"#,
    fix: "Correct the name; the message lists the outputs of the node.",
};

pub(crate) const MAYBE_MISSING: Rule = Rule {
    name: "maybe-missing",
    severity: Warning,
    dialect: Canvas,
    title: "it may be missing on some path",
    means: "A node reads another that a branch may leave out, while the node itself runs all the same.",
    matters: "On that path the value is missing, which reads as empty text: the prompt or the answer has a hole.",
    example: r#"Switch -> Agent:Search -> Message:M
Switch -> Message:M      ("{Agent:Search@content}" is missing in M on this way)"#,
    fix: "Gather the alternatives with a VariableAggregator, test for it with a Switch, or lead each branch to a node of its own.",
};

pub(crate) const ORDERING_LEFT_OUT: Rule = Rule {
    name: "ordering-left-out",
    severity: Warning,
    dialect: Both,
    title: "it does not wait for what it reads",
    means: "A node reads a value that is only made behind it, or that another node writes behind it. Waiting for that would close a circle, so it does not wait.",
    matters: "It reads what is there at that moment: mostly nothing.",
    example: r#"Agent:First -> Agent:Second, and Agent:First says "{Agent:Second@content}""#,
    fix: "Turn the edge round, or read a value that is there by then.",
};

pub(crate) const UNUSED_INPUT: Rule = Rule {
    name: "unused-input",
    severity: Warning,
    dialect: Canvas,
    title: "nothing reads this input",
    means: "Begin asks for an input that no node reads.",
    matters: "Users fill it in and it changes nothing; mostly a reference to it is misspelt.",
    example: r#""begin": {"obj": {"component_name": "Begin", "params": {"inputs": {"topic": {"type": "line"}}}}}"#,
    fix: "Read it as `{begin@topic}`, or remove it.",
};
