//! Message: says something to the user (spec/canvas-components §2.3).
//!
//! A text is said piece by piece, as it stands in the file. Where a piece is another node's text that is still arriving,
//! it is passed on while it comes. Jinja, and a message that is not to stream, are said in one piece once everything is
//! there.

mod attachment;
mod download;
mod speech;
mod streams;

use std::fmt::Write;
use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::{Inputs, Resolved};
use easel_core::event::{Completion, Fault, Ports};
use easel_core::template::{Piece, Template};
use easel_tools::documents::DocumentFormat;
use easel_tools::memory::{MemoryMessage, MemorySave};

use crate::behaviour::{Behaviour, Call, Failure, Prepared, Run};
use crate::given::Given;
use crate::site::Site;
use crate::text::Text;
use crate::whose::whose;
use attachment::Attached;
use speech::Speech;
use streams::{Interrupted, Streams};

struct Message {
    /// What it may say; at least one text.
    alternatives: Vec<Text>,
    /// True if it is said in one piece.
    whole: bool,
    memory: Option<Memory>,
    /// The format of the file that is offered beside the text.
    file: Option<DocumentFormat>,
    /// What the canvas asks for and is not done, a sentence each.
    left_out: Vec<Arc<str>>,
    ports: Names,
}

/// Where the exchange is kept.
struct Memory {
    ids: Vec<String>,
    user: Given,
}

struct Names {
    content: Arc<str>,
    downloads: Arc<str>,
    attachment: Arc<str>,
}

pub(crate) fn prepare(node: Prepared<'_>) -> Result<Arc<dyn Behaviour>, Fault> {
    let site = Site::of_node(node);
    let texts = site.items("content");
    if texts.is_empty() {
        return Err(site.wrong("content", "is not set", "Write what it says"));
    }
    let alternative = |(at, written): (usize, &Value)| {
        let template = site.template(&format!("content.{at}"), Some(written));
        Text::new(template, insert)
    };
    let ids = site.texts("memory_ids");
    Ok(Arc::new(Message {
        alternatives: texts.iter().enumerate().map(alternative).collect(),
        whole: !site.flag("stream"),
        memory: (!ids.is_empty()).then(|| Memory {
            ids,
            user: site.given("user_id", false),
        }),
        file: DocumentFormat::named(site.text("output_format").trim()),
        left_out: left_out(&site),
        ports: Names {
            content: "content".into(),
            downloads: "downloads".into(),
            attachment: "attachment".into(),
        },
    }))
}

fn left_out(site: &Site<'_>) -> Vec<Arc<str>> {
    let name = &site.owner.node.draft.name;
    let mut sentences = Vec::new();
    if site.flag("auto_play") {
        let sentence =
            format!("\"{name}\" is not spoken: Easel makes no speech. Its text is shown.");
        sentences.push(sentence.into());
    }
    sentences
}

/// Appends a value as it stands in a message.
fn insert(value: &Value, out: &mut String) {
    match (value, download::found_in(value)) {
        (_, Some(found)) => out.push_str(&found.text),
        (Value::String(text), None) => out.push_str(text),
        (other, None) => {
            // Writing to a string does not fail.
            let _ = write!(out, "{other}");
        }
    }
}

impl Behaviour for Message {
    fn run(self: Arc<Self>, call: Call) -> Run {
        for sentence in &self.left_out {
            call.warn(sentence.clone());
        }
        let Some(text) = self.picked(&call) else {
            return Run::Done(Ok(Completion::default()));
        };
        call.warn_of_blanks(&text.template);
        let mut reads = text.template.reads();
        let arriving = reads.any(|read| matches!(call.inputs().get(read), Resolved::Stream(_)));
        if !arriving && self.memory.is_none() && self.file.is_none() {
            let mut speech = Speech::new(&call);
            self.say(text, call.inputs(), &mut speech);
            return Run::Done(Ok(self.completion(speech.end(), None)));
        }
        let message = self.clone();
        Run::later(async move { message.speak(&call).await })
    }
}

