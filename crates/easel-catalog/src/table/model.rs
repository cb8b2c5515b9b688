//! Language models (spec/canvas-components §3).

use easel_core::draft::EffectClass;
use serde_json::json;

use crate::component::{Component, Family};
use crate::param::{Param, Split, Type};
use crate::tool::{Argument, Tool};

pub(super) fn all() -> Vec<Component> {
    vec![llm(), agent()]
}

/// Which model is asked and how it samples: what LLM, Agent, Categorize and others share.
pub(super) fn sampling() -> Vec<Param> {
    let flag = |name: &str, of: &str| {
        Param::new(
            name,
            Type::Boolean,
            &format!("Whether `{of}` is sent. Without it the provider decides."),
        )
        .default(json!(false))
    };
    vec![
        Param::new(
            "llm_id",
            Type::Model,
            "The model that is asked; blank takes the default one.",
        )
        .default(json!("")),
        Param::new(
            "temperature",
            Type::number(0.0, 2.0),
            "How freely it chooses words.",
        )
        .default(json!(0)),
        flag("temperatureEnabled", "temperature"),
        Param::new(
            "top_p",
            Type::number(0.0, 1.0),
            "The share of likely words it chooses from.",
        )
        .default(json!(0)),
        flag("topPEnabled", "top_p"),
        Param::new(
            "presence_penalty",
            Type::number(-2.0, 2.0),
            "How much a word that was used is avoided.",
        )
        .default(json!(0)),
        flag("presencePenaltyEnabled", "presence_penalty"),
        Param::new(
            "frequency_penalty",
            Type::number(-2.0, 2.0),
            "How much a word is avoided for each time it was used.",
        )
        .default(json!(0)),
        flag("frequencyPenaltyEnabled", "frequency_penalty"),
        Param::new(
            "max_tokens",
            Type::at_least(0),
            "The longest answer, in tokens; 0 sets no limit.",
        )
        .default(json!(0)),
        flag("maxTokensEnabled", "max_tokens"),
        Param::new(
            "thinking",
            Type::choice(&["default", "enabled", "disabled"]),
            "Whether a model that can think before it answers does so.",
        )
        .default(json!("default")),
    ]
}

/// Messages to a model; a text is one message of the user.
pub(super) fn messages() -> Type {
    let message = Type::object_or(
        "content",
        vec![
            Param::new(
                "role",
                Type::choice(&["user", "assistant", "system"]),
                "Who says it.",
            )
            .default(json!("user")),
            Param::new("content", Type::template(), "What is said.").default(json!("")),
        ],
    );
    Type::list_split(message, Split::Whole)
}

/// What LLM and Agent are told.
fn prompting() -> Vec<Param> {
    vec![
        Param::new("sys_prompt", Type::template(), "What the model is told about its part.")
            .default(json!(""))
            .alias("prompt"),
        Param::new(
            "prompts",
            messages(),
            "The messages it answers, after the conversation so far. A text is one message of the user.",
        )
        .default(json!([{"role": "user", "content": "{sys.query}"}]))
        .required(),
        Param::new("cite", Type::Boolean, "Whether answers cite what was retrieved.").default(json!(true)),
        Param::new(
            "visual_files_var",
            Type::Reference,
            "Images the model is shown besides those in its messages.",
        ),
    ]
}

fn llm() -> Component {
    asks_model(
        Component::new(
            "LLM",
            Family::Model,
            "LLM",
            "Asks a language model and gives its answer.",
        )
        .alias("Generate"),
    )
    .seconds(600.0)
}

/// Parameters and ports that LLM and Agent share.
fn asks_model(component: Component) -> Component {
    component
        .effect(EffectClass::Reads)
        .streams()
        .params(prompting())
        .params(sampling())
        .param(Param::new(
            "outputs",
            Type::map(Type::Any),
            "Declared ports. A JSON Schema under `structured` makes the model answer with an object of that shape.",
        ))
        .port("content", "string", "The answer.")
        .port("structured", "object", "The answer as an object, if `outputs` asks for one.")
        .primary("content")
}

fn agent() -> Component {
    let tool = Type::open_object(vec![
        Param::new(
            "component_name",
            Type::Text,
            "The component that is the tool.",
        )
        .required(),
        Param::new("name", Type::Text, "The name shown."),
        Param::new("id", Type::Text, "The id in the drawing."),
        Param::new("params", Type::Params, "The tool's parameters.").default(json!({})),
    ]);
    let server = Type::open_object(vec![
        Param::new("mcp_id", Type::Text, "The server's id.").required(),
        Param::new(
            "tools",
            Type::map(Type::Any),
            "The tools of the server it may use, by name, as the server described them.",
        )
        .default(json!({})),
    ]);
    asks_model(Component::new(
        "Agent",
        Family::Model,
        "Agent",
        "Asks a language model that may call tools and other agents before it answers.",
    ))
    .seconds(1200.0)
    .param(Param::new("tools", Type::list(tool), "The tools it may call.").default(json!([])))
    .param(
        Param::new(
            "mcp",
            Type::list(server),
            "The MCP servers whose tools it may call.",
        )
        .default(json!([])),
    )
    .param(
        Param::new(
            "max_rounds",
            Type::at_least(0),
            "How many times it may call tools before it has to answer.",
        )
        .default(json!(5)),
    )
    .param(Param::new(
        "user_prompt",
        Type::Text,
        "What an agent above it is told to pass as the order.",
    ))
    .param(
        Param::new(
            "function_name",
            Type::Text,
            "Its name as a tool of another agent.",
        )
        .default(json!("agent")),
    )
    .tool(
        Tool::new(
            "agent",
            "Hands a task to another agent and gives its answer.",
        )
        .argument(
            Argument::new(
                "user_prompt",
                Type::Text,
                "The task, complete and in plain words.",
            )
            .required()
            .from_model_only(),
        )
        .argument(
            Argument::new(
                "reasoning",
                Type::Text,
                "Why this agent is asked and what is expected of it.",
            )
            .required()
            .from_model_only(),
        )
        .argument(
            Argument::new(
                "context",
                Type::Text,
                "What it has to know and cannot find out by itself.",
            )
            .required()
            .from_model_only(),
        ),
    )
}
