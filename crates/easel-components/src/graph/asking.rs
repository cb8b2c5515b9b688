//! Which model a graph node asks, and one question to it.

use std::sync::Arc;

use easel_core::event::Fault;
use easel_models::{ChatReply, Message, Sampling, Thinking};

use crate::behaviour::Prepared;
use crate::chat::ask::{Ask, Asker};
use crate::chat::settings::Settings;
use crate::site::Site;

/// The settings of a node: `model` and `provider` together are `model@provider`, a provider alone is its default model.
pub(super) fn settings(node: Prepared<'_>) -> Result<Settings, Fault> {
    let site = Site::of_node(node);
    let (model, provider) = (site.text("model").trim(), site.text("provider").trim());
    let id: Arc<str> = match provider {
        "" => model.into(),
        provider => format!("{model}@{provider}").into(),
    };
    Ok(Settings {
        model: id,
        sampling: Sampling {
            temperature: site.number("temperature")?,
            max_tokens: site.count("max_tokens")?,
            ..Sampling::default()
        },
        thinking: Thinking::Default,
    })
}

/// Asks for a text.
pub(super) async fn ask(asker: &mut Asker<'_>, messages: Vec<Message>) -> Result<ChatReply, Fault> {
    let ask = Ask {
        messages,
        ..Ask::default()
    };
    asker.ask(ask, None).await
}

/// What a reply says: its text, or its thoughts if it has no text.
pub(super) fn said(reply: &ChatReply) -> String {
    match reply.text.trim().is_empty() && !reply.reasoning.trim().is_empty() {
        true => reply.reasoning.clone(),
        false => reply.text.clone(),
    }
}
