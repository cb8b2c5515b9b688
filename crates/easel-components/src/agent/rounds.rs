//! The loop in which a model calls tools until it has an answer (spec/canvas-components §3.2, "Tool loop").

use std::sync::Arc;

use easel_core::Value;
use easel_core::event::Fault;
use easel_models::{ChatReply, Message, ToolCall};
use futures::future::join_all;

use super::arguments;
use super::toolbox::Toolbox;
use crate::behaviour::{Call, Note};
use crate::chat::ask::{Ask, Asker, Outlet};
use crate::chat::fit;
use crate::chat::prompt::Composed;
use crate::tool::ToolAnswer;

/// Calls that are made of one answer; a model that wants more is told so.
const MOST_CALLS: usize = 32;

/// What the tools of an agent found and made.
#[derive(Default)]
pub(crate) struct Haul {
    /// What answers may cite.
    pub references: Vec<Value>,
    /// Files: `{name, url, mime_type, size}`.
    pub artifacts: Vec<Value>,
}

/// The tools of an agent at work.
pub(super) struct Rounds<'a> {
    /// The tools.
    pub toolbox: &'a Toolbox,
    /// How many times the model may call tools before it has to answer.
    pub most: u32,
    /// The agents that led here, for the record.
    pub trail: &'a str,
    /// The context window of the model, in tokens.
    pub window: u32,
}

impl Rounds<'_> {
    /// Asks until the model answers without calling a tool. `composed` grows by what was said on the way.
    pub(super) async fn run(
        &self,
        asker: &mut Asker<'_>,
        composed: &mut Composed,
        haul: &mut Haul,
        mut outlet: Option<&mut Outlet>,
    ) -> Result<ChatReply, Fault> {
        for _ in 0..=self.most {
            let ask = Ask {
                messages: composed.messages.clone(),
                tools: self.toolbox.specs(),
                ..Ask::default()
            };
            let reply = asker.ask(ask, outlet.as_deref_mut()).await?;
            if reply.tool_calls.is_empty() {
                return Ok(reply);
            }
            let calls = reply.tool_calls.clone();
            composed.messages.push(as_said(reply));
            if let Some(outlet) = &mut outlet {
                for call in &calls {
                    outlet.thought(&format!("Running the {} tool...", call.name));
                }
            }
            make(
                self.toolbox,
                self.trail,
                asker,
                &calls,
                &mut composed.messages,
                haul,
            )
            .await;
            fit::tool_answers(&mut composed.messages, self.window);
            // Who reads along sees where things come from; what goes on to other nodes stays plain.
            if outlet.is_some() && !haul.references.is_empty() {
                composed.add_guide();
            }
        }
        composed
            .messages
            .push(Message::user(format!("Exceed max rounds: {}", self.most)));
        let ask = Ask {
            messages: composed.messages.clone(),
            ..Ask::default()
        };
        asker.ask(ask, outlet).await
    }
}

/// What a model said, for the conversation. Arguments that nothing was called with are left out, for they would be sent
/// with every request from here on.
pub(crate) fn as_said(mut reply: ChatReply) -> Message {
    for call in &mut reply.tool_calls {
        if call.arguments.len() > arguments::MOST {
            call.arguments = "{}".into();
        }
    }
    reply.into_message()
}

/// Makes the calls of one answer, all at once, and adds what they gave to the conversation, in their order.
pub(crate) async fn make(
    toolbox: &Toolbox,
    trail: &str,
    asker: &mut Asker<'_>,
    calls: &[ToolCall],
    messages: &mut Vec<Message>,
    haul: &mut Haul,
) {
    let gathered = asker.call.gathered.iter().chain(&haul.references);
    let call = Call {
        gathered: Arc::new(gathered.cloned().collect()),
        ..asker.call.clone()
    };
    let made = calls.iter().enumerate().map(|(at, wanted)| {
        let call = &call;
        async move {
            match at < MOST_CALLS {
                true => make_one(toolbox, trail, call, wanted).await,
                false => ToolAnswer::failure(format!(
                    "This call was not made: {MOST_CALLS} at a time are the most."
                )),
            }
        }
    });
    for (wanted, answer) in calls.iter().zip(join_all(made).await) {
        asker.use_more(answer.usage);
        haul.references.extend(answer.references);
        haul.artifacts.extend(answer.artifacts);
        messages.push(Message::tool(wanted.id.clone(), answer.text));
    }
}

async fn make_one(toolbox: &Toolbox, trail: &str, call: &Call, wanted: &ToolCall) -> ToolAnswer {
    let clock = &call.run.services.clock;
    let began = clock.now();
    let offered = toolbox.find(&wanted.name);
    let read = offered.and_then(|offered| {
        let (schema, check) = (&offered.schema, offered.check());
        let arguments = arguments::read(&wanted.name, &wanted.arguments, schema, check)?;
        Ok((offered, arguments))
    });
    let (arguments, answer) = match read {
        Ok((offered, arguments)) => {
            let shown = Value::from(arguments.clone());
            (shown, offered.call(arguments, call).await)
        }
        Err(told) => (as_written(&wanted.arguments), ToolAnswer::failure(told)),
    };
    let execute = &call.execute;
    let note = Note::ToolCall {
        path: trail.into(),
        tool: wanted.name.clone(),
        arguments,
        result: Value::from(answer.text.clone()),
        milliseconds: u64::try_from(clock.now().0 - began.0).unwrap_or(0),
    };
    call.run.wire.note(execute.node, note);
    answer
}

/// Arguments for the record that nothing was called with: JSON if they are, and the beginning of what is too long.
fn as_written(arguments: &str) -> Value {
    const SHOWN: usize = 1000;
    if arguments.len() > arguments::MOST {
        let end = arguments.floor_char_boundary(SHOWN);
        return Value::from(format!("{}…", arguments.get(..end).unwrap_or_default()));
    }
    serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments))
}

/// Links to files that an answer does not show yet, in Markdown.
pub(super) fn links(artifacts: &[Value], answer: &str) -> Option<String> {
    let links = artifacts.iter().filter_map(|artifact| {
        let text = |name| artifact.get(name).and_then(Value::as_str);
        let (name, url) = (text("name")?, text("url")?);
        let image = text("mime_type").is_some_and(|mime| mime.starts_with("image/"));
        let link = match image {
            true => format!("![{name}]({url})"),
            false => format!("[Download {name}]({url})"),
        };
        (!answer.contains(&*format!("({url})"))).then_some(link)
    });
    let links: Vec<String> = links.collect();
    (!links.is_empty()).then(|| format!("\n\n{}", links.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_are_linked_once() {
        let files: Vec<Value> = [
            json!({"name": "a.png", "url": "/f/a.png", "mime_type": "image/png"}),
            json!({"name": "b.csv", "url": "/f/b.csv", "mime_type": "text/csv"}),
            json!({"name": "c.csv", "url": "/f/c.csv"}),
        ]
        .map(Value::from)
        .into();
        assert_eq!(
            links(&files, "See [c](/f/c.csv)."),
            Some("\n\n![a.png](/f/a.png)\n[Download b.csv](/f/b.csv)".into())
        );
        assert_eq!(links(&[], "x"), None);
    }
}