impl Message {
    /// One of the texts, by the run's random number.
    fn picked(&self, call: &Call) -> Option<&Text> {
        let at = call
            .execute
            .random
            .checked_rem(self.alternatives.len() as u64)?;
        self.alternatives.get(usize::try_from(at).ok()?)
    }

    /// What was said, and the file that was made of it.
    fn completion(&self, said: speech::Said, file: Option<Attached>) -> Completion {
        let Attached {
            download,
            attachment,
        } = file.unwrap_or_default();
        let mut downloads = said.downloads;
        downloads.extend(download);
        let mut ports = Ports::new();
        ports.set(self.ports.content.clone(), said.text);
        ports.set(self.ports.downloads.clone(), downloads);
        if let Some(attachment) = attachment {
            ports.set(self.ports.attachment.clone(), attachment);
        }
        Completion {
            ports,
            ..Completion::default()
        }
    }

    /// Says a text of which everything is there.
    fn say(&self, text: &Text, inputs: &Inputs, speech: &mut Speech<'_>) {
        if self.in_one_piece(text) {
            for read in text.template.reads() {
                if let Resolved::Value(value) = inputs.get(read) {
                    speech.collect(value);
                }
            }
            return speech.marked(&text.render(speech.call(), inputs));
        }
        for piece in &text.template.pieces {
            match piece {
                Piece::Text(text) => speech.literal(text),
                Piece::Read(read) | Piece::Name(read) => {
                    if let Resolved::Value(value) = inputs.get(*read) {
                        speech.value(value);
                    }
                }
            }
        }
    }

    fn in_one_piece(&self, text: &Text) -> bool {
        self.whole || text.has_jinja()
    }

    /// Says a text of which parts are still arriving, then has the exchange remembered.
    async fn speak(&self, call: &Call) -> Result<Completion, Failure> {
        let Some(text) = self.picked(call) else {
            return Ok(Completion::default());
        };
        let mut streams = Streams::new(call);
        let mut speech = Speech::new(call);
        if self.in_one_piece(text) {
            let inputs = streams.settle(&text.template).await?;
            self.say(text, &inputs, &mut speech);
        } else {
            while let Err(interrupted) = pass_on(&text.template, &mut streams, &mut speech).await {
                match interrupted {
                    Interrupted::Again => speech.again(),
                    Interrupted::Broken(fault) => return Err(fault.into()),
                }
            }
        }
        let said = speech.end();
        if let Some(memory) = &self.memory {
            memory.keep(call, &said.text).await;
        }
        let file = match self.file {
            Some(format) => Attached::make(call, format, &said.plain).await,
            None => None,
        };
        Ok(self.completion(said, file))
    }
}

/// Says a text piece by piece, waiting for what is still arriving.
async fn pass_on(
    text: &Template,
    streams: &mut Streams<'_>,
    speech: &mut Speech<'_>,
) -> Result<(), Interrupted> {
    for piece in &text.pieces {
        match piece {
            Piece::Text(text) => speech.literal(text),
            Piece::Read(read) | Piece::Name(read) => streams.say(*read, speech).await?,
        }
    }
    Ok(())
}

impl Memory {
    /// Has the exchange remembered. That it cannot be is no reason to fail: the user has the answer.
    async fn keep(&self, call: &Call, said: &str) {
        let gate = &call.run.gate;
        let request = MemorySave {
            memory_ids: self.ids.clone(),
            whose: whose(&self.user, call),
            key: call.idempotency_key(),
            message: MemoryMessage {
                user_input: gate.mask(&call.run.turn.query.to_string()).to_string(),
                agent_response: gate.mask(said).to_string(),
            },
        };
        if let Err(error) = call.run.services.world.memory.save(request).await {
            let name = &call.node().draft.name;
            call.warn(format!("What \"{name}\" said is not remembered: {error}."));
        }
    }
}

#[cfg(test)]
mod tests;
