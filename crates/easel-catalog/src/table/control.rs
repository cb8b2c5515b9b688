//! Order, branches, loops and the conversation (spec/canvas-components §2).

use serde_json::json;

use crate::component::{Component, Control, Family};
use crate::param::{Param, Split, Type};

use super::{model, webhook};

pub(super) fn all() -> Vec<Component> {
    vec![
        begin(),
        user_fill_up(),
        message(),
        categorize(),
        switch(),
        iteration(),
        iteration_item(),
        r#loop(),
        loop_item(),
        exit_loop(),
    ]
}

fn begin() -> Component {
    Component::new(
        "Begin",
        Family::Control,
        "Begin",
        "The entry of a canvas: it greets, and takes what the run was started with.",
    )
    .param(
        Param::new(
            "mode",
            Type::choice(&["conversational", "task", "Webhook"]),
            "How runs start: by chat messages, by a form, or by an HTTP request.",
        )
        .default(json!("conversational")),
    )
    .param(
        Param::new(
            "prologue",
            Type::Text,
            "The greeting of a new conversation.",
        )
        .default(json!(
            "Hi! I'm your smart assistant. What can I do for you?"
        )),
    )
    .params(form_params())
    .params(webhook::params())
    .ignored(&["enable_tips", "tips"])
    .port(
        "query",
        "object",
        "The query of a webhook's request, as its schema declares it.",
    )
    .port(
        "headers",
        "object",
        "The headers of a webhook's request, as its schema declares them.",
    )
    .port(
        "body",
        "object",
        "The body of a webhook's request, as its schema declares it.",
    )
    .port(
        "request",
        "object",
        "The whole request of a webhook: `query`, `headers`, `body` and `content_type`.",
    )
    .ports_from_keys("inputs")
    .primary_first()
}

fn user_fill_up() -> Component {
    Component::new(
        "UserFillUp",
        Family::Control,
        "Await response",
        "Asks a person to fill in a form and waits for the answer.",
    )
    .alias("Fillup")
    .alias("Answer")
    .control(Control::Form)
    .param(
        Param::new(
            "enable_tips",
            Type::Boolean,
            "Whether the text goes with the form.",
        )
        .default(json!(true)),
    )
    .param(
        Param::new("tips", Type::template(), "The text shown with the form.")
            .default(json!("Please fill up the form")),
    )
    .params(form_params())
    .port("tips", "string", "The text shown with the form.")
    .ports_from_keys("inputs")
    .primary_first()
}

/// What Begin and UserFillUp share: the fields.
fn form_params() -> Vec<Param> {
    vec![
        Param::new(
            "inputs",
            Type::map(form_field()),
            "The fields, by key; each is a port.",
        )
        .default(json!({})),
        Param::new(
            "layout_recognize",
            Type::Text,
            "How uploaded PDF files are read.",
        ),
    ]
}

/// One field of a form.
fn form_field() -> Type {
    Type::open_object(vec![
        Param::new(
            "key",
            Type::Text,
            "The field's key, the same as its name in `inputs`.",
        ),
        Param::new("name", Type::Text, "The label shown."),
        Param::new(
            "type",
            Type::Text,
            "What it takes: `line`, `paragraph`, `options`, `file`, `integer`, `boolean` or `object`; a line if blank.",
        ),
        Param::new("optional", Type::Boolean, "Whether it may stay empty."),
        Param::new(
            "options",
            Type::list(Type::Any),
            "The choices of `options`.",
        ),
        Param::new("value", Type::Any, "The value it starts with."),
    ])
}

fn message() -> Component {
    Component::new(
        "Message",
        Family::Control,
        "Message",
        "Says something to the user; a reference to a model's answer is shown while it arrives.",
    )
    .drains()
    // What it waits for is another node's stream, which has a limit of its own.
    .time_limit(crate::TimeLimit::None)
    .param(
        Param::new(
            "content",
            Type::list_split(Type::jinja(), Split::Whole),
            "The text. Of several one is picked at random each time.",
        )
        .required()
        .alias("messages"),
    )
    .param(
        Param::new(
            "stream",
            Type::Boolean,
            "Whether streams are shown while they arrive.",
        )
        .default(json!(true)),
    )
    .param(Param::new(
        "output_format",
        Type::choice_also(
            &["", "markdown", "html", "pdf", "docx", "xlsx"],
            &[("md", "markdown"), ("plain", "")],
        ),
        "Offers the text as a file of this format as well; blank offers none.",
    ))
    .param(
        Param::new("auto_play", Type::Boolean, "Whether the text is spoken.").default(json!(false)),
    )
    .param(Param::new(
        "status",
        Type::within(200, 399),
        "The HTTP status of a webhook's answer in which this is the last message.",
    ))
    .param(Param::new(
        "memory_ids",
        Type::texts(),
        "The memories that keep this exchange.",
    ))
    .param(Param::new(
        "user_id",
        Type::binding(Type::Text),
        "Whose memory it becomes.",
    ))
    .port("content", "string", "The text that was said.")
    .port(
        "downloads",
        "Array<Object>",
        "The files that were named in the text.",
    )
    .port(
        "attachment",
        "object",
        "The file that `output_format` asked for.",
    )
    .primary("content")
}

