//! The tables.

use super::{Field, Holds};
use crate::kind::Kind;

const ALL: &[Kind] = &Kind::ALL;
const MODEL: &[Kind] = &[Kind::Base, Kind::React];
const ASKING: &[Kind] = &[Kind::Base, Kind::React, Kind::Router];
const SAMPLING: &[Kind] = &[Kind::Base, Kind::React, Kind::Router, Kind::Loop];
const WITH_TOOLS: &[Kind] = &[Kind::Base, Kind::React, Kind::Tool];
const CODE: &[Kind] = &[Kind::Function, Kind::Python];
const CONTAINER: &[Kind] = &[Kind::Loop, Kind::Map, Kind::Subgraph];
const PROMPTED: &[Kind] = &[Kind::Base, Kind::React, Kind::Router, Kind::Input];

/// A key that nothing needs, without a default.
const fn key(
    name: &'static str,
    holds: Holds,
    read_by: &'static [Kind],
    doc: &'static str,
) -> Field {
    Field {
        name,
        alias: None,
        holds,
        read_by,
        required_by: &[],
        default: None,
        doc,
    }
}

impl Field {
    const fn default(self, json: &'static str) -> Field {
        Field {
            default: Some(json),
            ..self
        }
    }

    const fn required_by(self, kinds: &'static [Kind]) -> Field {
        Field {
            required_by: kinds,
            ..self
        }
    }

    const fn alias(self, name: &'static str) -> Field {
        Field {
            alias: Some(name),
            ..self
        }
    }
}

/// The keys at the top of a graph.
pub const GRAPH: &[Field] = &[
    key("name", Holds::Text, ALL, "The name of the graph.").required_by(ALL),
    key("description", Holds::Text, ALL, "What the graph is for."),
    key("inputs", Holds::Inputs, ALL, "What a run is given: a mapping of names to types, or a list. With none declared, everything given is taken as it is."),
    key("nodes", Holds::Nodes, ALL, "The steps. Their order does not matter to dependencies; where nothing else decides, the order of the file does.").required_by(ALL),
    key("outputs", Holds::Ids, ALL, "The nodes whose values the run gives out if no output node ran.").default("[]"),
    key("functions", Holds::Text, ALL, "The Python sidecar: a file beside the graph whose functions an `until` or a `callable` may name."),
    key("fail_fast", Holds::Flag, ALL, "Whether the first failure that nothing handles ends the run at once. Bodies do not inherit it.").default("false"),
    key("strict_inputs", Holds::Flag, ALL, "Whether a run is refused that is given an input which is not declared.").default("false"),
    key("compat", Holds::Choice(&["neurosurfer-2.0"]), ALL, "Keeps accidents of the engine named here that the graph relies on."),
];

/// The keys of a declared input.
pub const INPUT: &[Field] = &[
    key("name", Holds::Text, ALL, "The name under which steps read it.").required_by(ALL),
    key("type", Holds::Text, ALL, "What its value is cast to: string, integer, float, boolean, object, array, file or image. Another word casts to nothing.").default("\"string\""),
    key("required", Holds::Flag, ALL, "Whether a run is refused without it.").default("true"),
    key("description", Holds::Text, ALL, "What it is, for whoever fills it in."),
    key("accept", Holds::Texts, ALL, "Which files are offered when somebody picks one."),
    key("max_bytes", Holds::Count(0), ALL, "How many bytes a text may have."),
    key("enum", Holds::Values, ALL, "The values that are allowed."),
];

