//! Tools of graphs: their names, arguments, settings and secrets.

use crate::code::{Dialect::Graph, Rule};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const TYPO: Rule = Rule {
    name: "tool_typo",
    severity: Error,
    dialect: Graph,
    title: "a tool's name is misspelt",
    means: "There is no tool of that name, and one that is spelled like it.",
    matters: "The step fails.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: react, tools: [tavily_serach], instructions: "Find the answer."}"#,
    fix: "Write the name of the tool that is meant.",
};

pub(crate) const GAP: Rule = Rule {
    name: "tool_gap",
    severity: Error,
    dialect: Graph,
    title: "there is no such tool",
    means: "No tool has that name, nor one like it.",
    matters: "The step fails.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: react, tools: [quantum_flux], instructions: "Find the answer."}"#,
    fix: "Name one of the tools that `easel components` lists, or register the tool with the program that runs the graph.",
};

pub(crate) const TOOL_ARGS: Rule = Rule {
    name: "tool_args",
    severity: Error,
    dialect: Graph,
    title: "a tool is not given what it needs",
    means: "A tool step does not set an argument that its tool requires, and no input, dependency or value of the pass has its name.",
    matters: "The tool refuses the call.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: tool, tools: [tavily_search]}"#,
    fix: "Set it under `tool_args`. A credential is set as `${NAME}`, with the name under `secrets`.",
};

pub(crate) const ONLY_FIRST: Rule = Rule {
    name: "tool.only_first",
    severity: Warning,
    dialect: Graph,
    title: "a tool step with several tools",
    means: "A tool step calls the first of its tools.",
    matters: "The others are never called.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: tool, tools: [tavily_search, wikipedia_search], tool_args: {query: tea}}"#,
    fix: "Use a step for each tool, or a react step that chooses among them.",
};

pub(crate) const SETTING_MISSING: Rule = Rule {
    name: "tool.setting_missing",
    severity: Warning,
    dialect: Graph,
    title: "a tool lacks a setting",
    means: "The tool needs a setting that neither `tool_settings` nor a default gives it.",
    matters: "The step fails when it is reached, or the service refuses the call.",
    example: r#"name: g
outputs: [count]
nodes:
  - {id: count, kind: tool, tools: [execute_sql], tool_args: {sql: "select 1"}}"#,
    fix: "Set it under `tool_settings`, below the tool's name.",
};

pub(crate) const UNKNOWN_SETTING: Rule = Rule {
    name: "tool.unknown_setting",
    severity: Warning,
    dialect: Graph,
    title: "a setting that the tool does not have",
    means: "`tool_settings` sets something that the tool does not know.",
    matters: "It has no effect.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: tool, tools: [tavily_search], tool_args: {query: tea}, tool_settings: {tavily_search: {colour: blue}}}"#,
    fix: "Correct its name or leave it out.",
};

pub(crate) const SETTING_FOR_ABSENT_TOOL: Rule = Rule {
    name: "tool.setting_for_absent_tool",
    severity: Warning,
    dialect: Graph,
    title: "settings of a tool that the step does not have",
    means: "`tool_settings` names a tool that is not among the step's `tools`.",
    matters: "The settings have no effect.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: tool, tools: [tavily_search], tool_args: {query: tea}, tool_settings: {wikipedia_search: {top_n: 3}}}"#,
    fix: "Add the tool to `tools`, or leave the settings out.",
};

pub(crate) const UNUSED_ARGUMENT: Rule = Rule {
    name: "binding.unused_argument",
    severity: Warning,
    dialect: Graph,
    title: "an argument that no tool takes",
    means: "`tool_args` sets an argument that none of the step's tools has.",
    matters: "It is dropped, and what it should say is not told to any tool.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: tool, tools: [tavily_search], tool_args: {query: tea, colour: blue}}"#,
    fix: "Correct its name or leave it out.",
};

pub(crate) const SOURCE_HAS_NO_SHAPE: Rule = Rule {
    name: "binding.source_has_no_shape",
    severity: Error,
    dialect: Graph,
    title: "a field of an answer that has none",
    means: "An argument takes a field of what a model answers, but that step has no `output_schema`, so its answer is text.",
    matters: "Whether the text holds such a field is left to chance, and the tool would be called only if it does.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: plan, instructions: "What should be searched?"}
  - {id: find, kind: tool, tools: [tavily_search], depends_on: [plan], tool_args: {query: "{plan.query}"}}"#,
    fix: "Give the step an `output_schema` with that property, or take its whole answer.",
};

pub(crate) const UNKNOWN_FIELD: Rule = Rule {
    name: "binding.unknown_field",
    severity: Error,
    dialect: Graph,
    title: "a field that an answer does not have",
    means: "An argument takes a field that the `output_schema` of the step it names does not list. It is a warning if the tool can do without the argument.",
    matters: "The field is never there, so the node fails.",
    example: r#"name: g
outputs: [find]
nodes:
  - id: plan
    instructions: "What should be searched?"
    output_schema: {type: object, properties: {query: {type: string}}}
  - {id: find, kind: tool, tools: [tavily_search], depends_on: [plan], tool_args: {query: "{plan.qurey}"}}"#,
    fix: "Name a property of that schema, or add this one to it.",
};

pub(crate) const SECRET_UNUSABLE: Rule = Rule {
    name: "secret_unusable",
    severity: Warning,
    dialect: Graph,
    title: "secrets on a kind that takes none",
    means: "Only tool, base and react steps have arguments in which secrets may stand.",
    matters: "The declaration has no effect.",
    example: r#"name: g
outputs: [each]
inputs: {items: array}
nodes:
  - {id: each, kind: map, over: inputs.items, secrets: [API_KEY], body: [{id: sum, instructions: "Sum up {item}."}]}"#,
    fix: "Declare the secret on the step whose tool needs it.",
};

pub(crate) const SECRET_UNBOUND: Rule = Rule {
    name: "secret_unbound",
    severity: Warning,
    dialect: Graph,
    title: "a secret that no argument takes",
    means: "The step declares a secret, and neither its `tool_args` nor its `tool_settings` name it.",
    matters: "The tool is called without it. Secrets are never handed to tools by themselves.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: react, tools: [tavily_search], secrets: [API_KEY], instructions: "Find the answer."}"#,
    fix: "Write it where it belongs, as `${NAME}` in `tool_args` or `tool_settings`, or leave the declaration out.",
};
