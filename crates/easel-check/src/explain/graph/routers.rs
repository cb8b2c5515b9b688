//! Routers.

use crate::code::{Dialect::Graph, Rule};
use crate::diagnostic::Severity::{Error, Warning};

pub(crate) const NO_TARGETS: Rule = Rule {
    name: "router.no_targets",
    severity: Error,
    dialect: Graph,
    title: "a router that leads nowhere",
    means: "It has neither `routes` nor `cases`.",
    matters: "It can choose nothing.",
    example: r#"name: g
nodes:
  - {id: ask, kind: router, instructions: "Is it urgent?"}"#,
    fix: "Write routes: {label: id}, between which a model chooses, or cases: [{when: \"…\", to: id}].",
};

pub(crate) const ROUTES_AND_CASES: Rule = Rule {
    name: "router.routes_and_cases",
    severity: Error,
    dialect: Graph,
    title: "a router with both routes and cases",
    means: "A model chooses among `routes`, conditions among `cases`. A router does one of the two.",
    matters: "It is open which of them decides.",
    example: r#"name: g
nodes:
  - {id: ask, kind: router, routes: {a: now}, cases: [{when: "inputs.n > 3", to: now}]}
  - {id: now, instructions: "Answer at once.", depends_on: [ask]}"#,
    fix: "Leave one of them out, or use two routers.",
};

pub(crate) const BLANK_LABEL: Rule = Rule {
    name: "router.blank_label",
    severity: Error,
    dialect: Graph,
    title: "a blank label",
    means: "A label holds nothing but blanks.",
    matters: "No answer can choose it.",
    example: r#"name: g
nodes:
  - {id: ask, kind: router, instructions: "Is it urgent?", routes: {" ": now}}
  - {id: now, instructions: "Answer at once.", depends_on: [ask]}"#,
    fix: "Write a word that says when it applies.",
};

pub(crate) const UNKNOWN_TARGET: Rule = Rule {
    name: "router.unknown_target",
    severity: Error,
    dialect: Graph,
    title: "a router leads to a node that is not there",
    means: "A route, a case or the default names a node that the router's level does not have. A router in a body leads to nodes of that body.",
    matters: "When it is chosen, nothing follows.",
    example: r#"name: g
nodes:
  - {id: ask, kind: router, instructions: "Is it urgent?", routes: {urgent: nwo}}
  - {id: now, instructions: "Answer at once.", depends_on: [ask]}"#,
    fix: "Write the id of a node of the same level.",
};

pub(crate) const TARGET_NOT_DOWNSTREAM: Rule = Rule {
    name: "router.target_not_downstream",
    severity: Error,
    dialect: Graph,
    title: "a target that does not depend on its router",
    means: "A router holds its targets back until it has chosen. This one does not depend on it.",
    matters: "The target would run whatever the router chooses.",
    example: r#"name: g
nodes:
  - {id: ask, kind: router, instructions: "Is it urgent?", routes: {urgent: now}}
  - {id: now, instructions: "Answer at once."}"#,
    fix: "Add the router to the `depends_on` of the target.",
};

pub(crate) const KEY_ELSEWHERE: Rule = Rule {
    name: "router.key_elsewhere",
    severity: Error,
    dialect: Graph,
    title: "a router's key on another kind of node",
    means: "Only routers read `routes`, `cases` and `default`.",
    matters: "The node would choose nothing, and all that depends on it would run.",
    example: r#"name: g
nodes:
  - {id: ask, instructions: "Is it urgent?", routes: {urgent: now}}
  - {id: now, instructions: "Answer at once.", depends_on: [ask]}"#,
    fix: "Write kind: router, or leave the key out.",
};

pub(crate) const CLASSIFIES_ON_NOTHING: Rule = Rule {
    name: "router.classifies_on_nothing",
    severity: Warning,
    dialect: Graph,
    title: "a router that is told nothing to judge",
    means: "A model chooses among the routes, but the question names no value and the router depends on no node.",
    matters: "The model sees the same question every time and can only guess.",
    example: r#"name: g
outputs: [now]
nodes:
  - {id: ask, kind: router, instructions: "Is it urgent?", routes: {urgent: now}}
  - {id: now, instructions: "Answer at once.", depends_on: [ask]}"#,
    fix: "Name what it judges in the question, such as `{message}`, or let it depend on a node whose value it judges.",
};
