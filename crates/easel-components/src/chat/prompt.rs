//! What a model is told: instructions, the conversation so far, the node's own messages, files and images
//! (spec/canvas-components §3.1, "Prompt assembly").

use std::sync::Arc;

use easel_core::Value;
use easel_core::bind::{Inputs, ReadId};
use easel_core::draft::Field;
use easel_core::event::Fault;
use easel_core::template::{Piece, Rendering, Template};
use easel_models::{Message, Role};

use super::ask::Asker;
use super::vision::Images;
use super::{cite, fit};
use crate::behaviour::Call;
use crate::site::Site;
use crate::turn::HistoryEntry;

/// The tags with which instructions of old canvases mark parts for the engine. Only the last one still means something.
const TAGS: [&str; 6] = [
    "TASK_ANALYSIS",
    "PLAN_GENERATION",
    "REFLECTION",
    "CONTEXT_SUMMARY",
    "CONTEXT_RANKING",
    CITATION_TAG,
];
const CITATION_TAG: &str = "CITATION_GUIDELINES";

/// Turns of the conversation that a model is shown where the node does not say.
const WINDOW: u32 = 13;

/// The messages of a node, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    system: Template,
    messages: Vec<(Role, Template)>,
    /// Where images are looked for besides.
    images: Option<ReadId>,
    /// Where the turn's files are, unless a message mentions them itself.
    files: Option<ReadId>,
    /// Whether to cite, and the node's own rules for that.
    cite: bool,
    guide: Option<Template>,
    /// How many turns of the conversation are shown.
    turns: usize,
}

/// The messages for one attempt.
#[derive(Clone, Debug)]
pub(crate) struct Composed {
    /// The whole conversation, instructions first if there are any.
    pub messages: Vec<Message>,
    /// How to cite, if the node wants that and was not told yet.
    pub guide: Option<String>,
}

impl Prompt {
    /// Reads the parameters. Errors: one of another type than its own.
    pub(crate) fn read(site: &Site<'_>) -> Result<Prompt, Fault> {
        let reads = &site.owner.node.draft.reads;
        let mut messages = Vec::new();
        for (at, message) in site.items("prompts").iter().enumerate() {
            let role = match message.get("role").and_then(Value::as_str) {
                Some("assistant") => Role::Assistant,
                Some("system") => Role::System,
                _ => Role::User,
            };
            let path = format!("prompts.{at}.content");
            messages.push((role, site.template(&path, message.get("content"))));
        }
        let (system, guide) = without_tags(site.template("sys_prompt", site.get("sys_prompt")));
        let mentioned = |read: ReadId| {
            let reference = reads.get(read.0 as usize);
            reference.is_some_and(|reference| *reference.text == *"sys.files")
        };
        let texts = messages.iter().map(|(_, text)| text);
        let mentions_files = texts
            .chain([&system])
            .any(|text| text.reads().any(mentioned));
        let turns = site.count("message_history_window_size")?;
        Ok(Prompt {
            images: site.reference("visual_files_var", site.get("visual_files_var"))?,
            files: files(site).filter(|_| !mentions_files),
            cite: site.flag("cite") || site.get("cite").is_none(),
            guide,
            turns: turns.unwrap_or(WINDOW) as usize,
            system,
            messages,
        })
    }

    /// The messages for one attempt; `order` takes the place of the node's own messages.
    ///
    /// Errors: there is no model of that name, or nothing to ask it.
    pub(crate) fn compose(
        &self,
        asker: &Asker<'_>,
        order: Option<String>,
    ) -> Result<Composed, Fault> {
        let call = asker.call;
        let inputs = call.inputs();
        let model = asker.info()?;
        call.warn_of_blanks(&self.system);
        let mut images = Images::default();
        let mut system = images.render(&self.system, inputs);
        let mut own: Vec<Message> = match order {
            Some(order) => vec![Message::user(order)],
            None => self
                .messages
                .iter()
                .map(|(role, text)| {
                    call.warn_of_blanks(text);
                    Message::text(*role, images.render(text, inputs))
                })
                .collect(),
        };
        if let Some(value) = self.images.and_then(|read| inputs.get(read).value()) {
            images.taken_from(value);
        }
        self.add_files(inputs, &mut own, &mut images);

        let mut guide = self.cite.then(|| match &self.guide {
            Some(guide) => images.render(guide, inputs),
            None => cite::GUIDE.to_owned(),
        });
        if cite::anything(&call.gathered)
            && let Some(guide) = guide.take()
        {
            add_guide(&mut system, &guide);
        }
        let mut messages = Vec::new();
        if !system.trim().is_empty() {
            messages.push(Message::system(system));
        }
        messages.extend(history(&call.run.turn.history, self.turns));
        if let (Some(last), Some(first)) = (messages.last(), own.first())
            && last.role == first.role
            && last.role != Role::System
        {
            messages.pop();
        }
        messages.extend(own);
        fit::prompt(&mut messages, model.context_window);

        let last = messages.last_mut().filter(|last| last.role == Role::User);
        let Some(last) = last else {
            return Err(asker.trouble(
                "bad_input",
                "has nothing to ask the model: the last of its messages must be the user's.",
            ));
        };
        if model.vision && !images.is_empty() {
            images.add_to(last);
        } else if !images.is_empty() {
            asker
                .call
                .warn("The model takes no images, so it was not shown those of this prompt.");
        }
        let shown = model.vision && !images.is_empty();
        if !shown && last.content.text().trim().is_empty() {
            return Err(asker.trouble(
                "bad_input",
                "has nothing to ask the model: its last message is empty once references are filled in.",
            ));
        }
        Ok(Composed { messages, guide })
    }

