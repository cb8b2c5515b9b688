//! What every node has: parameters, reserved ports, and names that nothing reads (spec/canvas-components §1.2, §1.4).

use std::sync::LazyLock;

use serde_json::json;

use crate::param::{Param, Type};

/// Extra attempts after a failed one.
pub const MAX_RETRIES: &str = "max_retries";
/// Attempts in all.
pub const MAX_ATTEMPTS: &str = "max_attempts";
/// Seconds before the second attempt.
pub const DELAY_AFTER_ERROR: &str = "delay_after_error";
/// What an exhausted node does: `comment` or `goto`.
pub const EXCEPTION_METHOD: &str = "exception_method";
/// The value for `comment`.
pub const EXCEPTION_DEFAULT_VALUE: &str = "exception_default_value";
/// The nodes for `goto`.
pub const EXCEPTION_GOTO: &str = "exception_goto";
/// Seconds one attempt may take.
pub const TIMEOUT_S: &str = "timeout_s";
/// Whether the target honours idempotency keys.
pub const IDEMPOTENT: &str = "idempotent";

/// Names the editor writes into parameters that nothing reads.
pub const IGNORED: &[&str] = &[
    "parameter",
    "llm_filter",
    "tenant_llm_id",
    "llm_enabled_tools",
    "showStructuredOutput",
    "output_structure",
    "exception_comment",
    "enablePrologue",
    "kb_vars",
    "logical_operator",
];

/// The port beside those of a form's fields that has the files as they were uploaded, by field: the fields themselves have the
/// text that was made of them.
pub const FILES_PORT: &str = "_files";

/// Ports that belong to the engine. No component declares one; references may read them.
pub const RESERVED_PORTS: &[&str] = &[
    "_ERROR",
    "_created_time",
    "_elapsed_time",
    "_next",
    "next",
    "_references",
    "_ARTIFACTS",
    "_ATTACHMENT_CONTENT",
    FILES_PORT,
];

/// True if the port belongs to the engine.
pub fn is_reserved_port(name: &str) -> bool {
    RESERVED_PORTS.contains(&name)
}

/// The parameters every node has. A component that has one of the same name means its own.
pub fn params() -> &'static [Param] {
    static PARAMS: LazyLock<Vec<Param>> = LazyLock::new(build);
    &PARAMS
}

fn build() -> Vec<Param> {
    vec![
        Param::new(
            "description",
            Type::Text,
            "A note for people; on a tool it is what the model is told the tool is for.",
        ),
        Param::new(
            "inputs",
            Type::map(Type::Any),
            "Declared inputs, kept for the editor.",
        ),
        Param::new(
            "outputs",
            Type::map(Type::Any),
            "Declared ports with their types. They are hints: a component writes its ports either way.",
        ),
        Param::new(
            "message_history_window_size",
            Type::at_least(0),
            "How many turns of the conversation a model is shown; a turn is a question and its answer.",
        )
        .default(json!(13)),
        Param::new(
            MAX_RETRIES,
            Type::at_least(0),
            "Further attempts after a failed one.",
        )
        .default(json!(0)),
        Param::new(
            MAX_ATTEMPTS,
            Type::at_least(1),
            "Attempts in all. Takes the place of `max_retries`.",
        ),
        Param::new(
            DELAY_AFTER_ERROR,
            Type::not_negative(),
            "Seconds before the second attempt; doubled for each further one, 60 at most.",
        )
        .default(json!(2.0)),
        Param::new(
            EXCEPTION_METHOD,
            Type::choice(&["", "comment", "goto"]),
            "What the node does when its last attempt has failed: `comment` writes the default value to its primary \
             port, `goto` goes on at other nodes; blank fails.",
        ),
        Param::new(
            EXCEPTION_DEFAULT_VALUE,
            Type::Any,
            "The value that takes the result's place with `comment`.",
        ),
        Param::new(
            EXCEPTION_GOTO,
            Type::NodeIds,
            "The nodes at which the run goes on with `goto`.",
        ),
        Param::new(
            TIMEOUT_S,
            Type::not_negative(),
            "Seconds one attempt may take before it is cancelled and counts as failed, in place of the component's \
             own limit; 0 sets none.",
        ),
        Param::new(
            IDEMPOTENT,
            Type::Boolean,
            "Says that the target honours idempotency keys, so that a write may be repeated after a crash.",
        )
        .default(json!(false)),
        Param::new(
            "debug_inputs",
            Type::map(Type::Any),
            "Inputs for trying out the node alone.",
        ),
        Param::new(
            "custom_header",
            Type::map(Type::Any),
            "Headers of the request that started the run, passed on to MCP servers.",
        )
        .secrets(),
    ]
}
