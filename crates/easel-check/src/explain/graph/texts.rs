//! Names in templates and expressions.

use crate::code::{Dialect::Graph, Rule};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const TEMPLATE_VAR: Rule = Rule {
    name: "template_var",
    severity: Error,
    dialect: Graph,
    title: "a placeholder that nothing fills",
    means: "A placeholder of a prompt names no input, no variable, no value of the pass and no node that this one depends on. The question of a router names inputs and values of the pass only.",
    matters: "The model would be sent the placeholder itself.",
    example: r#"name: g
inputs: {topic: string}
outputs: [write]
nodes:
  - {id: write, instructions: "Write about {topik}."}"#,
    fix: "Correct the name, or add the node to `depends_on`. Braces that are meant as such are doubled: `{{` and `}}`.",
};

pub(crate) const TEMPLATE_VAR_UNSURE: Rule = Rule {
    name: "template_var.unsure",
    severity: Warning,
    dialect: Graph,
    title: "a variable that may not be written yet",
    means: "The placeholder names a variable that only nodes write which this one does not depend on, or which stand in a body.",
    matters: "If they have not run by then, the placeholder stays as it is written; in an argument of a tool the node fails.",
    example: r#"name: g
outputs: [write, rate]
nodes:
  - {id: rate, instructions: "Rate the day.", writes: mood}
  - {id: plan, instructions: "Plan the evening."}
  - {id: write, instructions: "Write a {mood} letter.", depends_on: [plan]}"#,
    fix: "Let the node depend on the one that writes the variable.",
};

pub(crate) const NOT_RENDERED: Rule = Rule {
    name: "template_var.not_rendered",
    severity: Warning,
    dialect: Graph,
    title: "a placeholder in a text that is not filled in",
    means: "Questions to people, and conditions of loops that a model judges, are taken as they are written.",
    matters: "Whoever reads the text sees the placeholder itself.",
    example: r#"name: g
inputs: {topic: string}
outputs: [write]
nodes:
  - {id: ask, kind: input, instructions: "What about {topic}?"}
  - {id: write, instructions: "Write about {topic}: {ask}", depends_on: [ask]}"#,
    fix: "Write the text without the placeholder.",
};

pub(crate) const TEMPLATE_BRACES: Rule = Rule {
    name: "template_braces",
    severity: Warning,
    dialect: Graph,
    title: "braces that may be meant as text",
    means: "A brace stands without its partner, or braces stand around something that is no name, such as JSON. They are left as they are.",
    matters: "A placeholder inside of them is not filled in: in `{\"a\": {topic}}` all of it stays as it is written.",
    example: r#"name: g
inputs: {topic: string}
outputs: [write]
nodes:
  - {id: write, instructions: 'Answer as {"title": "…"} about {topic}.'}"#,
    fix: "Double braces that are meant as text: `{{` and `}}`.",
};

pub(crate) const TOOL_ARGS_TEMPLATE: Rule = Rule {
    name: "tool_args_template",
    severity: Error,
    dialect: Graph,
    title: "an argument with a placeholder that nothing fills",
    means: "A placeholder in `tool_args` or `tool_settings` names nothing that is there, or its braces are no placeholder at all.",
    matters: "The node fails before the tool is called: a tool must not be given half an argument.",
    example: r#"name: g
inputs: {topic: string}
outputs: [find]
nodes:
  - {id: find, kind: tool, tools: [tavily_search], tool_args: {query: "{topik}"}}"#,
    fix: "Correct the name, or add the node to `depends_on`. Double braces that are meant as text: `{{` and `}}`.",
};

pub(crate) const OUTPUT_TEMPLATE: Rule = Rule {
    name: "output_template",
    severity: Error,
    dialect: Graph,
    title: "a result with a placeholder that nothing fills",
    means: "A placeholder of an output's `value` names nothing that is there, or a brace stands without its partner.",
    matters: "The output fails, or gives out the placeholder itself.",
    example: r#"name: g
nodes:
  - {id: write, instructions: "Say hello."}
  - {id: out, kind: output, value: "Result: {wirte}", depends_on: [write]}"#,
    fix: "Correct the name, or add the node to `depends_on`. Double braces that are meant as text: `{{` and `}}`.",
};

pub(crate) const SECRET_IN_PROMPT: Rule = Rule {
    name: "secret_in_prompt",
    severity: Error,
    dialect: Graph,
    title: "a secret in a prompt",
    means: "`${NAME}` stands in a text that a model or a person reads. Secrets are put into arguments of tools only.",
    matters: "A secret in a prompt would be seen by the model and whoever runs it. Nothing is put in, so the text would not say what it should either.",
    example: r#"name: g
outputs: [ask]
nodes:
  - {id: ask, instructions: "Log in with ${API_KEY}."}"#,
    fix: "Give it to the tool: in `tool_args`, with the name under `secrets`.",
};

pub(crate) const EXPRESSION_SYNTAX: Rule = Rule {
    name: "expression.syntax",
    severity: Error,
    dialect: Graph,
    title: "an expression that cannot be read",
    means: "`when`, `over` or a case's condition is no expression, or uses something that expressions do not have, such as a method.",
    matters: "It has no value, so nobody can say whether it holds.",
    example: r#"name: g
inputs: {n: integer}
outputs: [write]
nodes:
  - {id: write, instructions: "Say hello.", when: "inputs.n >"}"#,
    fix: "Correct the expression at the place that is shown.",
};

pub(crate) const EXPRESSION_NAME: Rule = Rule {
    name: "expression.unknown_name",
    severity: Error,
    dialect: Graph,
    title: "an expression with a name that there is not",
    means: "Expressions name `inputs.x`, `nodes.x`, `vars.x` and the values of the pass. Nothing ever has a value under this name.",
    matters: "A guard would never hold, a case never match, a map fail.",
    example: r#"name: g
inputs: {n: integer}
outputs: [write]
nodes:
  - {id: write, instructions: "Say hello.", when: "inputs.m > 3"}"#,
    fix: "Correct the name; inputs are named `inputs.x`, values of nodes `nodes.x`.",
};