/// The keys of a node.
pub const NODE: &[Field] = &[
    key("id", Holds::Text, ALL, "The name under which other steps know it; unique on its level.").required_by(ALL),
    key("kind", Holds::Choice(KINDS), ALL, "What the step does.").default("\"base\""),
    key("name", Holds::Text, ALL, "Its name, for people."),
    key("description", Holds::Text, ALL, "What it is for. Stands in for a missing `purpose`."),
    key("instructions", Holds::Template, PROMPTED, "What the model is asked, or the person. Wins over `purpose`, `goal` and `expected_result`. A router with conditions asks nobody."),
    key("purpose", Holds::Template, PROMPTED, "Old form of `instructions`: what the step is for."),
    key("goal", Holds::Template, PROMPTED, "Old form of `instructions`: what it should reach."),
    key("expected_result", Holds::Template, MODEL, "Old form of `instructions`: what should come out."),
    key("disabled", Holds::Flag, ALL, "Whether it never runs, as if its branch were not taken.").default("false"),
    key("depends_on", Holds::Ids, ALL, "The steps whose values it needs. It runs after them, and a prompt shows their values in this order.").default("[]"),
    key("when", Holds::Expression, ALL, "A guard: if it does not hold, the step and what hangs on it alone are left out."),
    key("writes", Holds::Text, ALL, "The variable that its value is written to. Of an input step also the key under which its value is given."),
    key("on_error", Holds::Id, ALL, "The step that runs if this one fails for good. It has to depend on this one."),
    key("tools", Holds::Names, WITH_TOOLS, "The tools it may use. A tool step calls the first.").default("[]"),
    key("tool_args", Holds::Arguments, WITH_TOOLS, "Arguments of the tools. A model is not asked for them and cannot change them. `${NAME}` is a secret."),
    key("tool_settings", Holds::Settings, WITH_TOOLS, "Settings of tools that have some, such as the folder a tool is kept to. `${NAME}` is a secret."),
    key("secrets", Holds::Names, WITH_TOOLS, "The secrets that `tool_args` and `tool_settings` may name.").default("[]"),
    key("mode", Holds::Choice(&["auto", "text", "structured", "json", "tool"]), MODEL, "`structured` asks for JSON of the `output_schema`; the other words change nothing.").default("\"auto\""),
    key("output_schema", Holds::Schema, MODEL, "The shape of the answer: a JSON Schema of an object, or the path of a class in the package. Without tools only, for a base step."),
    key("provider", Holds::Text, ASKING, "The profile of the model provider."),
    key("model", Holds::Text, ASKING, "The model, instead of the profile's."),
    key("policy", Holds::Policy, ALL, "Retries, limits and sampling."),
    key("routes", Holds::Routes, &[Kind::Router], "The labels between which a model chooses, each with the step that it leads to. Not together with `cases`."),
    key("cases", Holds::Cases, &[Kind::Router], "Conditions tried in order; the first that holds decides. One without `when` always holds."),
    key("default", Holds::Id, &[Kind::Router], "The step to go to if nothing matches."),
    key("repair", Holds::Flag, &[Kind::Router, Kind::Loop], "Whether a model whose answer can't be read is asked once more.").default("true"),
    key("body", Holds::Nodes, CONTAINER, "Steps of its own. They depend on one another only.").required_by(CONTAINER),
    key("body_outputs", Holds::Ids, CONTAINER, "The steps of the body whose values it gives out; one: the bare value, several: a mapping. Without it: the steps that nothing in the body depends on.").default("[]"),
    key("max_iterations", Holds::Count(1), &[Kind::Loop], "How often the body runs at most. Reaching it is no failure.").required_by(&[Kind::Loop]),
    key("until", Holds::Text, &[Kind::Loop], "When to stop: the name of a function of the sidecar, or a sentence that a model judges. Without it the loop runs to its ceiling."),
    key("accumulate", Holds::NameOrTrue, &[Kind::Loop], "The variable in which the values of all passes are collected; `true`: `accumulated`. The loop's value is then that list."),
    key("over", Holds::Expression, &[Kind::Map], "The list whose items the body runs for.").required_by(&[Kind::Map]),
    key("item_var", Holds::Text, &[Kind::Loop, Kind::Map], "The name under which the body knows its item; in a loop, the value of the pass before.").alias("as").default("\"item\""),
    key("concurrency", Holds::Count(0), &[Kind::Map], "How many items run at once.").default("1"),
    key("options", Holds::Names, &[Kind::Input], "Answers that are offered to the person. Others are taken as well.").default("[]"),
    key("input_mode", Holds::Choice(&["text", "dict"]), &[Kind::Input], "`text` takes one value, `dict` all declared inputs as a mapping.").default("\"text\""),
    key("value", Holds::Template, &[Kind::Output], "What is given out. Without it: the value of the step it depends on, or a mapping of several."),
    key("callable", Holds::Text, CODE, "The function: `module:name` or `module.name` in the package, or a function of the sidecar.").required_by(CODE),
    key("export", Holds::Flag, MODEL, "Whether the result is also written to a file.").default("false"),
    key("export_path", Holds::Text, MODEL, "The file, or the folder, that it is written to."),
    key("rag", Holds::Flag, &[], "Promised once and read by nothing."),
];

/// The keys of a node's `policy`.
pub const POLICY: &[Field] = &[
    key(
        "retries",
        Holds::Count(0),
        ALL,
        "Further attempts after one that failed.",
    )
    .default("0"),
    key(
        "delay_s",
        Holds::Number(0.0),
        ALL,
        "Seconds before the first further attempt, doubled for each one after it, at most 60.",
    )
    .default("0"),
    key(
        "timeout_s",
        Holds::Number(0.0),
        ALL,
        "Seconds after which an attempt is cancelled and counts as failed; 0 sets no limit.",
    ),
    key(
        "temperature",
        Holds::Number(0.0),
        SAMPLING,
        "The sampling temperature of the model.",
    ),
    key(
        "max_new_tokens",
        Holds::Count(1),
        SAMPLING,
        "How many tokens an answer may have.",
    ),
];

/// Keys of a `policy` that old files have and nothing ever read.
pub const INERT_POLICY: &[&str] = &[
    "allow_input_pruning",
    "repair_with_llm",
    "strict_tool_call",
    "strict_json",
    "max_json_repair_attempts",
    "skip_special_tokens",
    "return_stream_by_default",
    "log_internal_thoughts",
];

/// The keys of a router's case.
pub const CASE: &[Field] = &[
    key(
        "when",
        Holds::Expression,
        ALL,
        "What has to hold. Without it the case always matches.",
    ),
    key("to", Holds::Id, ALL, "The step it leads to.").required_by(ALL),
    key(
        "label",
        Holds::Text,
        ALL,
        "Its label: what a model chooses by if no case has a condition.",
    ),
];

const KINDS: &[&str] = &[
    "base", "react", "tool", "function", "python", "router", "loop", "map", "subgraph", "input",
    "output",
];
