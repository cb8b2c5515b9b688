//! Files, nodes and their parameters.

use crate::code::{
    Dialect::{Both, Canvas},
    Rule,
};
use crate::diagnostic::Severity::{Error, Info, Warning};

pub(crate) const NOT_READABLE: Rule = Rule {
    name: "not-readable",
    severity: Error,
    dialect: Both,
    title: "the file cannot be read",
    means: "The file is neither JSON nor YAML, is cut off, is too large or too deep, or holds no workflow.",
    matters: "Nothing in it can be shown or run.",
    example: r#"{"components": {"begin": {"obj": {"component_name": "Begin"
                                                      ^ the file ends here"#,
    fix: "Mend the place that is named, or export the canvas again; a canvas is a JSON object with `components` or a drawing in `graph`, a graph a mapping with `nodes`.",
};

pub(crate) const NO_ENTRY: Rule = Rule {
    name: "no-entry",
    severity: Error,
    dialect: Canvas,
    title: "no node to start at",
    means: "A run starts at the node with the id `begin`, else at the first Begin, else at the first File of a pipeline; the canvas has none of them.",
    matters: "Nothing would ever run.",
    example: r#"{"components": {"Message:Hi": {"obj": {"component_name": "Message", "params": {"content": ["Hi"]}}}}}"#,
    fix: "Add a Begin and lead an edge from it to the first step.",
};

pub(crate) const DUPLICATE_ID: Rule = Rule {
    name: "duplicate-id",
    severity: Error,
    dialect: Both,
    title: "two nodes have one id",
    means: "Two nodes have the same id; in a graph, on the same level. Of two members with one name JSON keeps the last, so the first is lost.",
    matters: "References and edges to that id mean one of them, and nobody can tell which was meant.",
    example: r#""components": {
  "Agent:A": {"obj": {"component_name": "Agent", ...}},
  "Agent:A": {"obj": {"component_name": "LLM", ...}}
}"#,
    fix: "Give one of the two another id, in its edges and in the references to it as well.",
};

pub(crate) const NO_SUCH_CONTAINER: Rule = Rule {
    name: "no-such-container",
    severity: Error,
    dialect: Canvas,
    title: "in the body of something that has none",
    means: "`parent_id` names the container whose body a node is part of. It names no node, no Iteration or Loop, or leads in a ring.",
    matters: "It is open how often the node would run, and with which values.",
    example: r#""Message:M": {"obj": {"component_name": "Message", ...}, "parent_id": "Agent:A"}"#,
    fix: "Name an Iteration or a Loop in `parent_id`, or take `parent_id` away.",
};

pub(crate) const UNKNOWN_COMPONENT: Rule = Rule {
    name: "unknown-component",
    severity: Warning,
    dialect: Canvas,
    title: "no such component",
    means: "`component_name` names a kind of node that Easel does not have.",
    matters: "The run fails when it reaches the node. Until then everything goes on, so a rare branch may hide it.",
    example: r#""Agent:A": {"obj": {"component_name": "Agnet", "params": {}}}"#,
    fix: "Write one of the names that `easel components` lists.",
};

pub(crate) const NOT_RUN_YET: Rule = Rule {
    name: "not-run-yet",
    severity: Warning,
    dialect: Both,
    title: "this version does not run it",
    means: "Easel knows the component, loads it and shows it, but this version has no behaviour for it.",
    matters: "The run fails when it reaches the node; an agent that has it as a tool is not offered it.",
    example: r#""Parser:P": {"obj": {"component_name": "Parser", "params": {}}}"#,
    fix: "Take another component, or answer for it with a scripted world (`--world`) while you try the canvas.",
};

pub(crate) const MISSING_PARAMETER: Rule = Rule {
    name: "missing-parameter",
    severity: Warning,
    dialect: Canvas,
    title: "a parameter is not set",
    means: "A parameter that the component needs is absent or blank, and it has no default.",
    matters: "The run fails when it reaches the node.",
    example: r#""Message:M": {"obj": {"component_name": "Message", "params": {}}}"#,
    fix: "Set it; `easel components NAME` says what it takes.",
};

