//! Classes that no longer exist, as those that do the same (spec/canvas-components §8).

use easel_core::{Object, Value};

use super::{Node, Rewrite, Rewriter};

/// Puts a present class in the place of each old one. `Answer` is another matter: see [`super::answer`].
pub(super) fn classes(rewriter: &mut Rewriter) {
    rewriter.each_node(|node| {
        if node.is("Generate") {
            if node.params.contains_key("prompt") && !node.params.contains_key("sys_prompt") {
                node.rename_param("prompt", "sys_prompt");
            }
            node.params.shift_remove("parameters");
            to_llm(node, "Generate");
        } else if node.is("RewriteQuestion") {
            let rewrite = Value::from(REWRITE_QUESTION);
            node.params.entry("sys_prompt".into()).or_insert(rewrite);
            to_llm(node, "RewriteQuestion");
        } else if node.is("WaitingDialogue") {
            node.class = "UserFillUp".into();
            if !node.params.get("inputs").is_some_and(Value::is_truthy) {
                node.params.insert("inputs".into(), answer_field().into());
            }
            node.note(
                Rewrite::LegacyReplaced,
                "`WaitingDialogue` is called `UserFillUp` now",
            );
        }
    });
}

/// What a rewriter of questions was told: it had no prompt of its own in its file.
const REWRITE_QUESTION: &str = "Read the conversation and the user's last message. Write that message as one question \
    that can be understood without the conversation: put names where it says \"it\" or \"they\", and dates where it \
    says \"today\" or \"last week\". Keep the user's language. Write the question and nothing else.";

/// Sampling settings were always sent; today each is sent only where its switch is on (spec/canvas-components §3.1).
const SWITCHES: [(&str, &str); 5] = [
    ("temperature", "temperatureEnabled"),
    ("top_p", "topPEnabled"),
    ("presence_penalty", "presencePenaltyEnabled"),
    ("frequency_penalty", "frequencyPenaltyEnabled"),
    ("max_tokens", "maxTokensEnabled"),
];

fn to_llm(node: &mut Node, old: &str) {
    for (setting, switch) in SWITCHES {
        if node.params.contains_key(setting) {
            node.params
                .entry(switch.into())
                .or_insert(Value::from(true));
        }
    }
    node.class = "LLM".into();
    node.note(Rewrite::LegacyReplaced, format!("`{old}` is an `LLM` now"));
}

/// The form with one field that waits for whatever a person says next.
pub(super) fn answer_field() -> Object {
    let field = [
        ("key", Value::from("query")),
        ("name", Value::from("query")),
        ("type", Value::from("line")),
        ("optional", Value::from(false)),
        ("options", Value::empty_array()),
    ];
    let field: Object = field
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
    Object::from_iter([("query".into(), Value::from(field))])
}
