//! Keys and values of a graph.

use crate::code::{Dialect::Graph, Rule};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const TYPE: Rule = Rule {
    name: "type",
    severity: Error,
    dialect: Graph,
    title: "a value of the wrong type",
    means: "A key holds a list where a text belongs, a text where a mapping belongs, or the like. Nothing is turned into another type but numbers and booleans that stand in quotes.",
    matters: "What the value was meant to say is not known, so the graph is not run.",
    example: r#"name: g
nodes:
  - {id: write, instructions: {topic}}"#,
    fix: "Write a value of that type; `easel explain` and the page of graph keys say which.",
};

pub(crate) const MISSING: Rule = Rule {
    name: "missing",
    severity: Error,
    dialect: Graph,
    title: "a key that has to be there is not",
    means: "A graph needs a `name`, a node an `id`, a case a `to`.",
    matters: "Nothing can refer to what has no name, and a case without a target leads nowhere.",
    example: r#"name: g
nodes:
  - {instructions: "Say hello."}"#,
    fix: "Write the key and a value that is not blank.",
};

pub(crate) const CHOICE: Rule = Rule {
    name: "choice",
    severity: Error,
    dialect: Graph,
    title: "a word that its key does not take",
    means: "The key takes one of a few words, and this is none of them.",
    matters: "Whatever the word was to switch on would not happen.",
    example: r#"name: g
nodes:
  - {id: write, instructions: "Say hello.", mode: strukturiert}"#,
    fix: "Write one of the words that are listed.",
};

pub(crate) const KEY_NOT_TEXT: Rule = Rule {
    name: "key_not_text",
    severity: Error,
    dialect: Graph,
    title: "a name that YAML reads as something else",
    means: "YAML reads the bare words yes, no, on and off as booleans and digits as numbers, in the place of names too.",
    matters: "A label such as `yes` would become `true` and never be what a model answers.",
    example: r#"name: g
nodes:
  - {id: ask, kind: router, instructions: "Is it urgent?", routes: {yes: now, no: later}}
  - {id: now, instructions: "Answer at once.", depends_on: [ask]}
  - {id: later, instructions: "Answer tomorrow.", depends_on: [ask]}"#,
    fix: "Put the name in quotes.",
};

pub(crate) const UNKNOWN_KIND: Rule = Rule {
    name: "unknown_kind",
    severity: Error,
    dialect: Graph,
    title: "no such kind of node",
    means: "`kind` is none of the eleven kinds that there are.",
    matters: "It is not known what the node is to do.",
    example: r#"name: g
nodes:
  - {id: find, kind: raect, tools: [tavily_search], instructions: "Find it."}"#,
    fix: "Write one of base, react, tool, function, python, router, loop, map, subgraph, input and output.",
};

pub(crate) const NO_NODES: Rule = Rule {
    name: "no_nodes",
    severity: Error,
    dialect: Graph,
    title: "a graph without nodes",
    means: "`nodes` is missing or an empty list.",
    matters: "There is nothing to run.",
    example: "name: g\nnodes: []",
    fix: "Write nodes: and a list with at least one node.",
};

pub(crate) const DUPLICATE_INPUT: Rule = Rule {
    name: "duplicate_input",
    severity: Error,
    dialect: Graph,
    title: "an input is declared twice",
    means: "Two declared inputs have one name.",
    matters: "Their types may differ, and nobody can tell which counts.",
    example: r#"name: g
inputs:
  - topic: string
  - topic: integer
nodes:
  - {id: write, instructions: "Write about {topic}."}"#,
    fix: "Leave one of them out.",
};

pub(crate) const STRUCTURE: Rule = Rule {
    name: "structure",
    severity: Error,
    dialect: Graph,
    title: "a key that the kind needs is missing",
    means: "A container needs a `body`, a loop also `max_iterations`, a map also `over`. That holds in bodies too.",
    matters: "The node has nothing to run, or does not know how often or for what.",
    example: r#"name: g
nodes:
  - id: each
    kind: map
    body: [{id: sum, instructions: "Sum up {item}."}]"#,
    fix: "Write the key that is named.",
};

pub(crate) const UNKNOWN_KEY: Rule = Rule {
    name: "unknown_key",
    severity: Warning,
    dialect: Graph,
    title: "a key that nothing reads",
    means: "No graph has a key of that name at this place; mostly it is misspelt.",
    matters: "The key has no effect, and what it should do does not happen.",
    example: r#"name: g
nodes:
  - {id: write, instruction: "Say hello.", goal: "A greeting."}"#,
    fix: "Correct its name or leave it out.",
};

pub(crate) const INERT_KEY: Rule = Rule {
    name: "inert_key",
    severity: Warning,
    dialect: Graph,
    title: "a key that this kind does not read",
    means: "The key exists, but not for nodes of this kind, or nothing reads it at all.",
    matters: "The key has no effect, and what it should do does not happen.",
    example: r#"name: g
nodes:
  - {id: write, instructions: "Say hello.", max_iterations: 3}"#,
    fix: "Leave it out, or use a kind of node that reads it.",
};

pub(crate) const DUPLICATE_KEY: Rule = Rule {
    name: "duplicate_key",
    severity: Warning,
    dialect: Graph,
    title: "a mapping has a key twice",
    means: "Of two members with one name the last one counts.",
    matters: "What the first one says is lost.",
    example: r#"name: g
nodes:
  - id: write
    instructions: "Say hello."
    instructions: "Say goodbye.""#,
    fix: "Leave one of them out.",
};

pub(crate) const OVERRIDE: Rule = Rule {
    name: "package.override",
    severity: Warning,
    dialect: Graph,
    title: "an override that changes nothing",
    means: "A file under `agents/` of a package is meant to change a node and names none of the top level, or cannot be read.",
    matters: "The node runs as the graph has it.",
    example: "# agents/wirter.yaml, and the graph has a node `writer`\ninstructions: \"Write shortly.\"",
    fix: "Name the file after the node, or write the node's `id` into it.",
};
