//! What a message says, as it says it.

use std::sync::Arc;

use easel_core::Value;

use super::download;
use crate::behaviour::Call;
use crate::stream::{Piece, PieceKind};
use crate::thoughts::{THINK_END, THINK_START};

/// A message that is being said.
pub(super) struct Speech<'a> {
    call: &'a Call,
    text: String,
    /// The same without thoughts.
    plain: String,
    downloads: Vec<Value>,
    thinking: bool,
    /// The end of what arrived so far, where it may be the beginning of a mark.
    held: String,
}

/// A message that was said.
pub(super) struct Said {
    /// The text, thoughts included, without the marks around them.
    pub text: String,
    /// The text without thoughts.
    pub plain: String,
    /// The files named in it.
    pub downloads: Vec<Value>,
}

impl<'a> Speech<'a> {
    pub fn new(call: &'a Call) -> Speech<'a> {
        Speech {
            call,
            text: String::new(),
            plain: String::new(),
            downloads: Vec::new(),
            thinking: false,
            held: String::new(),
        }
    }

    fn show(&self, kind: PieceKind) {
        self.call.run.wire.show(Piece {
            speaker: self.call.execute.activation,
            kind,
        });
    }

    /// Says a text as it is.
    pub fn literal(&mut self, text: &Arc<str>) {
        if !text.is_empty() {
            self.text.push_str(text);
            if !self.thinking {
                self.plain.push_str(text);
            }
            self.show(PieceKind::Text(text.clone()));
        }
    }

    fn part(&mut self, text: &str) {
        if !text.is_empty() {
            self.literal(&text.into());
        }
    }

    /// Thoughts begin or end.
    pub fn think(&mut self, thinking: bool) {
        if self.thinking != thinking {
            self.release();
            self.thinking = thinking;
            self.show(match thinking {
                true => PieceKind::ThinkStart,
                false => PieceKind::ThinkEnd,
            });
        }
    }

    /// Says a value of another node.
    pub fn value(&mut self, value: &Value) {
        match (value, download::found_in(value)) {
            (_, Some(found)) => {
                self.downloads.extend(found.files);
                self.part(&found.text);
            }
            (Value::String(text), None) if !self.thinking && !text.contains(THINK_START) => {
                self.literal(text)
            }
            (Value::String(text), None) => self.marked(text),
            (other, None) => self.part(&other.to_string()),
        }
    }

    /// Says a text in which thoughts stand between marks. Thoughts that do not end, end with it.
    pub fn marked(&mut self, text: &str) {
        let rest = self.up_to_last_mark(text);
        self.part(rest);
        self.think(false);
    }

    /// Says a text that has not all arrived yet. A mark may be cut in two anywhere.
    pub fn arriving(&mut self, text: &Arc<str>) {
        if self.held.is_empty() && !text.contains('<') {
            return self.literal(text);
        }
        let mut whole = std::mem::take(&mut self.held);
        whole.push_str(text);
        let rest = self.up_to_last_mark(&whole);
        let mark = self.mark();
        let cut = (1..mark.len())
            .rev()
            .find(|length| rest.ends_with(&mark[..*length]));
        let (said, held) = rest.split_at(rest.len() - cut.unwrap_or(0));
        self.part(said);
        self.held = held.to_owned();
    }

    /// What was arriving has arrived.
    pub fn arrived(&mut self) {
        self.release();
        self.think(false);
    }

    fn release(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.part(&held);
    }

    /// Says what stands before the last mark and gives what stands behind it.
    fn up_to_last_mark<'t>(&mut self, text: &'t str) -> &'t str {
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once(self.mark()) {
            self.part(before);
            self.think(!self.thinking);
            rest = behind;
        }
        rest
    }

    /// The mark that comes next.
    fn mark(&self) -> &'static str {
        match self.thinking {
            true => THINK_END,
            false => THINK_START,
        }
    }

    /// Keeps the files that a value names.
    pub fn collect(&mut self, value: &Value) {
        if let Some(found) = download::found_in(value) {
            self.downloads.extend(found.files);
        }
    }

    /// The attempt it is said in.
    pub fn call(&self) -> &'a Call {
        self.call
    }

    /// What was said so far no longer counts.
    pub fn again(&mut self) {
        self.show(PieceKind::Reset);
        self.text.clear();
        self.plain.clear();
        self.downloads.clear();
        self.thinking = false;
        self.held.clear();
    }

    pub fn end(self) -> Said {
        Said {
            text: self.text,
            plain: self.plain,
            downloads: self.downloads,
        }
    }
}

/// Text of a stream as the value of its node has it: with marks around thoughts.
#[derive(Debug, Default)]
pub(super) struct Shown(String);

impl Shown {
    pub fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub fn think(&mut self, thinking: bool) {
        self.0.push_str(match thinking {
            true => THINK_START,
            false => THINK_END,
        });
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What of the whole text was not shown. `None`: it does not begin with what was.
    pub fn rest<'t>(&self, whole: &'t str) -> Option<&'t str> {
        whole.strip_prefix(&self.0)
    }
}
