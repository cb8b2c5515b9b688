//! Steps that ask a model.

use crate::code::{Dialect::Graph, Rule};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const SCHEMA: Rule = Rule {
    name: "schema",
    severity: Error,
    dialect: Graph,
    title: "the shape of an answer cannot be used",
    means: "`output_schema` names a class that is not there or cannot be read as a shape, or is no JSON Schema of an object with properties.",
    matters: "No answer could be held to it.",
    example: r#"name: g
outputs: [rate]
nodes:
  - {id: rate, instructions: "Rate the day.", output_schema: {type: object, required: [score]}}"#,
    fix: "Write a JSON Schema such as {type: object, properties: {score: {type: integer}}}.",
};

pub(crate) const CAPABILITY: Rule = Rule {
    name: "capability",
    severity: Error,
    dialect: Graph,
    title: "a react step without tools",
    means: "A react step lets a model use tools round after round, and this one has none.",
    matters: "The step fails.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, kind: react, instructions: "Find the answer."}"#,
    fix: "Name its tools under `tools`, or make it a base step.",
};

pub(crate) const CAPABILITY_GAP: Rule = Rule {
    name: "capability_gap",
    severity: Warning,
    dialect: Graph,
    title: "a step is asked for what only a tool can do",
    means: "The text of a base step asks for something outside of the model: to send mail, read a file, search the web, query a database. The step has no tool.",
    matters: "A model without tools answers all the same, and makes up what it was to fetch or do.",
    example: r#"name: g
inputs: {topic: string}
outputs: [find]
nodes:
  - {id: find, instructions: "Search the web for {topic}."}"#,
    fix: "Name a tool for it under `tools`, or let the step depend on a node that does it.",
};

pub(crate) const NO_INSTRUCTIONS: Rule = Rule {
    name: "agent.no_instructions",
    severity: Warning,
    dialect: Graph,
    title: "a step without instructions",
    means: "A base or react step says neither in `instructions` nor in `purpose` or `goal` what it is for.",
    matters: "The model is told the step's name and has to guess.",
    example: r#"name: g
outputs: [write]
nodes:
  - {id: write}"#,
    fix: "Write instructions: and what the model is to do.",
};

pub(crate) const NO_MODEL: Rule = Rule {
    name: "agent.no_model",
    severity: Warning,
    dialect: Graph,
    title: "no model is named and none is the default",
    means: "The step names neither a `model` nor a `provider`, and no default model is set.",
    matters: "The step fails when it is reached.",
    example: r#"name: g
outputs: [write]
nodes:
  - {id: write, instructions: "Say hello."}"#,
    fix: "Set `default` under `[models]` in easel.toml, pass `--model`, or name a model in the step.",
};

pub(crate) const PROVIDER: Rule = Rule {
    name: "provider",
    severity: Warning,
    dialect: Graph,
    title: "a provider that is not configured",
    means: "`provider` names a profile that nothing configured answers to where the check ran.",
    matters: "The step fails when it is reached.",
    example: r#"name: g
outputs: [write]
nodes:
  - {id: write, provider: cheep, instructions: "Say hello."}"#,
    fix: "Correct its name, or configure it under `[models]` in easel.toml.",
};

pub(crate) const STRUCTURED_WITHOUT_SCHEMA: Rule = Rule {
    name: "agent.structured_without_schema",
    severity: Error,
    dialect: Graph,
    title: "structured, but of no shape",
    means: "`mode: structured` asks for JSON of the `output_schema`, and the step has none.",
    matters: "The answer would be plain text.",
    example: r#"name: g
outputs: [rate]
nodes:
  - {id: rate, mode: structured, instructions: "Rate the day."}"#,
    fix: "Write an `output_schema`, or leave `mode` out.",
};

pub(crate) const SHAPE_DISABLES_TOOLS: Rule = Rule {
    name: "agent.shape_disables_tools",
    severity: Error,
    dialect: Graph,
    title: "a shape and tools in one base step",
    means: "A base step with an `output_schema` asks the model once for that shape and offers it no tools.",
    matters: "The tools would never be used, and the answer be made up.",
    example: r#"name: g
outputs: [find]
nodes:
  - id: find
    instructions: "Find the height of the mountain."
    tools: [tavily_search]
    output_schema: {type: object, properties: {metres: {type: integer}}}"#,
    fix: "Make it a react step, or put the tools into a step before it.",
};

pub(crate) const TOOLS_EXCEED_ROUNDS: Rule = Rule {
    name: "agent.tools_exceed_rounds",
    severity: Warning,
    dialect: Graph,
    title: "several tools, and one round to use them",
    means: "A base step lets its model use tools for one round. It has several.",
    matters: "A model that needs the answer of one tool to use another cannot go on, and the step fails.",
    example: r#"name: g
outputs: [find]
nodes:
  - {id: find, instructions: "Find the mountain and its height.", tools: [tavily_search, wikipedia_search]}"#,
    fix: "Make it a react step, or use a step for each tool.",
};