fn categorize() -> Component {
    let category = Type::object(vec![
        Param::new("description", Type::Text, "What belongs into it."),
        Param::new(
            "examples",
            Type::list_split(Type::Text, Split::Lines),
            "Messages that belong into it; a text is read line by line.",
        )
        .default(json!([])),
        Param::new("to", Type::NodeIds, "Where the run goes on.").required(),
    ]);
    Component::new(
        "Categorize",
        Family::Control,
        "Categorize",
        "Lets a model sort a message into one of several categories and goes on where that one leads.",
    )
    .control(Control::Branch)
    .effect(easel_core::draft::EffectClass::Reads)
    .seconds(600.0)
    .param(
        Param::new(
            "category_description",
            Type::map(category),
            "The categories by name. The last one is taken if the model names none.",
        )
        .required(),
    )
    .param(
        Param::new("query", Type::Reference, "The message that is sorted.").default(json!("sys.query")),
    )
    .params(model::sampling())
    .param(
        Param::new(
            "message_history_window_size",
            Type::at_least(0),
            "How many turns of the conversation the model is shown, this one included.",
        )
        .default(json!(1)),
    )
    .ignored(&["items", "sys_prompt", "prompts", "cite", "visual_files_var"])
    .port("category_name", "string", "The name of the category.")
    .port("_next", "Array<string>", "The ids of the nodes it goes on at.")
    .primary("category_name")
}

/// The operators of Switch; those of Loop are in [`LOOP_OPERATORS`].
const SWITCH_OPERATORS: &[&str] = &[
    "contains",
    "not contains",
    "start with",
    "end with",
    "empty",
    "not empty",
    "=",
    "≠",
    ">",
    "<",
    "≥",
    "≤",
    "in",
    "not in",
];

/// Other spellings of operators that files have.
const OPERATOR_SPELLINGS: &[(&str, &str)] = &[
    ("==", "="),
    ("!=", "≠"),
    ("<>", "≠"),
    (">=", "≥"),
    ("<=", "≤"),
    ("starts with", "start with"),
    ("ends with", "end with"),
];

fn switch() -> Component {
    let test = Type::object(vec![
        Param::new(
            "cpn_id",
            Type::Reference,
            "The value that is tested; without it the test is left out.",
        ),
        Param::new(
            "operator",
            Type::choice_also(SWITCH_OPERATORS, OPERATOR_SPELLINGS),
            "How it is compared. Text tests ignore case, `=` and `≠` mind it.",
        )
        .required(),
        Param::new(
            "value",
            Type::Any,
            "What it is compared with, taken as it is written.",
        ),
    ]);
    let case = Type::object(vec![
        Param::new(
            "items",
            Type::list(test),
            "The tests of the case; without one it never holds.",
        )
        .default(json!([])),
        Param::new(
            "logical_operator",
            Type::choice(&["and", "or"]),
            "Whether all tests have to hold, or one.",
        )
        .default(json!("and")),
        Param::new("to", Type::NodeIds, "Where the run goes on.").required(),
    ]);
    Component::new(
        "Switch",
        Family::Control,
        "Switch",
        "Goes on where the first case that holds leads, else where the rest does.",
    )
    .control(Control::Branch)
    .param(
        Param::new(
            "conditions",
            Type::list(case),
            "The cases, in the order in which they are tried.",
        )
        .required(),
    )
    .param(
        Param::new(
            "end_cpn_ids",
            Type::NodeIds,
            "Where the run goes on if no case holds.",
        )
        .required(),
    )
    .port(
        "next",
        "Array<string>",
        "The names of the nodes it goes on at.",
    )
    .port(
        "_next",
        "Array<string>",
        "The ids of the nodes it goes on at.",
    )
    .primary("next")
}