    /// The instructions and messages alone, with these values: for who asks about something else than the conversation.
    pub(crate) fn rendered(&self, inputs: &Inputs) -> Vec<Message> {
        let render = |text: &Template| text.render(inputs, Rendering::Display);
        let system = render(&self.system);
        let system = (!system.trim().is_empty()).then(|| Message::system(system));
        let own = self.messages.iter();
        let own = own.map(|(role, text)| Message::text(*role, render(text)));
        system.into_iter().chain(own).collect()
    }

    /// The messages as far as the model's window allows.
    ///
    /// Errors: there is no such model.
    pub(crate) fn fitting(
        &self,
        asker: &Asker<'_>,
        mut messages: Vec<Message>,
    ) -> Result<Vec<Message>, Fault> {
        fit::prompt(&mut messages, asker.info()?.context_window);
        Ok(messages)
    }

    /// What the instructions and messages refer to.
    pub(crate) fn reads(&self) -> Vec<ReadId> {
        let texts = self.messages.iter().map(|(_, text)| text);
        let reads = texts.chain([&self.system]).flat_map(Template::reads);
        reads.collect()
    }

    /// Adds the texts of the turn's files to the last message of the user, and keeps the images.
    fn add_files(&self, inputs: &Inputs, own: &mut Vec<Message>, images: &mut Images) {
        let files = self.files.and_then(|read| inputs.get(read).value());
        let Some(files) = files.filter(|files| files.is_truthy()) else {
            return;
        };
        let left = images.taken_from(files);
        let texts = left.as_array().unwrap_or_default().iter();
        let texts: indexmap::IndexSet<String> = texts
            .map(Value::to_string)
            .filter(|text| !text.trim().is_empty())
            .collect();
        if texts.is_empty() {
            return;
        }
        let texts = Vec::from_iter(texts).join("\n\n");
        match own.iter_mut().rfind(|message| message.role == Role::User) {
            Some(message) => {
                let text = message.content.text();
                *message = Message::user(format!("{text}\n\n{texts}"));
            }
            None => own.push(Message::user(texts)),
        }
    }
}

impl Composed {
    /// Tells the model how to cite, now that there is something to cite.
    pub(crate) fn add_guide(&mut self) {
        let Some(guide) = self.guide.take() else {
            return;
        };
        match self
            .messages
            .first_mut()
            .filter(|first| first.role == Role::System)
        {
            Some(system) => {
                let mut text = system.content.text().to_string();
                add_guide(&mut text, &guide);
                *system = Message::system(text);
            }
            None => self.messages.insert(0, Message::system(guide)),
        }
    }

    /// Adds a paragraph to the instructions.
    pub(crate) fn instruct(&mut self, paragraph: &str) {
        let guide = self.guide.replace(paragraph.to_owned());
        self.add_guide();
        self.guide = guide;
    }
}

fn add_guide(system: &mut String, guide: &str) {
    if !system.trim().is_empty() {
        system.push_str("\n\n");
    }
    system.push_str(guide);
}

/// The last `turns` turns before this one: whole turns, so it begins with the user.
fn history(entries: &[HistoryEntry], turns: usize) -> impl Iterator<Item = Message> {
    let before = match entries.split_last() {
        Some((_, before)) => before,
        None => &[],
    };
    let shown = &before[before.len().saturating_sub(turns.saturating_mul(2))..];
    let begins = shown.iter().position(|entry| &*entry.role != "assistant");
    let shown = begins.map_or(&[][..], |begins| &shown[begins..]);
    shown.iter().map(|entry| {
        let role = match &*entry.role {
            "assistant" => Role::Assistant,
            _ => Role::User,
        };
        Message::text(role, entry.text())
    })
}

/// The user's last words and what went before them, for who does not answer them but judges them.
pub(crate) fn dialogue(call: &Call, turns: usize) -> &[HistoryEntry] {
    let entries = &call.run.turn.history;
    &entries[entries.len().saturating_sub(turns.saturating_mul(2))..]
}

/// Where the files of the turn are. The node that owns the parameters reads them, wherever these stand.
fn files(site: &Site<'_>) -> Option<ReadId> {
    match site.owner_field("sys.files") {
        Some(Field::Reference(read)) => Some(*read),
        _ => None,
    }
}

/// Instructions without the parts that are marked for the engine, and what is said there about citing.
fn without_tags(mut text: Template) -> (Template, Option<Template>) {
    let mut guide = None;
    for tag in TAGS {
        while let Some((inside, rest)) = cut(&text, tag) {
            if tag == CITATION_TAG {
                guide = Some(inside);
            }
            text = rest;
        }
    }
    (text, guide)
}

/// The part between a tag and its end, and the text without both. Looks at what stands in the file, not at what a
/// reference brings.
fn cut(text: &Template, tag: &str) -> Option<(Template, Template)> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let (before, after) = split(&text.pieces, &open)?;
    let (inside, rest) = split(&after, &close)?;
    let of = |pieces| Template {
        pieces,
        jinja: text.jinja,
    };
    Some((of(inside), of([before, rest].concat())))
}

/// What stands before and behind the first occurrence of a mark.
fn split(pieces: &[Piece], mark: &str) -> Option<(Vec<Piece>, Vec<Piece>)> {
    let found = pieces
        .iter()
        .enumerate()
        .find_map(|(at, piece)| match piece {
            Piece::Text(text) => text.split_once(mark).map(|halves| (at, halves)),
            Piece::Read(_) | Piece::Name(_) => None,
        });
    let (at, (before, behind)) = found?;
    let text = |text: &str| (!text.is_empty()).then(|| Piece::Text(Arc::from(text)));
    let first = pieces[..at].iter().cloned().chain(text(before)).collect();
    let second = text(behind)
        .into_iter()
        .chain(pieces[at + 1..].iter().cloned())
        .collect();
    Some((first, second))
}