pub(crate) const BAD_PARAMETER: Rule = Rule {
    name: "bad-parameter",
    severity: Warning,
    dialect: Canvas,
    title: "a parameter does not fit",
    means: "A parameter has a value of another type, a number out of its range, or a word that is none of those allowed.",
    matters: "The run fails when it reaches the node.",
    example: r#""params": {"top_n": "many"}"#,
    fix: "Write what the message says belongs there; `easel components NAME` lists types and defaults.",
};

pub(crate) const NO_MODEL: Rule = Rule {
    name: "no-model",
    severity: Warning,
    dialect: Canvas,
    title: "no model is named and none is the default",
    means: "`llm_id` is blank, and no default model is set to stand in for it.",
    matters: "The run fails when it reaches the node.",
    example: r#""params": {"llm_id": "", "sys_prompt": "You are helpful."}"#,
    fix: "Set `default` under `[models]` in easel.toml, pass `--model`, or name a model in `llm_id`.",
};

pub(crate) const UNKNOWN_MODEL: Rule = Rule {
    name: "unknown-model",
    severity: Warning,
    dialect: Both,
    title: "no configured model answers to it",
    means: "`llm_id`, or `model` in a graph, names a model that none of the configured providers offers, and there is no alias or fallback for it.",
    matters: "The run fails when it reaches the node. Canvases from elsewhere carry the model ids of the place they come from.",
    example: r#""params": {"llm_id": "qwen-max@Tongyi-Qianwen"}"#,
    fix: "Map the id to a model of yours under `[models.alias]` in easel.toml, or set `fallback` under `[models]`.",
};

pub(crate) const UNKNOWN_OPERATOR: Rule = Rule {
    name: "unknown-operator",
    severity: Warning,
    dialect: Canvas,
    title: "no such comparison",
    means: "A test of a Switch or of a Loop's end names an operator that does not exist.",
    matters: "The test never holds, so the branch is never taken or the loop never ends by it.",
    example: r#"{"cpn_id": "sys.query", "operator": "like", "value": "a"}"#,
    fix: "Write one of the operators, such as `contains`, `=`, `≠`, `>`, `empty`.",
};

pub(crate) const TWO_WAYS_AFTER_FAILURE: Rule = Rule {
    name: "two-ways-after-failure",
    severity: Warning,
    dialect: Canvas,
    title: "two answers to a failure",
    means: "`exception_default_value` and `exception_goto` are both filled in, and `exception_method` says neither `comment` nor `goto`.",
    matters: "Only one can happen: the run goes on at the nodes of `exception_goto`, and the default value is never used.",
    example: r#""params": {"exception_method": "yes", "exception_default_value": "n/a", "exception_goto": ["Message:Sorry"]}"#,
    fix: "Set `exception_method` to `goto` or to `comment`, and empty the other field.",
};

pub(crate) const RESERVED_NAME: Rule = Rule {
    name: "reserved-name",
    severity: Error,
    dialect: Canvas,
    title: "the name belongs to the engine",
    means: "A field, a group or a declared output has a name under which the engine keeps something of its own, such as `_ERROR`.",
    matters: "The value would be mixed up with the engine's, so no output of that name is made.",
    example: r#""inputs": {"_ERROR": {"name": "What went wrong?", "type": "line"}}"#,
    fix: "Give it another name, in the references to it as well.",
};

pub(crate) const DUPLICATE_MEMBER: Rule = Rule {
    name: "duplicate-member",
    severity: Warning,
    dialect: Canvas,
    title: "a member stands twice in one object",
    means: "An object of the file has two members of one name. JSON keeps the last; the first is lost.",
    matters: "What was written first has no effect, although it can be seen in the file.",
    example: r#""params": {"top_n": 3, "query": "sys.query", "top_n": 8}"#,
    fix: "Keep one of the two.",
};

pub(crate) const UNKNOWN_FIELD: Rule = Rule {
    name: "unknown-field",
    severity: Info,
    dialect: Canvas,
    title: "nothing reads it",
    means: "A parameter has a name that the component does not know. It is kept and has no effect.",
    matters: "It may be a misspelling of a parameter that then has its default.",
    example: r#""params": {"temprature": 0.2}"#,
    fix: "Correct the name, or leave it: an export keeps it.",
};