fn iteration() -> Component {
    let output = Type::open_object(vec![
        Param::new(
            "ref",
            Type::Reference,
            "What is collected from each pass: a port of a node of the body.",
        ),
        Param::new("type", Type::Text, "The type of the list."),
    ]);
    Component::new(
        "Iteration",
        Family::Control,
        "Iteration",
        "Runs the nodes inside it once for each item of a list and collects what they give.",
    )
    .alias("Parallel")
    .control(Control::Each)
    .param(Param::new("items_ref", Type::Reference, "The list.").required())
    .param(
        Param::new(
            "outputs",
            Type::map(output),
            "The lists that are collected, by name; each is a port.",
        )
        .default(json!({})),
    )
    .param(
        Param::new(
            "max_concurrency",
            Type::at_least(0),
            "How many passes may be under way at once; 0 and 1 run them one after the other.",
        )
        .default(json!(1)),
    )
    .ignored(&["variable"])
    .ports_from_keys("outputs")
    .primary_first()
}

fn iteration_item() -> Component {
    Component::new(
        "IterationItem",
        Family::Control,
        "Item",
        "The start of an iteration's body, which gives the item of the pass.",
    )
    .control(Control::Item)
    .port("item", "any", "The item of this pass.")
    .port("index", "integer", "Its place in the list, from 0.")
    .port("result", "any", "The same as `item`.")
    .primary("item")
}

/// The operators of a loop's end; which of them work depends on the type of the left side.
const LOOP_OPERATORS: &[&str] = &[
    "contains",
    "not contains",
    "start with",
    "end with",
    "is",
    "is not",
    "empty",
    "not empty",
    "=",
    "≠",
    ">",
    "<",
    "≥",
    "≤",
];

fn r#loop() -> Component {
    let variable = Type::object(vec![
        Param::new(
            "variable",
            Type::Text,
            "Its name; an entry without one is left out.",
        ),
        Param::new(
            "input_mode",
            Type::choice(&["constant", "variable"]),
            "Whether `value` is a constant or a reference.",
        ),
        Param::new(
            "type",
            Type::Text,
            "Its type: `string`, `number`, `boolean`, `object` or `array`.",
        ),
        Param::new("value", Type::Any, "The first value, or a reference to it."),
    ]);
    let test = Type::object(vec![
        Param::new("variable", Type::Reference, "The value that is tested."),
        Param::new(
            "operator",
            Type::choice_also(LOOP_OPERATORS, OPERATOR_SPELLINGS),
            "How it is compared. Texts mind case.",
        ),
        Param::new(
            "input_mode",
            Type::choice(&["constant", "variable"]),
            "Whether `value` is a constant or a reference.",
        )
        .default(json!("constant")),
        Param::new(
            "value",
            Type::Any,
            "What it is compared with, or a reference to it.",
        ),
    ]);
    Component::new(
        "Loop",
        Family::Control,
        "Loop",
        "Runs the nodes inside it again and again until a condition holds, which is tested before each pass.",
    )
    .control(Control::While)
    .param(
        Param::new(
            "loop_variables",
            Type::list(variable),
            "Values the loop starts with; each is a port of the loop that its body can assign to.",
        )
        .default(json!([])),
    )
    .param(
        Param::new(
            "loop_termination_condition",
            Type::list(test),
            "The tests that end the loop; without one it runs to its maximum.",
        )
        .default(json!([])),
    )
    .param(
        Param::new(
            "logical_operator",
            Type::choice(&["and", "or"]),
            "Whether all tests have to hold, or one.",
        )
        .default(json!("and")),
    )
    .param(
        Param::new(
            "maximum_loop_count",
            Type::at_least(0),
            "How many passes it makes at most; with 0 it makes none.",
        )
        .default(json!(0)),
    )
    .ports_from_items("loop_variables", "variable")
    .primary_first()
}

fn loop_item() -> Component {
    Component::new(
        "LoopItem",
        Family::Control,
        "Loop start",
        "The start of a loop's body.",
    )
    .control(Control::Item)
}

fn exit_loop() -> Component {
    Component::new(
        "ExitLoop",
        Family::Control,
        "Exit loop",
        "Ends the innermost loop around it, through iterations if need be.",
    )
    .control(Control::Exit)
}
