//! Kinds that only old files and old editors have (spec/canvas-components §8).

use easel_core::draft::EffectClass;
use serde_json::json;

use crate::component::{Component, Family};
use crate::param::{Param, Type};

use super::model;

pub(super) fn all() -> Vec<Component> {
    vec![rewrite_question(), waiting_dialogue()]
}

fn rewrite_question() -> Component {
    Component::new(
        "RewriteQuestion",
        Family::Legacy,
        "Rewrite question",
        "Lets a model turn the last message into a question that stands alone.",
    )
    .effect(EffectClass::Reads)
    .seconds(600.0)
    .later("No engine has run this kind for long; use an LLM with a prompt that rewrites the question.")
    .params(model::sampling())
    .param(Param::new("language", Type::Text, "The language of the question.").default(json!("")))
    .port("content", "string", "The question.")
    .primary("content")
}

fn waiting_dialogue() -> Component {
    Component::new(
        "WaitingDialogue",
        Family::Legacy,
        "Waiting dialogue",
        "Stood for a pause in the conversation.",
    )
    .later("No engine has ever run this kind; use UserFillUp to wait for an answer.")
}
