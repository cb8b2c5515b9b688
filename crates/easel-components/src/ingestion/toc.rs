//! A table of contents that a model reads out of the pieces of a document: one piece more.

use std::sync::Arc;

use easel_core::event::Usage;
use easel_core::{Object, Value};
use easel_models::{Message, Role, tokens};

use super::extractor::Extractor;
use super::pieces;
use crate::behaviour::{Call, Failure};
use crate::chat::lenient::json;

/// Tokens of pieces that a model is shown at once.
const SHOWN: usize = 3_000;

/// Headings of a document at most.
const HEADINGS: usize = 2_000;

/// What the model is told, behind what the node says.
const TASK: &str = "Below are pieces of a document, each with its number. List the headings of the document's sections as they \
     stand in the pieces, in order, and no others.\n\
     Answer with a JSON list and nothing else: [{\"level\": 1, \"title\": \"...\", \"piece\": 0}]. `level` is 1 for the highest \
     headings. Without headings answer [].";

/// A heading that was found.
struct Heading {
    level: i64,
    title: String,
    piece: usize,
}

/// Adds the table of contents behind the pieces; without headings nothing.
pub(super) async fn add(
    extractor: &Extractor,
    mut chunks: Vec<Object>,
    call: &Call,
) -> Result<(Vec<Object>, Usage), Failure> {
    let mut usage = Usage::default();
    let mut headings = Vec::new();
    for shown in batches(&chunks) {
        let messages = extractor.instructed(TASK, &shown, call);
        let (answer, used) = extractor.ask(messages, call).await?;
        usage += used;
        headings.extend(read(&answer, chunks.len()));
        if headings.len() >= HEADINGS {
            break;
        }
    }
    headings.truncate(HEADINGS);
    if headings.is_empty() {
        call.warn(format!(
            "\"{}\" found no heading, so there is no table of contents.",
            call.node().draft.name
        ));
        return Ok((chunks, usage));
    }
    chunks.push(chunk(&headings));
    Ok((chunks, usage))
}

/// The pieces with their numbers, as many at a time as a model can be shown.
fn batches(chunks: &[Object]) -> Vec<String> {
    let mut batches: Vec<String> = Vec::new();
    let mut used = SHOWN;
    for (number, chunk) in chunks.iter().enumerate() {
        let text = format!("[{number}]\n{}\n\n", pieces::text_of(chunk));
        let more = tokens::count(&text);
        match batches.last_mut().filter(|_| used + more <= SHOWN) {
            Some(batch) => batch.push_str(&text),
            None => {
                batches.push(text);
                used = 0;
            }
        }
        used += more;
    }
    batches
}

/// The headings in an answer.
fn read(answer: &str, pieces: usize) -> Vec<Heading> {
    let list = json(answer);
    let items = list.as_ref().and_then(Value::as_array).unwrap_or_default();
    let headings = items.iter().filter_map(|item| {
        let title = item.get("title")?.as_str()?.split_whitespace();
        let title = title.collect::<Vec<_>>().join(" ");
        let number = |name: &str| {
            let value = item.get(name)?;
            value
                .as_i64()
                .or_else(|| value.as_str()?.trim().parse().ok())
        };
        let piece = number("piece").and_then(|n| usize::try_from(n).ok());
        (!title.is_empty()).then_some(Heading {
            level: number("level").unwrap_or(1).clamp(1, 6),
            title,
            piece: piece.filter(|piece| *piece < pieces).unwrap_or(0),
        })
    });
    headings.collect()
}

/// The headings as a chunk: readable, and as a list.
fn chunk(headings: &[Heading]) -> Object {
    let lines = headings.iter().map(|heading| {
        let indent = "  ".repeat((heading.level - 1).max(0) as usize);
        format!("{indent}- {}", heading.title)
    });
    let text: Arc<str> = lines.collect::<Vec<_>>().join("\n").into();
    let entries = headings.iter().map(|heading| {
        let members: [(Arc<str>, Value); 3] = [
            ("level".into(), Value::from(heading.level)),
            ("title".into(), Value::from(heading.title.as_str())),
            ("piece".into(), Value::from(heading.piece as u64)),
        ];
        Value::from(Object::from_iter(members))
    });
    let mut chunk = pieces::text_chunk(&text);
    chunk.insert("toc".into(), Value::from(Vec::from_iter(entries)));
    chunk
}

impl Extractor {
    /// The node's own instructions, then a task, and what it is about.
    fn instructed(&self, task: &str, about: &str, call: &Call) -> Vec<Message> {
        let own = self.prompt.rendered(call.inputs());
        let own = own.iter().find(|message| message.role == Role::System);
        let instructions = match own {
            Some(own) => format!("{}\n\n{task}", own.content.text()),
            None => task.to_owned(),
        };
        vec![
            Message::system(instructions),
            Message::user(about.to_owned()),
        ]
    }
}
