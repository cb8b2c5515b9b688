//! Asking a model: one request after another for one attempt of a node, with what they use added up.

use easel_core::Value;
use easel_core::event::{Fault, Usage};
use easel_models::{
    Caller, ChatReply, ChatRequest, Collector, FinishReason, Message, ModelError, ModelEvent,
    ModelInfo, ResponseFormat, ToolSpec,
};
use futures::StreamExt;

use super::settings::{Settings, template_kwargs};
use crate::behaviour::{Call, Failure, Note};
use crate::stream::{StreamItem, StreamWriter};

/// The beginning of a text by which providers of the old engine told an error.
const ERROR_TEXT: &str = "**ERROR**";

/// What is put behind an answer that reached its limit.
pub(crate) const CUT_OFF: &str =
    "...\n(The answer ends here because it reached the model's limit.)";

/// Makes the requests of one attempt.
pub(crate) struct Asker<'a> {
    /// The attempt.
    pub call: &'a Call,
    caller: &'a str,
    settings: &'a Settings,
    usage: Usage,
}

/// One request: what goes beyond the settings.
#[derive(Default)]
pub(crate) struct Ask<'a> {
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools on offer.
    pub tools: &'a [ToolSpec],
    /// The shape the answer must have.
    pub format: Option<ResponseFormat>,
}

impl<'a> Asker<'a> {
    /// `caller` is the id that requests carry.
    pub(crate) fn new(call: &'a Call, caller: &'a str, settings: &'a Settings) -> Asker<'a> {
        Asker {
            call,
            caller,
            settings,
            usage: Usage::default(),
        }
    }

    /// What is known about the model. Errors: there is no such model.
    pub(crate) fn info(&self) -> Result<ModelInfo, Fault> {
        let described = self.call.run.services.models.describe(&self.settings.model);
        described.map_err(|error| self.fault(&error))
    }

    /// Makes a request. With an outlet, what comes in is shown at once.
    ///
    /// Errors: the model's, or that the answer says to be one.
    pub(crate) async fn ask(
        &mut self,
        ask: Ask<'_>,
        mut outlet: Option<&mut Outlet>,
    ) -> Result<ChatReply, Fault> {
        let request = ChatRequest {
            model: self.settings.model.clone(),
            messages: ask.messages,
            tools: ask.tools.to_vec(),
            sampling: self.settings.sampling,
            thinking: self.settings.thinking,
            response_format: ask.format,
            chat_template_kwargs: template_kwargs(self.call.run.turn.chat_template_kwargs.as_ref()),
            stream: outlet.is_some(),
            caller: Caller {
                component: self.caller.into(),
                turn: self.call.run.turn.number,
            },
        };
        self.usage.calls += 1;
        if let Ok(request) = serde_json::to_value(&request) {
            let note = Note::ModelRequest(Value::from(request));
            self.call.run.wire.note(self.call.execute.node, note);
        }
        let mut events = self.call.run.services.models.chat(request);
        let mut collector = Collector::default();
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| self.fault(&error))?;
            match (&event, &mut outlet) {
                (ModelEvent::Text(text), Some(outlet)) => outlet.text(text),
                (ModelEvent::Reasoning(thought), Some(outlet)) => outlet.thought(thought),
                (ModelEvent::Usage(usage), _) => self.add(*usage),
                _ => {}
            }
            collector.push(event);
        }
        let reply = collector.finish().ok_or_else(|| {
            self.no_answer("the connection ended before the answer was complete; try again")
        })?;
        match reply.text.trim_start().strip_prefix(ERROR_TEXT) {
            Some(error) => Err(self.no_answer(error.trim_start_matches([':', ' ']))),
            None => Ok(reply),
        }
    }

    /// What was used so far.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Adds what something else used.
    pub(crate) fn use_more(&mut self, usage: Usage) {
        self.usage += usage;
    }

    /// The attempt failed, and this is what it used.
    pub(crate) fn failure(&self, fault: Fault) -> Failure {
        Failure {
            fault,
            usage: self.usage,
        }
    }

    /// A fault of this node in its own words.
    pub(crate) fn trouble(&self, code: &str, cause: &str) -> Fault {
        let node = &self.call.node().draft.name;
        Fault::new(code, format!("\"{node}\" {cause}"))
    }

    fn add(&mut self, usage: easel_models::Usage) {
        self.usage += Usage {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            calls: 0,
        };
    }

    fn fault(&self, error: &ModelError) -> Fault {
        // What this attempt did before, such as calls of tools, leaves a trace whatever this error says.
        let first = self.usage.calls <= 1;
        let fault = self.no_answer(&error.to_string());
        Fault {
            code: error.code().into(),
            nothing_sent: first && error.certain_nothing_sent(),
            ..fault
        }
    }

    fn no_answer(&self, cause: &str) -> Fault {
        let model = match &*self.settings.model {
            "" => "the default model".to_owned(),
            model => format!("the model {model}"),
        };
        self.trouble(
            "model.failed",
            &format!("got no answer from {model}: {cause}"),
        )
    }
}

/// The answer to a reader, with a word about it where it was cut off.
pub(crate) fn whole_text(reply: &ChatReply) -> String {
    match cut_off(reply) {
        Some(notice) => format!("{}{notice}", reply.text),
        None => reply.text.clone(),
    }
}

/// What is to be said behind an answer that was cut off.
pub(crate) fn cut_off(reply: &ChatReply) -> Option<&'static str> {
    let cut = reply.finish_reason == FinishReason::Length && reply.tool_calls.is_empty();
    cut.then_some(CUT_OFF)
}

/// Text on its way to whoever shows it, and the value it adds up to, in which thoughts stand in `<think>` tags.
pub(crate) struct Outlet {
    writer: StreamWriter,
    value: String,
    thinking: bool,
}

impl Outlet {
    pub(crate) fn new(writer: StreamWriter) -> Outlet {
        Outlet {
            writer,
            value: String::new(),
            thinking: false,
        }
    }

    /// More of the answer.
    pub(crate) fn text(&mut self, text: &str) {
        self.end_thinking();
        self.push(text);
    }

    /// More thoughts, or a word about what is being done.
    pub(crate) fn thought(&mut self, thought: &str) {
        if !self.thinking {
            self.thinking = true;
            self.value.push_str("<think>");
            self.writer.send(StreamItem::ThinkStart);
        }
        self.push(thought);
    }

    /// The whole value.
    pub(crate) fn finish(mut self) -> String {
        self.end_thinking();
        self.value
    }

    fn end_thinking(&mut self) {
        if self.thinking {
            self.thinking = false;
            self.value.push_str("</think>");
            self.writer.send(StreamItem::ThinkEnd);
        }
    }

    fn push(&mut self, text: &str) {
        self.value.push_str(text);
        self.writer.send(StreamItem::Text(text.into()));
    }
}
