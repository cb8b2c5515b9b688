//! Extractor: a model is asked about each piece, and its answer goes with the piece.

use std::sync::Arc;

use easel_core::bind::{Inputs, ReadId, Resolved};
use easel_core::event::{Fault, Usage};
use easel_core::{Object, Value};
use easel_models::{Message, Role};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use super::handed::{Content, Handed};
use super::stage::{Step, put};
use super::{pieces, toc};
use crate::behaviour::{Behaviour, Call, Failure, Prepared};
use crate::chat::ask::{Ask, Asker};
use crate::chat::lenient::{after_thoughts, json};
use crate::chat::prompt::Prompt;
use crate::chat::settings::Settings;
use crate::site::Site;

/// Pieces that a model is asked about at once.
const AT_ONCE: usize = 4;

/// What is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Summary,
    Keywords,
    Questions,
    Metadata,
    Contents,
}

impl Field {
    fn of(name: &str) -> Option<Field> {
        Some(match name {
            "summary" => Field::Summary,
            "keywords" => Field::Keywords,
            "questions" => Field::Questions,
            "metadata" => Field::Metadata,
            "toc" => Field::Contents,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Field::Summary => "summary",
            Field::Keywords => "keywords",
            Field::Questions => "questions",
            Field::Metadata => "metadata",
            Field::Contents => "toc",
        }
    }
}

pub(super) struct Extractor {
    field: Field,
    pub(super) settings: Settings,
    pub(super) prompt: Prompt,
    pub(super) caller: Arc<str>,
}

/// Reads the parameters.
///
/// Errors: it does not say what is to be found out.
pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let field = Field::of(site.text("field_name").trim()).ok_or_else(|| {
        let problem = "does not say what is to be found out";
        let fix = "Set summary, keywords, questions, metadata or toc";
        site.wrong("field_name", problem, fix)
    })?;
    let extractor = Extractor {
        field,
        settings: Settings::read(&site)?,
        prompt: Prompt::read(&site)?,
        caller: site.path.into(),
    };
    put(node, extractor, None)
}

impl Step for Extractor {
    fn take<'a>(
        &'a self,
        handed: Handed,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<(Handed, Usage), Failure>> {
        async move {
            let chunks = handed.chunks();
            let (chunks, usage) = match self.field {
                Field::Contents => toc::add(self, chunks, call).await?,
                field => self.each(field, chunks, call).await?,
            };
            Ok((handed.with(Content::Chunks(chunks)), usage))
        }
        .boxed()
    }
}

impl Extractor {
    /// Asks about each piece, and puts the answers to the pieces.
    async fn each(
        &self,
        field: Field,
        chunks: Vec<Object>,
        call: &Call,
    ) -> Result<(Vec<Object>, Usage), Failure> {
        let texts = chunks.iter().map(|chunk| pieces::text_of(chunk).to_owned());
        let texts: Vec<String> = texts.collect();
        let asked = stream::iter(texts.into_iter().map(|text| self.about(text, call)));
        let answers: Vec<(String, Usage)> = asked.buffered(AT_ONCE).try_collect().await?;
        let mut usage = Usage::default();
        let mut no_object = 0;
        let mut extracted = Vec::with_capacity(chunks.len());
        for (mut chunk, (answer, used)) in chunks.into_iter().zip(answers) {
            usage += used;
            let answer = after_thoughts(&answer).trim();
            let value = match field {
                Field::Metadata => match json(answer) {
                    Some(value @ Value::Object(_)) => value,
                    _ => {
                        no_object += 1;
                        Value::empty_object()
                    }
                },
                _ => Value::from(answer),
            };
            chunk.insert(field.name().into(), value);
            extracted.push(chunk);
        }
        if no_object > 0 {
            call.warn(format!(
                "\"{}\" got no JSON object for {no_object} of {} pieces; these have no metadata.",
                call.node().draft.name,
                extracted.len()
            ));
        }
        Ok((extracted, usage))
    }

    /// The answer about one piece; a blank piece has none.
    async fn about(&self, text: String, call: &Call) -> Result<(String, Usage), Failure> {
        if text.trim().is_empty() {
            return Ok((String::new(), Usage::default()));
        }
        let messages = self.messages(&text, call);
        self.ask(messages, call).await
    }

    /// Asks once.
    pub(super) async fn ask(
        &self,
        messages: Vec<Message>,
        call: &Call,
    ) -> Result<(String, Usage), Failure> {
        let mut asker = Asker::new(call, &self.caller, &self.settings);
        let ask = Ask {
            messages: self.prompt.fitting(&asker, messages)?,
            ..Ask::default()
        };
        let reply = asker.ask(ask, None).await;
        let reply = reply.map_err(|fault| asker.failure(fault))?;
        Ok((reply.text, asker.usage()))
    }

    /// The messages about a piece: its text stands where the list of pieces is named, or behind the last message if none
    /// names it.
    fn messages(&self, text: &str, call: &Call) -> Vec<Message> {
        let lists: Vec<ReadId> = self.lists(call);
        let inputs = with_text(call.inputs(), &lists, text);
        let mut messages = self.prompt.rendered(&inputs);
        if !lists.is_empty() {
            return messages;
        }
        match messages.last_mut().filter(|last| last.role == Role::User) {
            Some(last) => *last = Message::user(format!("{}\n\n{text}", last.content.text())),
            None => messages.push(Message::user(text.to_owned())),
        }
        messages
    }

    /// The references of its messages that stand for the list of pieces: those to lists, and to what the step before handed on.
    fn lists(&self, call: &Call) -> Vec<ReadId> {
        let is_list = |read: &ReadId| match call.inputs().get(*read) {
            Resolved::Value(Value::Array(_)) => true,
            Resolved::Value(Value::String(_)) => self.is_handed_on(*read, call),
            _ => false,
        };
        self.prompt.reads().into_iter().filter(is_list).collect()
    }

    /// Whether a reference is to a text of the document: Markdown, text or HTML of a Parser.
    fn is_handed_on(&self, read: ReadId, call: &Call) -> bool {
        let reads = &call.node().draft.reads;
        let reference = reads.get(read.0 as usize).map(|reference| &*reference.text);
        let port = reference
            .and_then(|text| text.rsplit_once('@'))
            .map(|(_, port)| port);
        port.is_some_and(|port| {
            let port = port.trim_end_matches('}').trim();
            matches!(port, "markdown" | "text" | "html")
        })
    }
}

/// The inputs with a text in place of some of them.
fn with_text(inputs: &Inputs, reads: &[ReadId], text: &str) -> Inputs {
    let mut resolved: Vec<Resolved> = inputs.0.to_vec();
    for read in reads {
        if let Some(place) = resolved.get_mut(read.0 as usize) {
            *place = Resolved::Value(Value::from(text));
        }
    }
    Inputs(resolved.into())
}
