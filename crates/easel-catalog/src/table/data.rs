//! Pure work on values (spec/canvas-components §4).

use serde_json::json;

use crate::component::{Component, Family};
use crate::param::{Param, Split, Type};

pub(super) fn all() -> Vec<Component> {
    vec![
        string_transform(),
        data_operations(),
        list_operations(),
        variable_aggregator(),
        variable_assigner(),
    ]
}

fn string_transform() -> Component {
    Component::new(
        "StringTransform",
        Family::Data,
        "Text",
        "Splits a text into a list, or merges values into a text.",
    )
    .param(
        Param::new(
            "method",
            Type::choice(&["split", "merge"]),
            "`split` cuts the text of `split_ref`; `merge` fills in `script`.",
        )
        .default(json!("split")),
    )
    .param(
        Param::new(
            "delimiters",
            Type::list_split(Type::Text, Split::Whole),
            "`split` cuts at any of them; `merge` joins lists with the first.",
        )
        .default(json!([","]))
        .required(),
    )
    .param(Param::new(
        "split_ref",
        Type::Reference,
        "The text that is split.",
    ))
    .param(Param::new("script", Type::jinja(), "The text that is filled in.").default(json!("")))
    .port(
        "result",
        "any",
        "A list of texts after `split`, a text after `merge`.",
    )
    .primary("result")
}

fn data_operations() -> Component {
    let rule = Type::object(vec![
        Param::new("key", Type::Text, "The member that is compared."),
        Param::new(
            "operator",
            Type::choice_also(
                &["=", "≠", "contains", "start with", "end with"],
                &[("==", "="), ("equals", "="), ("!=", "≠")],
            ),
            "How it is compared, both sides as text.",
        )
        .default(json!("=")),
        Param::new(
            "value",
            Type::binding(Type::Any),
            "What it is compared with.",
        ),
    ]);
    let update = Type::object(vec![
        Param::new(
            "key",
            Type::Text,
            "The member; an entry without one is left out.",
        ),
        Param::new("value", Type::binding(Type::Any), "Its new value."),
    ]);
    let rename = Type::object(vec![
        Param::new("old_key", Type::Text, "The name it has."),
        Param::new("new_key", Type::Text, "The name it gets."),
    ]);
    let keys = || Type::list_split(Type::Text, Split::Whole);
    Component::new(
        "DataOperations",
        Family::Data,
        "Data operations",
        "Selects, filters, changes or combines objects.",
    )
    .param(
        Param::new(
            "query",
            Type::list_split(Type::Reference, Split::Whole),
            "The objects, or lists of objects.",
        )
        .default(json!([])),
    )
    .param(
        Param::new(
            "operations",
            Type::choice(&[
                "select_keys",
                "literal_eval",
                "combine",
                "filter_values",
                "append_or_update",
                "remove_keys",
                "rename_keys",
            ]),
            "What is done with them.",
        )
        .default(json!("literal_eval")),
    )
    .param(
        Param::new("select_keys", keys(), "`select_keys` keeps these members.").default(json!([])),
    )
    .param(
        Param::new(
            "filter_values",
            Type::list(rule),
            "`filter_values` keeps objects for which all these rules hold.",
        )
        .default(json!([])),
    )
    .param(
        Param::new(
            "updates",
            Type::list(update),
            "`append_or_update` sets these members.",
        )
        .default(json!([])),
    )
    .param(
        Param::new(
            "remove_keys",
            keys(),
            "`remove_keys` removes these members.",
        )
        .default(json!([])),
    )
    .param(
        Param::new(
            "rename_keys",
            Type::list(rename),
            "`rename_keys` renames these members.",
        )
        .default(json!([])),
    )
    .port(
        "result",
        "any",
        "A list of objects; one object after `combine`.",
    )
    .primary("result")
}

fn list_operations() -> Component {
    Component::new(
        "ListOperations",
        Family::Data,
        "List operations",
        "Picks, filters or sorts the items of a list.",
    )
    .param(Param::new("query", Type::Reference, "The list.").required())
    .param(
        Param::new(
            "operations",
            Type::choice_also(
                &["nth", "head", "tail", "filter", "sort", "drop_duplicates"],
                &[("topN", "head")],
            ),
            "What is done with it.",
        )
        .default(json!("nth")),
    )
    .param(
        Param::new(
            "n",
            Type::integer(),
            "`nth` picks the item of that number, from 1 or, negative, from the end; `head` and `tail` keep that many.",
        )
        .default(json!(0)),
    )
    .param(
        Param::new("strict", Type::Boolean, "Whether an `n` beyond the list is an error.").default(json!(false)),
    )
    .param(
        Param::new(
            "filter",
            Type::object(vec![
                Param::new(
                    "operator",
                    Type::choice_also(
                        &["=", "≠", "contains", "start with", "end with"],
                        &[("==", "="), ("!=", "≠")],
                    ),
                    "How an item is compared, as text.",
                )
                .default(json!("=")),
                Param::new("value", Type::Any, "What it is compared with, taken as it is written.").default(json!("")),
            ]),
            "`filter` keeps the items for which this holds.",
        )
        .default(json!({"operator": "=", "value": ""})),
    )
    .param(
        Param::new("sort_method", Type::choice(&["asc", "desc"]), "`sort` goes up or down.").default(json!("asc")),
    )
    .param(
        Param::new(
            "sort_by",
            Type::texts(),
            "`sort` compares objects by these members, in this order.",
        )
        .default(json!([])),
    )
    .port("result", "Array<any>", "The items; for `nth` too.")
    .port("first", "any", "The first of them, or null.")
    .port("last", "any", "The last of them, or null.")
    .primary("result")
}

fn variable_aggregator() -> Component {
    let variable = Type::object_or(
        "value",
        vec![Param::new("value", Type::Reference, "A value that may be there.").required()],
    );
    let group = Type::object(vec![
        Param::new("group_name", Type::Text, "The name of the port.").required(),
        Param::new(
            "variables",
            Type::list_split(variable, Split::Whole),
            "The values, the preferred one first.",
        )
        .required(),
        Param::new("type", Type::Text, "The type of the values."),
    ]);
    Component::new(
        "VariableAggregator",
        Family::Data,
        "Variable aggregator",
        "Takes of several values the first that is there, which joins branches.",
    )
    .param(
        Param::new(
            "groups",
            Type::list(group),
            "The ports, each with the values it is taken from.",
        )
        .required(),
    )
    .ports_from_items("groups", "group_name")
    .primary_first()
}

fn variable_assigner() -> Component {
    let assignment = Type::object(vec![
        Param::new("variable", Type::Target, "What is changed.").required(),
        Param::new(
            "operator",
            Type::choice(&[
                "overwrite",
                "clear",
                "set",
                "append",
                "extend",
                "remove_first",
                "remove_last",
                "+=",
                "-=",
                "*=",
                "/=",
            ]),
            "How it is changed.",
        )
        .required(),
        Param::new(
            "parameter",
            Type::binding(Type::Any),
            "What it is changed with; `clear`, `remove_first` and `remove_last` need none.",
        ),
    ]);
    Component::new(
        "VariableAssigner",
        Family::Data,
        "Variable assigner",
        "Changes variables of the conversation, of the canvas or of a loop.",
    )
    .param(
        Param::new(
            "variables",
            Type::list(assignment),
            "The changes, in order.",
        )
        .default(json!([])),
    )
    .port(
        "errors",
        "Array<Object>",
        "The changes that could not be made, each with the reason; there only if there is one.",
    )
}
