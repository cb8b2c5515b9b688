//! Python functions that a graph calls.

use crate::code::{Dialect::Graph, Rule};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const SIDECAR: Rule = Rule {
    name: "functions",
    severity: Error,
    dialect: Graph,
    title: "the sidecar is not there",
    means: "`functions` names a Python file that the package does not have, or that would lie outside of it.",
    matters: "Whatever the graph calls by the names of its functions could not be called.",
    example: r#"name: g
functions: ../helpers.py
outputs: [write]
nodes:
  - {id: write, instructions: "Say hello."}"#,
    fix: "Write the path of a file of the package, from the graph's folder.",
};

pub(crate) const CALLABLE: Rule = Rule {
    name: "callable",
    severity: Error,
    dialect: Graph,
    title: "there is no such function",
    means: "A function or python step names no function, or one that the package does not have; or the `until` of a loop is a bare name that the sidecar does not define. Files are read for that, nothing is run.",
    matters: "There is nothing to call.",
    example: r#"name: g
outputs: [rate]
nodes:
  - {id: rate, kind: function, callable: "helpers:rtae"}"#,
    fix: "Write module:name of a function of the package, or the name of a function of the sidecar.",
};

pub(crate) const PROBLEM: Rule = Rule {
    name: "callable.problem",
    severity: Warning,
    dialect: Graph,
    title: "the function may not run here",
    means: "The file of a function holds something that does not work in a package, or needs an interpreter that is not allowed: a relative import, say, though a sidecar stands alone.",
    matters: "The step fails when it is reached.",
    example: r#"name: g
outputs: [rate]
nodes:
  - {id: rate, kind: function, callable: "helpers:relative"}"#,
    fix: "Change the line that is named.",
};

pub(crate) const UNEXPECTED_KEYWORD: Rule = Rule {
    name: "callable.unexpected_keyword",
    severity: Warning,
    dialect: Graph,
    title: "a function is given more than it takes",
    means: "A function is called with all inputs, dependencies and values of the pass by their names. This one has neither a parameter of that name nor `**kwargs`.",
    matters: "The call fails.",
    example: r#"name: g
inputs: {topic: string, tone: string}
outputs: [rate]
nodes:
  - {id: plan, instructions: "Plan {topic}, {tone}."}
  - {id: rate, kind: function, callable: "helpers:strict", depends_on: [plan]}"#,
    fix: "Add `**kwargs` to the function's parameters.",
};

pub(crate) const MISSING_ARGUMENT: Rule = Rule {
    name: "callable.missing_argument",
    severity: Warning,
    dialect: Graph,
    title: "a function is not given what it needs",
    means: "The function has a parameter without a default, and no input, dependency or value of the pass has its name.",
    matters: "The call fails.",
    example: r#"name: g
inputs: {tone: string}
outputs: [rate]
nodes:
  - {id: plan, instructions: "Plan something {tone}."}
  - {id: rate, kind: function, callable: "helpers:strict", depends_on: [plan]}"#,
    fix: "Declare an input of that name, depend on a node of that name, or give the parameter a default.",
};
