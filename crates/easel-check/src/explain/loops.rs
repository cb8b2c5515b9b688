//! Circles, loops and iterations.

use crate::code::{
    Dialect::{Both, Canvas},
    Rule,
};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const ENDLESS_CIRCLE: Rule = Rule {
    name: "endless-circle",
    severity: Error,
    dialect: Canvas,
    title: "a circle that nothing can leave",
    means: "Edges lead round from node to node, and none of the nodes can choose another way: there is no branch, no form, no exit and no goto among them.",
    matters: "The run would go round until it reaches the limit of node runs.",
    example: r#"Agent:Write -> Agent:Review -> Agent:Write"#,
    fix: "Put a Switch or Categorize into the circle that leads out of it, or use a Loop with an end.",
};

pub(crate) const BACK_EDGE: Rule = Rule {
    name: "back-edge",
    severity: Warning,
    dialect: Canvas,
    title: "an edge leads back",
    means: "An edge leads to a node that runs before its source, so the nodes between run again: a loop without a Loop.",
    matters: "Nothing but the branch in it ends the loop; at most 10,000 nodes run in one run unless told otherwise.",
    example: r#"Agent:Write -> Categorize:Good? -> Agent:Write      (the second edge leads back)"#,
    fix: "If it is meant, leave it; a Loop says the same with a maximum and an end that can be seen.",
};

pub(crate) const EMPTY_BODY: Rule = Rule {
    name: "empty-body",
    severity: Warning,
    dialect: Canvas,
    title: "a container has no body",
    means: "No node names this Iteration or Loop as its `parent_id`.",
    matters: "It is done as soon as it is reached and collects nothing.",
    example: r#""Iteration:I": {"obj": {"component_name": "Iteration", "params": {"items_ref": "env.list"}}}"#,
    fix: "Put its steps inside it, each with its id as `parent_id`.",
};

pub(crate) const LOOP_WITHOUT_PASSES: Rule = Rule {
    name: "loop-without-passes",
    severity: Warning,
    dialect: Canvas,
    title: "a loop that makes no pass",
    means: "`maximum_loop_count` is 0 or missing, so the loop allows no pass.",
    matters: "Its body never runs.",
    example: r#""Loop:L": {"obj": {"component_name": "Loop", "params": {"loop_variables": []}}}"#,
    fix: "Set `maximum_loop_count` to the most passes it may make.",
};

pub(crate) const LOOP_WITHOUT_END: Rule = Rule {
    name: "loop-without-end",
    severity: Warning,
    dialect: Both,
    title: "only the maximum ends the loop",
    means: "The loop has no condition that can be tested and no ExitLoop in its body. In a graph, where `until` may be left out on purpose, it is worth no more than knowing.",
    matters: "It always makes as many passes as `maximum_loop_count` allows.",
    example: r#""params": {"maximum_loop_count": 50, "loop_termination_condition": []}"#,
    fix: "Add a condition under `loop_termination_condition`, or an ExitLoop behind a Switch in its body.",
};

pub(crate) const INCOMPLETE_VARIABLE: Rule = Rule {
    name: "incomplete-variable",
    severity: Warning,
    dialect: Canvas,
    title: "a loop variable lacks its value",
    means: "A row of `loop_variables` has a name but no value that can be used.",
    matters: "The variable starts with the empty value of its type.",
    example: r#"{"variable": "count", "input_mode": "constant", "type": "number"}"#,
    fix: "Give it a value, or the reference it starts from with `input_mode` `variable`.",
};

pub(crate) const EXIT_OUTSIDE_LOOP: Rule = Rule {
    name: "exit-outside-loop",
    severity: Warning,
    dialect: Canvas,
    title: "an exit with no loop around it",
    means: "An ExitLoop ends the innermost Loop around it; here there is none.",
    matters: "It does nothing.",
    example: r#""ExitLoop:E": {"obj": {"component_name": "ExitLoop", "params": {}}}"#,
    fix: "Move it into the body of the Loop that it should end, or remove it.",
};
